"""Forward kinematics and the geometric Jacobian, as a caller in Python sees them."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from forearm.kinematics.chain import chain_of, forward_and_jacobian_into, forward_into
from forearm.robots.robot import Robot
from forearm.robots.tree import JointKind
from forearm.spatial import Array, Pose


def tip_matrix(robot: Robot, q: ArrayLike) -> Array:
    """The tip's pose in the base as a 4x4 matrix."""
    transform = np.empty((4, 4))
    forward_into(chain_of(robot), robot.joint_vector(q), transform)
    return transform


def tip_pose(robot: Robot, q: ArrayLike) -> Pose:
    """The tip's pose in the base."""
    return Pose.from_matrix(tip_matrix(robot, q))


def jacobian(robot: Robot, q: ArrayLike) -> Array:
    """The geometric Jacobian (6 x n) at the tip, in base axes: [v; w] = J(q) qd.

    Column i is (z_i x (p_tip - p_i), z_i) for a revolute joint and (z_i, 0) for a prismatic one.
    """
    return tip_and_jacobian(robot, q)[1]


def tip_and_jacobian(robot: Robot, q: ArrayLike) -> tuple[Array, Array]:
    """The tip's pose in the base (4x4) and the geometric Jacobian, in one pass."""
    transform, columns = np.empty((4, 4)), np.empty((6, robot.dof))
    forward_and_jacobian_into(chain_of(robot), robot.joint_vector(q), transform, columns)
    return transform, columns


def joint_frames(robot: Robot, q: ArrayLike) -> Array:
    """The moving joints' frames, then the tip's, in the base: (n + 1, 4, 4).

    The plain composition of the tree's own transforms. Slow, and the reference for the compiled chain.
    """
    values = dict(zip(robot.joint_names, robot.joint_vector(q), strict=True))
    transform = np.linalg.inv(robot.base_frame.pose.matrix())
    frames = []
    for joint in robot.path:
        transform = transform @ joint.origin.matrix()
        if joint.kind is not JointKind.FIXED:
            transform = transform @ joint.motion(values[joint.name]).matrix()
            frames.append(transform)
    frames.append(transform @ robot.tip_frame.pose.matrix())
    return np.array(frames)


def reference_jacobian(robot: Robot, q: ArrayLike) -> Array:
    """The geometric Jacobian from ``joint_frames``, a column at a time; the reference for ``jacobian``."""
    *frames, tip = joint_frames(robot, q)
    columns = []
    for joint, frame in zip(robot.joints, frames, strict=True):
        axis = frame[:3, :3] @ joint.axis
        if joint.kind.turns:
            columns.append(np.concatenate([np.cross(axis, tip[:3, 3] - frame[:3, 3]), axis]))
        else:
            columns.append(np.concatenate([axis, np.zeros(3)]))
    return np.column_stack(columns)
