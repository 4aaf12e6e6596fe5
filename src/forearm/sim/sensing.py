"""What the controller gets to see: joint positions and speeds, noisy, late, biased, or missing."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from forearm.control.controller import State
from forearm.errors import InvalidInput
from forearm.spatial import Array


class Sensor(Protocol):
    perfect: bool
    """Whether what it sees is always the truth."""
    reading: Array
    """The positions that the sensors gave last, before any estimate; NaN where none arrived."""

    def observe(self, q: Array, qd: Array) -> State:
        """What is believed when the truth is ``q`` and ``qd``."""
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
    perfect = False

    def __init__(self, sensing: Sensing, dt_s: float, start: Array) -> None:
        self.sensing, self.dt_s = sensing, dt_s
        self.random = np.random.default_rng(sensing.seed)
        self.bias = sensing.bias_rad * self.random.normal(size=len(start))
        self.line: deque[Array] = deque([start.copy()] * sensing.delay_ticks)
        self.position, self.speed = start.copy(), np.zeros_like(start)
        self.reading = start.copy()

    def observe(self, q: Array, qd: Array) -> State:  # noqa: ARG002 - speeds are not measured
        self.line.append(q + self.bias + self.sensing.noise_rad * self.random.normal(size=len(q)))
        arrived = self.line.popleft()
        predicted = self.position + self.dt_s * self.speed
        if self.random.uniform() < self.sensing.dropout:
            self.position, self.reading = predicted, np.full_like(arrived, np.nan)
            return State(self.position, self.speed)
        self.reading = arrived
        surprise = arrived - predicted
        alpha = self.ALPHA
        self.position = predicted + alpha * surprise
        self.speed = self.speed + alpha**2 / (2.0 - alpha) / self.dt_s * surprise
        return State(self.position, self.speed)


def make_sensor(sensing: Sensing, dt_s: float, start: Array) -> Sensor:
    return PerfectSensor() if sensing.perfect else ImperfectSensor(sensing, dt_s, start)
