"""Names for the configurations of arms whose families have them."""

from __future__ import annotations

import numpy as np

from forearm.kinematics.forward import joint_frames
from forearm.kinematics.planar import planar_geometry
from forearm.robots.robot import Robot
from forearm.spatial import Array

STRAIGHT_RAD = 1e-6
"""An elbow nearer than this to stretched or folded belongs to neither branch."""
SHIFTED_M = 1e-6
"""A wrist nearer than this to being level with the base's axis belongs to neither shoulder."""


def branch_name(robot: Robot, q: Array) -> str | None:
    """The branch ``q`` lies in, or None for arms whose branches have no names."""
    if robot.tree.family == "ur" and robot.dof == 6:
        return ur_branch(robot, q)
    geometry = planar_geometry(robot)
    return planar_branch(geometry.bend_rad(q)) if geometry else None


def planar_branch(bend_rad: float) -> str:
    """``elbow_down`` bends counterclockwise, ``elbow_up`` clockwise."""
    if abs(np.sin(bend_rad)) < STRAIGHT_RAD:
        return "stretched" if np.cos(bend_rad) > 0.0 else "folded"
    return "elbow_down" if np.sin(bend_rad) > 0.0 else "elbow_up"


def ur_branch(robot: Robot, q: Array) -> str:
    """Shoulder, elbow and wrist of an arm of Universal Robots' make.

    ``shoulder_left``: the wrist is on that side of the base's axis on which it is at q = 0. ``elbow_up``:
    the elbow is above the line from shoulder to wrist. ``wrist_flip``: sin q5 > 0.
    """
    frames = joint_frames(robot, q)
    # Level and along the arm; it points away from a wrist that is where it is at q = 0.
    level = np.cross(frames[0][:3, 2], frames[1][:3, 2])
    side = float(level @ (frames[4][:3, 3] - frames[0][:3, 3]))
    if abs(side) < SHIFTED_M:
        return "shoulder_singular"
    bend, flip = float(np.sin(q[2])), float(np.sin(q[4]))
    return " ".join(
        (
            "shoulder_left" if side < 0.0 else "shoulder_right",
            "elbow_straight"
            if abs(bend) < STRAIGHT_RAD
            else "elbow_up"
            if bend * side < 0.0
            else "elbow_down",
            "wrist_singular" if abs(flip) < STRAIGHT_RAD else "wrist_flip" if flip > 0.0 else "wrist_no_flip",
        )
    )
