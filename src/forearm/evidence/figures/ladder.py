"""The ladder of controllers: the same stroke, one cause of error fewer on every rung."""

from __future__ import annotations

import math
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from forearm.evidence.figures.style import COLORS, INK, MUTED, SOURCE, dress, new_figure
from forearm.evidence.figures.units import ROUNDING_M, length_axis
from forearm.evidence.readable import at_most, digits, length_text, metres, unit_for

LEAST_M, MOST_M = 1e-6, 1.0
"""The axis goes no farther: what is smaller or larger is an arrow at its end, and a number beside it."""
ROOM = 0.3
"""Decades between the axis' beginning and the smallest bar's end."""


def ladder_figure(rows: list[dict[str, Any]]) -> Figure:
    """RMS error as bars on a logarithmic axis, the largest as a whisker, the source's figure in grey."""
    figure = new_figure(9.4, 1.1 + 0.58 * len(rows))
    axes = dress(figure.subplots(), "The same stroke, controller by controller", "RMS error, logarithmic", "")
    low, high = span(rows)
    length_axis(axes, "x", low, high)
    for place, row in enumerate(rows):
        rms, largest, source = row.get("rms_error_m"), row.get("max_error_m"), metres(row.get("source"))
        shift = 0.16 if source else 0.0
        color = COLORS[4] if ran_away(rms) else COLORS[0]
        bar(axes, place - shift, rms, 0.34, color)
        whisker(axes, place - shift, rms, largest, color)
        beside(axes, place - shift, value_text(rms, largest), INK)
        if source:
            bar(axes, place + shift, source, 0.24, SOURCE)
            beside(axes, place + shift + 0.03, f"the source: {row['source']}", MUTED)
    axes.set_yticks(range(len(rows)), [row["label"] for row in rows], fontsize=9, color=INK)
    axes.set_ylim(len(rows) - 0.45, -0.55)
    axes.grid(visible=False, axis="y")
    return figure


def ladder_table(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What the figure shows and what it leaves out, a rung a row, its lengths in one unit."""
    return [
        {
            "controller": row.get("label"),
            **lengths(row.get("rms_error_m"), row.get("max_error_m")),
            "the source": row.get("source") or None,
            "ticks in contact": row.get("contacts"),
            "what it is": row.get("note") or None,
            "trace": row.get("trace"),
        }
        for row in rows
    ]


def lengths(rms_m: float | None, largest_m: float | None) -> dict[str, str]:
    if rms_m is None or largest_m is None or ran_away(rms_m) or ran_away(largest_m):
        return {"RMS": "ran away", "largest": "ran away"}
    scale, unit = unit_for(largest_m)
    return {"RMS": f"{digits(rms_m / scale)} {unit}", "largest": f"{digits(largest_m / scale)} {unit}"}


def span(rows: list[dict[str, Any]]) -> tuple[float, float]:
    """Whole decades around all values, no farther than the axis goes."""
    values = [row.get(name) for row in rows for name in ("rms_error_m", "max_error_m")]
    values += [length for length in (metres(row.get("source")) for row in rows) if length]
    sizes = [on_axis(value) for value in values]
    seen = [size for size in sizes if size > LEAST_M]
    low = 10.0 ** math.floor(math.log10(min(seen, default=LEAST_M)) - ROOM)
    high = 10.0 ** math.ceil(math.log10(max(sizes)))
    return max(low, LEAST_M), max(high, 100.0 * LEAST_M)


def on_axis(value_m: float | None) -> float:
    return MOST_M if value_m is None or not value_m <= MOST_M else max(value_m, LEAST_M)


def ran_away(value_m: float | None) -> bool:
    return value_m is None or not math.isfinite(value_m)


def bar(axes: Axes, place: float, value_m: float | None, height: float, color: str) -> None:
    """A bar from the axis' beginning; an arrow where its end lies outside."""
    low, high = axes.get_xlim()
    end = high if value_m is None or not value_m <= high else max(value_m, low)
    axes.barh(place, end - low, left=low, height=height, color=color)
    if end in (low, high):
        axes.plot(end, place, marker="<" if end == low else ">", color=color, markersize=7, clip_on=False)


def whisker(axes: Axes, place: float, rms_m: float | None, largest_m: float | None, color: str) -> None:
    low, high = axes.get_xlim()
    if rms_m is None or largest_m is None or not low < rms_m < high:
        return
    ends = [rms_m, min(largest_m, high)]
    axes.plot(ends, [place] * 2, color=color, linewidth=1.4, marker="|", markersize=6, markevery=[1])


def value_text(rms_m: float | None, largest_m: float | None) -> str:
    if rms_m is None or ran_away(rms_m):
        return "ran away"
    if largest_m is not None and largest_m < ROUNDING_M:
        return f"below rounding ({at_most(largest_m)})"
    worst = "" if largest_m is None else f", {at_most(largest_m)}"
    return f"RMS {length_text(rms_m)}{worst}"


def beside(axes: Axes, place: float, text: str, color: str) -> None:
    """Words in the column to the right of the axis."""
    axes.annotate(
        text,
        (1.0, place),
        xycoords=("axes fraction", "data"),
        xytext=(12, 0),
        textcoords="offset points",
        va="center",
        fontsize=8.5,
        color=color,
    )
