"""What makes one answer better than another, where the best is wanted; less is better."""

from __future__ import annotations

import math

from forearm.ik.fast.descent import finish_columns, walk
from forearm.ik.fast.layout import (
    HIGHEST,
    KIND,
    LOWEST,
    MANIPULABILITY,
    MARGIN,
    MAX_JOINTS,
    NEAR_POSTURE,
    POSE,
    POSITION,
    POSTURE,
    TASK,
    WEIGHT,
)
from forearm.kinematics.compiling import lean
from forearm.kinematics.lanes import get, put, stack

TINY = 1e-300
"""Keeps what has no length finite."""


@lean
def cost_of(n, table, wanted, q, seed):
    """The cost of the joint vector in the slots ``q``, by what is ``wanted``."""
    if wanted == MARGIN:
        return -margin_share(n, table, q)
    if wanted == MANIPULABILITY:
        return -manipulability(n, table, q)
    total = 0.0
    for i in range(n):
        home = table[i, POSTURE] if wanted == NEAR_POSTURE else seed[i]
        total += (table[i, WEIGHT] * (get(q, i) - home)) ** 2
    return total


@lean
def margin_share(n, table, q):
    """The least distance of a joint to its nearer limit, as a share of its range; 1 without limits."""
    least = 1.0
    for i in range(n):
        low, high = table[i, LOWEST], table[i, HIGHEST]
        if low < high < math.inf and low > -math.inf:
            least = min(least, min(get(q, i) - low, high - get(q, i)) / (high - low))
    return least


@lean
def manipulability(n, table, q):
    """sqrt(det(J Jᵀ)): the product of the lengths that Gram's and Schmidt's vectors have."""
    columns = stack(192, 1.0)
    tip = walk(n, table, q, columns)
    finish_columns(n, table, POSE, 1.0, q, columns, tip, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    rows = 3 if table[n + TASK, KIND] == POSITION else 6
    # The rows of J where it is wide, else its columns; each in slots of its own.
    wide = n >= rows
    count, size = (rows, n) if wide else (n, rows)
    vectors = stack(192, 1.0)
    for k in range(count):
        for j in range(size):
            put(vectors, k * MAX_JOINTS + j, get(columns, 6 * j + k if wide else 6 * k + j))
    volume = 1.0
    for k in range(count):
        for other in range(k):
            along = 0.0
            for j in range(size):
                along += get(vectors, k * MAX_JOINTS + j) * get(vectors, other * MAX_JOINTS + j)
            for j in range(size):
                left = get(vectors, k * MAX_JOINTS + j) - along * get(vectors, other * MAX_JOINTS + j)
                put(vectors, k * MAX_JOINTS + j, left)
        squared = 0.0
        for j in range(size):
            squared += get(vectors, k * MAX_JOINTS + j) ** 2
        length = math.sqrt(squared)
        volume *= length
        for j in range(size):
            put(vectors, k * MAX_JOINTS + j, get(vectors, k * MAX_JOINTS + j) / max(length, TINY))
    return volume
