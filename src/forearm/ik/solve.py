"""Ask a solver, and pass what it says through the gate."""

from __future__ import annotations

import time
from typing import Any

from numpy.typing import ArrayLike

from forearm.errors import InvalidInput
from forearm.ik.certify import certify
from forearm.ik.problem import Tolerance, pose_problem
from forearm.ik.proofs import beyond_reach
from forearm.ik.result import IKResult
from forearm.ik.solver import default_solver, make_solver, proposal_of, solver_names
from forearm.robots.robot import Robot

BEST_EFFORT_SOLVER = "dls_adaptive"
"""What looks for the nearest posture once a target is proved out of reach, whichever solver was asked:
of the plain ones, the only one that settles there instead of swinging about it."""


def solve(
    robot: Robot,
    target: Any,
    *,
    seed: ArrayLike | None = None,
    solver: str | None = None,
    frame: str | None = None,
    task: str | None = None,
    tolerance: Tolerance | None = None,
    max_iterations: int = 200,
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
        task: ``"pose"`` or ``"position"``; default: the arm's own.
        audit: replay every solution in Pinocchio and in MuJoCo as well.
        options: the solver's own.

    Raises:
        InvalidInput: the target is not a rigid pose, has NaN or a wrong shape.
        UnknownName: no such solver, task or frame.
    """
    problem = pose_problem(
        robot,
        target,
        seed=seed,
        frame=frame,
        task=task,
        tolerance=tolerance,
        max_iterations=max_iterations,
    )
    name = default_solver(robot, problem.task) if solver is None else solver
    chosen = make_solver(name, **options)
    if not chosen.supports(robot, problem.task):
        able = [other for other in solver_names() if make_solver(other).supports(robot, problem.task)]
        raise InvalidInput(
            f"solver {name!r}",
            f"does not handle {problem.task} targets of {robot.name} ({robot.dof} joints)",
            f"These do: {', '.join(able)}.",
        )
    started = time.perf_counter()
    if not chosen.settles and beyond_reach(problem):
        proposal = make_solver(BEST_EFFORT_SOLVER, record=bool(options.get("record"))).propose(problem)
        proposal.solver = BEST_EFFORT_SOLVER
    else:
        proposal = proposal_of(chosen, problem)
    return certify(problem, proposal, chosen, time.perf_counter() - started, audit)
