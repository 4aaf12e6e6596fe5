"""Franka Panda: seven revolute joints, from its published kinematics and identified inertias."""

from __future__ import annotations

from math import pi

import numpy as np

from forearm.robots.dh import dh_origins
from forearm.robots.solids import full_tensor
from forearm.robots.tree import Frame, Inertial, Joint, JointKind, Link, Tree
from forearm.spatial import Pose

SUMMARY = "Franka Panda, 7 joints, 0.86 m"

DH_ROWS = [
    (0.0, 0.0, 0.333),
    (-pi / 2, 0.0, 0.0),
    (pi / 2, 0.0, 0.316),
    (pi / 2, 0.0825, 0.0),
    (-pi / 2, -0.0825, 0.384),
    (pi / 2, 0.0, 0.0),
    (pi / 2, 0.088, 0.0),
]
FLANGE_M = 0.107

LIMITS_RAD = [
    (-2.8973, 2.8973),
    (-1.7628, 1.7628),
    (-2.8973, 2.8973),
    (-3.0718, -0.0698),
    (-2.8973, 2.8973),
    (-0.0175, 3.7525),
    (-2.8973, 2.8973),
]
MAX_TORQUE_NM = [87.0, 87.0, 87.0, 87.0, 12.0, 12.0, 12.0]
MAX_SPEED_RAD_S = [2.175, 2.175, 2.175, 2.175, 2.61, 2.61, 2.61]
HOME_RAD = [0.0, 0.0, 0.0, -1.5708, 0.0, 1.5708, -0.7853]

# mass; centre of mass in the joint's frame; inertia about it: ixx iyy izz ixy ixz iyz.
INERTIALS = [
    (0.629769, (-0.041018, -0.00014, 0.049974), (0.00315, 0.00388, 0.004285, 8.2904e-7, 0.00015, 8.2299e-6)),
    (4.970684, (0.003875, 0.002081, -0.04762), (0.70337, 0.70661, 0.0091170, -0.000139, 0.006772, 0.019169)),
    (0.646926, (-0.003141, -0.02872, 0.003495), (0.007962, 0.02811, 0.025995, -0.003925, 0.010254, 0.000704)),
    (
        3.228604,
        (0.027518, 0.039252, -0.066502),
        (0.037242, 0.036155, 0.01083, -0.004761, -0.011396, -0.012805),
    ),
    (3.587895, (-0.05317, 0.104419, 0.027454), (0.025853, 0.019552, 0.028323, 0.007796, -0.001332, 0.008641)),
    (
        1.225946,
        (-0.011953, 0.041065, -0.038437),
        (0.035549, 0.029474, 0.008627, -0.002117, -0.004037, 0.000229),
    ),
    (
        1.666555,
        (0.060149, -0.014117, -0.010517),
        (0.001964, 0.004354, 0.005433, 0.000109, -0.001158, 0.000341),
    ),
    (
        0.735522,
        (0.010517, -0.004252, 0.061597),
        (0.012516, 0.010027, 0.004815, -0.000428, -0.001196, -0.000741),
    ),
]


def describe() -> Tree:
    links = [
        Link(f"link{i}", Inertial(mass, np.array(center), full_tensor(*tensor)))
        for i, (mass, center, tensor) in enumerate(INERTIALS)
    ]
    joints = [
        Joint(
            name=f"joint{i + 1}",
            kind=JointKind.REVOLUTE,
            parent=f"link{i}",
            child=f"link{i + 1}",
            origin=origin,
            lower=LIMITS_RAD[i][0],
            upper=LIMITS_RAD[i][1],
            max_speed=MAX_SPEED_RAD_S[i],
            max_effort=MAX_TORQUE_NM[i],
            damping=1.0,
            armature=0.1,
        )
        for i, origin in enumerate(dh_origins(DH_ROWS))
    ]
    flange = Pose((0.0, 0.0, FLANGE_M))
    hand = flange @ Pose.from_rpy((0.0, 0.0, 0.0), (0.0, 0.0, -pi / 4))
    return Tree(
        name="panda",
        source="panda",
        links=tuple(links),
        joints=tuple(joints),
        frames=(Frame("flange", "link7", flange), Frame("hand", "link7", hand)),
        postures={"home": {joint.name: value for joint, value in zip(joints, HOME_RAD, strict=True)}},
        tip="flange",
    )
