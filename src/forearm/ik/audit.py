"""Replays of joint vectors in Pinocchio and in MuJoCo, for ``audit=True``.

Models are built once a robot and only read. What an engine writes to is made for each replay, so
that threads never share it.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Protocol

import mujoco
import numpy as np
import pinocchio as pin

from forearm.robots.robot import Robot
from forearm.robots.to_mujoco import mujoco_spec
from forearm.robots.to_pinocchio import pinocchio_model
from forearm.spatial import Array


class Replay(Protocol):
    def tip_matrix(self, q: Array) -> Array:
        """The tip's pose in the base (4x4)."""
        ...


class PinocchioReplay:
    """Forward kinematics by Pinocchio, in a workspace of its own; one thread's."""

    def __init__(self, robot: Robot) -> None:
        self.model, _ = models_of(robot)
        self.data = self.model.createData()
        self.link_id = self.model.getFrameId(robot.tip_frame.link, pin.FrameType.BODY)
        self.tip_in_link = robot.tip_frame.pose.matrix()
        self.world_in_base = robot.base_in_world.inverse().matrix()

    def tip_matrix(self, q: Array) -> Array:
        pin.forwardKinematics(self.model, self.data, q)
        link_in_world = pin.updateFramePlacement(self.model, self.data, self.link_id)
        return self.world_in_base @ link_in_world.homogeneous @ self.tip_in_link


class MujocoReplay:
    """Forward kinematics by MuJoCo, in a workspace of its own; one thread's, never a live simulation's."""

    def __init__(self, robot: Robot) -> None:
        _, self.model = models_of(robot)
        self.data = mujoco.MjData(self.model)
        self.body_id = self.model.body(robot.tip_frame.link).id
        self.tip_in_body = robot.tip_frame.pose.matrix()
        self.world_in_base = robot.base_in_world.inverse().matrix()

    def tip_matrix(self, q: Array) -> Array:
        self.data.qpos[:] = q
        mujoco.mj_kinematics(self.model, self.data)
        body_in_world = np.eye(4)
        body_in_world[:3, :3] = self.data.xmat[self.body_id].reshape(3, 3)
        body_in_world[:3, 3] = self.data.xpos[self.body_id]
        return self.world_in_base @ body_in_world @ self.tip_in_body


@lru_cache(maxsize=8)
def models_of(robot: Robot) -> tuple[pin.Model, mujoco.MjModel]:
    """Both engines' models of ``robot``, built once; nothing writes to them."""
    tree = robot.held_tree
    return pinocchio_model(tree), mujoco_spec(tree, shapes=False).compile()


def replays_of(robot: Robot) -> dict[str, Replay]:
    """Both engines' replays of ``robot``, each with scratch of its own."""
    return {"pinocchio": PinocchioReplay(robot), "mujoco": MujocoReplay(robot)}
