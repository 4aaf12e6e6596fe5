"""Axes of lengths that span fifteen orders of magnitude; and lines with fewer points but all extremes."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

from forearm.evidence.readable import PREFIXES
from forearm.spatial import Array

ROUNDING_M = 1e-12
"""Below this a distance between points a metre away is what floating point leaves, no error."""
MOST_POINTS = 1500
"""A line on a page has no more."""


def tick_text(value_m: float, _position: int = 0) -> str:
    """A power of ten as 100 nm, 1 µm, 10 µm."""
    for scale, unit in PREFIXES:
        if value_m >= 0.999 * scale:
            return f"{value_m / scale:.0f} {unit}"
    return f"{value_m / PREFIXES[-1][0]:.1g} {PREFIXES[-1][1]}"


def length_axis(axes: Axes, which: str, low_m: float, high_m: float) -> None:
    """Make the ``x`` or ``y`` axis logarithmic, its ticks in readable units."""
    getattr(axes, f"set_{which}scale")("log")
    getattr(axes, f"set_{which}lim")(low_m, high_m)
    axis = getattr(axes, f"{which}axis")
    decades = max(math.log10(high_m / low_m), 1.0)
    step = next(step for step in (1, 2, 3, 6) if decades / step <= 7 or step == 6)
    first = math.ceil(math.log10(low_m) - 1e-9)
    first += (-first) % step
    last = math.floor(math.log10(high_m) + 1e-9)
    axis.set_major_locator(LogLocator(numticks=20))
    getattr(axes, f"set_{which}ticks")([10.0**power for power in range(first, last + 1, step)])
    axis.set_major_formatter(FuncFormatter(tick_text))
    axis.set_minor_locator(NullLocator())


def envelope(values: Array, most: int = MOST_POINTS // 4) -> tuple[Array, Array, Array, Array]:
    """Of every stretch of ticks: the middle one's index, and the smallest, RMS and largest value."""
    edges = np.unique(np.linspace(0, len(values), min(most, len(values)) + 1).astype(int))
    stretches = [values[start:end] for start, end in pairwise(edges)]
    return (
        (edges[:-1] + edges[1:] - 1) // 2,
        np.array([stretch.min() for stretch in stretches]),
        np.array([np.sqrt(np.mean(stretch**2)) for stretch in stretches]),
        np.array([stretch.max() for stretch in stretches]),
    )


def thin(values: Array, most: int = MOST_POINTS) -> Array:
    """Indices of at most ``most`` of the values, in order: the smallest and largest of every stretch."""
    count = len(values)
    if count <= most:
        return np.arange(count)
    edges = np.linspace(0, count, (most - 2) // 2 + 1).astype(int)
    picked = [0, count - 1]
    filled = np.nan_to_num(values, nan=0.0, posinf=0.0, neginf=0.0)
    for start, end in pairwise(edges):
        stretch = filled[start:end]
        picked += [start + int(np.argmin(stretch)), start + int(np.argmax(stretch))]
    return np.unique(picked)
