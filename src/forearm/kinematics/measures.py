"""How well the arm can move at a posture, read from the singular values of its Jacobian.

For pose tasks these mix metres and radians, as every such index in the literature does: compare
them between postures of one arm, not between arms.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from forearm.kinematics.forward import jacobian
from forearm.robots.robot import Robot
from forearm.spatial import Array


class Dexterity(NamedTuple):
    manipulability: float
    """Yoshikawa's index sqrt(det(J Jᵀ)): the product of the singular values."""
    min_singular_value: float
    condition_number: float


def task_rows(task: str) -> slice:
    """The rows of the Jacobian and of the pose error that count for ``task``."""
    return slice(0, 3) if task == "position" else slice(0, 6)


def dexterity_of(columns: Array) -> Dexterity:
    """From the rows of a Jacobian; (m x n) with m > n is measured on the n motions it allows."""
    singular = np.linalg.svd(columns, compute_uv=False)
    smallest, largest = float(singular[-1]), float(singular[0])
    condition = largest / smallest if smallest > largest * np.finfo(float).eps else np.inf
    return Dexterity(float(np.prod(singular)), smallest, condition)


def dexterity(robot: Robot, q: ArrayLike, task: str | None = None) -> Dexterity:
    """Manipulability, smallest singular value and condition number at ``q``."""
    return dexterity_of(jacobian(robot, q)[task_rows(task or robot.task)])


def manipulability(robot: Robot, q: ArrayLike) -> float:
    """Yoshikawa's index w = sqrt(det(J Jᵀ)) at ``q``, for the arm's own task."""
    return dexterity(robot, q).manipulability
