"""What the motors' torques tell of forces from outside.

The torque that the arm's last step took, by its dynamics, less the torque that was commanded, is what came
from elsewhere: load, friction, drives that are off, and contact. The first three change slowly and are made
up for; what is quick is felt as a force at the tool's end, Jᵀ F = τ.
"""

from __future__ import annotations

import math

from forearm.control.insertion.linear import solve_in_place
from forearm.control.torque import BODIES, CHAIN, JOINTS, SCRATCH, torque_for_into
from forearm.kinematics.compiling import lean

QUICK_S = 0.002
SLOW_S = 0.03

# Rows of a feeling.
LAST_Q = 0
LAST_QD = 1
LAST_TORQUE = 2
"""Of the tick before; NaN at the first."""
QUICK = 3
SLOW = 4
PUSH = 5
TAU = 6
ROWS = 7


@lean
def feel(sheets, dt_s, q, qd, in_contact, feeling):
    """Renew both averages of the torque from outside; the slow one stands still ``in_contact``."""
    n = q.shape[0]
    if not math.isnan(feeling[LAST_TORQUE, 0]):
        push, tau = feeling[PUSH], feeling[TAU]
        for i in range(n):
            push[i] = (qd[i] - feeling[LAST_QD, i]) / dt_s
        torque_for_into(
            sheets[CHAIN], sheets[BODIES], sheets[JOINTS], feeling[LAST_Q], feeling[LAST_QD], push,
            sheets[SCRATCH], tau,
        )  # fmt: skip
        quick, slow = dt_s / (QUICK_S + dt_s), dt_s / (SLOW_S + dt_s)
        for i in range(n):
            outside = tau[i] - feeling[LAST_TORQUE, i]
            feeling[QUICK, i] += quick * (outside - feeling[QUICK, i])
            if not in_contact:
                feeling[SLOW, i] += slow * (outside - feeling[SLOW, i])
    for i in range(n):
        feeling[LAST_Q, i], feeling[LAST_QD, i] = q[i], qd[i]


@lean
def force_along(feeling, jacobian, matrix, right, x, y, z):
    """The quick force on the tool's end along a direction (N); 0 where the arm is singular."""
    n = 6
    for row in range(n):
        right[row, 0] = feeling[QUICK, row] - feeling[SLOW, row]
        for column in range(n):
            matrix[row, column] = jacobian[column, row]
    if not solve_in_place(matrix, right, 1):
        return 0.0
    return right[0, 0] * x + right[1, 0] * y + right[2, 0] * z
