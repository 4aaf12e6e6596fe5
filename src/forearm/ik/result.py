"""The one answer that every solver's proposals end in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import Any

from forearm.errors import NoSolution
from forearm.ik.branches import branch_name
from forearm.ik.limits import winding_count
from forearm.ik.problem import Problem, Tolerance
from forearm.ik.proofs import Proof
from forearm.ik.proposal import Iteration, Proposal
from forearm.jsonable import plain
from forearm.kinematics.measures import Dexterity, dexterity
from forearm.spatial import Array


class Status(StrEnum):
    SOLVED = "SOLVED"
    """At least one solution passed the gate."""
    UNREACHABLE = "UNREACHABLE"
    """There is none, and ``proof`` says why."""
    NOT_FOUND = "NOT_FOUND"
    """None was found. That proves nothing."""


@dataclass(frozen=True, eq=False)
class Posture:
    """A joint vector and what the gate measured of it. What is seldom asked is worked out when it is."""

    q: Array
    position_error_m: float
    rotation_error_rad: float
    """NaN for position tasks, where the rotation is free; for axis tasks the angle between the axes."""
    limit_margin_rad: float
    """Distance of the tightest revolute joint to its nearer limit; negative outside, inf without limits."""
    limit_margin_m: float
    """The same for prismatic joints."""
    limit_joint: str | None
    """The joint whose margin is smallest."""
    problem: Problem = field(repr=False)

    @cached_property
    def branch(self) -> str | None:
        """The name of the arm's configuration, where its family has names."""
        return branch_name(self.problem.robot, self.q)

    @cached_property
    def winding_count(self) -> int:
        """Joint vectors within the limits that differ from ``q`` by full turns only, itself included."""
        return winding_count(self.problem.limits, self.problem.robot.turns, self.q)

    @cached_property
    def dexterity(self) -> Dexterity:
        """How well the arm can move from here, as far as the task counts it."""
        return dexterity(self.problem.robot, self.q, self.problem.task, self.problem.axis_in_tip)

    @property
    def manipulability(self) -> float:
        return self.dexterity.manipulability

    @property
    def min_singular_value(self) -> float:
        return self.dexterity.min_singular_value

    @property
    def condition_number(self) -> float:
        return self.dexterity.condition_number


class Solution(Posture):
    """A posture that passed the gate: on target within tolerance, inside the limits."""


class BestEffort(Posture):
    """The nearest that a solver came. Not a solution."""


POSTURE_DATA = (
    "q",
    "position_error_m",
    "rotation_error_rad",
    "limit_margin_rad",
    "limit_margin_m",
    "limit_joint",
    "branch",
    "winding_count",
    "manipulability",
    "min_singular_value",
    "condition_number",
)


@dataclass(frozen=True, slots=True)
class Diagnostics:
    """What happened on the way."""

    iterations: int
    restarts: int
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


@dataclass(frozen=True, eq=False)
class IKResult:
    """The answer to a ``Problem``. Only ``certify`` makes one that says ``SOLVED``."""

    problem: Problem = field(repr=False)
    solver: str
    status: Status
    reason: str
    """SOLVED: ``certified``. UNREACHABLE: what blocks. NOT_FOUND: ``stalled``, ``budget`` or ``rejected``."""
    evidence: Proof | None = field(repr=False)
    """For UNREACHABLE, what proves it."""
    solutions: tuple[Solution, ...]
    """Certified, best first: nearest to the seed if one was given, else in the solver's order."""
    search: Callable[[IKResult], BestEffort | None] | None = field(repr=False)
    """Who looks for the best effort."""
    proposal: Proposal = field(repr=False)
    """What the solver said, unchecked."""
    drops: Mapping[str, int]
    time_s: float
    audit: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """With ``audit=True``: engine to the worst (m, rad) that its replay found over all that it was given."""

    @property
    def proof(self) -> str | None:
        """For UNREACHABLE, the statement that proves it."""
        return self.evidence.statement if self.evidence else None

    @cached_property
    def best_effort(self) -> BestEffort | None:
        """The nearest that the solver came, where there is no solution. Looked for when first asked."""
        return self.search(self) if self.search else None

    @cached_property
    def diagnostics(self) -> Diagnostics:
        proposal = self.proposal
        return Diagnostics(
            iterations=proposal.iterations,
            restarts=proposal.restarts,
            candidates=len(proposal.candidates),
            drops=self.drops,
            damping=proposal.damping,
            clamped_steps=proposal.clamped_steps,
            limited_steps=proposal.limited_steps,
            time_s=self.time_s,
            history=proposal.history,
        )

    @property
    def frame(self) -> str:
        """The frame that the target was given in."""
        return self.problem.frame

    @property
    def seed(self) -> Array:
        return self.problem.seed

    @property
    def tolerance(self) -> Tolerance:
        return self.problem.tolerance

    @property
    def warnings(self) -> tuple[str, ...]:
        return self.problem.warnings

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
    return {name: getattr(posture, name) for name in POSTURE_DATA}
