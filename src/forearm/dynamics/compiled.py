"""Inverse dynamics compiled: recursive Newton-Euler on the compiled chain, for controllers.

Pinocchio answers the same questions and is what this is held against; a controller that runs at
every tick of a simulation cannot afford the way there and back.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from forearm.kinematics.chain import IDENTITY, SLIDES, axis_frame, moved, placed
from forearm.kinematics.compiling import compiled
from forearm.kinematics.rates import cross
from forearm.robots.robot import Robot
from forearm.robots.solids import combined
from forearm.robots.solids import moved as moved_solid
from forearm.robots.tree import Inertial
from forearm.spatial import Array, Pose, frozen_array

GRAVITY_M_S2 = 9.81

# Columns of a body row: mass, centre of mass, inertia about it (xx yy zz xy xz yz), armature.
MASS = 0
CENTER = 1
INERTIA = 4
ARMATURE = 10
BODY_COLUMNS = 11

# Columns of a scratch row: the joint's origin, its axis, then the force on its body and the moment of
# that force about the origin.
SCRATCH_COLUMNS = 12


@lru_cache(maxsize=64)
def bodies_of(robot: Robot) -> Array:
    """What each joint moves before the next one, welded links included: (dof + 1, 11), read-only.

    In the frames of ``chain_of``, whose z is the joint's axis. The last row begins with the
    acceleration of free fall in the base.
    """
    tree = robot.held_tree
    moving = {joint.name: index for index, joint in enumerate(robot.joints)}
    carried: dict[str, tuple[int, Pose]] = {tree.root: (-1, Pose.identity())}
    for joint in tree.joints:
        if joint.name in moving:
            carried[joint.child] = moving[joint.name], axis_frame(joint).inverse()
        else:
            index, pose = carried[joint.parent]
            carried[joint.child] = index, pose @ joint.origin

    parts: list[list[Inertial]] = [[] for _ in robot.joints]
    for link in tree.links:
        index, pose = carried[link.name]
        if index >= 0 and link.inertial is not None and link.inertial.mass_kg > 0.0:
            parts[index].append(moved_solid(link.inertial, pose))

    bodies = np.zeros((robot.dof + 1, BODY_COLUMNS))
    for row, joint, solids in zip(bodies, robot.joints, parts, strict=False):
        row[ARMATURE] = joint.armature
        if solids:
            body = combined(*solids)
            (xx, xy, xz), (_, yy, yz), (_, _, zz) = body.inertia_kgm2
            row[MASS] = body.mass_kg
            row[CENTER : CENTER + 3] = body.center_of_mass_m
            row[INERTIA : INERTIA + 6] = xx, yy, zz, xy, xz, yz
    bodies[-1, :3] = robot.base_in_world.rotation.T @ (0.0, 0.0, -GRAVITY_M_S2)
    return frozen_array(bodies)


def dynamics_scratch(robot: Robot) -> Array:
    """The room that the kernels below need; one for each caller."""
    return np.zeros((robot.dof + 1, SCRATCH_COLUMNS))


@compiled
def inverse_dynamics_into(chain, bodies, weight, q, qd, qdd, scratch, tau):
    """τ = M(q) qdd + C(q, qd) qd + weight · g(q), armature included in M.

    Newton-Euler in base axes. Outward: spin ω, its rate α and the origin's acceleration a of every
    body, the base accelerating against gravity. Inward: forces and moments, of which each joint
    carries the part along its axis.
    """
    n = chain.shape[0] - 1
    frame = IDENTITY
    wx, wy, wz = 0.0, 0.0, 0.0
    ux, uy, uz = 0.0, 0.0, 0.0
    ax, ay, az = -weight * bodies[n, 0], -weight * bodies[n, 1], -weight * bodies[n, 2]
    last_x, last_y, last_z = 0.0, 0.0, 0.0
    for i in range(n):
        slides = chain[i, SLIDES] != 0.0
        frame = moved(chain[i, SLIDES], q[i], placed(chain, i, frame))
        xx, xy, xz, yx, yy, yz, zx, zy, zz, px, py, pz = frame
        # a += α x r + ω x (ω x r), r from the last origin to this one.
        rx, ry, rz = px - last_x, py - last_y, pz - last_z
        last_x, last_y, last_z = px, py, pz
        bx, by, bz = cross(ux, uy, uz, rx, ry, rz)
        cx, cy, cz = cross(wx, wy, wz, rx, ry, rz)
        dx, dy, dz = cross(wx, wy, wz, cx, cy, cz)
        ax, ay, az = ax + bx + dx, ay + by + dy, az + bz + dz
        tx, ty, tz = cross(wx, wy, wz, zx, zy, zz)
        if slides:
            ax += zx * qdd[i] + 2.0 * tx * qd[i]
            ay += zy * qdd[i] + 2.0 * ty * qd[i]
            az += zz * qdd[i] + 2.0 * tz * qd[i]
        else:
            ux, uy, uz = (
                ux + zx * qdd[i] + tx * qd[i],
                uy + zy * qdd[i] + ty * qd[i],
                uz + zz * qdd[i] + tz * qd[i],
            )
            wx, wy, wz = wx + zx * qd[i], wy + zy * qd[i], wz + zz * qd[i]

        # The body's force m a_c at its centre, and its moment I α + ω x I ω, I kept in its own axes.
        m = bodies[i, MASS]
        lx, ly, lz = bodies[i, 1], bodies[i, 2], bodies[i, 3]
        gx, gy, gz = xx * lx + yx * ly + zx * lz, xy * lx + yy * ly + zy * lz, xz * lx + yz * ly + zz * lz
        bx, by, bz = cross(ux, uy, uz, gx, gy, gz)
        cx, cy, cz = cross(wx, wy, wz, gx, gy, gz)
        dx, dy, dz = cross(wx, wy, wz, cx, cy, cz)
        fx, fy, fz = m * (ax + bx + dx), m * (ay + by + dy), m * (az + bz + dz)
        sx, sy, sz = turned_inertia(bodies, i, frame, ux, uy, uz)
        ix, iy, iz = turned_inertia(bodies, i, frame, wx, wy, wz)
        ex, ey, ez = cross(wx, wy, wz, ix, iy, iz)
        mx, my, mz = cross(gx, gy, gz, fx, fy, fz)
        scratch[i, 0], scratch[i, 1], scratch[i, 2] = px, py, pz
        scratch[i, 3], scratch[i, 4], scratch[i, 5] = zx, zy, zz
        scratch[i, 6], scratch[i, 7], scratch[i, 8] = fx, fy, fz
        scratch[i, 9], scratch[i, 10], scratch[i, 11] = mx + sx + ex, my + sy + ey, mz + sz + ez

    fx, fy, fz, mx, my, mz = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for i in range(n - 1, -1, -1):
        if i < n - 1:
            # What the joint beyond passes on acts at its origin.
            rx = scratch[i + 1, 0] - scratch[i, 0]
            ry = scratch[i + 1, 1] - scratch[i, 1]
            rz = scratch[i + 1, 2] - scratch[i, 2]
            bx, by, bz = cross(rx, ry, rz, fx, fy, fz)
            mx, my, mz = mx + bx, my + by, mz + bz
        fx, fy, fz = fx + scratch[i, 6], fy + scratch[i, 7], fz + scratch[i, 8]
        mx, my, mz = mx + scratch[i, 9], my + scratch[i, 10], mz + scratch[i, 11]
        zx, zy, zz = scratch[i, 3], scratch[i, 4], scratch[i, 5]
        if chain[i, SLIDES] != 0.0:
            tau[i] = zx * fx + zy * fy + zz * fz
        else:
            tau[i] = zx * mx + zy * my + zz * mz
        tau[i] += bodies[i, ARMATURE] * qdd[i]


@compiled
def turned_inertia(bodies, i, frame, vx, vy, vz):
    """R I Rᵀ v, with I body i's inertia in the axes of ``frame``."""
    xx, xy, xz, yx, yy, yz, zx, zy, zz, _, _, _ = frame
    a, b, c = xx * vx + xy * vy + xz * vz, yx * vx + yy * vy + yz * vz, zx * vx + zy * vy + zz * vz
    p = bodies[i, 4] * a + bodies[i, 7] * b + bodies[i, 8] * c
    r = bodies[i, 7] * a + bodies[i, 5] * b + bodies[i, 9] * c
    s = bodies[i, 8] * a + bodies[i, 9] * b + bodies[i, 6] * c
    return xx * p + yx * r + zx * s, xy * p + yy * r + zy * s, xz * p + yz * r + zz * s


@compiled
def mass_matrix_into(chain, bodies, q, scratch, unit, column, mass):
    """M(q), armature included: column j is the torque of a unit acceleration of joint j alone."""
    n = q.shape[0]
    for i in range(n):
        unit[0, i] = 0.0
        unit[1, i] = 0.0
    for j in range(n):
        unit[1, j] = 1.0
        inverse_dynamics_into(chain, bodies, 0.0, q, unit[0], unit[1], scratch, column)
        unit[1, j] = 0.0
        for i in range(n):
            mass[i, j] = column[i]
