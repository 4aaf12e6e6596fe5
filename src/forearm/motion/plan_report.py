"""What the plan check found: each measure at its worst, where that is, and the reasons to refuse."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any, NamedTuple

import numpy as np

from forearm.errors import ForearmError
from forearm.jsonable import plain
from forearm.motion.follow import Jump
from forearm.motion.places import Place

LABEL = "planning"
"""The failure label of everything that the plan check finds; its texts do not repeat it."""


class Clearance(NamedTuple):
    """How near the arm is to the scene at a posture, and where; negative is how deep it is inside."""

    distance_m: float
    link: str
    obstacle: str


class Worst(NamedTuple):
    """The worst value of one measure along the plan."""

    value: float
    unit: str
    limit: float
    """What it is held against, in the same unit; infinite for none."""
    name: str
    """The joint, the link or the singularity."""
    place: Place

    def __str__(self) -> str:
        against = f" of {self.limit:.4g}" if np.isfinite(self.limit) else ""
        return f"{self.value:.4g}{against} {self.unit}".rstrip() + f", {self.name} ({self.place})"


class Touch(NamedTuple):
    """Where a link comes to touch something."""

    link: str
    obstacle: str
    place: Place

    def __str__(self) -> str:
        return f"link {self.link} hits {self.obstacle} first ({self.place})"


class Obstructed(NamedTuple):
    """The nearest that any link comes to anything in the scene."""

    distance_m: float
    required_m: float
    link: str
    obstacle: str
    place: Place
    q: tuple[float, ...]
    """The posture there."""
    first: Touch | None
    """The earliest touch; None if nothing is touched."""

    def __str__(self) -> str:
        if not self.link:
            return "nothing near"
        return f"{self.distance_m:.4g} m, {self.link} to {self.obstacle} ({self.place})"


@dataclass(frozen=True, slots=True)
class PlanReport:
    """What a plan asks for, at its worst; ``problems`` are the reasons to refuse it."""

    duration_s: float
    ticks: int
    limit_margin: Worst | None
    """The nearest that a joint comes to the end of its range, negative past it; None without limits."""
    peak_speed: Worst
    peak_effort: Worst
    singularity: Worst
    """Smallest over largest singular value of the task's Jacobian."""
    clearance: Obstructed | None
    """None if no scene was asked."""
    jumps: tuple[Jump, ...]
    problems: tuple[str, ...] = field(default=())

    @property
    def ok(self) -> bool:
        return not self.problems

    def require(self, force: bool = False) -> PlanReport:
        """Itself, or ``PlanRefused`` if there are problems and they are not forced aside."""
        if not (self.ok or force):
            raise PlanRefused(self)
        return self

    def lines(self) -> list[str]:
        """The report as text, a measure a line."""
        return [
            f"limit margin {self.limit_margin or 'unlimited'}",
            f"peak speed {self.peak_speed}",
            f"peak effort {self.peak_effort}",
            f"singularity margin {self.singularity}",
            f"clearance {self.clearance or 'not asked'}",
            f"jumps {len(self.jumps)}",
            *self.problems,
        ]

    def to_json(self) -> dict[str, Any]:
        return plain({item.name: named(getattr(self, item.name)) for item in fields(self)} | {"ok": self.ok})


class PlanRefused(ForearmError):
    """A plan collides, or exceeds what the arm can do."""

    def __init__(self, report: PlanReport) -> None:
        self.report, self.label = report, LABEL
        more = len(report.problems) - 1
        also = f" (and {more} more)" if more > 0 else ""
        super().__init__(f"{report.problems[0]}{also}. Pass force=True (--force) to run it all the same.")


def named(value: Any) -> Any:
    """Named tuples as mappings, all the way down."""
    if hasattr(value, "_asdict"):
        return {name: named(item) for name, item in value._asdict().items()}
    return [named(item) for item in value] if isinstance(value, tuple | list) else value
