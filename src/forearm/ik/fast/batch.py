"""The batch: many targets, one a lane; a lane that is done takes the next.

A problem's way depends on itself alone, not on its neighbours, its lane or the width of the register:
the answers are the same however the batch is cut up and wherever it runs.
"""

from __future__ import annotations

import numpy as np

from forearm.ik.fast.descent import NEVER, damped_step, error_of, finish_columns, move, patience_after, walk
from forearm.ik.fast.layout import (
    ATTEMPTS,
    BUDGET,
    DAMPING,
    DAMPING_FLOOR,
    EXTRA_ROWS,
    GOLDEN,
    HIGHEST,
    KIND,
    LOWEST,
    MAX_STEP,
    METRES_PER_RADIAN,
    POSITION,
    POSITION_SQUARED,
    ROTATION_SQUARED,
    SETTINGS,
    SPAN,
    START,
    TASK,
)
from forearm.ik.fast.question import beyond_reach, clipped, fold_target, inside
from forearm.ik.fast.race import HALF_TURN
from forearm.kinematics.compiling import compiled
from forearm.kinematics.lanes import (
    add_and_fetch_before,
    fma,
    get,
    get_lane,
    lane_count,
    lanes,
    mask_bits,
    put,
    put_lane,
    stack,
    where,
    whole_below,
)

IDLE = -1
# Slots of the lanes' state.
ATTEMPT, STEPS = range(2)


@compiled
def batch(one, table, targets, seeds, answers, iterations, counter):
    """Solve the problems that ``counter`` hands out; the type of ``one`` says how many run side by side.

    Several threads may share the counter: each takes the next problem when it has room. Writes each
    answer and its count: the steps taken, 0 if the target is beyond reach, or minus those spent in vain.
    """
    n = table.shape[0] - EXTRA_ROWS
    width = lane_count(one)
    zero = one * 0.0
    q, step, columns, goal = stack(32, one), stack(32, one), stack(6 * 32, one), stack(12, one)
    target, folded, state = stack(12, 1.0), stack(12, 1.0), stack(2, one)
    problems, spent = np.full(8, IDLE), np.zeros(8, np.int64)

    settings, asked = n + SETTINGS, n + TASK
    task, lever = table[asked, KIND], table[settings, METRES_PER_RADIAN]
    near, turned = table[asked, POSITION_SQUARED], table[asked, ROTATION_SQUARED]
    least_cosine = -2.0 if task == POSITION else HALF_TURN
    # As many steps as the race takes with its eight attempts.
    budget = int(table[asked, BUDGET]) * ATTEMPTS

    for i in range(n):
        put(q, i, zero)
    for k in range(12):
        put(goal, k, zero)
    age, patience, before = zero, zero, zero + NEVER
    put(state, ATTEMPT, zero)
    busy = 0
    for lane in range(width):
        problems[lane] = take_next(
            n, table, targets, seeds, iterations, counter, lane, target, folded, goal, q
        )
        busy += problems[lane] != IDLE
    while busy > 0:
        tip = walk(n, table, q, columns)
        e0, e1, e2, e3, e4, e5, cosine = error_of(task, lever, goal, tip)
        metres = e0 * e0 + e1 * e1 + e2 * e2
        chord = e3 * e3 + e4 * e4 + e5 * e5
        arrived = (metres <= near) & (chord <= turned) & (cosine > least_cosine)
        arrivals = mask_bits(arrived)
        if arrivals != 0:
            for lane in range(width):
                problem = problems[lane]
                if (arrivals >> lane) & 1 and problem != IDLE:
                    for i in range(n):
                        answers[problem, i] = inside(table, i, get_lane(q, i, lane), seeds[problem, i])
        error = metres + chord
        put(state, STEPS, age + 1.0)
        age, patience, before, lost = patience_after(table, settings, error, arrived, age, patience, before)
        damping = table[settings, DAMPING] * error + table[settings, DAMPING_FLOOR]
        finish_columns(n, table, task, lever, q, columns, tip, e0, e1, e2, e3, e4, e5)
        largest = damped_step(n, columns, step, damping, e0, e1, e2, e3, e4, e5)
        move(n, table, q, step, largest, table[settings, MAX_STEP])
        ended = mask_bits(lost)
        if ended == 0:
            continue
        attempt = where(lost, get(state, ATTEMPT) + 1.0, get(state, ATTEMPT))
        put(state, ATTEMPT, attempt)
        start_again(n, table, q, attempt, lost)
        for lane in range(width):
            if not (ended >> lane) & 1 or problems[lane] == IDLE:
                continue
            spent[lane] += int(get_lane(state, STEPS, lane))
            solved = (arrivals >> lane) & 1
            if solved or spent[lane] >= budget:
                iterations[problems[lane]] = spent[lane] if solved else -spent[lane]
                spent[lane] = 0
                put_lane(state, ATTEMPT, lane, 0.0)
                problems[lane] = take_next(
                    n, table, targets, seeds, iterations, counter, lane, target, folded, goal, q
                )
                busy -= problems[lane] == IDLE


@compiled
def take_next(n, table, targets, seeds, iterations, counter, lane, target, folded, goal, q):
    """Put the next problem within reach into the lane; returns its number, or ``IDLE`` if there is none."""
    while True:
        problem = add_and_fetch_before(counter, 1)
        if problem >= targets.shape[0]:
            return IDLE
        for k in range(12):
            put(target, k, targets[problem, k // 4, k % 4])
        if beyond_reach(n, table, target):
            iterations[problem] = 0
            continue
        fold_target(n, table, target, folded)
        for k in range(12):
            put_lane(goal, k, lane, get(folded, k))
        for i in range(n):
            put_lane(q, i, lane, clipped(seeds[problem, i], table[i, LOWEST], table[i, HIGHEST]))
        return problem


@compiled
def start_again(n, table, q, attempt, which):
    """Put the lanes of ``which`` where their next attempts start: START + SPAN · frac(k GOLDEN + 1/2)."""
    for i in range(n):
        t = fma(attempt, table[i, GOLDEN], 0.5)
        put(q, i, where(which, fma(t - whole_below(t), table[i, SPAN], table[i, START]), get(q, i)))


@compiled
def batch_in_8(table, targets, seeds, answers, iterations, counter):
    batch(lanes(8, 1.0), table, targets, seeds, answers, iterations, counter)


@compiled
def batch_in_4(table, targets, seeds, answers, iterations, counter):
    batch(lanes(4, 1.0), table, targets, seeds, answers, iterations, counter)


@compiled
def batch_in_2(table, targets, seeds, answers, iterations, counter):
    batch(lanes(2, 1.0), table, targets, seeds, answers, iterations, counter)


BATCHES = {2: batch_in_2, 4: batch_in_4, 8: batch_in_8}
