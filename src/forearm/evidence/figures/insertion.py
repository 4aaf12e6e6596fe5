"""Figures of one trial of the insertion: how deep, how far beside, what was believed, force and torque."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from forearm.evidence.figures import Figures, figures_for
from forearm.evidence.figures.courses import margin_note
from forearm.evidence.figures.style import COLORS, INK, dress, halo, new_figure
from forearm.evidence.figures.units import MOST_POINTS, length_axis, thin
from forearm.evidence.files import read_events
from forearm.evidence.readable import length_text, three_digits
from forearm.evidence.record import Record
from forearm.evidence.trace import TRACE, read_trace
from forearm.spatial import Array

PHASE_COLORS = ("#b9c4d0", "#7fb2f0", "#f2c14e", "#6cc29b", "#b58be0", "#ee8a6b", "#8d99a6", "#d8b4a0")
TRUTH, LIMIT = INK, COLORS[1]
DASHED, DOTTED = (0, (4, 3)), (0, (1, 2))
WIDE = 0.12
"""A phase that takes up so much of the axis bears its name; of the others the legend tells."""
MOST_BANDS = 60
BEFORE_MOUTH_M = 0.02
"""From so far before the mouth on the entry is shown."""
AROUND_S = 0.1
"""So long before and after the touch the forces are shown."""
LEAST_M = 1e-6
"""Nearer than this nothing is told apart on the axes of lengths."""
FARTHEST_M = 10.0
LEAST_PERCENT = 0.01
MOST_PANEL_POINTS = MOST_POINTS // 2


@dataclass(frozen=True, eq=False, slots=True)
class Inserted:
    """A trial's trace, up to the first row in which the arm's own numbers are not finite."""

    time_s: Array
    phase: Array
    phases: Sequence[str]
    depth_m: Array
    beside_m: Array
    """(ticks, 2): the tool's end from the hole's axis, along y and z."""
    off_m: Array
    """How far the hole was believed to be from where it was; NaN where nothing was believed."""
    sure_m: Array
    believed_hz: Array
    true_hz: float
    force_n: Array
    felt_n: Array
    share: Array
    """(ticks, joints): torques as shares of the limits."""
    joints: Sequence[str]
    play_m: float
    plate_m: float
    touched_s: float | None
    """When the tool came upon the plate, inside the hole."""


@figures_for("run.insert")
def insertion_trial_figures(folder: Path, record: Record) -> Figures:
    """None for a trial that ended before its second tick."""
    trial = read_inserted(folder, record)
    if trial is None:
        return []
    figures: Figures = [
        (
            "How far the tool's end is past the mouth, the phases of the controller behind it.",
            depth_figure(trial),
        ),
        (beside_caption(trial), beside_figure(trial)),
    ]
    if believes_wrongly(trial):
        figures.append((belief_caption(trial), belief_figure(trial)))
    if (trial.force_n > 0.0).any():
        figures.append((force_caption(trial), force_figure(trial)))
    caption = (
        "The torques as shares of what the joints have; dashed: the limits. Motors that were made weaker or "
        "stronger have other limits than these."
    )
    return [*figures, (caption, torque_figure(trial))]


def read_inserted(folder: Path, record: Record) -> Inserted | None:
    if not (folder / TRACE).exists():
        return None
    trace, inputs = read_trace(folder), record.inputs
    names = [str(name) for name in inputs["joints"]]
    torques = [trace[f"torque_{name}"] for name in names]
    ends = [trace[f"end_in_box_{name}_m"] for name in ("depth", "y", "z")]
    good = np.isfinite(np.column_stack([*torques, *ends])).all(axis=1)
    rows = len(good) if good.all() else int(np.argmin(good))
    if rows < 2:
        return None

    def column(name: str) -> Array:
        return trace[name][:rows].astype(np.float64)

    limits = np.array([np.inf if limit is None else limit for limit in inputs["max_effort"]])
    off = np.column_stack([column(f"seen_{axis}_m") - column(f"true_{axis}_m") for axis in "xyz"])
    # Imported here, for it brings the engine, which reports of other kinds do without.
    from forearm.sim.vibrating_box import Vibration

    return Inserted(
        time_s=column("time_s"),
        phase=trace["phase"][:rows].astype(np.int64),
        phases=[str(name) for name in inputs["phases"]],
        depth_m=column("end_in_box_depth_m"),
        beside_m=np.column_stack([column("end_in_box_y_m"), column("end_in_box_z_m")]),
        off_m=np.linalg.norm(off, axis=1),
        sure_m=column("sure_m"),
        believed_hz=column("believed_hz"),
        true_hz=Vibration(**inputs["box"]).frequency_hz,
        force_n=column("tool_force_n"),
        felt_n=column("felt_n"),
        share=np.column_stack([torque[:rows] for torque in torques]) / limits,
        joints=names,
        play_m=float(inputs["hole"]["play_m"]),
        plate_m=float(inputs["hole"]["depth_m"]),
        touched_s=next(
            (float(each["time_s"]) for each in read_events(folder) if each["kind"] == "touch"), None
        ),
    )


def depth_figure(trial: Inserted) -> Figure:
    figure = new_figure(9.4, 4.2)
    axes = dress(figure.subplots(), depth_title(trial), "time (s)", "past the mouth (mm)")
    line(axes, trial.time_s, 1e3 * trial.depth_m, COLORS[0], width=1.7)
    for level_m, text in ((0.0, "mouth"), (trial.plate_m, "plate")):
        axes.axhline(1e3 * level_m, color=INK, linewidth=0.9, linestyle=DASHED, zorder=1.5)
        margin_note(axes, (1.0, 1e3 * level_m), f"{text}, {1e3 * level_m:g} mm", "center", "data")
    low, high = min(float(trial.depth_m.min()), 0.0), max(float(trial.depth_m.max()), trial.plate_m)
    axes.set_ylim(1e3 * (low - 0.06 * (high - low)), 1e3 * (high + 0.14 * (high - low)))
    frame(axes, trial)
    mark_touch(axes, trial)
    handles = bands(axes, trial)
    if handles:
        axes.legend(
            handles=handles,
            frameon=False,
            fontsize=8.5,
            ncols=4,
            loc="upper left",
            bbox_to_anchor=(0.0, -0.13),
        )
    return figure


def depth_title(trial: Inserted) -> str:
    if trial.touched_s is not None:
        return f"On the plate at t = {trial.touched_s:.4g} s"
    return f"Not on the plate within {trial.time_s[-1]:.3g} s"


def bands(axes: Axes, trial: Inserted) -> list[Patch]:
    """A coloured band a phase, named where there is room; patches for the legend of those that are not."""
    changes = np.flatnonzero(np.diff(trial.phase)) + 1
    edges = [0, *changes.tolist(), len(trial.phase) - 1]
    span, named = float(trial.time_s[-1] - trial.time_s[0]), set()
    for begin, end in list(pairwise(edges))[:MOST_BANDS]:
        phase = int(trial.phase[begin])
        start_s, end_s = float(trial.time_s[begin]), float(trial.time_s[end])
        axes.axvspan(start_s, end_s, color=phase_color(phase), alpha=0.45, linewidth=0.6, zorder=0)
        if end_s - start_s > WIDE * span:
            named.add(phase)
            name = axes.annotate(
                phase_name(trial, phase),
                (start_s, 1.0),
                xycoords=("data", "axes fraction"),
                xytext=(6, -5),
                textcoords="offset points",
            )
            name.set(ha="left", va="top", fontsize=9.0, color=INK, path_effects=halo())
    tick_s = span / (len(trial.phase) - 1)
    lasted = {phase: tick_s * int(np.sum(trial.phase == phase)) for phase in np.unique(trial.phase).tolist()}
    return [
        Patch(
            color=phase_color(phase),
            alpha=0.45,
            label=f"{phase_name(trial, phase)}, {time_text(lasted[phase])}",
        )
        for phase in lasted
        if phase not in named
    ]


def phase_name(trial: Inserted, phase: int) -> str:
    return trial.phases[phase] if 0 <= phase < len(trial.phases) else f"phase {phase}"


def phase_color(phase: int) -> str:
    return PHASE_COLORS[phase % len(PHASE_COLORS)]


def time_text(seconds: float) -> str:
    return f"{three_digits(seconds)} s" if seconds >= 1.0 else f"{three_digits(1e3 * seconds)} ms"


def believes_wrongly(trial: Inserted) -> bool:
    """Whether there is anything to show of what is believed: without noise the plain ones see what is."""
    before = trial.time_s <= (np.inf if trial.touched_s is None else trial.touched_s)
    off = trial.off_m[before & np.isfinite(trial.off_m)]
    return bool(len(off) and off.max() > LEAST_M) or bool(np.isfinite(trial.sure_m).any())


def beside_caption(trial: Inserted) -> str:
    text = "How far the tool's end is beside the hole's axis, in the box's own y and z, against the play."
    entry = " On the right the way in: the tool's end past the mouth and beside the axis."
    return text + (entry if entry_of(trial) is not None else "")


def beside_figure(trial: Inserted) -> Figure:
    figure = new_figure(9.4, 4.0)
    entry = entry_of(trial)
    panels = figure.subplots(1, 2, width_ratios=(1.25, 1.0)) if entry is not None else [figure.subplots()]
    axes = dress(panels[0], "Beside the hole's axis", "time (s)", "")
    for index, name in enumerate("yz"):
        distance = np.maximum(np.abs(trial.beside_m[:, index]), 0.3 * LEAST_M)
        line(axes, trial.time_s, distance, COLORS[index], label=f"|{name}|", log=True)
    axes.axhline(
        trial.play_m, color=INK, linewidth=1.0, linestyle=DASHED, label=f"play {length_text(trial.play_m)}"
    )
    largest = min(float(np.abs(trial.beside_m).max()), FARTHEST_M)
    length_axis(axes, "y", LEAST_M, max(2.0 * largest, 10.0 * trial.play_m))
    frame(axes, trial)
    mark_touch(axes, trial)
    key(axes)
    if entry is not None:
        entry_panel(panels[1], trial, entry)
    return figure


def entry_of(trial: Inserted) -> slice | None:
    """The ticks of the last way in, from a little before the mouth; None if it never was in the hole."""
    inside = (trial.depth_m > 0.0) & (np.abs(trial.beside_m).max(axis=1) < 3.0 * trial.play_m)
    inside &= trial.depth_m < trial.plate_m + BEFORE_MOUTH_M
    if trial.touched_s is not None:
        inside &= trial.time_s <= trial.touched_s
    if not inside.any():
        return None
    last = int(len(inside) - 1 - np.argmax(inside[::-1]))
    outside = np.flatnonzero(trial.depth_m[:last] < -BEFORE_MOUTH_M)
    return slice(int(outside[-1]) + 1 if len(outside) else 0, last + 1)


def entry_panel(axes: Axes, trial: Inserted, entry: slice) -> None:
    depth, beside = 1e3 * trial.depth_m[entry], 1e3 * trial.beside_m[entry]
    dress(axes, "The way in", "past the mouth (mm)", "beside the axis (mm)")
    play = 1e3 * trial.play_m
    axes.axhspan(-play, play, color=COLORS[2], alpha=0.10, linewidth=0, zorder=0)
    for index, name in enumerate("yz"):
        line(axes, depth, beside[:, index], COLORS[index], label=name)
    for edge in (-play, play):
        axes.plot([0.0, 1e3 * trial.plate_m], [edge, edge], color=INK, linewidth=1.0, linestyle=DASHED)
    for level in (0.0, 1e3 * trial.plate_m):
        axes.axvline(level, color=INK, linewidth=0.9, linestyle=DASHED, zorder=1)
    within = np.abs(beside[depth > -2.0]).max(initial=play)
    axes.set_ylim(-1.25 * within, 1.25 * within)
    axes.set_xlim(-1e3 * BEFORE_MOUTH_M, max(1.06 * 1e3 * trial.plate_m, float(depth.max()) + 1.0))
    handles = [Line2D([], [], color=COLORS[index], label=name) for index, name in enumerate("yz")]
    handles.append(Line2D([], [], color=INK, linestyle=DASHED, label="the hole's room, mouth and plate"))
    key(axes, handles)


def belief_caption(trial: Inserted) -> str:
    text = "How far the hole was believed to be from where it was at that moment"
    if np.isfinite(trial.sure_m).any():
        text += ", and how sure the controller was by its own account (standard deviation)"
    after = " A box that was touched moves as nobody can know." if trial.touched_s is not None else ""
    frequency = " Right: the box's frequency." if np.isfinite(trial.believed_hz).any() else ""
    return f"{text}.{after}{frequency}"


def belief_figure(trial: Inserted) -> Figure:
    with_frequency = bool(np.isfinite(trial.believed_hz).any())
    figure = new_figure(9.4, 3.8)
    panels = figure.subplots(1, 2, width_ratios=(1.6, 1.0)) if with_frequency else [figure.subplots()]
    axes = dress(panels[0], "What was believed of the hole", "time (s)", "")
    line(
        axes,
        trial.time_s,
        np.maximum(trial.off_m, 1e-3 * LEAST_M),
        COLORS[0],
        label="off by",
        log=True,
    )
    values = [trial.off_m]
    sure = np.where(np.isfinite(trial.sure_m) & (trial.sure_m < FARTHEST_M), trial.sure_m, np.nan)
    if np.isfinite(sure).any():
        line(axes, trial.time_s, sure, COLORS[1], label="sure to (its own standard deviation)", log=True)
        values.append(sure)
    known = np.concatenate([each[np.isfinite(each)] for each in values])
    low = max(10.0 ** math.floor(math.log10(max(float(np.percentile(known, 2.0)), LEAST_M))), LEAST_M)
    high = min(float(known.max()), FARTHEST_M)
    length_axis(axes, "y", low, max(3.0 * high, 100.0 * low))
    frame(axes, trial)
    mark_touch(axes, trial)
    key(axes)
    if with_frequency:
        frequency_panel(panels[1], trial)
    return figure


def frequency_panel(axes: Axes, trial: Inserted) -> None:
    dress(axes, "Frequency of the box", "time (s)", "Hz")
    line(axes, trial.time_s, trial.believed_hz, COLORS[0], label="believed")
    axes.axhline(
        trial.true_hz, color=TRUTH, linewidth=1.0, linestyle=DASHED, label=f"true {trial.true_hz:.3g} Hz"
    )
    known = trial.believed_hz[np.isfinite(trial.believed_hz)]
    axes.set_ylim(0.0, 1.15 * max(float(known.max()), trial.true_hz, 0.1))
    frame(axes, trial)
    mark_touch(axes, trial)
    key(axes)


def force_caption(trial: Inserted) -> str:
    when = "the touch of the plate" if trial.touched_s is not None else "the largest force"
    felt = ", and what the controller made of it from the joints' torques" if felt_at_all(trial) else ""
    return f"The box's force on the tool{felt}; {1e3 * AROUND_S:g} ms before and after {when}."


def felt_at_all(trial: Inserted) -> bool:
    return bool(np.isfinite(trial.felt_n).any())


def force_figure(trial: Inserted) -> Figure:
    figure = new_figure(9.4, 3.4)
    worst = int(np.argmax(trial.force_n))
    peak, at_s = float(trial.force_n[worst]), float(trial.time_s[worst])
    title = f"Contact force: at most {three_digits(peak)} N, at t = {at_s:.4g} s"
    axes = dress(figure.subplots(), title, "time (s)", "N")
    middle = trial.touched_s if trial.touched_s is not None else at_s
    shown = np.abs(trial.time_s - middle) <= AROUND_S
    time_s = trial.time_s[shown]
    line(axes, time_s, trial.force_n[shown], COLORS[0], label="the box's on the tool")
    if felt_at_all(trial):
        line(axes, time_s, trial.felt_n[shown], COLORS[1], label="felt, along the hole")
    if len(time_s) > 1:
        axes.set_xlim(time_s[0], time_s[-1])
    mark_touch(axes, trial)
    key(axes)
    return figure


def torque_figure(trial: Inserted) -> Figure:
    count = len(trial.joints)
    rows = -(-count // 3)
    figure = new_figure(9.4, 0.5 + 1.75 * rows)
    panels = figure.subplots(rows, min(count, 3), sharex=True, sharey=True, squeeze=False)
    most = float(np.abs(trial.share).max())
    for index, axes in enumerate(panels.ravel()):
        if index >= count:
            axes.set_visible(False)
            continue
        share = 100.0 * trial.share[:, index]
        dress(axes, "", "", "% of the limit" if index % 3 == 0 else "")
        title = f"{trial.joints[index]}: {percent_text(float(np.abs(share).max()))}"
        axes.set_title(title, loc="left", fontsize=9.5, color=INK, pad=5)
        line(axes, trial.time_s, share, COLORS[0], width=0.9)
        for limit in (-100.0, 100.0):
            axes.axhline(limit, color=LIMIT, linewidth=1.0, linestyle=DASHED)
        frame(axes, trial)
        mark_touch(axes, trial, named=False)
    panels[0, 0].set_ylim(-max(112.0, 105.0 * most), max(112.0, 105.0 * most))
    for axes in panels[-1]:
        axes.set_xlabel("time (s)", color=INK, fontsize=9.5)
    return figure


def percent_text(percent: float) -> str:
    return f"{three_digits(percent)} %" if percent >= LEAST_PERCENT else f"under {LEAST_PERCENT} %"


def line(
    axes: Axes,
    x: Array,
    y: Array,
    color: str,
    *,
    label: str = "",
    width: float = 1.2,
    log: bool = False,
) -> None:
    """A line of few points that keeps all extremes; on a logarithmic axis also of what is small."""
    with np.errstate(divide="ignore", invalid="ignore"):
        kept = thin(np.log(y) if log else y, MOST_PANEL_POINTS)
    axes.plot(x[kept], y[kept], color=color, linewidth=width, label=label or None)


def frame(axes: Axes, trial: Inserted) -> None:
    axes.grid(visible=False, axis="x")
    axes.set_xlim(trial.time_s[0], trial.time_s[-1])


def mark_touch(axes: Axes, trial: Inserted, named: bool = True) -> None:
    if trial.touched_s is None:
        return
    axes.axvline(
        trial.touched_s,
        color=COLORS[2],
        linewidth=1.2,
        zorder=1.8,
        label="on the plate" if named else None,
    )


def key(axes: Axes, handles: Sequence[Line2D] | None = None) -> None:
    more = {} if handles is None else {"handles": list(handles)}
    axes.legend(
        frameon=False,
        fontsize=8.5,
        ncols=4,
        loc="upper left",
        bbox_to_anchor=(0.0, -0.15),
        columnspacing=1.4,
        **more,
    )
