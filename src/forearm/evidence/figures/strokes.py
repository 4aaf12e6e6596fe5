"""The drawn path over the true figure, as it is and with its deviation magnified."""

from __future__ import annotations

import itertools
import math
from collections import defaultdict

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure

from forearm.evidence.figures.drawn import Drawn
from forearm.evidence.figures.labels import free_offsets
from forearm.evidence.figures.style import INK, MUTED, dress, halo, new_figure
from forearm.evidence.figures.units import MOST_POINTS, ROUNDING_M, thin
from forearm.evidence.readable import at_most
from forearm.spatial import Array

VISIBLE = 0.12
"""The largest deviation is magnified to at most this share of the figure's side."""
MARGIN = 0.30
FARTHEST = 1.2
"""A path that leaves the figure by more sides than this runs out of the picture."""
ORDER = LinearSegmentedColormap.from_list("order", ["#1d4ed8", "#7c3aed", "#db2777", "#ea580c"])
PANEL_POINTS = 300.0
"""About how wide a panel is, in points."""
AZIMUTH_DEG, ELEVATION_DEG = 33.0, 24.0
TRUE = "#d5dae1"


def stroke_figure(drawn: Drawn) -> Figure:
    """The path as drawn and, where that shows more, with its deviation from the true edges magnified."""
    figure = new_figure(9.4, 5.1)
    # Panels of equal scales do not reserve quite enough for their titles.
    figure.set_layout_engine("constrained", h_pad=0.12)
    panels = [(drawn_title(drawn), drawn.tip_m)]
    if is_magnified(drawn):
        edge_points = drawn.tip_m - drawn.deviation_m
        panels.append((magnified_title(drawn), edge_points + magnification(drawn) * drawn.deviation_m))
    flat = is_flat(drawn)
    for axes, (title, points) in zip(figure.subplots(1, len(panels), squeeze=False)[0], panels, strict=True):
        dress(axes, title, "x (m)" if flat else "", "y (m)" if flat else "")
        true_figure(axes, drawn)
        draw_path(axes, drawn, points)
        fit(axes, drawn, flat)
    mark_corners(figure.axes[0], drawn)
    return figure


def is_magnified(drawn: Drawn) -> bool:
    """Whether there is a deviation, and one that cannot be seen at its true size."""
    return magnification(drawn) > 1


def drawn_title(drawn: Drawn) -> str:
    """Without a second panel the first one says how far off the edges the path is."""
    title = "As drawn" + (f", {drawn.cut_short}" if drawn.cut_short else "")
    if is_magnified(drawn):
        return title
    worst = float(drawn.path_error_m.max())
    if not magnification(drawn):
        return f"{title}: off the edges by no more than rounding, {at_most(worst)}"
    return f"{title}: off the edges by {at_most(worst)}"


def magnification(drawn: Drawn) -> int:
    """The power of ten that makes the deviation visible; 0 where there is none but rounding."""
    worst = float(drawn.path_error_m.max())
    if worst < ROUNDING_M:
        return 0
    return 10 ** max(math.floor(math.log10(VISIBLE * drawn.side_m / worst)), 0)


def magnified_title(drawn: Drawn) -> str:
    factor, worst = magnification(drawn), float(drawn.path_error_m.max())
    times = f"{factor:,}" if factor < 10_000 else f"10{superscript(round(math.log10(factor)))}"
    return f"Deviation × {times}, {at_most(worst)}"


def superscript(number: int) -> str:
    return str(number).translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹"))


def is_flat(drawn: Drawn) -> bool:
    return bool(np.ptp(drawn.corners_m[:, 2]) < 1e-6)


def projected(drawn: Drawn, points_m: Array) -> Array:
    """Points (n, 3) on paper (n, 2): from above for a flat figure, else a parallel view from the side."""
    if is_flat(drawn):
        return points_m[:, :2]
    azimuth, elevation = np.radians([AZIMUTH_DEG, ELEVATION_DEG])
    right = np.array([-np.sin(azimuth), np.cos(azimuth), 0.0])
    forward = -np.array(
        [np.cos(elevation) * np.cos(azimuth), np.cos(elevation) * np.sin(azimuth), np.sin(elevation)]
    )
    local = points_m - drawn.corners_m.mean(axis=0)
    return np.column_stack([local @ right, local @ np.cross(right, forward)])


def true_figure(axes: Axes, drawn: Drawn) -> None:
    """The edges that were to be drawn, wide and pale."""
    paper = projected(drawn, drawn.corners_m)
    axes.plot(*paper.T, color=TRUE, linewidth=6.0, solid_capstyle="round", solid_joinstyle="round", zorder=1)


def draw_path(axes: Axes, drawn: Drawn, points_m: Array) -> None:
    """The path, segment by segment, its colour the order; what goes over an edge again is dashed."""
    paper, again = projected(drawn, points_m), repeats(drawn.corners_m)
    most = max(MOST_POINTS // drawn.segments, 12)
    size = np.linalg.norm(points_m - drawn.target_m, axis=1)
    for index in np.unique(drawn.segment):
        ticks = np.flatnonzero(drawn.segment == index)
        # One tick more closes the gap to the next segment.
        ticks = np.append(ticks, min(ticks[-1] + 1, len(size) - 1))
        line = paper[ticks[thin(size[ticks], most)]]
        color = ORDER(index / max(drawn.segments - 1, 1))
        if again[index]:
            axes.plot(*line.T, color="white", linewidth=4.2, zorder=3, solid_capstyle="butt")
            axes.plot(*line.T, color=color, linewidth=3.0, linestyle=(0, (2.0, 1.1)), zorder=4)
        else:
            axes.plot(*line.T, color=color, linewidth=1.8, solid_capstyle="round", zorder=2)


def repeats(corners_m: Array) -> list[bool]:
    """Whether each segment goes over an edge that was drawn before it."""
    seen, again = set(), []
    for start, end in itertools.pairwise(corners_m):
        edge = frozenset(tuple(float(value) for value in np.round(corner, 6)) for corner in (start, end))
        again.append(edge in seen)
        seen.add(edge)
    return again


def mark_corners(axes: Axes, drawn: Drawn) -> None:
    """The order in which the corners are reached, at each of them; dashes explained."""
    visits: dict[tuple, list[int]] = defaultdict(list)
    for index, corner in enumerate(drawn.corners_m):
        visits[tuple(np.round(corner, 6))].append(index)
    paper = projected(drawn, np.array(list(visits)))
    axes.scatter(paper[:, 0], paper[:, 1], s=16, color=INK, zorder=6)
    labels = [" · ".join(map(str, order)) for order in visits.values()]
    scale = PANEL_POINTS / float(np.ptp(axes.get_xlim()))
    lines = [scale * np.column_stack(line.get_data()) for line in axes.lines]
    for point, label, offset in zip(paper, labels, free_offsets(scale * paper, labels, lines), strict=True):
        text = axes.annotate(label, point, xytext=offset, textcoords="offset points")
        text.set(ha="center", va="center", fontsize=8.5, color=INK, path_effects=halo(), zorder=7)
    twice = sum(repeats(drawn.corners_m))
    note = f"{drawn.segments} segments" + (
        f", dashed: the {twice} drawn for the second time" if twice else ""
    )
    axes.annotate(
        note,
        (0.5, 0.0),
        xycoords="axes fraction",
        xytext=(0, 4),
        textcoords="offset points",
        ha="center",
        fontsize=8.5,
        color=MUTED,
    )


def fit(axes: Axes, drawn: Drawn, flat: bool) -> None:
    """Room for the figure and for a path that strays, up to a point."""
    paper = projected(drawn, drawn.corners_m)
    size = float(np.ptp(paper, axis=0).max())
    lines = np.concatenate([np.column_stack(line.get_data()) for line in axes.lines])
    low = np.maximum(lines.min(axis=0), paper.min(axis=0) - FARTHEST * size)
    high = np.minimum(lines.max(axis=0), paper.max(axis=0) + FARTHEST * size)
    middle, half = 0.5 * (low + high), 0.5 * float((high - low).max()) + 0.5 * MARGIN * size
    axes.set_xlim(middle[0] - half, middle[0] + half)
    axes.set_ylim(middle[1] - half, middle[1] + half)
    axes.set_aspect("equal")
    if flat:
        return
    # Switched off as a whole, the axes' title would not be given its room.
    axes.set_xticks([])
    axes.set_yticks([])
    for spine in axes.spines.values():
        spine.set_visible(False)
