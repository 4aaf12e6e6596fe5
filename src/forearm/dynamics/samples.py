"""The postures, velocities and accelerations at which the sides are compared."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from forearm.errors import InvalidInput
from forearm.robots.robot import Robot
from forearm.spatial import Array

SAMPLES = 64
SEED = 0
MAX_SAMPLES = 100_000
MAX_SPEED = 2.0
"""rad/s or m/s: fast enough for Coriolis terms to matter, slow enough for 1e-9 N·m to be rounding."""
MAX_ACCELERATION = 5.0
UNLIMITED_TURN_RAD = np.pi
UNLIMITED_SLIDE_M = 1.0


@dataclass(frozen=True)
class Samples:
    """Named postures first, then random ones; (n, dof) each."""

    postures: tuple[str, ...]
    q: Array
    qd: Array
    qdd: Array
    named: int

    def __len__(self) -> int:
        return len(self.postures)


def samples_of(robot: Robot, count: int, seed: int) -> Samples:
    """The robot's named postures and ``count`` random ones inside its limits, from one seed."""
    if not 1 <= count <= MAX_SAMPLES:
        raise InvalidInput("samples", f"is {count}", f"Give a number from 1 to {MAX_SAMPLES}.")
    if seed < 0:
        raise InvalidInput("seed", f"is {seed}", "Give a whole number, zero or more.")
    random = np.random.default_rng(seed)
    named = {"zeros": robot.posture("zeros"), "home": robot.home, **robot.postures}
    reach = np.where(robot.turns, UNLIMITED_TURN_RAD, UNLIMITED_SLIDE_M)
    low = np.where(np.isfinite(robot.lower), robot.lower, np.minimum(-reach, robot.upper - 2.0 * reach))
    high = np.where(np.isfinite(robot.upper), robot.upper, np.maximum(reach, low + 2.0 * reach))
    speed = np.minimum(robot.max_speed, MAX_SPEED)
    total = len(named) + count
    return Samples(
        postures=(*named, *(f"random {index}" for index in range(count))),
        q=np.vstack([*named.values(), random.uniform(low, high, (count, robot.dof))]),
        qd=random.uniform(-speed, speed, (total, robot.dof)),
        qdd=random.uniform(-MAX_ACCELERATION, MAX_ACCELERATION, (total, robot.dof)),
        named=len(named),
    )
