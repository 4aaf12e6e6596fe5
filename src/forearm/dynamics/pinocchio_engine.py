"""Dynamics on Pinocchio: RNEA, CRBA, ABA."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from forearm.dynamics.engine import held_value
from forearm.errors import UnknownName, unknown_unless_in
from forearm.robots.robot import Robot
from forearm.robots.to_pinocchio import pinocchio_model
from forearm.spatial import Array


class PinocchioDynamics:
    """One robot's dynamics on Pinocchio; owns its model and scratch, so use one per thread.

    Without ``model`` it is made from ``robot.held_tree``. A given model is matched to the robot by
    joint name; its other joints do not move: they stand where the robot holds them. Raises
    ``UnknownName``.
    """

    name = "pinocchio"

    def __init__(self, robot: Robot, model: pin.Model | None = None) -> None:
        self.robot = robot
        if model is None:
            model = pinocchio_model(robot.held_tree)
        require_joints(robot, list(model.names)[1:])
        self.model = model
        self._data = self.model.createData()
        self._joint_ids = [self.model.getJointId(name) for name in robot.joint_names]
        self._columns = np.array([self.model.joints[i].idx_v for i in self._joint_ids])
        self._block = np.ix_(self._columns, self._columns)
        self._others = np.setdiff1d(np.arange(model.nv), self._columns)
        self._rest = pin.integrate(model, pin.neutral(model), resting_tangent(model, robot))

    @cached_property
    def _frame_ids(self) -> dict[str, int]:
        # A joint may share its link's name, and then has a frame of its own: only links and tools count.
        ids: dict[str, int] = {}
        for kind in (pin.FrameType.BODY, pin.FrameType.OP_FRAME):
            for index, frame in enumerate(self.model.frames):
                if frame.type == kind:
                    ids.setdefault(frame.name, index)
        return ids

    @property
    def frame_names(self) -> tuple[str, ...]:
        return tuple(self._frame_ids)

    def gravity(self, q: ArrayLike) -> Array:
        torque = pin.computeGeneralizedGravity(self.model, self._data, self._configuration(q))
        return torque[self._columns]

    def mass_matrix(self, q: ArrayLike) -> Array:
        return pin.crba(self.model, self._data, self._configuration(q), pin.Convention.WORLD)[self._block]

    def bias(self, q: ArrayLike, qd: ArrayLike) -> Array:
        torque = pin.nle(self.model, self._data, self._configuration(q), self._tangent(qd, "qd"))
        return torque[self._columns]

    def coriolis_matrix(self, q: ArrayLike, qd: ArrayLike) -> Array:
        configuration, velocity = self._configuration(q), self._tangent(qd, "qd")
        return pin.computeCoriolisMatrix(self.model, self._data, configuration, velocity)[self._block]

    def inverse_dynamics(self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike) -> Array:
        configuration, velocity = self._configuration(q), self._tangent(qd, "qd")
        torque = pin.rnea(self.model, self._data, configuration, velocity, self._tangent(qdd, "qdd"))
        return torque[self._columns]

    def forward_dynamics(self, q: ArrayLike, qd: ArrayLike, tau: ArrayLike) -> Array:
        configuration, velocity = self._configuration(q), self._tangent(qd, "qd")
        torque = self._tangent(tau, "tau")
        if self._others.size:
            # ABA lets every joint move: the torques that keep the others still come from RNEA.
            still = np.linalg.solve(self.mass_matrix(q), torque[self._columns] - self.bias(q, qd))
            holding = pin.rnea(self.model, self._data, configuration, velocity, self._tangent(still, "qdd"))
            torque[self._others] = holding[self._others]
        return pin.aba(self.model, self._data, configuration, velocity, torque)[self._columns]

    def carried_masses(self) -> Array:
        pin.computeSubtreeMasses(self.model, self._data)
        return np.array([self._data.mass[i] for i in self._joint_ids])

    def limits(self) -> Array:
        found = np.array([[-np.inf], [np.inf]]).repeat(self.robot.dof, axis=1)
        for column, joint_id in enumerate(self._joint_ids):
            joint = self.model.joints[joint_id]
            if joint.nq == 1:  # An unbounded joint has two coordinates, and the bounds of a cosine.
                found[0, column] = self.model.lowerPositionLimit[joint.idx_q]
                found[1, column] = self.model.upperPositionLimit[joint.idx_q]
        return found

    def frames_in_world(self, q: ArrayLike, names: tuple[str, ...]) -> Array:
        pin.framesForwardKinematics(self.model, self._data, self._configuration(q))
        return np.array([self._data.oMf[self._frame_id(name)].homogeneous for name in names])

    def axes_in_world(self, q: ArrayLike) -> Array:
        pin.computeJointJacobians(self.model, self._data, self._configuration(q))
        axes = np.zeros((self.robot.dof, 2, 3))
        for row, (joint_id, turns) in enumerate(zip(self._joint_ids, self.robot.turns, strict=True)):
            jacobian = pin.getJointJacobian(
                self.model, self._data, joint_id, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
            )
            column = two_dimensional(jacobian)[:, self.model.joints[joint_id].idx_v]
            axes[row] = self._data.oMi[joint_id].translation, column[3:] if turns else column[:3]
        return axes

    def jacobian(self, q: ArrayLike, frame: str) -> Array:
        jacobian = pin.computeFrameJacobian(
            self.model,
            self._data,
            self._configuration(q),
            self._frame_id(frame),
            pin.ReferenceFrame.LOCAL_WORLD_ALIGNED,
        )
        return two_dimensional(jacobian)[:, self._columns]

    def _configuration(self, q: ArrayLike) -> Array:
        """``q`` in the model's coordinates: its joint order, and (cos, sin) for an unbounded joint."""
        return pin.integrate(self.model, self._rest, self._tangent(q, "q"))

    def _tangent(self, values: ArrayLike, what: str) -> Array:
        tangent = np.zeros(self.model.nv)
        tangent[self._columns] = self.robot.joint_vector(values, what)
        return tangent

    def _frame_id(self, name: str) -> int:
        unknown_unless_in("link or frame in Pinocchio's model", name, self.frame_names)
        return self._frame_ids[name]


def require_joints(robot: Robot, names: list[str], engine: str = "Pinocchio") -> None:
    """Raise ``UnknownName``, with both sides' names, unless the engine's model has all of the chain's."""
    for joint in robot.joint_names:
        if joint not in names:
            chain = ", ".join(robot.joint_names)
            raise UnknownName(
                f"joint in {engine}'s model",
                joint,
                names,
                f"Joints are matched by name; the chain of {robot.name} has: {chain}.",
            )


def resting_tangent(model: pin.Model, robot: Robot) -> Array:
    """The values (rad or m) of the joints outside the chain, zero elsewhere."""
    tangent = np.zeros(model.nv)
    for name, joint in zip(model.names, model.joints, strict=True):
        if name not in robot.joint_names and joint.nv == 1:
            tangent[joint.idx_v] = held_value(robot, name) or 0.0
    return tangent


def two_dimensional(jacobian: Array) -> Array:
    """(6, nv), which Pinocchio gives back as (6,) for a model of one joint."""
    return jacobian.reshape(6, -1)
