"""A compiled MuJoCo model as a ``Tree``, with joint values that mean what MuJoCo's ``qpos`` means."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import mujoco
import numpy as np

from forearm.robots.tree import WORLD, Frame, Inertial, Joint, JointKind, Link, Shape, Tree
from forearm.robots.urdf_shapes import DRAWABLE
from forearm.spatial import Pose, rotation_from_quaternion

PRIMITIVES = {
    mujoco.mjtGeom.mjGEOM_SPHERE: ("sphere", 1),
    mujoco.mjtGeom.mjGEOM_CAPSULE: ("capsule", 2),
    mujoco.mjtGeom.mjGEOM_CYLINDER: ("cylinder", 2),
    mujoco.mjtGeom.mjGEOM_ELLIPSOID: ("ellipsoid", 3),
    mujoco.mjtGeom.mjGEOM_BOX: ("box", 3),
}
HINGE, SLIDE = int(mujoco.mjtJoint.mjJNT_HINGE), int(mujoco.mjtJoint.mjJNT_SLIDE)
BALL, FREE = int(mujoco.mjtJoint.mjJNT_BALL), int(mujoco.mjtJoint.mjJNT_FREE)
DEFAULT_RGBA = (0.5, 0.5, 0.5, 1.0)
"""What the compiler gives a geom without a colour; its material's colour then holds."""


@dataclass(frozen=True)
class Drawn:
    """The file that a mesh geom draws."""

    path: Path
    scale: tuple[float, ...]
    collides: bool


class Names:
    """Names that stay unique: an unnamed part gets a made-up one, a name taken already a number."""

    def __init__(self) -> None:
        self.taken: set[str] = set()

    def unique(self, name: str, otherwise: str) -> str:
        wanted = name or otherwise
        candidate, number = wanted, 1
        while candidate in self.taken:
            number += 1
            candidate = f"{wanted}_{number}"
        self.taken.add(candidate)
        return candidate


def tree_of(
    model: mujoco.MjModel,
    name: str,
    source: str,
    effort: Mapping[str, float],
    drawn: Mapping[int, Drawn | None],
    without_mass: frozenset[int],
    warnings: tuple[str, ...],
) -> Tree:
    """One link a body under the body's name, one joint a joint, one frame a site. The root is "world".

    A body with several joints, or with a joint that does not act at its origin, hangs from links
    between them that have no mass.
    """
    places = Names()
    bodies = [places.unique(model.body(i).name, f"body_{i}") for i in range(model.nbody)]
    joint_ids = Names()
    joint_names = [joint_ids.unique(model.joint(i).name, f"joint_{i}") for i in range(model.njnt)]
    links = [Link(WORLD, None, shapes_of(model, 0, drawn))]
    joints: list[Joint] = []
    for i in range(1, model.nbody):
        carrying = joints_of(model, i, bodies, joint_names, places, joint_ids)
        links += [Link(joint.child) for joint in carrying[:-1]]
        inertial = None if i in without_mass else inertial_of(model, i)
        links.append(Link(bodies[i], inertial, shapes_of(model, i, drawn)))
        joints += carrying
    constraints = constraints_of(model, joint_names)
    frames = tuple(
        Frame(
            places.unique(model.site(i).name, f"site_{i}"),
            bodies[model.site_bodyid[i]],
            Pose(model.site_pos[i], model.site_quat[i]),
        )
        for i in range(model.nsite)
    )
    return Tree(
        name=name,
        source=source,
        links=tuple(links),
        joints=tuple(finished(joint, effort, constraints.get(joint.name, {})) for joint in joints),
        frames=frames,
        postures=postures_of(model, joint_names),
        base=WORLD,
        warnings=warnings,
    )


def joints_of(
    model: mujoco.MjModel,
    body: int,
    bodies: list[str],
    joint_names: list[str],
    places: Names,
    joint_ids: Names,
) -> list[Joint]:
    """The joints that carry ``body``, the last one's child being the body itself.

    MuJoCo turns a body by q - ref about each joint's anchor p in turn, so that its frame is
    T_body · Π Trans(p) Motion(axis, q - ref) Trans(-p).
    """
    parent = bodies[model.body_parentid[body]]
    origin = Pose(model.body_pos[body], model.body_quat[body])
    first, count = int(model.body_jntadr[body]), int(model.body_jntnum[body])
    joints: list[Joint] = []
    reached_m = np.zeros(3)
    for i in range(first, first + count):
        joint = joint_at(model, i, joint_names[i])
        if model.jnt_type[i] in (HINGE, BALL):
            origin = origin @ Pose(model.jnt_pos[i] - reached_m)
            reached_m = model.jnt_pos[i].copy()
        if joint.kind.moves_along_one_axis:
            origin = origin @ joint.motion(-float(model.qpos0[model.jnt_qposadr[i]]))
        is_last = i == first + count - 1 and not reached_m.any()
        child = bodies[body] if is_last else places.unique(f"{bodies[body]}/{joint.name}", "")
        joints.append(replace(joint, parent=parent, child=child, origin=origin))
        parent, origin = child, Pose.identity()
    if not joints or joints[-1].child != bodies[body]:
        joints.append(
            Joint(
                name=joint_ids.unique(f"{bodies[body]}_fixed", ""),
                kind=JointKind.FIXED,
                parent=parent,
                child=bodies[body],
                origin=origin @ Pose(-reached_m),
            )
        )
    return joints


def joint_at(model: mujoco.MjModel, i: int, name: str) -> Joint:
    """Joint ``i`` by itself; where it hangs is filled in later."""
    if model.jnt_type[i] not in (HINGE, SLIDE):
        free = model.jnt_type[i] == FREE
        return Joint(name, JointKind.FREE if free else JointKind.BALL, "", "")
    limited = bool(model.jnt_limited[i])
    lower, upper = model.jnt_range[i] if limited else (-np.inf, np.inf)
    turning = JointKind.REVOLUTE if limited else JointKind.CONTINUOUS
    dof = model.jnt_dofadr[i]
    bounded = bool(model.jnt_actfrclimited[i])
    return Joint(
        name=name,
        kind=turning if model.jnt_type[i] == HINGE else JointKind.PRISMATIC,
        parent="",
        child="",
        axis=model.jnt_axis[i] / np.linalg.norm(model.jnt_axis[i]),
        lower=float(lower),
        upper=float(upper),
        max_effort=float(np.abs(model.jnt_actfrcrange[i]).max()) if bounded else np.inf,
        damping=float(model.dof_damping[dof]),
        friction=float(model.dof_frictionloss[dof]),
        armature=float(model.dof_armature[dof]),
    )


def finished(joint: Joint, effort: Mapping[str, float], ties: Mapping[str, str]) -> Joint:
    """The joint with what actuators and constraints say about it."""
    max_effort = min(joint.max_effort, effort.get(joint.name, np.inf))
    return replace(joint, max_effort=max_effort, mimics=ties.get("mimics"), loop=ties.get("loop"))


def inertial_of(model: mujoco.MjModel, body: int) -> Inertial | None:
    if model.body_mass[body] == 0.0:
        return None
    axes = rotation_from_quaternion(model.body_iquat[body])
    tensor = axes @ np.diag(model.body_inertia[body]) @ axes.T
    return Inertial(float(model.body_mass[body]), model.body_ipos[body], tensor)


def shapes_of(model: mujoco.MjModel, body: int, drawn: Mapping[int, Drawn | None]) -> tuple[Shape, ...]:
    first = int(model.body_geomadr[body])
    shapes = [shape_of(model, i, drawn) for i in range(first, first + int(model.body_geomnum[body]))]
    return tuple(shape for shape in shapes if shape is not None)


def shape_of(model: mujoco.MjModel, geom: int, drawn: Mapping[int, Drawn | None]) -> Shape | None:
    pose = Pose(model.geom_pos[geom], model.geom_quat[geom])
    rgba = rgba_of(model, geom)
    if geom in drawn:
        mesh_file = drawn[geom]
        if mesh_file is None or mesh_file.path.suffix.lower() not in DRAWABLE:
            return None
        mesh = int(model.geom_dataid[geom])
        if mesh >= 0:
            # The compiler moved the geom to the mesh's centre of mass and principal axes.
            pose = pose @ Pose(model.mesh_pos[mesh], model.mesh_quat[mesh]).inverse()
        return Shape("mesh", mesh_file.scale, pose, rgba, mesh_file.collides, mesh_file.path)
    primitive = PRIMITIVES.get(mujoco.mjtGeom(model.geom_type[geom]))
    if primitive is None:
        return None
    kind, sizes = primitive
    collides = bool(model.geom_contype[geom] or model.geom_conaffinity[geom])
    return Shape(kind, tuple(model.geom_size[geom][:sizes].tolist()), pose, rgba, collides)


def rgba_of(model: mujoco.MjModel, geom: int) -> tuple[float, float, float, float]:
    material = int(model.geom_matid[geom])
    own = tuple(model.geom_rgba[geom].tolist())
    colored = material < 0 or not np.allclose(own, DEFAULT_RGBA)
    red, green, blue, alpha = own if colored else model.mat_rgba[material].tolist()
    return red, green, blue, alpha


def constraints_of(model: mujoco.MjModel, joint_names: list[str]) -> dict[str, dict[str, str]]:
    """For each joint that an active constraint ties: what it mimics, or the loop that it is part of.

    A loop runs through the joints between its two bodies. A weld to a mocap body is a handle for
    dragging, not a loop.
    """
    ties: dict[str, dict[str, str]] = {}
    for i in range(model.neq):
        kind = mujoco.mjtEq(model.eq_type[i])
        name = model.equality(i).name or f"{kind.name.removeprefix('mjEQ_').lower()}_{i}"
        first, second = int(model.eq_obj1id[i]), int(model.eq_obj2id[i])
        if not model.eq_active0[i]:
            continue
        if kind == mujoco.mjtEq.mjEQ_JOINT:
            ties.setdefault(joint_names[first], {})["mimics"] = joint_names[second] if second >= 0 else name
        elif kind in (mujoco.mjtEq.mjEQ_CONNECT, mujoco.mjtEq.mjEQ_WELD):
            if model.eq_objtype[i] == int(mujoco.mjtObj.mjOBJ_SITE):
                first, second = int(model.site_bodyid[first]), int(model.site_bodyid[second])
            if max(model.body_mocapid[first], model.body_mocapid[second]) >= 0:
                continue
            for body in ancestors(model, first) ^ ancestors(model, second):
                start = int(model.body_jntadr[body])
                for joint in range(start, start + int(model.body_jntnum[body])):
                    ties.setdefault(joint_names[joint], {}).setdefault("loop", name)
    return ties


def ancestors(model: mujoco.MjModel, body: int) -> set[int]:
    """``body`` and the bodies above it, but for the world."""
    found: set[int] = set()
    while body != 0:
        found.add(body)
        body = int(model.body_parentid[body])
    return found


def postures_of(model: mujoco.MjModel, joint_names: list[str]) -> dict[str, dict[str, float]]:
    """The keyframes, as joint values."""
    names = Names()
    address = {
        joint_names[i]: int(model.jnt_qposadr[i])
        for i in range(model.njnt)
        if model.jnt_type[i] in (HINGE, SLIDE)
    }
    return {
        names.unique(model.key(i).name, f"key_{i}"): {
            joint: float(model.key_qpos[i][index]) for joint, index in address.items()
        }
        for i in range(model.nkey)
    }
