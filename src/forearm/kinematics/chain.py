"""The compiled chain: a robot's kinematics as one flat array, and the kernels that run on it.

Row ``i`` of the array places joint ``i``'s frame, whose z axis is the joint axis, in the frame of
the joint before it; the last row places the tip. With C_i that constant transform,

    T_tip(q) = C_0 Z(q_0) C_1 Z(q_1) ... C_{n-1} Z(q_{n-1}) C_n

where Z(q) turns about z (revolute) or slides along z (prismatic).
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from forearm.kinematics.compiling import lean
from forearm.robots.robot import Robot
from forearm.robots.tree import Joint, JointKind
from forearm.spatial import Array, Pose, frozen_array

# Columns of a chain row. 0..8 hold the rotation, row by row.
POSITION = 9
SLIDES = 12
LOWER = 13
UPPER = 14
COLUMNS = 15

# A frame inside the kernels: the columns x, y, z of its rotation, then its origin.
IDENTITY = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0)


@lru_cache(maxsize=64)
def chain_of(robot: Robot) -> Array:
    """The chain array of ``robot``, (dof + 1, COLUMNS), read-only."""
    chain = np.zeros((robot.dof + 1, COLUMNS))
    moving = {joint.name: index for index, joint in enumerate(robot.joints)}
    pending = robot.base_frame.pose.inverse()
    for joint in robot.path:
        pending = pending @ joint.origin
        if joint.kind is JointKind.FIXED:
            continue
        row = moving[joint.name]
        axis = axis_frame(joint)
        set_transform(chain[row], pending @ axis)
        chain[row, SLIDES] = joint.kind is JointKind.PRISMATIC
        chain[row, LOWER : UPPER + 1] = joint.lower, joint.upper
        pending = axis.inverse()
    set_transform(chain[-1], pending @ robot.tip_frame.pose)
    return frozen_array(chain)


def set_transform(row: Array, pose: Pose) -> None:
    row[:POSITION] = pose.rotation.ravel()
    row[POSITION : POSITION + 3] = pose.position_m


def axis_frame(joint: Joint) -> Pose:
    """The chain's frame for a joint, whose z is the joint's axis, in the joint's own frame."""
    return Pose.from_rotation((0.0, 0.0, 0.0), frame_with_z(joint.axis))


def frame_with_z(axis: Array) -> Array:
    """A rotation whose third column is ``axis``; the identity for the z axis itself."""
    if axis[0] == 0.0 and axis[1] == 0.0 and axis[2] == 1.0:
        return np.eye(3)
    helper = np.eye(3)[int(np.argmin(np.abs(axis)))]
    x = np.cross(helper, axis)
    x /= np.linalg.norm(x)
    return np.column_stack([x, np.cross(axis, x), axis])


@lean
def placed(chain, i, frame):
    """``frame`` followed by the constant transform of row ``i``."""
    xx, xy, xz, yx, yy, yz, zx, zy, zz, px, py, pz = frame
    a, b, c = chain[i, 0], chain[i, 3], chain[i, 6]
    d, e, f = chain[i, 1], chain[i, 4], chain[i, 7]
    g, h, k = chain[i, 2], chain[i, 5], chain[i, 8]
    u, v, w = chain[i, 9], chain[i, 10], chain[i, 11]
    return (
        a * xx + b * yx + c * zx,
        a * xy + b * yy + c * zy,
        a * xz + b * yz + c * zz,
        d * xx + e * yx + f * zx,
        d * xy + e * yy + f * zy,
        d * xz + e * yz + f * zz,
        g * xx + h * yx + k * zx,
        g * xy + h * yy + k * zy,
        g * xz + h * yz + k * zz,
        px + u * xx + v * yx + w * zx,
        py + u * xy + v * yy + w * zy,
        pz + u * xz + v * yz + w * zz,
    )


@lean
def moved(slides, q, frame):
    """``frame`` turned about its z axis by ``q``, or slid along it."""
    xx, xy, xz, yx, yy, yz, zx, zy, zz, px, py, pz = frame
    if slides != 0.0:
        return xx, xy, xz, yx, yy, yz, zx, zy, zz, px + q * zx, py + q * zy, pz + q * zz
    c, s = math.cos(q), math.sin(q)
    return (
        c * xx + s * yx,
        c * xy + s * yy,
        c * xz + s * yz,
        c * yx - s * xx,
        c * yy - s * xy,
        c * yz - s * xz,
        zx,
        zy,
        zz,
        px,
        py,
        pz,
    )


@lean
def write_transform(frame, transform):
    """Write ``frame`` as a 4x4 homogeneous matrix."""
    for column in range(4):
        for row in range(3):
            transform[row, column] = frame[3 * column + row]
        transform[3, column] = 0.0
    transform[3, 3] = 1.0


@lean
def forward_into(chain, q, transform):
    """Write the tip's pose in the base (4x4) into ``transform``."""
    n = chain.shape[0] - 1
    frame = IDENTITY
    for i in range(n):
        frame = moved(chain[i, SLIDES], q[i], placed(chain, i, frame))
    write_transform(placed(chain, n, frame), transform)


@lean
def forward_and_jacobian_into(chain, q, transform, jacobian):
    """Write the tip's pose (4x4) and its geometric Jacobian (6 x n), both in base axes, in one pass.

    Column i is (z_i x (p_tip - p_i), z_i) for a revolute joint and (z_i, 0) for a prismatic one.
    """
    n = chain.shape[0] - 1
    frame = IDENTITY
    for i in range(n):
        frame = placed(chain, i, frame)
        # Until the tip is known, the joint's origin waits where the linear part will stand.
        for k in range(3):
            jacobian[k, i] = frame[9 + k]
            jacobian[3 + k, i] = frame[6 + k]
        frame = moved(chain[i, SLIDES], q[i], frame)
    frame = placed(chain, n, frame)
    write_transform(frame, transform)
    for i in range(n):
        zx, zy, zz = jacobian[3, i], jacobian[4, i], jacobian[5, i]
        if chain[i, SLIDES] != 0.0:
            jacobian[0, i], jacobian[1, i], jacobian[2, i] = zx, zy, zz
            jacobian[3, i], jacobian[4, i], jacobian[5, i] = 0.0, 0.0, 0.0
        else:
            rx, ry, rz = frame[9] - jacobian[0, i], frame[10] - jacobian[1, i], frame[11] - jacobian[2, i]
            jacobian[0, i] = zy * rz - zz * ry
            jacobian[1, i] = zz * rx - zx * rz
            jacobian[2, i] = zx * ry - zy * rx
