"""One look for every figure."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager

import matplotlib
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.patheffects import AbstractPathEffect, withStroke
from matplotlib.ticker import FuncFormatter, LogFormatterMathtext, NullFormatter

INK = "#1f2933"
MUTED = "#7b8794"
GRID = "#e4e7eb"
COLORS = ("#2463eb", "#e8590c", "#0f9d75", "#9333ea", "#c2255c", "#846358")
SOURCE = "#b0b7c0"
"""What another text reports stands in grey beside our own figures."""


def new_figure(width_in: float = 7.6, height_in: float = 4.0) -> Figure:
    """An empty figure that no window manager knows of."""
    figure = Figure(figsize=(width_in, height_in), layout="constrained", facecolor="white")
    FigureCanvasAgg(figure)
    return figure


def dress(axes: Axes, title: str = "", x: str = "", y: str = "") -> Axes:
    """Title and labels, a light grid behind the data, no box."""
    axes.set_title(title, loc="left", fontsize=11, fontweight="bold", color=INK, pad=10)
    axes.set_xlabel(x, color=INK, fontsize=9.5)
    axes.set_ylabel(y, color=INK, fontsize=9.5)
    axes.tick_params(colors=MUTED, labelsize=8.5)
    axes.grid(color=GRID, linewidth=0.8)
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        axes.spines[side].set_color(SOURCE)
    return axes


def halo() -> list[AbstractPathEffect]:
    """A white rim that keeps text readable over lines."""
    return [withStroke(linewidth=3.0, foreground="white")]


@contextmanager
def plain_text() -> Iterator[None]:
    """Text made inside shows as it is written: a ``$`` in a robot's name begins no formula."""
    with matplotlib.rc_context({"text.parse_math": False}):
        yield


def inline_svg(figure: Figure, salt: str) -> str:
    """The figure as an ``<svg>`` element; figures of one page need different salts for their ids."""
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            write_powers_plainly(axis)
    buffer = io.StringIO()
    with matplotlib.rc_context({"svg.fonttype": "path", "svg.hashsalt": salt}):
        figure.savefig(buffer, format="svg", metadata={"Date": None})
    text = buffer.getvalue()
    return text[text.index("<svg") :]


def write_powers_plainly(axis: Axis) -> None:
    """Logarithmic axes write their labels as formulas, which plain text cannot show."""
    if isinstance(axis.get_major_formatter(), LogFormatterMathtext):
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axis.set_minor_formatter(NullFormatter())
