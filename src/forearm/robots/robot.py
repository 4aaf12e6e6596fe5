"""``Robot``: one serial chain, from a base to a tip, inside a tree. Frozen; it holds no scratch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from forearm.errors import InvalidInput, ModelError, UnknownName, UnsupportedJoint, shown, unknown_unless_in
from forearm.robots.frozen import FrozenMap
from forearm.robots.tips import find_tip
from forearm.robots.tree import WORLD, Frame, Joint, JointKind, Tree, resting_value
from forearm.spatial import MAX_LENGTH_M, Array, Pose, finite_vector, frozen_array

MAX_CHAIN_JOINTS = 30


@dataclass(frozen=True, eq=False, repr=False)
class Robot:
    """A serial chain of revolute, continuous and prismatic joints from ``base`` to ``tip``.

    Joint vectors ``q`` list the chain's moving joints from base to tip. Every other joint of the
    tree is held: at its entry in ``held``, else at rest. Make one with ``forearm.load``.
    """

    tree: Tree
    base: str
    tip: str
    joints: tuple[Joint, ...]
    held: Mapping[str, float]

    def __post_init__(self) -> None:
        object.__setattr__(self, "held", FrozenMap(self.held))

    def __reduce__(self) -> tuple[Any, ...]:
        # Without what is cached: the arrays would come back writeable.
        return type(self), (self.tree, self.base, self.tip, self.joints, self.held)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name}: {self.dof} joints from {self.base} to {self.tip}>"

    @property
    def name(self) -> str:
        return self.tree.name

    @property
    def dof(self) -> int:
        return len(self.joints)

    @property
    def joint_names(self) -> tuple[str, ...]:
        return tuple(joint.name for joint in self.joints)

    @cached_property
    def lower(self) -> Array:
        """Lower limits (rad or m), -inf for a continuous joint."""
        return frozen_array([joint.lower for joint in self.joints])

    @cached_property
    def upper(self) -> Array:
        """Upper limits (rad or m), inf for a continuous joint."""
        return frozen_array([joint.upper for joint in self.joints])

    @cached_property
    def max_speed(self) -> Array:
        """Speed limits (rad/s or m/s)."""
        return frozen_array([joint.max_speed for joint in self.joints])

    @cached_property
    def max_effort(self) -> Array:
        """Effort limits (N·m or N)."""
        return frozen_array([joint.max_effort for joint in self.joints])

    @cached_property
    def turns(self) -> tuple[bool, ...]:
        """For each joint, whether it rotates (else it slides)."""
        return tuple(joint.kind.turns for joint in self.joints)

    @property
    def task(self) -> str:
        """What a target means unless said otherwise.

        ``"position"`` for arms that say so and for chains of fewer than four joints, else ``"pose"``.
        """
        return self.tree.task or ("pose" if self.dof > 3 else "position")

    @cached_property
    def held_tree(self) -> Tree:
        """The tree with everything welded but this chain: what both engines' models are made from."""
        return self.tree.holding(self.joint_names, self.held)

    @cached_property
    def base_frame(self) -> Frame:
        return require_frame(self.tree, self.base)

    @cached_property
    def tip_frame(self) -> Frame:
        return require_frame(self.tree, self.tip)

    @cached_property
    def path(self) -> tuple[Joint, ...]:
        """The joints from base to tip, those that are held welded."""
        path = self.held_tree.path(self.base_frame.link, self.tip_frame.link)
        if path is None:
            raise ModelError(
                self.tree.source, f"tip {shown(self.tip)} does not lie below base {shown(self.base)}"
            )
        return path

    @cached_property
    def base_in_world(self) -> Pose:
        """The base frame in the world, which is where every target is given unless a frame is named."""
        return self.tree.root_in_world @ self.frame_in_ancestor(self.tree.root, self.base)

    @cached_property
    def postures(self) -> Mapping[str, Array]:
        """Named joint vectors: the model's own, and ``zeros`` (as near to zero as the limits let)."""
        rest = {joint.name: resting_value(joint) for joint in self.joints}
        found = {"zeros": frozen_array(list(rest.values()))}
        for name, values in self.tree.postures.items():
            found[name] = frozen_array([values.get(joint, rest[joint]) for joint in self.joint_names])
        return FrozenMap(found)

    @property
    def home(self) -> Array:
        """The posture called ``home``; without one, the middle of the limits."""
        if "home" in self.postures:
            return self.postures["home"]
        return frozen_array(
            [
                0.5 * (joint.lower + joint.upper) if np.isfinite(joint.lower + joint.upper) else 0.0
                for joint in self.joints
            ]
        )

    def posture(self, name: str) -> Array:
        unknown_unless_in(f"posture of {self.name}", name, tuple(self.postures))
        return self.postures[name]

    def joint_vector(self, values: ArrayLike, what: str = "q") -> Array:
        """``values`` checked to be one finite number a joint."""
        names = ", ".join(self.joint_names)
        try:
            return finite_vector(values, self.dof, what)
        except InvalidInput as error:
            raise InvalidInput(what, error.problem, f"Give {self.dof} numbers: {names}.") from None

    def frame_in_ancestor(self, ancestor_link: str, name: str) -> Pose:
        """The frame ``name`` in a link above it, all joints between them held."""
        frame = require_frame(self.tree, name)
        joints = self.held_tree.path(ancestor_link, frame.link)
        if joints is None:
            raise InvalidInput("frame", f"{shown(name)} is not below {shown(ancestor_link)}")
        moving = next((joint.name for joint in joints if joint.kind is not JointKind.FIXED), None)
        if moving is not None:
            raise InvalidInput(
                "frame",
                f"{shown(name)} moves with joint {shown(moving)}",
                "Give a target in a frame that stands still.",
            )
        pose = Pose.identity()
        for joint in joints:
            pose = pose @ joint.origin
        return pose @ frame.pose

    def target_in_base(self, target: Pose, frame: str | None) -> Pose:
        """A target given in ``frame`` (None: the base; ``"world"``; or any frame that stands still)."""
        if frame is None:
            return target
        unknown_unless_in("frame", frame, (WORLD, *self.tree.frame_names()))
        # The world comes first: a root link may bear its name and stand elsewhere.
        if frame == WORLD:
            return self.base_in_world.inverse() @ target
        if frame == self.base:
            return target
        frame_in_world = self.tree.root_in_world @ self.frame_in_ancestor(self.tree.root, frame)
        return self.base_in_world.inverse() @ frame_in_world @ target


def chain_in(
    tree: Tree,
    base: str | None = None,
    tip: str | None = None,
    joints: tuple[str, ...] | None = None,
    held: Mapping[str, float] | None = None,
) -> Robot:
    """The ``Robot`` from ``base`` to ``tip`` in ``tree``.

    With ``joints``, only those move; the chain's others are held at ``held`` or at rest. Raises
    ``UnknownName``, ``UnsupportedJoint`` or ``ModelError``, always naming what is in the way.
    """
    base = (tree.base or tree.root) if base is None else base
    base_link = require_frame(tree, base).link
    tip = (tree.tip or find_tip(tree, base_link)) if tip is None else tip
    tip_frame = require_frame(tree, tip)
    path = tree.path(base_link, tip_frame.link)
    if path is None:
        raise ModelError(tree.source, f"tip {shown(tip)} does not lie below base {shown(base)}")

    held = held_values(held)
    joint_by_name = {joint.name: joint for joint in tree.joints}
    for name, value in held.items():
        unknown_unless_in("joint to hold", name, tuple(joint_by_name))
        require_holdable(joint_by_name[name], value)
    movable = [joint for joint in path if joint.kind is not JointKind.FIXED and joint.name not in held]
    if joints is not None:
        names = tuple(joint.name for joint in movable)
        for name in joints:
            unknown_unless_in("chain joint", name, names)
        movable = [joint for joint in movable if joint.name in joints]

    for joint in movable:
        require_supported(tree, joint)
    if not movable:
        raise ModelError(tree.source, f"no joint moves between base {shown(base)} and tip {shown(tip)}")
    if len(movable) > MAX_CHAIN_JOINTS:
        raise ModelError(
            tree.source,
            f"the chain from {shown(base)} to {shown(tip)} has {len(movable)} moving joints; "
            f"the most is {MAX_CHAIN_JOINTS}",
            "Choose a shorter chain with base= and tip=, or name the moving ones with joints=.",
        )
    return Robot(tree, base, tip, tuple(movable), held)


def held_values(held: Any) -> dict[str, float]:
    """``hold=`` as names and numbers, or ``InvalidInput``."""
    if held is None:
        return {}
    how = "Give joint names with a number (rad or m) each."
    if not isinstance(held, Mapping):
        raise InvalidInput("hold", f"is a {type(held).__name__}", how)
    for name, value in held.items():
        if isinstance(value, bool) or not isinstance(value, Real):
            raise InvalidInput(f"held joint {shown(name)}", f"is given {shown(value)}", how)
    return {name: float(value) for name, value in held.items()}


def require_frame(tree: Tree, name: str) -> Frame:
    frame = tree.frame(name) if isinstance(name, str) else None
    if frame is None:
        raise UnknownName("link or frame", name, tree.frame_names())
    return frame


def require_holdable(joint: Joint, value: float) -> None:
    if not joint.kind.moves_along_one_axis:
        raise InvalidInput(f"joint {shown(joint.name)}", f"is {joint.kind}: it cannot be held at a value")
    if not abs(value) <= MAX_LENGTH_M or not joint.lower <= value <= joint.upper:
        raise InvalidInput(
            f"held joint {shown(joint.name)}",
            f"at {value} is outside its limits [{joint.lower:.6g}, {joint.upper:.6g}]",
        )


def require_supported(tree: Tree, joint: Joint) -> None:
    if joint.loop is not None:
        raise UnsupportedJoint(tree.source, joint.loop, "a closed loop through the constraint")
    if joint.mimics is not None:
        raise UnsupportedJoint(tree.source, joint.name, "mimic joint")
    if not joint.kind.moves_along_one_axis:
        raise UnsupportedJoint(tree.source, joint.name, f"{joint.kind} joint")
