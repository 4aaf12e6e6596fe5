"""What makes one answer better than another, where the best is wanted; less is better."""

from __future__ import annotations

import math

import numpy as np

from forearm.ik.fast.descent import finish_columns, walk
from forearm.ik.fast.layout import (
    HIGHEST,
    KIND,
    LOWEST,
    MANIPULABILITY,
    MARGIN,
    NEAR_POSTURE,
    POSE,
    POSITION,
    POSTURE,
    TASK,
    WEIGHT,
)
from forearm.kinematics.compiling import compiled
from forearm.kinematics.lanes import get, stack


@compiled
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


@compiled
def margin_share(n, table, q):
    """The least distance of a joint to its nearer limit, as a share of its range; 1 without limits."""
    least = 1.0
    for i in range(n):
        low, high = table[i, LOWEST], table[i, HIGHEST]
        if low < high < math.inf and low > -math.inf:
            least = min(least, min(get(q, i) - low, high - get(q, i)) / (high - low))
    return least


@compiled
def manipulability(n, table, q):
    """sqrt(det(J Jᵀ)): the product of the lengths that Gram's and Schmidt's vectors have."""
    columns = stack(192, 1.0)
    tip = walk(n, table, q, columns)
    finish_columns(n, table, POSE, 1.0, q, columns, tip, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    rows = 3 if table[n + TASK, KIND] == POSITION else 6
    wide = n >= rows
    vectors = np.empty((rows, n) if wide else (n, rows))
    for i in range(n):
        for row in range(rows):
            if wide:
                vectors[row, i] = get(columns, 6 * i + row)
            else:
                vectors[i, row] = get(columns, 6 * i + row)
    volume = 1.0
    for k in range(vectors.shape[0]):
        for other in range(k):
            vectors[k] -= np.sum(vectors[k] * vectors[other]) * vectors[other]
        length = math.sqrt(np.sum(vectors[k] ** 2))
        volume *= length
        if length > 0.0:
            vectors[k] /= length
    return volume
