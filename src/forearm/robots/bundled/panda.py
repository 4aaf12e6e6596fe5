"""Franka Panda: seven revolute joints, from its published kinematics and identified inertias."""

from __future__ import annotations

from math import pi

import numpy as np

from forearm.robots.dh import dh_origins
from forearm.robots.drawing import GRAPHITE, RUBBER, STEEL, WHITE, X, Y, Z, barrel, block, dome, ring, tube
from forearm.robots.solids import full_tensor
from forearm.robots.tree import Frame, Inertial, Joint, JointKind, Link, Shape, Tree
from forearm.spatial import Pose

SUMMARY = "Franka Panda, 7 joints; flange 0.86 m from the shoulder"

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
        Link(f"link{i}", Inertial(mass, np.array(center), full_tensor(*tensor)), tuple(shapes))
        for i, ((mass, center, tensor), shapes) in enumerate(zip(INERTIALS, drawing(), strict=True))
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


def drawing() -> list[list[Shape]]:
    """Each link's shapes. Odd links are tubes around their own axis, even ones carry the knuckles."""
    return [
        [
            barrel(0.0 * Z, 0.010 * Z, 0.090, GRAPHITE),
            block(-0.075 * X + 0.0045 * Z, (0.15, 0.15, 0.009), GRAPHITE),
            barrel(0.010 * Z, 0.070 * Z, 0.074, WHITE),
            dome(0.070 * Z, Z, 0.074, 0.050, WHITE),
            barrel(0.070 * Z, 0.140 * Z, 0.060, WHITE),
            block(-0.065 * X + 0.040 * Z, (0.13, 0.120, 0.060), WHITE),
            tube(-0.125 * X + 0.064 * Z - 0.030 * Y, -0.125 * X + 0.064 * Z + 0.030 * Y, 0.0305, WHITE),
            tube(-0.110 * X + 0.062 * Z, 0.0 * X + 0.085 * Z, 0.052, WHITE),
            ring(0.1425 * Z, Z, 0.056, 0.007, RUBBER),
        ],
        [
            barrel(-0.188 * Z, -0.080 * Z, 0.060, WHITE),
            tube(-0.125 * Z, -0.030 * Z, 0.0605, WHITE),
        ],
        [
            *knuckle(-0.066 * Z, 0.066 * Z, 0.061),
            tube(0.0 * Y, -0.070 * Y, 0.0605, WHITE),
            barrel(-0.060 * Y, -0.124 * Y, 0.060, WHITE),
            ring(-0.1265 * Y, Y, 0.056, 0.007, RUBBER),
        ],
        [
            barrel(-0.187 * Z, -0.115 * Z, 0.060, WHITE),
            tube(-0.125 * Z, -0.090 * Z + 0.004 * X, 0.0605, WHITE),
            tube(-0.100 * Z, 0.065 * X - 0.018 * Z, 0.0575, WHITE),
        ],
        [
            *knuckle(-0.062 * Z, 0.062 * Z, 0.057),
            tube(0.0 * Y, 0.075 * Y - 0.074 * X, 0.0545, WHITE),
            tube(-0.0825 * X + 0.085 * Y, -0.0825 * X + 0.100 * Y, 0.056, WHITE),
            barrel(-0.0825 * X + 0.095 * Y, -0.0825 * X + 0.136 * Y, 0.0555, WHITE),
            ring(-0.0825 * X + 0.1385 * Y, Y, 0.052, 0.007, RUBBER),
        ],
        [
            barrel(-0.243 * Z, -0.205 * Z, 0.0555, WHITE),
            tube(-0.215 * Z, -0.205 * Z, 0.056, WHITE),
            tube(-0.205 * Z + 0.012 * Y, -0.140 * Z + 0.050 * Y, 0.045, WHITE),
            tube(-0.150 * Z + 0.050 * Y, -0.015 * Z + 0.056 * Y, 0.041, WHITE),
        ],
        [
            *knuckle(-0.052 * Z, 0.056 * Z, 0.048),
            tube(0.0 * X, 0.070 * X, 0.0465, WHITE),
            tube(0.088 * X + 0.012 * Y, 0.088 * X - 0.004 * Y, 0.0505, WHITE),
            barrel(0.088 * X + 0.010 * Y, 0.088 * X - 0.050 * Y, 0.0500, WHITE),
            ring(0.088 * X - 0.0525 * Y, Y, 0.046, 0.007, RUBBER),
        ],
        [
            barrel(0.056 * Z, 0.094 * Z, 0.0485, WHITE),
            tube(0.066 * Z + 0.034 * (X + Y), 0.082 * Z + 0.034 * (X + Y), 0.012, RUBBER),
            barrel(0.094 * Z, 0.107 * Z, 0.0315, STEEL),
        ],
    ]


def knuckle(start_m: np.ndarray, end_m: np.ndarray, radius_m: float) -> list[Shape]:
    """A barrel across the arm that ends in dark rings and shallow white covers."""
    axis = (end_m - start_m) / np.linalg.norm(end_m - start_m)
    return [
        barrel(start_m, end_m, radius_m, WHITE),
        ring(start_m, axis, radius_m + 0.0008, 0.007, RUBBER),
        ring(end_m, axis, radius_m + 0.0008, 0.007, RUBBER),
        dome(start_m - 0.003 * axis, axis, radius_m - 0.002, 0.26 * radius_m, WHITE),
        dome(end_m + 0.003 * axis, axis, radius_m - 0.002, 0.26 * radius_m, WHITE),
    ]
