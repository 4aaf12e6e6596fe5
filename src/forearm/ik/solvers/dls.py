"""Damped least squares with a fixed damping factor."""

from __future__ import annotations

import numpy as np

from forearm.ik.descent import Iterative, StepLimits, StepRule, descend
from forearm.ik.options import positive, switch
from forearm.ik.problem import Problem
from forearm.ik.solver import Proposal, register
from forearm.spatial import Array

MOST_DAMPING = 1e6
"""Beyond this no step is longer than rounding."""


@register
class DampedLeastSquares(Iterative):
    """q ← clip(q + Jᵀ (J Jᵀ + λ² I)⁻¹ e).

    Args:
        damping: λ. Small converges fast, large stays calm near singularities.
        max_step_rad: no joint moves more than this in one iteration.
        record: keep damping, condition number and error of every iteration.
    """

    name = "dls"
    summary = "damped least squares, fixed damping"

    def __init__(self, damping: float = 0.05, max_step_rad: float = 0.2, record: bool = False) -> None:
        self.damping = positive("damping", damping, MOST_DAMPING)
        self.max_step_rad = positive("max_step_rad", max_step_rad)
        self.record = switch("record", record)

    def propose(self, problem: Problem) -> Proposal:
        limits = StepLimits(self.max_step_rad, joint_limits=True)
        return descend(problem, DampedStep(self.damping), limits, self.record)


class DampedStep(StepRule):
    def __init__(self, damping: float) -> None:
        self.damping = damping

    def step(self, error: Array, jacobian: Array) -> Array:
        return damped_step(error, jacobian, self.damping or 0.0)


def damped_step(error: Array, jacobian: Array, damping: float) -> Array:
    """Jᵀ (J Jᵀ + λ² I)⁻¹ e."""
    rows = len(error)
    return jacobian.T @ np.linalg.solve(jacobian @ jacobian.T + damping**2 * np.eye(rows), error)
