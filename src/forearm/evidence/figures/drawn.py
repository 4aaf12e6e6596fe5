"""What the figures of a drawing run are made from, read from its files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from forearm.evidence.figures.units import ROUNDING_M
from forearm.evidence.files import read_events
from forearm.evidence.record import Record
from forearm.evidence.trace import TRACE, read_trace
from forearm.spatial import Array

ROUTINE = ("start", "end", "plan", "phase", "segment", "contact", "saturation")
"""Events that the figures show in another way, or that nobody looks for in them."""


@dataclass(frozen=True, eq=False, slots=True)
class Drawn:
    """A run's trace, up to its first row that is not finite."""

    time_s: Array
    segment: Array
    tip_m: Array
    target_m: Array
    error_m: Array
    path_error_m: Array
    torque_nm: Array
    """(ticks, joints)"""
    saturated: Array
    """(ticks, joints), whether"""
    manipulability: Array
    touching: Array
    joints: Sequence[str]
    max_effort_nm: Array
    corners_m: Array
    events: Sequence[dict[str, Any]]

    @property
    def deviation_m(self) -> Array:
        """From the nearest point of the edge being drawn to the tip (ticks, 3)."""
        start = self.corners_m[self.segment]
        step = self.corners_m[self.segment + 1] - start
        along = np.einsum("ij,ij->i", self.tip_m - start, step)
        share = np.clip(along / np.maximum(np.einsum("ij,ij->i", step, step), 1e-30), 0.0, 1.0)
        return self.tip_m - start - share[:, None] * step

    @property
    def side_m(self) -> float:
        """The figure's longest extent along an axis."""
        return float(np.ptp(self.corners_m, axis=0).max())

    @property
    def segments(self) -> int:
        """How many the whole stroke has."""
        return len(self.corners_m) - 1

    @property
    def cut_short(self) -> str:
        """Where the trace ends, if that is before the stroke does."""
        reached = int(self.segment[-1]) + 1
        at_end = np.linalg.norm(self.target_m[-1] - self.corners_m[-1]) < 0.02 * self.side_m
        return "" if reached >= self.segments and at_end else f"ends in segment {reached} of {self.segments}"

    @property
    def exact(self) -> bool:
        """Whether nothing is left of the error but rounding."""
        return float(self.error_m.max()) < ROUNDING_M

    @property
    def boundaries_s(self) -> Array:
        """The times at which a new segment begins."""
        return self.time_s[1:][np.diff(self.segment) != 0]


def read_drawn(folder: Path, record: Record) -> Drawn | None:
    """The run in an artifact's folder; None if it was refused or cut off before its first tick."""
    if not (folder / TRACE).exists():
        return None
    trace, inputs = read_trace(folder), record.inputs
    names = [str(name) for name in inputs["joints"]]
    rows = finite_rows(trace)
    if rows < 2:
        return None

    def columns(*keys: str) -> Array:
        return np.column_stack([trace[key][:rows] for key in keys]).astype(np.float64)

    corners = np.array(inputs["corners_m"], dtype=np.float64)
    bits = trace["saturated"][:rows].astype(np.int64)
    return Drawn(
        time_s=trace["time_s"][:rows],
        segment=np.clip(trace["segment"][:rows].astype(np.int64), 0, len(corners) - 2),
        tip_m=columns("tip_x_m", "tip_y_m", "tip_z_m"),
        target_m=columns("target_x_m", "target_y_m", "target_z_m"),
        error_m=trace["error_m"][:rows],
        path_error_m=trace["path_error_m"][:rows],
        torque_nm=columns(*(f"torque_{name}" for name in names)),
        saturated=(bits[:, None] >> np.arange(len(names))) & 1 == 1,
        manipulability=trace["manipulability"][:rows],
        touching=trace["contacts"][:rows] > 0,
        joints=names,
        max_effort_nm=np.array([np.inf if value is None else value for value in inputs["max_effort"]]),
        corners_m=corners,
        events=[event for event in read_events(folder) if event["kind"] not in ROUTINE],
    )


def finite_rows(trace: dict[str, Array]) -> int:
    """How many rows come before the first that holds a number that is not finite."""
    bad = np.zeros(len(trace["time_s"]), dtype=bool)
    for values in trace.values():
        if values.dtype.kind == "f":
            bad |= ~np.isfinite(values)
    return int(np.argmax(bad)) if bad.any() else len(bad)
