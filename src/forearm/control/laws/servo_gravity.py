"""The position servo with gravity's share of the spring given to it."""

from __future__ import annotations

import numpy as np

from forearm.control.controller import State, Tick, register
from forearm.control.plant import ActuatorKind, Plant
from forearm.dynamics.compiled import inverse_dynamics_into
from forearm.spatial import Array


@register
class ServoGravity:
    """command = q_d + g(q)/Kp: no sag, but still the lag Kd qd_d/Kp."""

    name = "servo_gravity"
    summary = "position servo + g/Kp: no sag, still lags"
    drives = ActuatorKind.SERVO

    def __init__(self, plant: Plant) -> None:
        self.kp = plant.actuators.kp
        self.model = (plant.chain, plant.bodies)
        self.scratch, self.still = plant.scratch(), np.zeros(plant.robot.dof)

    def command(self, state: State, reference: Tick, out: Array) -> None:
        inverse_dynamics_into(*self.model, 1.0, state.q, self.still, self.still, self.scratch, out)
        out /= self.kp
        out += reference.q
