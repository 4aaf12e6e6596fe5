"""Universal Robots UR5e: six revolute joints, from its published kinematics and inertias."""

from __future__ import annotations

from math import pi, radians

import numpy as np

from forearm.errors import InvalidInput
from forearm.robots.dh import dh_origins
from forearm.robots.drawing import ALUMINIUM, RUBBER, SLATE_BLUE, STEEL, X, Y, Z, barrel, dome, ring, tube
from forearm.robots.solids import cylinder, full_tensor, moved
from forearm.robots.tree import Frame, Inertial, Joint, JointKind, Link, Shape, Tree
from forearm.spatial import Pose, rotation_x

SUMMARY = "Universal Robots UR5e, 6 joints; flange 0.97 m from the shoulder (0.85 m by its maker)"

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
SERVO_KP = [2000.0, 2000.0, 2000.0, 500.0, 500.0, 500.0]
SERVO_KD = [400.0, 400.0, 400.0, 100.0, 100.0, 100.0]
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
        links=tuple(
            Link(name, inertial, tuple(shapes))
            for name, inertial, shapes in zip(LINK_NAMES, inertials, drawing(tool_length_m), strict=True)
        ),
        joints=tuple(joints),
        frames=tuple(frames),
        postures={
            posture: {name: radians(value) for name, value in zip(JOINT_NAMES, values, strict=True)}
            for posture, values in POSTURES_DEG.items()
        },
        servos={name: (SERVO_KP[i], SERVO_KD[i]) for i, name in enumerate(JOINT_NAMES)},
        tip=frames[-1].name,
        family="ur",
    )


UPPER_ARM_OFFSET_M = 0.138
"""Where the upper arm's tube lies along the shoulder's axis; the forearm's is nearly back in plane."""
FOREARM_OFFSET_M = 0.007
ELBOW_SEAM_M = 0.072
"""Where upper arm and forearm meet along the elbow's axis."""


def drawing(tool_length_m: float) -> list[list[Shape]]:
    """Each link's shapes: tubes from joint to joint, and joint barrels that end in round covers."""
    upper, fore = UPPER_ARM_OFFSET_M * Z, FOREARM_OFFSET_M * Z
    elbow, wrist = -0.425 * X, -0.3922 * X
    return [
        [
            barrel(0.0 * Z, 0.014 * Z, 0.088, STEEL),
            barrel(0.014 * Z, 0.092 * Z, 0.072, ALUMINIUM),
            ring(0.0945 * Z, Z, 0.066, 0.007, RUBBER),
        ],
        [
            barrel(-0.064 * Z, 0.004 * Z, 0.063, ALUMINIUM),
            *joint_housing(0.058 * Y, -0.070 * Y, 0.062, SLATE_BLUE),
        ],
        [
            *joint_housing(0.196 * Z, 0.076 * Z, 0.062, SLATE_BLUE),
            tube(upper, elbow + upper, 0.050, ALUMINIUM),
            *joint_housing(elbow + 0.190 * Z, elbow + (ELBOW_SEAM_M + 0.003) * Z, 0.054, SLATE_BLUE),
        ],
        [
            *joint_housing(-0.050 * Z, (ELBOW_SEAM_M - 0.003) * Z, 0.054, SLATE_BLUE),
            tube(fore, wrist + fore, 0.040, ALUMINIUM),
            *joint_housing(wrist - 0.036 * Z, wrist + 0.081 * Z, 0.041, SLATE_BLUE),
        ],
        wrist_barrels(-0.046 * Z, 0.042 * Z, -0.052 * Y),
        wrist_barrels(-0.042 * Z, 0.042 * Z, 0.054 * Y),
        [
            barrel(-0.040 * Z, -0.010 * Z, 0.0375, ALUMINIUM),
            barrel(-0.010 * Z, 0.0 * Z, 0.0315, STEEL),
            ring(-0.0425 * Z, Z, 0.0355, 0.006, RUBBER),
            *([tube(0.0 * Z, (tool_length_m - 0.008) * Z, 0.008, STEEL)] if tool_length_m > 0.02 else []),
        ],
    ]


def joint_housing(cover_m: np.ndarray, seam_m: np.ndarray, radius_m: float, cover_rgba: tuple) -> list[Shape]:
    """A barrel along a joint's axis: a round cover at one end, the dark seam of the joint at the other."""
    axis = (cover_m - seam_m) / np.linalg.norm(cover_m - seam_m)
    return [
        barrel(seam_m, cover_m, radius_m, ALUMINIUM),
        barrel(cover_m - 0.012 * axis, cover_m + 0.004 * axis, radius_m + 0.0015, cover_rgba, collides=False),
        dome(cover_m + 0.004 * axis, axis, radius_m + 0.0005, 0.30 * radius_m, cover_rgba),
        ring(seam_m - 0.003 * axis, axis, radius_m - 0.003, 0.008, RUBBER),
    ]


def wrist_barrels(seam_m: np.ndarray, cover_m: np.ndarray, next_seam_m: np.ndarray) -> list[Shape]:
    """A wrist's housing: a barrel along its own axis and a neck along the next joint's."""
    return [
        *joint_housing(cover_m, seam_m, 0.041, SLATE_BLUE),
        barrel(0.0 * next_seam_m, next_seam_m, 0.0405, ALUMINIUM),
    ]
