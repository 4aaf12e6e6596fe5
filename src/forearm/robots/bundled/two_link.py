"""A two-link planar arm that moves in its base's x-y plane; both hinges turn about z."""

from __future__ import annotations

import numpy as np

from forearm.errors import InvalidInput
from forearm.robots.solids import capsule, combined, cylinder, moved, sphere
from forearm.robots.tree import Frame, Inertial, Joint, JointKind, Link, Tree
from forearm.spatial import Pose

SUMMARY = "planar arm, 2 joints; two_link(l1, l2) sets the lengths"

L1_M = 0.3
L2_M = 0.315
TOOL_M = 0.015
"""How far the tool's ball sits past the second link's end; part of ``l2``."""
LINK_MASS_KG = (1.0, 0.7)
LINK_RADIUS_M = (0.022, 0.018)
HUB_MASS_KG = 0.1
HUB_RADIUS_M = 0.03
HUB_HEIGHT_M = 0.05
TOOL_MASS_KG = 0.05
TOOL_RADIUS_M = 0.012
LIMIT_RAD = 3.14
MAX_TORQUE_NM = 5.0
MAX_SPEED_RAD_S = 2.0 * np.pi


def describe(l1_m: float = L1_M, l2_m: float = L2_M) -> Tree:
    """``l1_m`` is joint to joint, ``l2_m`` joint to tool point: reach |l1 - l2| to l1 + l2."""
    for name, length in (("l1", l1_m), ("l2", l2_m)):
        if not 2.0 * TOOL_M <= length <= 10.0:
            raise InvalidInput(name, f"is {length} m", f"Give a length between {2.0 * TOOL_M} and 10 m.")
    hub = cylinder(HUB_MASS_KG, HUB_RADIUS_M, HUB_HEIGHT_M)
    tool = moved(sphere(TOOL_MASS_KG, TOOL_RADIUS_M), Pose((l2_m, 0.0, 0.0)))
    links = (
        Link("base"),
        Link("link1", combined(hub, bar(0, l1_m))),
        Link("link2", combined(hub, bar(1, l2_m - TOOL_M), tool)),
    )
    joints = tuple(
        Joint(
            name=name,
            kind=JointKind.REVOLUTE,
            parent=parent,
            child=child,
            origin=Pose((x_m, 0.0, 0.0)),
            lower=-LIMIT_RAD,
            upper=LIMIT_RAD,
            max_speed=MAX_SPEED_RAD_S,
            max_effort=MAX_TORQUE_NM,
            damping=0.1,
            armature=0.01,
        )
        for name, parent, child, x_m in (
            ("shoulder", "base", "link1", 0.0),
            ("elbow", "link1", "link2", l1_m),
        )
    )
    return Tree(
        name="two_link",
        source="two_link",
        links=links,
        joints=joints,
        frames=(Frame("tool", "link2", Pose((l2_m, 0.0, 0.0))),),
        postures={"home": {"shoulder": 0.0, "elbow": np.pi / 2}},
        tip="tool",
        task="position",
        family="planar",
    )


def bar(index: int, length_m: float) -> Inertial:
    """A link's capsule, from its joint along x."""
    along_x = Pose.from_rpy((0.5 * length_m, 0.0, 0.0), (0.0, np.pi / 2, 0.0))
    return moved(capsule(LINK_MASS_KG[index], LINK_RADIUS_M[index], length_m), along_x)
