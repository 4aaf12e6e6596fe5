"""Where the real arm differs from the believed one: load, friction, drives, pushes."""

from __future__ import annotations

import copy
from dataclasses import dataclass

import mujoco
import numpy as np

from forearm.errors import InvalidInput
from forearm.sim.scene import Scene, actuator_of, tip_body


@dataclass(frozen=True, slots=True)
class Disturbance:
    """All zero: the arm is what the controller believes."""

    payload: float = 0.0
    """Mass at the tip, as a share of the arm's moving mass."""
    friction_nm: float = 0.0
    """Dry friction in every joint."""
    gain: float = 0.0
    """Every drive is this share too strong (or too weak, if negative)."""
    push_n: float = 0.0
    """A sideways force on the tip, for half a second in the middle of the run."""
    mass: float = 0.0
    """Every link of the arm, and what it holds, is this share heavier (or lighter, if negative)."""
    effort: float = 1.0
    """The drives give at most this share of their rated torque."""

    def __post_init__(self) -> None:
        for name in ("payload", "friction_nm"):
            value = getattr(self, name)
            if not 0.0 <= value < np.inf:
                raise InvalidInput(f"disturbance {name}", f"is {value}", "Give a finite number, 0 or more.")
        if not -1.0 < self.gain < 10.0:
            raise InvalidInput("disturbance gain", f"is {self.gain}", "Give a share above -1 and below 10.")
        if not -0.9 <= self.mass < 10.0:
            raise InvalidInput("disturbance mass", f"is {self.mass}", "Give a share from -0.9 to 10.")
        if not 0.0 < self.effort <= 10.0:
            raise InvalidInput("disturbance effort", f"is {self.effort}", "Give a share above 0, up to 10.")
        if not np.isfinite(self.push_n):
            raise InvalidInput("disturbance push_n", f"is {self.push_n}", "Give a finite number.")

    @property
    def nothing(self) -> bool:
        nothing_added = not (self.payload or self.friction_nm or self.gain or self.push_n or self.mass)
        return nothing_added and self.effort == 1.0


def disturbed(scene: Scene, disturbance: Disturbance) -> mujoco.MjModel:
    """The model of what really happens; ``scene.plant`` stays what the controller believes.

    Only the arm is disturbed, whatever else moves in the scene.
    """
    model = scene.model
    if disturbance.nothing:
        return model
    changed = copy.copy(model)
    joints = [model.joint(name).id for name in scene.robot.joint_names]
    dofs, drives = model.jnt_dofadr[joints], [actuator_of(model, name) for name in scene.robot.joint_names]
    arm = np.isin(model.body_rootid, model.body_rootid[model.jnt_bodyid[joints]]) & (model.body_weldid > 0)
    changed.body_mass[arm] = model.body_mass[arm] * (1.0 + disturbance.mass)
    changed.body_inertia[arm] = model.body_inertia[arm] * (1.0 + disturbance.mass)
    mass = disturbance.payload * float(model.body_mass[arm].sum())
    if mass:
        add_point_mass(changed, tip_body(scene), mass, scene)
    changed.dof_frictionloss[dofs] = model.dof_frictionloss[dofs] + disturbance.friction_nm
    changed.actuator_gainprm[drives] = model.actuator_gainprm[drives] * (1.0 + disturbance.gain)
    changed.actuator_biasprm[drives] = model.actuator_biasprm[drives] * (1.0 + disturbance.gain)
    changed.actuator_forcerange[drives] = model.actuator_forcerange[drives] * disturbance.effort
    mujoco.mj_setConst(changed, mujoco.MjData(changed))
    return changed


def add_point_mass(model: mujoco.MjModel, body: int, mass_kg: float, scene: Scene) -> None:
    """Put a point mass at the tip: I += m (d·d E - d dᵀ) about the new centre of mass."""
    old_mass, old_center = float(model.body_mass[body]), model.body_ipos[body].copy()
    axes = np.zeros(9)
    mujoco.mju_quat2Mat(axes, model.body_iquat[body])
    turn = axes.reshape(3, 3)
    tensor = turn @ np.diag(model.body_inertia[body]) @ turn.T
    tip = scene.robot.tip_frame.pose.position_m
    mass = old_mass + mass_kg
    center = (old_mass * old_center + mass_kg * tip) / mass
    for share, point in ((old_mass, old_center), (mass_kg, tip)):
        offset = point - center
        tensor = tensor + share * (offset @ offset * np.eye(3) - np.outer(offset, offset))
    moments, vectors = np.linalg.eigh(tensor)
    if np.linalg.det(vectors) < 0.0:
        vectors[:, 0] = -vectors[:, 0]
    quaternion = np.zeros(4)
    mujoco.mju_mat2Quat(quaternion, vectors.ravel())
    model.body_mass[body], model.body_ipos[body] = mass, center
    model.body_inertia[body], model.body_iquat[body] = moments, quaternion
