"""What is asked of a solver: a target, a seed, tolerances and a budget."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from forearm.errors import InvalidInput, unknown_unless_in
from forearm.ik.checks import is_plain_seed, target_matrix
from forearm.robots.robot import Robot, held_values
from forearm.spatial import MAX_LENGTH_M, Array, Pose, finite_vector, frozen_array

TASKS = ("pose", "axis", "position")
LIMIT_TOLERANCE = 1e-9
"""How far (rad or m) past a limit a joint may stand and still count as on it: rounding, no more."""
DEFAULT_ITERATIONS = 1000
TOOL_AXIS = frozen_array((0.0, 0.0, 1.0))
WHOLE_ROTATION = frozen_array((0.0, 0.0, 0.0))
"""What stands for the axis where the whole rotation counts, or none of it."""


@dataclass(frozen=True, slots=True)
class Tolerance:
    """How near a solution must come, metres and radians apart."""

    position_m: float = 1e-6
    rotation_rad: float = 1e-6

    def __post_init__(self) -> None:
        for name, value in (("position_m", self.position_m), ("rotation_rad", self.rotation_rad)):
            if not (isinstance(value, Real) and 0.0 < value < np.inf):
                raise InvalidInput(f"tolerance.{name}", f"is {value}", "Give a positive number.")


DEFAULT_TOLERANCE = Tolerance()


@dataclass(frozen=True, eq=False, slots=True)
class Problem:
    """One inverse kinematics question, checked. Make it with ``pose_problem``."""

    robot: Robot
    target: Array
    """The tip's pose wanted, in the base (4x4)."""
    task: str
    """What of the target counts: ``"pose"``, all of it; ``"axis"``, its position and where
    ``axis_in_tip`` points; ``"position"``."""
    axis_in_tip: Array
    """For axis tasks the unit direction; zeros for others."""
    seed: Array
    seed_given: bool
    """Whether the caller chose the seed; if so, answers near it come first."""
    tolerance: Tolerance
    frame: str
    """The frame that the caller gave the target in."""
    max_iterations: int
    held: tuple[tuple[str, float], ...] = ()
    """Joints that may not move from a value (rad or m)."""
    warnings: tuple[str, ...] = ()

    @property
    def limits(self) -> Array:
        """Lower and upper (2 x n): the robot's own, or one value twice for a joint that is held."""
        return limits_of(self.robot, self.held)

    @property
    def target_in_base(self) -> Pose:
        return Pose.from_matrix(self.target)


def pose_problem(
    robot: Robot,
    target: Any,
    *,
    seed: ArrayLike | None = None,
    frame: str | None = None,
    task: str | None = None,
    axis: ArrayLike | None = None,
    hold: Mapping[str, float] | None = None,
    tolerance: Tolerance | None = None,
    max_iterations: int = DEFAULT_ITERATIONS,
) -> Problem:
    """Check the parts of a question and put the target in the base frame.

    ``target`` is a ``Pose``, a 4x4 matrix or, for position tasks, three coordinates; it is given in
    ``frame`` (default: the base). ``axis`` is a direction in the tip's frame (default: z), for axis
    tasks. Without a ``seed`` the arm's home posture is used. A seed outside the limits is kept as it
    is and reported in ``warnings``.
    """
    if task is None:
        task = robot.task
    elif type(task) is not str or task not in TASKS:
        unknown_unless_in("task", task, TASKS)
    matrix = target_matrix(target)
    if task != "position" and not isinstance(target, Pose) and np.shape(target) == (3,):
        raise InvalidInput(
            "target", "is a position without a rotation", 'Give a pose, or task="position" (--task position).'
        )
    if frame is not None:
        matrix = robot.target_in_base(Pose.from_matrix(matrix), frame).matrix()
    matrix.flags.writeable = False
    require_count(max_iterations)
    if tolerance is not None and not isinstance(tolerance, Tolerance):
        raise InvalidInput("tolerance", f"is a {type(tolerance).__name__}", "Give a Tolerance.")
    held = held_joints(robot, hold) if hold else ()
    start, warnings = start_of(robot, seed)
    return Problem(
        robot=robot,
        target=matrix,
        task=task,
        axis_in_tip=axis_of(task, axis),
        seed=start,
        seed_given=seed is not None,
        tolerance=tolerance or DEFAULT_TOLERANCE,
        frame=robot.base if frame is None else frame,
        max_iterations=max_iterations,
        held=held,
        warnings=warnings,
    )


def require_count(max_iterations: Any) -> None:
    whole = type(max_iterations) is int or isinstance(max_iterations, Integral)
    if not whole or max_iterations < 1:
        raise InvalidInput("max_iterations", f"is {max_iterations!r}", "Give a whole number, 1 or more.")


def axis_of(task: str, axis: ArrayLike | None) -> Array:
    """The direction that counts, in the tip's frame, of length 1; zeros unless the task is ``"axis"``."""
    if axis is None:
        return TOOL_AXIS if task == "axis" else WHOLE_ROTATION
    if task != "axis":
        raise InvalidInput("axis", f"is given with task {task!r}", 'It needs task="axis".')
    direction = finite_vector(axis, 3, "axis")
    length = float(np.linalg.norm(direction))
    if not 1e-6 <= length <= MAX_LENGTH_M:
        raise InvalidInput("axis", f"has length {length:.6g}", "Give a direction in the tip's frame.")
    return frozen_array(direction / length)


def held_joints(robot: Robot, hold: Mapping[str, float]) -> tuple[tuple[str, float], ...]:
    """``hold`` checked, in the chain's order."""
    values = held_values(hold)
    for name in values:
        unknown_unless_in("joint to hold", name, robot.joint_names)
    for joint in robot.joints:
        value = values.get(joint.name, 0.0)
        if joint.name in values and not joint.lower <= value <= joint.upper:
            raise InvalidInput(
                f"held joint {joint.name!r}",
                f"at {value} is outside its limits [{joint.lower:.6g}, {joint.upper:.6g}]",
            )
    if len(values) == robot.dof:
        raise InvalidInput("hold", "names every joint", "Leave one or more to move.")
    return tuple((name, values[name]) for name in robot.joint_names if name in values)


@lru_cache(maxsize=64)
def limits_of(robot: Robot, held: tuple[tuple[str, float], ...] = ()) -> Array:
    """Lower and upper limits (2 x n), both the value itself for a joint that is held."""
    limits = np.array([robot.lower, robot.upper])
    for name, value in held:
        limits[:, robot.joint_names.index(name)] = value
    return frozen_array(limits)


def start_of(robot: Robot, seed: ArrayLike | None) -> tuple[Array, tuple[str, ...]]:
    """The seed, copied and read-only, and a warning for each joint that it puts past a limit."""
    if seed is None:
        return home_start(robot)
    plain = isinstance(seed, np.ndarray) and seed.dtype == np.float64 and seed.shape == (robot.dof,)
    if plain and is_plain_seed(seed, limits_of(robot)):
        return frozen_array(seed), ()
    start = seed_vector(robot, seed)
    return start, limit_warnings(robot, start, "seed")


@lru_cache(maxsize=64)
def home_start(robot: Robot) -> tuple[Array, tuple[str, ...]]:
    return robot.home, limit_warnings(robot, robot.home, "seed")


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
