"""pink: differential inverse kinematics, one quadratic program a step, on Pinocchio."""

from __future__ import annotations

import warnings
from itertools import chain
from typing import Any

import numpy as np
import pinocchio as pin

from forearm.bench.peers import Ready, Subject, register, start_postures
from forearm.spatial import Array

QP_SOLVER = "daqp"
BEST_LM_DAMPING = 1e-2
BEST_LIMIT_GAIN = 0.95
BEST_STEPS, BEST_STARTS = 40, 20
BEST_ERROR = 1e-7
"""Of metres and of radians: convergence is quadratic, so that the last step costs no more than 1e-6 would."""
BEST_PRIMAL_TOLERANCE = 1e-11
"""Of the limits: DAQP's own, 1e-6, leaves answers that far outside."""

# The loop of its README, 42 s in steps of 6 ms, with the damping of its example of a UR5.
DEFAULT_LM_DAMPING = 1.0
DEFAULT_STEP_S = 6e-3
DEFAULT_STEPS, DEFAULT_ERROR = 7000, 1e-6
STILL = 1e-8
"""A step below this (rad or m) has come to rest, wherever that is."""


@register
class Pink:
    name = "pink"
    package = "pin-pink"
    settings = ("best", "default")

    def prepare(self, subject: Subject, setting: str) -> Ready:
        with warnings.catch_warnings(action="ignore"):
            import pink

        return ReadyPink(pink, pin.buildModelFromUrdf(str(subject.urdf)), subject, setting == "best")


class ReadyPink:
    def __init__(self, pink: Any, model: pin.Model, subject: Subject, best: bool) -> None:
        self.pink, self.model, self.tip = pink, model, subject.tip_link
        self.neutral = pin.neutral(model)
        # Pinocchio has two numbers, a cosine and a sine, for an endless joint.
        self.plain = model.nq == model.nv
        self.configuration = pink.Configuration(model, model.createData(), self.neutral)
        self.starts: list[Array] = []
        self.options: dict[str, Any] = {}
        if best:
            damping, self.step_s, self.steps, self.error = BEST_LM_DAMPING, 1.0, BEST_STEPS, BEST_ERROR
            self.starts = list(start_postures(subject.robot, BEST_STARTS - 1))
            limits = [pink.limits.ConfigurationLimit(model, BEST_LIMIT_GAIN)]
            self.options = {"limits": limits, "primal_tol": BEST_PRIMAL_TOLERANCE}
        else:
            damping, self.step_s, self.steps, self.error = (
                DEFAULT_LM_DAMPING,
                DEFAULT_STEP_S,
                DEFAULT_STEPS,
                DEFAULT_ERROR,
            )
        self.task = pink.tasks.FrameTask(self.tip, 1.0, 1.0, lm_damping=damping)
        self.tasks = [self.task]

    def fk(self, q: Array) -> Array:
        self.put(q)
        return self.configuration.get_transform_frame_to_world(self.tip).homogeneous

    def put(self, q: Array) -> None:
        self.configuration.update(q if self.plain else pin.integrate(self.model, self.neutral, q))

    def solve(self, target: Array, seed: Array) -> Array | None:
        self.task.set_target(pin.SE3(target))
        for start in chain((seed,), self.starts):
            if self.descends_from(start):
                q = self.configuration.q
                return q.copy() if self.plain else pin.difference(self.model, self.neutral, q)
        return None

    def descends_from(self, start: Array) -> bool:
        """Whether the loop comes to the target from ``start``."""
        configuration, bound = self.configuration, self.error**2
        self.put(start)
        for _ in range(self.steps):
            error = self.task.compute_error(configuration)
            position, rotation = error[:3], error[3:]
            if position @ position < bound and rotation @ rotation < bound:
                return True
            try:
                speed = self.pink.solve_ik(configuration, self.tasks, self.step_s, QP_SOLVER, **self.options)
            except self.pink.PinkError:
                return False
            if np.abs(speed).max() * self.step_s < STILL:
                return False
            configuration.integrate_inplace(speed, self.step_s)
        return False
