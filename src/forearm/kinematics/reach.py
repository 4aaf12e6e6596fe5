"""Bounds on reach that hold for any chain, and prove a target out of reach.

Along a chain of revolute joints pick one point on every joint axis. Such a point stands still in
both links that the joint connects, so the distance between neighbouring points never changes, and
the distance between the first and the last is at most the sum (and at least the longest less all the
others). Sliding the points along their axes makes the sum as small as it gets: that is the bound.
Two refinements keep it sharp:

- where one joint lies between two points, their distance is a function of that joint alone, and its
  limits bound it;
- a target pose fixes the last link, so the last point may be one on the last axis: the wrist.

A prismatic joint between two points stretches their distance by half its stroke either way.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import numpy as np

from forearm.kinematics.compiling import lean
from forearm.kinematics.forward import joint_frames
from forearm.robots.robot import Robot
from forearm.spatial import Array, Pose, frozen_array

ROUNDING = 1e-9
"""Room left for rounding, relative to the length of the way."""


@dataclass(frozen=True, eq=False, slots=True)
class ReachBound:
    """A point of the tip's link stays between ``inner_m`` and ``outer_m`` of a point of the base."""

    center_in_base_m: Array
    point_in_tip_m: Array
    inner_m: float
    outer_m: float
    description: str

    def __post_init__(self) -> None:
        # Bounds are cached and shared: nobody may change what a proof rests on.
        object.__setattr__(self, "center_in_base_m", frozen_array(self.center_in_base_m))
        object.__setattr__(self, "point_in_tip_m", frozen_array(self.point_in_tip_m))

    def shortfall_m(self, target_in_base: Pose) -> float:
        """How far outside the bound the target puts the point; negative inside (m)."""
        point = target_in_base.transform_points(self.point_in_tip_m)
        distance = float(np.linalg.norm(point - self.center_in_base_m))
        return max(distance - self.outer_m, self.inner_m - distance)

    def lever_m(self) -> float:
        """How far the point moves for a radian of the tip's rotation."""
        return float(np.linalg.norm(self.point_in_tip_m))


@lru_cache(maxsize=64)
def reach_bounds(robot: Robot, task: str) -> tuple[ReachBound, ...]:
    """The bounds that apply to targets of ``task``: the tip's, and for poses the wrist's."""
    bounds = [bound_to(robot, to_tip=True)]
    if task == "pose" and sum(robot.turns) > 1:
        bounds.insert(0, bound_to(robot, to_tip=False))
    return tuple(bound for bound in bounds if np.isfinite(bound.outer_m))


@lru_cache(maxsize=64)
def bounds_table(robot: Robot, task: str) -> Array:
    """The bounds as rows: center, point, inner and outer, for ``first_passed``."""
    rows = [
        [*bound.center_in_base_m, *bound.point_in_tip_m, bound.inner_m, bound.outer_m]
        for bound in reach_bounds(robot, task)
    ]
    return frozen_array(np.reshape(rows, (-1, 8)))


@lean
def first_passed(table, target, position_m, rotation_rad):
    """(number, metres) of the first bound that the target lies outside of; (-1, 0) if of none.

    A solution may miss the target by the tolerance, so a bound must be passed by more than that.
    """
    for k in range(table.shape[0]):
        u, v, w = table[k, 3], table[k, 4], table[k, 5]
        squared = 0.0
        for row in range(3):
            reached = target[row, 0] * u + target[row, 1] * v + target[row, 2] * w + target[row, 3]
            squared += (reached - table[k, row]) ** 2
        distance = math.sqrt(squared)
        short = max(distance - table[k, 7], table[k, 6] - distance)
        if short > position_m + rotation_rad * math.sqrt(u * u + v * v + w * w):
            return k, short
    return -1, 0.0


def reach_m(robot: Robot) -> float:
    """An upper bound (m) on the distance of the tip from a point of the first joint's axis."""
    return bound_to(robot, to_tip=True).outer_m


@dataclass(frozen=True, eq=False, slots=True)
class Axes:
    """Every revolute axis as a line in the base, at one posture, and the strokes between them."""

    points: Array
    directions: Array
    half_strokes_m: Array
    """(revolute joints + 1): the prismatic half strokes before the first, between, after the last."""
    lower: Array
    upper: Array


def axes_of(robot: Robot) -> tuple[Axes, Array]:
    """The axes with revolute joints at zero and prismatic ones mid-stroke, and the tip's transform."""
    middle = np.array(
        [0.0 if joint.kind.turns else 0.5 * (joint.lower + joint.upper) for joint in robot.joints]
    )
    middle = np.where(np.isfinite(middle), middle, 0.0)
    *frames, tip = joint_frames(robot, middle)
    lines, strokes, limits = [], [0.0], []
    for joint, frame in zip(robot.joints, frames, strict=True):
        if joint.kind.turns:
            lines.append((frame[:3, 3], frame[:3, :3] @ joint.axis))
            limits.append((joint.lower, joint.upper))
            strokes.append(0.0)
        else:
            strokes[-1] += 0.5 * (joint.upper - joint.lower)
    points = np.array([point for point, _ in lines]).reshape(-1, 3)
    directions = np.array([direction for _, direction in lines]).reshape(-1, 3)
    lower, upper = np.array(limits).reshape(-1, 2).T
    return Axes(points, directions, np.array(strokes), lower, upper), tip


def bound_to(robot: Robot, to_tip: bool) -> ReachBound:
    """The bound from the first axis to the tip, or to a point on the last axis."""
    axes, tip = axes_of(robot)
    count = len(axes.points)
    # A stroke before the first axis moves that axis, so the base's own origin stands in for it; one
    # after the last axis moves the tip off it, so the tip itself has to be the last point.
    from_base = count == 0 or axes.half_strokes_m[0] > 0.0
    to_tip = to_tip or axes.half_strokes_m[-1] > 0.0
    fixed_start = [np.zeros(3)] if from_base else []
    fixed_end = [tip[:3, 3]] if to_tip else []
    anchors = slide_anchors(axes, fixed_start, fixed_end)
    strokes = axes.half_strokes_m[0 if from_base else 1 : None if to_tip else -1]
    singles = [
        (max(0.0, float(np.linalg.norm(b - a)) - stroke), float(np.linalg.norm(b - a)) + stroke)
        for a, b, stroke in zip(anchors[:-1], anchors[1:], strokes, strict=True)
    ]
    pairs = {}
    for index in range(1, len(anchors) - 1):
        axis = index - len(fixed_start)
        if strokes[index - 1] == 0.0 and strokes[index] == 0.0:
            pairs[index] = distance_range(
                anchors[index - 1],
                anchors[index + 1],
                anchors[index],
                axes.directions[axis],
                axes.lower[axis],
                axes.upper[axis],
            )
    inner, outer = combine(singles, pairs)
    slack = ROUNDING * (1.0 + outer)
    return ReachBound(
        center_in_base_m=anchors[0],
        point_in_tip_m=tip[:3, :3].T @ (anchors[-1] - tip[:3, 3]),
        inner_m=max(0.0, inner - slack),
        outer_m=outer + slack,
        description="tip" if to_tip else "wrist",
    )


def slide_anchors(axes: Axes, start: list[Array], end: list[Array], rounds: int = 60) -> list[Array]:
    """One point on every axis such that the way along them is short.

    Minimises the sum of lengths by reweighted least squares; any outcome gives a valid bound.
    """
    count = len(axes.points)
    if count == 0:
        return [*start, *end]
    slides: Array = np.zeros(count)
    for _ in range(rounds):
        anchors = [*start, *(axes.points + slides[:, None] * axes.directions), *end]
        weights = [1.0 / max(float(np.linalg.norm(b - a)), 1e-6) for a, b in pairwise(anchors)]
        matrix, right = 1e-9 * np.eye(count), np.zeros(count)
        for index, weight in enumerate(weights):
            first, second = index - len(start), index + 1 - len(start)
            a = axes.points[first] if 0 <= first < count else anchors[index]
            b = axes.points[second] if 0 <= second < count else anchors[index + 1]
            gap = b - a
            if 0 <= first < count:
                matrix[first, first] += weight
                right[first] += weight * float(axes.directions[first] @ gap)
            if 0 <= second < count:
                matrix[second, second] += weight
                right[second] -= weight * float(axes.directions[second] @ gap)
            if first >= 0 and second < count:
                coupling = weight * float(axes.directions[first] @ axes.directions[second])
                matrix[first, second] -= coupling
                matrix[second, first] -= coupling
        slides = np.linalg.solve(matrix, right)
    return [*start, *(axes.points + slides[:, None] * axes.directions), *end]


def distance_range(
    before: Array, after: Array, anchor: Array, axis: Array, lower: float, upper: float
) -> tuple[float, float]:
    """The least and greatest distance of ``before`` and ``after`` as the joint between them turns.

    d² = h² + (r1 - r2)² + 4 r1 r2 sin²((φ + q) / 2), with h the offset along the axis, r1 and r2 the
    distances from it and φ the angle between the two at q = 0. Squares only, since a difference would
    lose half of the digits where the two points can meet.
    """
    u, v = before - anchor, after - anchor
    u_across, v_across = u - axis * (axis @ u), v - axis * (axis @ v)
    height = float(axis @ (v - u))
    r1, r2 = float(np.linalg.norm(u_across)), float(np.linalg.norm(v_across))
    phase = float(np.arctan2(axis @ np.cross(u_across, v_across), u_across @ v_across))

    def distance(angle: float) -> float:
        return float(np.sqrt(height**2 + (r1 - r2) ** 2 + 4.0 * r1 * r2 * np.sin(0.5 * angle) ** 2))

    if upper - lower >= 2.0 * np.pi:
        return distance(0.0), distance(np.pi)
    start, end = phase + lower, phase + upper
    ends = distance(start), distance(end)
    # Nearest at multiples of 2π, farthest half a turn later.
    meets = np.floor(end / (2.0 * np.pi)) > np.floor(start / (2.0 * np.pi))
    parts = np.floor((end - np.pi) / (2.0 * np.pi)) > np.floor((start - np.pi) / (2.0 * np.pi))
    return distance(0.0) if meets else min(ends), distance(np.pi) if parts else max(ends)


def combine(singles: list[tuple[float, float]], pairs: dict[int, tuple[float, float]]) -> tuple[float, float]:
    """(inner, outer) bound of the whole from those of its steps, and of neighbouring steps in pairs.

    Outer: the cheapest way to cover all steps with singles and pairs. Inner: for each single or pair,
    its least length less the most that all before and after it can cover.
    """
    count = len(singles)
    most_before = [0.0] * (count + 1)
    for k in range(1, count + 1):
        most_before[k] = most_before[k - 1] + singles[k - 1][1]
        if k - 1 in pairs:
            most_before[k] = min(most_before[k], most_before[k - 2] + pairs[k - 1][1])
    most_after = [0.0] * (count + 1)
    for k in range(count - 1, -1, -1):
        most_after[k] = singles[k][1] + most_after[k + 1]
        if k + 1 in pairs:
            most_after[k] = min(most_after[k], pairs[k + 1][1] + most_after[k + 2])
    inner = [low - most_before[k] - most_after[k + 1] for k, (low, _) in enumerate(singles)]
    inner += [low - most_before[k - 1] - most_after[k + 1] for k, (low, _) in pairs.items()]
    return max([0.0, *inner]), most_before[count]
