"""The pose error, compiled: (p_target - p, log(R_target Rᵀ)) in base axes."""

from __future__ import annotations

import math

import numpy as np

from forearm.kinematics.compiling import compiled

NEAR_HALF_TURN = -0.99
"""Cosine of the angle below which the axis is read off the symmetric part of the rotation."""


@compiled
def pose_error_into(target, current, error):
    """Write the six errors; ``target`` and ``current`` are 4x4 poses in the same frame.

    Away from a half turn, w = θ/sin θ · vee(E - Eᵀ)/2 with E = R_target Rᵀ. Near it sin θ vanishes,
    and the axis comes from (E + Eᵀ)/2 = cos θ I + (1 - cos θ) a aᵀ.
    """
    e = np.empty((3, 3))
    for row in range(3):
        error[row] = target[row, 3] - current[row, 3]
        for column in range(3):
            e[row, column] = (
                target[row, 0] * current[column, 0]
                + target[row, 1] * current[column, 1]
                + target[row, 2] * current[column, 2]
            )
    x = 0.5 * (e[2, 1] - e[1, 2])
    y = 0.5 * (e[0, 2] - e[2, 0])
    z = 0.5 * (e[1, 0] - e[0, 1])
    sine = math.sqrt(x * x + y * y + z * z)
    cosine = 0.5 * (e[0, 0] + e[1, 1] + e[2, 2] - 1.0)
    angle = math.atan2(sine, cosine)
    if cosine > NEAR_HALF_TURN:
        scale = angle / sine if sine > 1e-12 else 1.0
        error[3], error[4], error[5] = scale * x, scale * y, scale * z
        return
    k = 0
    for i in range(1, 3):
        if e[i, i] > e[k, k]:
            k = i
    norm = 0.0
    for i in range(3):
        error[3 + i] = 0.5 * (e[i, k] + e[k, i]) - (cosine if i == k else 0.0)
        norm += error[3 + i] * error[3 + i]
    norm = math.sqrt(norm)
    # The symmetric part knows the axis up to its sign; vee knows the sign.
    if error[3] * x + error[4] * y + error[5] * z < 0.0:
        norm = -norm
    for i in range(3):
        error[3 + i] *= angle / norm
