"""The Pinocchio model of a tree."""

from __future__ import annotations

import pinocchio as pin

from forearm.robots.tree import Inertial, Joint, JointKind, Tree
from forearm.spatial import Pose


def pinocchio_model(tree: Tree) -> pin.Model:
    """Build ``tree`` in Pinocchio: joints and frames under the tree's own names, welded ones included.

    Continuous joints become one-parameter joints without limits, so that ``q`` means the same
    everywhere. Armature and damping are carried over.
    """
    model = pin.Model()
    model.name = tree.name
    # Where each link sits: the Pinocchio joint that moves it, and its pose in that joint's frame.
    placed: dict[str, tuple[int, Pose]] = {tree.root: (0, tree.root_in_world)}
    moving: list[tuple[int, Joint]] = []
    for joint in tree.joints:
        parent_id, parent_pose = placed[joint.parent]
        origin = parent_pose @ joint.origin
        if not joint.kind.moves_along_one_axis:
            placed[joint.child] = (parent_id, origin)
            continue
        joint_id = model.addJoint(parent_id, joint_model(joint), se3(origin), joint.name)
        placed[joint.child] = (joint_id, Pose.identity())
        moving.append((joint_id, joint))

    for link in tree.links:
        joint_id, pose = placed[link.name]
        if link.inertial is not None:
            model.appendBodyToJoint(joint_id, inertia(link.inertial), se3(pose))
        model.addFrame(pin.Frame(link.name, joint_id, se3(pose), pin.FrameType.BODY))
    for frame in tree.frames:
        joint_id, pose = placed[frame.link]
        model.addFrame(pin.Frame(frame.name, joint_id, se3(pose @ frame.pose), pin.FrameType.OP_FRAME))

    for joint_id, joint in moving:
        index = model.joints[joint_id].idx_v
        model.armature[index] = joint.armature
        model.damping[index] = joint.damping
        model.lowerPositionLimit[index] = joint.lower
        model.upperPositionLimit[index] = joint.upper
        model.lowerVelocityLimit[index], model.upperVelocityLimit[index] = -joint.max_speed, joint.max_speed
        model.lowerEffortLimit[index], model.upperEffortLimit[index] = -joint.max_effort, joint.max_effort
    return model


def joint_model(joint: Joint) -> pin.JointModel:
    if joint.kind is JointKind.PRISMATIC:
        return pin.JointModelPrismaticUnaligned(joint.axis)
    return pin.JointModelRevoluteUnaligned(joint.axis)


def se3(pose: Pose) -> pin.SE3:
    return pin.SE3(pose.rotation, pose.position_m.copy())


def inertia(inertial: Inertial) -> pin.Inertia:
    return pin.Inertia(inertial.mass_kg, inertial.center_of_mass_m.copy(), inertial.inertia_kgm2.copy())
