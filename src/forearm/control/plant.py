"""What a controller knows of the machine it drives: the model, the actuators, the integrator."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from forearm.dynamics.compiled import bodies_of, dynamics_scratch
from forearm.errors import unknown_unless_in
from forearm.kinematics.chain import chain_of
from forearm.robots.robot import Robot
from forearm.spatial import Array


class ActuatorKind(StrEnum):
    MOTOR = "motor"
    """The command is the torque."""
    SERVO = "servo"
    """The command is a position: τ = Kp (command - q) - Kd qd, built into the drive."""


def actuator_kind(given: str) -> ActuatorKind:
    """The kind of that name, or itself; raises ``UnknownName``."""
    unknown_unless_in("drive", given, tuple(ActuatorKind))
    return ActuatorKind(given)


@dataclass(frozen=True, eq=False, slots=True)
class Actuators:
    """One actuator a joint, in the order of ``q``."""

    kind: ActuatorKind
    kp: Array
    """Stiffness of a servo (N·m/rad); zero for motors."""
    kd: Array
    """Damping of a servo (N·m·s/rad); zero for motors."""
    max_effort: Array


@dataclass(frozen=True, eq=False, slots=True)
class Plant:
    """The machine as its controller believes it to be.

    ``lag`` is what the integrator treats implicitly: with a step h it solves

        (M + h · lag) qdd = τ - bias - damping · qd,

    so a torque that is to give the acceleration qdd has h · lag · qdd in it. Left out, that term is a
    tracking error proportional to the step.
    """

    robot: Robot
    actuators: Actuators
    dt_s: float
    damping: Array
    """Joint damping (N·m·s/rad)."""
    lag: Array

    @property
    def chain(self) -> Array:
        return chain_of(self.robot)

    @property
    def bodies(self) -> Array:
        return bodies_of(self.robot)

    def scratch(self) -> Array:
        return dynamics_scratch(self.robot)
