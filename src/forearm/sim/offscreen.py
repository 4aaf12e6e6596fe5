"""An off-screen OpenGL context for MuJoCo, or ``NoPicture`` with what to install.

MuJoCo picks its backend from ``MUJOCO_GL`` when it is first imported, and without the variable takes
GLFW, which needs a display. By the time that somebody wants a picture that choice is long made, so
the backend's context class is taken here by name; neither the environment nor MuJoCo's choice change.
"""

from __future__ import annotations

import importlib
import os
import platform
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from forearm.errors import NoPicture, shown

TURNED_OFF = ("disable", "disabled", "off", "false", "0")
AUTOMATIC = ("", "enable", "enabled", "on", "true", "1")
INSTALL = {
    "egl": "EGL needs libEGL and a driver (Debian, Ubuntu: apt install libegl1 libgl1-mesa-dri)",
    "osmesa": "OSMesa needs its library (Debian, Ubuntu: apt install libosmesa6), "
    "or unset MUJOCO_GL to draw with EGL",
    "OpenGL": "Ask for a smaller picture, or update the graphics driver",
    "glfw": "GLFW needs a display; on a machine without one set MUJOCO_GL=egl",
}


def backends() -> tuple[str, ...]:
    """The backends to try, in order: the one that ``MUJOCO_GL`` names, else what this machine may have."""
    asked = os.environ.get("MUJOCO_GL", "").lower().strip()
    if asked in TURNED_OFF:
        raise NoPicture(f"Pictures are off: MUJOCO_GL is {shown(asked)}. Unset it, or set it to egl.")
    if asked not in AUTOMATIC:
        return ("glfw" if asked in ("glx", "wgl") else asked,)
    if platform.system() == "Darwin":
        return ("cgl", "glfw")
    if platform.system() == "Windows":
        return ("glfw",)
    has_display = bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
    return ("glfw", "egl") if has_display else ("egl",)


@contextmanager
def open_context(width: int, height: int) -> Iterator[None]:
    """A current OpenGL context for as long as the block runs; raises ``NoPicture`` if there is none."""
    require_mujoco()
    context = first_that_works(backends(), width, height)
    try:
        yield
    finally:
        context.free()


def require_mujoco() -> None:
    """Import MuJoCo, which loads the backend that ``MUJOCO_GL`` names and fails if it is not there."""
    try:
        importlib.import_module("mujoco")
    except Exception as error:
        asked = os.environ.get("MUJOCO_GL", "").lower().strip()
        if not asked:
            raise
        raise no_picture({asked: error}) from error


def first_that_works(names: tuple[str, ...], width: int, height: int) -> Any:
    failures: dict[str, Exception] = {}
    for name in names:
        try:
            return made_current(name, width, height)
        # A missing driver shows as ImportError, AttributeError, OSError, RuntimeError or GLError,
        # depending on how much of it is missing.
        except Exception as error:
            failures[name] = error
    raise no_picture(failures) from failures[names[-1]]


def made_current(name: str, width: int, height: int) -> Any:
    """MuJoCo's context class for ``name``, opened."""
    with warnings.catch_warnings():
        # GLFW reports a missing display as a warning, and leaves a null window.
        warnings.simplefilter("ignore")
        context = importlib.import_module(f"mujoco.{name}").GLContext(width, height)
    if not context._context:
        raise RuntimeError("no window could be opened")
    context.make_current()
    return context


def no_picture(failures: dict[str, Exception]) -> NoPicture:
    tried = "; ".join(f"{name}: {one_line(error)}" for name, error in failures.items())
    advice = "; ".join(
        INSTALL.get(name, "MUJOCO_GL must be egl, osmesa or glfw, or unset") for name in failures
    )
    return NoPicture(f"No way to draw off screen on this machine (tried {tried}). {advice}.")


def one_line(error: Exception, limit: int = 160) -> str:
    text = " ".join(str(error).split()).rstrip(".") or type(error).__name__
    return text if len(text) <= limit else text[: limit - 3] + "..."
