"""The tool carried by the hole: its pose, twist and acceleration for a given place in the box."""

from __future__ import annotations

import math

from forearm.control.insertion.linear import solve_in_place
from forearm.control.insertion.seen import ROLL, TILT, YAW, rotation_into
from forearm.ik.fast.track import track
from forearm.kinematics.chain import forward_and_jacobian_into
from forearm.kinematics.compiling import lean
from forearm.kinematics.rates import cross, jacobian_rate_into

# Rows of a ride: all in base axes.
PLACE = 0
"""The tool's end."""
TURN = 1
"""How the tool is turned, row by row."""
BOX = 2
"""How the box is turned."""
TWIST = 3
ACCELERATION = 4
ROWS = 5


@lean
def ride_into(motion, depth, depth_rate, depth_push, turn_in_box, ride):
    """Where the tool's end is, ``depth`` past the mouth on the hole's axis and moving along it, and how it
    goes.

    With r the axis times the depth, ω the box's spin and α its rate:

        p = c + R r,   v = ċ + ω x R r + R ṙ,   a = c̈ + α x R r + ω x (ω x R r) + 2 ω x R ṙ + R r̈.

    For R = Rz(ψ) Ry(θ) Rx(φ), φ hardly changing: ω = ψ̇ z + θ̇ Rz(ψ) y.
    """
    box, turn = ride[BOX], ride[TURN]
    rotation_into(motion[0, YAW], motion[0, TILT], motion[0, ROLL], box)
    for row in range(3):
        for column in range(3):
            turn[3 * row + column] = (
                box[3 * row] * turn_in_box[column]
                + box[3 * row + 1] * turn_in_box[3 + column]
                + box[3 * row + 2] * turn_in_box[6 + column]
            )
    sine, cosine = math.sin(motion[0, YAW]), math.cos(motion[0, YAW])
    spin, nod = motion[1, YAW], motion[1, TILT]
    wx, wy, wz = -sine * nod, cosine * nod, spin
    ux = -sine * motion[2, TILT] - spin * cosine * nod
    uy = cosine * motion[2, TILT] - spin * sine * nod
    uz = motion[2, YAW]
    ax, ay, az = box[0], box[3], box[6]
    rx, ry, rz = depth * ax, depth * ay, depth * az
    sx, sy, sz = depth_rate * ax, depth_rate * ay, depth_rate * az
    bx, by, bz = cross(wx, wy, wz, rx, ry, rz)
    cx, cy, cz = cross(ux, uy, uz, rx, ry, rz)
    dx, dy, dz = cross(wx, wy, wz, bx, by, bz)
    ex, ey, ez = cross(wx, wy, wz, sx, sy, sz)
    place, twist, push = ride[PLACE], ride[TWIST], ride[ACCELERATION]
    place[0], place[1], place[2] = motion[0, 0] + rx, motion[0, 1] + ry, motion[0, 2] + rz
    twist[0], twist[1], twist[2] = motion[1, 0] + bx + sx, motion[1, 1] + by + sy, motion[1, 2] + bz + sz
    twist[3], twist[4], twist[5] = wx, wy, wz
    push[0] = motion[2, 0] + cx + dx + 2.0 * ex + depth_push * ax
    push[1] = motion[2, 1] + cy + dy + 2.0 * ey + depth_push * ay
    push[2] = motion[2, 2] + cz + dz + 2.0 * ez + depth_push * az
    push[3], push[4], push[5] = ux, uy, uz


@lean
def joints_into(chain, ik, which, ride, n, joints):
    """The joints that ride along: q, q̇, q̈ as the rows of ``joints``; returns whether the IK came to the pose.

    q from the tracker, from where the state ``which`` stands; q̇ = J⁻¹ v and q̈ = J⁻¹ (a - J̇ q̇). The last
    of ``ik`` is ``Cell.ik_slack_m``.
    """
    table, most, states, target, answers, iterations, crossed, room, slack = ik
    state, before = states[which], room[5, 0]
    for row in range(3):
        for column in range(3):
            target[0, row, column] = ride[TURN, 3 * row + column]
        target[0, row, 3] = ride[PLACE, row]
    for i in range(n):
        before[i] = state[i]
    track(table, most, target, state, answers, iterations, crossed)
    q, qd, qdd = joints[0], joints[1], joints[2]
    matrix, right, jacobian, transform, rate = room[0], room[1], room[2], room[3], room[4]
    if slack > 0.0:
        stop_short(chain, slack, n, before, state, transform, jacobian)
    for i in range(n):
        answers[0, i] = state[i]
        q[i] = state[i]
    forward_and_jacobian_into(chain, q, transform, jacobian)
    copy_square(jacobian, matrix)
    for row in range(6):
        right[row, 0] = ride[TWIST, row]
    if not solve_in_place(matrix, right, 1):
        return False
    for i in range(n):
        qd[i] = right[i, 0]
    jacobian_rate_into(chain, q, qd, transform, jacobian, rate)
    copy_square(jacobian, matrix)
    for row in range(6):
        total = ride[ACCELERATION, row]
        for i in range(n):
            total -= rate[row, i] * qd[i]
        right[row, 0] = total
    solve_in_place(matrix, right, 1)
    for i in range(n):
        qdd[i] = right[i, 0]
    return iterations[0] > 0 or slack > 0.0


@lean
def stop_short(chain, slack, n, before, state, transform, jacobian):
    """Take back so much of the step from ``before`` to ``state`` that the tip stays ``slack`` behind."""
    forward_and_jacobian_into(chain, state, transform, jacobian)
    way = 0.0
    for row in range(3):
        total = 0.0
        for i in range(n):
            total += jacobian[row, i] * (state[i] - before[i])
        way += total * total
    share = max(0.0, 1.0 - slack / math.sqrt(way)) if way > 0.0 else 0.0
    for i in range(n):
        state[i] = before[i] + share * (state[i] - before[i])


@lean
def copy_square(source, copy):
    for row in range(6):
        for column in range(6):
            copy[row, column] = source[row, column]
