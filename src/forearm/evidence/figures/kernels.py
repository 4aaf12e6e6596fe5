"""Figure of the kernels panel: what a call costs, arm by arm."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patheffects import withStroke

from forearm.evidence.figures import Figures, figures_for, read_rows
from forearm.evidence.figures.style import COLORS, INK, dress, new_figure
from forearm.evidence.record import Record

KERNELS = {
    "forward": "forward kinematics",
    "jacobian": "forward kinematics and Jacobian",
    "replay": "replay of the gate",
}


@figures_for("bench.kernels")
def kernels_figures(folder: Path, record: Record) -> Figures:  # noqa: ARG001 - a figure maker's signature
    caption = "Median over the rounds; the thin lines reach from the fastest round to the slowest."
    return [(caption, costs(read_rows(folder, "rounds")))]


def costs(rows: list[dict]) -> Figure:
    arms = list(dict.fromkeys(row["arm"] for row in rows))
    figure = new_figure(8.4, 3.8)
    axes = dress(figure.subplots(), "A call from compiled code", "", "µs a call")
    for offset, color, (kernel, label) in zip((-0.27, 0.0, 0.27), COLORS, KERNELS.items(), strict=False):
        for index, arm in enumerate(arms):
            rounds = [row["us_per_call"] for row in rows if row["arm"] == arm and row["kernel"] == kernel]
            middle = float(np.median(rounds))
            place = index + offset
            axes.bar(place, middle, width=0.25, color=color, label=label if index == 0 else None)
            axes.plot([place, place], [min(rounds), max(rounds)], color=INK, linewidth=0.9)
            # At the bar's foot: at its top it would read as the value of the whisker's end.
            axes.annotate(
                f"{middle:.3f}",
                (place, 0.0),
                xytext=(0, 4),
                textcoords="offset points",
                ha="center",
                fontsize=8,
                color="white",
                path_effects=[withStroke(linewidth=2.0, foreground=color)],
            )
    axes.set_xticks(range(len(arms)), arms)
    axes.margins(y=0.12)
    axes.legend(frameon=False, fontsize=9, ncols=3, loc="upper center", bbox_to_anchor=(0.5, -0.08))
    return figure
