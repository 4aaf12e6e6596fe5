"""The position servo, told nothing but where to be."""

from __future__ import annotations

from forearm.control.controller import State, Tick, register
from forearm.control.plant import ActuatorKind, Plant
from forearm.spatial import Array


@register
class Servo:
    """command = q_d.

    The drive's spring has to carry gravity, and its damper brakes every motion: the arm sags by
    g(q)/Kp and lags by Kd qd_d/Kp.
    """

    name = "servo"
    summary = "position servo, plain: sags and lags"
    drives = ActuatorKind.SERVO

    def __init__(self, plant: Plant) -> None:
        """Nothing of the plant is used, which is the point."""

    def command(self, state: State, reference: Tick, out: Array) -> None:  # noqa: ARG002 - feedback is the drive's
        out[:] = reference.q
