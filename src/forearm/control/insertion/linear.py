"""Square systems of the size of an arm, solved in place."""

from __future__ import annotations

from forearm.kinematics.compiling import lean

SINGULAR = 1e-9
SIZE = 6


@lean
def solve_in_place(matrix, right, count):
    """Gaussian elimination with partial pivoting of a 6x6 system, for ``count`` columns of ``right``.

    They become the solutions; the matrix is used up. Returns whether it was regular.
    """
    n = SIZE
    for k in range(n):
        pivot = k
        for row in range(k + 1, n):
            if abs(matrix[row, k]) > abs(matrix[pivot, k]):
                pivot = row
        if abs(matrix[pivot, k]) < SINGULAR:
            return False
        if pivot != k:
            for column in range(k, n):
                matrix[k, column], matrix[pivot, column] = matrix[pivot, column], matrix[k, column]
            for column in range(count):
                right[k, column], right[pivot, column] = right[pivot, column], right[k, column]
        for row in range(k + 1, n):
            factor = matrix[row, k] / matrix[k, k]
            for column in range(k + 1, n):
                matrix[row, column] -= factor * matrix[k, column]
            for column in range(count):
                right[row, column] -= factor * right[k, column]
    for k in range(n - 1, -1, -1):
        for column in range(count):
            total = right[k, column]
            for other in range(k + 1, n):
                total -= matrix[k, other] * right[other, column]
            right[k, column] = total / matrix[k, k]
    return True
