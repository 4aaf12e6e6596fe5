"""``load``: from a name or a model file to a ``Robot``.

model file -> parse_xml -> read_urdf or read_mjcf -> Tree -> chain_in -> Robot
"""

from __future__ import annotations

import math
import os
import re
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import replace
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from forearm.errors import InvalidInput, ModelError, ModelWarning, UnknownName, shown
from forearm.robots.catalog import bundled_names, bundled_tree
from forearm.robots.robot import Robot, chain_in
from forearm.robots.safe_xml import Folders, parse_xml, read_bytes
from forearm.robots.tree import Frame, Tree
from forearm.robots.urdf import read_urdf
from forearm.spatial import Pose, require_length, rigid_pose

ENDINGS = (".urdf", ".xml", ".mjcf")
MENAGERIE = "menagerie:"
MENAGERIE_ROOT = "MENAGERIE_ROOT"
CALL = re.compile(r"(\w+)\s*\(([^()]*)\)", re.ASCII)


def load(
    model: str | Path,
    *,
    base: str | None = None,
    tip: str | None = None,
    joints: Iterable[str] | None = None,
    hold: Mapping[str, float] | None = None,
    tool: Pose | ArrayLike | float | None = None,
    assets: str | Path | None = None,
    root: Pose | ArrayLike | None = None,
    **options: Any,
) -> Robot:
    """The chain from ``base`` to ``tip`` in ``model``.

    Args:
        model: a bundled name, such as ``"ur5e"`` or ``"two_link(0.5, 0.4)"``; a path that ends in
            .urdf, .xml or .mjcf; or ``"menagerie:NAME"``, read from the folder ``$MENAGERIE_ROOT``.
        base: link or frame that targets are given in; by default the root.
        tip: link or frame to place; by default the end of the only chain.
        joints: those that move; by default every joint of the chain.
        hold: value (rad or m) of joints that do not move.
        tool: pose of the tool in the tip's frame (a 4x4 matrix will do), or a length (m) along the tip's
            z axis; the tool becomes the tip.
        assets: folder that the model may read besides its own; ``package://`` names are looked up in it.
        root: pose of the model's root in the world; a 4x4 matrix will do.
        options: numbers for a bundled arm, such as ``tool_length_m=0.135``.

    Raises:
        UnknownName, InvalidInput, ModelError, UnsafePath, UnsupportedJoint: each names the offender.

    What is missing but not needed is told by ``ModelWarning``, and kept in ``robot.tree.warnings``.
    """
    tree = load_tree(model, assets=assets, **options)
    if root is not None:
        tree = tree.with_root(root_pose(root))
    robot = chain_in(tree, base, tip, joint_choice(joints), hold)
    if tool is None:
        return robot
    frame = tool_frame(robot, tool)
    return replace(robot, tree=tree.with_frame(frame), tip=frame.name)


def load_tree(model: str | Path, *, assets: str | Path | None = None, **options: Any) -> Tree:
    """All of ``model``: every link and joint, not only one chain. Arguments as in ``load``."""
    if not isinstance(model, str | Path):
        raise InvalidInput("model", f"is a {type(model).__name__}", "Give a name or a path.")
    if not isinstance(assets, str | Path | None):
        raise InvalidInput("assets", f"is a {type(assets).__name__}", "Give a folder.")
    text = str(model)
    call = CALL.fullmatch(text.strip())
    name = call.group(1) if call else text
    if isinstance(model, str) and name in bundled_names():
        return bundled_tree(name, numbers_in(call.group(2), text) if call else (), options)
    if options:
        raise UnknownName("option", next(iter(options)), (), "Only bundled arms take options.")
    path = menagerie_file(text.removeprefix(MENAGERIE)) if text.startswith(MENAGERIE) else Path(model)
    require_model_path(path, text)
    tree = read_model(path, assets)
    for warning in tree.warnings:
        warnings.warn(warning, ModelWarning, stacklevel=3)
    return tree


def read_model(path: Path, assets: str | Path | None) -> Tree:
    """Read ``path`` by what its root element says it is."""
    source = str(path)
    element = parse_xml(read_bytes(path, source), source)
    folders = Folders.around(path, assets)
    if element.tag == "robot":
        return read_urdf(element, source, folders)
    if element.tag == "mujoco":
        # Imported here, since MuJoCo is large and URDF and bundled arms do not need it.
        from forearm.robots.mjcf import read_mjcf

        return read_mjcf(element, source, folders)
    raise ModelError(
        source, f"has root element {shown(element.tag)}", "URDF has <robot>, MJCF has <mujoco> there."
    )


def require_model_path(path: Path, given: str) -> None:
    ending = path.suffix.lower()
    if ending in ENDINGS:
        return
    if ending == ".xacro":
        raise ModelError(given, "is a xacro file", "Expand it first: xacro FILE > robot.urdf")
    if given and "\0" not in given and path.is_dir():
        raise ModelError(given, "is a directory", "Give the model file inside it.")
    raise UnknownName(
        "robot",
        given,
        bundled_names(),
        f"A path must end in {', '.join(ENDINGS[:-1])} or {ENDINGS[-1]}; "
        f"{MENAGERIE}NAME reads ${MENAGERIE_ROOT}/NAME.",
    )


def numbers_in(text: str, given: str) -> tuple[float, ...]:
    """The numbers between the parentheses of ``two_link(0.5, 0.4)``."""
    words = [word.strip() for word in text.split(",")] if text.strip() else []
    try:
        return tuple(float(word) for word in words)
    except ValueError:
        raise InvalidInput(f"robot {shown(given)}", "has an argument that is not a number") from None


def joint_choice(joints: Any) -> tuple[str, ...] | None:
    """``joints=`` as a tuple of names, or ``InvalidInput``."""
    if joints is None:
        return None
    if isinstance(joints, str):
        return (joints,)
    if not isinstance(joints, Iterable):
        raise InvalidInput("joints", f"is a {type(joints).__name__}", "Give joint names.")
    return tuple(joints)


def root_pose(root: Any) -> Pose:
    pose = rigid_pose(root, "root")
    require_length(pose.position_m, "root")
    return pose


def tool_pose(tool: Any) -> Pose:
    """``tool=`` as a pose in the tip's frame."""
    if isinstance(tool, Pose | list | tuple | np.ndarray):
        pose = rigid_pose(tool, "tool")
    elif isinstance(tool, bool) or not isinstance(tool, Real) or not math.isfinite(tool):
        raise InvalidInput("tool", f"is {shown(tool)}", "Give a Pose in the tip's frame, or a length in m.")
    else:
        pose = Pose((0.0, 0.0, float(tool)))
    require_length(pose.position_m, "tool")
    return pose


def tool_frame(robot: Robot, tool: Any) -> Frame:
    """The frame of ``tool`` on the robot's tip, called "tool" or the next name that is free."""
    taken, name, number = robot.tree.frame_names(), "tool", 1
    while name in taken:
        number += 1
        name = f"tool_{number}"
    return Frame(name, robot.tip_frame.link, robot.tip_frame.pose @ tool_pose(tool))


def menagerie_file(name: str) -> Path:
    """The model file of ``NAME`` or ``NAME/FILE`` in the folder ``$MENAGERIE_ROOT``. Downloads nothing."""
    given = MENAGERIE + name
    root = os.environ.get(MENAGERIE_ROOT)
    how = f"Set {MENAGERIE_ROOT} to a checkout of MuJoCo Menagerie."
    if not root:
        raise ModelError(given, f"{MENAGERIE_ROOT} is not set", how)
    if not Path(root).is_dir():
        raise ModelError(given, f"{MENAGERIE_ROOT} is {shown(root)}, which is not a folder", how)
    match = re.fullmatch(r"(\w[\w.-]*)(?:/(\w[\w.-]*))?", name, re.ASCII)
    folder = Path(root, match.group(1)) if match else None
    if match is None or folder is None or not folder.is_dir():
        have = sorted(path.name for path in Path(root).iterdir() if path.is_dir() and path.name[0] != ".")
        raise UnknownName("menagerie robot", name, have, how)
    if match.group(2):
        return folder / (match.group(2).removesuffix(".xml") + ".xml")
    found = {path.stem: path for path in folder.glob("*.xml") if path.stem != "scene"}
    # Folders are called MAKER_MODEL, their main file MODEL.xml.
    endings = [stem for stem in found if folder.name == stem or folder.name.endswith(f"_{stem}")]
    if endings:
        return found[max(endings, key=len)]
    if len(found) != 1:
        listed = ", ".join(sorted(found)) or "none"
        raise ModelError(
            given, f"no single model file in it: {listed}", f"Name one: {MENAGERIE}{folder.name}/FILE."
        )
    return next(iter(found.values()))
