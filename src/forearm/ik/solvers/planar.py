"""Closed form for the two-link planar arm: both elbows, exact to the edges of the annulus."""

from __future__ import annotations

import numpy as np

from forearm.ik.limits import turned_into_limits
from forearm.ik.problem import LIMIT_TOLERANCE, Problem
from forearm.ik.solver import Proposal, Stop, register
from forearm.kinematics.planar import PlanarGeometry, planar_geometry
from forearm.robots.robot import Robot
from forearm.spatial import Array


@register
class Planar:
    """The law of cosines, in the half-angle form that keeps its precision at both edges:

        θ2 = ± 2 atan2(sqrt((L1 + L2)² - r²), sqrt(r² - (L1 - L2)²))
        θ1 = atan2(y, x) - atan2(L2 sin θ2, L1 + L2 cos θ2)

    Beyond the edges the roots are cut to zero, which gives the posture that comes nearest. These two
    are all there is; where the limits block both, the nearest postures on the limits follow them.
    """

    name = "planar"
    summary = "closed form for two-link planar arms, both elbows"
    settles = True

    def supports(self, robot: Robot, task: str) -> bool:
        return task == "position" and planar_geometry(robot) is not None

    def propose(self, problem: Problem) -> Proposal:
        geometry = planar_geometry(problem.robot)
        assert geometry is not None  # supports() was asked first
        target = geometry.in_plane(problem.target_in_base.position_m)
        bend = elbow_angle(geometry, float(np.hypot(target[0], target[1])))
        signs = (1.0, -1.0) if 0.0 < bend < np.pi else (1.0,)
        robot = problem.robot
        candidates = [
            turned_into_limits(robot, joint_angles(geometry, target, sign * bend), problem.seed)
            for sign in signs
        ]
        least, most = robot.lower - LIMIT_TOLERANCE, robot.upper + LIMIT_TOLERANCE
        if not any(((least <= q) & (q <= most)).all() for q in candidates):
            candidates += nearest_at_limits(robot, geometry, target)
        return Proposal(candidates, Stop.CONVERGED, iterations=1)


def elbow_angle(geometry: PlanarGeometry, distance_m: float) -> float:
    """|θ2| for a tip ``distance_m`` from the shoulder."""
    l1, l2 = geometry.l1_m, geometry.l2_m
    short = max(0.0, (l1 + l2 - distance_m) * (l1 + l2 + distance_m))
    long = max(0.0, (distance_m - l1 + l2) * (distance_m + l1 - l2))
    return float(2.0 * np.arctan2(np.sqrt(short), np.sqrt(long)))


def joint_angles(geometry: PlanarGeometry, target: Array, bend: float) -> Array:
    """(q1, q2) for a target in the plane and a signed elbow angle θ2."""
    l1, l2 = geometry.l1_m, geometry.l2_m
    direction = np.arctan2(target[1], target[0])
    shoulder = direction - np.arctan2(l2 * np.sin(bend), l1 + l2 * np.cos(bend))
    return np.array(
        [
            shoulder - geometry.shoulder_offset_rad,
            geometry.elbow_sense * (bend - geometry.elbow_offset_rad),
        ]
    )


def nearest_at_limits(robot: Robot, geometry: PlanarGeometry, target: Array) -> list[Array]:
    """For every joint limit, the posture on it whose tip comes nearest to ``target``.

    With one joint held, the tip turns about the other's axis. It comes nearest when it is aimed at the
    target, or as nearly aimed as the other's limits let it. Inside the limits the distance has no other
    minima than these and the branches.
    """
    postures = []
    for limits in (robot.lower, robot.upper):
        if np.isfinite(limits[0]):
            shoulder = limits[0] + geometry.shoulder_offset_rad
            x, y = target[:2] - geometry.l1_m * np.array([np.cos(shoulder), np.sin(shoulder)])
            bend = np.arctan2(y, x) - shoulder
            postures.append(np.array([limits[0], joint_angles(geometry, target, bend)[1]]))
        if np.isfinite(limits[1]):
            bend = geometry.bend_rad(limits)
            postures.append(np.array([joint_angles(geometry, target, bend)[0], limits[1]]))
    return [np.clip(turned_into_limits(robot, q, q), robot.lower, robot.upper) for q in postures]
