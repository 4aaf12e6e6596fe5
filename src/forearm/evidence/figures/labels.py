"""Places for labels beside points, clear of the lines that are drawn around them. All lengths in points."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from forearm.spatial import Array

CLEAR = 6.0
"""How far a label keeps from what is drawn, if it can."""
LETTER, LINE = 4.8, 8.5
"""About how large a label's letters are."""
DIRECTIONS = 32


def free_offsets(points: Array, labels: Sequence[str], lines: Sequence[Array]) -> list[tuple[float, float]]:
    """For every label the offset of its middle from its point: outward from the points' middle if it can.

    A point in the midst of a figure has lines on that side, too: there the label goes where there is room.
    """
    taken = np.concatenate([closely(line) for line in lines])
    middle = points.mean(axis=0)
    offsets: list[tuple[float, float]] = []
    angles = np.linspace(0.0, 2.0 * np.pi, DIRECTIONS, endpoint=False)
    directions = np.column_stack([np.cos(angles), np.sin(angles)])
    for point, label in zip(points, labels, strict=True):
        half = 0.5 * np.array([LETTER * len(label), LINE])
        tried = directions * (CLEAR + np.abs(directions) @ half)[:, None]
        outward = directions @ (point - middle) / max(float(np.linalg.norm(point - middle)), 1e-12)
        free = np.array([gap(taken, point + offset, half) for offset in tried])
        best = tried[int(np.argmax(np.minimum(free, CLEAR) + outward))]
        offsets.append((float(best[0]), float(best[1])))
        taken = np.concatenate([taken, point + best + half * CORNERS])
    return offsets


CORNERS = np.array([[x, y] for x in (-1.0, 0.0, 1.0) for y in (-1.0, 0.0, 1.0)])


def gap(taken: Array, middle: Array, half: Array) -> float:
    """The distance of a box from the nearest of the points that are taken; negative if one is inside."""
    return float((np.abs(taken - middle) - half).max(axis=1).min())


def closely(line: Array) -> Array:
    """Points along a polyline, so close that no label fits in between."""
    steps = np.linalg.norm(np.diff(line, axis=0), axis=1)
    pieces = [
        start + np.multiply.outer(np.linspace(0.0, 1.0, int(min(step / CLEAR, 200.0)) + 2), end - start)
        for start, end, step in zip(line[:-1], line[1:], steps, strict=True)
    ]
    return np.concatenate([line[:1], *pieces])
