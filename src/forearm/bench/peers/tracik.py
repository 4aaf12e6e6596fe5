"""TRAC-IK through pytracik: KDL's pseudo-inverse and an SQP, side by side in two threads."""

from __future__ import annotations

import warnings
from typing import Any

import mujoco
import numpy as np

from forearm.bench.peers import Ready, Subject, register
from forearm.robots.robot import Robot
from forearm.spatial import Array

TIMEOUT_S = 1.0
EPSILON = 1e-7
"""A tenth of the tolerance: at 1e-6 itself some answers end at 1.4e-6."""


@register
class PyTracIK:
    name = "TRAC-IK"
    package = "pytracik"
    settings = ("best", "default")

    def prepare(self, subject: Subject, setting: str) -> Ready:
        with warnings.catch_warnings(action="ignore"):
            import pytracik
            from trac_ik import TracIK

        if setting == "default":
            return Wrapped(TracIK(subject.base_link, subject.tip_link, str(subject.urdf)))
        solver = pytracik.TRAC_IK(
            subject.base_link,
            subject.tip_link,
            subject.urdf.read_text(encoding="utf-8"),
            TIMEOUT_S,
            EPSILON,
            pytracik.SolveType.Speed,
        )
        set_limits(pytracik, solver, subject.robot)
        return Bare(pytracik, solver)


def set_limits(pytracik: Any, solver: Any, robot: Robot) -> None:
    """Give the limits again: it reads a URDF's in single precision. Endless joints keep what it made."""
    lower, upper = pytracik.get_joint_lower_bounds(solver), pytracik.get_joint_upper_bounds(solver)
    endless = np.isinf(robot.lower) | np.isinf(robot.upper)
    lower, upper = np.where(endless, lower, robot.lower), np.where(endless, upper, robot.upper)
    pytracik.set_joint_limits(solver, lower.tolist(), upper.tolist())


class Bare:
    """The compiled functions themselves: pytracik's class finds a quaternion by its eigenvectors first."""

    def __init__(self, pytracik: Any, solver: Any) -> None:
        self.pytracik, self.solver = pytracik, solver
        self.quaternion_wxyz = np.empty(4)

    def fk(self, q: Array) -> Array:
        return self.pytracik.fk(self.solver, q)

    def solve(self, target: Array, seed: Array) -> Array | None:
        mujoco.mju_mat2Quat(self.quaternion_wxyz, target[:3, :3].ravel())
        w, x, y, z = self.quaternion_wxyz.tolist()
        found = self.pytracik.ik(self.solver, seed, target[0, 3], target[1, 3], target[2, 3], x, y, z, w)
        return found[1:] if found[0] >= 0.0 else None


class Wrapped:
    """As pytracik's README calls it."""

    def __init__(self, solver: Any) -> None:
        self.solver = solver

    def fk(self, q: Array) -> Array:
        transform = np.eye(4)
        transform[:3, 3], transform[:3, :3] = self.solver.fk(q)
        return transform

    def solve(self, target: Array, seed: Array) -> Array | None:
        return self.solver.ik(target[:3, 3], target[:3, :3], seed)
