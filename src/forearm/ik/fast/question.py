"""What one question brings to the kernels: the target in the links' frames, attempts, and the way back."""

from __future__ import annotations

import math

import numpy as np

from forearm.ik.fast.descent import TWO_PI
from forearm.ik.fast.layout import (
    ATTEMPTS,
    BASE,
    BOUNDS,
    CENTER,
    END,
    EXTRA_ROWS,
    GOLDEN,
    HIGHEST,
    INNER_SQUARED,
    LOW,
    LOWEST,
    OUTER_SQUARED,
    POINT,
    SPAN,
    START,
    START_SHARE,
    TASK,
)
from forearm.kinematics.compiling import compiled
from forearm.kinematics.lanes import fma, get, get_lane, put, put_lane, where, whole_below
from forearm.kinematics.links import SLIDES


@compiled
def beyond_reach(n, table, target):
    """Whether the target (4x4, in the base) lies outside one of the reach bounds."""
    for k in range(n + BOUNDS, n + EXTRA_ROWS):
        u, v, w = table[k, POINT], table[k, POINT + 1], table[k, POINT + 2]
        squared = 0.0
        for row in range(3):
            reached = target[row, 0] * u + target[row, 1] * v + target[row, 2] * w + target[row, 3]
            squared += (reached - table[k, CENTER + row]) ** 2
        if squared > table[k, OUTER_SQUARED] or squared < table[k, INNER_SQUARED]:
            return True
    return False


@compiled
def fold_target(n, table, target, folded):
    """Write B⁻¹ · target · E⁻¹ into 12 slots: the rotation by rows, then the position."""
    base, end = n + BASE, n + END
    for row in range(3):
        b0, b1, b2 = table[base, row], table[base, 3 + row], table[base, 6 + row]
        m0 = b0 * target[0, 0] + b1 * target[1, 0] + b2 * target[2, 0]
        m1 = b0 * target[0, 1] + b1 * target[1, 1] + b2 * target[2, 1]
        m2 = b0 * target[0, 2] + b1 * target[1, 2] + b2 * target[2, 2]
        for column in range(3):
            e = 3 * column
            put(
                folded, 3 * row + column, m0 * table[end, e] + m1 * table[end, e + 1] + m2 * table[end, e + 2]
            )
        put(
            folded,
            9 + row,
            b0 * (target[0, 3] - table[base, 9])
            + b1 * (target[1, 3] - table[base, 10])
            + b2 * (target[2, 3] - table[base, 11]),
        )


@compiled
def clipped(value, low, high):
    return min(max(value, low), high)


@compiled
def start_elsewhere(n, table, q, lane, again, seed, which):
    """Put the lanes of ``which`` where their next attempts start.

    Attempt k = lane + 8 · again starts at START + SPAN · frac(k GOLDEN + 1/2), drawn towards the seed
    where answers near it are wanted.
    """
    share = table[n + TASK, START_SHARE]
    attempt = lane + ATTEMPTS * again
    for i in range(n):
        t = fma(attempt, table[i, GOLDEN], 0.5)
        value = fma(t - whole_below(t), table[i, SPAN], table[i, START])
        home = clipped(seed[i], table[i, LOWEST], table[i, HIGHEST])
        put(q, i, where(which, fma(value - home, share, home), get(q, i)))


@compiled
def start_at_seed(n, table, q, seed):
    """Attempt 0 starts at the seed, or as near as the limits let."""
    for i in range(n):
        put_lane(q, i, 0, clipped(seed[i], table[i, LOWEST], table[i, HIGHEST]))


@compiled
def inside(table, i, value, near):
    """A joint's value turned into its limits, as near to ``near`` as that allows."""
    if table[i, LOW] == -math.inf and table[i, SLIDES] == 0.0:
        low, high = table[i, LOWEST], table[i, HIGHEST]
        value -= TWO_PI * np.rint((value - near) / TWO_PI)
        if value > high:
            value -= TWO_PI * math.ceil((value - high) / TWO_PI)
        if value < low:
            value += TWO_PI * math.ceil((low - value) / TWO_PI)
        # In a range of just one turn, rounding may leave the value a hair outside.
        value = clipped(value, low, high)
    return value


@compiled
def write_answer(n, table, q, lane, seed, answer):
    """One lane's joint vector, into an array."""
    for i in range(n):
        answer[i] = inside(table, i, get_lane(q, i, lane), seed[i])


@compiled
def write_candidate(n, table, q, lane, seed, slots):
    """One lane's joint vector, into slots."""
    for i in range(n):
        put(slots, i, inside(table, i, get_lane(q, i, lane), seed[i]))
