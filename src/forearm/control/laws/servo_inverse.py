"""The position servo with the whole of the arm's dynamics given to it."""

from __future__ import annotations

from forearm.control.controller import State, Tick, register
from forearm.control.plant import ActuatorKind, Plant
from forearm.control.torque import model_sheets, servo_inverse_into
from forearm.spatial import Array


@register
class ServoInverse:
    """command = q_d + (τ_d + Kd qd_d)/Kp,   τ_d = M(q_d) qdd_d + C qd_d + g(q_d) + D qd_d + h L qdd_d.

    τ_d is the torque that the reference itself needs; the drive's spring and damper are left to what
    nobody foresaw. Speeds and accelerations are those of the samples, and h L qdd_d is what the
    integrator adds, so that on an ideal plant only rounding remains.
    """

    name = "servo_inverse"
    summary = "position servo + full inverse dynamics, exact in discrete time"
    drives = ActuatorKind.SERVO

    def __init__(self, plant: Plant) -> None:
        self.model = model_sheets(plant)

    def command(self, state: State, reference: Tick, out: Array) -> None:  # noqa: ARG002 - feedback is the drive's
        servo_inverse_into(self.model, reference.q, reference.q_rate, reference.q_push, out)
