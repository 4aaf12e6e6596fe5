"""The predictive controller's plans: to a gate that moves, and back."""

from __future__ import annotations

import math

from forearm.control.insertion.approach import quintic_at, quintic_into, strain
from forearm.control.insertion.layout import (
    AHEAD,
    AHEAD_RIDE,
    BEGAN,
    CORE,
    DURATION,
    GOAL,
    LIMITS,
    MOTION,
    NOW,
    PACE,
    PLANNING,
    POSTURE,
    QUINTIC,
    RIDE,
    SOLVED,
    START,
    STATUS,
    TAU,
    TRANSFORM,
    TRIAL,
    TRIED,
    TURN_IN_BOX,
)
from forearm.control.insertion.observer import predict_into
from forearm.control.insertion.ride import PLACE, TURN, joints_into, ride_into
from forearm.control.insertion.seen import ROLL, TILT, YAW, rotation_into
from forearm.control.torque import CHAIN
from forearm.kinematics.chain import forward_into
from forearm.kinematics.compiling import lean

GATE_M, CROSS_M_S = 0.015, 0.45
"""The gate lies this far before the mouth and moves with it; the tool comes through it at this speed, slow
enough to stop before the mouth."""
FASTEST_M_S, SLOW_PACE = 0.85, 0.65
"""No push is faster; where the joints do not allow that, it may be this share of it."""
PUSH_LOOKS = ((0.025, 0.0, 1.0), (0.06, 0.55, 1.0), (0.085, 0.87, 0.5), (0.125, 1.0, 0.0))
"""Where a push is looked at beforehand: after a time (s), at a share of the depth, at a share of the
fastest."""
FIRST_S, GROWTH, MOST_TRIES = 0.12, 1.06, 44
"""The times that are tried for an approach."""
LOST_RAD = 0.1
"""A joint this far from where it is wanted: the plan goes on from where the arm is."""
KEPT_OFF_M, KEPT_SAMPLES = 0.008, 10
"""So far before the mouth's plane the tool stays on its way to the gate, at so many points of it."""


@lean
def plan(sheets, memory, work, ik, begin, duration, allowed, plate, q, qd):
    """Quintics from what is wanted at ``begin`` to the gate as it will be ``duration`` later; or later
    still, as long as it is out of reach there, the limits are strained more than is ``allowed``, or the
    push that would follow is too fast for the joints.

    Returns whether there is such a plan; if not, the one before stands.
    """
    n = q.shape[0]
    wanted, states = work[NOW], ik[2]
    astray = False
    for i in range(n):
        astray |= abs(wanted[0, i] - q[i]) > LOST_RAD
    if astray:
        for i in range(n):
            wanted[0, i], wanted[1, i], wanted[2, i] = q[i], qd[i], 0.0
    # A search that once went astray, after a prediction from too little, would not come back by itself.
    for k in range(states.shape[1]):
        states[PLANNING, k] = states[POSTURE, k]
    found = False
    for _ in range(MOST_TRIES):
        if aim_quintic(sheets, memory, work, ik, begin, duration, n) <= allowed:
            pace = pace_of_push(sheets, memory, work, ik, begin + duration, plate, n)
            # Where any push is too fast for the joints it has to be: then the first that can be reached.
            if pace > 0.0 or not found:
                take_plan(work, begin, duration, pace if pace > 0.0 else SLOW_PACE, n)
                found = True
            if pace > 0.0:
                break
        duration *= GROWTH
    return found


@lean
def aim_quintic(sheets, memory, work, ik, begin, duration, n):
    """Quintics to the gate as it will be ``duration`` after ``begin``; what they strain, infinite if out of
    reach."""
    predict_into(memory, begin + duration, work[MOTION])
    ride_into(work[MOTION], -GATE_M, CROSS_M_S, 0.0, work[CORE, TURN_IN_BOX], work[RIDE])
    reached = joints_into(sheets[CHAIN], ik, PLANNING, work[RIDE], n, work[GOAL])
    work[CORE, STATUS, SOLVED] = reached
    if not reached:
        return math.inf
    quintic_into(work[NOW], work[GOAL], duration, n, work[TRIED])
    strained = strain(sheets, work[LIMITS], work[TRIED], duration, n, work[TRIAL], work[CORE, TAU])
    return strained if keeps_off(sheets, memory, work, begin, duration, n) else math.inf


@lean
def keeps_off(sheets, memory, work, begin, duration, n):
    """Whether the tool's end stays before the plane of the mouth, wherever the box swings in the meantime."""
    place, turn = work[AHEAD_RIDE, PLACE], work[AHEAD_RIDE, TURN]
    for sample in range(1, KEPT_SAMPLES):
        elapsed = sample * duration / KEPT_SAMPLES
        quintic_at(work[TRIED], duration, elapsed, n, work[TRIAL])
        forward_into(sheets[CHAIN], work[TRIAL, 0], work[TRANSFORM])
        predict_into(memory, begin + elapsed, work[MOTION])
        rotation_into(work[MOTION, 0, YAW], work[MOTION, 0, TILT], work[MOTION, 0, ROLL], turn)
        depth = 0.0
        for k in range(3):
            place[k] = work[TRANSFORM, k, 3] - work[MOTION, 0, k]
            depth += place[k] * turn[3 * k]
        if depth > -KEPT_OFF_M:
            return False
    return True


@lean
def take_plan(work, begin, duration, pace, n):
    status = work[CORE, STATUS]
    for row in range(6):
        for i in range(n):
            work[QUINTIC, row, i] = work[TRIED, row, i]
    status[BEGAN], status[DURATION], status[PACE] = begin, duration, pace


@lean
def pace_of_push(sheets, memory, work, ik, begin, plate, n):
    """The pace of a push that the joints' rated speeds allow then: 1, the slow one, or 0 for none."""
    if push_fits(sheets, memory, work, ik, begin, plate, 1.0, n):
        return 1.0
    return SLOW_PACE if push_fits(sheets, memory, work, ik, begin, plate, SLOW_PACE, n) else 0.0


@lean
def push_fits(sheets, memory, work, ik, begin, plate, pace, n):
    """Whether the joints' rated speeds allow a push that begins then, at ``pace`` times the fastest."""
    # It starts from where the search for the gate has come to, and does not move that.
    states = ik[2]
    for k in range(states.shape[1]):
        states[AHEAD, k] = states[PLANNING, k]
    for time_s, depth, rate in PUSH_LOOKS:
        predict_into(memory, begin + time_s / pace, work[MOTION])
        ride_into(
            work[MOTION],
            depth * plate,
            pace * rate * FASTEST_M_S,
            0.0,
            work[CORE, TURN_IN_BOX],
            work[AHEAD_RIDE],
        )
        if not joints_into(sheets[CHAIN], ik, AHEAD, work[AHEAD_RIDE], n, work[TRIAL]):
            return False
        for i in range(n):
            if abs(work[TRIAL, 1, i]) > work[LIMITS, 0, i]:
                return False
    return True


@lean
def plan_return(sheets, work, begin, n):
    """Quintics back to where the trial began, clear of the box."""
    duration = FIRST_S
    for _ in range(MOST_TRIES):
        quintic_into(work[NOW], work[START], duration, n, work[QUINTIC])
        if strain(sheets, work[LIMITS], work[QUINTIC], duration, n, work[TRIAL], work[CORE, TAU]) <= 1.0:
            break
        duration *= GROWTH
    work[CORE, STATUS, BEGAN], work[CORE, STATUS, DURATION] = begin, duration
