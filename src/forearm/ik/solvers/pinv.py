"""The Jacobian's pseudo-inverse, with the step clamped."""

from __future__ import annotations

import numpy as np

from forearm.ik.descent import Iterative, StepLimits, StepRule, descend, scale_whole_step
from forearm.ik.options import positive, step_length, switch
from forearm.ik.problem import Problem
from forearm.ik.solver import Proposal, register
from forearm.spatial import Array

SINGULAR = 1e10
"""Condition number from which J counts as singular: the step would be rounding and nothing else."""


@register
class PseudoInverse(Iterative):
    """q ← q + α J⁺ e, with J⁺ = Jᵀ (J Jᵀ)⁻¹ for wide J and (JᵀJ)⁻¹ Jᵀ for tall.

    The textbook formula on purpose: at a singularity there is no inverse, and the solver stops.

    Args:
        alpha: step length in (0, 1].
        max_step_rad: the step is shortened so that no joint moves more than this.
    """

    name = "pinv"
    summary = "pseudo-inverse of the Jacobian, step clamped"

    def __init__(self, alpha: float = 1.0, max_step_rad: float = 0.5, record: bool = False) -> None:
        self.alpha = step_length("alpha", alpha)
        self.max_step_rad = positive("max_step_rad", max_step_rad)
        self.record = switch("record", record)

    def propose(self, problem: Problem) -> Proposal:
        limits = StepLimits(self.max_step_rad)
        return descend(problem, PseudoInverseStep(self.alpha), limits, self.record, scale_whole_step)


class PseudoInverseStep(StepRule):
    def __init__(self, alpha: float) -> None:
        self.alpha = alpha

    def step(self, error: Array, jacobian: Array) -> Array | None:
        if np.linalg.cond(jacobian) > SINGULAR:
            return None
        rows, columns = jacobian.shape
        if rows <= columns:
            return self.alpha * (jacobian.T @ np.linalg.solve(jacobian @ jacobian.T, error))
        return self.alpha * np.linalg.solve(jacobian.T @ jacobian, jacobian.T @ error)
