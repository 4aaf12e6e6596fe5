"""The checks that every question passes, compiled: a microsecond where all is well.

They only say yes or no. Where the answer is no, the slow checks of ``spatial`` find the words.
"""

from __future__ import annotations

import math

import numpy as np

from forearm.kinematics.compiling import lean
from forearm.spatial import MAX_LENGTH_M, ROTATION_TOLERANCE, Array, as_pose, require_length

MATRIX = (4, 4)
RIGID = 1e-12
"""How far from rigid a matrix may be to be taken as it is; one that is farther is made so, on a copy."""


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
    """Write the pose nearest to a 4x4 matrix; False unless it is rigid, and no farther than arms reach.

    One that is rigid to the last digits is taken as it is.
    """
    loose = looseness(given)
    # Written so that a NaN fails.
    if not loose <= ROTATION_TOLERANCE:
        return False
    for i in range(3):
        matrix[i, 3], matrix[3, i] = given[i, 3], 0.0
        for j in range(3):
            matrix[i, j] = given[i, j]
    if loose > RIGID:
        nearest_rotation_into(given, matrix)
    matrix[3, 3] = 1.0
    return True


@lean
def looseness(matrix):
    """By how much a 4x4 matrix fails to be a pose: RᵀR from 1, the last row from (0, 0, 0, 1).

    Infinite for a reflection, and for what is not a number or farther than arms reach.
    """
    loose = abs(matrix[3, 3] - 1.0)
    for i in range(3):
        # Written so that a NaN fails.
        if not abs(matrix[i, 3]) <= MAX_LENGTH_M:
            return math.inf
        loose = larger(loose, abs(matrix[3, i]))
        for j in range(i, 3):
            product = matrix[0, i] * matrix[0, j] + matrix[1, i] * matrix[1, j] + matrix[2, i] * matrix[2, j]
            loose = larger(loose, abs(product - (1.0 if i == j else 0.0)))
    return loose if determinant(matrix) > 0.0 else math.inf


@lean
def larger(a, b):
    """The larger; infinite where one is not a number."""
    return max(a, b) if a >= 0.0 and b >= 0.0 else math.inf


@lean
def determinant(matrix):
    return (
        matrix[0, 0] * (matrix[1, 1] * matrix[2, 2] - matrix[1, 2] * matrix[2, 1])
        - matrix[0, 1] * (matrix[1, 0] * matrix[2, 2] - matrix[1, 2] * matrix[2, 0])
        + matrix[0, 2] * (matrix[1, 0] * matrix[2, 1] - matrix[1, 1] * matrix[2, 0])
    )


@lean
def nearest_rotation_into(given, matrix):
    """One step of Newton's iteration R ← R (3 I - RᵀR) / 2 to the polar factor.

    It squares the deviation, which is 1e-6 at most.
    """
    for i in range(3):
        for j in range(3):
            total = 1.5 * given[i, j]
            for k in range(3):
                product = given[0, k] * given[0, j] + given[1, k] * given[1, j] + given[2, k] * given[2, j]
                total -= 0.5 * given[i, k] * product
            matrix[i, j] = total


@lean
def is_plain_seed(seed, limits):
    """Whether a seed is finite, within the limits, and no larger than arms turn."""
    for i in range(seed.shape[0]):
        inside = limits[0, i] <= seed[i] and seed[i] <= limits[1, i]
        if not (inside and abs(seed[i]) <= MAX_LENGTH_M):
            return False
    return True


@lean
def first_loose(matrices, first, last):
    """The first of the rows that is not a pose to the last digits; else -1."""
    for k in range(first, last):
        if not looseness(matrices[k]) <= RIGID:
            return k
    return -1


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
