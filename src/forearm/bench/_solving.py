"""What the inverse kinematics panels share: drawing targets, running a solver over them, summing up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from forearm.evidence.record import SHARE, Metric, Outcome, Record
from forearm.ik.result import IKResult, Status
from forearm.robots.robot import Robot
from forearm.spatial import Array


def uniform_in_limits(robot: Robot, generator: np.random.Generator) -> Array:
    """A joint vector uniform inside the limits; a joint that lacks one gets a turn (or 2π m)."""
    lower = np.where(np.isfinite(robot.lower), robot.lower, np.minimum(-np.pi, robot.upper - 2.0 * np.pi))
    upper = np.where(np.isfinite(robot.upper), robot.upper, np.maximum(np.pi, lower + 2.0 * np.pi))
    return generator.uniform(lower, upper)


def outcome_row(result: IKResult, **labels: Any) -> dict[str, Any]:
    """One line of a panel's table."""
    nearest = result.solutions[0] if result.solutions else result.best_effort
    return {
        **labels,
        "solver": result.solver,
        "status": result.status,
        "reason": result.reason,
        "iterations": result.diagnostics.iterations,
        "position_error_m": nearest.position_error_m if nearest else None,
        "rotation_error_rad": nearest.rotation_error_rad if nearest else None,
        "min_singular_value": nearest.min_singular_value if nearest else None,
        "clamped_steps": result.diagnostics.clamped_steps,
    }


def success_rate(rows: Sequence[dict[str, Any]]) -> float:
    return sum(row["status"] == Status.SOLVED for row in rows) / len(rows)


def mean_iterations(rows: Sequence[dict[str, Any]]) -> float:
    """Over the problems that were solved; NaN if none was."""
    solved = [row["iterations"] for row in rows if row["status"] == Status.SOLVED]
    return float(np.mean(solved)) if solved else float("nan")


def at_most(name: str, value: float, most: float, unit: str, meaning: str) -> Metric:
    """A figure that must not be above ``most``."""
    return Metric(name, value, unit, meaning, None, f"<= {most:g} {unit}".strip(), value <= most)


def at_least(name: str, value: float, least: float, unit: str, meaning: str) -> Metric:
    """A figure that must not be below ``least``; shares are between 0 and 1."""
    bar = f">= {100.0 * least:g} %" if unit == SHARE else f">= {least:g} {unit}".strip()
    return Metric(name, value, unit, meaning, None, bar, value >= least)


def zero(name: str, count: int, meaning: str) -> Metric:
    """A count of what must not happen."""
    return Metric(name, count, "", meaning, None, "0", count == 0)


def judged(record: Record, metrics: Sequence[Metric]) -> Record:
    """The record with its metrics; it failed if one of them did not hold."""
    failures = [
        {
            "label": "evaluation",
            "text": f"{metric.meaning}: {metric.shown}, must hold: {metric.bar}",
        }
        for metric in metrics
        if metric.passed is False
    ]
    outcome = Outcome.FAILED if failures else Outcome.PASSED
    return replace(record, metrics=tuple(metrics), failures=tuple(failures), outcome=outcome)
