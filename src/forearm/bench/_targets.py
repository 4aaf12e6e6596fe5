"""Where the inverse kinematics panels put their targets; those that can be reached come from postures."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from forearm.bench._reach import longest_reach
from forearm.bench._solving import uniform_in_limits
from forearm.kinematics.chain import chain_of, forward_and_jacobian_into
from forearm.kinematics.forward import tip_matrix
from forearm.kinematics.reach import reach_bounds
from forearm.robots.robot import Robot
from forearm.spatial import Array

Draw = Callable[[Robot, np.random.Generator], Array]
SINGULAR = 1e-3
"""Smallest singular value of J up to which a posture of the singular panel goes."""
ROUNDS = 60


def on_limit(robot: Robot, generator: np.random.Generator) -> Array:
    """A posture with one joint on a limit."""
    q = uniform_in_limits(robot, generator)
    limited = np.flatnonzero(np.isfinite(robot.lower) & np.isfinite(robot.upper))
    joint = generator.choice(limited)
    q[joint] = generator.choice([robot.lower[joint], robot.upper[joint]])
    return q


def limit_corner(robot: Robot, generator: np.random.Generator) -> Array:
    """A posture with every joint that has limits on one of them."""
    q = uniform_in_limits(robot, generator)
    ends = np.where(generator.random(robot.dof) < 0.5, robot.lower, robot.upper)
    return np.where(np.isfinite(ends), ends, q)


def near_singular(robot: Robot, generator: np.random.Generator) -> Array:
    """A posture whose Jacobian's smallest singular value is below 1e-3, gone down to from anywhere."""
    q = uniform_in_limits(robot, generator)
    transform, jacobian = np.empty((4, 4)), np.empty((6, robot.dof))

    def least(posture: Array) -> float:
        forward_and_jacobian_into(chain_of(robot), posture, transform, jacobian)
        return float(np.linalg.svd(jacobian, compute_uv=False)[-1])

    value, step = least(q), 0.3
    for _ in range(ROUNDS * robot.dof):
        if value <= SINGULAR * generator.random():
            break
        tried = np.clip(q + generator.normal(size=robot.dof) * step, robot.lower, robot.upper)
        if (found := least(tried)) < value:
            q, value = tried, found
        else:
            step = max(0.97 * step, 1e-4)
    return q


def beyond_reach(robot: Robot, generator: np.random.Generator) -> Array:
    """A pose (4x4) that no posture reaches: farther off than a search within the limits ever got."""
    pose = tip_matrix(robot, uniform_in_limits(robot, generator)).copy()
    center = reach_bounds(robot, "position")[0].center_in_base_m
    away = generator.normal(size=3)
    distance = longest_reach(robot, tuple(center)) * generator.uniform(1.05, 2.0)
    pose[:3, 3] = center + distance * away / np.linalg.norm(away)
    return pose


def smooth_path(robot: Robot, generator: np.random.Generator, count: int) -> tuple[Array, Array]:
    """A start, and the poses (count, 4, 4) of the tip as the joints swing to and fro from there."""
    limited = np.isfinite(robot.lower) & np.isfinite(robot.upper)
    lower, upper = np.where(limited, robot.lower, -np.pi), np.where(limited, robot.upper, np.pi)
    room, middle = upper - lower, 0.5 * (lower + upper)
    swing = 0.2 * np.minimum(room, np.pi)
    phase = generator.uniform(0.0, 2.0 * np.pi, robot.dof)
    turns = generator.integers(1, 3, robot.dof)
    time = np.linspace(0.0, 2.0 * np.pi, count + 1)[:, None]
    postures = middle + swing * np.sin(turns * time + phase)
    return postures[0], np.array([tip_matrix(robot, q) for q in postures[1:]])


HARD: dict[str, Draw] = {
    "near a singularity": near_singular,
    "a joint on its limit": on_limit,
    "all joints on limits": limit_corner,
}
