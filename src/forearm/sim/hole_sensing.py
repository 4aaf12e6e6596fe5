"""What arrives of the four sensors on the box: noisy, late, or not at all. A reading carries the time it
was taken."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from forearm.errors import InvalidInput
from forearm.kinematics.compiling import lean
from forearm.spatial import Array

NUMBERS = 12
AHEAD = 512
"""Ticks whose chances are drawn at once."""


@dataclass(frozen=True, slots=True)
class HoleSensing:
    """How the sensors fall short; drawn from ``seed``."""

    noise_m: float = 0.0
    """Standard deviation of each coordinate of each sensor."""
    delay_ticks: int = 0
    dropout: float = 0.0
    """Share of readings that do not arrive."""
    stale_ticks: int = 0
    """So much older a reading is than it says. A fault, not a property that anybody is told of."""
    seed: int = 0

    def __post_init__(self) -> None:
        if not 0.0 <= self.noise_m < 1.0:
            raise InvalidInput("sensor noise", f"is {self.noise_m} m", "Give 0 to 1 m.")
        if not 0.0 <= self.dropout < 1.0:
            raise InvalidInput("sensor dropout", f"is {self.dropout}", "Give a share in [0, 1).")

    @property
    def perfect(self) -> bool:
        return not (self.noise_m or self.delay_ticks or self.dropout or self.stale_ticks)


class HoleSensor:
    """One trial's sensors."""

    def __init__(self, sensing: HoleSensing) -> None:
        self.sensing = sensing
        self.random = np.random.default_rng(sensing.seed)
        self.late = sensing.delay_ticks + sensing.stale_ticks
        self.line = np.full((self.late + 1, NUMBERS), np.nan)
        self.points = np.full(NUMBERS, np.nan)
        self.chances = np.zeros((AHEAD, NUMBERS + 1))
        self.tick = 0

    def observe(self, positions: Array) -> Array:
        """The reading that arrives at this tick, when the sensors are at ``positions``; good until the next
        call."""
        row = self.tick % AHEAD
        if row == 0:
            self.draw()
        pass_on(self.chances, row, self.line, self.tick, positions, self.points)
        self.tick += 1
        return self.points

    def draw(self) -> None:
        self.chances[:, :-1] = self.sensing.noise_m * self.random.normal(size=(AHEAD, NUMBERS))
        self.chances[:, -1] = self.random.uniform(size=AHEAD) < self.sensing.dropout


@lean
def pass_on(chances, row, line, tick, positions, points):
    """Put the positions into the line, and take out what arrives; NaN before anything does, and for what is
    lost."""
    length = line.shape[0]
    lost = chances[row, NUMBERS] != 0.0
    for k in range(NUMBERS):
        line[tick % length, k] = positions[k] + chances[row, k]
        points[k] = np.nan if lost else line[(tick + 1) % length, k]
