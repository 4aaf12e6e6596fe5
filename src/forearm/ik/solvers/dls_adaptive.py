"""Damped least squares whose damping follows the error."""

from __future__ import annotations

from forearm.errors import InvalidInput
from forearm.ik.descent import Iterative, StepLimits, StepRule, descend
from forearm.ik.options import positive, switch
from forearm.ik.problem import Problem
from forearm.ik.solver import Proposal, register
from forearm.ik.solvers.dls import damped_step
from forearm.spatial import Array

LEAST_DAMPING = 1e-4
MOST_DAMPING = 1.0


@register
class AdaptiveDampedLeastSquares(Iterative):
    """q ← clip(q + Jᵀ (J Jᵀ + λ² I)⁻¹ e); λ halves when the error falls and doubles when it rises.

    λ stays within [1e-4, 1]. A step that raises the error is taken back, which makes this a
    trust-region method in disguise.

    Args:
        damping: λ at the start.
        max_step_rad: no joint moves more than this in one iteration.
        record: keep damping, condition number and error of every iteration.
    """

    name = "dls_adaptive"
    summary = "damped least squares, damping halved or doubled with the error"

    def __init__(self, damping: float = 0.1, max_step_rad: float = 0.5, record: bool = False) -> None:
        self.damping = positive("damping", damping, MOST_DAMPING)
        if self.damping < LEAST_DAMPING:
            raise InvalidInput("damping", f"is {damping}", f"Give {LEAST_DAMPING} to {MOST_DAMPING}.")
        self.max_step_rad = positive("max_step_rad", max_step_rad)
        self.record = switch("record", record)

    def propose(self, problem: Problem) -> Proposal:
        limits = StepLimits(self.max_step_rad, joint_limits=True)
        return descend(problem, AdaptiveStep(self.damping), limits, self.record)


class AdaptiveStep(StepRule):
    def __init__(self, damping: float) -> None:
        self.damping = damping

    def step(self, error: Array, jacobian: Array) -> Array:
        return damped_step(error, jacobian, self.damping or 0.0)

    def judge(self, norm_before: float, norm_after: float) -> bool:
        falls = norm_after < norm_before
        factor = 0.5 if falls else 2.0
        self.damping = min(max((self.damping or 0.0) * factor, LEAST_DAMPING), MOST_DAMPING)
        return falls
