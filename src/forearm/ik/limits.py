"""Joint limits and full turns."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from forearm.ik.problem import LIMIT_TOLERANCE, limits_of
from forearm.kinematics.compiling import lean
from forearm.kinematics.screws import SLIDES, screws_of
from forearm.robots.robot import Robot
from forearm.spatial import Array

TURN = 2.0 * np.pi


def turned_into_limits(robot: Robot, q: Array, near: Array) -> Array:
    """``q`` with every revolute joint turned by full turns to the value nearest ``near`` in its limits.

    A joint that no full turn brings inside is left at the value nearest to its limits: turning a
    joint is not the same as clamping it.
    """
    return rows_turned_into(robot, limits_of(robot), q[None], near)[0]


def rows_turned_into(robot: Robot, limits: Array, rows: Array, near: Array, onto: float = 0.0) -> Array:
    """The same for a joint vector a row, and limits (2 x n) that may be narrower than the robot's.

    What is then no more than ``onto`` (rad or m) past a limit is put on it.
    """
    turned = np.array(rows, dtype=np.float64, order="C")
    turn_into(screws_of(robot), limits, turned, near, onto)
    return turned


@lean
def turn_into(screws, limits, rows, near, onto):
    """Turn every row into the limits, in place, and put on a limit what is hardly past it."""
    for row in range(rows.shape[0]):
        for i in range(rows.shape[1]):
            if screws[i, SLIDES] != 0.0:
                continue
            lower, upper = limits[0, i], limits[1, i]
            value = rows[row, i]
            value += TURN * np.rint((near[i] - value) / TURN)
            if value > upper + LIMIT_TOLERANCE:
                value -= TURN * math.ceil((value - upper - LIMIT_TOLERANCE) / TURN)
            elif value < lower - LIMIT_TOLERANCE:
                value += TURN * math.ceil((lower - LIMIT_TOLERANCE - value) / TURN)
            if max(lower - value, value - upper) > LIMIT_TOLERANCE:
                # No turn brings it inside: the one that comes nearest.
                kept, past = value, math.inf
                for turns in range(-1, 2):
                    option = value + TURN * turns
                    if max(lower - option, option - upper) < past:
                        kept, past = option, max(lower - option, option - upper)
                value = kept
            if max(lower - value, value - upper) <= onto:
                value = min(max(value, lower), upper)
            rows[row, i] = value


def winding_count(limits: Array, turns: Sequence[bool], q: Array) -> int:
    """How many joint vectors within ``limits`` (2 x n) differ from ``q`` by full turns only, itself included.

    A continuous joint counts once: its turns are all the same.
    """
    count = 1
    for lower, upper, value, rotates in zip(*limits.tolist(), q.tolist(), turns, strict=True):
        if rotates and math.isfinite(upper - lower):
            most = math.floor((upper - value + LIMIT_TOLERANCE) / TURN)
            least = math.ceil((lower - value - LIMIT_TOLERANCE) / TURN)
            count *= max(0, most - least + 1)
    return count
