"""Tracking: from the last joint vector to the next pose, never farther than the joints may move in a step."""

from __future__ import annotations

import math

from forearm.ik.fast.descent import NEVER, damped_step, error_of, finish_columns, move, walk
from forearm.ik.fast.layout import (
    AXIS,
    DAMPING,
    DAMPING_FLOOR,
    EXTRA_ROWS,
    HIGH,
    HIGHEST,
    KIND,
    LOW,
    LOWEST,
    MAX_STEP,
    METRES_PER_RADIAN,
    POSE,
    POSITION,
    POSITION_SQUARED,
    ROTATION_SQUARED,
    SETTINGS,
    TASK,
)
from forearm.ik.fast.question import clipped, fold_target
from forearm.ik.fast.race import HALF_TURN
from forearm.kinematics.compiling import lean
from forearm.kinematics.lanes import get, put, stack

ROUNDS = 16
"""Iterations for one pose; a smooth path takes two or three."""
MOST_IN_VAIN = 4
"""Iterations in vain, one after the other, after which the answer is what it is."""
STIFFER = 30.0
"""By how much the damping grows after a step that led away."""
GAIN = 0.98
"""An iteration that leaves more than this of |e|² is in vain."""
ZONE = 0.15
"""Share of a joint's range, at either end, in which arms with joints to spare move it inward."""
PUSH = 0.1
"""By what share of its depth there, in a step."""
ROOM_DAMPING = 1e-8


@lean
def track(table, most, targets, state, answers, iterations, crossed):
    """Follow ``targets`` (N, 4, 4); each answer is where the next step begins.

    ``state`` is the joint vector to begin from, the last step, the side of the singularities (see
    ``side_of``), and whether the last pose was reached; it ends as the last of each. Where the arm has no
    joints to spare each step begins as the one before it went, which carries it through singularities.
    Where it has, it would never come to rest; instead what is to spare keeps joints off their limits.

    ``most`` is how far each joint may move in a step. ``table`` is the tracker's own: the limits that the
    descent is held in are narrowed to that, step by step. Writes each answer, the iterations (minus them
    where the pose is not reached; the answer is then as near as the step allows), and whether the arm changed
    sides.
    """
    n = table.shape[0] - EXTRA_ROWS
    q, best, step, columns = stack(32, 1.0), stack(32, 1.0), stack(32, 1.0), stack(192, 1.0)
    target, goal = stack(12, 1.0), stack(12, 1.0)
    task = table[n + TASK, KIND]
    keeps_going = 1.0 if n == 6 and task == POSE else 0.0
    spare = n > (6 if task == POSE else 5 if task == AXIS else 3)
    for k in range(targets.shape[0]):
        for j in range(12):
            put(target, j, targets[k, j // 4, j % 4])
        fold_target(n, table, target, goal)
        for i in range(n):
            table[i, LOW] = max(state[i] - most[i], table[i, LOWEST])
            table[i, HIGH] = min(state[i] + most[i], table[i, HIGHEST])
            put(q, i, clipped(state[i] + keeps_going * state[n + i], table[i, LOW], table[i, HIGH]))
        # Not while the pose is out of reach: then every joint is where it is needed.
        if spare and state[2 * n + 1] != 0.0:
            make_room(n, table, q, best, step, columns)
        iterations[k] = descend(n, table, goal, q, best, step, columns)
        for i in range(n):
            answers[k, i] = get(best, i)
            state[n + i] = get(best, i) - state[i] if iterations[k] > 0 else 0.0
            state[i] = get(best, i)
        side = side_of(n, table, best, columns)
        crossed[k] = side * state[2 * n] < 0.0
        state[2 * n], state[2 * n + 1] = side, iterations[k] > 0


@lean
def descend(n, table, goal, q, best, step, columns):
    """Damped steps from ``q``; leaves the nearest in ``best``. Iterations, or minus them if in vain.

    Where a step is cut off by the box it may lead away from the pose. The next then starts from the
    nearest again with a damping so much larger that it is shorter, and bends towards the gradient, which
    no box turns around.
    """
    settings, asked = n + SETTINGS, n + TASK
    task, lever = table[asked, KIND], table[settings, METRES_PER_RADIAN]
    near, turned = table[asked, POSITION_SQUARED], table[asked, ROTATION_SQUARED]
    least_cosine = -2.0 if task == POSITION else HALF_TURN
    least, vain, stiffness = NEVER, 0, 1.0
    for count in range(1, ROUNDS + 1):
        tip = walk(n, table, q, columns)
        e0, e1, e2, e3, e4, e5, cosine = error_of(task, lever, goal, tip)
        metres = e0 * e0 + e1 * e1 + e2 * e2
        chord = e3 * e3 + e4 * e4 + e5 * e5
        error = metres + chord
        if metres <= near and chord <= turned and cosine > least_cosine:
            copy(n, q, best)
            return count
        if error > GAIN * least:
            vain += 1
            if vain > MOST_IN_VAIN:
                return -count
            if error > least:
                copy(n, best, q)
                stiffness *= STIFFER
                tip = walk(n, table, q, columns)
                e0, e1, e2, e3, e4, e5, cosine = error_of(task, lever, goal, tip)
                error = least
        else:
            vain = 0
        if error < least:
            least = error
            copy(n, q, best)
        damping = stiffness * table[settings, DAMPING] * error + table[settings, DAMPING_FLOOR]
        finish_columns(n, table, task, lever, q, columns, tip, e0, e1, e2, e3, e4, e5)
        largest = damped_step(n, columns, step, damping, e0, e1, e2, e3, e4, e5)
        move(n, table, q, step, largest, table[settings, MAX_STEP])
    return -ROUNDS


@lean
def copy(n, slots, others):
    for i in range(n):
        put(others, i, get(slots, i))


@lean
def make_room(n, table, q, push, step, columns):
    """Move joints that are near their limits away from them, as far as the tip does not notice.

    Each is pushed by a share of its depth in the zone before its limit, w, and the step taken is
    w - Jᵀ (J Jᵀ + λ I)⁻¹ J w. Nothing moves where no joint is in its zone.
    """
    pushed = False
    for i in range(n):
        low, high = table[i, LOWEST], table[i, HIGHEST]
        zone = ZONE * (high - low)
        value, depth = get(q, i), 0.0
        if low < high < math.inf and low > -math.inf:
            depth = max(0.0, low + zone - value) - max(0.0, value - high + zone)
        put(push, i, PUSH * depth)
        pushed |= depth != 0.0
    if not pushed:
        return
    task, lever = table[n + TASK, KIND], table[n + SETTINGS, METRES_PER_RADIAN]
    tip = walk(n, table, q, columns)
    finish_columns(n, table, task, lever, q, columns, tip, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    e0, e1, e2, e3, e4, e5 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for i in range(n):
        w = get(push, i)
        e0, e1, e2 = (
            e0 + get(columns, 6 * i) * w,
            e1 + get(columns, 6 * i + 1) * w,
            e2 + get(columns, 6 * i + 2) * w,
        )
        e3, e4, e5 = (
            e3 + get(columns, 6 * i + 3) * w,
            e4 + get(columns, 6 * i + 4) * w,
            e5 + get(columns, 6 * i + 5) * w,
        )
    damped_step(n, columns, step, ROOM_DAMPING, e0, e1, e2, e3, e4, e5)
    for i in range(n):
        moved = get(q, i) + get(push, i) - get(step, i)
        put(q, i, clipped(moved, table[i, LOW], table[i, HIGH]))


@lean
def side_of(n, table, q, columns):
    """The sign of det J at ``q``, by elimination; 0 unless six joints make a square of it."""
    if n != 6 or table[n + TASK, KIND] != POSE:
        return 0.0
    tip = walk(n, table, q, columns)
    finish_columns(n, table, POSE, 1.0, q, columns, tip, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    sign = 1.0
    for k in range(6):
        pivot = k
        for column in range(k + 1, 6):
            if abs(get(columns, 6 * column + k)) > abs(get(columns, 6 * pivot + k)):
                pivot = column
        if pivot != k:
            sign = -sign
            for row in range(k, 6):
                kept = get(columns, 6 * k + row)
                put(columns, 6 * k + row, get(columns, 6 * pivot + row))
                put(columns, 6 * pivot + row, kept)
        diagonal = get(columns, 6 * k + k)
        if diagonal == 0.0:
            return 0.0
        sign = math.copysign(sign, sign * diagonal)
        for column in range(k + 1, 6):
            factor = get(columns, 6 * column + k) / diagonal
            for row in range(k + 1, 6):
                put(
                    columns,
                    6 * column + row,
                    get(columns, 6 * column + row) - factor * get(columns, 6 * k + row),
                )
    return sign
