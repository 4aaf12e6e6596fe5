"""Every branch of a 6R or 7R arm in closed form: by EAIK where it can, else by ssik.

Both are told the arm by the axes and points of its screws. What they return is checked by nobody here:
the gate replays it like everything else.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from forearm.errors import InvalidInput, MissingExtra
from forearm.kinematics.screws import AXIS, POINT, screws_of
from forearm.robots.robot import Robot
from forearm.spatial import Array

PARALLEL = 1.0 - 1e-9
"""Cosine of the angle between two axes from which they count as parallel."""
BACKENDS = ("eaik", "ssik")
JOINTS = (6, 7)


@dataclass(frozen=True, eq=False, slots=True)
class Branches:
    """Joint vectors, a row each, as they come: full turns and limits are not looked at."""

    q: Array
    exact: Array
    """Whether the backend says that the row solves the equations; else it only comes near."""
    by: str
    """Which backend, and how it works the arm."""
    complete: bool
    """Whether the exact rows are all there are, full turns aside, away from singularities."""


Enumerate = Callable[[Array], Branches]


def can_enumerate(robot: Robot) -> bool:
    """Whether the arm has six or seven joints, all of them turning."""
    return robot.dof in JOINTS and all(robot.turns)


def branches_of(robot: Robot, target: Array, backend: str | None = None) -> Branches:
    """The branches that put the tip on ``target`` (4x4, in the base); raises ``MissingExtra``."""
    return enumerator_of(robot, backend)(target)


@lru_cache(maxsize=64)
def enumerator_of(robot: Robot, backend: str | None = None) -> Enumerate:
    """What finds the branches of ``robot``, prepared once."""
    if backend == "ssik":
        return by_ssik(robot)
    fast = by_eaik(robot)
    if fast is None and backend == "eaik":
        raise InvalidInput("backend", f"'eaik' knows no closed form for {robot.name}", "Use 'ssik'.")
    if fast is None:
        return by_ssik(robot)
    return fast if backend == "eaik" else with_recourse(fast, robot)


def with_recourse(fast: Enumerate, robot: Robot) -> Enumerate:
    """Near singularities EAIK finds no exact branch of some targets; ssik, where it is installed, does."""

    def enumerate_branches(target: Array) -> Branches:
        found = fast(target)
        if found.exact.any():
            return found
        try:
            return enumerator_of(robot, "ssik")(target)
        except MissingExtra:
            return found

    return enumerate_branches


def by_eaik(robot: Robot) -> Enumerate | None:
    """EAIK's subproblems, a few microseconds; None for a family that it does not know."""
    if robot.dof != 6:
        return None
    try:
        from eaik.IK_HP import HPRobot
    except ImportError as error:
        raise MissingExtra("EAIK", "solver 'analytic'", "analytic") from error
    axes, offsets, end_rotation, senses = axes_and_offsets(robot)
    arm = HPRobot(axes, offsets)
    if not arm.hasKnownDecomposition():
        return None
    by = f"EAIK, {arm.getKinematicFamily()}"

    def enumerate_branches(target: Array) -> Branches:
        found = arm.IK(turned_to_axes(target, end_rotation))
        q = np.reshape(np.asarray(found.Q, dtype=np.float64), (-1, 6)) * senses
        return Branches(q, ~np.asarray(found.is_LS, dtype=np.bool_), by, complete=True)

    return enumerate_branches


def by_ssik(robot: Robot) -> Enumerate:
    """ssik's solver for the arm; with seven joints it samples the one to spare, so never all there is."""
    try:
        from ssik import Manipulator
    except ImportError as error:
        raise MissingExtra("ssik", "solver 'analytic'", "analytic") from error
    axes, offsets, end_rotation, senses = axes_and_offsets(robot)
    arm = Manipulator.from_axes(axes, offsets)
    by = f"ssik, {arm.solver_name}"

    def enumerate_branches(target: Array) -> Branches:
        turned = turned_to_axes(target, end_rotation)
        found = arm.solve(turned, respect_limits=False, enumerate_windings=False)
        q = np.reshape([solution.q for solution in found], (-1, robot.dof)) * senses
        return Branches(q, np.ones(len(q), dtype=np.bool_), by, complete=False)

    return enumerate_branches


def axes_and_offsets(robot: Robot) -> tuple[Array, Array, Array, Array]:
    """At q = 0: the axes (n, 3), the way from the base over a point of each to the tip (n + 1, 3), the tip's
    rotation, which the backends do not take, and the joints' senses.

    EAIK goes wrong, and calls it exact, where of its parallel axes one points the other way. So all are
    pointed the same way, and a joint that is turned round has the sense -1.
    """
    screws, n = screws_of(robot), robot.dof
    axes, points, tip = screws[:n, AXIS : AXIS + 3].copy(), screws[:n, POINT : POINT + 3], screws[n:, :4]
    senses = np.ones(n)
    for i in range(n):
        if any(axes[i] @ axes[j] < -PARALLEL for j in range(i)):
            senses[i], axes[i] = -1.0, -axes[i]
    stations = np.vstack([np.zeros(3), points, tip[:3, 3]])
    return axes, np.diff(stations, axis=0), tip[:3, :3].copy(), senses


def turned_to_axes(target: Array, end_rotation: Array) -> Array:
    """The target of a tip that is not turned at q = 0."""
    turned = target.copy()
    turned[:3, :3] = target[:3, :3] @ end_rotation.T
    return turned
