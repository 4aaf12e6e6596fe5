"""An arm with a square tool in its hand."""

from __future__ import annotations

from dataclasses import replace

from forearm.robots.drawing import ORANGE, Z, block
from forearm.robots.robot import Robot, chain_in
from forearm.robots.solids import box, combined, moved
from forearm.robots.tree import Frame
from forearm.spatial import Pose

TOOL_KG = 0.2
TOOL_FRAME = "square_tool"


def with_square_tool(robot: Robot, size_m: tuple[float, float, float]) -> Robot:
    """``robot`` holding a block of ``size_m`` along its tip's z axis; the tip is the block's far end.

    The block is the last shape of the link that carries the tip.
    """
    tree, hand = robot.tree, robot.tip_frame
    middle, end = (hand.pose @ Pose(share * size_m[2] * Z) for share in (0.5, 1.0))
    solid = moved(box(TOOL_KG, *size_m), middle)
    shape = replace(block(0.0 * Z, size_m, ORANGE), pose=middle)

    def held(link):
        inertial = solid if link.inertial is None else combined(link.inertial, solid)
        return replace(link, inertial=inertial, shapes=(*link.shapes, shape))

    links = tuple(held(link) if link.name == hand.link else link for link in tree.links)
    frames = (*tree.frames, Frame(TOOL_FRAME, hand.link, end))
    with_tool = replace(tree, links=links, frames=frames, tip=TOOL_FRAME)
    return chain_in(with_tool, robot.base, TOOL_FRAME, robot.joint_names, dict(robot.held))
