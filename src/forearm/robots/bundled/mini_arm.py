"""A desk-size arm of our own design: six revolute joints, spherical wrist, rectangular tool.

Shoulder to elbow 0.30 m, elbow to wrist centre 0.28 m, wrist centre to the tool's end 0.17 m:
0.75 m from the shoulder. Moving mass 6.9 kg. Joint friction and reflected inertia are those of
geared motors with 100:1 (base, shoulder, elbow) and 50:1 (wrist) reductions.
"""

from __future__ import annotations

from math import pi, radians

import numpy as np

from forearm.robots.dh import dh_origins
from forearm.robots.drawing import GRAPHITE, ORANGE, RUBBER, STEEL, X, Y, Z, barrel, block, dome, ring, tube
from forearm.robots.solids import box, combined, cylinder, moved
from forearm.robots.tree import Frame, Inertial, Joint, JointKind, Link, Shape, Tree
from forearm.spatial import Pose

SUMMARY = "desk-size arm, 6 joints, 30 x 30 x 80 mm tool; its end 0.75 m from the shoulder"

JOINT_NAMES = ["base_turn", "shoulder", "elbow", "wrist_roll", "wrist_bend", "tool_roll"]
LINK_NAMES = ["base", "turret", "upper_arm", "lower_arm", "wrist_body", "wrist_fork", "tool_flange"]
BASE_HEIGHT_M = 0.22
UPPER_ARM_M = 0.30
LOWER_ARM_M = 0.28
FLANGE_M = 0.09
TOOL_SIZE_M = (0.03, 0.03, 0.08)
DH_ROWS = [
    (0.0, 0.0, BASE_HEIGHT_M),
    (-pi / 2, 0.0, 0.0),
    (0.0, UPPER_ARM_M, 0.0),
    (-pi / 2, 0.0, LOWER_ARM_M),
    (pi / 2, 0.0, 0.0),
    (-pi / 2, 0.0, 0.0),
]
LIMITS_DEG = [
    (-170.0, 170.0),
    (-190.0, 10.0),
    (-230.0, 50.0),
    (-180.0, 180.0),
    (-120.0, 120.0),
    (-360.0, 360.0),
]
MAX_TORQUE_NM = [60.0, 60.0, 40.0, 12.0, 12.0, 8.0]
MAX_SPEED_RAD_S = [3.5, 3.5, 4.5, 7.0, 7.0, 9.0]
DAMPING = [1.0, 1.0, 0.8, 0.15, 0.15, 0.1]
FRICTION_NM = [0.0] * 6
ARMATURE_KGM2 = [0.12, 0.12, 0.08, 0.01, 0.01, 0.006]
HOME_DEG = (0.0, -110.0, 30.0, 0.0, 80.0, 0.0)


def describe() -> Tree:
    tool = moved(box(0.2, *TOOL_SIZE_M), Pose((0.0, 0.0, FLANGE_M + 0.5 * TOOL_SIZE_M[2])))
    inertials = [
        moved(cylinder(3.0, 0.08, 0.15), Pose((0.0, 0.0, 0.075))),
        rod(2.0, 0.055, 0.12, (0.0, 0.0, -0.03), "z"),
        rod(2.2, 0.045, 0.32, (0.5 * UPPER_ARM_M, 0.0, 0.0), "x"),
        rod(1.4, 0.038, 0.22, (0.0, 0.5 * LOWER_ARM_M, 0.0), "y"),
        rod(0.5, 0.032, 0.08, (0.0, 0.0, -0.03), "z"),
        rod(0.4, 0.028, 0.06, (0.0, 0.0, 0.0), "z"),
        combined(moved(cylinder(0.2, 0.025, 0.05), Pose((0.0, 0.0, FLANGE_M - 0.025))), tool),
    ]
    joints = tuple(
        Joint(
            name=name,
            kind=JointKind.REVOLUTE,
            parent=LINK_NAMES[i],
            child=LINK_NAMES[i + 1],
            origin=origin,
            lower=radians(LIMITS_DEG[i][0]),
            upper=radians(LIMITS_DEG[i][1]),
            max_speed=MAX_SPEED_RAD_S[i],
            max_effort=MAX_TORQUE_NM[i],
            damping=DAMPING[i],
            friction=FRICTION_NM[i],
            armature=ARMATURE_KGM2[i],
        )
        for i, (name, origin) in enumerate(zip(JOINT_NAMES, dh_origins(DH_ROWS), strict=True))
    )
    return Tree(
        name="mini_arm",
        source="mini_arm",
        links=tuple(
            Link(name, inertial, tuple(shapes))
            for name, inertial, shapes in zip(LINK_NAMES, inertials, drawing(), strict=True)
        ),
        joints=joints,
        frames=(
            Frame("flange", "tool_flange", Pose((0.0, 0.0, FLANGE_M))),
            Frame("tool", "tool_flange", Pose((0.0, 0.0, FLANGE_M + TOOL_SIZE_M[2]))),
        ),
        postures={"home": dict(zip(JOINT_NAMES, map(radians, HOME_DEG), strict=True))},
        tip="tool",
    )


def rod(mass_kg: float, radius_m: float, length_m: float, center_m: tuple, axis: str) -> Inertial:
    """A cylinder along one of the joint frame's axes."""
    turns = {"x": (0.0, pi / 2, 0.0), "y": (pi / 2, 0.0, 0.0), "z": (0.0, 0.0, 0.0)}
    return moved(cylinder(mass_kg, radius_m, length_m), Pose.from_rpy(center_m, turns[axis]))


CHEEK_M = 0.052
"""How far the upper arm's two cheeks stand to either side of the arm's plane."""


def drawing() -> list[list[Shape]]:
    """Each link's shapes: the forearm's elbow turns between two cheeks that make up the upper arm."""
    elbow = UPPER_ARM_M * X
    return [
        [
            barrel(0.0 * Z, 0.016 * Z, 0.095, GRAPHITE),
            barrel(0.016 * Z, 0.128 * Z, 0.075, GRAPHITE),
            ring(0.129 * Z, Z, 0.0762, 0.010, ORANGE),
            ring(0.1365 * Z, Z, 0.066, 0.007, RUBBER),
        ],
        [
            barrel(-0.080 * Z, -0.045 * Z, 0.066, GRAPHITE),
            tube(-0.045 * Z, 0.0 * Z, 0.042, GRAPHITE),
            barrel(-0.044 * Y, 0.044 * Y, 0.050, GRAPHITE),
        ],
        [
            *cheek(CHEEK_M * Z, 0.008, 0.046, 0.040),
            *cheek(-CHEEK_M * Z, -0.008, 0.046, 0.040),
            barrel(0.5 * elbow - CHEEK_M * Z, 0.5 * elbow + CHEEK_M * Z, 0.022, GRAPHITE),
        ],
        [
            barrel(-0.043 * Z, 0.043 * Z, 0.038, STEEL),
            tube(0.0 * Y, 0.060 * Y, 0.036, GRAPHITE),
            barrel(0.055 * Y, 0.205 * Y, 0.034, GRAPHITE),
            ring(0.075 * Y, Y, 0.0352, 0.012, ORANGE),
            ring(0.2075 * Y, Y, 0.030, 0.007, RUBBER),
        ],
        [
            barrel(-0.070 * Z, -0.050 * Z, 0.034, GRAPHITE),
            block(0.022 * Y - 0.026 * Z, (0.038, 0.010, 0.060), GRAPHITE),
            block(-0.022 * Y - 0.026 * Z, (0.038, 0.010, 0.060), GRAPHITE),
            barrel(0.017 * Y, 0.029 * Y, 0.025, GRAPHITE),
            barrel(-0.017 * Y, -0.029 * Y, 0.025, GRAPHITE),
            dome(0.029 * Y, Y, 0.019, 0.005, ORANGE),
            dome(-0.029 * Y, Y, 0.019, 0.005, ORANGE),
        ],
        [
            barrel(-0.016 * Z, 0.016 * Z, 0.022, STEEL),
            barrel(0.0 * Y, 0.036 * Y, 0.021, STEEL),
            ring(0.0375 * Y, Y, 0.019, 0.005, RUBBER),
        ],
        [
            barrel(0.040 * Z, 0.082 * Z, 0.025, GRAPHITE),
            ring(0.064 * Z, Z, 0.0258, 0.008, ORANGE),
            barrel(0.082 * Z, 0.090 * Z, 0.028, STEEL),
            block((FLANGE_M + 0.5 * TOOL_SIZE_M[2]) * Z, TOOL_SIZE_M, ORANGE),
        ],
    ]


def cheek(center_m: np.ndarray, thickness_m: float, shoulder_radius_m: float, elbow_radius_m: float) -> list:
    """One side plate of the upper arm, round at both joints; the thickness's sign points outwards."""
    elbow, half = UPPER_ARM_M * X, 0.5 * thickness_m * Z
    outer = center_m + half
    outwards = np.sign(thickness_m) * Z
    middle = center_m + 0.5 * elbow
    return [
        barrel(center_m - half, outer, shoulder_radius_m, GRAPHITE),
        barrel(elbow + center_m - half, elbow + outer, elbow_radius_m, GRAPHITE),
        block(middle, (UPPER_ARM_M, 2.0 * elbow_radius_m - 0.014, 0.8 * abs(thickness_m)), GRAPHITE),
        dome(outer, outwards, 0.030, 0.008, ORANGE),
        dome(elbow + outer, outwards, 0.025, 0.007, ORANGE),
    ]
