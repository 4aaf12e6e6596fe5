"""What a solver is, and where solvers are found.

A solver proposes joint vectors; it certifies nothing. Each lives in its own file in
``forearm.ik.solvers`` and registers itself there; adding a file adds a solver.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from forearm.errors import ForearmError, SolverError
from forearm.ik.problem import Problem
from forearm.ik.result import Iteration
from forearm.registry import Registry
from forearm.robots.robot import Robot
from forearm.spatial import Array


class Stop(StrEnum):
    """Why a solver stopped."""

    CONVERGED = "converged"
    STALLED = "stalled"
    BUDGET = "budget"


@dataclass(slots=True)
class Proposal:
    """What a solver came up with."""

    candidates: list[Array]
    """Joint vectors that the solver believes in, best first."""
    stop: Stop
    solver: str | None = None
    """Who made it, if not the solver that was asked."""
    nearest: Array | None = None
    """The joint vector that came nearest, if no candidate did."""
    iterations: int = 0
    restarts: int = 0
    damping: float | None = None
    clamped_steps: int = 0
    limited_steps: int = 0
    history: tuple[Iteration, ...] = ()


class Solver(Protocol):
    name: str
    summary: str
    settles: bool
    """Whether it ends where the tip comes nearest when no posture reaches the target.

    It decides who looks for the best effort, and proves nothing: proofs are the gate's (``ik.proofs``).
    """

    def supports(self, robot: Robot, task: str) -> bool:
        """Whether this solver handles such a chain and task."""
        ...

    def propose(self, problem: Problem) -> Proposal:
        """Joint vectors for ``problem``. Must not change anything it is given."""
        ...


SOLVERS: Registry[type[Solver]] = Registry("solver", "forearm.ik.solvers")
register = SOLVERS.register
solver_names = SOLVERS.names


def make_solver(name: str, **options: object) -> Solver:
    """The solver called ``name``, with its options."""
    return SOLVERS.make(name, **options)


def proposal_of(solver: Solver, problem: Problem) -> Proposal:
    """What ``solver`` proposes; ``SolverError`` names it if it fails in a way of its own."""
    try:
        proposal = solver.propose(problem)
    except ForearmError:
        raise
    except Exception as error:
        raise SolverError(solver.name, f"raised {type(error).__name__}: {error}") from error
    if not isinstance(proposal, Proposal):
        raise SolverError(solver.name, f"gave back a {type(proposal).__name__}, not a Proposal")
    return proposal


def default_solver(robot: Robot, task: str) -> str:
    """The closed form where there is one, else adaptive damped least squares."""
    return "planar" if make_solver("planar").supports(robot, task) else "dls_adaptive"
