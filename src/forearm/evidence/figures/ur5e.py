"""Figures of the UR5e panel: success beside the source's, and how the answers were reached."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from forearm.evidence.figures import Figures, figures_for, read_rows
from forearm.evidence.figures.style import COLORS, INK, SOURCE, dress, new_figure
from forearm.evidence.record import Record


@figures_for("bench.ur5e")
def ur5e_figures(folder: Path, record: Record) -> Figures:
    rows = read_rows(folder, "cases")
    solvers = list(dict.fromkeys(row["solver"] for row in rows))
    return [
        ("Share of targets solved and certified, beside what the source reports.", rates(record, solvers)),
        (
            "Targets solved within a number of iterations.",
            profile(rows, solvers, record.configuration["max_iterations"]),
        ),
    ]


def rates(record: Record, solvers: list[str]) -> Figure:
    figure = new_figure(7.6, 3.4)
    axes = dress(figure.subplots(), "Success, one start a target", "", "share of targets")
    source_rates = record.inputs["source_success_rate"]
    for index, (solver, color) in enumerate(zip(solvers, COLORS, strict=False)):
        source = source_rates.get(solver)
        middle = index if source is None else index - 0.18
        bar(axes, middle, float(record.value(f"{solver}_success_rate") or 0.0), color)
        if source is not None:
            bar(axes, index + 0.18, source, SOURCE)
    axes.bar(0.0, 0.0, color=SOURCE, label="the source")
    axes.set_xticks(range(len(solvers)), solvers)
    axes.set_ylim(0.0, 1.12)
    axes.yaxis.set_major_formatter(PercentFormatter(1.0))
    axes.legend(frameon=False, fontsize=9, loc="upper right")
    return figure


def bar(axes: Axes, middle: float, rate: float, color: str) -> None:
    axes.bar(middle, rate, width=0.34, color=color)
    axes.annotate(f"{100.0 * rate:.3g} %", (middle, rate), ha="center", va="bottom", fontsize=9, color=INK)


def profile(rows: list[dict], solvers: list[str], budget: int) -> Figure:
    figure = new_figure(7.6, 3.6)
    axes = dress(figure.subplots(), "Solved within a budget", "iterations", "share of targets")
    for solver, color in zip(solvers, COLORS, strict=False):
        mine = [row for row in rows if row["solver"] == solver]
        counts = np.sort([row["iterations"] for row in mine if row["status"] == "SOLVED"])
        share = np.arange(1, len(counts) + 1) / len(mine)
        steps = np.concatenate([[1.0], np.maximum(counts, 1.0), [budget]])
        shares = np.concatenate([[0.0], share, share[-1:] if len(share) else [0.0]])
        axes.step(steps, shares, where="post", color=color, linewidth=2.0, label=solver)
    axes.set_xscale("log")
    axes.set_xlim(1.0, budget)
    axes.set_ylim(0.0, 1.0)
    axes.yaxis.set_major_formatter(PercentFormatter(1.0))
    axes.legend(frameon=False, fontsize=9, loc="upper left")
    return figure
