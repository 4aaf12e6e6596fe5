"""Task-space impedance: a spring and a damper between the tip and where it should be."""

from __future__ import annotations

import numpy as np

from forearm.control.controller import State, Tick, register
from forearm.control.gains import mass_matrix
from forearm.control.plant import ActuatorKind, Plant
from forearm.control.tip import TipMeasure
from forearm.control.torque import joint_table, torque_for_into
from forearm.spatial import Array

STIFFNESS_N_M = 2000.0
STIFFNESS_NM_RAD = 100.0
REST_RATE_1_S = 10.0
"""How fast joints to spare come to rest (1/s)."""


@register
class Impedance:
    """τ = Jᵀ (K e + D ė) + C qd + g + D_j qd, with D = 2 sqrt(K λ) of the tip's own inertia λ at home.

    Compliant on purpose: what pushes the tip away by 1 N moves it by 1/K. It follows with the lag of
    a spring that has to accelerate the arm.
    """

    name = "impedance"
    summary = "a spring and a damper at the tip: compliant, follows with a lag"
    drives = ActuatorKind.MOTOR

    def __init__(self, plant: Plant) -> None:
        self.plant, self.tip = plant, TipMeasure(plant)
        self.model = (plant.chain, plant.bodies, joint_table(plant))
        self.scratch, self.still = plant.scratch(), np.zeros(plant.robot.dof)
        self.stiffness = np.array([STIFFNESS_N_M] * 3 + [STIFFNESS_NM_RAD] * 3)[self.tip.rows]
        self.damping = self._damping()

    def _damping(self) -> Array:
        """2 sqrt(K λ) for each row of the task, λ the tip's inertia along it at home."""
        home = State(self.plant.robot.home, self.still)
        ahead = Tick(home.q, home.qd, home.qd, home.qd, home.qd, np.eye(4), np.zeros(6), np.zeros(6))
        _, _, jacobian, _ = self.tip.at(home, ahead)
        mobility = np.diag(jacobian @ np.linalg.solve(mass_matrix(self.plant, home.q), jacobian.T))
        inertia = np.divide(1.0, mobility, out=np.zeros_like(mobility), where=mobility > 1e-9)
        return 2.0 * np.sqrt(self.stiffness * inertia)

    def command(self, state: State, reference: Tick, out: Array) -> None:
        error, speed_error, jacobian, _ = self.tip.at(state, reference)
        torque_for_into(*self.model, state.q, state.qd, self.still, self.scratch, out)
        out += jacobian.T @ (self.stiffness * error + self.damping * speed_error)
        if len(state.q) > len(jacobian):
            spare = state.qd - np.linalg.pinv(jacobian) @ (jacobian @ state.qd)
            out -= REST_RATE_1_S * (mass_matrix(self.plant, state.q) @ spare)
