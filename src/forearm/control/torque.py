"""The torques that controllers are made of, compiled."""

from __future__ import annotations

import numpy as np

from forearm.control.plant import Plant
from forearm.dynamics.compiled import inverse_dynamics_into
from forearm.kinematics.compiling import compiled
from forearm.spatial import Array

# Columns of the joint table: what a plant knows of each joint.
KP = 0
KD = 1
DAMPING = 2
STEP_LAG = 3
"""h · lag: see ``Plant``."""


def joint_table(plant: Plant) -> Array:
    """(n, 4): the columns above."""
    actuators = plant.actuators
    return np.ascontiguousarray(
        np.column_stack([actuators.kp, actuators.kd, plant.damping, plant.dt_s * plant.lag])
    )


@compiled
def torque_for_into(chain, bodies, joints, q, qd, qdd, scratch, tau):
    """The torque that makes the joints accelerate by qdd in the next step of the integrator:

    τ = M(q) qdd + C(q, qd) qd + g(q) + damping · qd + h · lag · qdd
    """
    inverse_dynamics_into(chain, bodies, 1.0, q, qd, qdd, scratch, tau)
    for i in range(q.shape[0]):
        tau[i] += joints[i, DAMPING] * qd[i] + joints[i, STEP_LAG] * qdd[i]


@compiled
def computed_torque_into(chain, bodies, joints, kp, kd, q, qd, q_d, qd_d, qdd_d, scratch, push, tau):
    """``torque_for_into`` the acceleration qdd_d + Kd (qd_d - qd) + Kp (q_d - q)."""
    for i in range(q.shape[0]):
        push[i] = qdd_d[i] + kd * (qd_d[i] - qd[i]) + kp * (q_d[i] - q[i])
    torque_for_into(chain, bodies, joints, q, qd, push, scratch, tau)


@compiled
def servo_inverse_into(chain, bodies, joints, q_d, qd_d, qdd_d, scratch, tau, command):
    """The servo target whose spring and damper give the torque that the reference needs, on it."""
    torque_for_into(chain, bodies, joints, q_d, qd_d, qdd_d, scratch, tau)
    for i in range(q_d.shape[0]):
        command[i] = q_d[i] + (tau[i] + joints[i, KD] * qd_d[i]) / joints[i, KP]
