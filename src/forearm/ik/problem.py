"""What is asked of a solver: a target, a seed, tolerances and a budget."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from forearm.errors import InvalidInput, unknown_unless_in
from forearm.robots.robot import Robot
from forearm.spatial import MAX_LENGTH_M, Array, Pose, as_pose, frozen_array, require_length

TASKS = ("pose", "position")
LIMIT_TOLERANCE = 1e-9
"""How far (rad or m) past a limit a joint may stand and still count as on it: rounding, no more."""


@dataclass(frozen=True, slots=True)
class Tolerance:
    """How near a solution must come, metres and radians apart."""

    position_m: float = 1e-6
    rotation_rad: float = 1e-6

    def __post_init__(self) -> None:
        for name, value in (("position_m", self.position_m), ("rotation_rad", self.rotation_rad)):
            if not (isinstance(value, Real) and 0.0 < value < np.inf):
                raise InvalidInput(f"tolerance.{name}", f"is {value}", "Give a positive number.")


@dataclass(frozen=True, eq=False, slots=True)
class Problem:
    """One inverse kinematics question, checked. Make it with ``pose_problem``."""

    robot: Robot
    target_in_base: Pose
    task: str
    """``"pose"`` or ``"position"``: whether the target's rotation counts."""
    seed: Array
    seed_given: bool
    """Whether the caller chose the seed; if so, answers near it come first."""
    tolerance: Tolerance
    frame: str
    """The frame that the caller gave the target in."""
    max_iterations: int
    warnings: tuple[str, ...] = ()


def pose_problem(
    robot: Robot,
    target: Any,
    *,
    seed: ArrayLike | None = None,
    frame: str | None = None,
    task: str | None = None,
    tolerance: Tolerance | None = None,
    max_iterations: int = 200,
) -> Problem:
    """Check the parts of a question and put the target in the base frame.

    ``target`` is a ``Pose``, a 4x4 matrix or, for position tasks, three coordinates; it is given in
    ``frame`` (default: the base). Without a ``seed`` the arm's home posture is used. A seed outside
    the limits is kept as it is and reported in ``warnings``.
    """
    task = robot.task if task is None else task
    unknown_unless_in("task", task, TASKS)
    pose = as_pose(target)
    require_length(pose.position_m, "target")
    if task == "pose" and not isinstance(target, Pose) and np.shape(target) == (3,):
        raise InvalidInput(
            "target", "is a position without a rotation", 'Give a pose, or task="position" (--task position).'
        )
    if not isinstance(max_iterations, Integral) or max_iterations < 1:
        raise InvalidInput("max_iterations", f"is {max_iterations!r}", "Give a whole number, 1 or more.")
    if tolerance is not None and not isinstance(tolerance, Tolerance):
        raise InvalidInput("tolerance", f"is a {type(tolerance).__name__}", "Give a Tolerance.")
    start = robot.home if seed is None else seed_vector(robot, seed)
    return Problem(
        robot=robot,
        target_in_base=robot.target_in_base(pose, frame),
        task=task,
        seed=start,
        seed_given=seed is not None,
        tolerance=tolerance or Tolerance(),
        frame=robot.base if frame is None else frame,
        max_iterations=max_iterations,
        warnings=limit_warnings(robot, start, "seed"),
    )


def limit_warnings(robot: Robot, q: Array, what: str) -> tuple[str, ...]:
    """A line for every joint of the vector called ``what`` that is past a limit."""
    return tuple(
        f"{what}: joint {joint.name} at {value:.6g} is {past:.3g} past its {side} limit"
        for joint, value in zip(robot.joints, q, strict=True)
        for past, side in ((joint.lower - value, "lower"), (value - joint.upper, "upper"))
        if past > LIMIT_TOLERANCE
    )


def seed_vector(robot: Robot, seed: ArrayLike) -> Array:
    """A seed checked to be one number a joint, none so large that its digits are lost in full turns."""
    start = robot.joint_vector(seed, "seed")
    largest = int(np.argmax(np.abs(start)))
    if abs(start[largest]) > MAX_LENGTH_M:
        raise InvalidInput(
            "seed",
            f"puts joint {robot.joint_names[largest]} at {start[largest]:.6g}",
            f"Give radians and metres, {MAX_LENGTH_M:g} at most.",
        )
    return frozen_array(start)
