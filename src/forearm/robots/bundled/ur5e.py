"""Universal Robots UR5e: six revolute joints, from its published kinematics and inertias."""

from __future__ import annotations

from math import pi, radians

import numpy as np

from forearm.errors import InvalidInput
from forearm.robots.dh import dh_origins
from forearm.robots.solids import cylinder, full_tensor, moved
from forearm.robots.tree import Frame, Inertial, Joint, JointKind, Link, Tree
from forearm.spatial import Pose, rotation_x

SUMMARY = "Universal Robots UR5e, 6 joints, 0.85 m"

JOINT_NAMES = ["shoulder_pan", "shoulder_lift", "elbow", "wrist_1", "wrist_2", "wrist_3"]
LINK_NAMES = [
    "base_link",
    "shoulder_link",
    "upper_arm_link",
    "forearm_link",
    "wrist_1_link",
    "wrist_2_link",
    "wrist_3_link",
]
DH_ROWS = [
    (0.0, 0.0, 0.1625),
    (pi / 2, 0.0, 0.0),
    (0.0, -0.425, 0.0),
    (0.0, -0.3922, 0.1333),
    (pi / 2, 0.0, 0.0997),
    (-pi / 2, 0.0, 0.0996),
]
MAX_TORQUE_NM = [150.0, 150.0, 150.0, 28.0, 28.0, 28.0]
POSTURES_DEG = {
    "home": (-90.0, -90.0, 90.0, -90.0, -90.0, 0.0),
    "elbow_up": (0.0, -90.0, 90.0, 0.0, 0.0, 0.0),
    "shoulder_only": (0.0, -45.0, 0.0, 0.0, 0.0, 0.0),
}

# mass; centre of mass in the joint's frame; inertia about it: ixx ixy ixz iyy iyz izz; and the roll
# of the axes that the tensor is given in.
INERTIALS = [
    (
        3.761,
        (0.0, -0.00193, -0.02561),
        (0.00700210, 7.3e-7, -1.053e-5, 0.00648091, 0.00049994, 0.00657286),
        90.0,
    ),
    (8.058, (-0.2125, 0.0, 0.11336), (0.01505885, -5.4e-5, 5.63e-6, 0.33388086, -1.81e-6, 0.33247207), 0.0),
    (
        2.846,
        (-0.2422, 0.0, 0.0265),
        (0.00399632, -1.365e-5, 0.00137272, 0.07879254, -6.6e-6, 0.07848510),
        0.0,
    ),
    (
        1.37,
        (0.0, -0.01634, -0.0018),
        (0.00165491, -2.82e-6, -4.38e-6, 0.00135962, 0.00010157, 0.00126279),
        90.0,
    ),
    (1.3, (0.0, 0.01634, -0.0018), (0.00135617, -2.74e-6, 4.44e-6, 0.00127827, -5.048e-5, 0.00096614), -90.0),
    (0.365, (0.0, 0.0, -0.001159), (0.00018694, 6e-8, -1.7e-7, 0.00018908, -9.2e-7, 0.00025756), 0.0),
]


def describe(tool_length_m: float = 0.0) -> Tree:
    """With ``tool_length_m`` the tip is a point that far along the last joint's axis."""
    if not 0.0 <= tool_length_m <= 2.0:
        raise InvalidInput("tool_length_m", f"is {tool_length_m}", "Give a length between 0 and 2 m.")
    inertials = [moved(cylinder(4.0, 0.06, 0.05), Pose((0.0, 0.0, 0.025)))]
    for mass, center, (ixx, ixy, ixz, iyy, iyz, izz), roll_deg in INERTIALS:
        turn = rotation_x(radians(roll_deg))
        tensor = turn @ full_tensor(ixx, iyy, izz, ixy, ixz, iyz) @ turn.T
        inertials.append(Inertial(mass, np.array(center), tensor))
    joints = [
        Joint(
            name=name,
            kind=JointKind.REVOLUTE,
            parent=LINK_NAMES[i],
            child=LINK_NAMES[i + 1],
            origin=origin,
            lower=-pi if name == "elbow" else -2.0 * pi,
            upper=pi if name == "elbow" else 2.0 * pi,
            max_speed=pi,
            max_effort=MAX_TORQUE_NM[i],
            armature=0.1,
        )
        for i, (name, origin) in enumerate(zip(JOINT_NAMES, dh_origins(DH_ROWS), strict=True))
    ]
    frames = [Frame("flange", "wrist_3_link")]
    if tool_length_m:
        frames.append(Frame("tool", "wrist_3_link", Pose((0.0, 0.0, tool_length_m))))
    return Tree(
        name="ur5e",
        source="ur5e",
        links=tuple(Link(name, inertial) for name, inertial in zip(LINK_NAMES, inertials, strict=True)),
        joints=tuple(joints),
        frames=tuple(frames),
        postures={
            posture: {name: radians(value) for name, value in zip(JOINT_NAMES, values, strict=True)}
            for posture, values in POSTURES_DEG.items()
        },
        tip=frames[-1].name,
        family="ur",
    )
