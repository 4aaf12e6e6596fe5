"""The loop that solvers of one quadratic program a step are used in."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np

from forearm.bench.peers import Subject, start_postures
from forearm.spatial import Array

QP_SOLVER = "daqp"
BEST_PRIMAL_TOLERANCE = 1e-11
"""Of the limits: DAQP's own, 1e-6, leaves answers that far outside."""
STILL = 1e-8
"""A step below this (rad or m) has come to rest, wherever that is."""


@dataclass(frozen=True, slots=True)
class Course:
    """How a loop is run."""

    lm_damping: float
    step_s: float
    steps: int
    error: float
    """Of metres and of radians, at which it ends."""
    starts: int = 1


BEST = Course(lm_damping=1e-2, step_s=1.0, steps=40, error=1e-7, starts=20)
"""Convergence is quadratic, so that the last step to 1e-7 costs no more than one to 1e-6 would."""


class Differential:
    """Steps from the seed, then from postures that are always the same, until the error is small enough."""

    def __init__(self, subject: Subject, course: Course) -> None:
        self.course, self.starts = course, list(start_postures(subject.robot, course.starts - 1))

    def put(self, q: Array) -> None:
        """Stand at ``q``."""
        raise NotImplementedError

    def error(self) -> Array:
        """What is left: metres, then radians."""
        raise NotImplementedError

    def speed(self) -> Array | None:
        """The joints' speeds that the program finds, if it does."""
        raise NotImplementedError

    def move(self, speed: Any) -> None:
        """Take one step."""
        raise NotImplementedError

    def arrives(self, seed: Array) -> bool:
        """Whether the loop comes to the target, from the seed or from elsewhere; it then stands there."""
        return any(self.arrives_from(start) for start in chain((seed,), self.starts))

    def arrives_from(self, start: Array) -> bool:
        bound = self.course.error**2
        self.put(start)
        for _ in range(self.course.steps):
            error = self.error()
            position, rotation = error[:3], error[3:]
            if position @ position < bound and rotation @ rotation < bound:
                return True
            speed = self.speed()
            if speed is None or np.abs(speed).max() * self.course.step_s < STILL:
                return False
            self.move(speed)
        return False
