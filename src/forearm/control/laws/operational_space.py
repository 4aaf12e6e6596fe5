"""Operational space control: the tip made a unit mass on a critically damped spring."""

from __future__ import annotations

import numpy as np

from forearm.control.controller import State, Tick, register
from forearm.control.gains import BANDWIDTH_RAD_S, mass_matrix
from forearm.control.plant import ActuatorKind, Plant
from forearm.control.tip import TipMeasure
from forearm.control.torque import joint_table, torque_for_into
from forearm.spatial import Array


@register
class OperationalSpace:
    """τ = Jᵀ Λ (a_d + Kd ė + Kp e - J̇ qd) + N (-2 ω M qd) + C qd + g + D qd,   Λ = (J M⁻¹ Jᵀ)⁻¹.

    N = I - Jᵀ Λ J M⁻¹ lets joints to spare come to rest without a force at the tip. Kp = ω², Kd = 2 ω
    with ω = 20 rad/s.
    """

    name = "operational_space"
    summary = "the tip as a unit mass on a spring, joints to spare at rest"
    drives = ActuatorKind.MOTOR

    def __init__(self, plant: Plant) -> None:
        self.plant, self.tip = plant, TipMeasure(plant)
        self.model = (plant.chain, plant.bodies, joint_table(plant))
        self.scratch, self.still = plant.scratch(), np.zeros(plant.robot.dof)

    def command(self, state: State, reference: Tick, out: Array) -> None:
        omega = BANDWIDTH_RAD_S
        error, speed_error, jacobian, rate = self.tip.at(state, reference)
        wanted = reference.acceleration[self.tip.rows] + 2.0 * omega * speed_error + omega**2 * error
        mass = mass_matrix(self.plant, state.q)
        answer = np.linalg.solve(mass, jacobian.T)
        # Rows of J that no joint moves carry no force: the pseudo-inverse leaves them out.
        inertia = np.linalg.pinv(jacobian @ answer, rcond=1e-10)
        torque_for_into(*self.model, state.q, state.qd, self.still, self.scratch, out)
        out += jacobian.T @ (inertia @ (wanted - rate @ state.qd))
        if len(state.q) > len(jacobian):
            rest = -2.0 * omega * (mass @ state.qd)
            out += rest - jacobian.T @ (inertia @ (answer.T @ rest))
