"""The fastest tier: the race alone, on the caller's buffers. Nothing is certified here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from forearm.ik.fast.kernels import direct_kernel
from forearm.ik.problem import DEFAULT_ITERATIONS, Tolerance, pose_problem
from forearm.ik.solvers.race import Race
from forearm.robots.robot import Robot
from forearm.spatial import Array

SolveInto = Callable[[Array, Array, Array], int]


def direct_solver(
    robot: Robot,
    *,
    task: str | None = None,
    axis: ArrayLike | None = None,
    hold: Mapping[str, float] | None = None,
    tolerance: Tolerance | None = None,
    max_iterations: int = DEFAULT_ITERATIONS,
    **options: object,
) -> SolveInto:
    """``solve_into(target, seed, answer) -> iterations``, about two microseconds a call.

    ``target`` (4x4, in the base) and ``seed`` are read, ``answer`` is written. All are arrays of float64 of
    those dimensions; their sizes are checked and nothing else, not even whether ``answer`` may be written to.
    Returns the iterations taken, 0 if the target is beyond reach, minus those spent in vain. The answer comes
    within tolerance by the solver's own arithmetic, which is not the gate's
    word: ``arm.ik`` gives that. ``options`` are those of the solver ``race``.
    """
    problem = pose_problem(
        robot, np.eye(4), task=task, axis=axis, hold=hold, tolerance=tolerance, max_iterations=max_iterations
    )
    race = Race(**options)  # type: ignore[arg-type]
    return partial(direct_kernel(), race.table(problem))
