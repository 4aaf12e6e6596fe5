"""The loop that the iterative solvers share: measure, step, clamp, stop."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from forearm.errors import InvalidInput
from forearm.ik.limits import turned_into_limits
from forearm.ik.problem import Problem
from forearm.ik.proposal import Iteration, Proposal, Stop
from forearm.kinematics.chain import chain_of, forward_and_jacobian_into, frame_with_z
from forearm.kinematics.error import pose_error_into
from forearm.kinematics.measures import dexterity_of, task_part
from forearm.robots.robot import Robot
from forearm.spatial import Array

MARGIN = 1.0 - 1e-6
"""Solvers aim this far inside the tolerance, so that rounding in the replay does not turn them away."""

HALF_TURN_SINE = 1e-12
"""Below this the direction of a half turn is anyone's choice."""

STALLED_RAD = 1e-12
"""A step shorter than this moves nothing any more."""


class Measure:
    """The error and the Jacobian of one problem, in buffers of its own."""

    def __init__(self, problem: Problem) -> None:
        self.chain = chain_of(problem.robot)
        self.target = problem.target
        self.task, self.axis_in_tip = problem.task, problem.axis_in_tip
        self.axis_in_base = self.target[:3, :3] @ self.axis_in_tip
        self.held = problem.limits[0] == problem.limits[1]
        self.tolerance = problem.tolerance
        self._transform = np.empty((4, 4))
        self._jacobian = np.empty((6, problem.robot.dof))
        self._error = np.empty(6)

    def at(self, q: Array) -> tuple[Array, Array]:
        """(e, J): the error (p_target - p, log(R_target Rᵀ)) and the Jacobian, what counts of both.

        For axis tasks R_target is the rotation nearest to R that points the axis where it should.
        """
        forward_and_jacobian_into(self.chain, q, self._transform, self._jacobian)
        pose_error_into(self.target, self._transform, self._error)
        if self.task == "axis":
            self._error[3:] = rotation_between(self._transform[:3, :3] @ self.axis_in_tip, self.axis_in_base)
        self._jacobian[:, self.held] = 0.0
        error = task_part(self.task, self.axis_in_base, self._error)
        return error.copy(), task_part(self.task, self.axis_in_base, self._jacobian).copy()

    def reached(self, error: Array) -> bool:
        """Whether ``error`` is within tolerance."""
        near = np.sqrt(error[:3] @ error[:3]) <= MARGIN * self.tolerance.position_m
        turned = np.sqrt(error[3:] @ error[3:]) <= MARGIN * self.tolerance.rotation_rad
        return bool(near and turned)


def rotation_between(direction: Array, wanted: Array) -> Array:
    """The shortest rotation (vector, rad) that turns one unit vector into another."""
    normal = np.cross(direction, wanted)
    sine, cosine = float(np.linalg.norm(normal)), float(direction @ wanted)
    if sine < HALF_TURN_SINE and cosine < 0.0:
        return np.pi * frame_with_z(direction)[:, 0]
    return normal * (np.arctan2(sine, cosine) / sine) if sine > 0.0 else normal


class StepRule:
    """How a solver turns an error into a joint step."""

    damping: float | None = None

    def step(self, error: Array, jacobian: Array) -> Array | None:
        """The joint step, or None if the rule has none to give."""
        raise NotImplementedError

    def judge(self, norm_before: float, norm_after: float) -> bool:  # noqa: ARG002 - most take every step
        """Told the error's norm before and after a step; whether to keep the step."""
        return True


class Iterative:
    """What the step-by-step solvers have in common: they take any chain and any task."""

    settles = False

    def supports(self, robot: Robot, task: str) -> bool:  # noqa: ARG002 - any chain, any task
        return True


@dataclass(frozen=True, slots=True)
class StepLimits:
    """What is enforced on every step."""

    max_step_rad: float = np.inf
    """No joint moves more than this in one iteration (rad or m)."""
    joint_limits: bool = False
    """Whether joints are held inside their limits after every step."""


def descend(
    problem: Problem,
    rule: StepRule,
    limits: StepLimits,
    record: bool = False,
    clamp: Callable[[Array, float], Array] | None = None,
) -> Proposal:
    """Step until the target is reached, nothing moves any more, or the iterations run out."""
    robot = problem.robot
    measure = Measure(problem)
    clamp = clamp or clamp_each_joint
    q = np.where(measure.held, problem.limits[0], problem.seed)
    if limits.joint_limits:
        q, _ = inside_limits(problem, q)
    error, jacobian = measure.at(q)
    nearest, nearest_norm = q.copy(), float(np.linalg.norm(error))
    proposal = Proposal([], Stop.BUDGET)
    history: list[Iteration] = []
    for iteration in range(problem.max_iterations + 1):
        proposal.iterations = iteration
        if measure.reached(error):
            proposal.candidates = [turned_into_limits(robot, q, problem.seed)]
            proposal.stop = Stop.CONVERGED
            break
        if iteration == problem.max_iterations:
            break
        step = rule.step(error, jacobian)
        if step is None or not np.isfinite(step).all():
            proposal.stop = Stop.STALLED
            break
        clamped = clamp(step, limits.max_step_rad)
        proposal.clamped_steps += int(not np.array_equal(clamped, step))
        following = q + clamped
        if limits.joint_limits:
            following, held = inside_limits(problem, following)
            proposal.limited_steps += int(held)
        if record:
            history.append(iteration_record(error, jacobian, rule.damping, following - q))
        if np.abs(following - q).max() < STALLED_RAD:
            proposal.stop = Stop.STALLED
            break
        next_error, next_jacobian = measure.at(following)
        norm, next_norm = float(np.linalg.norm(error)), float(np.linalg.norm(next_error))
        if rule.judge(norm, next_norm):
            q, error, jacobian = following, next_error, next_jacobian
        if next_norm < nearest_norm:
            nearest, nearest_norm = following.copy(), next_norm
    proposal.nearest = nearest
    proposal.damping = rule.damping
    proposal.history = tuple(history)
    return proposal


def step_exactly(problem: Problem, rule: StepRule, steps: int, record: bool = False) -> Proposal:
    """Take ``steps`` steps, no more and no fewer, and propose where they end; the gate judges that."""
    if steps > problem.max_iterations:
        raise InvalidInput(
            "fixed_iterations", f"is {steps}, above max_iterations", f"Give {problem.max_iterations} at most."
        )
    measure = Measure(problem)
    q = np.where(measure.held, problem.limits[0], problem.seed)
    proposal = Proposal([], Stop.STALLED)
    history: list[Iteration] = []
    for _ in range(steps):
        error, jacobian = measure.at(q)
        step = rule.step(error, jacobian)
        if step is None or not np.isfinite(step).all():
            break
        if record:
            history.append(iteration_record(error, jacobian, rule.damping, step))
        q = q + step
        proposal.iterations += 1
    else:
        proposal.candidates = [turned_into_limits(problem.robot, q, problem.seed)]
        proposal.stop = Stop.CONVERGED
    proposal.nearest, proposal.damping, proposal.history = q, rule.damping, tuple(history)
    return proposal


def inside_limits(problem: Problem, q: Array) -> tuple[Array, bool]:
    """``q`` brought inside the limits, and whether a joint had to be held at one.

    A joint that leaves its range re-enters it a full turn away where the range is that wide: the arm
    stands the same, and does not get stuck at the limit. Otherwise it stops there.
    """
    lower, upper = problem.limits
    if ((q >= lower) & (q <= upper)).all():
        return q, False
    turned = turned_into_limits(problem.robot, q, q)
    held = np.clip(turned, lower, upper)
    return held, not np.array_equal(held, turned)


def clamp_each_joint(step: Array, most: float) -> Array:
    """Cut every joint's step on its own."""
    return np.clip(step, -most, most)


def scale_whole_step(step: Array, most: float) -> Array:
    """Shorten the step, keeping its direction, until no joint moves more than ``most``."""
    largest = float(np.abs(step).max())
    return step * (most / largest) if largest > most else step


def iteration_record(error: Array, jacobian: Array, damping: float | None, step: Array) -> Iteration:
    return Iteration(
        position_error_m=float(np.linalg.norm(error[:3])),
        rotation_error_rad=float(np.linalg.norm(error[3:])),
        damping=damping or 0.0,
        condition_number=dexterity_of(jacobian).condition_number,
        step_rad=float(np.abs(step).max()),
    )
