"""URDF models, read by our own parser: nothing reaches an engine unchecked."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from xml.etree.ElementTree import Element

import numpy as np

from forearm.errors import ModelError, shown
from forearm.robots.safe_xml import Folders
from forearm.robots.solids import full_tensor
from forearm.robots.tree import Inertial, Joint, JointKind, Link, Tree
from forearm.robots.urdf_shapes import MeshFinder, read_shapes
from forearm.robots.xml_numbers import number, numbers
from forearm.spatial import Pose

MAX_JOINTS = 500
KINDS = {
    "revolute": JointKind.REVOLUTE,
    "continuous": JointKind.CONTINUOUS,
    "prismatic": JointKind.PRISMATIC,
    "fixed": JointKind.FIXED,
    "floating": JointKind.FREE,
    "planar": JointKind.PLANAR,
}
NEGATIVE_INERTIA_KGM2 = 1e-6
"""How negative a principal moment may be: some real robots' small parts have one, by a misprint."""
GROSS_TRIANGLE = 1.01
"""The largest principal moment may exceed the sum of the others by this factor without a warning."""


def read_urdf(robot: Element, source: str, folders: Folders) -> Tree:
    """The tree of a ``<robot>`` element. Raises ``ModelError`` that names the offending part."""
    link_elements, joint_elements = robot.findall("link"), robot.findall("joint")
    if len(joint_elements) > MAX_JOINTS:
        raise ModelError(source, f"has {len(joint_elements)} joints; the most is {MAX_JOINTS}")
    if expandable := next((e.tag for e in robot.iter() if e.tag.startswith("xacro:")), None):
        raise ModelError(source, f"holds <{expandable}>", "Expand it first: xacro FILE > robot.urdf")
    meshes = MeshFinder(folders)
    materials = {m.get("name", ""): m for m in robot.findall("material") if m.find("color") is not None}
    meshes.check(robot)
    links = [
        Link(name, read_inertial(link, source), read_shapes(link, source, materials, meshes))
        for link, name in zip(link_elements, names_of(link_elements, source), strict=True)
    ]
    names_of(joint_elements, source)
    joints = [read_joint(element, source) for element in joint_elements]
    require_known_names(links, joints, source)
    ordered = in_tree_order([link.name for link in links], joints, source)
    first = ordered[0].parent if ordered else links[0].name
    links.sort(key=lambda link: link.name != first)
    return Tree(
        name=robot.get("name") or "robot",
        source=source,
        links=tuple(links),
        joints=ordered,
        warnings=(*limit_warnings(joints, source), *inertia_warnings(links, source), *meshes.warnings()),
    )


def names_of(elements: Iterable[Element], source: str) -> list[str]:
    """The elements' names, each there and each once."""
    names = [element.get("name", "") for element in elements]
    kind = "joint" if any(element.tag == "joint" for element in elements) else "link"
    if "" in names:
        raise ModelError(source, f"{kind} number {names.index('') + 1} has no name")
    name, times = Counter(names).most_common(1)[0] if names else ("", 1)
    if times > 1:
        raise ModelError(source, f"{times} {kind}s are called {shown(name)}", "Names must be unique.")
    return names


def read_joint(element: Element, source: str) -> Joint:
    name = element.get("name", "")
    where = f"joint {shown(name)}"
    kind = KINDS.get(element.get("type", ""))
    if kind is None:
        given = shown(element.get("type", ""))
        raise ModelError(source, f"{where} has type {given}; valid: {', '.join(KINDS)}")
    lower, upper, max_speed, max_effort = read_limit(element, kind, where, source)
    dynamics = element.find("dynamics")
    mimic = element.find("mimic")
    return Joint(
        name=name,
        kind=kind,
        parent=link_name(element, "parent", where, source),
        child=link_name(element, "child", where, source),
        origin=read_origin(element, where, source),
        axis=read_axis(element, kind, where, source),
        lower=lower,
        upper=upper,
        max_speed=max_speed,
        max_effort=max_effort,
        damping=number(dynamics, "damping", where, source, default=0.0, least=0.0),
        friction=number(dynamics, "friction", where, source, default=0.0, least=0.0),
        mimics=None if mimic is None else mimic.get("joint", ""),
    )


def link_name(element: Element, role: str, where: str, source: str) -> str:
    end = element.find(role)
    if end is None or not end.get("link"):
        raise ModelError(source, f"{where} names no {role} link")
    return end.get("link", "")


def read_origin(element: Element, where: str, source: str) -> Pose:
    origin = element.find("origin")
    position_m = numbers(origin, "xyz", 3, where, source, default=(0.0, 0.0, 0.0))
    rpy_rad = numbers(origin, "rpy", 3, where, source, default=(0.0, 0.0, 0.0))
    return Pose.from_rpy(position_m, rpy_rad)


def read_axis(element: Element, kind: JointKind, where: str, source: str) -> np.ndarray:
    """The unit axis; URDF's default is x. Fixed and floating joints have none."""
    if kind in (JointKind.FIXED, JointKind.FREE):
        return np.array([0.0, 0.0, 1.0])
    axis = np.array(numbers(element.find("axis"), "xyz", 3, where, source, default=(1.0, 0.0, 0.0)))
    length = float(np.linalg.norm(axis))
    if length < 1e-9:
        raise ModelError(source, f"{where} has a zero axis")
    return axis / length


def read_limit(
    element: Element, kind: JointKind, where: str, source: str
) -> tuple[float, float, float, float]:
    """Lower, upper, speed and effort. URDF asks for a <limit> on revolute and prismatic joints.

    A speed or effort of 0 is what exporters write for "unknown": it limits nothing here.
    """
    limit = element.find("limit")
    bounded = kind in (JointKind.REVOLUTE, JointKind.PRISMATIC)
    if limit is None and bounded:
        raise ModelError(
            source, f"{where} is {kind} and has no <limit>", "Add one, or make the joint continuous."
        )
    lower, upper = -math.inf, math.inf
    if bounded:
        lower = number(limit, "lower", where, source, default=0.0, most=math.inf)
        upper = number(limit, "upper", where, source, default=0.0, most=math.inf)
    if lower > upper:
        raise ModelError(source, f"{where} has lower limit {lower:.6g} above upper limit {upper:.6g}")
    max_speed = number(limit, "velocity", where, source, default=0.0, least=0.0, most=math.inf)
    max_effort = number(limit, "effort", where, source, default=0.0, least=0.0, most=math.inf)
    return lower, upper, max_speed or math.inf, max_effort or math.inf


def read_inertial(link: Element, source: str) -> Inertial | None:
    element = link.find("inertial")
    if element is None:
        return None
    where = f"inertial of link {shown(link.get('name', ''))}"
    mass_kg = number(element.find("mass"), "value", where, source, least=0.0)
    tensor = element.find("inertia")
    entries = [
        number(tensor, name, where, source, default=0.0)
        for name in ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")
    ]
    inertia = full_tensor(*entries)
    moments = np.linalg.eigvalsh(inertia)
    if moments[0] < -NEGATIVE_INERTIA_KGM2 or inertia.diagonal().min() < -1e-12:
        raise ModelError(source, f"{where} has a negative inertia, {moments[0]:.6g} kg m^2")
    origin = read_origin(element, where, source)
    turn = origin.rotation
    return Inertial(mass_kg, origin.position_m, turn @ inertia @ turn.T)


def inertia_warnings(links: Iterable[Link], source: str) -> list[str]:
    """One line about principal moments that no solid body has: a + b < c."""
    names = []
    for link in links:
        if link.inertial is not None:
            smallest, middle, largest = np.linalg.eigvalsh(link.inertial.inertia_kgm2)
            if largest > GROSS_TRIANGLE * (smallest + middle) + 1e-12:
                names.append(link.name)
    if not names:
        return []
    return [
        f"{source}: no solid body has the inertia given for {listed(names)} (principal moments a + b < c). "
        "MuJoCo refuses such, and is given a + b for c."
    ]


def limit_warnings(joints: Iterable[Joint], source: str) -> list[str]:
    """One line about joints that cannot move, most often because their limits were left out."""
    names = [joint.name for joint in joints if joint.kind.moves_along_one_axis and joint.lower == joint.upper]
    if not names:
        return []
    return [f"{source}: lower and upper limit are equal, so nothing moves, at joint {listed(names)}."]


def listed(names: list[str], most: int = 8) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(shown(name) for name in names[:most]) + more


def require_known_names(links: list[Link], joints: list[Joint], source: str) -> None:
    if not links:
        raise ModelError(source, "has no links")
    link_names = {link.name for link in links}
    carrier: dict[str, str] = {}
    for joint in joints:
        for role, name in (("parent", joint.parent), ("child", joint.child)):
            if name not in link_names:
                raise ModelError(source, f"joint {shown(joint.name)} has unknown {role} link {shown(name)}")
        if joint.child in carrier:
            raise ModelError(
                source,
                f"link {shown(joint.child)} is the child of two joints, "
                f"{shown(carrier[joint.child])} and {shown(joint.name)}",
            )
        carrier[joint.child] = joint.name


def in_tree_order(link_names: list[str], joints: list[Joint], source: str) -> tuple[Joint, ...]:
    """The joints, parents first. Raises ``ModelError`` unless there is one root that all hang from."""
    children: dict[str, list[Joint]] = {}
    for joint in joints:
        children.setdefault(joint.parent, []).append(joint)
    carried = {joint.child for joint in joints}
    roots = [name for name in link_names if name not in carried]
    if len(roots) > 1:
        raise ModelError(
            source, f"has {len(roots)} root links: {listed(roots)}", "Join them to one tree with joints."
        )
    ordered: list[Joint] = []
    pending = [joint for root in roots for joint in reversed(children.get(root, []))]
    while pending:
        joint = pending.pop()
        ordered.append(joint)
        pending += reversed(children.get(joint.child, []))
    if len(ordered) < len(joints):
        hanging = {joint.name for joint in ordered}
        loop = cycle_in([joint for joint in joints if joint.name not in hanging])
        raise ModelError(source, f"links form a cycle: {listed(loop)}")
    return tuple(ordered)


def cycle_in(joints: list[Joint]) -> list[str]:
    """The links of a cycle; every link here has one parent, so walking up ends in one."""
    parent = {joint.child: joint.parent for joint in joints}
    seen: list[str] = []
    link = joints[0].child
    while link not in seen:
        seen.append(link)
        link = parent[link]
    return seen[seen.index(link) :]
