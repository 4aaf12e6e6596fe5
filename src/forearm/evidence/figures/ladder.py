"""The ladder of controllers: the same stroke, one cause of error fewer on every rung."""

from __future__ import annotations

import math
from typing import Any

from matplotlib.figure import Figure

from forearm.evidence.figures.style import COLORS, INK, MUTED, SOURCE, dress, new_figure
from forearm.evidence.figures.units import ROUNDING_M, length_axis
from forearm.evidence.readable import at_most, length_text, metres

LARGEST_M = 10.0
"""A run that ran away gets a bar of this length."""
LONGEST_NOTE = 105


def ladder_figure(rows: list[dict[str, Any]]) -> Figure:
    """RMS error as bars on a logarithmic axis, the largest as a whisker, the source's figure in grey."""
    figure = new_figure(9.4, 1.1 + 0.80 * len(rows))
    axes = dress(figure.subplots(), "The same stroke, controller by controller", "error", "")
    low, high = span(rows)
    length_axis(axes, "x", low, high)
    for place, row in enumerate(rows):
        rms, largest = row.get("rms_error_m"), row.get("max_error_m")
        source = metres(row.get("source"))
        shift = 0.16 if source else 0.0
        reach = size(rms)
        axes.barh(
            place - shift, reach, left=low, height=0.34, color=COLORS[0] if rms is not None else COLORS[4]
        )
        end = max(reach, size(largest)) if rms is not None else reach
        if end > reach:
            axes.plot(
                [reach, end], [place - shift] * 2, color=COLORS[0], linewidth=1.4, marker="|", markersize=6
            )
        write(axes, end, place - shift, value_text(rms, largest), INK)
        if source:
            axes.barh(place + shift, source, left=low, height=0.24, color=SOURCE)
            write(axes, source, place + shift, f"the source: {row['source']}", MUTED)
        note = str(row.get("note") or "")
        beneath = place + (0.42 if source else 0.28)
        write(
            axes, low, beneath, note if len(note) <= LONGEST_NOTE else f"{note[: LONGEST_NOTE - 1]}…", MUTED
        )
    axes.set_yticks(range(len(rows)), [row["label"] for row in rows], fontsize=9, color=INK)
    axes.set_ylim(len(rows) - 0.45, -0.55)
    axes.grid(visible=False, axis="y")
    return figure


def span(rows: list[dict[str, Any]]) -> tuple[float, float]:
    """The axis' ends: room on the left for the smallest bar, on the right for its text."""
    values = [size(row.get("rms_error_m")) for row in rows] + [size(row.get("max_error_m")) for row in rows]
    values += [value for value in (metres(row.get("source")) for row in rows) if value]
    low = 10.0 ** math.floor(math.log10(min(values)) - 0.5)
    decades = math.log10(max(values) / low)
    return low, max(values) * 10.0 ** max(0.42 * decades, 0.5)


def size(value_m: float | None) -> float:
    """How far a bar reaches: not under rounding; to the end for a run that ran away."""
    if value_m is None or not math.isfinite(value_m):
        return LARGEST_M
    return min(max(value_m, ROUNDING_M), LARGEST_M)


def value_text(rms_m: float | None, largest_m: float | None) -> str:
    if rms_m is None or not math.isfinite(rms_m):
        return "ran away"
    if largest_m is not None and largest_m < ROUNDING_M:
        return f"below rounding ({at_most(largest_m)})"
    worst = "" if largest_m is None else f", {at_most(largest_m)}"
    return f"RMS {length_text(rms_m)}{worst}"


def write(axes: Any, end: float, place: float, text: str, color: str) -> None:
    axes.annotate(
        text, (end, place), xytext=(6, 0), textcoords="offset points", va="center", fontsize=8.5, color=color
    )
