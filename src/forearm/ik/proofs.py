"""Proofs that no posture reaches a target. The gate asks for them; what a solver says plays no part.

Each proof is worked out here from the robot and the target alone, with nothing of the solvers' code.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from forearm.ik.branches import branch_name
from forearm.ik.closed_form import family_of
from forearm.ik.intervals import TURN, Interval
from forearm.ik.limits import turned_into_limits
from forearm.ik.problem import LIMIT_TOLERANCE, Problem
from forearm.kinematics.planar import PlanarGeometry, planar_geometry
from forearm.kinematics.reach import ROUNDING, bounds_table, first_passed, reach_bounds
from forearm.kinematics.screws import replay_into, screws_of
from forearm.robots.robot import Robot
from forearm.spatial import Array


@dataclass(frozen=True, eq=False, slots=True)
class Proof:
    """Why no posture within the limits reaches the target."""

    reason: str
    words: str | Callable[[], str]
    """The statement, or what words it when somebody wants to read it."""
    nearest: Array | None = None
    """The posture that comes nearest, where the proof finds it."""

    @property
    def statement(self) -> str:
        return self.words if isinstance(self.words, str) else self.words()


def unreachable(problem: Problem) -> Proof | None:
    """A proof that ``problem`` has no solution, or None, which proves nothing."""
    return beyond_reach(problem) or by_planar_branches(problem) or by_closed_form(problem)


def beyond_reach(problem: Problem) -> Proof | None:
    """The target lies outside a bound on the reach (``kinematics.reach``)."""
    robot, task, tolerance = problem.robot, problem.task, problem.tolerance
    passed, short = first_passed(
        bounds_table(robot, task), problem.target, tolerance.position_m, tolerance.rotation_rad
    )
    if passed < 0:
        return None
    return Proof("beyond reach", partial(reach_statement, robot, task, passed, short))


def reach_statement(robot: Robot, task: str, passed: int, short_m: float) -> str:
    bound = reach_bounds(robot, task)[passed]
    return (
        f"the target puts the {bound.description} {short_m:.6g} m outside what {robot.joints[0].name}'s "
        f"axis can reach: {bound.inner_m:.6g} to {bound.outer_m:.6g} m"
    )


def by_planar_branches(problem: Problem) -> Proof | None:
    """For two links in a plane: no posture at which the distance could be least comes within tolerance.

    The distance is least on a branch, at a limit of one joint with the other aiming, or at limits of
    both. All of them are finitely many and looked at here.
    """
    robot, geometry = problem.robot, planar_geometry(problem.robot)
    if geometry is None or problem.task != "position":
        return None
    target = problem.target_in_base.position_m
    x, y, height = geometry.in_plane(target)
    point = complex(x, y)
    branches = [nearest_winding(robot, q) for q in branch_postures(geometry, point)]
    inside = [
        q
        for q in (*branches, *(nearest_winding(robot, q) for q in limit_postures(robot, geometry, point)))
        if past_limits(robot, q).max() <= LIMIT_TOLERANCE
    ]
    distances = [float(np.linalg.norm(replayed_tip(robot, q) - target)) for q in inside]
    least = min(distances, default=np.inf)
    rounding = ROUNDING * (1.0 + geometry.l1_m + geometry.l2_m)
    planned = [float(np.hypot(abs(planar_tip(geometry, q) - point), height)) for q in inside]
    if not np.allclose(distances, planned, rtol=0.0, atol=rounding):
        return None  # The plane's geometry is not the robot's.
    # Written so that a NaN proves nothing. The gate lets joints pass their limits by LIMIT_TOLERANCE.
    slack = problem.tolerance.position_m + rounding + 3.0 * LIMIT_TOLERANCE * (geometry.l1_m + geometry.l2_m)
    if not least > slack:
        return None
    nearest = inside[int(np.argmin(distances))] if inside else None
    return planar_proof(robot, branches, target, least, nearest)


def planar_proof(
    robot: Robot, branches: list[Array], target: Array, least_m: float, nearest: Array | None
) -> Proof:
    """What blocks every branch: a limit, or that even the branch misses the target."""
    details, blocked = [], 0
    for q in branches:
        name, past = branch_name(robot, q) or "branch", past_limits(robot, q)
        joint = int(np.argmax(past))
        if past[joint] > LIMIT_TOLERANCE:
            blocked += 1
            details.append(
                f"{name}: joint {robot.joint_names[joint]} is {past[joint]:.3g} rad past its limit"
            )
        else:
            miss = float(np.linalg.norm(replayed_tip(robot, q) - target))
            details.append(f"{name}: misses by {miss:.3g} m")
    listed = "; ".join(details)
    if blocked == len(branches):
        return Proof(
            "limits block every branch",
            f"all {blocked} branches enumerated: {listed}; inside the limits the tip comes no nearer "
            f"than {least_m:.3g} m",
            nearest,
        )
    return Proof("no branch", f"all branches of {robot.name} enumerated: {listed}", nearest)


def by_closed_form(problem: Problem) -> Proof | None:
    """For six turning joints of a known family: the equations have no root, or limits block every branch.

    Worked out in intervals for all poses within tolerance at once (``ik.closed_form``), so that a branch that
    is missing or blocked is so for each of them.
    """
    robot, tolerance = problem.robot, problem.tolerance
    family = family_of(robot)
    if family is None or problem.task != "pose":
        return None
    boxes = family.boxes(problem.target, tolerance.position_m, tolerance.rotation_rad)
    details, least, nearest = [], np.inf, None
    for number, box in enumerate(boxes, start=1):
        past = [
            past_by(angle, lower - LIMIT_TOLERANCE, upper + LIMIT_TOLERANCE)
            for angle, lower, upper in zip(box, *problem.limits.tolist(), strict=True)
        ]
        joint = int(np.argmax(past))
        if not past[joint] > 0.0:
            return None
        q = nearest_winding(robot, np.array([angle.middle for angle in box]))
        name = branch_name(robot, q) or f"branch {number}"
        held = robot.joint_names[joint] in dict(problem.held)
        blocked = "from where it is held" if held else "past its limit"
        details.append(f"{name}: joint {robot.joint_names[joint]} is {past[joint]:.3g} rad {blocked}")
        if past[joint] < least:
            least, nearest = past[joint], np.clip(q, *problem.limits)
    if not details:
        return Proof("no branch", f"closed form ({family.name}): the equations have no real root")
    return Proof(
        "limits block every branch",
        f"all {len(details)} branches enumerated ({family.name}): {'; '.join(details)}",
        nearest,
    )


def past_by(angle: Interval, lower: float, upper: float) -> float:
    """By how much (rad) an angle is past its limits at least, however turned; 0 or less if it may not be."""
    if not np.isfinite(upper - lower):
        return 0.0
    # The last turn at which it is not above the upper limit, and the next.
    turns = np.floor((upper - angle.low) / TURN)
    below = lower - (angle.high + TURN * turns)
    above = angle.low + TURN * (turns + 1.0) - upper
    return float(min(below, above))


def branch_postures(geometry: PlanarGeometry, point: complex) -> list[Array]:
    """Both elbows, cos θ2 = (r² - L1² - L2²) / (2 L1 L2) cut to [-1, 1]; one where they coincide."""
    l1, l2 = geometry.l1_m, geometry.l2_m
    cosine = np.clip((abs(point) ** 2 - l1**2 - l2**2) / (2.0 * l1 * l2), -1.0, 1.0)
    bend = float(np.arccos(cosine))
    bends = (bend, -bend) if 0.0 < bend < np.pi else (bend,)
    return [posture(geometry, aimed_shoulder(geometry, point, value), value) for value in bends]


def limit_postures(robot: Robot, geometry: PlanarGeometry, point: complex) -> list[Array]:
    """One joint at a limit and the other aiming at ``point``, and both joints at limits."""
    shoulders = [
        limit + geometry.shoulder_offset_rad
        for limit in (robot.lower[0], robot.upper[0])
        if np.isfinite(limit)
    ]
    bends = [
        geometry.elbow_sense * limit + geometry.elbow_offset_rad
        for limit in (robot.lower[1], robot.upper[1])
        if np.isfinite(limit)
    ]
    found = [posture(geometry, shoulder, bend) for shoulder in shoulders for bend in bends]
    for shoulder in shoulders:
        elbow = geometry.l1_m * np.exp(1j * shoulder)
        found.append(posture(geometry, shoulder, float(np.angle(point - elbow)) - shoulder))
    found += [posture(geometry, aimed_shoulder(geometry, point, bend), bend) for bend in bends]
    return found


def aimed_shoulder(geometry: PlanarGeometry, point: complex, bend: float) -> float:
    """θ1 that turns the tip of an arm bent by ``bend`` towards ``point``."""
    tip = geometry.l1_m + geometry.l2_m * np.exp(1j * bend)
    return float(np.angle(point * np.conj(tip)))


def posture(geometry: PlanarGeometry, shoulder: float, bend: float) -> Array:
    """(q1, q2) of θ1 and θ2."""
    return np.array(
        [
            shoulder - geometry.shoulder_offset_rad,
            geometry.elbow_sense * (bend - geometry.elbow_offset_rad),
        ]
    )


def planar_tip(geometry: PlanarGeometry, q: Array) -> complex:
    """L1 e^(i θ1) + L2 e^(i (θ1 + θ2))."""
    shoulder = q[0] + geometry.shoulder_offset_rad
    wrist = geometry.l2_m * np.exp(1j * geometry.bend_rad(q))
    return complex(np.exp(1j * shoulder) * (geometry.l1_m + wrist))


def nearest_winding(robot: Robot, q: Array) -> Array:
    """``q`` turned whole turns into the limits, or as near to them as that gets."""
    return turned_into_limits(robot, q, robot.home)


def past_limits(robot: Robot, q: Array) -> Array:
    """By how much each joint is past its limit (rad); negative inside."""
    return np.maximum(robot.lower - q, q - robot.upper)


def replayed_tip(robot: Robot, q: Array) -> Array:
    """The tip in the base (m), by the gate's own forward kinematics."""
    transform = np.empty((4, 4))
    replay_into(screws_of(robot), q, transform)
    return transform[:3, 3]
