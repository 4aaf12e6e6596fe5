"""``--perturb NAME=VALUE``: how a run is made harder, from one seed."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import NamedTuple

from forearm.errors import InvalidInput, shown, unknown_unless_in
from forearm.kinematics.reach import reach_m
from forearm.robots.robot import Robot
from forearm.sim.disturbance import Disturbance
from forearm.sim.sensing import Sensing

MOST = 1e9
WHOLE = 1e-6
"""Share of a tick within which a delay is a whole number of ticks."""


class Kind(NamedTuple):
    meaning: str
    least: float
    most: float
    scale: float
    unit: str
    """What ``scale`` times the value is shown in."""


Kinds = Mapping[str, Kind]
"""What a task can be made harder by, by name."""

PERTURBATIONS: Kinds = {
    "noise": Kind("sensor noise at the tip (m), put into the joints as noise/reach", 0.0, MOST, 1e3, "mm"),
    "bias": Kind("constant sensor offset at the tip (m), put into the joints likewise", 0.0, MOST, 1e3, "mm"),
    "delay": Kind("sensor delay (s), whole ticks", 0.0, MOST, 1e3, "ms"),
    "dropout": Kind("share of readings lost", 0.0, 0.99, 1e2, "%"),
    "payload": Kind("mass at the tip, as a share of the arm's moving mass", 0.0, MOST, 1e2, "%"),
    "friction": Kind("dry friction in every joint (N·m)", 0.0, MOST, 1.0, "N·m"),
    "gain": Kind("drives too strong by this share", -0.99, 9.0, 1e2, "%"),
    "push": Kind("sideways force on the tip (N) for half a second", -MOST, MOST, 1.0, "N"),
}


@dataclass(frozen=True, slots=True)
class Perturbation:
    sensing: Sensing
    disturbance: Disturbance
    text: str
    """In words: "noise 1 mm, delay 10 ms"."""

    @property
    def nothing(self) -> bool:
        return self.sensing.perfect and self.disturbance.nothing


def parse_perturbations(words: Sequence[str], kinds: Kinds = PERTURBATIONS) -> dict[str, float]:
    """``["noise=0.001", ...]`` as numbers by name."""
    found: dict[str, float] = {}
    for word in words:
        name, _, value = word.partition("=")
        unknown_unless_in("perturbation", name, tuple(kinds))
        if name in found:
            raise InvalidInput(f"perturbation {name}", "is given twice", "Give it once.")
        try:
            found[name] = float(value)
        except ValueError:
            raise InvalidInput(f"perturbation {name}", f"is {shown(value)}", f"Give {name}=NUMBER.") from None
    return checked_perturbations(found, kinds)


def checked_perturbations(values: object, kinds: Kinds = PERTURBATIONS) -> dict[str, float]:
    """The perturbations by name, each a number in its range; raises ``InvalidInput`` or ``UnknownName``."""
    if not isinstance(values, Mapping):
        raise InvalidInput("perturb", f"is {shown(values)}", "Give numbers by name: {'noise': 0.001}.")
    found = {}
    for name, value in values.items():
        unknown_unless_in("perturbation", name, tuple(kinds))
        kind = kinds[name]
        found[name] = number(value)
        # Written so that a NaN fails.
        if not kind.least <= found[name] <= kind.most:
            fix = f"Give a number from {kind.least:g} to {kind.most:g}."
            raise InvalidInput(f"perturbation {name}", f"is {shown(value)}", fix)
    return found


def number(value: object) -> float:
    """``value`` as Python's own number; NaN for what is none."""
    try:
        return float(value) if isinstance(value, Real) and not isinstance(value, bool) else math.nan
    except OverflowError:
        return math.nan


def perturbation_for(
    robot: Robot, values: Mapping[str, float], dt_s: float, seed: int, duration_s: float
) -> Perturbation:
    """The perturbation of ``values`` for this arm, time step and length of a run."""
    checked = checked_perturbations(values)
    given = {name: checked.get(name, 0.0) for name in PERTURBATIONS}
    reach = reach_m(robot)
    return Perturbation(
        Sensing(
            noise_rad=given["noise"] / reach,
            bias_rad=given["bias"] / reach,
            delay_ticks=delay_ticks(given["delay"], dt_s, duration_s),
            dropout=given["dropout"],
            seed=seed,
        ),
        Disturbance(
            payload=given["payload"],
            friction_nm=given["friction"],
            gain=given["gain"],
            push_n=given["push"],
        ),
        text=in_words(checked),
    )


def delay_ticks(delay_s: float, dt_s: float, duration_s: float) -> int:
    """The delay in ticks; raises ``InvalidInput`` if it is none of them or outlasts the run."""
    ticks = round(delay_s / dt_s)
    if abs(delay_s / dt_s - ticks) > WHOLE:
        raise InvalidInput(
            "perturbation delay",
            f"is {delay_s:g} s, no whole number of ticks",
            f"Give a multiple of {dt_s:g}.",
        )
    if delay_s > duration_s:
        raise InvalidInput(
            "perturbation delay",
            f"is {delay_s:g} s, longer than the run of {duration_s:g} s",
            "Give a shorter one.",
        )
    return ticks


def in_words(values: Mapping[str, float], kinds: Kinds = PERTURBATIONS) -> str:
    told = ((name, value, kinds[name]) for name, value in values.items() if value)
    return ", ".join(f"{name} {value * kind.scale:g} {kind.unit}" for name, value, kind in told)


def listed(kinds: Kinds) -> str:
    """What there is, for a help text."""
    return "; ".join(f"{name}: {kind.meaning}" for name, kind in kinds.items())
