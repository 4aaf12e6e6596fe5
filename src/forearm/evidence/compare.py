"""Whether two artifacts say the same: bit for bit, timings aside."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

from forearm.evidence.record import read_record
from forearm.evidence.trace import read_trace

TIMINGS = frozenset({"loop_time_ratio", "loop_us_per_tick"})
"""Metrics that measure the machine, not the run."""


class Difference(NamedTuple):
    what: str
    first: object
    second: object


def differences(first: Path, second: Path) -> list[Difference]:
    """Every metric, failure and trace column in which two artifacts differ, at the first tick of each."""
    one, other = read_record(first), read_record(second)
    found = [
        Difference(a.name, a.value, b.value)
        for a, b in zip(one.metrics, other.metrics, strict=False)
        if a.name not in TIMINGS and (a.name, a.value) != (b.name, b.value)
    ]
    if len(one.metrics) != len(other.metrics):
        found.append(Difference("number of metrics", len(one.metrics), len(other.metrics)))
    for what in ("outcome", "failures"):
        if getattr(one, what) != getattr(other, what):
            found.append(Difference(what, getattr(one, what), getattr(other, what)))
    has_trace = [(folder / "trace.parquet").exists() for folder in (first, second)]
    if has_trace[0] != has_trace[1]:
        found.append(Difference("trace", *has_trace))
    elif all(has_trace):
        found += trace_differences(first, second)
    return found


def trace_differences(first: Path, second: Path) -> list[Difference]:
    one, other = read_trace(first), read_trace(second)
    found = []
    if list(one) != list(other):
        return [Difference("trace columns", sorted(one), sorted(other))]
    for name, values in one.items():
        if len(values) != len(other[name]):
            found.append(Difference(f"rows of {name}", len(values), len(other[name])))
            continue
        # Bits, not values: a NaN equals itself, and -0.0 is not 0.0.
        unequal = values.view(np.int64) != other[name].view(np.int64)
        if unequal.any():
            tick = int(np.argmax(unequal))
            found.append(Difference(f"{name} at row {tick}", values[tick], other[name][tick]))
    return found
