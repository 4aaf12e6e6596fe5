"""Many targets at once, on all cores: arrays in, arrays out, every answer through the gate."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from forearm.errors import InvalidInput
from forearm.ik.certify import certify_batch
from forearm.ik.checks import first_loose, projected_rows_into, seeds_outside_into, target_matrix
from forearm.ik.fast.kernels import batch_kernel
from forearm.ik.problem import DEFAULT_ITERATIONS, Problem, Tolerance, pose_problem
from forearm.ik.result import Status
from forearm.ik.solvers.race import Race
from forearm.ik.threads import Crew, thread_count
from forearm.progress import Progress
from forearm.robots.robot import Robot
from forearm.spatial import MAX_LENGTH_M, Array, Pose, real_array

STATUSES = np.array([str(status) for status in Status])


@dataclass(frozen=True, eq=False)
class IKBatch:
    """The answers to N targets; rows of ``q`` are NaN where there is none."""

    q: Array
    """(N, dof), rad or m."""
    codes: Array
    """(N,) places in ``list(Status)``."""
    position_error_m: Array
    rotation_error_rad: Array
    """NaN for position tasks, and like the other where there is no answer."""
    iterations: Array
    """Steps of the descent, all attempts of a target together."""
    seed_outside: Array
    """Whether the seed was past a limit; the search then started on it."""
    problem: Problem = field(repr=False)
    """What all the questions share; its target and seed are the first one's."""

    def __len__(self) -> int:
        return len(self.codes)

    @cached_property
    def status(self) -> Array:
        """(N,) ``SOLVED``, ``UNREACHABLE`` (beyond reach, which is a proof) or ``NOT_FOUND``."""
        return STATUSES[self.codes]

    @cached_property
    def solved(self) -> Array:
        """(N,) whether there is a certified answer."""
        return self.codes == list(Status).index(Status.SOLVED)


def solve_batch(
    robot: Robot,
    targets: Any,
    seeds: ArrayLike | None = None,
    *,
    task: str | None = None,
    axis: ArrayLike | None = None,
    hold: Mapping[str, float] | None = None,
    tolerance: Tolerance | None = None,
    max_iterations: int = DEFAULT_ITERATIONS,
    metres_per_radian: float | None = None,
    workers: int | None = None,
) -> IKBatch:
    """Joint vectors for many targets, each certified; the same ones whatever the number of workers.

    The search is that of ``race``, but one attempt after the other: from the seed first, then from
    elsewhere.

    Args:
        targets: (N, 4, 4) poses in the base, or a sequence of ``Pose``.
        seeds: (N, dof), or one for all; where each search starts. Default: the home posture.
        metres_per_radian: see ``race``.
        workers: threads. Default: one for each core that this process may use.

    The other arguments are those of ``forearm.ik.solve``.
    """
    total = len(targets) if hasattr(targets, "__len__") else 0
    with Crew(thread_count(workers, total)) as crew:
        matrices = target_matrices(targets, crew)
        starts = seed_rows(robot, seeds, total)
        problem = pose_problem(
            robot,
            matrices[0] if total else np.eye(4),
            seed=starts[0] if total else None,
            task=task,
            axis=axis,
            hold=hold,
            tolerance=tolerance,
            max_iterations=max_iterations,
        )
        outside = np.empty(total, dtype=np.bool_)
        seeds_outside_into(starts, problem.limits, outside)
        table = Race(metres_per_radian=metres_per_radian).table(problem)
        solve_some, counter = batch_kernel(), np.zeros(1, dtype=np.int64)
        q, iterations = np.empty((total, robot.dof)), np.empty(total, dtype=np.int64)
        progress = Progress(total, "targets")
        crew.share(
            lambda: solve_some(table, matrices, starts, q, iterations, counter), counter, total, progress.at
        )
        progress.end()
        codes, errors = certify_batch(problem, matrices, q, iterations, crew)
    return IKBatch(
        q=q,
        codes=codes,
        position_error_m=errors[:, 0],
        rotation_error_rad=errors[:, 1],
        iterations=np.abs(iterations),
        seed_outside=outside,
        problem=problem,
    )


def target_matrices(targets: Any, crew: Crew | None = None) -> Array:
    """(N, 4, 4), each in SE(3), the caller's own array if it is; ``InvalidInput`` names one that is not."""
    if isinstance(targets, np.ndarray) and targets.ndim == 3 and targets.shape[1:] == (4, 4):
        given, parts = np.ascontiguousarray(real_array(targets, "targets")), (crew or Crew(1)).parts
        if max(parts(partial(first_loose, given), len(given))) < 0:
            return given
        matrices = np.empty(given.shape)
        unfit = parts(partial(projected_rows_into, given, matrices), len(given))
        first = next((k for k in unfit if k >= 0), None)
        if first is None:
            return matrices
        checked(targets[first], first)
    if isinstance(targets, np.ndarray | Pose) or not hasattr(targets, "__len__"):
        raise InvalidInput("targets", "are no list of poses", "Give an array (N, 4, 4), or a list of Pose.")
    return np.array([checked(target, index) for index, target in enumerate(targets)]).reshape(-1, 4, 4)


def checked(target: Any, index: int) -> Array:
    try:
        return target_matrix(target)
    except InvalidInput as error:
        raise InvalidInput(f"target {index}: {error.what}", error.problem, error.fix) from None


def seed_rows(robot: Robot, seeds: ArrayLike | None, total: int) -> Array:
    """(N, dof): the seeds as they were given, or one of them for every target."""
    given = real_array(robot.home if seeds is None else seeds, "seeds")
    if given.shape not in ((robot.dof,), (total, robot.dof)):
        raise InvalidInput(
            "seeds", f"have shape {given.shape}", f"Give {(total, robot.dof)}, or one joint vector for all."
        )
    # Written so that a NaN fails.
    if not (np.abs(given) <= MAX_LENGTH_M).all():
        raise InvalidInput(
            "seeds", "are not all finite joint vectors", f"Give radians and metres, {MAX_LENGTH_M:g} at most."
        )
    return np.ascontiguousarray(np.broadcast_to(given, (total, robot.dof)))
