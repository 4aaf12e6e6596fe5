"""Joint PD on torque motors with gravity taken out."""

from __future__ import annotations

import numpy as np

from forearm.control.controller import State, Tick, register
from forearm.control.gains import joint_gains
from forearm.control.plant import ActuatorKind, Plant
from forearm.dynamics.compiled import inverse_dynamics_into
from forearm.spatial import Array


@register
class PDGravity:
    """τ = Kp (q_d - q) + Kd (qd_d - qd) + g(q)."""

    name = "pd_gravity"
    summary = "joint PD with gravity taken out: no sag, still lags"
    drives = ActuatorKind.MOTOR

    def __init__(self, plant: Plant) -> None:
        self.kp, self.kd = joint_gains(plant)
        self.model = (plant.chain, plant.bodies)
        self.scratch, self.still = plant.scratch(), np.zeros(plant.robot.dof)

    def command(self, state: State, reference: Tick, out: Array) -> None:
        inverse_dynamics_into(*self.model, 1.0, state.q, self.still, self.still, self.scratch, out)
        out += self.kp * (reference.q - state.q) + self.kd * (reference.qd - state.qd)
