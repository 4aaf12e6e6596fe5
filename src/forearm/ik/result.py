"""The one answer that every solver's proposals end in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any

from forearm.errors import NoSolution
from forearm.ik.problem import Tolerance
from forearm.jsonable import plain
from forearm.spatial import Array


class Status(StrEnum):
    SOLVED = "SOLVED"
    """At least one solution passed the gate."""
    UNREACHABLE = "UNREACHABLE"
    """There is none, and ``proof`` says why."""
    NOT_FOUND = "NOT_FOUND"
    """None was found. That proves nothing."""


@dataclass(frozen=True, eq=False, slots=True)
class Posture:
    """A joint vector and what the gate measured of it."""

    q: Array
    position_error_m: float
    rotation_error_rad: float
    """NaN for position tasks, where the rotation is free."""
    limit_margin_rad: float
    """Distance of the tightest revolute joint to its nearer limit; negative outside, inf without limits."""
    limit_margin_m: float
    """The same for prismatic joints."""
    limit_joint: str | None
    """The joint whose margin is smallest."""
    branch: str | None
    """The name of the arm's configuration, where its family has names."""
    winding_count: int
    """Joint vectors within the limits that differ from ``q`` by full turns only, itself included."""
    manipulability: float
    min_singular_value: float
    condition_number: float


class Solution(Posture):
    """A posture that passed the gate: on target within tolerance, inside the limits."""

    __slots__ = ()


class BestEffort(Posture):
    """The nearest that a solver came. Not a solution."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Iteration:
    """One step of an iterative solver, recorded when asked."""

    position_error_m: float
    rotation_error_rad: float
    damping: float
    condition_number: float
    step_rad: float


@dataclass(frozen=True, slots=True)
class Diagnostics:
    """What happened on the way."""

    iterations: int
    restarts: int
    ran: str
    """The solver that ran. Not the one asked where that had nothing to look for but a best effort."""
    candidates: int
    drops: Mapping[str, int]
    """Candidates that the gate turned away, by reason."""
    damping: float | None
    """The last damping factor, for solvers that damp."""
    clamped_steps: int
    """Iterations whose joint step was cut to the step limit."""
    limited_steps: int
    """Iterations in which a joint was held at its limit."""
    time_s: float
    history: tuple[Iteration, ...] = ()


@dataclass(frozen=True, eq=False, slots=True)
class IKResult:
    """The answer to a ``Problem``. Only ``certify`` makes one that says ``SOLVED``."""

    status: Status
    reason: str
    """SOLVED: ``certified``. UNREACHABLE: what blocks. NOT_FOUND: ``stalled``, ``budget`` or ``rejected``."""
    proof: str | None
    """For UNREACHABLE, the statement that proves it."""
    solutions: tuple[Solution, ...]
    """Certified, best first: nearest to the seed if one was given, else in the solver's order."""
    best_effort: BestEffort | None
    solver: str
    frame: str
    seed: Array
    tolerance: Tolerance
    diagnostics: Diagnostics
    warnings: tuple[str, ...] = ()
    audit: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """With ``audit=True``: engine to the worst (m, rad) that its replay found over all that it was given."""

    @property
    def q(self) -> Array:
        """The best solution's joint vector; raises ``NoSolution`` if there is none."""
        return self.require().q

    def require(self) -> Solution:
        """The best solution; raises ``NoSolution`` if there is none."""
        if self.status is not Status.SOLVED:
            raise NoSolution(self)
        return self.solutions[0]

    def __bool__(self) -> bool:
        return self.status is Status.SOLVED

    def to_json(self) -> dict[str, Any]:
        """Plain data for ``json.dumps``; numbers that are not finite become None."""
        return plain(
            {
                "status": self.status,
                "reason": self.reason,
                "proof": self.proof,
                "solutions": [posture_data(solution) for solution in self.solutions],
                "best_effort": posture_data(self.best_effort) if self.best_effort else None,
                "solver": self.solver,
                "frame": self.frame,
                "seed": self.seed,
                "tolerance": asdict(self.tolerance),
                "diagnostics": asdict(self.diagnostics),
                "warnings": self.warnings,
                "audit": {
                    engine: {"position_error_m": position, "rotation_error_rad": rotation}
                    for engine, (position, rotation) in self.audit.items()
                },
            }
        )


def posture_data(posture: Posture) -> dict[str, Any]:
    return {name: getattr(posture, name) for name in Posture.__slots__}
