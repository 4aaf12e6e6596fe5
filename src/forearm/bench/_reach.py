"""How far an arm truly reaches, found from inside: by search, not by the bound that is to be tested."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from forearm.bench._solving import uniform_in_limits
from forearm.kinematics.chain import chain_of, forward_and_jacobian_into
from forearm.robots.robot import Robot
from forearm.spatial import Array

SAMPLES = 2_000
STARTS = 12
STEPS = 200
SEED = 0


@lru_cache(maxsize=16)
def longest_reach(robot: Robot, from_m: tuple[float, float, float]) -> float:
    """The largest distance (m) of the tip from a point of the base that a search within the limits finds.

    The farthest of many random postures are improved by gradient ascent, held inside the limits.
    """
    generator = np.random.default_rng(SEED)
    center = np.array(from_m)
    postures = [uniform_in_limits(robot, generator) for _ in range(SAMPLES)]
    farthest = sorted(postures, key=lambda q: -climbing(robot, center, q)[0])[:STARTS]
    return max(climb(robot, center, q) for q in farthest)


def climb(robot: Robot, center: Array, q: Array) -> float:
    """The distance at the end of a gradient ascent whose step grows and shrinks with its success."""
    distance, slope = climbing(robot, center, q)
    step = 0.1
    for _ in range(STEPS):
        tried = np.clip(q + step * slope, robot.lower, robot.upper)
        farther, steeper = climbing(robot, center, tried)
        if farther > distance:
            q, distance, slope, step = tried, farther, steeper, 1.5 * step
        else:
            step *= 0.5
    return distance


def climbing(robot: Robot, center: Array, q: Array) -> tuple[float, Array]:
    """The tip's distance from ``center``, and how it changes with the joints: J_vᵀ d / |d|."""
    transform, jacobian = np.empty((4, 4)), np.empty((6, robot.dof))
    forward_and_jacobian_into(chain_of(robot), q, transform, jacobian)
    away = transform[:3, 3] - center
    distance = float(np.linalg.norm(away))
    return distance, jacobian[:3].T @ away / max(distance, 1e-12)
