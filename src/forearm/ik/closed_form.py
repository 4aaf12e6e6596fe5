"""All branches of two families of six-joint arms, each as a box that holds it: what proofs stand on.

With joint axes h_i at q = 0 and R_i(θ) the turn about h_i, both families are taken apart into

    SP1: R(θ) p = r,    SP3: |a + R(θ) b| = r,    SP4: d · R(θ) p = c,

each with at most two roots. They are solved in interval arithmetic for *all* poses within the tolerance of
the target, so a root that is not there is there for none of them, and near a singularity a box is wide.

- Spherical wrist: axes 2 and 3 parallel, axes 4 to 6 through one point.
- Three parallel: axes 2 to 4 parallel, axes 5 and 6 meeting. Universal Robots' arms are such.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from forearm.ik.intervals import WHOLE_TURN, Interval, arc_cosine, cosine, direction, interval, sine
from forearm.kinematics.screws import AXIS, POINT, screws_of
from forearm.robots.robot import Robot
from forearm.spatial import Array

SAME = 1e-9
"""How nearly (m, rad) axes must be parallel, or meet, to count as such."""
BLUR = 2e-8
"""What that leaves uncertain (m, rad); it is added to the tolerance."""

Box = tuple[Interval, ...]
Vector = Any
"""Three numbers or intervals, as a NumPy array of objects."""


@dataclass(frozen=True, eq=False, slots=True)
class Family:
    """An arm taken apart: its axes, and points that lie on several of them, at q = 0."""

    name: str
    axes: Array
    points: Array
    """One on each axis; where axes meet it is where they do."""
    tip: Array
    """The tip's pose (4x4)."""
    branches: Callable[[Family, Any, Vector], Iterator[Box]]

    def boxes(self, target: Array, position_m: float, rotation_rad: float) -> Iterator[Box]:
        """A box of joint angles for each branch of any pose within that of ``target``; full turns aside."""
        turn = target[:3, :3] @ self.tip[:3, :3].T
        # An entry of a rotation changes by no more than the angle.
        rotation = blurred(turn, rotation_rad + BLUR)
        position = blurred(target[:3, 3], position_m + BLUR)
        center = position + rotation @ (self.points[5] - self.tip[:3, 3])
        return self.branches(self, rotation, center)


def blurred(values: Array, by: float) -> Any:
    """Every number as the interval of all that are no farther from it than ``by``."""
    return np.vectorize(lambda value: Interval(value - by, value + by), otypes=[object])(values)


@lru_cache(maxsize=64)
def family_of(robot: Robot) -> Family | None:
    """How ``robot`` is taken apart, or None."""
    if robot.dof != 6 or not all(robot.turns):
        return None
    screws = screws_of(robot)
    axes, points, tip = screws[:6, AXIS : AXIS + 3], screws[:6, POINT : POINT + 3].copy(), screws[6:, :4]
    wrist = meeting_point(axes[4], points[4], axes[5], points[5])
    if wrist is None or not parallel(axes[1], axes[2]):
        return None
    points[4], points[5] = wrist, wrist
    if line_distance(wrist, axes[3], points[3]) <= SAME:
        points[3] = wrist
        return Family("spherical wrist", axes, points, tip, spherical_wrist)
    if parallel(axes[1], axes[3]):
        return Family("three parallel axes", axes, points, tip, three_parallel)
    return None


def parallel(a: Array, b: Array) -> bool:
    return bool(np.linalg.norm(np.cross(a, b)) <= SAME)


def line_distance(point: Array, axis: Array, on_axis: Array) -> float:
    return float(np.linalg.norm(np.cross(axis, point - on_axis)))


def meeting_point(a: Array, on_a: Array, b: Array, on_b: Array) -> Array | None:
    """Where two axes meet; None if they do not, or are parallel."""
    if parallel(a, b):
        return None
    along = np.linalg.lstsq(np.column_stack([a, -b]), on_b - on_a, rcond=None)[0]
    first, second = on_a + along[0] * a, on_b + along[1] * b
    return 0.5 * (first + second) if np.linalg.norm(first - second) <= SAME else None


def spherical_wrist(family: Family, rotation: Any, center: Vector) -> Iterator[Box]:
    """θ1 from the wrist's share along h2, θ3 from its distance, θ2 from where it is; then the wrist."""
    h, o = family.axes, family.points
    for q1 in first_joint(family, center):
        wrist = turned(h[0], -q1, center - o[0]) + o[0]
        for q2, q3 in two_links(h[1], o[2] - o[1], o[3] - o[2], wrist - o[1]):
            q3 = q3 * sense(h, 2)
            left = np.array([turned_back(h, (q1, q2, q3), column) for column in rotation.T]).T
            for q5 in onto_plane(h[3], h[4], h[5], left @ h[5]):
                q4 = onto_direction(h[3], turned(h[4], q5, h[5]), left @ h[5])
                q6 = onto_direction(h[5], left.T @ h[3], turned(h[4], -q5, h[3]))
                yield q1, q2, q3, q4, q5, q6


def three_parallel(family: Family, rotation: Any, center: Vector) -> Iterator[Box]:
    """θ1 and θ5 from what the parallel axes leave unchanged, θ6, then three links in a plane."""
    h, o = family.axes, family.points
    for q1 in first_joint(family, center):
        level = turned(h[0], q1, h[1])
        for q5 in onto_plane(h[1], h[4], h[5], turned(h[0], -q1, rotation @ h[5])):
            q6 = onto_direction(h[5], rotation.T @ level, turned(h[4], -q5, h[1]))
            # R2(φ) u for a u across h2, φ the sum of θ2, θ3 and θ4 about it.
            u = np.cross(h[1], h[0]) if not parallel(h[0], h[1]) else np.cross(h[1], h[4])
            whole = rotation @ turned(h[5], -q6, turned(h[4], -q5, u))
            across = onto_direction(h[1], u, turned(h[0], -q1, whole))
            wrist = turned(h[0], -q1, center - o[0]) + o[0] - turned(h[1], across, o[4] - o[3])
            for q2, q3 in two_links(h[1], o[2] - o[1], o[3] - o[2], wrist - o[1]):
                yield q1, q2, q3 * sense(h, 2), (across - q2 - q3) * sense(h, 3), q5, q6


def sense(axes: Array, joint: int) -> float:
    """Whether the joint turns as joint 2 does, its axis being parallel, or the other way."""
    return float(np.sign(axes[1] @ axes[joint]))


def first_joint(family: Family, center: Vector) -> list[Interval]:
    """Turns about h2 and its parallels leave the center's share along h2 as it is at q = 0."""
    h, o = family.axes, family.points
    return onto_plane_at(h[0], h[1], center - o[0], float(h[1] @ (o[5] - o[0])))


def two_links(axis: Array, a: Array, b: Array, reached: Vector) -> Iterator[tuple[Interval, Interval]]:
    """(θ2, θ3), both about ``axis``, with R(θ2)(a + R(θ3) b) = ``reached`` as seen along it: SP3, SP1."""
    a, b = across(axis, a), across(axis, b)
    reached = across(axis, reached)
    # |a + R(θ) b|² = |a|² + |b|² + 2 a · R(θ) b
    length = sum((x.squared() for x in map(interval, reached)), interval(0.0))
    share = 0.5 * (length - float(a @ a + b @ b))
    for bend in roots(dot(a, b), dot(a, np.cross(axis, b)), share):
        yield onto_direction(axis, a + turned(axis, bend, b), reached), bend


def onto_plane_at(axis: Array, normal: Array, point: Vector, share: float) -> list[Interval]:
    """The θ with R(θ) ``normal`` · ``point`` = ``share``: SP4."""
    along = float(axis @ normal) * dot(axis, point)
    return roots(dot(normal, point) - along, dot(np.cross(axis, normal), point), share - along)


def onto_plane(normal: Array, axis: Array, turning: Array, wanted: Vector) -> list[Interval]:
    """The θ with ``normal`` · R(θ) ``turning`` = ``normal`` · ``wanted``: SP4."""
    along = float((normal @ axis) * (axis @ turning))
    return roots(
        interval(float(normal @ turning) - along),
        interval(float(normal @ np.cross(axis, turning))),
        dot(normal, wanted) - along,
    )


def onto_direction(axis: Array, turning: Vector, wanted: Vector) -> Interval:
    """The θ with R(θ) ``turning`` = ``wanted``, seen along ``axis``: SP1; any if there is nothing to see."""
    along = dot(axis, turning) * dot(axis, wanted)
    return direction(dot(axis, np.cross(turning, wanted)), dot(turning, wanted) - along)


def roots(a: Any, b: Any, c: Any) -> list[Interval]:
    """The θ with a cos θ + b sin θ = c: atan2(b, a) ± acos(c / sqrt(a² + b²))."""
    a, b, c = interval(a), interval(b), interval(c)
    size = (a.squared() + b.squared()).root()
    if size.low <= 0.0:
        # Any angle will do where both vanish; only a share too large for all of them is impossible.
        return [] if c.low > size.high or c.high < -size.high else [WHOLE_TURN]
    aside = arc_cosine(c.over(size))
    if aside is None:
        return []
    middle = direction(b, a)
    return [middle + aside, middle - aside]


def dot(a: Vector, b: Vector) -> Any:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def across(axis: Array, vector: Vector) -> Vector:
    """What of it is at right angles to the axis."""
    return vector - axis * dot(axis, vector)


def turned(axis: Array, angle: Interval, vector: Vector) -> Vector:
    """Rodrigues: v cos θ + (a x v) sin θ + a (a · v)(1 - cos θ)."""
    c, s = cosine(angle), sine(angle)
    along = dot(axis, vector)
    level = np.asarray(vector, dtype=object) - axis * along
    return axis * along + level * c + np.cross(axis, np.asarray(vector, dtype=object)) * s


def turned_back(axes: Array, angles: tuple[Interval, ...], vector: Vector) -> Vector:
    """(R1 R2 ...)ᵀ v."""
    for axis, angle in zip(axes, angles, strict=False):
        vector = turned(axis, -angle, vector)
    return vector
