"""How well the arm can move at a posture, read from the singular values of its Jacobian.

For pose tasks these mix metres and radians, as every such index in the literature does: compare
them between postures of one arm, not between arms.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from forearm.kinematics.chain import frame_with_z
from forearm.kinematics.forward import tip_and_jacobian
from forearm.robots.robot import Robot
from forearm.spatial import Array


class Dexterity(NamedTuple):
    manipulability: float
    """Yoshikawa's index sqrt(det(J Jᵀ)): the product of the singular values."""
    min_singular_value: float
    condition_number: float


def task_rows(task: str) -> slice:
    """The rows of the Jacobian and of the pose error that count for a pose or a position."""
    return slice(0, 3) if task == "position" else slice(0, 6)


def task_part(task: str, axis_in_base: Array, rows: Array) -> Array:
    """What counts for ``task`` of the six rows of an error or a Jacobian in base axes.

    For axis tasks the rotation is taken across the axis only: turning about it changes nothing.
    """
    if task == "axis":
        across = frame_with_z(axis_in_base)[:, :2].T
        return np.concatenate([rows[:3], across @ rows[3:]])
    return rows[task_rows(task)]


def dexterity_of(columns: Array) -> Dexterity:
    """From the rows of a Jacobian; (m x n) with m > n is measured on the n motions it allows."""
    singular = np.linalg.svd(columns, compute_uv=False)
    smallest, largest = float(singular[-1]), float(singular[0])
    condition = largest / smallest if smallest > largest * np.finfo(float).eps else np.inf
    return Dexterity(float(np.prod(singular)), smallest, condition)


def dexterity(
    robot: Robot, q: ArrayLike, task: str | None = None, axis_in_tip: ArrayLike = (0.0, 0.0, 1.0)
) -> Dexterity:
    """Manipulability, smallest singular value and condition number at ``q``."""
    transform, columns = tip_and_jacobian(robot, q)
    axis = transform[:3, :3] @ np.asarray(axis_in_tip)
    return dexterity_of(task_part(task or robot.task, axis, columns))


def manipulability(robot: Robot, q: ArrayLike) -> float:
    """Yoshikawa's index w = sqrt(det(J Jᵀ)) at ``q``, for the arm's own task."""
    return dexterity(robot, q).manipulability
