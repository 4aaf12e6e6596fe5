"""Figures of the planar panel: where the targets lie, and how each solver comes to the edge."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Wedge

from forearm.evidence.figures import Figures, figures_for, read_rows
from forearm.evidence.figures.style import COLORS, GRID, INK, MUTED, dress, new_figure
from forearm.evidence.figures.units import length_axis
from forearm.evidence.readable import length_text
from forearm.evidence.record import Record


@figures_for("bench.planar")
def planar_figures(folder: Path, record: Record) -> Figures:
    rows = read_rows(folder, "cases")
    inner_m, outer_m = record.inputs["reach_m"]
    tolerance_m = record.configuration["tolerance_m"]
    return [
        (
            f"The {record.inputs['targets']} targets in the arm's reach, and the iterations that each took.",
            targets_figure(rows, inner_m, outer_m, tolerance_m),
        ),
        (
            "The target at the edge of the reach, from full extension. The pseudo-inverse has no step "
            "to take there: the Jacobian is singular. Damping gives a step, at the price of a slow end.",
            stress_figure(read_rows(folder, "stress"), rows, tolerance_m),
        ),
    ]


def targets_figure(rows: list[dict], inner_m: float, outer_m: float, tolerance_m: float) -> Figure:
    figure = new_figure(8.4, 4.2)
    left, right = figure.subplots(1, 2, width_ratios=[1.0, 1.15])
    dress(left, "Targets", "x (m)", "y (m)")
    left.add_patch(Wedge((0.0, 0.0), outer_m, 0.0, 360.0, width=outer_m - inner_m, color=GRID, alpha=0.6))
    targets = [row for row in rows if row["panel"] == "targets"]
    solver_names = list(dict.fromkeys(row["solver"] for row in targets))
    first = [row for row in targets if row["solver"] == solver_names[0]]
    left.scatter([row["x_m"] for row in first], [row["y_m"] for row in first], s=22, color=INK, zorder=3)
    # Drawn below the targets, of which some may lie at the base.
    left.plot(0.0, 0.0, marker="+", markersize=11, color=MUTED, linestyle="none", zorder=2, label="base")
    left.legend(frameon=False, fontsize=8.5, loc="upper right", borderaxespad=0.0)
    # Equal scales shrink the box; held at the top, its title stays level with the other's.
    left.set_aspect("equal", anchor="N")
    left.set_xlim(-1.1 * outer_m, 1.1 * outer_m)
    left.set_ylim(-1.1 * outer_m, 1.1 * outer_m)

    dress(right, f"Iterations to {length_text(tolerance_m)}", "target", "iterations")
    for offset, color, solver in zip((-0.2, 0.2), COLORS, solver_names, strict=False):
        mine = [row for row in targets if row["solver"] == solver]
        counts = [row["iterations"] for row in mine]
        label = f"{solver}: median {np.median(counts):.0f}, mean {np.mean(counts):.1f}"
        right.bar(np.arange(len(mine)) + offset, counts, width=0.38, color=color, label=label)
    right.set_xticks(np.arange(0, len(first), 5))
    right.legend(frameon=False, fontsize=8.5, loc="upper left")
    # Room for the legend.
    right.set_ylim(0, 1.25 * max(row["iterations"] for row in targets))
    return figure


def stress_figure(history: list[dict], rows: list[dict], tolerance_m: float) -> Figure:
    figure = new_figure(8.4, 3.6)
    axes = dress(figure.subplots(), "At the edge of the reach", "iteration", "distance to the target")
    stress = {row["solver"]: row for row in rows if row["panel"] == "stress"}
    for color, (solver, row) in zip(COLORS, stress.items(), strict=False):
        steps = [step["position_error_m"] for step in history if step["solver"] == solver]
        steps.append(row["position_error_m"])
        label = f"{solver}: {row['status'].lower().replace('_', ' ')}, {length_text(row['position_error_m'])}"
        axes.plot(steps, color=color, linewidth=2.0, marker="o" if len(steps) == 1 else None, label=label)
    axes.axhline(tolerance_m, color=MUTED, linewidth=1.0, linestyle=(0, (4, 3)))
    axes.annotate(
        "tolerance", (0.0, tolerance_m), xytext=(2, 4), textcoords="offset points", fontsize=8.5, color=MUTED
    )
    farthest = max(step["position_error_m"] for step in history)
    length_axis(axes, "y", 0.5 * tolerance_m, 2.0 * max(farthest, tolerance_m))
    axes.legend(frameon=False, fontsize=9)
    return figure
