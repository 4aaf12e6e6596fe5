"""What the motors have to give for a motion, the joints' own losses included."""

from __future__ import annotations

import numpy as np

from forearm.dynamics.engine import Engine
from forearm.robots.robot import Robot
from forearm.spatial import Array


def joint_losses(robot: Robot, qd: Array) -> Array:
    """D qd + f sign(qd): damping and dry friction, as every engine's inverse dynamics leaves them out."""
    damping = np.array([joint.damping for joint in robot.joints])
    friction = np.array([joint.friction for joint in robot.joints])
    return damping * qd + friction * np.sign(qd)


def required_efforts(engine: Engine, q: Array, qd: Array, qdd: Array) -> Array:
    """tau = M qdd + C qd + g + D qd + f sign(qd) (N·m or N), row by row: (k, n)."""
    rows = [engine.inverse_dynamics(*row) for row in zip(q, qd, qdd, strict=True)]
    return np.array(rows).reshape(q.shape) + joint_losses(engine.robot, qd)


def static_efforts(engine: Engine, q: Array) -> Array:
    """g(q) (N·m or N), row by row: (k, n)."""
    return np.array([engine.gravity(row) for row in q]).reshape(q.shape)
