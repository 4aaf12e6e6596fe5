"""Names for the configurations of arms whose families have them."""

from __future__ import annotations

import numpy as np

from forearm.kinematics.planar import planar_geometry
from forearm.robots.robot import Robot
from forearm.spatial import Array

STRAIGHT_RAD = 1e-6
"""An elbow nearer than this to stretched or folded belongs to neither branch."""


def branch_name(robot: Robot, q: Array) -> str | None:
    """The branch ``q`` lies in, or None for arms whose branches have no names."""
    geometry = planar_geometry(robot)
    return planar_branch(geometry.bend_rad(q)) if geometry else None


def planar_branch(bend_rad: float) -> str:
    """``elbow_down`` bends counterclockwise, ``elbow_up`` clockwise."""
    if abs(np.sin(bend_rad)) < STRAIGHT_RAD:
        return "stretched" if np.cos(bend_rad) > 0.0 else "folded"
    return "elbow_down" if np.sin(bend_rad) > 0.0 else "elbow_up"
