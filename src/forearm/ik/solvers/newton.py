"""Newton-Raphson: the linearised problem solved exactly, over and over."""

from __future__ import annotations

import numpy as np

from forearm.errors import InvalidInput
from forearm.ik.descent import Iterative, StepLimits, StepRule, descend
from forearm.ik.problem import Problem
from forearm.ik.solver import Proposal, register
from forearm.spatial import Array

REGULAR = 1e8
"""Condition number up to which J counts as regular."""


@register
class Newton(Iterative):
    """q ← q + α J⁻¹ e where J is square and regular, q ← q + α J⁺ e elsewhere.

    Args:
        alpha: step length in (0, 1].
    """

    name = "newton"
    summary = "Newton-Raphson, exact where J is square and regular"

    def __init__(self, alpha: float = 1.0, record: bool = False) -> None:
        if not 0.0 < alpha <= 1.0:
            raise InvalidInput("alpha", f"is {alpha}", "Give a step length in (0, 1].")
        self.alpha, self.record = alpha, record

    def propose(self, problem: Problem) -> Proposal:
        return descend(problem, NewtonStep(self.alpha), StepLimits(), self.record)


class NewtonStep(StepRule):
    def __init__(self, alpha: float) -> None:
        self.alpha = alpha

    def step(self, error: Array, jacobian: Array) -> Array:
        rows, columns = jacobian.shape
        if rows == columns and np.linalg.cond(jacobian) < REGULAR:
            return self.alpha * np.linalg.solve(jacobian, error)
        return self.alpha * (np.linalg.pinv(jacobian) @ error)
