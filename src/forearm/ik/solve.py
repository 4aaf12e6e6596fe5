"""Ask a solver, and pass what it says through the gate."""

from __future__ import annotations

from collections.abc import Mapping
from time import perf_counter
from typing import Any

from numpy.typing import ArrayLike

from forearm.errors import InvalidInput
from forearm.ik.certify import certify
from forearm.ik.problem import DEFAULT_ITERATIONS, Problem, Tolerance, pose_problem
from forearm.ik.proofs import beyond_reach
from forearm.ik.result import IKResult
from forearm.ik.solver import (
    BEST_EFFORT_SOLVER,
    Proposal,
    Solver,
    Stop,
    default_solver,
    make_solver,
    proposal_of,
    solver_names,
)
from forearm.robots.robot import Robot


def solve(
    robot: Robot,
    target: Any,
    *,
    seed: ArrayLike | None = None,
    solver: str | None = None,
    frame: str | None = None,
    task: str | None = None,
    axis: ArrayLike | None = None,
    hold: Mapping[str, float] | None = None,
    tolerance: Tolerance | None = None,
    max_iterations: int = DEFAULT_ITERATIONS,
    audit: bool = False,
    **options: object,
) -> IKResult:
    """Joint vectors that put the tip on ``target``, certified; or why there are none.

    Args:
        target: a ``Pose``, a 4x4 matrix, or for position tasks three coordinates (m).
        seed: where to start; answers near it come first. Default: the home posture.
        solver: a registered solver; ``forearm.solver_names()`` lists them.
        frame: the frame ``target`` is given in: the base (default), ``"world"``, or a frame that
            does not move with the chain.
        task: what of the target counts: ``"pose"``, all of it; ``"axis"``, its position and where
            ``axis`` points, the turn about it being free; ``"position"``. Default: the arm's own.
        axis: a direction in the tip's frame, for axis tasks. Default: z.
        hold: joints that stay at a value (rad or m).
        audit: replay every solution in Pinocchio and in MuJoCo as well.
        options: the solver's own.

    Raises:
        InvalidInput: the target is not a rigid pose, has NaN or a wrong shape.
        UnknownName: no such solver, task, frame or joint.
    """
    problem = pose_problem(
        robot,
        target,
        seed=seed,
        frame=frame,
        task=task,
        axis=axis,
        hold=hold,
        tolerance=tolerance,
        max_iterations=max_iterations,
    )
    chosen = make_solver(default_solver(problem) if solver is None else solver, **options)
    if not chosen.supports(robot, problem.task):
        refuse(chosen, problem)
    started = perf_counter()
    if chosen.settles or beyond_reach(problem) is None:
        proposal = proposal_of(chosen, problem)
    else:
        proposal = Proposal([], Stop.STALLED, nearest_by=BEST_EFFORT_SOLVER)
    return certify(problem, proposal, chosen, perf_counter() - started, audit)


def refuse(chosen: Solver, problem: Problem) -> None:
    """Raise what names the solvers that can."""
    robot, task = problem.robot, problem.task
    able = [name for name in solver_names() if make_solver(name).supports(robot, task)]
    raise InvalidInput(
        f"solver {chosen.name!r}",
        f"does not handle {task} targets of {robot.name} ({robot.dof} joints)",
        f"These do: {', '.join(able)}.",
    )
