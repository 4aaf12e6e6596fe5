"""What a solver is, and where solvers are found.

A solver proposes joint vectors; it certifies nothing. Each lives in its own file in
``forearm.ik.solvers`` and registers itself there; adding a file adds a solver.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import Protocol, TypeVar

from forearm.errors import InvalidInput, unknown_unless_in
from forearm.ik.problem import Problem
from forearm.ik.result import Iteration
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
    exhaustive: bool
    """Whether its candidates are every branch there is, each with the best that it can do."""

    def supports(self, robot: Robot, task: str) -> bool:
        """Whether this solver handles such a chain and task."""
        ...

    def propose(self, problem: Problem) -> Proposal:
        """Joint vectors for ``problem``. Must not change anything it is given."""
        ...


SolverClass = TypeVar("SolverClass", bound=type[Solver])
_registered: dict[str, type[Solver]] = {}


def register(solver: SolverClass) -> SolverClass:
    """Class decorator: make a solver known under its ``name``. Its constructor's keywords are its options."""
    if solver.name in _registered:
        raise ValueError(f"two solvers are called {solver.name!r}")
    _registered[solver.name] = solver
    return solver


@cache
def load_registry() -> None:
    """Import every file of ``forearm.ik.solvers`` once, so that it can register."""
    from forearm.ik import solvers

    for module in pkgutil.iter_modules(solvers.__path__):
        importlib.import_module(f"{solvers.__name__}.{module.name}")


def solver_names() -> tuple[str, ...]:
    load_registry()
    return tuple(sorted(_registered))


def make_solver(name: str, **options: object) -> Solver:
    """The solver called ``name``, with its options."""
    unknown_unless_in("solver", name, solver_names())
    valid = tuple(inspect.signature(_registered[name]).parameters)
    for option in options:
        unknown_unless_in(f"option of solver {name}", option, valid)
    try:
        return _registered[name](**options)
    except TypeError as error:
        raise InvalidInput(f"solver {name!r}", f"cannot use an option: {error}") from error


def default_solver(robot: Robot, task: str) -> str:
    """The closed form where there is one, else adaptive damped least squares."""
    return "planar" if make_solver("planar").supports(robot, task) else "dls_adaptive"
