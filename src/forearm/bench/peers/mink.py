"""mink: differential inverse kinematics, one quadratic program a step, on MuJoCo."""

from __future__ import annotations

import math
import warnings
from itertools import chain
from typing import Any

import mujoco
import numpy as np

from forearm.bench.peers import Ready, Subject, register, start_postures
from forearm.spatial import Array

QP_SOLVER = "daqp"
BEST_LM_DAMPING = 1e-2
BEST_STEPS, BEST_STARTS = 40, 20
BEST_ERROR = 1e-7
"""Of metres and of radians: convergence is quadratic, so that the last step costs no more than 1e-6 would."""
BEST_PRIMAL_TOLERANCE = 1e-11
"""Of the limits: DAQP's own, 1e-6, leaves answers that far outside."""

# Its example of a UR5e: 500 steps a second, no joint faster than π rad/s.
DEFAULT_LM_DAMPING = 1.0
DEFAULT_STEP_S = 2e-3
DEFAULT_SPEED = math.pi
DEFAULT_STEPS, DEFAULT_ERROR = 5000, 1e-6
STILL = 1e-8
"""A step below this (rad or m) has come to rest, wherever that is."""


@register
class Mink:
    name = "mink"
    package = "mink"
    settings = ("best", "default")

    def prepare(self, subject: Subject, setting: str) -> Ready:
        with warnings.catch_warnings(action="ignore"):
            import mink

        spec = mujoco.MjSpec.from_file(str(subject.urdf))
        # Read from a URDF, bodies without joints are melted into their parents, the tip among them.
        spec.compiler.fusestatic = False
        return ReadyMink(mink, spec.compile(), subject, setting == "best")


class ReadyMink:
    def __init__(self, mink: Any, model: mujoco.MjModel, subject: Subject, best: bool) -> None:
        self.mink, self.tip = mink, subject.tip_link
        self.configuration = mink.Configuration(model)
        self.limits = [mink.ConfigurationLimit(model)]
        self.starts: list[Array] = []
        self.options: dict[str, float] = {}
        if best:
            damping, self.step_s, self.steps, self.error = BEST_LM_DAMPING, 1.0, BEST_STEPS, BEST_ERROR
            self.starts = list(start_postures(subject.robot, BEST_STARTS - 1))
            self.options = {"primal_tol": BEST_PRIMAL_TOLERANCE}
        else:
            damping, self.step_s, self.steps, self.error = (
                DEFAULT_LM_DAMPING,
                DEFAULT_STEP_S,
                DEFAULT_STEPS,
                DEFAULT_ERROR,
            )
            speeds = {model.joint(number).name: DEFAULT_SPEED for number in range(model.njnt)}
            self.limits.append(mink.VelocityLimit(model, speeds))
        self.task = mink.FrameTask(self.tip, "body", 1.0, 1.0, lm_damping=damping)
        self.tasks = [self.task]

    def fk(self, q: Array) -> Array:
        self.configuration.update(q)
        return self.configuration.get_transform_frame_to_world(self.tip, "body").as_matrix()

    def solve(self, target: Array, seed: Array) -> Array | None:
        self.task.set_target(self.mink.SE3.from_matrix(target))
        for start in chain((seed,), self.starts):
            if self.descends_from(start):
                return self.configuration.q.copy()
        return None

    def descends_from(self, start: Array) -> bool:
        """Whether the loop comes to the target from ``start``."""
        configuration, bound = self.configuration, self.error**2
        configuration.update(start)
        for _ in range(self.steps):
            error = self.task.compute_error(configuration)
            position, rotation = error[:3], error[3:]
            if position @ position < bound and rotation @ rotation < bound:
                return True
            try:
                speed = self.mink.solve_ik(
                    configuration, self.tasks, self.step_s, QP_SOLVER, limits=self.limits, **self.options
                )
            except self.mink.MinkError:
                return False
            if np.abs(speed).max() * self.step_s < STILL:
                return False
            configuration.integrate_inplace(speed, self.step_s)
        return False
