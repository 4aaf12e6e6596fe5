"""What can be chosen of an insertion: options, perturbations, and faults planted on purpose."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from forearm.arguments import seed_number
from forearm.control.insertion.hole import Hole
from forearm.errors import unknown_unless_in
from forearm.sim.disturbance import Disturbance
from forearm.sim.hole_sensing import HoleSensing
from forearm.sim.insertion import TICK_S
from forearm.tasks._perturb import Kind, delay_ticks, listed, parse_perturbations

LONGEST_S = 30.0
"""A trial that has not touched the plate by then has failed."""

PERTURBATIONS = {
    "noise": Kind("noise of each sensor on the box (m)", 0.0, 0.1, 1e3, "mm"),
    "delay": Kind(
        "delay of those sensors (s), whole ticks; readings say when they were taken", 0.0, 1.0, 1e3, "ms"
    ),
    "dropout": Kind("share of readings lost", 0.0, 0.99, 1e2, "%"),
    "payload": Kind("arm and tool heavier than believed by this share", -0.9, 9.0, 1e2, "%"),
    "friction": Kind("dry friction in every joint (N·m)", 0.0, 100.0, 1.0, "N·m"),
    "gain": Kind("motors too strong by this share", -0.99, 9.0, 1e2, "%"),
    "torque": Kind("torque limits are this share of the rated ones", 0.01, 1.0, 1e2, "%"),
    "play": Kind("play on each side of the tool (m), instead of 0.001", 1e-4, 0.01, 1e3, "mm"),
}


class Fault(NamedTuple):
    meaning: str
    label: str
    """Whom the failure has to be blamed on."""


FAULTS = {
    "": Fault("none", ""),
    "wrong_frame": Fault("the 90° turn from the box's frame to the tool's is left out", "perception"),
    "stale_sensor": Fault("readings are 0.2 s older than they say", "state"),
    "false_ik": Fault("the IK stops 10 cm before the pose and calls its last iterate solved", "planning"),
    "weak_motors": Fault("motors give 20 % of their torque", "control"),
}
STALE_S = 0.2
FALSE_IK_M = 0.1
WEAK_SHARE = 0.2


@dataclass(frozen=True, slots=True)
class InsertionOptions:
    """Plain data, kept in the record."""

    controller: str
    difficulty: float
    seed: int = 0
    arm: str = "mini_arm"
    perturb: Mapping[str, float] = field(default_factory=dict)
    fault: str = ""

    def __post_init__(self) -> None:
        unknown_unless_in("fault", self.fault, tuple(FAULTS))

    def given(self, name: str, otherwise: float = 0.0) -> float:
        return self.perturb.get(name, otherwise)

    @property
    def play_m(self) -> float:
        return self.given("play", Hole().play_m)

    @property
    def delay_ticks(self) -> int:
        return delay_ticks(self.given("delay"), TICK_S, LONGEST_S)

    @property
    def sensing(self) -> HoleSensing:
        stale = round(STALE_S / TICK_S) if self.fault == "stale_sensor" else 0
        return HoleSensing(self.given("noise"), self.delay_ticks, self.given("dropout"), stale, self.seed)

    @property
    def disturbance(self) -> Disturbance:
        weak = WEAK_SHARE if self.fault == "weak_motors" else 1.0
        return Disturbance(
            friction_nm=self.given("friction"),
            gain=self.given("gain"),
            mass=self.given("payload"),
            effort=weak * self.given("torque", 1.0),
        )


def add_insertion_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--controller", default="predictive", help="which controller (default predictive)")
    parser.add_argument(
        "--difficulty",
        type=float,
        default=0.5,
        help="how far and how fast the box moves: 0 to 2 (default 0.5)",
    )
    parser.add_argument(
        "--seed", type=seed_number, default=0, help="draws the box's phases, the start, the noise (default 0)"
    )
    parser.add_argument("--arm", default="mini_arm", help="which arm: mini_arm or ur5e (default mini_arm)")
    parser.add_argument(
        "--perturb",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help=f"make it harder. {listed(PERTURBATIONS)}",
    )
    told = "; ".join(f"{name}: {fault.meaning}" for name, fault in FAULTS.items() if name)
    parser.add_argument("--fault", default="", metavar="NAME", help=f"plant a fault on purpose. {told}")


def insertion_options(args: argparse.Namespace) -> dict[str, Any]:
    """The arguments as plain data, which a record keeps and a replay gives again."""
    return {
        "controller": args.controller,
        "difficulty": args.difficulty,
        "seed": args.seed,
        "arm": args.arm,
        "perturb": parse_perturbations(args.perturb, PERTURBATIONS),
        "fault": args.fault,
    }
