"""A two-link planar arm that moves in its base's x-y plane; both hinges turn about z."""

from __future__ import annotations

import numpy as np

from forearm.errors import InvalidInput
from forearm.robots.drawing import (
    ALUMINIUM,
    GRAPHITE,
    ORANGE,
    RUBBER,
    SLATE_BLUE,
    STEEL,
    X,
    Z,
    ball,
    barrel,
    dome,
    ring,
    tube,
)
from forearm.robots.solids import capsule, combined, cylinder, moved, sphere
from forearm.robots.tree import Frame, Inertial, Joint, JointKind, Link, Shape, Tree
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
        Link("base", shapes=base_shapes()),
        Link("link1", combined(hub, bar(0, l1_m)), link_shapes(0, l1_m)),
        Link(
            "link2",
            combined(hub, bar(1, l2_m - TOOL_M), tool),
            (*link_shapes(1, l2_m - TOOL_M), tool_ball(l2_m)),
        ),
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


def base_shapes() -> tuple[Shape, ...]:
    """A foot that ends below the plane that the arm moves in, so that the second link passes over it."""
    top_m = -0.5 * HUB_HEIGHT_M - 0.002
    return (
        barrel((top_m - 0.058) * Z, (top_m - 0.050) * Z, 0.075, STEEL),
        barrel((top_m - 0.050) * Z, (top_m - 0.004) * Z, 0.040, GRAPHITE),
        ring((top_m - 0.002) * Z, Z, 0.027, 0.006, RUBBER),
    )


def link_shapes(index: int, length_m: float) -> tuple[Shape, ...]:
    """The hub at the link's joint and its bar along x."""
    top = 0.5 * HUB_HEIGHT_M * Z
    return (
        barrel(-top, top, HUB_RADIUS_M, SLATE_BLUE),
        dome(top, Z, 0.75 * HUB_RADIUS_M, 0.006, ALUMINIUM),
        tube(0.0 * X, length_m * X, LINK_RADIUS_M[index], ALUMINIUM),
    )


def tool_ball(l2_m: float) -> Shape:
    return ball(l2_m * X, TOOL_RADIUS_M, ORANGE)
