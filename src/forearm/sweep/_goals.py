"""What must hold of an insertion sweep, and what the text that the task comes from reports."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

JUDGED = "predictive"
"""The controller that has goals; the others are there to be compared with."""
HARDEST = 0.9
"""The goals are for difficulties up to this one."""


class Goal(NamedTuple):
    text: str
    least: float = float("-inf")
    most: float = float("inf")

    def holds(self, value: float | int | str | None) -> bool:
        # Written so that a NaN fails.
        return isinstance(value, float | int) and self.least <= value <= self.most


GOALS = {
    "least_success_rate": Goal(">= 100 %", least=1.0),
    "mean_time_s": Goal("<= 1.5 s", most=1.5),
    "p95_time_s": Goal("<= 2.5 s", most=2.5),
    "peak_force_p95_n": Goal("<= 60 N", most=60.0),
    "deepest_sink_m": Goal("<= 0.3 mm", most=0.3e-3),
}

PERTURBED = {"noise": 1e-3, "delay": 0.02}
"""The one perturbation with goals of its own."""
PERTURBED_GOALS = {
    "success_rate": Goal(">= 99 %", least=0.99),
    "mean_time_s": Goal("<= 2 s", most=2.0),
}

SOURCE = {
    ("baseline", "least_success_rate"): "under 60 % in its worst settings",
    ("baseline", "mean_time_s"): "7.28 s",
    ("direct", "least_success_rate"): "at least 90 %",
    ("direct", "mean_time_s"): "3.78 s",
}


def goals_for(controller: str, options: Mapping[str, Any]) -> Mapping[str, Goal]:
    """The goals of a controller in a sweep with these options, by what is measured."""
    if controller != JUDGED or max(options["difficulties"]) > HARDEST:
        return {}
    if options["perturb"] == PERTURBED:
        return PERTURBED_GOALS
    return {} if options["perturb"] else GOALS


def reported(controller: str, measured: str, options: Mapping[str, Any]) -> str | None:
    """What the source reports; it knows no perturbations."""
    return None if options["perturb"] else SOURCE.get((controller, measured))
