"""A second, independent way to compute forward kinematics: the product of exponentials.

    T_tip(q) = exp([S_1] q_1) ... exp([S_n] q_n) M

M is the tip's pose at q = 0 and S_i joint i's screw in the base at q = 0. Nothing here is shared
with the compiled chain but the tree: the constants are accumulated with 4x4 matrices instead of
quaternions, and the kernel carries the tip backwards through the joints with Rodrigues' formula.
It is what ``certify`` replays answers with.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from forearm.kinematics.compiling import lean
from forearm.robots.robot import Robot
from forearm.robots.tree import JointKind
from forearm.spatial import Array, frozen_array

# Columns of a screw row: the axis, a point on it, and whether the joint slides.
AXIS = 0
POINT = 3
SLIDES = 6


@lru_cache(maxsize=64)
def screws_of(robot: Robot) -> Array:
    """The screws, (dof + 4, 7), read-only: a row a joint, then M as three rows of four (and zeros)."""
    screws = np.zeros((robot.dof + 4, 7))
    transform = np.linalg.inv(robot.base_frame.pose.matrix())
    row = 0
    for joint in robot.path:
        transform = transform @ joint.origin.matrix()
        if joint.kind is JointKind.FIXED:
            continue
        screws[row, AXIS : AXIS + 3] = transform[:3, :3] @ joint.axis
        screws[row, POINT : POINT + 3] = transform[:3, 3]
        screws[row, SLIDES] = joint.kind is JointKind.PRISMATIC
        row += 1
    screws[row : row + 4, :4] = transform @ robot.tip_frame.pose.matrix()
    return frozen_array(screws)


@lean
def turned(ax, ay, az, cosine, sine, x, y, z):
    """Rodrigues: v cos + (a x v) sin + a (a·v)(1 - cos)."""
    along = (ax * x + ay * y + az * z) * (1.0 - cosine)
    return (
        x * cosine + (ay * z - az * y) * sine + ax * along,
        y * cosine + (az * x - ax * z) * sine + ay * along,
        z * cosine + (ax * y - ay * x) * sine + az * along,
    )


@lean
def replay_into(screws, q, transform):
    """Write the tip's pose in the base (4x4) into ``transform``."""
    n = screws.shape[0] - 4
    for row in range(4):
        for column in range(4):
            transform[row, column] = screws[n + row, column]
    for i in range(n - 1, -1, -1):
        ax, ay, az = screws[i, 0], screws[i, 1], screws[i, 2]
        if screws[i, SLIDES] != 0.0:
            transform[0, 3] += q[i] * ax
            transform[1, 3] += q[i] * ay
            transform[2, 3] += q[i] * az
            continue
        cosine, sine = math.cos(q[i]), math.sin(q[i])
        for column in range(4):
            ox, oy, oz = 0.0, 0.0, 0.0
            if column == 3:
                ox, oy, oz = screws[i, 3], screws[i, 4], screws[i, 5]
            x, y, z = turned(
                ax,
                ay,
                az,
                cosine,
                sine,
                transform[0, column] - ox,
                transform[1, column] - oy,
                transform[2, column] - oz,
            )
            transform[0, column], transform[1, column], transform[2, column] = x + ox, y + oy, z + oz
