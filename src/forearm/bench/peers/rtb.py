"""Robotics Toolbox for Python: Levenberg-Marquardt by Chan's damping, with restarts, in C++."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from forearm.bench.peers import Ready, Subject, register
from forearm.kinematics.chain import SLIDES, chain_of
from forearm.robots.robot import Robot
from forearm.spatial import Array

BEST = {"ilimit": 30, "slimit": 1000, "tol": 1e-13, "k": 0.1}
"""``tol`` bounds E = ½ eᵀe; its default, 1e-6, leaves a millimetre. k = 0.1 lies in the range that is
advised for Chan's damping and takes two thirds of the time of its default, 1."""


@register
class RoboticsToolbox:
    name = "Robotics Toolbox"
    package = "roboticstoolbox-python"
    settings = ("best", "default")

    def prepare(self, subject: Subject, setting: str) -> Ready:
        with warnings.catch_warnings(action="ignore"):
            import roboticstoolbox as rtb

        # Not from the URDF: its loader takes any axis but x, y and z for another one.
        return ReadyToolbox(transforms_of(subject.robot, rtb), BEST if setting == "best" else {})


def transforms_of(robot: Robot, rtb: Any) -> Any:
    """The chain as elementary transforms, whose joints all turn about z or slide along it."""
    transforms = rtb.ETS()
    for index, (row, joint) in enumerate(zip(chain_of(robot), robot.joints, strict=False)):
        along = rtb.ET.tz if row[SLIDES] else rtb.ET.Rz
        bounded = np.isfinite(joint.lower) and np.isfinite(joint.upper)
        moves = along(jindex=index, qlim=[joint.lower, joint.upper]) if bounded else along(jindex=index)
        transforms = transforms * rtb.ET.SE3(matrix_of(row)) * moves
    return transforms * rtb.ET.SE3(matrix_of(chain_of(robot)[-1]))


def matrix_of(row: Array) -> Array:
    """A chain row's constant transform."""
    transform = np.eye(4)
    transform[:3, :3], transform[:3, 3] = row[:9].reshape(3, 3), row[9:12]
    return transform


class ReadyToolbox:
    def __init__(self, transforms: Any, options: dict[str, Any]) -> None:
        self.transforms, self.options = transforms, options
        # It refuses arrays that are not writeable, though it writes to none.
        self.seed = np.empty(transforms.n)

    def fk(self, q: Array) -> Array:
        return self.transforms.eval(q)

    def solve(self, target: Array, seed: Array) -> Array | None:
        self.seed[:] = seed
        found = self.transforms.ik_LM(target, q0=self.seed, method="chan", **self.options)
        return found.q if found.success else None
