"""What one question brings to the kernels: the target in the links' frames, attempts, and the way back."""

from __future__ import annotations

import math

from forearm.ik.fast.descent import TWO_PI
from forearm.ik.fast.layout import (
    ATTEMPTS,
    BASE,
    BOUNDS,
    CENTER,
    END,
    GOLDEN,
    HIGHEST,
    INNER_SQUARED,
    LOW,
    LOWEST,
    MARGIN,
    NEAR_POSTURE,
    OUTER_SQUARED,
    POINT,
    POSTURE,
    SPAN,
    START,
    START_SHARE,
    TASK,
)
from forearm.kinematics.compiling import lean
from forearm.kinematics.lanes import (
    fma,
    get,
    get_lane,
    larger,
    nearest_whole,
    put,
    put_lane,
    smaller,
    where,
    whole_below,
)
from forearm.kinematics.links import SLIDES

TURNS = 1.0 / TWO_PI
"""Turns a radian."""


@lean
def beyond_reach(n, table, target):
    """Whether the target (12 slots: the upper rows of its matrix) lies outside either reach bound."""
    return outside_bound(table, n + BOUNDS, target) | outside_bound(table, n + BOUNDS + 1, target)


@lean
def outside_bound(table, k, target):
    u, v, w = table[k, POINT], table[k, POINT + 1], table[k, POINT + 2]
    x = row_times(target, 0, u, v, w) - table[k, CENTER]
    y = row_times(target, 1, u, v, w) - table[k, CENTER + 1]
    z = row_times(target, 2, u, v, w) - table[k, CENTER + 2]
    squared = x * x + y * y + z * z
    return (squared > table[k, OUTER_SQUARED]) | (squared < table[k, INNER_SQUARED])


@lean
def row_times(target, row, x, y, z):
    """One coordinate of the point (x, y, z) of the target's frame, in the base."""
    k = 4 * row
    return get(target, k) * x + get(target, k + 1) * y + get(target, k + 2) * z + get(target, k + 3)


@lean
def fold_target(n, table, target, folded):
    """Write B⁻¹ · target · E⁻¹ into 12 slots: the rotation by rows, then the position."""
    base, end = n + BASE, n + END
    px, py, pz = table[base, 9], table[base, 10], table[base, 11]
    for row in range(3):
        b0, b1, b2 = table[base, row], table[base, 3 + row], table[base, 6 + row]
        m0 = b0 * get(target, 0) + b1 * get(target, 4) + b2 * get(target, 8)
        m1 = b0 * get(target, 1) + b1 * get(target, 5) + b2 * get(target, 9)
        m2 = b0 * get(target, 2) + b1 * get(target, 6) + b2 * get(target, 10)
        for column in range(3):
            e0, e1, e2 = table[end, 3 * column], table[end, 3 * column + 1], table[end, 3 * column + 2]
            put(folded, 3 * row + column, m0 * e0 + m1 * e1 + m2 * e2)
        moved = b0 * (get(target, 3) - px) + b1 * (get(target, 7) - py) + b2 * (get(target, 11) - pz)
        put(folded, 9 + row, moved)


@lean
def clipped(value, low, high):
    return smaller(larger(value, low), high)


@lean
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


@lean
def start_at_seed(n, table, q, seed):
    """Attempt 0 starts at the seed, or as near as the limits let."""
    for i in range(n):
        put_lane(q, i, 0, clipped(seed[i], table[i, LOWEST], table[i, HIGHEST]))


@lean
def inside(table, i, value, near):
    """A joint's value turned into its limits, as near to ``near`` as that allows."""
    if table[i, LOW] == -math.inf and table[i, SLIDES] == 0.0:
        low, high = table[i, LOWEST], table[i, HIGHEST]
        value = value - TWO_PI * nearest_whole((value - near) * TURNS)
        value = value + TWO_PI * smaller(whole_below((high - value) * TURNS), 0.0)
        value = value - TWO_PI * smaller(whole_below((value - low) * TURNS), 0.0)
        # In a range of just one turn, rounding may leave the value a hair outside.
        value = clipped(value, low, high)
    return value


@lean
def write_answer(n, table, q, lane, seed, answer):
    """One lane's joint vector, into an array."""
    for i in range(n):
        answer[i] = inside(table, i, get_lane(q, i, lane), seed[i])


@lean
def write_candidate(n, table, wanted, q, lane, seed, slots):
    """One lane's joint vector, into slots, at the full turns that suit what is wanted best."""
    for i in range(n):
        near = seed[i]
        low, high = table[i, LOWEST], table[i, HIGHEST]
        if wanted == MARGIN and low > -math.inf and high < math.inf:
            near = 0.5 * (low + high)
        elif wanted == NEAR_POSTURE:
            near = table[i, POSTURE]
        put(slots, i, inside(table, i, get_lane(q, i, lane), near))
