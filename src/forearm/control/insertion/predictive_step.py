"""One tick of the predictive controller, compiled: feel, observe, decide, refer, command."""

from __future__ import annotations

import math

from forearm.control.insertion.approach import quintic_at
from forearm.control.insertion.feel import LAST_TORQUE, SLOW, feel, force_along
from forearm.control.insertion.inserter import (
    AIM,
    ANSWER,
    DEPTH,
    FELT,
    FREQUENCY,
    IK_SOLVED,
    PHASE,
    REASON,
    SEEN,
    SURE,
)
from forearm.control.insertion.layout import (
    ALONG,
    ATTEMPTS,
    BANDWIDTH,
    BEGAN,
    CHANNELS,
    CORE,
    CURRENT,
    DT,
    DURATION,
    FEELING,
    FORCE,
    FRAME,
    FRUITLESS,
    GOAL,
    IK_SLACK,
    LIMITS,
    MOTION,
    NOW,
    PACE,
    PLANNING,
    PLATE,
    PLAY,
    PUSHED,
    QUINTIC,
    RATE,
    RIDE,
    RIDING,
    SINCE,
    SOLVED,
    START,
    STATUS,
    SURGE,
    TICKS,
    TRANSFORM,
    TRIAL,
    TRUST_AFTER,
    TURN_IN_BOX,
)
from forearm.control.insertion.observer import (
    FIT,
    FITTED,
    OMEGA,
    STATE,
    observe,
    predict_into,
    spread_at,
)
from forearm.control.insertion.phases import ALIGN, APPROACH, BACK_OUT, GIVE_UP, LOOK, PUSH, SEAT, next_phase
from forearm.control.insertion.planning import (
    CROSS_M_S,
    FASTEST_M_S,
    FIRST_S,
    GATE_M,
    plan,
    plan_return,
)
from forearm.control.insertion.ride import BOX, PLACE, TURN, joints_into, ride_into
from forearm.control.insertion.seen import channels_into, rotation_into
from forearm.control.torque import CHAIN, computed_torque_into
from forearm.kinematics.chain import forward_into
from forearm.kinematics.compiling import lean

GO_M, GO_AHEAD_S, GO_AFTER_S = 0.02, 0.25, 0.15
"""The approach begins once the box is known as well as this, so far ahead; or after that time."""
OVER, LAXER, LAXEST = 1.04, 0.005, 1.2
"""By how much a plan that is renewed may strain the limits, out of their margins; with every fruitless search
for a first one so much more is allowed, up to the last."""
MOST_FRUITLESS = 200
"""So many searches, one for each fit of the observer, before there is said to be no way to the gate."""
SOONER, LONG_S, LATE_S = 0.92, 0.3, 0.03
"""A plan that is renewed tries whether a little less of the time left will do; where that is long, any time.
Near its end it is not renewed."""
PATIENCE_S = 4.0
"""Ten times what an insertion takes: if tool and hole have not fitted by then, it is not a matter of time."""
PUSH_M_S2, CALMER = 18.0, 0.5
"""How hard a push speeds up and brakes, and what is left of that with every failed attempt."""
TOUCH_M_S, TOUCH_BEFORE_M, PRESS_M = 0.02, 0.00035, 0.0005
"""How fast the plate is touched, how far before it that speed is reached, and how far past it the tool is
pressed."""
BACK_M_S, AT_GATE_M = 0.5, 1e-4
"""The way back, and how near to the gate it ends."""
BRAKE_SHARE, SETTLE_S = 0.9, 0.004
"""What of the acceleration braking counts on, and the time constant of its end."""
ENTRY_SHARE = 0.2
"""As near to the mouth as this share of the gate, and beyond, a force may be the box's."""
CONTACT_N, CONTACT_M, SHY_S = 10.0, 0.002, 0.15
"""From such a force on, or such a way that the box has given, it is not taken to swing freely; nor so long
after."""
FELT_N, GIVEN_WAY_M, PUSHED_S = 40.0, 0.004, 0.006
"""From these on something is in the way. The force leaves room for what unknown mass or weak motors make of
the fastest push; the box, on its soft drive, tells sooner. Its way is averaged over this time."""
STRAYED = 1.6
"""So many times the play apart, tool and hole would not meet."""
REST_S = 0.03
"""How soon the wanted joints come to rest when nothing is wanted of them."""


@lean
def predictive_step(
    sheets, memory, work, room, settings, table, most, states, target, answers, iterations,
    crossed, now, stamp, q, qd, points, said, out,
):  # fmt: skip
    """Everything that happens between two readings; ``out`` gets the torques, ``said`` the row of the
    trace."""
    ik = (table, most, states, target, answers, iterations, crossed, room, settings[IK_SLACK])
    dt, play, plate = settings[DT], settings[PLAY], settings[PLATE]
    status, fit = work[CORE, STATUS], memory[STATE, FIT]
    phase = int(status[CURRENT])
    if status[TICKS] == 0.0:
        for i in range(q.shape[0]):
            work[NOW, 0, i], work[START, 0, i] = q[i], q[i]
    status[TICKS] += 1.0
    entering = phase in (PUSH, SEAT, BACK_OUT) and status[ALONG] > -ENTRY_SHARE * GATE_M
    feel(sheets, dt, q, qd, entering, work[FEELING])
    renewed = observe(memory, stamp, points, now > status[TRUST_AFTER])
    sighted = fit[FITTED] != 0.0

    depth, apart = 0.0, math.inf
    if sighted:
        watch_push(memory, work, stamp, points, dt)
        predict_into(memory, now, work[MOTION])
        depth, apart = stand(sheets, memory, work, now, q, plate)
    in_phase, planned = now - status[SINCE], False
    if phase == LOOK and renewed and sighted:
        known = spread_at(memory[STATE], now + GO_AHEAD_S) < GO_M
        if known or in_phase > GO_AFTER_S:
            allowed = min(1.0 + LAXER * status[FRUITLESS], LAXEST)
            planned = plan(sheets, memory, work, ik, now - dt, FIRST_S, allowed, plate, q, qd)
            tell_answer(work, states[PLANNING], said, q.shape[0])
            status[FRUITLESS] = 0.0 if planned else status[FRUITLESS] + 1.0
    following, reason = next_phase(
        phase,
        in_phase,
        planned,
        sighted,
        status[FRUITLESS] >= MOST_FRUITLESS,
        now > PATIENCE_S,
        now >= status[BEGAN] + status[DURATION],
        apart < play,
        apart > STRAYED * play,
        status[FORCE] > FELT_N or status[PUSHED] > GIVEN_WAY_M,
        depth - status[PUSHED],
        plate,
        status[ALONG] <= -GATE_M + AT_GATE_M,
        status[ATTEMPTS],
    )
    if following != phase:
        came_from, phase = phase, following
        status[CURRENT], status[SINCE], said[REASON] = phase, now, reason
        if phase == ALIGN and came_from == APPROACH:
            status[ALONG], status[RATE] = -GATE_M, CROSS_M_S
            for i in range(q.shape[0]):
                states[RIDING, i], states[RIDING, q.shape[0] + i] = work[NOW, 0, i], 0.0
        elif phase == BACK_OUT:
            status[ATTEMPTS] += 1.0
        elif phase == GIVE_UP:
            plan_return(sheets, work, now - dt, q.shape[0])

    if phase == LOOK:
        come_to_rest(work, dt, q.shape[0])
    elif phase == APPROACH:
        left = status[BEGAN] + status[DURATION] - (now - dt)
        if renewed and sighted and left > LATE_S:
            # What is wanted is that of the tick before.
            sooner = SOONER * left if left < LONG_S else FIRST_S
            plan(sheets, memory, work, ik, now - dt, sooner, OVER, plate, q, qd)
            tell_answer(work, states[PLANNING], said, q.shape[0])
        quintic_at(work[QUINTIC], status[DURATION], now - status[BEGAN], q.shape[0], work[NOW])
    elif phase == GIVE_UP:
        quintic_at(work[QUINTIC], status[DURATION], now - status[BEGAN], q.shape[0], work[NOW])
    elif sighted:
        advance(phase, status, dt, plate)
        ride_into(
            work[MOTION], status[ALONG], status[RATE], status[SURGE], work[CORE, TURN_IN_BOX], work[RIDE]
        )
        status[SOLVED] = joints_into(sheets[CHAIN], ik, RIDING, work[RIDE], q.shape[0], work[GOAL])
        if status[SOLVED] != 0.0:
            copy_joints(work[GOAL], work[NOW], q.shape[0])
        else:
            come_to_rest(work, dt, q.shape[0])
        tell_answer(work, states[RIDING], said, q.shape[0])
        status[FORCE] = feel_along(work, room)
        # Only where the box may be touched: elsewhere the feeling may err, but the box swings freely.
        if entering and (phase == SEAT or status[FORCE] > CONTACT_N or abs(status[PUSHED]) > CONTACT_M):
            status[TRUST_AFTER] = now + SHY_S
    else:
        come_to_rest(work, dt, q.shape[0])
    command(sheets, work, settings[BANDWIDTH], q, qd, dt, out)
    tell(memory, work, sighted, now, phase, depth, said, q.shape[0])


@lean
def stand(sheets, memory, work, now, q, plate):
    """How deep the tool's end is by belief, and how far tool and hole are apart for fitting into each other.

    The latter adds up the distance from the hole's axis, what the angle between them makes of the hole's
    depth, and two standard deviations of what is believed (m).
    """
    motion, box, transform = work[MOTION], work[RIDE, BOX], work[TRANSFORM]
    forward_into(sheets[CHAIN], q, transform)
    rotation_into(motion[0, 3], motion[0, 4], motion[0, 5], box)
    dx, dy, dz = (
        transform[0, 3] - motion[0, 0],
        transform[1, 3] - motion[0, 1],
        transform[2, 3] - motion[0, 2],
    )
    depth = dx * box[0] + dy * box[3] + dz * box[6]
    beside = math.sqrt(max(dx * dx + dy * dy + dz * dz - depth * depth, 0.0))
    turn_in_box = work[CORE, TURN_IN_BOX]
    trace = 0.0
    for row in range(3):
        for column in range(3):
            wanted = (
                box[3 * row] * turn_in_box[column]
                + box[3 * row + 1] * turn_in_box[3 + column]
                + box[3 * row + 2] * turn_in_box[6 + column]
            )
            trace += wanted * transform[row, column]
    # |R - R'|² = 2 (3 - trace) = 8 sin²(θ/2).
    angle = 2.0 * math.asin(min(math.sqrt(max(3.0 - trace, 0.0)) / 2.0, 1.0))
    return depth, beside + angle * plate + 2.0 * spread_at(memory[STATE], now)


@lean
def watch_push(memory, work, stamp, points, dt):
    """How far the box is seen to stand behind where it would swing freely, along the hole: it is being
    pushed."""
    status = work[CORE, STATUS]
    if math.isnan(points[0]):
        return
    seen, box = work[CORE, CHANNELS], work[RIDE, BOX]
    channels_into(points, work[CORE, FRAME], seen)
    predict_into(memory, stamp, work[MOTION])
    rotation_into(seen[3], seen[4], seen[5], box)
    behind = 0.0
    for k in range(3):
        behind += (seen[k] - work[MOTION, 0, k]) * box[3 * k]
    status[PUSHED] += dt / (PUSHED_S + dt) * (behind - status[PUSHED])


@lean
def come_to_rest(work, dt, n):
    """The wanted joints run out, from whatever motion they had."""
    wanted = work[NOW]
    for i in range(n):
        wanted[2, i] = -wanted[1, i] / REST_S
        wanted[1, i] += dt * wanted[2, i]
        wanted[0, i] += dt * wanted[1, i]


@lean
def copy_joints(joints, copy, n):
    for row in range(3):
        for i in range(n):
            copy[row, i] = joints[row, i]


@lean
def advance(phase, status, dt, plate):
    """Where along the hole the tool is to be next, how fast, and with what acceleration; calmer with every
    attempt."""
    along, rate = status[ALONG], status[RATE]
    push_m_s2 = PUSH_M_S2 * CALMER ** status[ATTEMPTS]
    if phase in (PUSH, SEAT):
        ahead = brakes_in(plate - TOUCH_BEFORE_M - along, push_m_s2)
        rate_wanted = min(TOUCH_M_S + max(ahead, 0.0), FASTEST_M_S * status[PACE])
        if along > plate + PRESS_M:
            rate_wanted = 0.0
    else:
        rate_wanted = min(max(brakes_in(-GATE_M - along, push_m_s2), -BACK_M_S), BACK_M_S)
    surge = min(max((rate_wanted - rate) / dt, -push_m_s2), push_m_s2)
    status[SURGE], status[RATE] = surge, rate + dt * surge
    status[ALONG] = along + dt * status[RATE]


@lean
def brakes_in(way, push_m_s2):
    """The speed from which the way ahead is enough to stop: √(2 a |way|), with its sign; less near its
    end."""
    return math.copysign(min(math.sqrt(2.0 * BRAKE_SHARE * push_m_s2 * abs(way)), abs(way) / SETTLE_S), way)


@lean
def feel_along(work, room):
    """The force that the tool meets along the hole (N)."""
    box = work[RIDE, BOX]
    return -force_along(work[FEELING], room[2], room[0], room[1], box[0], box[3], box[6])


@lean
def command(sheets, work, bandwidth, q, qd, dt, out):
    """Inverse dynamics with feedforward and feedback, and what was felt of load and friction made up for."""
    n = q.shape[0]
    wanted, feeling, limits, trial = work[NOW], work[FEELING], work[LIMITS], work[TRIAL]
    for i in range(n):
        # The speed in the middle of the last step is what an integrator that adds h q̇ makes of the way.
        trial[0, i] = wanted[1, i] - 0.5 * dt * wanted[2, i]
    computed_torque_into(
        sheets, bandwidth * bandwidth, 2.0 * bandwidth, q, qd, wanted[0], trial[0], wanted[2], out
    )
    for i in range(n):
        torque = out[i] - feeling[SLOW, i]
        out[i] = torque
        feeling[LAST_TORQUE, i] = min(max(torque, -limits[1, i]), limits[1, i])


@lean
def tell_answer(work, answer, said, n):
    """What the IK was asked, and what it answered."""
    ride = work[RIDE]
    for k in range(3):
        said[AIM + k], said[AIM + 3 + k], said[AIM + 6 + k] = (
            ride[PLACE, k],
            ride[TURN, 3 * k + 2],
            ride[TURN, 3 * k],
        )
    for i in range(n):
        said[ANSWER + i] = answer[i]
    said[IK_SOLVED] = work[CORE, STATUS, SOLVED]


@lean
def tell(memory, work, sighted, now, phase, depth, said, n):
    """The row of the trace."""
    status, motion, box = work[CORE, STATUS], work[MOTION], work[CORE, FRAME]
    said[PHASE] = phase
    if sighted:
        predict_into(memory, now, motion)
        rotation_into(motion[0, 3], motion[0, 4], motion[0, 5], box)
        for k in range(3):
            said[SEEN + k] = motion[0, k]
            said[SEEN + 3 + k] = box[3 * k]
            said[SEEN + 6 + k] = box[3 * k + 1]
        said[SURE] = spread_at(memory[STATE], now)
        said[FREQUENCY] = memory[STATE, FIT, OMEGA] / (2.0 * math.pi)
        said[DEPTH] = depth
    else:
        for k in range(9):
            said[SEEN + k] = math.nan
        said[SURE] = math.inf
    said[FELT] = status[FORCE]
    for i in range(n):
        said[ANSWER + n + i] = work[NOW, 0, i]
