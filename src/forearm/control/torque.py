"""The torques that controllers are made of, compiled."""

from __future__ import annotations

import numpy as np

from forearm.control.plant import Plant
from forearm.dynamics.compiled import inverse_dynamics_into
from forearm.kinematics.compiling import lean
from forearm.spatial import Array

# Columns of the joint table: what a plant knows of each joint.
KP = 0
KD = 1
DAMPING = 2
STEP_LAG = 3
"""h · lag: see ``Plant``."""

# Sheets of ``model_sheets``.
CHAIN = 0
BODIES = 1
JOINTS = 2
SCRATCH = 3
PUSH = 4


def joint_table(plant: Plant) -> Array:
    """(n, 4): the columns above."""
    actuators = plant.actuators
    return np.ascontiguousarray(
        np.column_stack([actuators.kp, actuators.kd, plant.damping, plant.dt_s * plant.lag])
    )


@lean
def torque_for_into(chain, bodies, joints, q, qd, qdd, scratch, tau):
    """The torque that makes the joints accelerate by qdd in the next step of the integrator:

    τ = M(q) qdd + C(q, qd) qd + g(q) + damping · qd + h · lag · qdd
    """
    inverse_dynamics_into(chain, bodies, 1.0, q, qd, qdd, scratch, tau)
    for i in range(q.shape[0]):
        tau[i] += joints[i, DAMPING] * qd[i] + joints[i, STEP_LAG] * qdd[i]


def model_sheets(plant: Plant) -> Array:
    """What the two kernels below need of a plant, and their scratch: (5, n + 1, ...), a sheet each.

    In one array, because every array that is handed to a compiled function costs 50 ns.
    """
    parts = (plant.chain, plant.bodies, joint_table(plant), plant.scratch())
    n = plant.robot.dof
    sheets = np.zeros((len(parts) + 1, n + 1, max(n, *(part.shape[1] for part in parts))))
    for sheet, part in zip(sheets, parts, strict=False):
        sheet[: len(part), : part.shape[1]] = part
    return sheets


@lean
def computed_torque_into(sheets, kp, kd, q, qd, q_d, qd_d, qdd_d, tau):
    """``torque_for_into`` the acceleration qdd_d + Kd (qd_d - qd) + Kp (q_d - q)."""
    push = sheets[PUSH, 0]
    for i in range(q.shape[0]):
        push[i] = qdd_d[i] + kd * (qd_d[i] - qd[i]) + kp * (q_d[i] - q[i])
    torque_for_into(sheets[CHAIN], sheets[BODIES], sheets[JOINTS], q, qd, push, sheets[SCRATCH], tau)


@lean
def servo_inverse_into(sheets, q_d, qd_d, qdd_d, command):
    """The servo target whose spring and damper give the torque that the reference needs, on it."""
    tau, joints = sheets[PUSH, 0], sheets[JOINTS]
    torque_for_into(sheets[CHAIN], sheets[BODIES], joints, q_d, qd_d, qdd_d, sheets[SCRATCH], tau)
    for i in range(q_d.shape[0]):
        command[i] = q_d[i] + (tau[i] + joints[i, KD] * qd_d[i]) / joints[i, KP]
