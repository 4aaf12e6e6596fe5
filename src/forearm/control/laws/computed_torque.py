"""Computed torque: the arm's own dynamics cancelled, what is left made a critically damped spring."""

from __future__ import annotations

from forearm.control.controller import State, Tick, register
from forearm.control.gains import BANDWIDTH_RAD_S
from forearm.control.plant import ActuatorKind, Plant
from forearm.control.torque import computed_torque_into, model_sheets
from forearm.spatial import Array


@register
class ComputedTorque:
    """τ = M(q) a + C(q, qd) qd + g(q) + D qd + h L a,   a = qdd_d + Kd (qd_d - qd) + Kp (q_d - q).

    Kp = 400 and Kd = 40: critically damped at 20 rad/s. The reference's speed and acceleration are
    those of its samples (``Tick.q_rate``, ``Tick.q_push``), and h L a is what the integrator adds, so
    that on an ideal plant the arm stands on the reference at every tick, up to rounding.
    """

    name = "computed_torque"
    summary = "full inverse dynamics and feedback, exact in discrete time"
    drives = ActuatorKind.MOTOR

    def __init__(self, plant: Plant) -> None:
        self.kp, self.kd = BANDWIDTH_RAD_S**2, 2.0 * BANDWIDTH_RAD_S
        self.model = model_sheets(plant)

    def command(self, state: State, reference: Tick, out: Array) -> None:
        q, qd = state
        computed_torque_into(
            self.model, self.kp, self.kd, q, qd, reference.q, reference.q_rate, reference.q_push, out
        )
