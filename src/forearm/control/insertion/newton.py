"""The source's inverse kinematics: a fixed number of Newton-Raphson steps, whatever they come to."""

from __future__ import annotations

import math

from forearm.control.insertion.linear import solve_in_place
from forearm.kinematics.chain import forward_and_jacobian_into
from forearm.kinematics.compiling import lean

ITERATIONS = 10
ALPHA = 0.8
STOPPED_M, STOPPED_RAD = 1e-4, 1e-3
"""What is left at most where the iterations are said to have come to the pose."""
DAMPING = 1e-8


@lean
def rotation_error(target, transform):
    """log(target · currentᵀ) as a vector; ``target`` is 9 numbers, row by row."""
    wx, wy, wz, trace = 0.0, 0.0, 0.0, 0.0
    for k in range(3):
        # R = target currentᵀ; the vector is half of R - Rᵀ.
        ax, ay, az = target[k], target[3 + k], target[6 + k]
        bx, by, bz = transform[0, k], transform[1, k], transform[2, k]
        wx += 0.5 * (by * az - bz * ay)
        wy += 0.5 * (bz * ax - bx * az)
        wz += 0.5 * (bx * ay - by * ax)
        trace += ax * bx + ay * by + az * bz
    sine = math.sqrt(wx * wx + wy * wy + wz * wz)
    angle = math.atan2(sine, 0.5 * (trace - 1.0))
    scale = angle / sine if sine > 1e-9 else 1.0
    return scale * wx, scale * wy, scale * wz


@lean
def newton_into(chain, place, turn, q, transform, jacobian, matrix, right):
    """q ← q + α J⁻¹ (p_target - p, log(R_target Rᵀ)), ``ITERATIONS`` times; returns whether that came to
    the pose.

    Where J is singular the pseudo-inverse takes its place.
    """
    n = q.shape[0]
    for iteration in range(ITERATIONS + 1):
        forward_and_jacobian_into(chain, q, transform, jacobian)
        for k in range(3):
            right[k, 0] = place[k] - transform[k, 3]
        right[3, 0], right[4, 0], right[5, 0] = rotation_error(turn, transform)
        if iteration == ITERATIONS:
            break
        for row in range(6):
            for column in range(n):
                matrix[row, column] = jacobian[row, column]
        if not solve_in_place(matrix, right, 1):
            pseudo_inverse(n, jacobian, matrix, right, place, turn, transform)
        for i in range(n):
            q[i] += ALPHA * right[i, 0]
    metres = right[0, 0] ** 2 + right[1, 0] ** 2 + right[2, 0] ** 2
    radians = right[3, 0] ** 2 + right[4, 0] ** 2 + right[5, 0] ** 2
    return metres <= STOPPED_M**2 and radians <= STOPPED_RAD**2


@lean
def pseudo_inverse(n, jacobian, matrix, right, place, turn, transform):
    """J⁺ e for a singular J, as the limit of Jᵀ (J Jᵀ + λ I)⁻¹ e for a small λ."""
    for k in range(3):
        right[k, 0] = place[k] - transform[k, 3]
    right[3, 0], right[4, 0], right[5, 0] = rotation_error(turn, transform)
    for row in range(6):
        for column in range(6):
            total = DAMPING if row == column else 0.0
            for i in range(n):
                total += jacobian[row, i] * jacobian[column, i]
            matrix[row, column] = total
    solve_in_place(matrix, right, 1)
    for i in range(n):
        total = 0.0
        for row in range(6):
            total += jacobian[row, i] * right[row, 0]
        right[i, 1] = total
    for i in range(n):
        right[i, 0] = right[i, 1]
