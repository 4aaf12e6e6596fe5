"""What a controller is, and where controllers are found.

A controller is a law bound to a plant. It is pure: the same state and reference give the same
command; what it holds besides the plant's numbers is scratch. Each law lives in its own file in
``forearm.control.laws`` and registers itself there; adding a file adds a controller.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

from forearm.control.plant import ActuatorKind, Plant
from forearm.errors import ForearmError
from forearm.registry import Registry
from forearm.spatial import Array


class State(NamedTuple):
    """What the controller is told of the arm."""

    q: Array
    qd: Array


class Tick(NamedTuple):
    """The reference at one tick.

    ``q_rate`` and ``q_push`` are the differences of the sampled positions, (q_k - q_{k-1})/h and
    (q_{k+1} - 2 q_k + q_{k-1})/h²: the speed and acceleration with which an integrator that adds
    h · qd passes exactly through the samples. ``qd`` and ``qdd`` are the derivatives of the curve.
    """

    q: Array
    qd: Array
    qdd: Array
    q_rate: Array
    q_push: Array
    pose: Array
    """(4, 4)"""
    twist: Array
    """(6,)"""
    acceleration: Array
    """(6,)"""


class Controller(Protocol):
    """A law bound to a plant."""

    def command(self, state: State, reference: Tick, out: Array) -> None:
        """Write the command into ``out``: a torque for motors, a position for servos."""
        ...


class Law(Protocol):
    """A kind of controller."""

    name: str
    summary: str
    drives: ActuatorKind

    def __call__(self, plant: Plant) -> Controller: ...


class ActuatorMismatch(ForearmError):
    """A controller was given actuators of the wrong kind."""

    def __init__(self, controller: str, drives: str, found: str) -> None:
        self.controller, self.drives, self.found = controller, drives, found
        able = ", ".join(name for name in controller_names() if law(name).drives == found)
        super().__init__(
            f"controller {controller!r} commands a {drives}, the scene's actuators are {found}s: a "
            f"position is no torque. For a {found}: {able}."
        )


LAWS: Registry[Law] = Registry("controller", "forearm.control.laws")
register = LAWS.register
controller_names = LAWS.names


def law(name: str) -> Law:
    """The law called ``name``."""
    return LAWS.find(name)


def make_controller(name: str, plant: Plant) -> Controller:
    """The law ``name`` bound to ``plant``; raises ``ActuatorMismatch`` if it drives other actuators."""
    chosen = law(name)
    if chosen.drives is not plant.actuators.kind:
        raise ActuatorMismatch(name, chosen.drives, plant.actuators.kind)
    return chosen(plant)
