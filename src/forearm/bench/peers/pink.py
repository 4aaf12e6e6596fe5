"""pink: differential inverse kinematics, one quadratic program a step, on Pinocchio."""

from __future__ import annotations

import warnings
from typing import Any

import pinocchio as pin

from forearm.bench.peers import Ready, Subject, register
from forearm.bench.peers._differential import (
    BEST,
    BEST_PRIMAL_TOLERANCE,
    QP_SOLVER,
    Course,
    Differential,
)
from forearm.spatial import Array

BEST_LIMIT_GAIN = 0.95
DEFAULT = Course(lm_damping=1.0, step_s=6e-3, steps=7000, error=1e-6)
"""The loop of its README, 42 s in steps of 6 ms, with the damping of its example of a UR5."""


@register
class Pink:
    name = "pink"
    package = "pin-pink"
    settings = ("best", "default")

    def prepare(self, subject: Subject, setting: str) -> Ready:
        with warnings.catch_warnings(action="ignore"):
            import pink

        return ReadyPink(pink, pin.buildModelFromUrdf(str(subject.urdf)), subject, setting == "best")


class ReadyPink(Differential):
    def __init__(self, pink: Any, model: pin.Model, subject: Subject, best: bool) -> None:
        super().__init__(subject, BEST if best else DEFAULT)
        self.pink, self.model, self.tip = pink, model, subject.tip_link
        self.neutral = pin.neutral(model)
        # Pinocchio has two numbers, a cosine and a sine, for an endless joint.
        self.plain = model.nq == model.nv
        self.configuration = pink.Configuration(model, model.createData(), self.neutral)
        self.options: dict[str, Any] = {}
        if best:
            limits = [pink.limits.ConfigurationLimit(model, BEST_LIMIT_GAIN)]
            self.options = {"limits": limits, "primal_tol": BEST_PRIMAL_TOLERANCE}
        self.task = pink.tasks.FrameTask(self.tip, 1.0, 1.0, lm_damping=self.course.lm_damping)
        self.tasks = [self.task]

    def fk(self, q: Array) -> Array:
        self.put(q)
        return self.configuration.get_transform_frame_to_world(self.tip).homogeneous

    def solve(self, target: Array, seed: Array) -> Array | None:
        self.task.set_target(pin.SE3(target))
        if not self.arrives(seed):
            return None
        q = self.configuration.q
        return q.copy() if self.plain else pin.difference(self.model, self.neutral, q)

    def put(self, q: Array) -> None:
        self.configuration.update(q if self.plain else pin.integrate(self.model, self.neutral, q))

    def error(self) -> Array:
        return self.task.compute_error(self.configuration)

    def speed(self) -> Array | None:
        try:
            return self.pink.solve_ik(
                self.configuration, self.tasks, self.course.step_s, QP_SOLVER, **self.options
            )
        except self.pink.PinkError:
            return None

    def move(self, speed: Any) -> None:
        self.configuration.integrate_inplace(speed, self.course.step_s)
