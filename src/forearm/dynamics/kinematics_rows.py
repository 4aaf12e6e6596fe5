"""Forward kinematics and Jacobians: our chain and the tree against both engines."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from forearm.dynamics.bars import DIFFERENCES, ONE_SOURCE, Bars
from forearm.dynamics.engine import Engine
from forearm.dynamics.samples import Samples
from forearm.dynamics.tree_walk import TreeWalk
from forearm.dynamics.verification import Row, measured
from forearm.kinematics.chain import chain_of, forward_and_jacobian_into
from forearm.robots.robot import Robot
from forearm.spatial import Array, rotation_log


def frame_rows(
    walk: TreeWalk, engine: Engine, names: tuple[str, ...], at: Samples, bars: Bars
) -> Iterator[Row]:
    """Every link and frame in ``names`` (parents first) in the world."""
    ours = np.array([walk.frames_in_world(q, names) for q in at.q])
    theirs = np.array([engine.frames_in_world(q, names) for q in at.q])
    compared = f"tree - {engine.name}"
    yield from pose_rows("FK link", compared, ours, theirs, names, at, bars)


def axis_rows(walk: TreeWalk, engine: Engine, at: Samples, bars: Bars) -> Iterator[Row]:
    """Each joint's axis as a directed line in the world, which means the same in every convention.

    The distance is that of the engine's point from our line; a sliding joint has a direction only.
    """
    ours = np.array([walk.axes_in_world(q) for q in at.q])
    theirs = np.array([engine.axes_in_world(q) for q in at.q])
    between, direction = theirs[:, :, 0] - ours[:, :, 0], ours[:, :, 1]
    distance = np.linalg.norm(np.cross(between, direction), axis=2) * np.array(walk.robot.turns)
    sine = np.linalg.norm(np.cross(direction, theirs[:, :, 1]), axis=2)
    angle = np.arctan2(sine, (direction * theirs[:, :, 1]).sum(axis=2))
    joints, compared = walk.robot.joint_names, f"tree - {engine.name}"
    length_bar = bars.scaled(bars.length_m, ours[:, :, 0])
    yield measured("FK axis direction", compared, "rad", bars.angle_rad, angle, joints, at.postures)
    yield measured("FK axis position", compared, "m", length_bar, distance, joints, at.postures)


def limit_row(robot: Robot, engine: Engine, bars: Bars) -> Row:
    """Joint limits, so that degrees taken for radians are seen where no frame depends on them."""
    ours, theirs = np.array([robot.lower, robot.upper]), engine.limits()
    with np.errstate(invalid="ignore"):  # inf - inf: neither side has a limit.
        errors = np.where(ours == theirs, 0.0, np.abs(ours - theirs)).max(axis=0)
    unit = "rad" if all(robot.turns) else "rad, m"
    return measured("joint limits", f"tree - {engine.name}", unit, bars.limits, errors, robot.joint_names)


def tip_rows(walk: TreeWalk, engines: tuple[tuple[Engine, Bars], ...], at: Samples) -> Iterator[Row]:
    """The tip in the world, root pose included, and its Jacobian there."""
    robot, tip = walk.robot, (walk.robot.tip,)
    poses, jacobians = chain_in_world(robot, at.q)
    walked = np.array([walk.tip_in_world(q).matrix() for q in at.q])[:, None]
    yield from pose_rows("FK tip", "chain - tree", poses, walked, tip, at, ONE_SOURCE)
    for engine, bars in engines:
        theirs = np.array([engine.frames_in_world(q, tip) for q in at.q])
        yield from pose_rows("FK tip", f"chain - {engine.name}", poses, theirs, tip, at, bars)
    for engine, bars in engines:
        theirs = np.array([engine.jacobian(q, robot.tip) for q in at.q])
        bar = bars.scaled(bars.jacobian, jacobians)
        yield from jacobian_rows(robot, f"chain - {engine.name}", jacobians, theirs, at, bar)
    differences = np.array([walk.jacobian_by_differences(q) for q in at.q])
    yield from jacobian_rows(robot, "chain - differences", jacobians, differences, at, DIFFERENCES)


def chain_in_world(robot: Robot, q: Array) -> tuple[Array, Array]:
    """Our chain's tip poses (n, 1, 4, 4) and Jacobians (n, 6, dof), moved from the base to the world."""
    chain, base = chain_of(robot), robot.base_in_world.matrix()
    poses, jacobians = np.zeros((len(q), 1, 4, 4)), np.zeros((len(q), 6, robot.dof))
    for row, values in enumerate(q):
        forward_and_jacobian_into(chain, values, poses[row, 0], jacobians[row])
    turn = np.kron(np.eye(2), base[:3, :3])
    return base @ poses, turn @ jacobians


def pose_rows(
    quantity: str,
    compared: str,
    ours: Array,
    theirs: Array,
    names: tuple[str, ...],
    at: Samples,
    bars: Bars,
) -> Iterator[Row]:
    """Metres and radians in rows of their own, from poses (n, len(names), 4, 4).

    Rotation comes first: a frame that is turned about its own origin moves only those after it, so
    that position would blame the wrong one.
    """
    distance = np.linalg.norm(ours[..., :3, 3] - theirs[..., :3, 3], axis=-1)
    turns = ours[..., :3, :3] @ np.swapaxes(theirs[..., :3, :3], -1, -2)
    flat = turns.reshape(-1, 3, 3)
    angle = np.array([np.linalg.norm(rotation_log(turn)) for turn in flat]).reshape(distance.shape)
    length_bar = bars.scaled(bars.length_m, ours[..., :3, 3])
    yield measured(f"{quantity} rotation", compared, "rad", bars.angle_rad, angle, names, at.postures)
    yield measured(f"{quantity} position", compared, "m", length_bar, distance, names, at.postures)


def jacobian_rows(
    robot: Robot, compared: str, ours: Array, theirs: Array, at: Samples, bar: float
) -> Iterator[Row]:
    """The largest entry of each joint's column; linear (m/rad) and angular (rad/rad) apart."""
    errors = np.abs(ours - theirs)
    linear, angular = errors[:, :3].max(axis=1), errors[:, 3:].max(axis=1)
    joints = robot.joint_names
    unit = "m/rad" if all(robot.turns) else "m/rad, 1"
    yield measured("Jacobian linear", compared, unit, bar, linear, joints, at.postures)
    yield measured("Jacobian angular", compared, "1", bar, angular, joints, at.postures)
