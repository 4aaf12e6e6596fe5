"""A path in joint space on a grid: q(s) with both derivatives, one segment at a time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from forearm.errors import InvalidInput
from forearm.motion.follow import LostTrack, follow
from forearm.motion.reference import TipReference
from forearm.motion.route import Route
from forearm.robots.robot import Robot
from forearm.spatial import Array

LEAST_MOTION = 1e-12
"""Joint motion (rad or m) for a unit of s below which a path stands still."""


@dataclass(frozen=True, eq=False, slots=True)
class JointPath:
    """One segment on a grid of s that rises. It also is the geometric path that toppra asks for."""

    s: Array
    q: Array
    """(cells + 1, n)"""
    first: Array
    """dq/ds"""
    second: Array
    """d²q/ds²"""

    @property
    def dof(self) -> int:
        return self.q.shape[1]

    @property
    def path_interval(self) -> Array:
        return self.s[[0, -1]]

    def __call__(self, s: ArrayLike, order: int = 0) -> Array:
        """The values at points of the grid; toppra asks nowhere else."""
        rows = np.searchsorted(0.5 * (self.s[1:] + self.s[:-1]), s)
        return (self.q, self.first, self.second)[order][rows]


def followed(robot: Robot, route: Route, start: ArrayLike, cells: int, task: str | None) -> list[JointPath]:
    """The joint path of every segment of ``route``, on the branch of ``start``.

    ``follow`` with s in the place of time: the speeds by s are exact, not differences. Raises
    ``LostTrack``, whose tick and time then count s.
    """
    s = np.linspace(0.0, 1.0, cells + 1)
    q = robot.joint_vector(start, "start")
    paths = []
    for index, segment in enumerate(route.segments):
        points = segment.at(s)
        poses = np.zeros((len(s), 4, 4))
        poses[:, :3, :3], poses[:, :3, 3], poses[:, 3, 3] = points.rotations, points.positions_m, 1.0
        segments = np.full(len(s), index)
        tip = TipReference(1.0 / cells, poses, points.first, points.second, segments)
        try:
            joints = follow(robot, tip, q, task)
        except LostTrack as lost:
            where = f"{100.0 * lost.time_s:.0f} % of segment {index + 1} of {len(route.segments)}"
            raise LostTrack(lost.tick, lost.time_s, lost.residual, where) from None
        paths.append(JointPath(s, joints.q, joints.qd, joints.qdd))
        require_motion(paths[-1], index)
        q = joints.q[-1]
    return paths


def straight(waypoints: Array, cells: int) -> list[JointPath]:
    """Straight lines in joint space from waypoint to waypoint."""
    s = np.linspace(0.0, 1.0, cells + 1)
    paths = []
    for index, (begin, step) in enumerate(zip(waypoints[:-1], np.diff(waypoints, axis=0), strict=True)):
        first = np.tile(step, (len(s), 1))
        paths.append(JointPath(s, begin + np.multiply.outer(s, step), first, np.zeros_like(first)))
        require_motion(paths[-1], index)
    return paths


def require_motion(path: JointPath, index: int) -> None:
    if not np.abs(path.first).max(axis=1).min() > LEAST_MOTION:
        raise InvalidInput(
            f"segment {index + 1}", "does not move the joints", "Leave out segments that stand still."
        )
