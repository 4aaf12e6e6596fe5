"""The geometry of a two-link planar arm, read off any chain that is one."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from forearm.kinematics.forward import joint_frames
from forearm.robots.robot import Robot
from forearm.spatial import Array, frozen_array

PARALLEL = 1e-9
"""Largest sine between two axes that count as parallel."""


@dataclass(frozen=True, eq=False, slots=True)
class PlanarGeometry:
    """Two links in a plane: the tip is at origin + L1 (θ1) + L2 (θ1 + θ2), in the plane's x and y.

    The joint values are θ1 = q1 + shoulder_offset and θ2 = sense · q2 + elbow_offset.
    """

    l1_m: float
    l2_m: float
    origin_in_base_m: Array
    """Where the first axis pierces the plane that the tip moves in."""
    plane_in_base: Array
    """Columns: the plane's x, its y, and its normal, which is the first axis."""
    shoulder_offset_rad: float
    elbow_offset_rad: float
    elbow_sense: float
    """-1 if the second axis points against the first, else 1."""

    def __post_init__(self) -> None:
        # Cached and shared: nobody may change what a proof rests on.
        object.__setattr__(self, "origin_in_base_m", frozen_array(self.origin_in_base_m))
        object.__setattr__(self, "plane_in_base", frozen_array(self.plane_in_base))

    def in_plane(self, point_in_base_m: Array) -> Array:
        """A point's coordinates: x and y in the plane, z off it."""
        return (point_in_base_m - self.origin_in_base_m) @ self.plane_in_base

    def bend_rad(self, q: Array) -> float:
        """The angle between the links: 0 stretched, positive counterclockwise."""
        return float(self.elbow_sense * q[1] + self.elbow_offset_rad)


@lru_cache(maxsize=64)
def planar_geometry(robot: Robot) -> PlanarGeometry | None:
    """The geometry of ``robot`` if it is two hinges with parallel axes and two links, else None."""
    if robot.dof != 2 or not all(robot.turns):
        return None
    first, second, tip = joint_frames(robot, np.zeros(2))
    normal = first[:3, :3] @ robot.joints[0].axis
    other = second[:3, :3] @ robot.joints[1].axis
    if np.linalg.norm(np.cross(normal, other)) > PARALLEL:
        return None
    x = np.eye(3)[int(np.argmin(np.abs(normal)))]
    x = x - normal * (normal @ x)
    x /= np.linalg.norm(x)
    plane = np.column_stack([x, np.cross(normal, x), normal])
    origin = first[:3, 3] + normal * (normal @ (tip[:3, 3] - first[:3, 3]))
    upper = (second[:3, 3] - origin) @ plane
    lower = (tip[:3, 3] - second[:3, 3]) @ plane
    l1, l2 = float(np.hypot(*upper[:2])), float(np.hypot(*lower[:2]))
    if min(l1, l2) < PARALLEL:
        return None
    shoulder_offset = float(np.arctan2(upper[1], upper[0]))
    tip_direction = float(np.arctan2(lower[1], lower[0]))
    return PlanarGeometry(
        l1_m=l1,
        l2_m=l2,
        origin_in_base_m=origin,
        plane_in_base=plane,
        shoulder_offset_rad=shoulder_offset,
        elbow_offset_rad=tip_direction - shoulder_offset,
        elbow_sense=float(np.sign(normal @ other)),
    )
