"""mink: differential inverse kinematics, one quadratic program a step, on MuJoCo."""

from __future__ import annotations

import math
import warnings
from typing import Any

import mujoco

from forearm.bench.peers import Ready, Subject, register
from forearm.bench.peers._differential import (
    BEST,
    BEST_PRIMAL_TOLERANCE,
    QP_SOLVER,
    Course,
    Differential,
)
from forearm.spatial import Array

DEFAULT = Course(lm_damping=1.0, step_s=2e-3, steps=5000, error=1e-6)
"""Its example of a UR5e: 500 steps a second, no joint faster than π rad/s."""
DEFAULT_SPEED = math.pi


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


class ReadyMink(Differential):
    def __init__(self, mink: Any, model: mujoco.MjModel, subject: Subject, best: bool) -> None:
        super().__init__(subject, BEST if best else DEFAULT)
        self.mink, self.tip = mink, subject.tip_link
        self.configuration = mink.Configuration(model)
        self.limits = [mink.ConfigurationLimit(model)]
        self.options = {"primal_tol": BEST_PRIMAL_TOLERANCE} if best else {}
        if not best:
            speeds = {model.joint(number).name: DEFAULT_SPEED for number in range(model.njnt)}
            self.limits.append(mink.VelocityLimit(model, speeds))
        self.task = mink.FrameTask(self.tip, "body", 1.0, 1.0, lm_damping=self.course.lm_damping)
        self.tasks = [self.task]

    def fk(self, q: Array) -> Array:
        self.configuration.update(q)
        return self.configuration.get_transform_frame_to_world(self.tip, "body").as_matrix()

    def solve(self, target: Array, seed: Array) -> Array | None:
        self.task.set_target(self.mink.SE3.from_matrix(target))
        return self.configuration.q.copy() if self.arrives(seed) else None

    def put(self, q: Array) -> None:
        self.configuration.update(q)

    def error(self) -> Array:
        return self.task.compute_error(self.configuration)

    def speed(self) -> Array | None:
        try:
            return self.mink.solve_ik(
                self.configuration,
                self.tasks,
                self.course.step_s,
                QP_SOLVER,
                limits=self.limits,
                **self.options,
            )
        except self.mink.MinkError:
            return None

    def move(self, speed: Any) -> None:
        self.configuration.integrate_inplace(speed, self.course.step_s)
