"""Figure of the honesty panel: what became of every problem, solver by solver, arm by arm."""

from __future__ import annotations

from pathlib import Path

from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from forearm.evidence.figures import Figures, figures_for, read_rows
from forearm.evidence.figures.style import COLORS, INK, SOURCE, dress, new_figure
from forearm.evidence.record import Record


@figures_for("bench.honesty")
def honesty_figures(folder: Path, record: Record) -> Figures:  # noqa: ARG001 - a figure maker's signature
    caption = (
        "Half of the problems can be solved; the rest are poses drawn without regard to reach. What is "
        "neither solved nor proved unreachable was not found, which proves nothing."
    )
    return [(caption, outcomes(read_rows(folder, "solvers")))]


def outcomes(rows: list[dict]) -> Figure:
    arms = list(dict.fromkeys(row["arm"] for row in rows))
    figure = new_figure(8.4, 1.2 + 0.32 * len(rows))
    axes = dress(figure.subplots(), "What became of every problem", "share of problems", "")
    labels, positions, place = [], [], 0.0
    for arm in arms:
        for row in (row for row in rows if row["arm"] == arm):
            solved, unreachable = row["solved"] / row["problems"], row["unreachable"] / row["problems"]
            axes.barh(place, solved, color=COLORS[2], height=0.7)
            axes.barh(place, unreachable, left=solved, color=COLORS[0], height=0.7)
            rest = 1.0 - solved - unreachable
            axes.barh(place, rest, left=solved + unreachable, color=SOURCE, height=0.7)
            labels.append(f"{arm}  {row['solver']}")
            positions.append(place)
            place += 1.0
        place += 0.6
    axes.set_yticks(positions, labels, fontsize=8.5, color=INK)
    axes.invert_yaxis()
    axes.set_xlim(0.0, 1.0)
    axes.xaxis.set_major_formatter(PercentFormatter(1.0))
    axes.grid(visible=False, axis="y")
    for color, label in (
        (COLORS[2], "solved, certified"),
        (COLORS[0], "proved unreachable"),
        (SOURCE, "not found"),
    ):
        axes.barh(0.0, 0.0, color=color, label=label)
    axes.legend(frameon=False, fontsize=9, ncols=3, loc="upper center", bbox_to_anchor=(0.45, -0.09))
    return figure
