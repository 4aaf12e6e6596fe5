"""What the compiled solver is told, as one array: every array that crosses into a kernel costs 60 ns.

Row i is joint i; then come rows of settings, and one for each of two reach bounds.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from forearm.errors import InvalidInput
from forearm.ik.problem import Tolerance
from forearm.kinematics.links import LINK_COLUMNS, links_of
from forearm.kinematics.reach import ReachBound, reach_bounds
from forearm.robots.robot import Robot
from forearm.spatial import Array, frozen_array

# Columns of a joint's row, after those of its link.
LOW, HIGH = LINK_COLUMNS, LINK_COLUMNS + 1
"""The limits that steps are held in; infinite for a joint that has a full turn to itself."""
LOWEST, HIGHEST = LINK_COLUMNS + 2, LINK_COLUMNS + 3
"""The limits."""
START, SPAN, GOLDEN = LINK_COLUMNS + 4, LINK_COLUMNS + 5, LINK_COLUMNS + 6
"""Where attempts start: START + SPAN · frac(k GOLDEN)."""
WEIGHT, POSTURE = LINK_COLUMNS + 7, LINK_COLUMNS + 8
"""How much the joint counts in distances, and where it is wanted."""
COLUMNS = LINK_COLUMNS + 9

# Rows after the joints.
SETTINGS, BASE, END, TASK, BOUNDS = range(5)
BOUND_COUNT = 2
EXTRA_ROWS = BOUNDS + BOUND_COUNT

# Columns of SETTINGS.
DAMPING, DAMPING_FLOOR, MAX_STEP, MAX_AGE, FALL, PATIENCE, METRES_PER_RADIAN = range(7)
# Columns of TASK.
KIND, POSITION_SQUARED, ROTATION_SQUARED, BUDGET, WANTED, START_SHARE, ENOUGH = range(7)
# Columns of a reach bound's row.
CENTER, POINT, INNER_SQUARED, OUTER_SQUARED = 0, 3, 6, 7

POSE, AXIS, POSITION = 0.0, 1.0, 2.0
TASK_CODES = {"pose": POSE, "axis": AXIS, "position": POSITION}

FIRST, NEAREST, MARGIN, MANIPULABILITY, NEAR_POSTURE = range(5)
"""What is wanted: the first answer, or the best of those found by a measure."""

MAX_JOINTS = 32
"""Slots on the kernels' stack; chains have 30 joints at most."""
ATTEMPTS = 8
"""Attempts that race; a fixed number, so that the answer does not depend on the processor."""

AIM = 0.99
"""Solvers aim this far inside the tolerance, so that rounding in the replay does not turn them away."""
POSITION_FLOOR_M, ROTATION_FLOOR_RAD = 2e-14, 2e-14
"""A double cannot tell positions of a metre, or rotations, apart much finer than this."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """The constants of the descent. Lengths are in units of the arm's reach.

    The step is Jᵀ (J Jᵀ + λ I)⁻¹ e with λ = damping |e|² + floor. An attempt is given up when |e|²
    has not fallen below ``fall`` times itself within ``patience`` steps, or after ``max_age``.
    """

    damping: float = 0.05
    damping_floor: float = 1e-10
    max_step_rad: float = 1.5
    max_age: int = 25
    fall: float = 0.6
    patience: int = 2
    radian: float = 0.4
    """What a radian weighs."""


def golden(count: int) -> Array:
    """The additive recurrence with the best spread in ``count`` dimensions: φ^-1, φ^-2, ... mod 1.

    φ is the root of φ^(count + 1) = φ + 1. It needs no generator and no state.
    """
    phi = 2.0
    for _ in range(60):
        phi = (1.0 + phi) ** (1.0 / (count + 1))
    return phi ** -np.arange(1.0, count + 1.0) % 1.0


def start_ranges(robot: Robot) -> tuple[Array, Array]:
    """(lowest, span) of where attempts start; a joint without limits gets a turn, or a metre each way."""
    room = np.where(robot.turns, np.pi, 1.0)
    lower = np.where(np.isfinite(robot.lower), robot.lower, np.minimum(-room, robot.upper - 2.0 * room))
    upper = np.where(np.isfinite(robot.upper), robot.upper, np.maximum(room, lower + 2.0 * room))
    return lower, upper - lower


def joint_rows(robot: Robot, axis_in_tip: tuple[float, float, float]) -> Array:
    """The rows of the joints."""
    rows = np.zeros((robot.dof, COLUMNS))
    rows[:, :LINK_COLUMNS] = links_of(robot, axis_in_tip).rows
    free = np.array(robot.turns) & (robot.upper - robot.lower >= 2.0 * np.pi - 1e-9)
    rows[:, LOW] = np.where(free, -np.inf, robot.lower)
    rows[:, HIGH] = np.where(free, np.inf, robot.upper)
    rows[:, LOWEST], rows[:, HIGHEST] = robot.lower, robot.upper
    rows[:, START], rows[:, SPAN] = start_ranges(robot)
    rows[:, GOLDEN] = golden(robot.dof)
    rows[:, WEIGHT] = 1.0
    return rows


def hold(rows: Array, robot: Robot, held: dict[str, float]) -> None:
    """Narrow the limits of the joints that are to stay where they are told."""
    for name, value in held.items():
        row = rows[robot.joint_names.index(name)]
        row[[LOW, HIGH, LOWEST, HIGHEST, START]] = value
        row[SPAN] = 0.0


def bound_row(bound: ReachBound, tolerance: Tolerance) -> Array:
    """A reach bound, widened by what the tolerance lets through."""
    row = np.zeros(COLUMNS)
    slack = tolerance.position_m + tolerance.rotation_rad * bound.lever_m()
    row[CENTER : CENTER + 3] = bound.center_in_base_m
    row[POINT : POINT + 3] = bound.point_in_tip_m
    row[INNER_SQUARED] = max(0.0, bound.inner_m - slack) ** 2
    row[OUTER_SQUARED] = (bound.outer_m + slack) ** 2
    return row


def characteristic_length_m(robot: Robot) -> float:
    """The unit that errors in metres are weighed in: the arm's reach, or a metre where it is not bounded."""
    bounds = reach_bounds(robot, "position")
    return bounds[0].outer_m if bounds and bounds[0].outer_m > 0.0 else 1.0


def aimed(tolerance: float, floor: float) -> float:
    return max(AIM * tolerance, floor)


def layout(
    robot: Robot,
    task: str,
    tolerance: Tolerance,
    *,
    budget: int,
    wanted: int = FIRST,
    enough: int = 1,
    start_share: float = 1.0,
    axis_in_tip: tuple[float, float, float] = (0.0, 0.0, 1.0),
    held: dict[str, float] | None = None,
    weights: Array | None = None,
    posture: Array | None = None,
    metres_per_radian: float | None = None,
    recipe: Recipe | None = None,
) -> Array:
    """Everything the kernels need to know of an arm, a task and a recipe."""
    if robot.dof > MAX_JOINTS:
        raise InvalidInput("robot", f"has {robot.dof} joints", f"{MAX_JOINTS} at most.")
    recipe = recipe or Recipe()
    length = characteristic_length_m(robot)
    links = links_of(robot, axis_in_tip)
    bounds = reach_bounds(robot, task)
    n = robot.dof
    table = np.zeros((n + EXTRA_ROWS, COLUMNS))
    table[:n] = joint_rows(robot, axis_in_tip)
    hold(table[:n], robot, held or {})
    if weights is not None:
        table[:n, WEIGHT] = weights
    if posture is not None:
        table[:n, POSTURE] = posture
    lever = recipe.radian * length if metres_per_radian is None else metres_per_radian
    lever = 0.0 if task == "position" else lever
    table[n + SETTINGS, : METRES_PER_RADIAN + 1] = (
        recipe.damping,
        recipe.damping_floor * length**2,
        recipe.max_step_rad,
        recipe.max_age,
        recipe.fall,
        recipe.patience,
        lever,
    )
    table[n + BASE, :9] = links.base_rotation.ravel()
    table[n + BASE, 9:12] = links.base_position_m
    table[n + END, :9] = links.end_rotation.ravel()
    # The kernels' rotation error is the chord 2 sin(θ/2), weighed.
    chord = 2.0 * np.sin(0.5 * min(aimed(tolerance.rotation_rad, ROTATION_FLOOR_RAD), np.pi))
    table[n + TASK, : ENOUGH + 1] = (
        TASK_CODES[task],
        aimed(tolerance.position_m, POSITION_FLOOR_M * max(1.0, length)) ** 2,
        (chord * lever) ** 2,
        budget,
        wanted,
        start_share,
        enough,
    )
    table[n + BOUNDS :, OUTER_SQUARED] = np.inf
    for index, bound in enumerate(bounds):
        table[n + BOUNDS + index] = bound_row(bound, tolerance)
    return frozen_array(table)
