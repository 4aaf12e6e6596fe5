"""Figures of the square and the cube: what was drawn, how far off, and what it took."""

from __future__ import annotations

from pathlib import Path

from forearm.evidence.figures import Figures, figures_for, read_rows
from forearm.evidence.figures.courses import error_figure, manipulability_figure, torque_figure
from forearm.evidence.figures.drawn import Drawn, read_drawn
from forearm.evidence.figures.ladder import ladder_figure, ladder_table
from forearm.evidence.figures.strokes import is_flat, is_magnified, stroke_figure
from forearm.evidence.record import Record

LADDER_CAPTION = (
    "RMS error as a bar, the largest error as its whisker, what the source reports in grey; an arrow is an "
    "error beyond that end of the axis. Every row is the same stroke against the same true edges, unless it "
    "says otherwise."
)
LADDER_TABLE_CAPTION = "The same ladder in numbers. Each can be worked out again from the trace of its row."


@figures_for("run.square")
@figures_for("run.cube")
def drawing_figures(folder: Path, record: Record) -> Figures:
    """Path, error, torque, manipulability and, where controllers were compared, their ladder."""
    figures: Figures = []
    drawn = read_drawn(folder, record)
    if drawn:
        figures += [
            (stroke_caption(drawn), stroke_figure(drawn)),
            (error_caption(drawn), error_figure(drawn, record)),
            (
                "What each actuator did. The bar beside a panel is the range that its limits allow, in it "
                "the range that was used; ticks at a limit are marked.",
                torque_figure(drawn),
            ),
            ("Manipulability at the posture of every tick.", manipulability_figure(drawn)),
        ]
    rows = read_rows(folder, "ladder") if (folder / "ladder.jsonl").exists() else []
    if rows:
        figures += [(LADDER_CAPTION, ladder_figure(rows)), (LADDER_TABLE_CAPTION, ladder_table(rows))]
    return figures


def stroke_caption(drawn: Drawn) -> str:
    shape = "square" if is_flat(drawn) else "cube"
    right = " On the right the same path, the deviation from the edges magnified as stated."
    return (
        f"The path over the true edges of the {shape} (pale), its colour running with time from blue to "
        f"orange; numbers give the order of the corners.{right if is_magnified(drawn) else ''}"
    )


def error_caption(drawn: Drawn) -> str:
    dots = " A dot is a tick; where the error is exactly nothing there is none." if drawn.exact else ""
    return (
        "Distance of the true tip to the true point of the true edge at that time, and to the edge itself. "
        f"Light lines part the segments.{dots}"
    )
