"""The MuJoCo model of a tree."""

from __future__ import annotations

import mujoco
import numpy as np

from forearm.robots.tree import Inertial, Joint, JointKind, Link, Shape, Tree
from forearm.spatial import Pose, quaternion_from_rotation

MASSLESS = 1e-12
"""Mass (kg) and inertia (kg·m²) given to moving bodies without them, so that the model compiles.

Above MuJoCo's least of 1e-15 and far below anything that a result is held to.
"""

GEOM = {
    "sphere": mujoco.mjtGeom.mjGEOM_SPHERE,
    "capsule": mujoco.mjtGeom.mjGEOM_CAPSULE,
    "cylinder": mujoco.mjtGeom.mjGEOM_CYLINDER,
    "box": mujoco.mjtGeom.mjGEOM_BOX,
    "ellipsoid": mujoco.mjtGeom.mjGEOM_ELLIPSOID,
    "mesh": mujoco.mjtGeom.mjGEOM_MESH,
}


def mujoco_spec(tree: Tree, shapes: bool = True) -> mujoco.MjSpec:
    """Build ``tree`` as an ``MjSpec``: one body a link, one joint a moving joint, one site a frame.

    The root link is a body at ``root_in_world``; called "world", at the origin, it is MuJoCo's own world
    body, and elsewhere a body without that name, which MuJoCo reserves. Inertias are given explicitly,
    never inferred from the shapes.
    """
    spec = mujoco.MjSpec()
    spec.modelname = tree.name
    spec.compiler.degree = False
    spec.compiler.autolimits = False
    spec.compiler.boundmass = MASSLESS if has_massless_links(tree) else 0.0
    spec.compiler.boundinertia = spec.compiler.boundmass
    bodies = {tree.root: root_body(spec, tree)}
    for joint in tree.joints:
        body = bodies[joint.parent].add_body(name=joint.child, **placement(joint.origin))
        bodies[joint.child] = body
        if joint.kind.moves_along_one_axis:
            add_joint(body, joint)

    for link in tree.links:
        body = bodies[link.name]
        if link.inertial is not None and link.inertial.mass_kg > 0.0:
            add_inertial(body, link.inertial)
        for index, shape in enumerate(link.shapes if shapes else ()):
            add_shape(spec, body, shape, f"{link.name}_{index}")
    for frame in tree.frames:
        bodies[frame.link].add_site(
            name=frame.name, size=[0.004, 0.004, 0.004], group=5, **placement(frame.pose)
        )
    return spec


def root_body(spec: mujoco.MjSpec, tree: Tree) -> mujoco.MjsBody:
    if tree.root != "world":
        return spec.worldbody.add_body(name=tree.root, **placement(tree.root_in_world))
    if np.allclose(tree.root_in_world.matrix(), np.eye(4), rtol=0.0, atol=1e-15):
        return spec.worldbody
    return spec.worldbody.add_body(**placement(tree.root_in_world))


def placement(pose: Pose) -> dict[str, list[float]]:
    return {"pos": pose.position_m.tolist(), "quat": pose.quaternion_wxyz.tolist()}


def add_joint(body: mujoco.MjsBody, joint: Joint) -> None:
    slides = joint.kind is JointKind.PRISMATIC
    limited = bool(np.isfinite(joint.lower) and np.isfinite(joint.upper))
    # The compiler refuses an empty range, which URDF allows.
    upper = max(joint.upper, joint.lower + 1e-9)
    body.add_joint(
        name=joint.name,
        type=mujoco.mjtJoint.mjJNT_SLIDE if slides else mujoco.mjtJoint.mjJNT_HINGE,
        axis=joint.axis.tolist(),
        limited=limited,
        range=[joint.lower, upper] if limited else [0.0, 0.0],
        damping=[joint.damping, 0.0, 0.0],
        frictionloss=joint.friction,
        armature=joint.armature,
    )


def add_inertial(body: mujoco.MjsBody, inertial: Inertial) -> None:
    """Principal moments and axes are found here: the compiler's own tolerance is only 1e-6.

    The compiler refuses moments a + b < c down to the last digit, which a thin rod's rounding can
    break: the largest is lowered to the sum.
    """
    moments, axes = np.linalg.eigh(inertial.inertia_kgm2)
    moments = np.maximum(moments, 0.0)
    moments[2] = min(moments[2], moments[0] + moments[1])
    if np.linalg.det(axes) < 0.0:
        axes[:, 0] = -axes[:, 0]
    body.explicitinertial = True
    body.mass = inertial.mass_kg
    body.ipos = inertial.center_of_mass_m
    body.iquat = quaternion_from_rotation(axes)
    body.inertia = moments


def add_shape(spec: mujoco.MjSpec, body: mujoco.MjsBody, shape: Shape, name: str) -> None:
    size = [*shape.size_m, 0.0, 0.0][:3]
    geom = {
        "name": name,
        "type": GEOM[shape.kind],
        "rgba": list(shape.rgba),
        "contype": int(shape.collides),
        "conaffinity": int(shape.collides),
        "mass": 0.0,
        "group": 0 if shape.collides else 2,
        **placement(shape.pose),
    }
    if shape.kind == "mesh":
        spec.add_mesh(
            name=name, file=str(shape.mesh), scale=size, inertia=mujoco.mjtMeshInertia.mjMESH_INERTIA_SHELL
        )
        body.add_geom(meshname=name, **geom)
    else:
        body.add_geom(size=size, **geom)


def has_massless_links(tree: Tree) -> bool:
    """Whether a link on a moving joint has no mass or no inertia of its own."""
    moving = {joint.child for joint in tree.joints if joint.kind.moves_along_one_axis}
    return any(link.name in moving and not is_massive(link) for link in tree.links)


def massless_joints(tree: Tree) -> tuple[str, ...]:
    """Moving joints that carry no mass or no inertia at all, so that their dynamics are undefined.

    A joint may well carry a link without mass, as between the two axes of a universal joint: what
    counts is everything beyond it.
    """
    massive = {link.name for link in tree.links if is_massive(link)}
    for joint in reversed(tree.joints):
        if joint.child in massive:
            massive.add(joint.parent)
    return tuple(
        joint.name for joint in tree.joints if joint.kind.moves_along_one_axis and joint.child not in massive
    )


def is_massive(link: Link) -> bool:
    body = link.inertial
    return body is not None and body.mass_kg > 0.0 and bool(body.inertia_kgm2.any())
