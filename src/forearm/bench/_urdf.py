"""A robot's chain as a URDF of its own: what peers that read files are told."""

from __future__ import annotations

import math
from collections.abc import Iterable
from pathlib import Path
from xml.etree.ElementTree import Element, ElementTree, SubElement, indent

from forearm.robots.robot import Robot
from forearm.robots.tree import Joint, JointKind
from forearm.spatial import Array, Pose, rotation_y, rotation_z

BASE, TIP = "base", "tip"
MASS_KG, INERTIA_KGM2 = 1.0, 0.01
"""Of every moving link: MuJoCo and Drake refuse bodies that weigh nothing."""


def write_chain_urdf(robot: Robot, path: Path) -> None:
    """Write the chain from ``base`` to ``tip``: its moving joints, and one fixed joint to the tip.

    Where the base stands in its link, and what is held, is folded into the origins. The model's own names
    stay out of it: they come from a file that anybody may have written, and some peers write code from them.
    """
    root = Element("robot", name="chain")
    # Without an inertial: KDL, and so TRAC-IK, warns of a root that has one.
    SubElement(root, "link", name=BASE)
    link, pending, number = BASE, robot.base_frame.pose.inverse(), 0
    for joint in robot.path:
        pending = pending @ joint.origin
        if joint.kind is JointKind.FIXED:
            continue
        number += 1
        parent, link = link, f"link{number}"
        add_link(root, link)
        add_limits(add_joint(root, f"joint{number}", urdf_kind(joint), parent, link, pending), joint)
        pending = Pose.identity()
    SubElement(root, "link", name=TIP)
    add_joint(root, "to_tip", "fixed", link, TIP, pending @ robot.tip_frame.pose)
    indent(root)
    ElementTree(root).write(path, encoding="utf-8", xml_declaration=True)


def add_link(root: Element, name: str) -> None:
    inertial = SubElement(SubElement(root, "link", name=name), "inertial")
    SubElement(inertial, "mass", value=repr(MASS_KG))
    moment = repr(INERTIA_KGM2)
    SubElement(inertial, "inertia", ixx=moment, iyy=moment, izz=moment, ixy="0", ixz="0", iyz="0")


def add_joint(root: Element, name: str, kind: str, parent: str, child: str, origin: Pose) -> Element:
    element = SubElement(root, "joint", name=name, type=kind)
    SubElement(element, "parent", link=parent)
    SubElement(element, "child", link=child)
    rpy = roll_pitch_yaw(origin.rotation)
    SubElement(element, "origin", xyz=written(origin.position_m), rpy=written(rpy))
    return element


def add_limits(element: Element, joint: Joint) -> None:
    """The axis and the limits. A speed or effort that is not known is written 0, as exporters do."""
    SubElement(element, "axis", xyz=written(joint.axis))
    known = {"velocity": joint.max_speed, "effort": joint.max_effort}
    limits = {name: repr(float(most)) if math.isfinite(most) else "0" for name, most in known.items()}
    if element.get("type") != JointKind.CONTINUOUS:
        limits |= {"lower": repr(joint.lower), "upper": repr(joint.upper)}
    SubElement(element, "limit", limits)


def urdf_kind(joint: Joint) -> JointKind:
    """A hinge without limits is what URDF calls continuous."""
    endless = joint.kind.turns and math.isinf(joint.lower) and math.isinf(joint.upper)
    return JointKind.CONTINUOUS if endless else joint.kind


def written(numbers: Iterable[float]) -> str:
    """Numbers with all their digits."""
    return " ".join(repr(float(number)) for number in numbers)


def roll_pitch_yaw(rotation: Array) -> tuple[float, float, float]:
    """The angles of R = Rz(yaw) Ry(pitch) Rx(roll).

    Near pitch = ±π/2 rounding decides what yaw is. So yaw and pitch are taken out before the next angle
    is read: whatever they are, the product is R.
    """
    yaw = math.atan2(rotation[1, 0], rotation[0, 0])
    turned = rotation_z(-yaw) @ rotation
    pitch = math.atan2(-turned[2, 0], turned[0, 0])
    rolled = rotation_y(-pitch) @ turned
    return math.atan2(rolled[2, 1], rolled[1, 1]), pitch, yaw
