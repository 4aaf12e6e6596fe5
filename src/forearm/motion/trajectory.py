"""A route in time: one profile a segment, asked at every tick."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from forearm.errors import InvalidInput
from forearm.motion.profile import Profile
from forearm.motion.reference import JointReference, TipReference
from forearm.motion.route import Route, SegmentPoints, positive
from forearm.spatial import Array

SNAP = 1e-6
"""Share of a tick within which two moments are the same."""


@dataclass(frozen=True, eq=False, slots=True)
class Trajectory:
    """A route and how fast each of its segments is run. The tip rests between segments.

    By the chain rule, v = p'(s) ṡ and a = p'(s) s̈ + p''(s) ṡ².
    """

    route: Route
    profiles: tuple[Profile, ...]

    @property
    def starts_s(self) -> Array:
        """When each segment begins, and when the last one ends."""
        return np.concatenate([[0.0], np.cumsum([profile.duration_s for profile in self.profiles])])

    @property
    def duration_s(self) -> float:
        return float(self.starts_s[-1])

    def at(self, times_s: Array, dt_s: float) -> TipReference:
        """The tip at the given times; before and after, it rests at the ends.

        A tick that rounding puts beside the moment where two segments meet is put on it, and belongs to
        the second.
        """
        times = np.asarray(times_s, dtype=np.float64)
        starts, near = self.starts_s, SNAP * positive(dt_s, "dt_s")
        which = np.searchsorted(starts, times + near, side="right") - 1
        which = np.clip(which, 0, len(self.profiles) - 1)
        poses = np.zeros((len(times), 4, 4))
        poses[:, 3, 3] = 1.0
        twists, accelerations = np.zeros((len(times), 6)), np.zeros((len(times), 6))
        for index, (segment, profile) in enumerate(zip(self.route.segments, self.profiles, strict=True)):
            ticks = which == index
            if not ticks.any():
                continue
            local = times[ticks] - starts[index]
            local[np.abs(local) < near] = 0.0
            local[np.abs(local - profile.duration_s) < near] = profile.duration_s
            timing = profile.at(local)
            points: SegmentPoints = segment.at(timing.s)
            poses[ticks, :3, :3] = points.rotations
            poses[ticks, :3, 3] = points.positions_m
            twists[ticks] = points.first * timing.first[:, None]
            accelerations[ticks] = (
                points.first * timing.second[:, None] + points.second * timing.first[:, None] ** 2
            )
        return TipReference(dt_s, poses, twists, accelerations, which)

    def sampled(self, dt_s: float) -> TipReference:
        """The tip at every tick from the start to the first at which it rests at the end."""
        return self.at(tick_times_s(self.duration_s, dt_s), dt_s)


def tick_times_s(duration_s: float, dt_s: float) -> Array:
    """The ticks from 0 to the first that is not before the end."""
    return dt_s * np.arange(int(np.ceil(duration_s / positive(dt_s, "dt_s") - SNAP)) + 1)


def timed(route: Route, profiles: Sequence[Profile]) -> Trajectory:
    """``route`` with one profile a segment, or one for all of them."""
    if len(profiles) == 1:
        profiles = list(profiles) * len(route.segments)
    if len(profiles) != len(route.segments):
        raise InvalidInput("profiles", f"are {len(profiles)} for {len(route.segments)} segments")
    return Trajectory(route, tuple(profiles))


def joint_quintics(waypoints: ArrayLike, seconds: float, dt_s: float) -> JointReference:
    """From waypoint to waypoint (m, n) in joint space, at rest at each: a quintic every ``seconds``.

    Straight in joint space, so the tip bows away from the straight line between the waypoints.
    """
    points = checked_waypoints(waypoints)
    ticks_s = tick_times_s(positive(seconds, "seconds") * (len(points) - 1), dt_s)
    times = np.minimum(ticks_s / seconds, len(points) - 1.0)
    leg = np.minimum(times.astype(int), len(points) - 2)
    u = (times - leg)[:, None]
    step = np.diff(points, axis=0)[leg]
    s = u**3 * (10.0 - 15.0 * u + 6.0 * u**2)
    first = 30.0 * u**2 * (1.0 - u) ** 2 / seconds
    second = 60.0 * u * (1.0 - u) * (1.0 - 2.0 * u) / seconds**2
    return JointReference(dt_s, points[leg] + step * s, step * first, step * second)


def checked_waypoints(waypoints: ArrayLike) -> Array:
    """Joint vectors (m, n), two or more, finite; raises ``InvalidInput``."""
    points = np.asarray(waypoints, dtype=np.float64)
    if points.ndim != 2 or len(points) < 2:
        raise InvalidInput("waypoints", f"have shape {points.shape}", "Give two or more joint vectors.")
    if not np.isfinite(points).all():
        raise InvalidInput("waypoints", "hold a value that is not finite")
    return points
