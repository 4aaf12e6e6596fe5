"""Routes: curves of poses, measured along their own length, that know their derivatives.

A route is a chain of segments. A segment is asked at a parameter s in [0, 1]; its speed along the way
is a profile's business.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike

from forearm.errors import InvalidInput
from forearm.spatial import Array, Pose, finite_vector, frozen_array, rotation_exp, rotation_log

ROUNDING = 1e-12
"""Rotation (rad) below which two orientations are one and the same."""
LARGEST_GAP = 1e-9
"""How far (m, or entries of a rotation) a segment may start from where the last one ended."""


class SegmentPoints(NamedTuple):
    """A segment at n parameters: poses and their derivatives by s."""

    positions_m: Array
    """(n, 3)"""
    rotations: Array
    """(n, 3, 3)"""
    first: Array
    """(n, 6): d(position)/ds and the rotation vector turned per unit of s, world-aligned."""
    second: Array
    """(n, 6): the derivative of ``first`` by s."""


class Segment(Protocol):
    """One smooth piece of a route."""

    @property
    def length_m(self) -> float: ...

    def at(self, s: Array) -> SegmentPoints:
        """The segment at parameters ``s`` in [0, 1]."""
        ...


@dataclass(frozen=True, eq=False, slots=True)
class Line:
    """A straight line; the rotation turns about one axis, evenly along it.

    p(s) = p0 + s (p1 - p0), R(s) = exp(s [w]x) R0 with w = log(R1 R0ᵀ).
    """

    start: Pose
    end: Pose

    @property
    def length_m(self) -> float:
        return float(np.linalg.norm(self.end.position_m - self.start.position_m))

    @property
    def turn_rad(self) -> Array:
        turn = rotation_log(self.end.rotation @ self.start.rotation.T)
        # What rounding leaves of two equal rotations is not a turn.
        return turn if np.abs(turn).max() > ROUNDING else np.zeros(3)

    def at(self, s: Array) -> SegmentPoints:
        step = self.end.position_m - self.start.position_m
        turn = self.turn_rad
        start_rotation = self.start.rotation
        rotations = (
            np.array([rotation_exp(turn * value) @ start_rotation for value in s])
            if turn.any()
            else np.broadcast_to(start_rotation, (len(s), 3, 3))
        )
        return SegmentPoints(
            positions_m=self.start.position_m + np.multiply.outer(s, step),
            rotations=rotations,
            first=np.broadcast_to(np.concatenate([step, turn]), (len(s), 6)),
            second=np.zeros((len(s), 6)),
        )


@dataclass(frozen=True, eq=False, slots=True)
class Arc:
    """A circular arc about ``center_m``; the rotation stays.

    p(s) = c + u cos φ + v sin φ with φ = s · angle, u the radius at the start and v across it.
    """

    center_m: Array
    start: Pose
    normal: Array
    angle_rad: float

    @property
    def length_m(self) -> float:
        return abs(self.angle_rad) * float(np.linalg.norm(self.start.position_m - self.center_m))

    def at(self, s: Array) -> SegmentPoints:
        u = self.start.position_m - self.center_m
        v = np.cross(self.normal, u)
        cosine, sine = np.cos(s * self.angle_rad), np.sin(s * self.angle_rad)
        outward = np.multiply.outer(cosine, u) + np.multiply.outer(sine, v)
        along = np.multiply.outer(cosine, v) - np.multiply.outer(sine, u)
        still = np.zeros((len(s), 3))
        return SegmentPoints(
            positions_m=self.center_m + outward,
            rotations=np.broadcast_to(self.start.rotation, (len(s), 3, 3)),
            first=np.hstack([along * self.angle_rad, still]),
            second=np.hstack([-outward * self.angle_rad**2, still]),
        )


@dataclass(frozen=True, eq=False, slots=True)
class Route:
    """Segments end to end. The tip stops where two of them meet."""

    segments: tuple[Segment, ...]

    def __post_init__(self) -> None:
        if not self.segments:
            raise InvalidInput("route", "has no segment", "Give one or more.")
        ends = [segment.at(np.array([0.0, 1.0])) for segment in self.segments]
        for index, (left, right) in enumerate(pairwise(ends)):
            gap = np.abs(left.positions_m[1] - right.positions_m[0]).max()
            turn = np.abs(left.rotations[1] - right.rotations[0]).max()
            if not max(gap, turn) <= LARGEST_GAP:
                raise InvalidInput(
                    "route",
                    f"is torn between segments {index + 1} and {index + 2}: {gap:.3g} m, {turn:.3g} rad",
                    "Each segment must start where the one before it ends.",
                )

    @property
    def length_m(self) -> float:
        return sum(segment.length_m for segment in self.segments)


def line(start: Pose, end: Pose) -> Route:
    return Route((Line(start, end),))


def through(poses: Sequence[Pose]) -> Route:
    """Straight lines from pose to pose, the rotation interpolated on SO(3)."""
    if len(poses) < 2:
        raise InvalidInput("route", f"has {len(poses)} pose", "Give two or more.")
    return Route(tuple(Line(a, b) for a, b in pairwise(poses)))


def polyline(points_m: ArrayLike, orientation: Pose) -> Route:
    """Straight lines from point to point at the rotation of ``orientation``."""
    points = np.atleast_2d(np.asarray(points_m, dtype=np.float64))
    return through([Pose(point, orientation.quaternion_wxyz) for point in points])


def square(center_m: ArrayLike, side_m: float, orientation: Pose) -> Route:
    """A square in the x-y plane, counterclockwise from its lower left corner."""
    half = 0.5 * positive(side_m, "side_m")
    corners = half * np.array([(-1, -1, 0), (1, -1, 0), (1, 1, 0), (-1, 1, 0), (-1, -1, 0)])
    center = finite_vector(center_m, 3, "center_m")
    return polyline(center + corners, orientation)


def circle(
    center_m: ArrayLike, radius_m: float, orientation: Pose, normal: ArrayLike = (0.0, 0.0, 1.0)
) -> Route:
    """A full circle about ``normal``, counterclockwise seen from its tip."""
    axis = finite_vector(normal, 3, "normal")
    axis = axis / positive(float(np.linalg.norm(axis)), "normal's length")
    across = np.eye(3)[int(np.argmin(np.abs(axis)))]
    across = across - axis * (axis @ across)
    center = finite_vector(center_m, 3, "center_m")
    begin = center + positive(radius_m, "radius_m") * across / np.linalg.norm(across)
    start = Pose(begin, orientation.quaternion_wxyz)
    return Route((Arc(frozen_array(center), start, frozen_array(axis), 2.0 * np.pi),))


def positive(value: float, what: str) -> float:
    if not (np.isfinite(value) and value > 0.0):
        raise InvalidInput(what, f"is {value}", "Give a positive number.")
    return value
