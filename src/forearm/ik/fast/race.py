"""The race: eight attempts at one target side by side, the first to arrive wins.

An iteration on eight lanes costs little more than one on a float. Attempt 0 starts at the seed, the
others spread over the limits; an attempt that gets nowhere starts again elsewhere. Where the processor
has room for four or two only, the eight run in groups, in step, so that the same attempt wins.
"""

from __future__ import annotations

from forearm.ik.fast.descent import NEVER, damped_step, error_of, finish_columns, move, patience_after, walk
from forearm.ik.fast.layout import (
    ATTEMPTS,
    BUDGET,
    DAMPING,
    DAMPING_FLOOR,
    ENOUGH,
    EXTRA_ROWS,
    FIRST,
    KIND,
    MAX_JOINTS,
    MAX_STEP,
    METRES_PER_RADIAN,
    POSITION,
    POSITION_SQUARED,
    ROTATION_SQUARED,
    SETTINGS,
    TASK,
    WANTED,
)
from forearm.ik.fast.objective import cost_of
from forearm.ik.fast.question import (
    beyond_reach,
    fold_target,
    start_at_seed,
    start_elsewhere,
    write_answer,
    write_candidate,
)
from forearm.kinematics.compiling import lean
from forearm.kinematics.lanes import (
    get,
    lane_count,
    lane_numbers,
    lanes,
    mask_bits,
    put,
    slots_from,
    stack,
    where,
)

HALF_TURN = -1.0 + 1e-8
"""Cosine of a rotation below which the chord's direction is not to be trusted."""


@lean
def race(one, table, target, seed, answer):
    """Write a joint vector into ``answer``; the type of ``one`` says how many lanes run side by side.

    Returns the iterations taken, 0 if the target is beyond reach, or minus those spent in vain. Where
    not the first but the best is wanted, attempts start again until ``ENOUGH`` have arrived or the
    budget is spent.
    """
    n = table.shape[0] - EXTRA_ROWS
    given = stack(12, 1.0)
    for k in range(12):
        put(given, k, target[k // 4, k % 4])
    if beyond_reach(n, table, given):
        return 0
    width = lane_count(one)
    groups = ATTEMPTS // width
    numbers = lane_numbers(one)
    zero = one * 0.0
    # Slots for eight lanes, whatever the width of one.
    q_all, state = stack(4 * 32, one), stack(4 * 4, one)
    step, columns, goal, folded = stack(32, one), stack(6 * 32, one), stack(12, one), stack(12, 1.0)
    found, best = stack(32, 1.0), NEVER
    fold_target(n, table, given, folded)
    for k in range(12):
        put(goal, k, get(folded, k))

    settings, asked = n + SETTINGS, n + TASK
    task, lever = table[asked, KIND], table[settings, METRES_PER_RADIAN]
    near, turned = table[asked, POSITION_SQUARED], table[asked, ROTATION_SQUARED]
    least_cosine = -2.0 if task == POSITION else HALF_TURN
    budget, wanted, missing = int(table[asked, BUDGET]), int(table[asked, WANTED]), int(table[asked, ENOUGH])

    for group in range(groups):
        q = slots_from(q_all, group * MAX_JOINTS)
        start_elsewhere(n, table, q, numbers + group * width, zero, seed, numbers >= 0.0)
        put(state, 4 * group, zero)
        put(state, 4 * group + 1, zero)
        put(state, 4 * group + 2, zero + NEVER)
        put(state, 4 * group + 3, zero)
    start_at_seed(n, table, q_all, seed)

    for iteration in range(1, budget + 1):
        for group in range(groups):
            q = slots_from(q_all, group * MAX_JOINTS)
            tip = walk(n, table, q, columns)
            e0, e1, e2, e3, e4, e5, cosine = error_of(task, lever, goal, tip)
            metres = e0 * e0 + e1 * e1 + e2 * e2
            chord = e3 * e3 + e4 * e4 + e5 * e5
            arrived = (metres <= near) & (chord <= turned) & (cosine > least_cosine)
            bits = mask_bits(arrived)
            if bits != 0:
                for lane in range(width):
                    if (bits >> lane) & 1:
                        if wanted == FIRST:
                            write_answer(n, table, q, lane, seed, answer)
                            return iteration
                        write_candidate(n, table, wanted, q, lane, seed, found)
                        cost = cost_of(n, table, wanted, found, seed)
                        if cost < best:
                            best = cost
                            for i in range(n):
                                answer[i] = get(found, i)
                        missing -= 1
                if missing <= 0:
                    return iteration

            error = metres + chord
            age, patience, before, lost = patience_after(
                table,
                settings,
                error,
                arrived,
                get(state, 4 * group),
                get(state, 4 * group + 1),
                get(state, 4 * group + 2),
            )
            damping = table[settings, DAMPING] * error + table[settings, DAMPING_FLOOR]
            finish_columns(n, table, task, lever, q, columns, tip, e0, e1, e2, e3, e4, e5)
            largest = damped_step(n, columns, step, damping, e0, e1, e2, e3, e4, e5)
            move(n, table, q, step, largest, table[settings, MAX_STEP])
            if mask_bits(lost) != 0:
                again = where(lost, get(state, 4 * group + 3) + 1.0, get(state, 4 * group + 3))
                put(state, 4 * group + 3, again)
                start_elsewhere(n, table, q, numbers + group * width, again, seed, lost)
            put(state, 4 * group, age)
            put(state, 4 * group + 1, patience)
            put(state, 4 * group + 2, before)
    return budget if best < NEVER else -budget


@lean
def race_in_8(table, target, seed, answer):
    return race(lanes(8, 1.0), table, target, seed, answer)


@lean
def race_in_4(table, target, seed, answer):
    return race(lanes(4, 1.0), table, target, seed, answer)


@lean
def race_in_2(table, target, seed, answer):
    return race(lanes(2, 1.0), table, target, seed, answer)


RACES = {2: race_in_2, 4: race_in_4, 8: race_in_8}


@lean
def direct(one, table, target, seed, answer):
    """The race on arrays that lie in memory as they like; their sizes are all that is checked."""
    n = table.shape[0] - EXTRA_ROWS
    if target.shape[0] < 3 or target.shape[1] < 4 or seed.shape[0] != n or answer.shape[0] != n:
        raise ValueError("the target must be (4, 4), the seed and the answer one number a joint")
    return race(one, table, target, seed, answer)


@lean
def direct_in_8(table, target, seed, answer):
    return direct(lanes(8, 1.0), table, target, seed, answer)


@lean
def direct_in_4(table, target, seed, answer):
    return direct(lanes(4, 1.0), table, target, seed, answer)


@lean
def direct_in_2(table, target, seed, answer):
    return direct(lanes(2, 1.0), table, target, seed, answer)


DIRECTS = {2: direct_in_2, 4: direct_in_4, 8: direct_in_8}
