"""The gate's arithmetic for batches: eight answers replayed side by side."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

from numba import types

from forearm.ik.problem import LIMIT_TOLERANCE
from forearm.kinematics.compiling import compiled_for, filled, given, lean
from forearm.kinematics.lanes import (
    add_and_fetch_before,
    fma,
    get,
    get_lane,
    lane_count,
    lanes,
    natural_width,
    put,
    put_lane,
    square_root,
    stack,
)
from forearm.kinematics.reach import first_passed
from forearm.kinematics.screws_lanes import replay_lanes

SOLVED, UNREACHABLE, NOT_FOUND = range(3)
"""Places in ``list(Status)``."""
SHARE = 64
"""Answers that a thread takes at a time."""
# Slots of what a replay finds.
DISTANCE, SINE, COSINE = range(3)


@lean
def judge_batch(
    one,
    screws,
    limits,
    bounds,
    targets,
    axis_in_tip,
    tolerances,
    answers,
    iterations,
    codes,
    errors,
    counter,
):
    """Judge the answers that ``counter`` hands out, and look for the proof where there is none.

    ``tolerances`` are metres, radians, and whether the rotation is free. An answer whose iterations are
    not above 0 is none, and becomes NaN like those that fail.
    """
    width, n = lane_count(one), answers.shape[1]
    q, goal, found = stack(32, one), stack(12, one), stack(3, one)
    free = tolerances[2] != 0.0
    while True:
        begin = add_and_fetch_before(counter, SHARE)
        if begin >= answers.shape[0]:
            return
        end = min(begin + SHARE, answers.shape[0])
        for first in range(begin, end, width):
            for lane in range(width):
                k = min(first + lane, end - 1)
                for i in range(n):
                    put_lane(q, i, lane, answers[k, i])
                for j in range(12):
                    put_lane(goal, j, lane, targets[k, j // 4, j % 4])
            compare(screws, q, goal, axis_in_tip, found)
            for k in range(first, min(first + width, end)):
                lane = k - first
                distance = get_lane(found, DISTANCE, lane)
                angle = math.atan2(get_lane(found, SINE, lane), get_lane(found, COSINE, lane))
                # Written so that what is not a number fails.
                near = distance <= tolerances[0] and (free or angle <= tolerances[1])
                if iterations[k] > 0 and near and within(limits, answers, k):
                    codes[k] = SOLVED
                    errors[k, 0], errors[k, 1] = distance, math.nan if free else angle
                else:
                    passed, _ = first_passed(bounds, targets[k], tolerances[0], tolerances[1])
                    codes[k] = UNREACHABLE if passed >= 0 else NOT_FOUND
                    errors[k, 0], errors[k, 1] = math.nan, math.nan
                    for i in range(n):
                        answers[k, i] = math.nan


@lean
def compare(screws, q, goal, axis_in_tip, found):
    """Replay, and write the distance to the goal and the sine and cosine of the angle to it."""
    xx, yx, zx, px, xy, yy, zy, py, xz, yz, zz, pz = replay_lanes(screws, q)
    dx, dy, dz = get(goal, 3) - px, get(goal, 7) - py, get(goal, 11) - pz
    put(found, DISTANCE, square_root(dx * dx + dy * dy + dz * dz))
    a, b, c = axis_in_tip[0], axis_in_tip[1], axis_in_tip[2]
    if a != 0.0 or b != 0.0 or c != 0.0:
        ux, uy, uz = dot(xx, yx, zx, a, b, c), dot(xy, yy, zy, a, b, c), dot(xz, yz, zz, a, b, c)
        vx = dot(get(goal, 0), get(goal, 1), get(goal, 2), a, b, c)
        vy = dot(get(goal, 4), get(goal, 5), get(goal, 6), a, b, c)
        vz = dot(get(goal, 8), get(goal, 9), get(goal, 10), a, b, c)
        wx, wy, wz = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
        put(found, SINE, square_root(wx * wx + wy * wy + wz * wz))
        put(found, COSINE, dot(ux, uy, uz, vx, vy, vz))
        return
    # The entries of goal · tipᵀ that the angle needs.
    gx, gy, gz = get(goal, 0), get(goal, 1), get(goal, 2)
    hx, hy, hz = get(goal, 4), get(goal, 5), get(goal, 6)
    kx, ky, kz = get(goal, 8), get(goal, 9), get(goal, 10)
    wx = dot(kx, ky, kz, xy, yy, zy) - dot(hx, hy, hz, xz, yz, zz)
    wy = dot(gx, gy, gz, xz, yz, zz) - dot(kx, ky, kz, xx, yx, zx)
    wz = dot(hx, hy, hz, xx, yx, zx) - dot(gx, gy, gz, xy, yy, zy)
    trace = dot(gx, gy, gz, xx, yx, zx) + dot(hx, hy, hz, xy, yy, zy) + dot(kx, ky, kz, xz, yz, zz)
    put(found, SINE, 0.5 * square_root(wx * wx + wy * wy + wz * wz))
    put(found, COSINE, 0.5 * (trace - 1.0))


@lean
def dot(a, b, c, x, y, z):
    return fma(a, x, fma(b, y, c * z))


@lean
def within(limits, answers, k):
    """Whether answer ``k`` is inside the limits."""
    inside = True
    for i in range(answers.shape[1]):
        inside &= limits[0, i] - answers[k, i] <= LIMIT_TOLERANCE
        inside &= answers[k, i] - limits[1, i] <= LIMIT_TOLERANCE
    return inside


@lean
def judge_in_8(
    screws, limits, bounds, targets, axis_in_tip, tolerances, answers, steps, codes, errors, counter
):
    one = lanes(8, 1.0)
    judge_batch(
        one, screws, limits, bounds, targets, axis_in_tip, tolerances, answers, steps, codes, errors, counter
    )


@lean
def judge_in_4(
    screws, limits, bounds, targets, axis_in_tip, tolerances, answers, steps, codes, errors, counter
):
    one = lanes(4, 1.0)
    judge_batch(
        one, screws, limits, bounds, targets, axis_in_tip, tolerances, answers, steps, codes, errors, counter
    )


@lean
def judge_in_2(
    screws, limits, bounds, targets, axis_in_tip, tolerances, answers, steps, codes, errors, counter
):
    one = lanes(2, 1.0)
    judge_batch(
        one, screws, limits, bounds, targets, axis_in_tip, tolerances, answers, steps, codes, errors, counter
    )


JUDGES = {2: judge_in_2, 4: judge_in_4, 8: judge_in_8}


@lru_cache(maxsize=1)
def judge_kernel() -> Any:
    """``judge_batch`` for this processor's width."""
    whole = filled(1, types.int64)
    signature = types.void(
        given(2), given(2), given(2), given(3), given(1), given(1), filled(2), whole, whole, filled(2), whole
    )
    return compiled_for(JUDGES[natural_width()], signature)
