"""The checks that every question passes, compiled: a microsecond where all is well.

They only say yes or no. Where the answer is no, the slow checks of ``spatial`` find the words.
"""

from __future__ import annotations

import numpy as np

from forearm.kinematics.compiling import lean
from forearm.spatial import MAX_LENGTH_M, ROTATION_TOLERANCE, Array, as_pose, require_length

MATRIX = (4, 4)


def target_matrix(target: object) -> Array:
    """A new 4x4 matrix in SE(3) of a ``Pose``, a 4x4 matrix or three coordinates; or ``InvalidInput``."""
    matrix = np.empty(MATRIX)
    plain = isinstance(target, np.ndarray) and target.shape == MATRIX and target.dtype == np.float64
    if plain and projected_into(target, matrix):
        return matrix
    pose = as_pose(target)
    if not placed_into(pose.position_m, pose.quaternion_wxyz, matrix):
        require_length(pose.position_m, "target")
    return matrix


@lean
def placed_into(position_m, quaternion_wxyz, matrix):
    """Write a pose as a 4x4 matrix; False if it lies farther than arms reach."""
    w, x, y, z = quaternion_wxyz[0], quaternion_wxyz[1], quaternion_wxyz[2], quaternion_wxyz[3]
    matrix[0, 0] = w * w + x * x - y * y - z * z
    matrix[1, 1] = w * w - x * x + y * y - z * z
    matrix[2, 2] = w * w - x * x - y * y + z * z
    matrix[0, 1], matrix[1, 0] = 2.0 * (x * y - w * z), 2.0 * (x * y + w * z)
    matrix[0, 2], matrix[2, 0] = 2.0 * (x * z + w * y), 2.0 * (x * z - w * y)
    matrix[1, 2], matrix[2, 1] = 2.0 * (y * z - w * x), 2.0 * (y * z + w * x)
    near = True
    for i in range(3):
        matrix[i, 3], matrix[3, i] = position_m[i], 0.0
        near = near and abs(position_m[i]) <= MAX_LENGTH_M
    matrix[3, 3] = 1.0
    return near


@lean
def projected_into(given, matrix):
    """Write the pose nearest to a 4x4 matrix; False unless it is rigid, and no farther than arms reach."""
    for i in range(3):
        # Written so that a NaN fails.
        if not abs(given[i, 3]) <= MAX_LENGTH_M or not abs(given[3, i]) <= ROTATION_TOLERANCE:
            return False
        for j in range(i, 3):
            product = given[0, i] * given[0, j] + given[1, i] * given[1, j] + given[2, i] * given[2, j]
            if not abs(product - (1.0 if i == j else 0.0)) <= ROTATION_TOLERANCE:
                return False
        matrix[i, 3], matrix[3, i] = given[i, 3], 0.0
    if not abs(given[3, 3] - 1.0) <= ROTATION_TOLERANCE:
        return False
    matrix[3, 3] = 1.0
    return nearest_rotation_into(given, matrix)


@lean
def nearest_rotation_into(given, matrix):
    """One step of Newton's iteration R ← R (3 I - RᵀR) / 2 to the polar factor; False for a reflection.

    It squares the deviation, which is 1e-6 at most.
    """
    determinant = (
        given[0, 0] * (given[1, 1] * given[2, 2] - given[1, 2] * given[2, 1])
        - given[0, 1] * (given[1, 0] * given[2, 2] - given[1, 2] * given[2, 0])
        + given[0, 2] * (given[1, 0] * given[2, 1] - given[1, 1] * given[2, 0])
    )
    for i in range(3):
        for j in range(3):
            total = 1.5 * given[i, j]
            for k in range(3):
                product = given[0, k] * given[0, j] + given[1, k] * given[1, j] + given[2, k] * given[2, j]
                total -= 0.5 * given[i, k] * product
            matrix[i, j] = total
    return determinant > 0.0


@lean
def is_plain_seed(seed, limits):
    """Whether a seed is finite, within the limits, and no larger than arms turn."""
    for i in range(seed.shape[0]):
        inside = limits[0, i] <= seed[i] and seed[i] <= limits[1, i]
        if not (inside and abs(seed[i]) <= MAX_LENGTH_M):
            return False
    return True


@lean
def projected_rows_into(given, matrices, first, last):
    """Write the nearest poses of rows ``first`` to ``last``; returns the first that has none, else -1."""
    for k in range(first, last):
        if not projected_into(given[k], matrices[k]):
            return k
    return -1


@lean
def seeds_outside_into(seeds, limits, outside):
    """Write whether each row of ``seeds`` passes a limit."""
    for k in range(seeds.shape[0]):
        outside[k] = False
        for i in range(seeds.shape[1]):
            outside[k] |= (seeds[k, i] < limits[0, i]) | (seeds[k, i] > limits[1, i])
