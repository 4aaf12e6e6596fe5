"""What a solver comes up with, before the gate has seen it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from forearm.spatial import Array


class Stop(StrEnum):
    """Why a solver stopped."""

    CONVERGED = "converged"
    STALLED = "stalled"
    BUDGET = "budget"


@dataclass(frozen=True, slots=True)
class Iteration:
    """One step of an iterative solver, recorded when asked."""

    position_error_m: float
    rotation_error_rad: float
    damping: float
    condition_number: float
    step_rad: float


@dataclass(slots=True)
class Proposal:
    """What a solver came up with."""

    candidates: list[Array]
    """Joint vectors that the solver believes in, best first."""
    stop: Stop
    nearest: Array | None = None
    """The joint vector that came nearest, if no candidate did."""
    nearest_by: str | None = None
    """The solver to ask for it, when somebody wants to know."""
    iterations: int = 0
    restarts: int = 0
    damping: float | None = None
    clamped_steps: int = 0
    limited_steps: int = 0
    history: tuple[Iteration, ...] = ()
