"""Figures of the inverse kinematics panel: success against time, times, defaults, hard targets."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, PercentFormatter

from forearm.evidence.figures import Figures, figures_for, read_rows
from forearm.evidence.figures.style import COLORS, INK, MUTED, SOURCE, dress, halo, new_figure
from forearm.evidence.record import Record

OURS = "forearm"
NEAR = "uniform"
TEXTBOOK = "textbook"
STYLES = ("-", "--", "-.", ":")


@figures_for("bench.ik")
def ik_figures(folder: Path, record: Record) -> Figures:  # noqa: ARG001 - a figure maker's signature
    solves = [row for row in read_rows(folder, "solves") if row["panel"] == NEAR]
    summary = read_rows(folder, "summary")
    best = [row for row in summary if row["setting"] == "best"]
    names = names_in(best)
    made: Figures = [
        (
            "The share of targets that each solver had truly solved by a given time, all arms together, each "
            "at its best setting. Up and to the left is better; a curve that ends below 100 % left some.",
            success_curves([row for row in solves if row["setting"] == "best"], names),
        ),
        (
            "Median time for a target, all arms together; the thin line ends at the 99th percentile.",
            medians([row for row in best if row["panel"] == NEAR], names),
        ),
        (
            "What each claims with the settings that its own documentation calls it with, held against "
            "1e-6 m, 1e-6 rad and the limits. False success is an answer called good that is not.",
            claims(
                [row for row in summary if row["panel"] == NEAR and not row["solver"].startswith(TEXTBOOK)]
            ),
        ),
    ]
    hard = [row for row in best if row["panel"] != NEAR and not row["solver"].startswith(TEXTBOOK)]
    if hard:
        made.append(("Hard targets, all of which can be reached.", hard_targets(hard, names)))
    return made


def names_in(rows: list[dict]) -> list[str]:
    return list(dict.fromkeys(row["solver"] for row in rows))


def color_of(name: str, others: list[str]) -> tuple[str, str]:
    """Ours stand out; textbook solvers stand back."""
    if name.startswith(OURS):
        return COLORS[0], STYLES[[n for n in others if n.startswith(OURS)].index(name) % len(STYLES)]
    if name.startswith(TEXTBOOK):
        return SOURCE, STYLES[[n for n in others if n.startswith(TEXTBOOK)].index(name) % len(STYLES)]
    place = [n for n in others if not n.startswith((OURS, TEXTBOOK))].index(name)
    palette = COLORS[1:]
    return palette[place % len(palette)], STYLES[place // len(palette)]


def success_curves(rows: list[dict], names: list[str]) -> Figure:
    figure = new_figure(8.4, 4.8)
    axes = dress(figure.subplots(), "Solved within a time", "time for a target, µs", "of all targets")
    for name in names_in(rows):
        mine = [row for row in rows if row["solver"] == name]
        times = np.sort([row["time_us"] for row in mine if row["solved"]])
        share = np.arange(1, len(times) + 1) / len(mine)
        color, style = color_of(name, names)
        axes.step(
            times, share, where="post", color=color, linestyle=style, label=name,
            linewidth=2.2 if name.startswith(OURS) else 1.3,
        )  # fmt: skip
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    axes.set_ylim(0.0, 1.02)
    axes.yaxis.set_major_formatter(PercentFormatter(1.0))
    axes.legend(frameon=False, fontsize=8.5, loc="center left", bbox_to_anchor=(1.01, 0.5))
    return figure


def medians(rows: list[dict], names: list[str]) -> Figure:
    rows = sorted(rows, key=lambda row: row["median_us"])
    figure = new_figure(8.4, 0.9 + 0.3 * len(rows))
    axes = dress(figure.subplots(), "Time for a target", "µs", "")
    for place, row in enumerate(rows):
        color, _ = color_of(row["solver"], names)
        axes.barh(place, row["median_us"], left=0.0, color=color, height=0.62)
        axes.plot([row["median_us"], row["p99_us"]], [place, place], color=INK, linewidth=0.9)
        text = f"{row['median_us']:,.4g}" if row["median_us"] < 1e4 else f"{row['median_us']:,.0f}"
        ratio = row["ratio_to_direct"]
        beside = f"{text} µs" + (
            f"  ({ratio:,.0f} x)" if ratio >= 10.0 else f"  ({ratio:.1f} x)" if ratio > 1.05 else ""
        )
        solved = f", {row['solved_percent']:.3g} % solved" if row["solved_percent"] < 100.0 else ""
        axes.annotate(
            beside + solved,
            (row["p99_us"], place),
            xytext=(5, 0),
            textcoords="offset points",
            va="center",
            fontsize=8,
            color=INK,
            path_effects=halo(),
        )
    axes.set_yticks(range(len(rows)), [row["solver"] for row in rows], fontsize=8.5, color=INK)
    axes.invert_yaxis()
    axes.set_xscale("log")
    least, most = rows[0]["median_us"], max(row["p99_us"] for row in rows)
    axes.set_xlim(0.5 * least, 60.0 * most)
    axes.xaxis.set_major_formatter(
        FuncFormatter(lambda value, _: f"{value:,.0f}" if value >= 1 else f"{value:g}")
    )
    axes.grid(visible=False, axis="y")
    return figure


def claims(rows: list[dict]) -> Figure:
    varied = {row["solver"] for row in rows if row["setting"] == "default"}
    rows = [row for row in rows if row["setting"] == "default" or row["solver"] not in varied]
    figure = new_figure(8.4, 1.0 + 0.3 * len(rows))
    axes = dress(figure.subplots(), "At their defaults", "of all targets", "")
    for place, row in enumerate(rows):
        solved, false = row["solved_percent"] / 100.0, row["false_success_percent"] / 100.0
        axes.barh(place, solved, color=COLORS[2], height=0.66)
        axes.barh(place, false, left=solved, color=COLORS[4], height=0.66)
        axes.barh(place, 1.0 - solved - false, left=solved + false, color=SOURCE, height=0.66)
    axes.set_yticks(range(len(rows)), [row["solver"] for row in rows], fontsize=8.5, color=INK)
    axes.invert_yaxis()
    axes.set_xlim(0.0, 1.0)
    axes.xaxis.set_major_formatter(PercentFormatter(1.0))
    axes.grid(visible=False, axis="y")
    for color, label in ((COLORS[2], "solved"), (COLORS[4], "false success"), (SOURCE, "no answer")):
        axes.barh(0.0, 0.0, color=color, label=label)
    axes.legend(frameon=False, fontsize=9, ncols=3, loc="upper center", bbox_to_anchor=(0.45, -0.1))
    return figure


def hard_targets(rows: list[dict], names: list[str]) -> Figure:
    panels = [panel for panel in dict.fromkeys(row["panel"] for row in rows) if panel != "beyond reach"]
    solvers = names_in(rows)
    figure = new_figure(8.4, 1.1 + 0.28 * len(solvers))
    for axes, panel in zip(
        figure.subplots(1, len(panels), sharey=True, squeeze=False)[0], panels, strict=True
    ):
        dress(axes, panel, "solved", "")
        for place, name in enumerate(solvers):
            mine = [row for row in rows if row["solver"] == name and row["panel"] == panel]
            if not mine:
                continue
            color, _ = color_of(name, names)
            axes.barh(place, mine[0]["solved_percent"] / 100.0, color=color, height=0.66)
            axes.annotate(
                f"{mine[0]['solved_percent']:.4g} %", (0.02, place), va="center", fontsize=7.5, color=INK,
                path_effects=halo(),
            )  # fmt: skip
        axes.set_yticks(range(len(solvers)), solvers, fontsize=8.5, color=INK)
        axes.set_xlim(0.0, 1.0)
        axes.xaxis.set_major_formatter(PercentFormatter(1.0))
        axes.grid(visible=False, axis="y")
        axes.tick_params(axis="x", colors=MUTED)
    figure.axes[0].invert_yaxis()
    return figure
