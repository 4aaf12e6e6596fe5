"""Forward kinematics straight from the tree: the path that shares nothing with chain or engines.

Poses are multiplied as quaternions, joint by joint; slow, and simple enough to be believed.
"""

from __future__ import annotations

import numpy as np

from forearm.robots.robot import Robot
from forearm.spatial import Array, Pose, rotation_log

DIFFERENCE_STEP = 1e-6
"""Step (rad or m) of the central differences: rounding, about 1e-10, outweighs truncation."""


class TreeWalk:
    """Places every link and frame of ``robot``'s tree, its root pose included."""

    name = "tree"

    def __init__(self, robot: Robot) -> None:
        self.robot = robot
        self.tree = robot.held_tree

    @property
    def frame_names(self) -> tuple[str, ...]:
        """The links, every one after its parent, then the frames."""
        below = (joint.child for joint in self.tree.joints)
        return (self.tree.root, *below, *(frame.name for frame in self.tree.frames))

    def links_in_world(self, q: Array) -> dict[str, Pose]:
        values = dict(zip(self.robot.joint_names, q, strict=True))
        poses = {self.tree.root: self.tree.root_in_world}
        for joint in self.tree.joints:
            motion = joint.motion(values.get(joint.name, 0.0))
            poses[joint.child] = poses[joint.parent] @ joint.origin @ motion
        return poses

    def frames_in_world(self, q: Array, names: tuple[str, ...]) -> Array:
        """The poses of links or frames in the world, (len(names), 4, 4)."""
        poses = self.links_in_world(q)
        for frame in self.tree.frames:
            poses.setdefault(frame.name, poses[frame.link] @ frame.pose)
        return np.array([poses[name].matrix() for name in names])

    def axes_in_world(self, q: Array) -> Array:
        """A point on each joint's axis (m) and the axis' direction, in the world, (dof, 2, 3)."""
        poses = self.links_in_world(q)
        return np.array(
            [
                (poses[joint.child].position_m, poses[joint.child].rotation @ joint.axis)
                for joint in self.robot.joints
            ]
        )

    def tip_in_world(self, q: Array) -> Pose:
        """The base's pose followed by the path's joints: what ``chain`` compiles, uncompiled."""
        values = dict(zip(self.robot.joint_names, q, strict=True))
        pose = self.robot.base_in_world @ self.robot.base_frame.pose.inverse()
        for joint in self.robot.path:
            pose = pose @ joint.origin @ joint.motion(values.get(joint.name, 0.0))
        return pose @ self.robot.tip_frame.pose

    def jacobian_by_differences(self, q: Array) -> Array:
        """Column j is (p₊ - p₋, log(R₊ R₋ᵀ)) / 2h with q_j ± h, in world axes, (6, dof)."""
        jacobian = np.zeros((6, self.robot.dof))
        for j, step in enumerate(np.eye(self.robot.dof) * DIFFERENCE_STEP):
            after, before = self.tip_in_world(q + step), self.tip_in_world(q - step)
            jacobian[:3, j] = after.position_m - before.position_m
            jacobian[3:, j] = rotation_log(after.rotation @ before.rotation.T)
        return jacobian / (2.0 * DIFFERENCE_STEP)
