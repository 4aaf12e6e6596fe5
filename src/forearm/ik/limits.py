"""Joint limits and full turns."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from forearm.ik.problem import LIMIT_TOLERANCE
from forearm.robots.robot import Robot
from forearm.spatial import Array

TURN = 2.0 * np.pi


def turned_into_limits(robot: Robot, q: Array, near: Array) -> Array:
    """``q`` with every revolute joint turned by full turns to the value nearest ``near`` in its limits.

    A joint that no full turn brings inside is left at the value nearest to its limits: turning a
    joint is not the same as clamping it.
    """
    result = q.copy()
    for i, turns in enumerate(robot.turns):
        if not turns:
            continue
        lower, upper = robot.lower[i], robot.upper[i]
        value = q[i] + TURN * np.round((near[i] - q[i]) / TURN)
        if value > upper + LIMIT_TOLERANCE:
            value -= TURN * np.ceil((value - upper - LIMIT_TOLERANCE) / TURN)
        elif value < lower - LIMIT_TOLERANCE:
            value += TURN * np.ceil((lower - LIMIT_TOLERANCE - value) / TURN)
        past = max(lower - value, value - upper)
        if past > LIMIT_TOLERANCE:
            options = value + TURN * np.array([-1.0, 0.0, 1.0])
            value = options[np.argmin(np.maximum(lower - options, options - upper))]
        result[i] = value
    return result


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
