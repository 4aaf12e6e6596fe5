"""Streaming: one pose in, one joint vector out, from the last one; nothing jumps unsaid."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from forearm.errors import InvalidInput
from forearm.ik.batch import target_matrices
from forearm.ik.certify import certify_path
from forearm.ik.checks import target_matrix
from forearm.ik.fast.kernels import track_kernel
from forearm.ik.options import positive
from forearm.ik.problem import LIMIT_TOLERANCE, Problem, Tolerance, pose_problem
from forearm.ik.replay import ACCEPTED, POSITION_ERROR, ROTATION_ERROR, VERDICT
from forearm.ik.solvers.race import Race
from forearm.kinematics.measures import dexterity
from forearm.kinematics.reach import bounds_table, first_passed
from forearm.kinematics.singularity import SINGULAR_RATIO
from forearm.robots.robot import Robot
from forearm.spatial import Array

MAX_STEP_RAD = 0.5
"""How far (rad or m) a joint may move in a step where no speed limit says less."""
JUMP_RAD = 0.1
"""Joint motion (rad or m) in one step from which it is reported as a jump."""
ON_BOUND = 1e-9
"""How near (rad or m) to a bound a joint counts as held by it."""


class TrackStatus(StrEnum):
    OK = "OK"
    """On the pose, certified."""
    HELD = "HELD"
    """Not on the pose: as near as the joints' limits and speeds allow from where they were."""
    JUMPED = "JUMPED"
    """A joint moved more in this one step than ``jump_rad``, on the pose or not."""


STATUSES = tuple(TrackStatus)
OK, HELD, JUMPED = range(3)


@dataclass(frozen=True, eq=False, slots=True)
class TrackStep:
    """What became of one pose."""

    status: TrackStatus
    q: Array
    position_error_m: float
    rotation_error_rad: float
    crossed: bool
    """Whether the arm went through a singularity in this step (det J changed its sign; six joints only)."""
    iterations: int
    before: Array = field(repr=False)
    """The joint vector before this step."""
    target: Array = field(repr=False)
    tracker: Tracker = field(repr=False)

    @property
    def reason(self) -> str:
        """Why it is not plainly OK; empty if it is. Worked out when it is asked for."""
        return self.tracker.reason(self)

    def __bool__(self) -> bool:
        return self.status is TrackStatus.OK


@dataclass(frozen=True, eq=False)
class TrackedPath:
    """What became of N poses, one after the other."""

    q: Array
    """(N, dof)."""
    codes: Array
    """(N,) places in ``list(TrackStatus)``."""
    position_error_m: Array
    rotation_error_rad: Array
    iterations: Array
    crossed: Array
    targets: Array = field(repr=False)
    start: Array = field(repr=False)
    tracker: Tracker = field(repr=False)

    def __len__(self) -> int:
        return len(self.codes)

    def __getitem__(self, index: int) -> TrackStep:
        """One of its steps, with the reason."""
        k = range(len(self))[index]
        return TrackStep(
            STATUSES[self.codes[k]],
            self.q[k],
            float(self.position_error_m[k]),
            float(self.rotation_error_rad[k]),
            bool(self.crossed[k]),
            int(self.iterations[k]),
            self.q[k - 1] if k else self.start,
            self.targets[k],
            self.tracker,
        )

    @cached_property
    def status(self) -> Array:
        """(N,) names."""
        return np.array([str(status) for status in STATUSES])[self.codes]

    @property
    def worst(self) -> int:
        """The step that is farthest from its pose, by metres."""
        return int(np.argmax(self.position_error_m))


class Tracker:
    """Joint vectors for a stream of poses. Stateful: ``q`` is where the arm stands; one thread's.

    Each step starts at the last answer and takes damped steps, Jᵀ(JJᵀ + λI)⁻¹ e with λ = 0.05|e|² + ε,
    inside the box of what the joints' limits and speeds allow in ``dt_s``. Near a singularity the damping
    keeps joints from racing, and the box keeps them from their speed limits; the tip falls behind, which
    is ``HELD``, and catches up when it can. Joints to spare are used to keep all off their limits.

    Args:
        start: the joint vector to begin from, within the limits.
        dt_s: time between two poses; with it the joints' speed limits hold.
        max_step_rad: how far a joint may move in a step, whatever its speed limit.
        jump_rad: from how far on a step is reported as ``JUMPED``.

    The other arguments are those of ``forearm.ik.solve``.
    """

    def __init__(
        self,
        robot: Robot,
        start: ArrayLike | None = None,
        *,
        dt_s: float | None = None,
        max_step_rad: float = MAX_STEP_RAD,
        jump_rad: float = JUMP_RAD,
        task: str | None = None,
        axis: ArrayLike | None = None,
        hold: Mapping[str, float] | None = None,
        tolerance: Tolerance | None = None,
        metres_per_radian: float | None = None,
    ) -> None:
        self.problem: Problem = pose_problem(
            robot, np.eye(4), seed=robot.home if start is None else start, task=task, axis=axis, hold=hold,
            tolerance=tolerance,
        )  # fmt: skip
        self.robot, self.dt_s = robot, dt_s
        self.jump_rad = positive("jump_rad", jump_rad)
        most = np.full(robot.dof, positive("max_step_rad", max_step_rad, np.pi))
        if dt_s is not None:
            most = np.minimum(most, robot.max_speed * positive("dt_s", dt_s))
        self.most = most
        # Its own: the kernel narrows the limits in it step by step.
        self._table = Race(metres_per_radian=metres_per_radian).table(self.problem).copy()
        self._kernel = track_kernel()
        self.reset(self.problem.seed)

    def reset(self, q: ArrayLike) -> None:
        """Go on from ``q``."""
        start = self.robot.joint_vector(q, "q").copy()
        lower, upper = self.problem.limits
        past = np.maximum(lower - start, start - upper)
        worst = int(np.argmax(past))
        if not past[worst] <= LIMIT_TOLERANCE:
            raise InvalidInput(
                "the tracker's start",
                f"puts joint {self.robot.joint_names[worst]} at {start[worst]:.6g}, outside "
                f"[{lower[worst]:.6g}, {upper[worst]:.6g}]",
                "Begin within the limits.",
            )
        # The joint vector, the last step, the side of the singularities, which is not known yet, and
        # whether the last pose was reached.
        self._state = np.zeros(2 * len(start) + 2)
        self._state[: len(start)] = np.clip(start, lower, upper)

    @property
    def table(self) -> Array:
        """What ``forearm.ik.fast.track`` takes, for kernels that call it themselves; it writes to it."""
        return self._table

    @property
    def q(self) -> Array:
        """Where the arm stands (rad or m)."""
        return self._state[: self.robot.dof].copy()

    def step(self, target: Any) -> TrackStep:
        """The joint vector for the next pose."""
        matrix, before = target_matrix(target), self.q
        q, iterations, crossed, reports, moved = self._follow(before, matrix[None])
        position, rotation = reports[0, POSITION_ERROR].item(), reports[0, ROTATION_ERROR].item()
        status = TrackStatus.OK if reports[0, VERDICT] == ACCEPTED else TrackStatus.HELD
        if moved[0] > self.jump_rad:
            status = TrackStatus.JUMPED
        if self.problem.task == "position":
            rotation = math.nan
        count = abs(int(iterations[0]))
        return TrackStep(status, q[0], position, rotation, bool(crossed[0]), count, before, matrix, self)

    def follow(self, targets: Any) -> TrackedPath:
        """All steps of a path (N, 4, 4), or of a list of ``Pose``, in one go."""
        # A copy: the path remembers what was asked, whatever the caller does with the array.
        matrices, start = target_matrices(targets).copy(), self.q
        q, iterations, crossed, reports, moved = self._follow(start, matrices)
        codes = np.where(reports[:, VERDICT] == ACCEPTED, OK, HELD)
        codes[moved > self.jump_rad] = JUMPED
        free = self.problem.task == "position"
        return TrackedPath(
            q=q,
            codes=codes,
            position_error_m=reports[:, POSITION_ERROR],
            rotation_error_rad=np.full(len(q), math.nan) if free else reports[:, ROTATION_ERROR],
            iterations=np.abs(iterations),
            crossed=crossed,
            targets=matrices,
            start=start,
            tracker=self,
        )

    def _follow(self, start: Array, targets: Array) -> tuple[Array, Array, Array, Array, Array]:
        """Answers, iterations, where the branch changed; the gate's reports, and how far joints moved."""
        count = len(targets)
        q, iterations = np.empty((count, self.robot.dof)), np.empty(count, dtype=np.int64)
        crossed = np.empty(count, dtype=np.bool_)
        self._kernel(self._table, self.most, targets, self._state, q, iterations, crossed)
        q.flags.writeable = False
        return q, iterations, crossed, *certify_path(self.problem, start, targets, q)

    def reason(self, step: TrackStep) -> str:
        """What kept a step from being plainly OK."""
        names, said = self.robot.joint_names, []
        moved = np.abs(step.q - step.before)
        if step.status is TrackStatus.JUMPED:
            joint = int(np.argmax(moved))
            said.append(f"joint {names[joint]} moved {moved[joint]:.3g} in one step")
        if step.status is not TrackStatus.OK:
            said += self.hindrances(step, moved)
        if step.crossed:
            said.append("passed a singularity: the branch is another one")
        return "; ".join(said)

    def hindrances(self, step: TrackStep, moved: Array) -> list[str]:
        """What keeps the tip from the pose."""
        tolerance = self.problem.tolerance
        free = self.problem.task == "position"
        if step.position_error_m <= tolerance.position_m and (
            free or step.rotation_error_rad <= tolerance.rotation_rad
        ):
            return []
        names, (lower, upper) = self.robot.joint_names, self.problem.limits
        passed, short = first_passed(
            bounds_table(self.robot, self.problem.task),
            step.target,
            tolerance.position_m,
            tolerance.rotation_rad,
        )
        if passed >= 0:
            return [f"beyond reach by {short:.3g} m"]
        held = dict(self.problem.held)
        at_limit = np.minimum(step.q - lower, upper - step.q) <= ON_BOUND
        limits = [name for name, on in zip(names, at_limit, strict=True) if on and name not in held]
        fast = [name for name, on in zip(names, moved >= self.most - ON_BOUND, strict=True) if on]
        said = [f"speed limit of {', '.join(fast)}"] if fast else []
        said += [f"limit of {', '.join(limits)}"] if limits else []
        measures = dexterity(self.robot, step.q, self.problem.task, self.problem.axis_in_tip)
        if measures.condition_number * SINGULAR_RATIO > 1.0:
            said.append("singular")
        return said or ["stalled"]
