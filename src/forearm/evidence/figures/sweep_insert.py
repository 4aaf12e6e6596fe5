"""Figures of the insertion sweep: success, times, failures, contact, and every trial."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter, MaxNLocator, PercentFormatter

from forearm.evidence.figures import Figures, figures_for, read_rows
from forearm.evidence.figures.style import COLORS, INK, MUTED, SOURCE, dress, new_figure
from forearm.evidence.record import Record
from forearm.evidence.tables import Link, Rows

LABELS = ("perception", "state", "planning", "control", "evaluation")
LABEL_COLORS = dict(zip(LABELS, ("#c2255c", "#9333ea", "#f2b01e", "#52667a", "#b0b7c0"), strict=True))
SOURCE_RATES = ((0.6, "the source's\nbaseline at worst\nunder 60 %"), (0.9, "the source:\nat least 90 %"))
SOURCE_TIMES_S = ((7.28, "the source's\nbaseline 7.28 s"), (3.78, "the source:\n3.78 s"))
DASHED = (0, (4, 3))
FEW = 4
SPREAD = 0.72
"""Share of the way from one difficulty to the next that the controllers at one take up."""


class Panel(NamedTuple):
    """The sweep's settings as the figures take them."""

    settings: list[dict[str, Any]]
    controllers: list[str]
    difficulties: list[float]

    def of(self, controller: str) -> list[dict[str, Any]]:
        return [setting for setting in self.settings if setting["controller"] == controller]

    def places(self, controller: str, settings: Sequence[dict[str, Any]]) -> np.ndarray:
        """Where a controller's settings stand: beside the other controllers' at the same difficulty."""
        aside = (self.controllers.index(controller) - (len(self.controllers) - 1) / 2.0) * self.width
        return np.array([self.difficulties.index(setting["difficulty"]) + aside for setting in settings])

    @property
    def width(self) -> float:
        return SPREAD / len(self.controllers)

    @property
    def stroke(self) -> float:
        """How thick an interval is drawn (points), so that neighbours stay apart."""
        return min(5.0, 380.0 * self.width / len(self.difficulties))

    def color(self, controller: str) -> str:
        return COLORS[self.controllers.index(controller) % len(COLORS)]

    def dress(self, axes: Axes, title: str, y: str) -> Axes:
        dress(axes, title, "difficulty", y)
        # One difficulty alone would stretch over the whole width.
        middle, half = (len(self.difficulties) - 1) / 2.0, max(len(self.difficulties), FEW) / 2.0 + 0.1
        axes.set_xlim(middle - half, middle + half)
        axes.grid(visible=False, axis="x")
        step = -(-len(self.difficulties) // 12)
        places = range(0, len(self.difficulties), step)
        axes.set_xticks(places, [f"{self.difficulties[place]:g}" for place in places])
        return axes


@figures_for("sweep.insert")
def insertion_figures(folder: Path, record: Record) -> Figures:  # noqa: ARG001 - a figure maker's signature
    rows, settings = read_rows(folder, "rows"), read_rows(folder, "settings")
    panel = Panel(
        settings,
        list(dict.fromkeys(setting["controller"] for setting in settings)),
        sorted({setting["difficulty"] for setting in settings}),
    )
    made: Figures = [
        (
            "The share of trials that inserted the tool. The bars: Wilson's 95 % interval.",
            success_figure(panel),
        )
    ]
    if any(row["success"] for row in rows):
        caption = (
            "Time to insert, of the trials that did: the mean, and bars from the 5th to the 95th percentile."
        )
        made.append((caption, time_figure(panel)))
    if any(not row["success"] for row in rows):
        made.append(("Whom the failed trials are blamed on.", failure_figure(panel)))
    if any(row["peak_force_n"] is not None for row in rows):
        caption = (
            "The largest contact force of each trial, and the largest torque as a share of what the joint "
            "has. A box holds the middle half of the trials, its line is the median, the whiskers reach to "
            "the extremes."
        )
        made.append((caption, effort_figure(panel, rows)))
    if any(row["recoveries"] for row in rows):
        caption = "How often an attempt was backed out of and begun again, all trials together."
        made.append((caption, recovery_figure(panel)))
    return [*made, ("Every trial, with its own record.", trial_table(folder, rows))]


def success_figure(panel: Panel) -> Figure:
    figure = new_figure(8.4, 4.2)
    axes = panel.dress(figure.subplots(), "Inserted", "of the trials")
    for rate, text in SOURCE_RATES:
        reference(axes, rate, text)
    for controller in panel.controllers:
        mine, color = panel.of(controller), panel.color(controller)
        places = panel.places(controller, mine)
        rates, low, high = (
            np.array([setting[f"success_rate{end}"] for setting in mine]) for end in ("", "_low", "_high")
        )
        axes.vlines(places, low, high, color=color, linewidth=panel.stroke, alpha=0.3)
        axes.plot(
            places,
            rates,
            color=color,
            linewidth=1.2,
            marker="o",
            markersize=max(2.5, 0.9 * panel.stroke),
            clip_on=False,
        )
    axes.set_ylim(0.0, 1.03)
    axes.yaxis.set_major_formatter(PercentFormatter(1.0))
    key(figure, panel)
    return figure


def time_figure(panel: Panel) -> Figure:
    figure = new_figure(8.4, 4.2)
    axes = panel.dress(figure.subplots(), "Time to insert", "s")
    for time_s, text in SOURCE_TIMES_S:
        reference(axes, time_s, text)
    for controller in panel.controllers:
        mine = [setting for setting in panel.of(controller) if setting["mean_time_s"] is not None]
        color, places = panel.color(controller), panel.places(controller, mine)
        low, mean, high = (
            np.array([setting[f"{which}_time_s"] for setting in mine]) for which in ("p05", "mean", "p95")
        )
        axes.vlines(places, low, high, color=color, linewidth=panel.stroke, alpha=0.35)
        axes.plot(
            places,
            mean,
            color=color,
            linewidth=1.2,
            marker="o",
            markersize=max(2.5, 0.9 * panel.stroke),
            clip_on=False,
        )
    axes.set_ylim(bottom=0.0)
    key(figure, panel)
    return figure


def failure_figure(panel: Panel) -> Figure:
    failing = [name for name in panel.controllers if any(failed(setting) for setting in panel.of(name))]
    figure = new_figure(8.4, 3.4)
    most = max(failed(setting) for setting in panel.settings)
    for axes, controller in zip(figure.subplots(1, len(failing), squeeze=False)[0], failing, strict=True):
        panel.dress(axes, controller, "failed trials")
        mine = panel.of(controller)
        places = [panel.difficulties.index(setting["difficulty"]) for setting in mine]
        floor = np.zeros(len(mine))
        for label, color in LABEL_COLORS.items():
            counts = np.array([setting[f"failed_{label}"] for setting in mine])
            axes.bar(places, counts, bottom=floor, width=SPREAD, color=color)
            floor += counts
        axes.set_ylim(0.0, 1.08 * most)
        axes.yaxis.set_major_locator(MaxNLocator(integer=True))
    there = [label for label in LABELS if any(setting[f"failed_{label}"] for setting in panel.settings)]
    legend(figure, {label: LABEL_COLORS[label] for label in there})
    return figure


def failed(setting: dict[str, Any]) -> int:
    return setting["trials"] - setting["successes"]


def effort_figure(panel: Panel, rows: list[dict[str, Any]]) -> Figure:
    figure = new_figure(8.4, 6.4)
    above, below = figure.subplots(2, 1)
    boxes(panel.dress(above, "Contact force", "N"), panel, rows, "peak_force_n")
    boxes(panel.dress(below, "Torque", "of the joint's limit"), panel, rows, "peak_torque_share")
    below.yaxis.set_major_formatter(PercentFormatter(1.0))
    key(figure, panel)
    return figure


def boxes(axes: Axes, panel: Panel, rows: list[dict[str, Any]], column: str) -> None:
    for controller in panel.controllers:
        mine = panel.of(controller)
        values = [
            [
                row[column]
                for row in rows
                if row["controller"] == controller
                and row["difficulty"] == setting["difficulty"]
                and row[column] is not None
            ]
            for setting in mine
        ]
        drawn = axes.boxplot(
            values,
            positions=panel.places(controller, mine),
            widths=0.8 * panel.width,
            whis=(0.0, 100.0),
            patch_artist=True,
            manage_ticks=False,
            medianprops={"color": INK, "linewidth": 1.4},
            boxprops={"facecolor": panel.color(controller), "alpha": 0.55, "linewidth": 0.0},
        )
        for line in (*drawn["whiskers"], *drawn["caps"]):
            line.set(color=panel.color(controller), linewidth=1.0)
    axes.set_ylim(bottom=0.0)


def recovery_figure(panel: Panel) -> Figure:
    figure = new_figure(8.4, 3.0)
    axes = panel.dress(figure.subplots(), "Recoveries", "in all trials")
    for controller in panel.controllers:
        mine = panel.of(controller)
        counts = [setting["recoveries"] for setting in mine]
        axes.bar(
            panel.places(controller, mine), counts, width=0.9 * panel.width, color=panel.color(controller)
        )
    axes.yaxis.set_major_locator(MaxNLocator(integer=True))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.0f}"))
    axes.set_ylim(0.0, max(1.0, axes.get_ylim()[1]))
    key(figure, panel)
    return figure


def trial_table(folder: Path, rows: list[dict[str, Any]]) -> Rows:
    return [
        {
            "trial": trial_link(folder, row["trial"]),
            "came in": "yes" if row["success"] else "no",
            "time (s)": rounded(row["time_s"]),
            "recoveries": row["recoveries"],
            "force (N)": rounded(row["peak_force_n"]),
            "failed": f"{row['label']}: {row['failure']}" if row["label"] else None,
        }
        for row in rows
    ]


def trial_link(folder: Path, trial: str) -> str | Link:
    """A trial whose worker died has left no record to lead to."""
    path = f"trials/{trial}/record.json"
    return Link(trial, path) if "/" not in trial and (folder / path).is_file() else trial


def rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 3)


def reference(axes: Axes, value: float, text: str) -> None:
    """What the source reports, as a grey line with its words behind the right end."""
    axes.axhline(value, color=SOURCE, linewidth=1.3, linestyle=DASHED, zorder=1)
    axes.annotate(
        text,
        (1.0, value),
        xycoords=("axes fraction", "data"),
        xytext=(5, 0),
        textcoords="offset points",
        va="center",
        fontsize=8,
        color=MUTED,
        linespacing=1.2,
    )


def key(figure: Figure, panel: Panel) -> None:
    legend(figure, {controller: panel.color(controller) for controller in panel.controllers})


def legend(figure: Figure, colors: dict[str, str]) -> None:
    """Below all axes, where it covers nothing."""
    figure.legend(
        [Patch(color=color, label=name) for name, color in colors.items()],
        list(colors),
        loc="outside lower center",
        ncols=len(colors),
        frameon=False,
        fontsize=9,
    )
