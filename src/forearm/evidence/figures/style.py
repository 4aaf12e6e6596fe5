"""One look for every figure."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

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
