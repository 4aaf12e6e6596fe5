"""Shapes for drawing arms without meshes: tubes, barrels, domes and plates in a link's frame."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from forearm.robots.tree import Frame, Joint, JointKind, Shape, Tree
from forearm.spatial import Array, Pose

Rgba = tuple[float, float, float, float]

ALUMINIUM: Rgba = (0.80, 0.81, 0.825, 1.0)
STEEL: Rgba = (0.50, 0.52, 0.55, 1.0)
GRAPHITE: Rgba = (0.27, 0.285, 0.31, 1.0)
RUBBER: Rgba = (0.09, 0.09, 0.10, 1.0)
WHITE: Rgba = (0.91, 0.92, 0.93, 1.0)
SLATE_BLUE: Rgba = (0.37, 0.51, 0.63, 1.0)
ORANGE: Rgba = (0.95, 0.43, 0.09, 1.0)

X, Y, Z = np.eye(3)

LEAST_SIZE_M = 1e-3
"""What even an arm all of whose origins coincide is drawn to."""


def tube(
    start_m: ArrayLike, end_m: ArrayLike, radius_m: float, rgba: Rgba, *, collides: bool = True
) -> Shape:
    """A capsule whose end spheres are centred on the two points."""
    pose, half_length_m = between(start_m, end_m)
    return Shape("capsule", (radius_m, half_length_m), pose, rgba, collides)


def barrel(
    start_m: ArrayLike, end_m: ArrayLike, radius_m: float, rgba: Rgba, *, collides: bool = True
) -> Shape:
    """A cylinder whose flat faces are centred on the two points."""
    pose, half_length_m = between(start_m, end_m)
    return Shape("cylinder", (radius_m, half_length_m), pose, rgba, collides)


def ring(center_m: ArrayLike, axis: ArrayLike, radius_m: float, width_m: float, rgba: Rgba) -> Shape:
    """A thin disc around a joint; drawn only."""
    center, half = np.asarray(center_m), 0.5 * width_m * np.asarray(axis)
    return barrel(center - half, center + half, radius_m, rgba, collides=False)


def dome(center_m: ArrayLike, axis: ArrayLike, radius_m: float, height_m: float, rgba: Rgba) -> Shape:
    """The rounded cover of a joint: half of it shows above a flat face at ``center_m``; drawn only."""
    center = np.asarray(center_m, dtype=np.float64)
    pose, _ = between(center - np.asarray(axis), center + np.asarray(axis))
    return Shape("ellipsoid", (radius_m, radius_m, height_m), pose, rgba, collides=False)


def ball(center_m: ArrayLike, radius_m: float, rgba: Rgba, *, collides: bool = True) -> Shape:
    return Shape("sphere", (radius_m,), Pose(center_m), rgba, collides)


def block(center_m: ArrayLike, size_m: ArrayLike, rgba: Rgba, *, collides: bool = True) -> Shape:
    """A box along the link's axes; ``size_m`` are its full lengths."""
    x, y, z = 0.5 * np.asarray(size_m, dtype=np.float64)
    return Shape("box", (x, y, z), Pose(center_m), rgba, collides)


def between(start_m: ArrayLike, end_m: ArrayLike) -> tuple[Pose, float]:
    """The frame halfway between two points with z towards the second, and half their distance."""
    start, end = np.asarray(start_m, dtype=np.float64), np.asarray(end_m, dtype=np.float64)
    half = 0.5 * (end - start)
    half_length_m = float(np.linalg.norm(half))
    z = half / half_length_m
    x = np.cross(np.eye(3)[int(np.argmin(np.abs(z)))], z)
    x /= np.linalg.norm(x)
    return Pose.from_rotation(start + half, np.column_stack([x, np.cross(z, x), z])), half_length_m


def with_skeleton(tree: Tree, tip: Frame | None = None) -> Tree:
    """``tree`` with rods drawn between its joints' frames, unless most moving links have shapes already.

    The root gets a foot, a turning joint a barrel along its axis, a sliding one a block, ``tip`` a ball.
    """
    moving = sum(joint.kind.moves_along_one_axis for joint in tree.joints)
    if 2 * sum(bool(link.shapes) for link in tree.links) > moving:
        return tree
    radius_m = 0.022 * size_of(tree, tip)
    shapes: dict[str, list[Shape]] = {link.name: list(link.shapes) for link in tree.links}
    shapes[tree.root].append(barrel(-0.5 * radius_m * Z, 0.0 * Z, 3.0 * radius_m, STEEL, collides=False))
    for joint in tree.joints:
        # Rods to several fingers often coincide, and surfaces that do would flicker.
        slimmer = 0.97 ** len(shapes[joint.parent])
        shapes[joint.parent] += rod(joint.origin.position_m, slimmer * radius_m)
        if joint.kind.moves_along_one_axis:
            shapes[joint.child].append(marker(joint, radius_m))
    if tip is not None:
        shapes[tip.link] += rod(tip.pose.position_m, 0.8 * radius_m)
        shapes[tip.link].append(ball(tip.pose.position_m, 1.2 * radius_m, ORANGE, collides=False))
    return replace(tree, links=tuple(replace(link, shapes=tuple(shapes[link.name])) for link in tree.links))


def size_of(tree: Tree, tip: Frame | None) -> float:
    """The longest way from the root along the joints' origins and strokes (m), ``LEAST_SIZE_M`` at least.

    No arm reaches farther by turning or sliding.
    """
    away_m = {tree.root: 0.0}
    for joint in tree.joints:
        away_m[joint.child] = away_m[joint.parent] + length(joint.origin.position_m) + stroke_m(joint)
    if tip is not None:
        away_m["\0tip"] = away_m[tip.link] + length(tip.pose.position_m)
    return max(LEAST_SIZE_M, *away_m.values())


def stroke_m(joint: Joint) -> float:
    """How far from its origin a joint slides; a metre if nothing limits it."""
    if joint.kind is not JointKind.PRISMATIC:
        return 0.0
    most = max(abs(joint.lower), abs(joint.upper))
    return most if np.isfinite(most) else 1.0


def length(vector: Array) -> float:
    return float(np.linalg.norm(vector))


def rod(end_m: Array, radius_m: float) -> list[Shape]:
    """A tube from the link's origin to ``end_m``; none where the two coincide."""
    if length(end_m) < 1e-6:
        return []
    return [tube(np.zeros(3), end_m, radius_m, ALUMINIUM, collides=False)]


def marker(joint: Joint, radius_m: float) -> Shape:
    half = 1.8 * radius_m * joint.axis
    if joint.kind.turns:
        return barrel(-half, half, 1.5 * radius_m, SLATE_BLUE, collides=False)
    pose, half_length_m = between(-half, half)
    return Shape("box", (1.4 * radius_m, 1.4 * radius_m, half_length_m), pose, SLATE_BLUE, collides=False)
