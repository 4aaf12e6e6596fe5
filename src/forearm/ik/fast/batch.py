"""The batch: many targets, one a lane; a lane that is done takes the next.

A problem's way depends on itself alone, not on its neighbours, its lane or the width of the register:
the answers are the same however the batch is cut up and wherever it runs.
"""

from __future__ import annotations

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
from forearm.kinematics.compiling import lean
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
# Entries of a shelf's counts: how many places of it are taken, and how many of these are used up.
TAKEN, USED = range(2)


@lean
def batch(one, table, targets, seeds, answers, iterations, counter):
    """Solve the problems that ``counter`` hands out; the type of ``one`` says how many run side by side.

    Several threads may share the counter: each takes a shelf of problems when it has room. Writes each
    answer and its count: the steps taken, 0 if the target is beyond reach, or minus those spent in vain.
    """
    n = table.shape[0] - EXTRA_ROWS
    width = lane_count(one)
    zero = one * 0.0
    q, step, columns, goal = stack(32, one), stack(32, one), stack(6 * 32, one), stack(12, one)
    target, goals, starts, state = stack(12, one), stack(12, one), stack(32, one), stack(2, one)
    found, near_to = stack(32, one), stack(32, one)
    problems, spent = stack(8, 1.0), stack(8, 1.0)
    waiting, waiting_counts, solved, solved_counts = (
        stack(8, 1.0),
        stack(2, 1.0),
        stack(8, 1.0),
        stack(2, 1.0),
    )

    settings, asked = n + SETTINGS, n + TASK
    task, lever = table[asked, KIND], table[settings, METRES_PER_RADIAN]
    near, turned = table[asked, POSITION_SQUARED], table[asked, ROTATION_SQUARED]
    least_cosine = -2.0 if task == POSITION else HALF_TURN
    # As many steps as the race takes with its eight attempts.
    budget = int(table[asked, BUDGET]) * ATTEMPTS

    for i in range(n):
        put(q, i, zero)
        put(found, i, zero)
        put(near_to, i, zero)
    for k in range(12):
        put(goal, k, zero)
        put(target, k, zero)
    age, patience, before = zero, zero, zero + NEVER
    put(state, ATTEMPT, zero)
    for counts in (waiting_counts, solved_counts):
        put(counts, TAKEN, 0.0)
        put(counts, USED, 0.0)
    busy = 0
    for lane in range(width):
        problem = take_next(
            n, table, targets, seeds, iterations, counter, lane, target, goals, starts, waiting,
            waiting_counts, goal, q,
        )  # fmt: skip
        put(problems, lane, problem)
        put(spent, lane, 0.0)
        busy += problem != IDLE
    while busy > 0:
        tip = walk(n, table, q, columns)
        e0, e1, e2, e3, e4, e5, cosine = error_of(task, lever, goal, tip)
        metres = e0 * e0 + e1 * e1 + e2 * e2
        chord = e3 * e3 + e4 * e4 + e5 * e5
        arrived = (metres <= near) & (chord <= turned) & (cosine > least_cosine)
        arrivals = mask_bits(arrived)
        if arrivals != 0:
            for lane in range(width):
                problem = int(get(problems, lane))
                if (arrivals >> lane) & 1 and problem != IDLE:
                    shelve(n, table, seeds, answers, problem, lane, q, found, near_to, solved, solved_counts)
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
            problem = int(get(problems, lane))
            if not (ended >> lane) & 1 or problem == IDLE:
                continue
            arrives = (arrivals >> lane) & 1
            steps = get(spent, lane) + get_lane(state, STEPS, lane)
            put(spent, lane, steps)
            if arrives or steps >= budget:
                iterations[problem] = int(steps) if arrives else -int(steps)
                problem = take_next(
                    n, table, targets, seeds, iterations, counter, lane, target, goals, starts, waiting,
                    waiting_counts, goal, q,
                )  # fmt: skip
                put(problems, lane, problem)
                put(spent, lane, 0.0)
                put_lane(state, ATTEMPT, lane, 0.0)
                busy -= problem == IDLE
    write_found(n, table, answers, found, near_to, solved, solved_counts)


@lean
def take_next(
    n, table, targets, seeds, iterations, counter, lane, target, goals, starts, waiting, counts, goal, q
):
    """Put the next problem within reach into the lane; returns its number, or ``IDLE`` if there is none."""
    while True:
        if get(counts, USED) == get(counts, TAKEN) and not fetch(
            n, table, targets, seeds, iterations, counter, target, goals, starts, waiting, counts
        ):
            return IDLE
        place = int(get(counts, USED))
        put(counts, USED, place + 1)
        problem = int(get(waiting, place))
        if problem == IDLE:
            continue
        for k in range(12):
            put_lane(goal, k, lane, get_lane(goals, k, place))
        for i in range(n):
            put_lane(q, i, lane, get_lane(starts, i, place))
        return problem


@lean
def fetch(n, table, targets, seeds, iterations, counter, target, goals, starts, waiting, counts):
    """Fill the shelf: as many problems as there are lanes, folded side by side. False if none is left.

    One that is beyond reach is answered here, and its place says ``IDLE``.
    """
    width = lane_count(get(target, 0))
    first = add_and_fetch_before(counter, width)
    taken = min(width, targets.shape[0] - first)
    if taken <= 0:
        return False
    for place in range(taken):
        for k in range(12):
            put_lane(target, k, place, targets[first + place, k // 4, k % 4])
        for i in range(n):
            put_lane(starts, i, place, seeds[first + place, i])
    fold_target(n, table, target, goals)
    for i in range(n):
        put(starts, i, clipped(get(starts, i), table[i, LOWEST], table[i, HIGHEST]))
    beyond = mask_bits(beyond_reach(n, table, target))
    for place in range(taken):
        put(waiting, place, first + place)
        if (beyond >> place) & 1:
            iterations[first + place] = 0
            put(waiting, place, IDLE)
    put(counts, TAKEN, taken)
    put(counts, USED, 0)
    return True


@lean
def shelve(n, table, seeds, answers, problem, lane, q, found, near_to, solved, counts):
    """Put the lane's answer on the shelf of those to be written; write them all when it is full."""
    place = int(get(counts, TAKEN))
    for i in range(n):
        put_lane(found, i, place, get_lane(q, i, lane))
        put_lane(near_to, i, place, seeds[problem, i])
    put(solved, place, problem)
    put(counts, TAKEN, place + 1)
    if place + 1 == lane_count(get(q, 0)):
        write_found(n, table, answers, found, near_to, solved, counts)


@lean
def write_found(n, table, answers, found, near_to, solved, counts):
    """Turn the shelf's answers into the limits, near to their seeds, and write them."""
    for i in range(n):
        put(found, i, inside(table, i, get(found, i), get(near_to, i)))
    for place in range(int(get(counts, TAKEN))):
        problem = int(get(solved, place))
        for i in range(n):
            answers[problem, i] = get_lane(found, i, place)
    put(counts, TAKEN, 0)


@lean
def start_again(n, table, q, attempt, which):
    """Put the lanes of ``which`` where their next attempts start: START + SPAN · frac(k GOLDEN + 1/2)."""
    for i in range(n):
        t = fma(attempt, table[i, GOLDEN], 0.5)
        put(q, i, where(which, fma(t - whole_below(t), table[i, SPAN], table[i, START]), get(q, i)))


@lean
def batch_in_8(table, targets, seeds, answers, iterations, counter):
    batch(lanes(8, 1.0), table, targets, seeds, answers, iterations, counter)


@lean
def batch_in_4(table, targets, seeds, answers, iterations, counter):
    batch(lanes(4, 1.0), table, targets, seeds, answers, iterations, counter)


@lean
def batch_in_2(table, targets, seeds, answers, iterations, counter):
    batch(lanes(2, 1.0), table, targets, seeds, answers, iterations, counter)


BATCHES = {2: batch_in_2, 4: batch_in_4, 8: batch_in_8}
