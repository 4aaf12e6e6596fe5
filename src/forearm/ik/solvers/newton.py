"""Newton-Raphson: the linearised problem solved exactly, over and over."""

from __future__ import annotations

import numpy as np

from forearm.ik.descent import Iterative, StepLimits, StepRule, descend, step_exactly
from forearm.ik.options import count, step_length, switch
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
        fixed_iterations: take exactly so many steps, however near the target, and propose where they
            end; for control loops that need the same time every time. At most ``max_iterations``.
        record: keep condition number and error of every iteration.
    """

    name = "newton"
    summary = "Newton-Raphson, exact where J is square and regular"

    def __init__(self, alpha: float = 1.0, fixed_iterations: int | None = None, record: bool = False) -> None:
        self.alpha = step_length("alpha", alpha)
        fixed = fixed_iterations
        self.fixed_iterations = None if fixed is None else count("fixed_iterations", fixed)
        self.record = switch("record", record)

    def propose(self, problem: Problem) -> Proposal:
        if self.fixed_iterations is not None:
            return step_exactly(problem, NewtonStep(self.alpha), self.fixed_iterations, self.record)
        return descend(problem, NewtonStep(self.alpha), StepLimits(), self.record)


class NewtonStep(StepRule):
    def __init__(self, alpha: float) -> None:
        self.alpha = alpha

    def step(self, error: Array, jacobian: Array) -> Array:
        rows, columns = jacobian.shape
        if rows == columns and np.linalg.cond(jacobian) < REGULAR:
            return self.alpha * np.linalg.solve(jacobian, error)
        return self.alpha * (np.linalg.pinv(jacobian) @ error)
