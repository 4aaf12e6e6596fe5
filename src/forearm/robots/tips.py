"""The end of an arm, found where the model does not say it."""

from __future__ import annotations

import re
from collections.abc import Mapping

from forearm.errors import ModelError, shown
from forearm.robots.tree import Joint, JointKind, Tree

TOOL_NAMES = (
    "tool",
    "tool0",
    "tcp",
    "flange",
    "ee_link",
    "link_eef",
    "end_effector",
    "gripper_frame_link",
    "hand",
    "ee",
    "attachment_site",
)
"""Names of end frames, in order of preference, used when a chain ends in several frames."""

GRIPPER = re.compile(r"gripper|finger|jaw|claw|knuckle|thumb", re.IGNORECASE)
MOST_JOINTS_OF_A_FINGER = 5


def find_tip(tree: Tree, base_link: str) -> str:
    """The end of the one chain below ``base_link``.

    At a branch the chain goes on along the arm: the branch that is more than twice as long as every
    other, or the only one with more than one joint (others are wheels, a head, a quadruped's legs). It
    ends where only single joints follow, if there are several or a gripper's by its name; and where a
    hand begins: several branches of at most five joints, after four joints or more. Any other two
    branches are ambiguous.
    """
    children: dict[str, list[Joint]] = {}
    for joint in tree.joints:
        children.setdefault(joint.parent, []).append(joint)
    depth: dict[str, int] = {}
    for joint in reversed(tree.joints):
        below = max((depth[child.child] for child in children.get(joint.child, [])), default=0)
        depth[joint.child] = below + (joint.kind is not JointKind.FIXED)

    link, passed = base_link, 0
    while True:
        branches = [joint for joint in children.get(link, []) if depth[joint.child] > 0]
        longest = max((depth[joint.child] for joint in branches), default=0)
        arms = [joint for joint in branches if depth[joint.child] >= max(0.5 * longest, min(longest, 2))]
        if len(arms) > 1 and longest > (MOST_JOINTS_OF_A_FINGER if passed >= 4 else 1):
            raise ModelError(
                tree.source,
                f"several chains start at {shown(link)}: "
                + ", ".join(shown(joint.child) for joint in arms[:8]),
                "Choose the end of the chain with tip=.",
            )
        if len(arms) != 1 or (longest == 1 and passed > 2 and opens_a_gripper(arms[0], children)):
            return end_frame(tree, link, children)
        link = arms[0].child
        passed += arms[0].kind is not JointKind.FIXED


def opens_a_gripper(joint: Joint, children: Mapping[str, list[Joint]]) -> bool:
    """Whether the one moving joint at or below ``joint`` is a gripper's, by its name."""
    queue = [joint]
    while queue:
        joint = queue.pop()
        if joint.kind is not JointKind.FIXED:
            return bool(GRIPPER.search(joint.name) or GRIPPER.search(joint.child))
        queue += children.get(joint.child, [])
    return False


def end_frame(tree: Tree, link: str, children: Mapping[str, list[Joint]]) -> str:
    """The tool frame fixed to ``link``: one with a tool's name, else the only leaf, else the link."""
    fixed, queue = [link], [link]
    while queue:
        for joint in children.get(queue.pop(), []):
            if joint.kind is JointKind.FIXED:
                fixed.append(joint.child)
                queue.append(joint.child)
    sites = [frame.name for frame in tree.frames if frame.link in fixed]
    for name in TOOL_NAMES:
        for candidate in (*fixed, *sites):
            if candidate == name or candidate.endswith("_" + name):
                return candidate
    leaves = [name for name in fixed if not children.get(name)]
    return leaves[0] if len(leaves) == 1 and not sites else link
