"""MJCF models, compiled by MuJoCo after ``mjcf_scan`` has made them safe.

Meshes are given to the compiler only where a body's mass is inferred from them: nothing else about a
robot depends on them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree.ElementTree import Element, tostring

import mujoco
import numpy as np

from forearm.errors import ModelError, shown
from forearm.robots.mjcf_scan import Document, mechanism, scan
from forearm.robots.mjcf_tree import Drawn, tree_of
from forearm.robots.safe_xml import Folders, read_bytes
from forearm.robots.tree import Tree

MAX_MESH_BYTES = 32 * 2**20
"""Of all meshes together that masses are inferred from."""
STAND_IN_KG = 1e-6
"""Given to a body whose mass is unknown, so that the compiler takes it."""
NEEDS_FILE = (mujoco.mjtGeom.mjGEOM_MESH, mujoco.mjtGeom.mjGEOM_SDF, mujoco.mjtGeom.mjGEOM_HFIELD)


def read_mjcf(root: Element, source: str, folders: Folders) -> Tree:
    """The tree of a ``<mujoco>`` element. Raises ``ModelError``, with MuJoCo's own words if it refuses."""
    document = scan(root, folders)
    try:
        spec = mujoco.MjSpec.from_string(tostring(mechanism(root), "unicode"))
        require_ordered_limits(spec, source)
        spec.compiler.fusestatic = False
        spec.compiler.discardvisual = False
        effort = effort_by_joint(spec)
        for actuator in list(spec.actuators):
            spec.delete(actuator)
        meshes = settle_meshes(spec, document)
        model = spec.compile()
    except (ValueError, mujoco.FatalError) as error:
        raise ModelError(source, f"MuJoCo refuses it: {one_line(error, document)}") from None
    require_finite_model(model, source)
    return tree_of(
        model,
        name=root.get("model") or Path(source).stem,
        source=source,
        effort=effort,
        drawn={geom.id: drawn for geom, drawn in meshes.drawn},
        without_mass=frozenset(body.id for body in meshes.without_mass),
        warnings=(*missing_warnings(document), *mass_warnings(meshes, source)),
    )


def require_ordered_limits(spec: mujoco.MjSpec, source: str) -> None:
    """MuJoCo takes a range whose ends are swapped for no range at all."""
    for joint in spec.joints:
        lower, upper = joint.range
        if lower > upper:
            raise ModelError(source, f"joint {shown(joint.name)} has lower limit above upper limit")


def one_line(error: Exception, document: Document) -> str:
    text = " ".join(str(error).split())
    for own_name, path in document.meshes.items():
        if path is not None:
            text = text.replace(own_name, path.name)
    return text[:300].rstrip(".")


@dataclass
class Meshes:
    drawn: list[tuple[mujoco.MjsGeom, Drawn | None]] = field(default_factory=list)
    without_mass: list[mujoco.MjsBody] = field(default_factory=list)


def settle_meshes(spec: mujoco.MjSpec, document: Document) -> Meshes:
    """Keep the mesh geoms that a mass depends on; a small massless sphere takes the others' place."""
    meshes = Meshes()
    by_name = {mesh.name: mesh for mesh in spec.meshes}
    content: dict[str, bytes] = {}
    kept: set[str] = set()
    for body, geom in mesh_geoms(spec):
        mesh = by_name.get(geom.meshname)
        path = document.meshes.get(mesh.file) if mesh is not None else None
        meshes.drawn.append((geom, drawn_by(geom, mesh, path)))
        if carries_mass(spec, body, geom):
            if mesh is not None and supply(mesh, path, content):
                kept.add(mesh.name)
                # Without contacts there is no convex hull to find, which is what takes long.
                geom.contype = geom.conaffinity = 0
                continue
            meshes.without_mass.append(body)
        stand_in(geom, STAND_IN_KG if body in meshes.without_mass else 0.0)
    for site in list(spec.sites):
        # MuJoCo moves these to the centre of their mesh, which need not be there.
        if site.type in NEEDS_FILE:
            spec.delete(site)
    for name, mesh in by_name.items():
        if name not in kept:
            spec.delete(mesh)
    spec.assets = content
    return meshes


def mesh_geoms(spec: mujoco.MjSpec) -> Iterator[tuple[mujoco.MjsBody, mujoco.MjsGeom]]:
    for body in spec.bodies:
        for geom in body.geoms:
            if geom.meshname or geom.type in NEEDS_FILE:
                yield body, geom


def drawn_by(geom: mujoco.MjsGeom, mesh: mujoco.MjsMesh | None, path: Path | None) -> Drawn | None:
    if mesh is None or path is None or geom.type != mujoco.mjtGeom.mjGEOM_MESH or not unmoved(mesh):
        return None
    return Drawn(path, tuple(mesh.scale.tolist()), bool(geom.contype or geom.conaffinity))


def unmoved(mesh: mujoco.MjsMesh) -> bool:
    """Whether the geom's frame is the mesh file's own."""
    return not np.any(mesh.refpos) and bool(np.allclose(mesh.refquat, (1.0, 0.0, 0.0, 0.0)))


def carries_mass(spec: mujoco.MjSpec, body: mujoco.MjsBody, geom: mujoco.MjsGeom) -> bool:
    """Whether the compiler would infer part of the body's mass from ``geom``."""
    inferred = spec.compiler.inertiafromgeom
    if inferred == mujoco.mjtInertiaFromGeom.mjINERTIAFROMGEOM_FALSE or body == spec.worldbody:
        return False
    if body.explicitinertial and inferred == mujoco.mjtInertiaFromGeom.mjINERTIAFROMGEOM_AUTO:
        return False
    first, last = spec.compiler.inertiagrouprange
    massless = geom.mass == 0.0 or (np.isnan(geom.mass) and geom.density == 0.0)
    hfield = geom.type == mujoco.mjtGeom.mjGEOM_HFIELD
    return first <= geom.group <= last and not massless and not hfield


def supply(mesh: mujoco.MjsMesh, path: Path | None, content: dict[str, bytes]) -> bool:
    """Read the mesh into ``content``; False if there is nothing to read, or too much."""
    if mesh.file in content or (not mesh.file and len(mesh.uservert)):
        return True
    budget = MAX_MESH_BYTES - sum(map(len, content.values()))
    if path is None or path.stat().st_size > budget:
        return False
    content[mesh.file] = read_bytes(path, str(path), budget)
    return True


def stand_in(geom: mujoco.MjsGeom, mass_kg: float) -> None:
    geom.type = mujoco.mjtGeom.mjGEOM_SPHERE
    geom.size = [0.001, 0.0, 0.0]
    geom.fromto = np.full(6, np.nan)
    geom.meshname = geom.hfieldname = ""
    geom.mass = mass_kg


def effort_by_joint(spec: mujoco.MjSpec) -> dict[str, float]:
    """The most that a joint's actuators can exert on it (N·m or N), where all of them are bounded."""
    effort: dict[str, float] = {}
    for actuator in spec.actuators:
        if actuator.trntype in (mujoco.mjtTrn.mjTRN_JOINT, mujoco.mjtTrn.mjTRN_JOINTINPARENT):
            bound = force_bound(actuator, bool(spec.compiler.autolimits)) * abs(actuator.gear[0])
            effort[actuator.target] = effort.get(actuator.target, 0.0) + bound
    return {joint: bound for joint, bound in effort.items() if 0.0 < bound < np.inf}


def force_bound(actuator: mujoco.MjsActuator, autolimits: bool) -> float:
    """The bound that the force range gives; for a plain motor, also the control range."""
    if in_force(actuator.forcelimited, actuator.forcerange, autolimits):
        return float(np.abs(actuator.forcerange).max())
    plain = (
        actuator.gaintype == mujoco.mjtGain.mjGAIN_FIXED
        and actuator.biastype == mujoco.mjtBias.mjBIAS_NONE
        and actuator.dyntype == mujoco.mjtDyn.mjDYN_NONE
    )
    if plain and in_force(actuator.ctrllimited, actuator.ctrlrange, autolimits):
        return float(abs(actuator.gainprm[0]) * np.abs(actuator.ctrlrange).max())
    return np.inf


def in_force(limited: mujoco.mjtLimited, bounds: np.ndarray, autolimits: bool) -> bool:
    if limited == mujoco.mjtLimited.mjLIMITED_AUTO:
        return autolimits and bool(np.any(bounds))
    return bool(limited == mujoco.mjtLimited.mjLIMITED_TRUE)


def require_finite_model(model: mujoco.MjModel, source: str) -> None:
    """Finite numbers can still overflow inside the compiler."""
    for name in ("body_pos", "body_quat", "body_mass", "body_inertia", "jnt_axis", "jnt_pos", "qpos0"):
        if not np.isfinite(getattr(model, name)).all():
            raise ModelError(source, f"its numbers overflow: {name} is not finite once compiled")


def missing_warnings(document: Document) -> list[str]:
    if not document.missing:
        return []
    names = list(dict.fromkeys(document.missing))
    more = f" and {len(names) - 5} more" if len(names) > 5 else ""
    return [
        f"{document.source}: cannot use file {', '.join(map(shown, names[:5]))}{more}: missing, or of a kind "
        "that is not read. Kinematics do not need it."
    ]


def mass_warnings(meshes: Meshes, source: str) -> list[str]:
    names = list(dict.fromkeys(body.name or "(unnamed)" for body in meshes.without_mass))
    if not names:
        return []
    more = f" and {len(names) - 5} more" if len(names) > 5 else ""
    return [
        f"{source}: masses are incomplete. The mass of {', '.join(map(shown, names[:5]))}{more} comes from a "
        "mesh that cannot be used. Do not trust dynamics."
    ]
