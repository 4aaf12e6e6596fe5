"""Limits of a motion, joint by joint, checked by name."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from forearm.errors import ForearmError, InvalidInput, shown
from forearm.robots.robot import Robot
from forearm.spatial import Array

ROUNDING = 1e-9
"""How far (rad or m) a joint may stand past its limit, as everywhere in forearm."""


class NoMotionPlan(ForearmError):
    """A planner found no motion, for a reason that the checks before it do not know."""


def per_joint(robot: Robot, values: ArrayLike | None, what: str, *, otherwise: ArrayLike = np.inf) -> Array:
    """One limit a joint from one number for all, one each, or None for ``otherwise``.

    Raises ``InvalidInput`` naming the joint unless each is positive; infinity stands for no limit.
    """
    given = np.asarray(otherwise if values is None else values, dtype=np.float64)
    if given.ndim == 0:
        given = np.full(robot.dof, float(given))
    if given.shape != (robot.dof,):
        names = ", ".join(robot.joint_names)
        raise InvalidInput(
            what, f"has shape {given.shape}", f"Give one number, or {robot.dof} in this order: {names}."
        )
    for name, value in zip(robot.joint_names, given, strict=True):
        if not value > 0.0:
            raise InvalidInput(
                f"{what} of joint {shown(name)}", f"is {value:.6g}", "Give a positive number, or infinity."
            )
    return given


def require_finite(robot: Robot, limits: Array, what: str) -> None:
    """Raise ``InvalidInput`` naming the first joint whose limit is infinite."""
    for name, value in zip(robot.joint_names, limits, strict=True):
        if not np.isfinite(value):
            raise InvalidInput(
                f"{what} of joint {shown(name)}", "is not known", f"Give {what}= for every joint."
            )


def require_within(robot: Robot, q: Array, what: str) -> None:
    """Raise ``InvalidInput`` naming the joint, its value and its limits if ``q`` lies outside them."""
    past = np.maximum(robot.lower - q, q - robot.upper)
    joint = int(np.argmax(past))
    if past[joint] > ROUNDING:
        raise InvalidInput(
            f"{what} of joint {shown(robot.joint_names[joint])}",
            f"is {q[joint]:.6g}, outside its limits [{robot.lower[joint]:.6g}, {robot.upper[joint]:.6g}]",
        )
