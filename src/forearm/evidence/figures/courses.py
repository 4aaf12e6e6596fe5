"""What a run did over time: its error, its torques, its manipulability."""

from __future__ import annotations

import math

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from forearm.evidence.figures.drawn import Drawn
from forearm.evidence.figures.style import COLORS, GRID, INK, MUTED, SOURCE, dress, halo, new_figure
from forearm.evidence.figures.units import (
    MOST_POINTS,
    ROUNDING_M,
    envelope,
    length_axis,
    thin,
)
from forearm.evidence.readable import at_most, length_text, metres, three_digits
from forearm.evidence.record import Record
from forearm.spatial import Array

TOUCH, LIMIT = COLORS[4], COLORS[1]
MOST_EVENTS = 8
MOST_DOTS = 1000
OUTSTANDING = 10.0
"""An error so many times larger than nearly all others stands out."""
FLOOR_M = 1e-18
"""Lower no axis begins."""
FARTHEST_M = 10.0
"""An error beyond this runs out of the picture."""


def error_figure(drawn: Drawn, record: Record) -> Figure:
    """Both errors on a logarithmic axis, with what must hold and what the source reports."""
    figure = new_figure(9.4, 4.0)
    axes = dress(figure.subplots(), error_title(drawn), "time (s)", "")
    lines = [
        (drawn.error_m, COLORS[0], "to the true point at that time"),
        (drawn.path_error_m, COLORS[2], "to the edge"),
    ]
    levels = reference_levels(record)
    draw = dots_of_ticks if drawn.exact else band_of_ticks
    for values, color, label in lines:
        draw(axes, drawn, values, color, label)
    low, high = error_range(drawn, [level for _, level in levels])
    length_axis(axes, "y", low, high)
    frame_time(axes, drawn)
    mark_levels(axes, levels)
    mark_happenings(axes, drawn)
    if drawn.exact:
        mark_worst(axes, drawn)
    legend = {"loc": "upper left", "bbox_to_anchor": (0.0, -0.13), "markerscale": 3.0 if drawn.exact else 1.0}
    axes.legend(frameon=False, fontsize=8.5, ncols=4, **legend)
    return figure


def error_title(drawn: Drawn) -> str:
    worst, rms = float(drawn.error_m.max()), float(np.sqrt(np.mean(drawn.error_m**2)))
    end = f", {drawn.cut_short}" if drawn.cut_short else ""
    if drawn.exact:
        return f"Error: {at_most(worst)}, below rounding at every tick{end}"
    return f"Error: RMS {length_text(rms)}, {at_most(worst)}{end}"


def dots_of_ticks(axes: Axes, drawn: Drawn, values: Array, color: str, label: str) -> None:
    """A dot a tick: a curve through roundings would only look like one."""
    some = np.flatnonzero(values > 0.0)
    kept = some[thin(values[some], MOST_DOTS)]
    axes.plot(drawn.time_s[kept], values[kept], ".", markersize=2.5, color=color, label=label)


def mark_worst(axes: Axes, drawn: Drawn) -> None:
    """A ring around the largest error, if it stands out: a single dot is easily overlooked."""
    tick = int(np.argmax(drawn.error_m))
    time_s, worst = float(drawn.time_s[tick]), float(drawn.error_m[tick])
    if not worst > OUTSTANDING * np.percentile(drawn.error_m, 99.0):
        return
    axes.plot(time_s, worst, "o", markersize=6, markerfacecolor="none", color=COLORS[0], clip_on=False)
    aside = (-8, "right") if time_s > 0.85 * drawn.time_s[-1] else (8, "left")
    text = f"{length_text(worst)} at t = {time_s:.4g} s"
    note = axes.annotate(text, (time_s, worst), (aside[0], 0), textcoords="offset points", ha=aside[1])
    note.set(va="center", fontsize=8.5, color=INK, path_effects=halo())


def band_of_ticks(axes: Axes, drawn: Drawn, values: Array, color: str, label: str) -> None:
    """The RMS of every moment as a line, from the smallest to the largest a pale band."""
    middle, lowest, rms, largest = envelope(values)
    time_s = drawn.time_s[middle]
    axes.fill_between(
        time_s,
        np.maximum(lowest, FLOOR_M),
        np.maximum(largest, FLOOR_M),
        color=color,
        alpha=0.22,
        linewidth=0,
    )
    axes.plot(time_s, np.maximum(rms, FLOOR_M), color=color, linewidth=1.3, label=label)


def error_range(drawn: Drawn, levels: list[float]) -> tuple[float, float]:
    """From a decade or so under the usual error to above everything that is shown."""
    largest = float(drawn.error_m.max())
    if drawn.exact:
        some = drawn.path_error_m[drawn.path_error_m > 0.0]
        low = 10.0 ** math.floor(math.log10(max(some.min(initial=largest), FLOOR_M)))
        return 0.7 * low, max(10.0 ** math.ceil(math.log10(max(largest, FLOOR_M))), 100.0 * low)
    largest = max(largest, *levels, 10.0 * ROUNDING_M)
    usual = max(float(np.percentile(drawn.path_error_m, 5.0)), 1e-4 * float(drawn.error_m.max()), FLOOR_M)
    lowest = 10.0 ** math.floor(math.log10(min([usual, *levels])))
    return lowest, max(3.0 * min(largest, FARTHEST_M), 30.0 * lowest)


def reference_levels(record: Record) -> list[tuple[str, float]]:
    """What the record says must hold of the largest error, and what the source reports of it."""
    metric = next((each for each in record.metrics if each.name == "max_error_m"), None)
    found = (
        [("must hold, largest", metres(metric.bar)), ("the source, largest", metres(metric.source))]
        if metric
        else []
    )
    return [(text, level) for text, level in found if level]


def mark_levels(axes: Axes, levels: list[tuple[str, float]]) -> None:
    """Dashed lines, named in the margin where no curve runs; those far above the picture in words."""
    top = axes.get_ylim()[1]
    inside = sorted((each for each in levels if each[1] <= top), key=lambda each: each[1])
    for index, (text, level) in enumerate(inside):
        axes.axhline(level, color=MUTED, linewidth=1.0, linestyle=(0, (4, 3)), zorder=1)
        # Neighbours stand on either side, so that levels that lie together keep their names apart.
        upper = index == len(inside) - 1
        margin_note(axes, (1.0, level), f"{text}\n{length_text(level)}", "bottom" if upper else "top", "data")
    above = [f"{text}\n{length_text(level)}" for text, level in levels if level > top]
    if above:
        margin_note(axes, (1.0, 1.0), "\n".join(["far above:", *above]), "top", "axes fraction")


def margin_note(axes: Axes, place: tuple[float, float], text: str, side: str, y: str) -> None:
    note = axes.annotate(
        text, place, xycoords=("axes fraction", y), xytext=(6, 0), textcoords="offset points"
    )
    note.set(va=side, fontsize=8.5, color=MUTED)


def frame_time(axes: Axes, drawn: Drawn) -> None:
    """The run from end to end, its segments set apart by light lines."""
    axes.grid(visible=False, axis="x")
    for boundary in drawn.boundaries_s:
        axes.axvline(boundary, color=GRID, linewidth=0.8, zorder=0)
    axes.set_xlim(drawn.time_s[0], drawn.time_s[-1])


def mark_happenings(axes: Axes, drawn: Drawn) -> None:
    """Contact and saturation as strips along the bottom, other events as flags at the top."""
    strips = (
        (0.0, drawn.touching, TOUCH, "in contact"),
        (0.025, np.asarray(drawn.saturated.any(axis=1)), LIMIT, "an actuator at its limit"),
    )
    for height, active, color, label in strips:
        spans = stretches(drawn.time_s, active)
        for index, (begin, end) in enumerate(spans):
            axes.axvspan(
                begin,
                end,
                height,
                height + 0.025,
                color=color,
                linewidth=0.8,
                zorder=5,
                label=label if index == 0 else None,
            )
    for index, event in enumerate(drawn.events[:MOST_EVENTS]):
        time_s = float(event["time_s"])
        late = time_s > 0.85 * drawn.time_s[-1]
        axes.axvline(time_s, color=INK, linewidth=0.9, linestyle=(0, (1, 2)), zorder=2)
        axes.annotate(
            str(event["kind"]),
            (time_s, 1.0),
            xycoords=("data", "axes fraction"),
            xytext=(-3 if late else 3, -10 - 11 * (index % 3)),
            textcoords="offset points",
            ha="right" if late else "left",
            path_effects=halo(),
            fontsize=8.0,
            color=INK,
        )


def stretches(time_s: Array, active: Array) -> list[tuple[float, float]]:
    """Begin and end (s) of every stretch of ticks; close ones are joined, so that few are left."""
    ticks = np.flatnonzero(active)
    if not len(ticks):
        return []
    gap = max(len(time_s) // 400, 1)
    breaks = np.flatnonzero(np.diff(ticks) > gap)
    first, last = ticks[np.concatenate([[0], breaks + 1])], ticks[np.concatenate([breaks, [len(ticks) - 1]])]
    return list(zip(time_s[first].tolist(), time_s[last].tolist(), strict=True))


def torque_figure(drawn: Drawn) -> Figure:
    """One panel a joint: the torque over time, and beside it how much of the limit it took."""
    count = len(drawn.joints)
    columns = 1 if count == 1 else 2
    rows = math.ceil(count / columns)
    figure = new_figure(9.4, 0.5 + 1.75 * rows)
    panels = figure.subplots(rows, columns, sharex=True, squeeze=False)
    for index, axes in enumerate(panels.T.ravel()):
        if index < count:
            torque_panel(axes, drawn, index)
        else:
            axes.set_visible(False)
    for axes in panels[-1]:
        axes.set_xlabel("time (s)", color=INK, fontsize=9.5)
    return figure


def torque_panel(axes: Axes, drawn: Drawn, joint: int) -> None:
    torque, limit = drawn.torque_nm[:, joint], float(drawn.max_effort_nm[joint])
    peak = float(np.abs(torque).max())
    dress(axes, "", "", "N·m")
    share = f", {three_digits(100.0 * peak / limit)} % of the limit" if math.isfinite(limit) else ""
    title = f"{drawn.joints[joint]}: {three_digits(peak)} N·m{share}"
    axes.set_title(title, loc="left", fontsize=9.5, color=INK, pad=5)
    kept = thin(torque, MOST_POINTS // 2)
    axes.plot(drawn.time_s[kept], torque[kept], color=COLORS[0], linewidth=1.1)
    saturated = np.flatnonzero(drawn.saturated[:, joint])
    some = saturated[thin(saturated, 200)] if len(saturated) else saturated
    axes.scatter(drawn.time_s[some], torque[some], s=7, color=LIMIT, zorder=4)
    low, high = float(torque.min()), float(torque.max())
    pad = max(0.12 * (high - low), 0.02 * peak, 1e-6)
    axes.set_ylim(low - pad, high + pad)
    for bound in (-limit, limit):
        if low - pad <= bound <= high + pad:
            axes.axhline(bound, color=LIMIT, linewidth=1.0, linestyle=(0, (4, 3)))
    frame_time(axes, drawn)
    if math.isfinite(limit):
        gauge(axes, low, high, limit)


def gauge(axes: Axes, low: float, high: float, limit: float) -> None:
    """The whole range that the limits allow, and in it the range that was used."""
    bar = axes.inset_axes((1.015, 0.0, 0.022, 1.0))
    bar.axhspan(-limit, limit, color=GRID, linewidth=0)
    used = max(high - low, 0.012 * limit)
    middle = 0.5 * (low + high)
    near = max(abs(low), abs(high)) >= 0.98 * limit
    bar.axhspan(middle - 0.5 * used, middle + 0.5 * used, color=LIMIT if near else COLORS[0], linewidth=0)
    bar.axhline(0.0, color=SOURCE, linewidth=0.8)
    bar.set_ylim(-limit, limit)
    bar.set_xlim(0.0, 1.0)
    bar.set_xticks([])
    bar.yaxis.tick_right()
    bar.set_yticks([-limit, limit], [f"−{limit:g}", f"{limit:g}"], fontsize=7, color=MUTED)
    bar.tick_params(length=0, pad=2)
    for spine in bar.spines.values():
        spine.set_visible(False)


def manipulability_figure(drawn: Drawn) -> Figure:
    figure = new_figure(9.4, 2.5)
    worst = int(np.argmin(drawn.manipulability))
    least = float(drawn.manipulability[worst])
    title = f"Manipulability: at least {least:.3g}, at t = {drawn.time_s[worst]:.3g} s"
    axes = dress(figure.subplots(), title, "time (s)", "sqrt(det(J Jᵀ))")
    kept = thin(drawn.manipulability)
    axes.plot(drawn.time_s[kept], drawn.manipulability[kept], color=COLORS[3], linewidth=1.6)
    axes.scatter([drawn.time_s[worst]], [least], s=28, color=COLORS[3], zorder=4, clip_on=False)
    axes.set_ylim(0.0, 1.12 * max(float(drawn.manipulability.max()), 1e-9))
    frame_time(axes, drawn)
    return figure
