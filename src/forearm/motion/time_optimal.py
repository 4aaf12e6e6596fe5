"""The fastest run along a path that the joints' speeds, accelerations and efforts allow, on toppra.

Along q(s) every limit is linear in x = ṡ² and u = s̈:

    |q'| ṡ <= v,   |q' u + q'' x| <= a,   |M q' u + (M q'' + C(q, q') q') x + g + losses| <= tau_max.

The tip stops where two segments meet.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike

from forearm.dynamics.engine import Engine
from forearm.dynamics.pinocchio_engine import PinocchioDynamics
from forearm.errors import ForearmError, InvalidInput, shown
from forearm.motion.efforts import joint_losses, required_efforts, static_efforts
from forearm.motion.follow import follow
from forearm.motion.joint_path import JointPath, followed, straight
from forearm.motion.limits import ROUNDING, NoMotionPlan, per_joint
from forearm.motion.pieces import Pieces
from forearm.motion.reference import JointReference
from forearm.motion.route import Route
from forearm.motion.timing import Bounds, fastest
from forearm.motion.trajectory import Trajectory, checked_waypoints, tick_times_s
from forearm.robots.robot import Robot
from forearm.spatial import Array

CELLS = 200
"""Steps of the grid on every segment: limits hold at each of its points."""
BEYOND = 1e-6
"""Share of a limit by which a tick may pass it before the segment is slowed."""
MAX_SLOWINGS = 20
LEAST_LEFT = 1e-6
"""Share of a joint's effort that must be left for moving once the arm is held still."""


@dataclass(frozen=True, eq=False, slots=True)
class MotionLimits:
    """One number a joint, infinite where there is no limit."""

    speed: Array
    acceleration: Array
    effort: Array


@dataclass(frozen=True, slots=True)
class Usage:
    """The largest share of one kind of limit that any tick uses."""

    share: float
    joint: str
    tick: int


@dataclass(frozen=True, eq=False, slots=True)
class TimeOptimal:
    """The joints at every tick, and what they use of the limits."""

    joints: JointReference
    profiles: tuple[Pieces, ...]
    duration_s: float
    slowed_by: tuple[float, ...]
    """By segment: how much longer than toppra's timing it takes, so that the ticks hold too; 1 for none."""
    usage: dict[str, Usage]
    """By kind: speed, acceleration, effort; those without limits are left out."""
    trajectory: Trajectory | None
    """The route in time; None for joint waypoints."""


class InfeasiblePath(ForearmError):
    """A path cannot be run however slowly."""

    def __init__(
        self, joint: str, what: str, value: float, limit: float, segment: int, fraction: float
    ) -> None:
        self.joint, self.what, self.value, self.limit = joint, what, value, limit
        #: From 0, as everywhere but in texts.
        self.segment, self.fraction = segment, fraction
        super().__init__(
            f"the path cannot be run however slowly: {what} of joint {shown(joint)} is {value:.6g}, its "
            f"limit {limit:.6g} (segment {segment + 1}, {100.0 * fraction:.0f} % along)."
        )


def time_optimal(
    robot: Robot,
    route: Route,
    start: ArrayLike,
    *,
    dt_s: float,
    max_speed: ArrayLike | None = None,
    max_acceleration: ArrayLike | None = None,
    max_effort: ArrayLike | None = None,
    task: str | None = None,
    cells: int = CELLS,
) -> TimeOptimal:
    """``route`` in the least time, from rest to rest on each segment, on the branch of ``start``.

    Speeds and efforts are limited by the robot's own limits unless given, accelerations only if given;
    one number for all joints or one each. Raises ``InfeasiblePath``, ``LostTrack``, ``InvalidInput``.
    """
    limits = motion_limits(robot, max_speed, max_acceleration, max_effort)
    paths = followed(robot, route, start, cells, task)

    def sampled(profiles: list[Pieces]) -> JointReference:
        return follow(robot, Trajectory(route, tuple(profiles)).sampled(dt_s), paths[0].q[0], task)

    found = optimal(robot, paths, limits, sampled)
    return replace(found, trajectory=Trajectory(route, found.profiles))


def time_optimal_joints(
    robot: Robot,
    waypoints: ArrayLike,
    *,
    dt_s: float,
    max_speed: ArrayLike | None = None,
    max_acceleration: ArrayLike | None = None,
    max_effort: ArrayLike | None = None,
    cells: int = CELLS,
) -> TimeOptimal:
    """Straight lines in joint space through ``waypoints`` (m, n), at rest at each, in the least time."""
    limits = motion_limits(robot, max_speed, max_acceleration, max_effort)
    points = checked_waypoints(waypoints)
    for point in points:
        robot.joint_vector(point, "waypoint")
    paths = straight(points, cells)

    def sampled(profiles: list[Pieces]) -> JointReference:
        return along_lines(points, profiles, dt_s)

    return optimal(robot, paths, limits, sampled)


def optimal(
    robot: Robot,
    paths: list[JointPath],
    limits: MotionLimits,
    sampled: Callable[[list[Pieces]], JointReference],
) -> TimeOptimal:
    """toppra's timing of every segment, slowed where a tick between two points of the grid needs it."""
    engine = PinocchioDynamics(robot)
    profiles = [
        fastest(path, limits.speed, bounds_along(engine, path, limits, index), index)
        for index, path in enumerate(paths)
    ]
    slowed = np.ones(len(paths))
    for _ in range(MAX_SLOWINGS):
        joints = sampled(profiles)
        shares, factors = usage_of(engine, joints, limits)
        ends_s = np.cumsum([profile.duration_s for profile in profiles])
        which = np.minimum(np.searchsorted(ends_s, joints.times_s, side="right"), len(paths) - 1)
        if max(use.share for use in shares.values()) <= 1.0 + BEYOND:
            break
        for index in range(len(paths)):
            factor = factors[which == index].max(initial=1.0)
            if factor > 1.0:
                profiles[index] = profiles[index].slowed(factor)
                slowed[index] *= factor
    else:
        raise NoMotionPlan(
            "the timing passes its limits between the points of the grid, and slowing it down does not help. "
            "Give more cells."
        )
    return TimeOptimal(joints, tuple(profiles), float(ends_s[-1]), tuple(slowed.tolist()), shares, None)


def usage_of(engine: Engine, joints: JointReference, limits: MotionLimits) -> tuple[dict[str, Usage], Array]:
    """The peak use of each kind of limit, and by how much time must stretch at every tick, >= 1.

    Stretched by f, speeds fall by f, accelerations by f², and efforts keep what holds the arm still and
    overcomes dry friction.
    """
    efforts = required_efforts(engine, joints.q, joints.qd, joints.qdd)
    still = static_efforts(engine, joints.q) + dry_friction(engine.robot, joints.qd)
    uses = {
        "speed": np.abs(joints.qd) / limits.speed,
        "acceleration": np.abs(joints.qdd) / limits.acceleration,
        "effort": np.abs(efforts) / limits.effort,
    }
    left = np.maximum(limits.effort - still * np.sign(efforts), 1e-12)
    squares = np.maximum(uses["acceleration"], (efforts - still) * np.sign(efforts) / left)
    factors = np.maximum(uses["speed"], np.sqrt(np.maximum(squares, 0.0))).max(axis=1)
    shares = {}
    for kind, use in uses.items():
        if not np.isfinite(getattr(limits, kind)).any():
            continue
        tick, joint = np.unravel_index(int(np.argmax(use)), use.shape)
        shares[kind] = Usage(float(use[tick, joint]), engine.robot.joint_names[joint], int(tick))
    return shares, np.maximum(factors, 1.0)


def bounds_along(engine: Engine, path: JointPath, limits: MotionLimits, segment: int) -> Bounds:
    """The limits of acceleration and effort as shares of 1, after checking that standing still holds."""
    robot = engine.robot
    still = static_efforts(engine, path.q)
    friction = dry_friction(robot, path.first)
    require_feasible(robot, path, still + friction, limits.effort, segment)
    zeros = np.zeros_like(path.q)
    rigid = [
        np.array([engine.inverse_dynamics(*row) for row in zip(path.q, qd, qdd, strict=True)]) - still
        for qd, qdd in ((zeros, path.first), (path.first, path.second))
    ]
    damping = joint_losses(robot, path.first) - friction
    fast, strong = np.isfinite(limits.acceleration), np.isfinite(limits.effort)

    def shares(by_acceleration: Array, by_effort: Array) -> Array:
        return np.hstack(
            [
                by_acceleration[:, fast] / limits.acceleration[fast],
                by_effort[:, strong] / limits.effort[strong],
            ]
        )

    return Bounds(
        shares(path.first, rigid[0]),
        shares(path.second, rigid[1]),
        shares(zeros, still + friction),
        shares(zeros, damping),
    )


def require_feasible(robot: Robot, path: JointPath, still: Array, max_effort: Array, segment: int) -> None:
    """Raise ``InfeasiblePath`` where a joint leaves its range, or holding the arm takes too much."""
    effort = "the effort against gravity and friction"
    for what, values, least, most in (
        ("the position", path.q, robot.lower - ROUNDING, robot.upper + ROUNDING),
        (effort, still, -max_effort * (1.0 - LEAST_LEFT), max_effort * (1.0 - LEAST_LEFT)),
    ):
        past = np.maximum(values - most, least - values)
        point, joint = np.unravel_index(int(np.argmax(past)), past.shape)
        if past[point, joint] > 0.0:
            value = float(values[point, joint])
            limits = (-max_effort, max_effort) if what == effort else (robot.lower, robot.upper)
            limit = float(limits[int(value > 0.5 * (least[joint] + most[joint]))][joint])
            name, fraction = robot.joint_names[joint], float(path.s[point])
            raise InfeasiblePath(name, what, value, limit, segment, fraction)


def dry_friction(robot: Robot, qd: Array) -> Array:
    return np.array([joint.friction for joint in robot.joints]) * np.sign(qd)


def motion_limits(
    robot: Robot,
    max_speed: ArrayLike | None,
    max_acceleration: ArrayLike | None,
    max_effort: ArrayLike | None,
) -> MotionLimits:
    """The limits given, else the robot's; raises ``InvalidInput`` if they leave the motion unbounded."""
    limits = MotionLimits(
        per_joint(robot, max_speed, "max_speed", otherwise=robot.max_speed),
        per_joint(robot, max_acceleration, "max_acceleration"),
        per_joint(robot, max_effort, "max_effort", otherwise=robot.max_effort),
    )
    if not np.isfinite([limits.acceleration, limits.effort]).any():
        raise InvalidInput(
            "limits", "bound neither acceleration nor effort", "Give max_acceleration= or max_effort=."
        )
    return limits


def along_lines(points: Array, profiles: list[Pieces], dt_s: float) -> JointReference:
    """Straight lines from point to point, each run by its own profile."""
    starts_s = np.concatenate([[0.0], np.cumsum([profile.duration_s for profile in profiles])])
    times_s = tick_times_s(float(starts_s[-1]), dt_s)
    which = np.clip(np.searchsorted(starts_s, times_s, side="right") - 1, 0, len(profiles) - 1)
    q = np.empty((len(times_s), points.shape[1]))
    qd, qdd = np.zeros_like(q), np.zeros_like(q)
    for index, (profile, (begin, end)) in enumerate(zip(profiles, pairwise(points), strict=True)):
        ticks = which == index
        timing = profile.at(times_s[ticks] - starts_s[index])
        q[ticks] = begin + np.multiply.outer(timing.s, end - begin)
        qd[ticks] = np.multiply.outer(timing.first, end - begin)
        qdd[ticks] = np.multiply.outer(timing.second, end - begin)
    return JointReference(dt_s, q, qd, qdd)
