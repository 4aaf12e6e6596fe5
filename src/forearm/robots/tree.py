"""What a robot is made of: links, joints, frames and shapes in one tree.

A ``Tree`` is the single description from which the kinematic chain, the MuJoCo model and the
Pinocchio model are made. A link's frame is the frame of the joint that carries it, as in URDF:
``child_in_parent(q) = origin · motion(axis, q)``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path

import numpy as np

from forearm.robots.frozen import FrozenMap
from forearm.spatial import Array, Pose, frozen_array, rotation_exp

WORLD = "world"
"""The name by which the world is asked for as a frame, and MuJoCo's own name for it."""


class JointKind(StrEnum):
    REVOLUTE = "revolute"
    CONTINUOUS = "continuous"
    PRISMATIC = "prismatic"
    FIXED = "fixed"
    # Read from a model so that they can be named when refused; held at rest outside the chain.
    FREE = "free"
    BALL = "ball"
    PLANAR = "planar"

    @property
    def turns(self) -> bool:
        return self in (JointKind.REVOLUTE, JointKind.CONTINUOUS)

    @property
    def moves_along_one_axis(self) -> bool:
        return self.turns or self is JointKind.PRISMATIC


@dataclass(frozen=True, eq=False, slots=True)
class Inertial:
    """Mass (kg), centre of mass (m) and inertia about it (kg·m²), in the axes of the link's frame."""

    mass_kg: float
    center_of_mass_m: Array
    inertia_kgm2: Array

    def __post_init__(self) -> None:
        object.__setattr__(self, "center_of_mass_m", frozen_array(self.center_of_mass_m))
        object.__setattr__(self, "inertia_kgm2", frozen_array(self.inertia_kgm2))


@dataclass(frozen=True, eq=False, slots=True)
class Shape:
    """A drawn body in a link's frame.

    ``size_m``: sphere (radius,), capsule and cylinder (radius, half length along z), box (three half
    lengths), mesh (three scale factors).
    """

    kind: str
    size_m: tuple[float, ...]
    pose: Pose = field(default_factory=Pose.identity)
    rgba: tuple[float, float, float, float] = (0.7, 0.7, 0.72, 1.0)
    collides: bool = True
    mesh: Path | None = None


@dataclass(frozen=True, eq=False, slots=True)
class Link:
    name: str
    inertial: Inertial | None = None
    shapes: tuple[Shape, ...] = ()


@dataclass(frozen=True, eq=False, slots=True)
class Joint:
    """A joint between two links. Lengths in m, angles in rad, efforts in N·m or N.

    ``origin`` is the child's frame in the parent's at q = 0; ``axis`` is a unit vector in the child's
    frame. ``damping`` (N·m·s/rad), ``friction`` (N·m) and ``armature`` (kg·m²) act at the joint.
    """

    name: str
    kind: JointKind
    parent: str
    child: str
    origin: Pose = field(default_factory=Pose.identity)
    axis: Array = field(default_factory=lambda: np.array([0.0, 0.0, 1.0]))
    lower: float = -np.inf
    upper: float = np.inf
    max_speed: float = np.inf
    max_effort: float = np.inf
    damping: float = 0.0
    friction: float = 0.0
    armature: float = 0.0
    mimics: str | None = None
    loop: str | None = None
    """The name of a constraint that closes a loop over this joint, if there is one."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "axis", frozen_array(self.axis))
        # NumPy's own scalars warn about sums of infinities, which stand for "no limit" here.
        object.__setattr__(self, "lower", float(self.lower))
        object.__setattr__(self, "upper", float(self.upper))

    def motion(self, q: float) -> Pose:
        """The joint's own transform at ``q``."""
        if self.kind.turns:
            return Pose.from_rotation((0.0, 0.0, 0.0), rotation_exp(self.axis * q))
        if self.kind is JointKind.PRISMATIC:
            return Pose(self.axis * q)
        return Pose.identity()

    def fixed_at(self, q: float) -> Joint:
        """The same joint welded at ``q``."""
        return replace(
            self, kind=JointKind.FIXED, origin=self.origin @ self.motion(q), mimics=None, loop=None
        )


@dataclass(frozen=True, eq=False, slots=True)
class Frame:
    """A named frame rigidly attached to a link: a MuJoCo site, a tool point, a body's own frame."""

    name: str
    link: str
    pose: Pose = field(default_factory=Pose.identity)


@dataclass(frozen=True, eq=False)
class Tree:
    """Links and joints with one root. Joints stand after the joint that carries their parent."""

    name: str
    source: str
    links: tuple[Link, ...]
    joints: tuple[Joint, ...]
    frames: tuple[Frame, ...] = ()
    root_in_world: Pose = field(default_factory=Pose.identity)
    postures: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """Named postures: joint name to value."""
    servos: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """Built-in position drives: joint name to stiffness (N·m/rad) and damping (N·m·s/rad)."""
    base: str | None = None
    tip: str | None = None
    task: str | None = None
    """What a target means to this arm unless said otherwise: ``"pose"`` or ``"position"``."""
    family: str | None = None
    """The geometry whose branches and singularities have names, such as ``"ur"`` or ``"planar"``."""
    warnings: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        postures = {name: FrozenMap(values) for name, values in self.postures.items()}
        object.__setattr__(self, "postures", FrozenMap(postures))
        object.__setattr__(self, "servos", FrozenMap(self.servos))

    @property
    def root(self) -> str:
        return self.links[0].name

    def link(self, name: str) -> Link:
        return next(link for link in self.links if link.name == name)

    def frame(self, name: str) -> Frame | None:
        """The frame called ``name``: a link's own frame or an attached one."""
        if any(link.name == name for link in self.links):
            return Frame(name, name)
        return next((frame for frame in self.frames if frame.name == name), None)

    def frame_names(self) -> tuple[str, ...]:
        return tuple(link.name for link in self.links) + tuple(frame.name for frame in self.frames)

    def path(self, upper_link: str, lower_link: str) -> tuple[Joint, ...] | None:
        """The joints from ``upper_link`` down to ``lower_link``, or None if it does not lie below."""
        above = {joint.child: joint for joint in self.joints}
        joints: list[Joint] = []
        link = lower_link
        while link != upper_link:
            joint = above.get(link)
            if joint is None:
                return None
            joints.append(joint)
            link = joint.parent
        return tuple(reversed(joints))

    def with_root(self, root_in_world: Pose) -> Tree:
        """The same robot standing elsewhere."""
        return replace(self, root_in_world=root_in_world)

    def with_frame(self, frame: Frame) -> Tree:
        return replace(self, frames=(*self.frames, frame))

    def holding(self, moving: Iterable[str], values: Mapping[str, float]) -> Tree:
        """The tree with every joint welded but those named in ``moving``.

        A welded joint stays at its entry in ``values``, else at rest.
        """
        kept = set(moving)
        joints = tuple(
            joint if joint.name in kept else joint.fixed_at(values.get(joint.name, resting_value(joint)))
            for joint in self.joints
        )
        return replace(self, joints=joints)


def resting_value(joint: Joint) -> float:
    """The value in the joint's range that is nearest to zero."""
    return float(np.clip(0.0, joint.lower, joint.upper))
