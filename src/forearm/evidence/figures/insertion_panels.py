"""Figures of the insertion's panels: what each perturbation leaves of it, and planted faults."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from forearm.evidence.figures import Figures, figures_for, read_rows
from forearm.evidence.figures.style import COLORS, INK, MUTED, dress, new_figure
from forearm.evidence.record import Record

ROW_IN = 0.27
"""Height of a bar's row."""


@figures_for("bench.insertion")
def panel_figures(folder: Path, record: Record) -> Figures:  # noqa: ARG001 - the rows say it all
    rows = read_rows(folder, "panels")
    harder = [row for row in rows if not row["fault"]]
    faults = [row for row in rows if row["fault"]]
    return [
        (
            "Share of trials that inserted the tool, with its 95 % interval, and their times: the mean as "
            "a bar, the 95th percentile as a tick.",
            panels_figure(harder),
        ),
        ("The same in numbers. Forces are of successful trials, 95th percentile.", numbers(harder)),
        ("Faults planted on purpose, and whom the failed trials were blamed on.", blamed(faults)),
    ]


def panels_figure(rows: list[dict[str, Any]]) -> Figure:
    figure = new_figure(8.4, 1.2 + ROW_IN * len(rows))
    left, right = figure.subplots(1, 2, sharey=True)
    places = np.arange(len(rows))[::-1]
    rates = np.array([100.0 * row["success_rate"] for row in rows])
    low = rates - [100.0 * row["rate_low"] for row in rows]
    high = np.array([100.0 * row["rate_high"] for row in rows]) - rates
    dress(left, "Inserted", "% of the trials")
    left.barh(
        places, rates, height=0.62, color=COLORS[2], xerr=[low, high], error_kw={"ecolor": INK, "lw": 0.9}
    )
    left.set_yticks(places, [row["panel"] for row in rows])
    left.set_xlim(0.0, 104.0)
    dress(right, "Time to the plate", "s")
    means = [row["mean_time_s"] or 0.0 for row in rows]
    right.barh(places, means, height=0.62, color=COLORS[0])
    for place, row in zip(places, rows, strict=True):
        if row["p95_time_s"] is None:
            right.annotate(
                "none", (0.0, place), xytext=(4, -3), textcoords="offset points", fontsize=8, color=MUTED
            )
        else:
            right.plot([row["p95_time_s"]] * 2, [place - 0.3, place + 0.3], color=INK, linewidth=1.4)
    right.set_xlim(0.0, None)
    return figure


def numbers(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [
        {
            "made harder by": row["panel"],
            "trials": row["trials"],
            "inserted (%)": 100.0 * row["success_rate"],
            "mean (s)": row["mean_time_s"],
            "95 % (s)": row["p95_time_s"],
            "force (N)": row["peak_force_p95_n"],
            "recoveries": row["recoveries"],
            "needed of a joint's speed (%)": f"{100.0 * row['speed_needed_least']:.0f} to "
            f"{100.0 * row['speed_needed_most']:.0f}",
            "failures": row["first_failure"],
        }
        for row in rows
    ]


def blamed(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [
        {
            "fault": row["panel"].removeprefix("fault: "),
            "trials": row["trials"],
            "inserted all the same": round(row["trials"] * row["success_rate"]),
            "blamed on": row["failures"],
            "for example": row["first_failure"],
        }
        for row in rows
    ]
