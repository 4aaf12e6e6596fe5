"""Jerk-limited motion from rest to rest, on ruckig: between two joint vectors, and along a segment.

Only ruckig's local point-to-point planner is used. Its waypoint mode asks a service on the network.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from forearm.errors import InvalidInput, MissingExtra
from forearm.motion.limits import NoMotionPlan, per_joint, require_finite, require_within
from forearm.motion.pieces import Pieces
from forearm.motion.reference import JointReference
from forearm.motion.route import Route, Segment
from forearm.motion.trajectory import Trajectory, tick_times_s, timed
from forearm.robots.robot import Robot
from forearm.spatial import Array

SAMPLES = 33
"""Points of a segment at which its speed by s is looked at."""
JERK_SHARES = (1.0, 1.0 - 1e-9, 1.0 - 1e-7, 1.0 - 1e-5, 1.0 - 1e-3)
"""Where one kind of profile turns into another (the top acceleration is just reached, say) ruckig may find
neither; a little less jerk puts the motion on one side."""
LEAST_MOTION = 1e-12
"""Length (m) or turn (rad) below which a segment does not move."""


@dataclass(frozen=True, slots=True)
class PathLimits:
    """Limits of the tip's motion along its path; those of turning are infinite unless given."""

    speed_m_s: float
    acceleration_m_s2: float
    jerk_m_s3: float
    speed_rad_s: float = np.inf
    acceleration_rad_s2: float = np.inf
    jerk_rad_s3: float = np.inf

    def __post_init__(self) -> None:
        for name in self.__slots__:
            value = getattr(self, name)
            if not value > 0.0:
                raise InvalidInput(name, f"is {value}", "Give a positive number, or infinity.")


def point_to_point(
    robot: Robot,
    start: ArrayLike,
    goal: ArrayLike,
    *,
    dt_s: float,
    max_acceleration: ArrayLike,
    max_jerk: ArrayLike,
    max_speed: ArrayLike | None = None,
) -> JointReference:
    """From rest at ``start`` to rest at ``goal`` in the least time that the limits allow.

    All joints start and stop together, and move in proportion (a straight line in joint space) where
    that costs no time. Limits are one number for all joints or one each, in rad/s, rad/s² and rad/s³
    (m for joints that slide); the robot's own speeds unless ``max_speed`` is given. The last tick is
    the first one at rest. Raises ``InvalidInput`` naming the joint and the value.
    """
    begin, end = robot.joint_vector(start, "start"), robot.joint_vector(goal, "goal")
    require_within(robot, begin, "start")
    require_within(robot, end, "goal")
    speed = per_joint(robot, max_speed, "max_speed", otherwise=robot.max_speed)
    acceleration = per_joint(robot, max_acceleration, "max_acceleration")
    jerk = per_joint(robot, max_jerk, "max_jerk")
    for limits, what in ((speed, "max_speed"), (acceleration, "max_acceleration"), (jerk, "max_jerk")):
        require_finite(robot, limits, what)
    motion = rest_to_rest(begin, end, speed, acceleration, jerk)
    rows = [motion.at_time(min(t, motion.duration)) for t in tick_times_s(motion.duration, dt_s)]
    q, qd, qdd = (np.array(part, dtype=np.float64).reshape(-1, robot.dof) for part in zip(*rows, strict=True))
    # The planner ends a rounding away from the goal.
    q[-1], qd[-1], qdd[-1] = end, 0.0, 0.0
    return JointReference(dt_s, q, qd, qdd)


def jerk_limited(segment: Segment, limits: PathLimits) -> Pieces:
    """The profile that runs ``segment`` from rest to rest in the least time within ``limits``.

    With |p'(s)| and |w(s)| the length and the turn for a unit of s, s may move at
    min(speed_m_s / |p'|, speed_rad_s / |w|), and so for acceleration and jerk along the path.
    Acceleration across a curved path is not among them.
    """
    first = segment.at(np.linspace(0.0, 1.0, SAMPLES)).first
    length_m = float(np.linalg.norm(first[:, :3], axis=1).max())
    turn_rad = float(np.linalg.norm(first[:, 3:], axis=1).max())
    if max(length_m, turn_rad) < LEAST_MOTION:
        raise InvalidInput("segment", "does not move", "Leave out segments that end where they start.")
    bounds = [
        min(
            linear / length_m if length_m > LEAST_MOTION else np.inf,
            angular / turn_rad if turn_rad > LEAST_MOTION else np.inf,
        )
        for linear, angular in (
            (limits.speed_m_s, limits.speed_rad_s),
            (limits.acceleration_m_s2, limits.acceleration_rad_s2),
            (limits.jerk_m_s3, limits.jerk_rad_s3),
        )
    ]
    if not np.isfinite(bounds).all():
        raise InvalidInput("limits", "do not bound this segment", "Give limits of turning (rad) too.")
    motion = rest_to_rest(np.zeros(1), np.ones(1), *(np.array([bound]) for bound in bounds))
    plan = motion.profiles[0][0]
    lengths = np.array(plan.t)
    kept = lengths > 0.0
    return Pieces(
        starts_s=np.concatenate([[0.0], np.cumsum(lengths)[:-1]])[kept],
        s=np.array(plan.p)[:-1][kept],
        first=np.array(plan.v)[:-1][kept],
        second=np.array(plan.a)[:-1][kept],
        jerk=np.array(plan.j)[kept],
        duration_s=float(motion.duration),
    )


def jerk_limited_along(route: Route, limits: PathLimits) -> Trajectory:
    """``route`` with every segment run from rest to rest as fast as ``limits`` allow."""
    return timed(route, [jerk_limited(segment, limits) for segment in route.segments])


def rest_to_rest(start: Array, goal: Array, speed: Array, acceleration: Array, jerk: Array) -> Any:
    """ruckig's trajectory between two points, all coordinates arriving at once."""
    ruckig = import_ruckig()
    size = len(start)
    given = ruckig.InputParameter(size)
    given.current_position, given.target_position = start.tolist(), goal.tolist()
    given.max_velocity, given.max_acceleration = speed.tolist(), acceleration.tolist()
    given.synchronization = ruckig.Synchronization.Phase
    motion = ruckig.Trajectory(size)
    for share in JERK_SHARES:
        given.max_jerk = (share * jerk).tolist()
        try:
            result = ruckig.Ruckig(size).calculate(given, motion)
        except ruckig.RuckigError as error:
            problem = str(error).strip().splitlines()[0]
            continue
        if result in (ruckig.Result.Working, ruckig.Result.Finished):
            return motion
        problem = str(result)
    raise NoMotionPlan(f"ruckig finds no motion from {start.tolist()} to {goal.tolist()}: {problem}")


def import_ruckig() -> Any:
    try:
        return importlib.import_module("ruckig")
    except ImportError as error:
        raise MissingExtra("ruckig", "jerk-limited motion", "motion") from error
