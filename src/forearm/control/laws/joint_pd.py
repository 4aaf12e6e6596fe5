"""Joint PD on torque motors: stiffness and damping, and no knowledge of the arm."""

from __future__ import annotations

from forearm.control.controller import State, Tick, register
from forearm.control.gains import joint_gains
from forearm.control.plant import ActuatorKind, Plant
from forearm.spatial import Array


@register
class JointPD:
    """τ = Kp (q_d - q) + Kd (qd_d - qd).

    Gravity is left to the position error, so the arm sags by g(q)/Kp.
    """

    name = "joint_pd"
    summary = "joint PD: sags by g/Kp and lags behind"
    drives = ActuatorKind.MOTOR

    def __init__(self, plant: Plant) -> None:
        self.kp, self.kd = joint_gains(plant)

    def command(self, state: State, reference: Tick, out: Array) -> None:
        out[:] = self.kp * (reference.q - state.q) + self.kd * (reference.qd - state.qd)
