"""``--perturb NAME=VALUE``: how a run is made harder, from one seed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from forearm.errors import InvalidInput, unknown_unless_in
from forearm.kinematics.reach import reach_m
from forearm.robots.robot import Robot
from forearm.sim.disturbance import Disturbance
from forearm.sim.sensing import Sensing

PERTURBATIONS = {
    "noise": "sensor noise at the tip (m), put into the joints as noise/reach",
    "bias": "constant sensor offset at the tip (m), put into the joints likewise",
    "delay": "sensor delay (s)",
    "dropout": "share of readings lost",
    "payload": "mass at the tip, as a share of the arm's moving mass",
    "friction": "dry friction in every joint (N·m)",
    "gain": "drives too strong by this share",
    "push": "sideways force on the tip (N) for half a second",
}


@dataclass(frozen=True, slots=True)
class Perturbation:
    sensing: Sensing
    disturbance: Disturbance

    @property
    def nothing(self) -> bool:
        return self.sensing.perfect and self.disturbance.nothing


def parse_perturbations(words: Sequence[str]) -> dict[str, float]:
    """``["noise=0.001", ...]`` as numbers by name."""
    found = {}
    for word in words:
        name, _, value = word.partition("=")
        unknown_unless_in("perturbation", name, tuple(PERTURBATIONS))
        try:
            found[name] = float(value)
        except ValueError:
            raise InvalidInput(f"perturbation {name}", f"is {value!r}", f"Give {name}=NUMBER.") from None
    return found


def perturbation_for(robot: Robot, values: Mapping[str, float], dt_s: float, seed: int) -> Perturbation:
    """The perturbation of ``values`` for this arm and time step."""
    reach = reach_m(robot)
    return Perturbation(
        Sensing(
            noise_rad=values.get("noise", 0.0) / reach,
            bias_rad=values.get("bias", 0.0) / reach,
            delay_ticks=round(values.get("delay", 0.0) / dt_s),
            dropout=values.get("dropout", 0.0),
            seed=seed,
        ),
        Disturbance(
            payload=values.get("payload", 0.0),
            friction_nm=values.get("friction", 0.0),
            gain=values.get("gain", 0.0),
            push_n=values.get("push", 0.0),
        ),
    )
