"""How the Jacobian changes while the arm moves: J̇, compiled."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from forearm.kinematics.chain import (
    IDENTITY,
    SLIDES,
    chain_of,
    forward_and_jacobian_into,
    moved,
    placed,
)
from forearm.kinematics.compiling import compiled
from forearm.robots.robot import Robot
from forearm.spatial import Array


@compiled
def cross(ax, ay, az, bx, by, bz):
    return ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx


@compiled
def jacobian_rate_into(chain, q, qd, transform, jacobian, rate):
    """Write J̇ (6 x n); ``transform`` and ``jacobian`` are what ``forward_and_jacobian_into`` wrote.

    With z_i joint i's axis, p_i its origin, ω_i the spin of the link before it and v_i the velocity of
    p_i as a point of that link,

        ż_i = ω_i x z_i,   J̇_i = (ż_i x (p - p_i) + z_i x (v - v_i), ż_i),

    and (ż_i, 0) for a prismatic joint.
    """
    n = chain.shape[0] - 1
    frame = IDENTITY
    for i in range(n):
        frame = placed(chain, i, frame)
        # The origins wait where the linear part will stand.
        rate[0, i], rate[1, i], rate[2, i] = frame[9], frame[10], frame[11]
        frame = moved(chain[i, SLIDES], q[i], frame)
    tip_vx, tip_vy, tip_vz = 0.0, 0.0, 0.0
    for i in range(n):
        tip_vx += jacobian[0, i] * qd[i]
        tip_vy += jacobian[1, i] * qd[i]
        tip_vz += jacobian[2, i] * qd[i]

    wx, wy, wz = 0.0, 0.0, 0.0
    vx, vy, vz = 0.0, 0.0, 0.0
    last_x, last_y, last_z = 0.0, 0.0, 0.0
    for i in range(n):
        px, py, pz = rate[0, i], rate[1, i], rate[2, i]
        # One link carries both origins: v_i = v_{i-1} + ω_i x (p_i - p_{i-1}).
        cx, cy, cz = cross(wx, wy, wz, px - last_x, py - last_y, pz - last_z)
        vx, vy, vz = vx + cx, vy + cy, vz + cz
        last_x, last_y, last_z = px, py, pz
        if chain[i, SLIDES] != 0.0:
            zx, zy, zz = jacobian[0, i], jacobian[1, i], jacobian[2, i]
            rate[0, i], rate[1, i], rate[2, i] = cross(wx, wy, wz, zx, zy, zz)
            rate[3, i], rate[4, i], rate[5, i] = 0.0, 0.0, 0.0
            vx, vy, vz = vx + zx * qd[i], vy + zy * qd[i], vz + zz * qd[i]
        else:
            zx, zy, zz = jacobian[3, i], jacobian[4, i], jacobian[5, i]
            dx, dy, dz = cross(wx, wy, wz, zx, zy, zz)
            ax, ay, az = cross(dx, dy, dz, transform[0, 3] - px, transform[1, 3] - py, transform[2, 3] - pz)
            bx, by, bz = cross(zx, zy, zz, tip_vx - vx, tip_vy - vy, tip_vz - vz)
            rate[0, i], rate[1, i], rate[2, i] = ax + bx, ay + by, az + bz
            rate[3, i], rate[4, i], rate[5, i] = dx, dy, dz
            wx, wy, wz = wx + zx * qd[i], wy + zy * qd[i], wz + zz * qd[i]


def jacobian_rate(robot: Robot, q: ArrayLike, qd: ArrayLike) -> Array:
    """J̇ (6 x n) at the tip, in base axes: the tip's acceleration is J qdd + J̇ qd."""
    position, speed = robot.joint_vector(q), robot.joint_vector(qd, "qd")
    transform, columns, rate = np.empty((4, 4)), np.empty((6, robot.dof)), np.empty((6, robot.dof))
    chain = chain_of(robot)
    forward_and_jacobian_into(chain, position, transform, columns)
    jacobian_rate_into(chain, position, speed, transform, columns, rate)
    return rate
