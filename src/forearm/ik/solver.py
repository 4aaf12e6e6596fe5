"""What a solver is, and where solvers are found.

A solver proposes joint vectors; it certifies nothing. Each lives in its own file in
``forearm.ik.solvers`` and registers itself there; adding a file adds a solver.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Protocol

from forearm.errors import ForearmError, SolverError
from forearm.ik.problem import Problem
from forearm.ik.proposal import Proposal, Stop
from forearm.kinematics.planar import planar_geometry
from forearm.registry import Registry
from forearm.robots.robot import Robot

__all__ = ["Proposal", "Solver", "Stop", "default_solver", "make_solver", "register", "solver_names"]


class Solver(Protocol):
    name: str
    summary: str
    settles: bool
    """Whether it may be asked about targets beyond reach: it ends at once, or where the tip comes nearest.

    Where it does not, another looks for the best effort when somebody wants it. It proves nothing: proofs
    are the gate's (``ik.proofs``).
    """

    def supports(self, robot: Robot, task: str) -> bool:
        """Whether this solver handles such a chain and task."""
        ...

    def propose(self, problem: Problem) -> Proposal:
        """Joint vectors for ``problem``. Must change nothing: neither what it is given nor itself."""
        ...


SOLVERS: Registry[type[Solver]] = Registry("solver", "forearm.ik.solvers")
register = SOLVERS.register
solver_names = SOLVERS.names


def make_solver(name: str, **options: object) -> Solver:
    """The solver called ``name``, with its options. Without any it is made once: solvers have no state."""
    return SOLVERS.make(name, **options) if options else plain_solver(SOLVERS.find(name))


@lru_cache(maxsize=64)
def plain_solver(kind: type[Solver]) -> Solver:
    return SOLVERS.make(kind.name)


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


BEST_EFFORT_SOLVER = "dls_adaptive"
"""What looks for the nearest posture where the solver that was asked does not: of the plain ones, the only
one that settles there instead of swinging about it."""


def default_solver(problem: Problem) -> str:
    """The closed form where there is one, else the race."""
    planar = problem.task == "position" and not problem.held and planar_geometry(problem.robot)
    return "planar" if planar else "race"
