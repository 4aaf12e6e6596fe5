"""Dynamics on MuJoCo, for cross-checks: the same questions, answered by other code."""

from __future__ import annotations

import copy
from functools import cached_property

import mujoco
import numpy as np
from numpy.typing import ArrayLike

from forearm.dynamics.engine import held_value
from forearm.dynamics.pinocchio_engine import require_joints
from forearm.errors import UnknownName
from forearm.robots.robot import Robot
from forearm.robots.to_mujoco import mujoco_spec
from forearm.spatial import Array

CHRISTOFFEL_STEP = 1e-5
"""Step (rad or m) of the central differences of M: rounding and truncation are both near 1e-10."""

ONE_AXIS = (int(mujoco.mjtJoint.mjJNT_HINGE), int(mujoco.mjtJoint.mjJNT_SLIDE))


class MujocoDynamics:
    """One robot's dynamics on MuJoCo; owns its model and scratch, so use one per thread.

    Without ``model`` it is made from ``robot.held_tree``, without shapes. A given model is copied and
    matched to the robot by joint name; its other joints do not move: they stand where the robot holds
    them, those unknown to it at ``qpos0``. Raises ``UnknownName``.
    """

    name = "mujoco"

    def __init__(self, robot: Robot, model: mujoco.MjModel | None = None) -> None:
        self.robot = robot
        if model is None:
            model = mujoco_spec(robot.held_tree, shapes=False).compile()
        names = [model.joint(index).name for index in range(model.njnt)]
        one_axis = [name for i, name in enumerate(names) if model.jnt_type[i] in ONE_AXIS]
        require_joints(robot, one_axis, "MuJoCo")
        self.model = rigid_bodies_only(model)
        self._data = mujoco.MjData(self.model)
        self._joint_ids = np.array([names.index(name) for name in robot.joint_names])
        self._rows = self.model.jnt_dofadr[self._joint_ids]
        self._block = np.ix_(self._rows, self._rows)
        self._others = np.setdiff1d(np.arange(self.model.nv), self._rows)
        self._addresses = self.model.jnt_qposadr[self._joint_ids]
        self._rest = self.model.qpos0.copy()
        for index, name in enumerate(names):
            held = held_value(robot, name)
            if name in one_axis and held is not None:
                self._rest[self.model.jnt_qposadr[index]] = held

    @cached_property
    def _bodies_and_sites(self) -> tuple[dict[str, int], dict[str, int]]:
        bodies = {self.model.body(index).name: index for index in range(self.model.nbody)}
        sites = {self.model.site(index).name: index for index in range(self.model.nsite)}
        return bodies, sites

    @property
    def frame_names(self) -> tuple[str, ...]:
        bodies, sites = self._bodies_and_sites
        return tuple(name for name in dict.fromkeys((*bodies, *sites)) if name)

    def gravity(self, q: ArrayLike) -> Array:
        return self.bias(q, np.zeros(self.robot.dof))

    def mass_matrix(self, q: ArrayLike) -> Array:
        self._forward(q)
        mass = np.zeros((self.model.nv, self.model.nv))
        mujoco.mj_fullM(self.model, self._data, mass)
        return mass[self._block]

    def bias(self, q: ArrayLike, qd: ArrayLike) -> Array:
        self._forward(q, qd)
        return self._data.qfrc_bias[self._rows]

    def coriolis_matrix(self, q: ArrayLike, qd: ArrayLike) -> Array:
        """From the Christoffel symbols of M, whose derivatives are central differences:

        C_ij = 1/2 Σ_k (∂M_ij/∂q_k + ∂M_ik/∂q_j - ∂M_jk/∂q_i) qd_k
        """
        q = self.robot.joint_vector(q)
        qd = self.robot.joint_vector(qd, "qd")
        slopes = np.zeros((self.robot.dof,) * 3)
        for k, step in enumerate(np.eye(self.robot.dof) * CHRISTOFFEL_STEP):
            slopes[k] = (self.mass_matrix(q + step) - self.mass_matrix(q - step)) / (2.0 * CHRISTOFFEL_STEP)
        along = np.einsum("kij,k->ij", slopes, qd)
        across = np.einsum("jik,k->ij", slopes, qd)
        return 0.5 * (along + across - across.T)

    def inverse_dynamics(self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike) -> Array:
        self._place(q, qd)
        self._data.qacc[:] = 0.0
        self._data.qacc[self._rows] = self.robot.joint_vector(qdd, "qdd")
        mujoco.mj_inverse(self.model, self._data)
        return self._data.qfrc_inverse[self._rows]

    def forward_dynamics(self, q: ArrayLike, qd: ArrayLike, tau: ArrayLike) -> Array:
        tau = self.robot.joint_vector(tau, "tau")
        applied = np.zeros(self.model.nv)
        if self._others.size:
            # mj_forward lets every joint move: the torques that keep the others still come from mj_inverse.
            still = np.linalg.solve(self.mass_matrix(q), tau - self.bias(q, qd))
            self.inverse_dynamics(q, qd, still)
            applied[self._others] = self._data.qfrc_inverse[self._others]
        applied[self._rows] = tau
        self._forward(q, qd, applied)
        return self._data.qacc[self._rows]

    def carried_masses(self) -> Array:
        return self.model.body_subtreemass[self.model.jnt_bodyid[self._joint_ids]]

    def limits(self) -> Array:
        limited = self.model.jnt_limited[self._joint_ids].astype(bool)
        ranges = self.model.jnt_range[self._joint_ids].T
        return np.where(limited, ranges, np.array([[-np.inf], [np.inf]]))

    def frames_in_world(self, q: ArrayLike, names: tuple[str, ...]) -> Array:
        self._forward(q)
        poses = np.tile(np.eye(4), (len(names), 1, 1))
        for pose, name in zip(poses, names, strict=True):
            kind, index = self._frame(name)
            position, rotation = (
                (self._data.xpos, self._data.xmat)
                if kind == "body"
                else (self._data.site_xpos, self._data.site_xmat)
            )
            pose[:3, :3] = rotation[index].reshape(3, 3)
            pose[:3, 3] = position[index]
        return poses

    def axes_in_world(self, q: ArrayLike) -> Array:
        self._forward(q)
        anchors, axes = self._data.xanchor[self._joint_ids], self._data.xaxis[self._joint_ids]
        return np.stack([anchors, axes], axis=1)

    def jacobian(self, q: ArrayLike, frame: str) -> Array:
        self._forward(q)
        kind, index = self._frame(frame)
        linear, angular = np.zeros((2, 3, self.model.nv))
        compute = mujoco.mj_jacBody if kind == "body" else mujoco.mj_jacSite
        compute(self.model, self._data, linear, angular, index)
        return np.vstack([linear, angular])[:, self._rows]

    def _place(self, q: ArrayLike, qd: ArrayLike | None = None) -> None:
        self._data.qpos[:] = self._rest
        self._data.qpos[self._addresses] = self.robot.joint_vector(q)
        self._data.qvel[:] = 0.0
        if qd is not None:
            self._data.qvel[self._rows] = self.robot.joint_vector(qd, "qd")

    def _forward(self, q: ArrayLike, qd: ArrayLike | None = None, applied: Array | None = None) -> None:
        self._place(q, qd)
        self._data.qfrc_applied[:] = 0.0 if applied is None else applied
        mujoco.mj_forward(self.model, self._data)

    def _frame(self, name: str) -> tuple[str, int]:
        bodies, sites = self._bodies_and_sites
        if name in bodies:
            return "body", bodies[name]
        if name in sites:
            return "site", sites[name]
        raise UnknownName("body or site in MuJoCo's model", name, self.frame_names)


def rigid_bodies_only(model: mujoco.MjModel) -> mujoco.MjModel:
    """A copy of ``model`` whose forward and inverse dynamics are M qdd + C qd + g = tau and no more.

    Limits, contacts, dry friction and equalities are constraint forces; springs, dampers, gravity
    compensation and the fluid are passive forces; actuators add their own. None of them is in the
    equation that Pinocchio solves.
    """
    model = copy.copy(model)
    off = mujoco.mjtDisableBit
    for flag in (
        off.mjDSBL_CONSTRAINT,
        off.mjDSBL_CONTACT,
        off.mjDSBL_SPRING,
        off.mjDSBL_DAMPER,
        off.mjDSBL_ACTUATION,
        off.mjDSBL_SENSOR,
    ):
        model.opt.disableflags |= int(flag)
    model.opt.enableflags = 0
    model.opt.density = model.opt.viscosity = 0.0
    model.body_gravcomp[:] = 0.0
    return model
