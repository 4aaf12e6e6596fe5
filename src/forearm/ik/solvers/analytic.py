"""Every branch in closed form, for arms with six or seven turning joints."""

from __future__ import annotations

from forearm.errors import unknown_unless_in
from forearm.ik.enumeration import BACKENDS, branches_of, can_enumerate
from forearm.ik.limits import rows_turned_into
from forearm.ik.problem import Problem
from forearm.ik.solver import Proposal, Stop, register
from forearm.robots.robot import Robot

ROUNDING_RAD = 1e-6
"""How far past its limit a closed form may put a joint that stands on it, near a singularity. It is put back;
whether that will do, the gate says."""


@register
class Analytic:
    """All postures that reach the target, by the subproblems of the arm's family (``ik.enumeration``).

    Each branch is given once, at the full turns nearest to the seed; ``winding_count`` says how many others
    the limits allow. With seven joints the branches are samples of a family that has no end.

    Args:
        backend: ``"eaik"`` or ``"ssik"``. Default: EAIK where it knows the arm's family, else ssik.
    """

    name = "analytic"
    summary = "every branch in closed form, 6 or 7 turning joints (extra: analytic)"
    settles = False

    def __init__(self, backend: str | None = None) -> None:
        if backend is not None:
            unknown_unless_in("backend", backend, BACKENDS)
        self.backend = backend

    def supports(self, robot: Robot, task: str) -> bool:
        return task == "pose" and can_enumerate(robot)

    def propose(self, problem: Problem) -> Proposal:
        found = branches_of(problem.robot, problem.target, self.backend)
        # Also those that the backend doubts: at a singularity many of them are good.
        candidates = rows_turned_into(problem.robot, problem.limits, found.q, problem.seed, onto=ROUNDING_RAD)
        return Proposal(list(candidates), Stop.CONVERGED, iterations=1)
