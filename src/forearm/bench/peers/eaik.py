"""EAIK: every branch in closed form, for the families of arms that decompose into subproblems."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np

from forearm.bench.peers import Ready, Subject, Unfit, register, start_postures
from forearm.ik.problem import LIMIT_TOLERANCE
from forearm.kinematics.screws import AXIS, POINT, screws_of
from forearm.robots.robot import Robot
from forearm.spatial import Array

VALUES = 64
"""At how many values, inside its limits, the joint of a redundant arm is locked."""
PROBES = 20
FULL_TURN = 2.0 * math.pi


@register
class EAIK:
    """It has no options. Of the branches the first that is exact and inside the limits is taken."""

    name = "EAIK"
    package = "EAIK"
    settings = ("best",)

    def prepare(self, subject: Subject, setting: str) -> Ready:  # noqa: ARG002 - there is but one
        with warnings.catch_warnings(action="ignore"):
            from eaik.pybindings import EAIK

        robot = subject.robot
        if not all(robot.turns):
            raise Unfit("EAIK takes only joints that turn")
        if robot.dof > 7:
            raise Unfit(f"EAIK takes at most 6 joints, and with one locked 7; this arm has {robot.dof}")
        if robot.dof < 7:
            return ReadyEAIK(robot, [decomposed(EAIK.Robot, robot, [])])
        return best_locked(EAIK.Robot, robot)


def decomposed(make: Any, robot: Robot, locked: list[tuple[int, float]]) -> Any:
    """EAIK's arm, made from the joint axes at q = 0; raises ``Unfit`` where it knows no decomposition."""
    screws, dof = screws_of(robot), robot.dof
    axes, tip = screws[:dof, AXIS : AXIS + 3], screws[dof:, :4]
    points = np.vstack([np.zeros(3), screws[:dof, POINT : POINT + 3], tip[:3, 3]])
    try:
        arm = make(axes.T, np.diff(points, axis=0).T, tip[:3, :3], locked, True)
    except RuntimeError as error:
        raise Unfit(f"EAIK: {error}") from error
    if not arm.has_known_decomposition():
        raise Unfit(f"EAIK: {arm.get_kinematic_family()}, no known decomposition")
    return arm


def best_locked(make: Any, robot: Robot) -> Ready:
    """A redundant arm with that joint locked with which most of the probes are solved."""
    readies = []
    for joint in range(robot.dof):
        try:
            readies.append(locked_at(make, robot, joint))
        except Unfit:
            continue
    if not readies:
        raise Unfit("EAIK: no known decomposition, whichever joint is locked")
    return max(readies, key=probes_solved)


def locked_at(make: Any, robot: Robot, joint: int) -> ReadyEAIK:
    """The arm with ``joint`` locked at every one of its values in turn, those in the middle first."""
    lower, upper = robot.joints[joint].lower, robot.joints[joint].upper
    if not math.isfinite(lower + upper):
        lower, upper = -math.pi, math.pi
    values = np.linspace(lower, upper, VALUES + 2)[1:-1].tolist()
    values.sort(key=lambda value: abs(value - 0.5 * (lower + upper)))
    return ReadyEAIK(robot, [decomposed(make, robot, [(joint, value)]) for value in values])


def probes_solved(ready: ReadyEAIK) -> tuple[int, int]:
    """How many of the probes are solved, then how few values of the locked joint that took."""
    searches = [ready.search(ready.fk(q)) for q in start_postures(ready.robot, PROBES)]
    return sum(answer is not None for answer, _ in searches), -sum(tried for _, tried in searches)


class ReadyEAIK:
    def __init__(self, robot: Robot, arms: list[Any]) -> None:
        self.robot, self.arms = robot, arms
        self.limits = [
            (joint.lower - LIMIT_TOLERANCE, joint.upper + LIMIT_TOLERANCE) for joint in robot.joints
        ]

    def fk(self, q: Array) -> Array:
        # The angle that is given counts, also where the joint is locked at another.
        return self.arms[0].fwdkin(q)

    def solve(self, target: Array, seed: Array) -> Array | None:  # noqa: ARG002 - it needs no seed
        return self.search(target)[0]

    def search(self, target: Array) -> tuple[Array | None, int]:
        """An answer, and with how many of the arms it was looked for."""
        for tried, arm in enumerate(self.arms, 1):
            found = arm.calculate_IK(target)
            for inexact, q in zip(found.is_LS, found.Q, strict=False):
                if not inexact and self.move_inside(angles := q.tolist()):
                    return np.array(angles), tried
        return None, len(self.arms)

    def move_inside(self, angles: list[float]) -> bool:
        """Whether all angles can be turned into their limits by full turns; they are."""
        for joint, (angle, (lower, upper)) in enumerate(zip(angles, self.limits, strict=False)):
            if not lower <= angle <= upper:
                angle = lower + (angle - lower) % FULL_TURN
                if angle > upper:
                    return False
                angles[joint] = angle
        return True
