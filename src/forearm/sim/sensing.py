"""What the controller gets to see: joint positions and speeds, noisy, late, biased, or missing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from forearm.control.controller import State
from forearm.errors import InvalidInput
from forearm.kinematics.compiling import lean
from forearm.spatial import Array

# Rows of what an observer believes.
POSITION = 0
SPEED = 1
READING = 2


class Sensor(Protocol):
    perfect: bool
    """Whether what it sees is always the truth."""
    reading: Array
    """The positions that the sensors gave last, before any estimate; NaN where none arrived."""

    def observe(self, q: Array, qd: Array) -> State:
        """What is believed when the truth is ``q`` and ``qd``; good until the next call."""
        ...


class PerfectSensor:
    """Sees the truth."""

    perfect = True
    reading: Array = np.zeros(0)

    def observe(self, q: Array, qd: Array) -> State:
        self.reading = q
        return State(q, qd)


@dataclass(frozen=True, slots=True)
class Sensing:
    """How the sensors fall short. Everything is drawn from ``seed``."""

    noise_rad: float = 0.0
    """Standard deviation of each joint's position reading."""
    bias_rad: float = 0.0
    """Standard deviation of a constant offset of each joint, drawn once."""
    delay_ticks: int = 0
    dropout: float = 0.0
    """Share of readings that do not arrive; the last one stands in for them."""
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("noise_rad", "bias_rad", "delay_ticks"):
            value = getattr(self, name)
            if not 0.0 <= value < np.inf:
                raise InvalidInput(f"sensing {name}", f"is {value}", "Give a finite number, 0 or more.")
        if not 0.0 <= self.dropout < 1.0:
            raise InvalidInput("sensing dropout", f"is {self.dropout}", "Give a share in [0, 1).")
        if self.seed < 0:
            raise InvalidInput("seed", f"is {self.seed}", "Give a whole number, 0 or more.")

    @property
    def perfect(self) -> bool:
        return not (self.noise_rad or self.bias_rad or self.delay_ticks or self.dropout)


class ImperfectSensor:
    """Reads positions through ``Sensing`` and speeds from an observer that knows nothing but readings.

    The observer is an α-β filter: x ← x + h v, then x += α r and v += β/h r with r the surprise of the
    reading. α = 0.2 and β = α²/(2 - α) make it critically damped and smooth a reading's noise by two.
    """

    ALPHA = 0.2
    AHEAD = 512
    """Ticks whose chances are drawn at once: one by one they would take longer than all the rest."""
    perfect = False

    def __init__(self, sensing: Sensing, dt_s: float, start: Array) -> None:
        self.sensing, self.dt_s = sensing, dt_s
        self.random = np.random.default_rng(sensing.seed)
        self.bias = sensing.bias_rad * self.random.normal(size=len(start))
        self.line = np.tile(start, (sensing.delay_ticks + 1, 1))
        self.believed = np.array([start, np.zeros_like(start), start])
        self.reading = self.believed[READING]
        self.state = State(self.believed[POSITION], self.believed[SPEED])
        self.chances, self.tick = np.empty((self.AHEAD, len(start) + 1)), 0

    def observe(self, q: Array, qd: Array) -> State:  # noqa: ARG002 - speeds are not measured
        row = self.tick % self.AHEAD
        if row == 0:
            self.draw()
        observe_into(self.chances, row, self.line, self.tick, self.ALPHA, self.dt_s, q, self.believed)
        self.tick += 1
        return self.state

    def draw(self) -> None:
        """What is added to the readings of the ticks to come, and in the last column 1 for those lost."""
        noise = self.sensing.noise_rad * self.random.normal(size=(self.AHEAD, len(self.bias)))
        self.chances[:, :-1] = self.bias + noise
        self.chances[:, -1] = self.random.uniform(size=self.AHEAD) < self.sensing.dropout


@lean
def observe_into(chances, row, line, tick, alpha, dt, q, believed):
    """Put the reading of ``q`` into the line, take out the one that arrives, and correct by it."""
    n, length = q.shape[0], line.shape[0]
    lost = chances[row, n] != 0.0
    beta = alpha**2 / (2.0 - alpha)
    for i in range(n):
        line[tick % length, i] = q[i] + chances[row, i]
        arrived = line[(tick + 1) % length, i]
        believed[POSITION, i] += dt * believed[SPEED, i]
        if lost:
            believed[READING, i] = np.nan
            continue
        surprise = arrived - believed[POSITION, i]
        believed[POSITION, i] += alpha * surprise
        believed[SPEED, i] += beta / dt * surprise
        believed[READING, i] = arrived


def make_sensor(sensing: Sensing, dt_s: float, start: Array) -> Sensor:
    if sensing.perfect:
        return PerfectSensor()
    # The first look loads compiled code, which is no part of a run; another sensor takes it.
    ImperfectSensor(sensing, dt_s, start).observe(start, start)
    return ImperfectSensor(sensing, dt_s, start)
