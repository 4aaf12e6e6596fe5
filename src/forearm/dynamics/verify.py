"""``verify``: our chain, Pinocchio and MuJoCo must say the same about one robot.

Three sides, each of which may be given, so that a fault can be planted in any one of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import mujoco as mj
import pinocchio as pin

from forearm.dynamics.bars import ONE_SOURCE, Bars
from forearm.dynamics.dynamics_rows import dynamics_rows
from forearm.dynamics.engine import Engine
from forearm.dynamics.kinematics_rows import axis_rows, frame_rows, limit_row, tip_rows
from forearm.dynamics.mujoco_engine import MujocoDynamics
from forearm.dynamics.pinocchio_engine import PinocchioDynamics
from forearm.dynamics.samples import SAMPLES, SEED, Samples, samples_of
from forearm.dynamics.tree_walk import TreeWalk
from forearm.dynamics.verification import Row, Verification
from forearm.robots.robot import Robot


@dataclass(frozen=True)
class Side:
    """An engine, what its model was made from, and how it may be compared with the tree."""

    engine: Engine
    source: str
    bars: Bars = ONE_SOURCE
    shares_frames: bool = True
    """Whether links and frames that bear the tree's names also have the tree's poses."""
    without_masses: str = ""
    """Why its masses are not to be trusted; empty if they are."""


def verify(
    robot: Robot,
    samples: int = SAMPLES,
    seed: int = SEED,
    *,
    pinocchio: pin.Model | None = None,
    mujoco: mj.MjModel | None = None,
) -> Verification:
    """Cross-check ``robot``'s chain with both engines, at its named postures and ``samples`` random ones.

    The engines' models are made from the robot unless given. Raises ``UnknownName`` if a given model
    lacks one of the chain's joints or its tip, ``InvalidInput`` for a bad ``samples`` or ``seed``.
    """
    return compare(
        robot,
        Side(PinocchioDynamics(robot, pinocchio), "given" if pinocchio else robot.tree.source),
        Side(MujocoDynamics(robot, mujoco), "given" if mujoco else robot.tree.source),
        samples,
        seed,
    )


def compare(robot: Robot, pinocchio: Side, mujoco: Side, samples: int, seed: int) -> Verification:
    """The verification of ``robot``'s chain against two engines."""
    at = samples_of(robot, samples, seed)
    return Verification(
        robot=robot.name,
        sources={"chain": robot.tree.source, "pinocchio": pinocchio.source, "mujoco": mujoco.source},
        samples=samples,
        seed=seed,
        rows=tuple(rows(robot, pinocchio, mujoco, at)),
        versions=versions(),
    )


def rows(robot: Robot, pinocchio: Side, mujoco: Side, at: Samples) -> Iterator[Row]:
    """In the order in which a cause shows: frames, axes, tip, Jacobians, limits, masses, torques."""
    walk, sides = TreeWalk(robot), (pinocchio, mujoco)
    for side in sides:
        if side.shares_frames:
            theirs = set(side.engine.frame_names)
            names = tuple(name for name in walk.frame_names if name in theirs)
            yield from frame_rows(walk, side.engine, names, at, side.bars)
    for side in sides:
        yield from axis_rows(walk, side.engine, at, side.bars)
    yield from tip_rows(walk, tuple((side.engine, side.bars) for side in sides), at)
    for side in sides:
        yield limit_row(robot, side.engine, side.bars)
    looser = max((side.bars for side in sides), key=lambda bars: bars.dynamics)
    not_because = pinocchio.without_masses or mujoco.without_masses
    yield from dynamics_rows(pinocchio.engine, mujoco.engine, at, looser, not_because)


def versions() -> dict[str, str]:
    return {"pinocchio": pin.__version__, "mujoco": mj.__version__}
