"""The position servo with gravity and the damper's drag given to it."""

from __future__ import annotations

from forearm.control.controller import State, Tick, register
from forearm.control.laws.servo_gravity import ServoGravity
from forearm.control.plant import Plant
from forearm.spatial import Array


@register
class ServoVelocity(ServoGravity):
    """command = q_d + g(q)/Kp + Kd qd_d/Kp.

    Put into the drive, τ = Kp (q_d - q) + Kd (qd_d - qd) + g(q). Inertia is still left to the error.
    """

    name = "servo_velocity"
    summary = "position servo + g/Kp + Kd qd/Kp: inertia left to the error"

    def __init__(self, plant: Plant) -> None:
        super().__init__(plant)
        self.drag = plant.actuators.kd / plant.actuators.kp

    def command(self, state: State, reference: Tick, out: Array) -> None:
        super().command(state, reference, out)
        out += self.drag * reference.qd
