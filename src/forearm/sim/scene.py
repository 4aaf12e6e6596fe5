"""Scenes: an arm with its drives, what stands around it, and the plant that a controller is told of."""

from __future__ import annotations

from dataclasses import dataclass

import mujoco
import numpy as np

from forearm.control.gains import BANDWIDTH_RAD_S, mass_matrix
from forearm.control.plant import ActuatorKind, Actuators, Plant, actuator_kind
from forearm.errors import ForearmError, UnknownName
from forearm.robots.robot import Robot
from forearm.robots.to_mujoco import mujoco_spec
from forearm.spatial import Array

DEFAULT_STEP_S = 0.002
OBSTACLE_GROUP = 0


@dataclass(frozen=True, eq=False, slots=True)
class Block:
    """A box that stands still in the world."""

    name: str
    center_m: tuple[float, float, float]
    half_size_m: tuple[float, float, float]
    rgba: tuple[float, float, float, float] = (0.62, 0.5, 0.38, 1.0)


@dataclass(frozen=True, eq=False, slots=True)
class Scene:
    """A compiled scene. ``model`` is what happens; ``plant`` is what the controller believes."""

    robot: Robot
    model: mujoco.MjModel
    plant: Plant
    blocks: tuple[Block, ...]

    @property
    def dt_s(self) -> float:
        return float(self.model.opt.timestep)


def scene_spec(
    robot: Robot,
    drive: ActuatorKind | str,
    blocks: tuple[Block, ...] = (),
    dt_s: float = DEFAULT_STEP_S,
) -> mujoco.MjSpec:
    """The arm with one actuator a joint, its torque limited, among ``blocks``.

    The integrator is ``implicitfast``: a servo's damping over a joint's small inertia would make an
    explicit step of 2 ms unstable. States that blow up are kept, not reset, so that they are seen.
    """
    drive = actuator_kind(drive)
    spec = mujoco_spec(robot.held_tree)
    spec.option.timestep = dt_s
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    spec.option.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_AUTORESET)
    for block in blocks:
        spec.worldbody.add_geom(
            name=block.name,
            type=mujoco.mjtGeom.mjGEOM_BOX,
            pos=list(block.center_m),
            size=list(block.half_size_m),
            rgba=list(block.rgba),
            group=OBSTACLE_GROUP,
        )
    kp, kd = servo_gains(robot)
    for index, joint in enumerate(robot.joints):
        actuator = spec.add_actuator(
            name=joint.name,
            target=joint.name,
            trntype=mujoco.mjtTrn.mjTRN_JOINT,
            forcelimited=bool(np.isfinite(joint.max_effort)),
            forcerange=[-joint.max_effort, joint.max_effort] if np.isfinite(joint.max_effort) else [0.0, 0.0],
        )
        if drive is ActuatorKind.SERVO:
            actuator.biastype = mujoco.mjtBias.mjBIAS_AFFINE
            actuator.gainprm[0] = kp[index]
            actuator.biasprm[1], actuator.biasprm[2] = -kp[index], -kd[index]
    return spec


def servo_gains(robot: Robot) -> tuple[Array, Array]:
    """The arm's own drives; without any, critically damped ones at 20 rad/s for its inertia at home."""
    servos = robot.tree.servos
    if all(name in servos for name in robot.joint_names):
        gains = np.array([servos[name] for name in robot.joint_names])
        return gains[:, 0], gains[:, 1]
    zeros = np.zeros(robot.dof)
    nothing = Actuators(ActuatorKind.MOTOR, zeros, zeros, robot.max_effort)
    inertia = np.diag(mass_matrix(Plant(robot, nothing, DEFAULT_STEP_S, zeros, zeros), robot.home))
    return BANDWIDTH_RAD_S**2 * inertia, 2.0 * BANDWIDTH_RAD_S * inertia


def build_scene(
    robot: Robot,
    drive: ActuatorKind | str,
    blocks: tuple[Block, ...] = (),
    dt_s: float = DEFAULT_STEP_S,
) -> Scene:
    """The scene as it is believed to be; ``disturbed`` makes the real one differ."""
    model = scene_spec(robot, drive, blocks, dt_s).compile()
    return Scene(robot, model, read_plant(robot, model), blocks)


class UnknownActuators(ForearmError):
    """The scene's actuators are none that a controller here can drive."""

    def __init__(self, joint: str, problem: str) -> None:
        self.joint, self.problem = joint, problem
        super().__init__(
            f"joint {joint!r}: {problem}. Each joint needs one motor (gain 1, no bias) or one position servo."
        )


def read_plant(robot: Robot, model: mujoco.MjModel) -> Plant:
    """What the model says of its actuators and its integrator, joint by joint; nothing is assumed."""
    dofs = np.array([model.jnt_dofadr[model.joint(name).id] for name in robot.joint_names])
    kinds, kp, kd = [], np.zeros(robot.dof), np.zeros(robot.dof)
    effort = np.full(robot.dof, np.inf)
    for index, name in enumerate(robot.joint_names):
        actuator = actuator_of(model, name)
        gain, bias = float(model.actuator_gainprm[actuator, 0]), model.actuator_biasprm[actuator]
        if model.actuator_biastype[actuator] == mujoco.mjtBias.mjBIAS_NONE and gain == 1.0:
            kinds.append(ActuatorKind.MOTOR)
        elif model.actuator_biastype[actuator] == mujoco.mjtBias.mjBIAS_AFFINE and bias[1] == -gain < 0.0:
            kinds.append(ActuatorKind.SERVO)
            kp[index], kd[index] = gain, -bias[2]
        else:
            raise UnknownActuators(name, f"its actuator has gain {gain:g} and bias {bias[:3].tolist()}")
        if model.actuator_forcelimited[actuator]:
            effort[index] = model.actuator_forcerange[actuator, 1]
    if len(set(kinds)) > 1:
        raise UnknownActuators(robot.joint_names[0], "motors and servos are mixed")
    damping = model.dof_damping[dofs].copy()
    implicit = model.opt.integrator == mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    return Plant(
        robot=robot,
        actuators=Actuators(kinds[0], kp, kd, effort),
        dt_s=float(model.opt.timestep),
        damping=damping,
        # Euler takes joint damping implicitly, implicitfast the actuators' damping too.
        lag=damping + kd if implicit else damping,
    )


def actuator_of(model: mujoco.MjModel, joint: str) -> int:
    """The one actuator of a joint."""
    joint_id = model.joint(joint).id
    found = [
        index
        for index in range(model.nu)
        if model.actuator_trntype[index] == mujoco.mjtTrn.mjTRN_JOINT
        and model.actuator_trnid[index, 0] == joint_id
    ]
    if len(found) != 1:
        raise UnknownActuators(joint, f"it has {len(found)} actuators")
    return found[0]


def tip_body(scene: Scene) -> int:
    """The body that carries the tip."""
    try:
        return int(scene.model.body(scene.robot.tip_frame.link).id)
    except KeyError:
        raise UnknownName("body", scene.robot.tip_frame.link, ()) from None
