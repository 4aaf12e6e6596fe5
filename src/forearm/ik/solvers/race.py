"""The fastest general solver: eight damped descents side by side, compiled."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from forearm.errors import InvalidInput, unknown_unless_in
from forearm.ik.fast.kernels import race_kernel
from forearm.ik.fast.layout import FIRST, MANIPULABILITY, MARGIN, NEAR_POSTURE, NEAREST, layout
from forearm.ik.options import count, positive
from forearm.ik.problem import Problem, Tolerance
from forearm.ik.proposal import Proposal, Stop
from forearm.ik.solver import BEST_EFFORT_SOLVER, register
from forearm.robots.robot import Robot
from forearm.spatial import Array

MODES = ("first", "nearest", "best")
OBJECTIVES = {"limit_margin": MARGIN, "manipulability": MANIPULABILITY, "posture": NEAR_POSTURE}
ENOUGH = 64
"""Answers to look at before the nearest or the best of them is given."""
NEARBY = 0.5
"""Where the nearest answer is wanted, attempts start within this share of the way to anywhere."""


@register
class Race:
    """Eight attempts at Jᵀ (J Jᵀ + λ I)⁻¹ e with λ = 0.05 |e|² + 1e-10, in the lanes of one register.

    The first attempt starts at the seed, the others elsewhere in the limits. One that gets nowhere starts
    again. A joint on its limit is held there while it pushes outward.

    Args:
        mode: ``"first"`` takes the first answer found; ``"nearest"`` the one nearest to the seed and
            ``"best"`` the best by ``objective``, of ``enough`` answers found within the budget.
        objective: ``"limit_margin"`` (the largest distance to a limit, as a share of the joint's range),
            ``"manipulability"``, or ``"posture"`` (the smallest distance to ``posture``).
        posture: a joint vector.
        weights: how much each joint counts in distances.
        metres_per_radian: how many metres of error weigh as much as a radian. Default: 0.4 reaches.
        enough: how many answers are looked at.
    """

    name = "race"
    summary = "eight damped descents side by side, compiled; the first to arrive, the nearest or the best"
    settles = True

    def __init__(
        self,
        mode: str = "first",
        objective: str | None = None,
        posture: ArrayLike | None = None,
        weights: ArrayLike | None = None,
        metres_per_radian: float | None = None,
        enough: int = ENOUGH,
    ) -> None:
        unknown_unless_in("mode", mode, MODES)
        if (mode == "best") != (objective is not None):
            raise InvalidInput(
                "objective", f"is {objective!r} with mode {mode!r}", 'It goes with mode="best".'
            )
        if objective is not None:
            unknown_unless_in("objective", objective, tuple(OBJECTIVES))
        if (objective == "posture") != (posture is not None):
            raise InvalidInput("posture", "is not clear", 'It goes with objective="posture".')
        self.wanted = {"first": FIRST, "nearest": NEAREST}.get(mode, OBJECTIVES.get(objective or "", FIRST))
        self.posture, self.weights = numbers("posture", posture), numbers("weights", weights)
        if self.weights and not min(self.weights) > 0.0:
            raise InvalidInput("weights", f"are {list(self.weights)}", "Give positive numbers.")
        self.metres_per_radian = (
            None if metres_per_radian is None else positive("metres_per_radian", metres_per_radian)
        )
        self.enough = 1 if self.wanted == FIRST else count("enough", enough)

    def supports(self, robot: Robot, task: str) -> bool:  # noqa: ARG002 - any chain, any task
        return True

    def propose(self, problem: Problem) -> Proposal:
        answer = np.empty(len(problem.seed))
        iterations = race_kernel()(self.table(problem), problem.target, problem.seed, answer)
        if iterations > 0:
            return Proposal([answer], Stop.CONVERGED, iterations=iterations)
        stop = Stop.BUDGET if iterations else Stop.STALLED
        return Proposal([], stop, nearest_by=BEST_EFFORT_SOLVER, iterations=-iterations)

    def table(self, problem: Problem) -> Array:
        """What the kernels are told of the arm, the task and these options."""
        return table_for(
            problem.robot,
            problem.task,
            problem.tolerance,
            problem.axis_in_tip.tobytes() if problem.task == "axis" else b"",
            problem.held,
            int(problem.max_iterations),
            self.wanted,
            self.enough,
            self.posture,
            self.weights,
            self.metres_per_radian,
        )


def numbers(name: str, values: ArrayLike | None) -> tuple[float, ...]:
    """A vector as plain numbers, which can be compared; empty for none."""
    if values is None:
        return ()
    try:
        vector = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        vector = np.empty((0, 0))
    if vector.ndim != 1 or not np.isfinite(vector).all():
        raise InvalidInput(name, "is no vector of finite numbers", "Give a number for each joint.")
    return tuple(vector.tolist())


@lru_cache(maxsize=256)
def table_for(
    robot: Robot,
    task: str,
    tolerance: Tolerance,
    axis_in_tip: bytes,
    held: tuple[tuple[str, float], ...],
    budget: int,
    wanted: int,
    enough: int,
    posture: tuple[float, ...],
    weights: tuple[float, ...],
    metres_per_radian: float | None,
) -> Array:
    """``layout``, made once for each question that is asked again and again."""
    return layout(
        robot,
        task,
        tolerance,
        budget=budget,
        wanted=wanted,
        enough=enough,
        start_share=NEARBY if wanted == NEAREST else 1.0,
        axis_in_tip=tuple(np.frombuffer(axis_in_tip)) if axis_in_tip else (0.0, 0.0, 1.0),
        held=dict(held),
        weights=robot.joint_vector(weights, "weights") if weights else None,
        posture=robot.joint_vector(posture, "posture") if posture else None,
        metres_per_radian=metres_per_radian,
    )
