"""All twelve edges of a cube in one stroke.

Every corner of a cube has three edges, so no stroke can draw each edge exactly once: all but two
corners must be made even by going over edges again. Three edges twice are the fewest, fifteen
segments in all.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np
from numpy.typing import ArrayLike

from forearm.motion.route import Route, polyline, positive
from forearm.spatial import Array, Pose, finite_vector

Corner = tuple[int, ...]
REPEATED: tuple[tuple[Corner, Corner], ...] = (
    ((1, 0, 0), (1, 1, 0)),
    ((0, 1, 0), (0, 1, 1)),
    ((0, 0, 1), (1, 0, 1)),
)
"""Edges drawn twice: disjoint, so that only the corners (0,0,0) and (1,1,1) stay odd."""


def cube_edges() -> list[tuple[Corner, Corner]]:
    """The twelve edges, between corners that differ in one coordinate."""
    corners = list(product((0, 1), repeat=3))
    return [(a, b) for a in corners for b in corners if a < b and sum(map(abs, np.subtract(a, b))) == 1]


def stroke() -> list[Corner]:
    """The sixteen corners of a stroke over all edges, from (1, 1, 1) to (0, 0, 0): Hierholzer's algorithm."""
    left: dict[Corner, list[Corner]] = {corner: [] for corner in product((0, 1), repeat=3)}
    for a, b in [*cube_edges(), *REPEATED]:
        left[a].append(b)
        left[b].append(a)
    path: list[Corner] = []
    stack: list[Corner] = [(0, 0, 0)]
    while stack:
        corner = stack[-1]
        if left[corner]:
            following = left[corner].pop(0)
            left[following].remove(corner)
            stack.append(following)
        else:
            path.append(stack.pop())
    return path


def cube(center_m: ArrayLike, side_m: float, orientation: Pose) -> Route:
    """The stroke over the edges of an axis-aligned cube, the tip's rotation kept."""
    return polyline(corner_points(center_m, side_m, stroke()), orientation)


def corner_points(center_m: ArrayLike, side_m: float, corners: Sequence[Corner]) -> Array:
    """Corners of the unit cube as points of the cube that is meant (m)."""
    center = finite_vector(center_m, 3, "center_m")
    return center + positive(side_m, "side_m") * (np.array(corners) - 0.5)
