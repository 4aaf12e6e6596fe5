"""How kernels are compiled: on their first call, then kept on disk for every process that follows."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

from numba import njit, types
from numba.core import event
from numba.core.caching import FunctionCache

# FMA contraction is the only liberty taken with the arithmetic.
KERNEL: dict[str, Any] = {"error_model": "numpy", "fastmath": {"contract"}, "nogil": True}

PACKAGE = Path(__file__).parents[1]
INLINED = ("kinematics", "dynamics", "ik", "control")
"""The folders whose kernels are compiled into others."""


@lru_cache(maxsize=1)
def sources_stamp() -> tuple[tuple[str, int, int], ...]:
    """Name, time and size of every file whose kernels others take in."""
    files = sorted(path for folder in INLINED for path in (PACKAGE / folder).rglob("*.py"))
    return tuple(
        (path.name, (stat := path.stat()).st_mtime_ns, stat.st_size)
        for path in files
        if re.search(rb"import .*\b(compiled|lean)\b", path.read_bytes())
    )


class KernelCache(FunctionCache):
    """Numba's cache looks at the kernel's own file only; a kernel also holds those that it calls."""

    def _index_key(self, signature: Any, codegen: Any) -> tuple[Any, ...]:
        return *super()._index_key(signature, codegen), sources_stamp()


def compiled(function: Callable[..., Any]) -> Any:
    """Decorator: a kernel compiled on its first call, and kept on disk where there is a place to."""
    return kept(njit(**KERNEL)(function), function)


def lean(function: Callable[..., Any]) -> Any:
    """Decorator: the same for kernels that make no arrays. They count no references to those they are given.

    Counting is an atomic operation for each array that is passed on: more than half of a small kernel's time.
    """
    return kept(njit(**KERNEL, _nrt=False)(function), function)


def inlined(function: Callable[..., Any]) -> Any:
    """Decorator: ``lean``, and always part of the kernel that calls it.

    A function that callers share as a copy of its own rounds as that copy does, and which copy they get
    depends on what was compiled or loaded before; its results then differ in the last bit from process to
    process.
    """
    return kept(njit(**KERNEL, _nrt=False, forceinline=True)(function), function)


def kept(kernel: Any, function: Callable[..., Any]) -> Any:
    """The kernel, to be kept on disk."""
    try:
        kernel._cache = KernelCache(function)
    except RuntimeError:
        # Numba found no folder that it may write to: a read-only installation and no home. Each
        # process then compiles for itself.
        pass
    else:
        announce_compilations()
    return kernel


def compiled_for(kernel: Any, signature: Any) -> Any:
    """``kernel`` for just these types; others are refused, where it would be compiled once more for them."""
    if not kernel.signatures:
        kernel.compile(signature)
        kernel.disable_compile()
    return kernel


def entry_of(kernel: Any) -> Callable[..., Any]:
    """The machine code of a kernel that is compiled for one signature, as Python can call it.

    Numba looks at the type of each argument at each call, 50 ns an array. Here nobody looks: what is no array
    of that many dimensions, or has numbers of another size, is refused, but whole numbers pass for floats.
    """
    (compilation,) = kernel.overloads.values()
    return compilation.entry_point


def given(dimensions: int) -> types.Array:
    """The type of an array that a kernel reads."""
    return types.Array(types.float64, dimensions, "C", readonly=True)


def filled(dimensions: int, kind: types.Type = types.float64) -> types.Array:
    """The type of an array that a kernel writes to."""
    return types.Array(kind, dimensions, "C")


class Announcement(event.Listener):
    """Says once that kernels are being compiled, to whoever sits at the terminal and waits."""

    def __init__(self) -> None:
        self.said = False

    def on_start(self, happening: Any) -> None:
        module = happening.data["dispatcher"].py_func.__module__
        if self.said or not module.startswith("forearm."):
            return
        self.said = True
        if sys.stderr is not None and sys.stderr.isatty():
            sys.stderr.write("forearm: compiling its solvers for this machine, once; about ten seconds\n")

    def on_end(self, happening: Any) -> None:
        """Nothing to say."""


@lru_cache(maxsize=1)
def announce_compilations() -> None:
    event.register("numba:compile", Announcement())
