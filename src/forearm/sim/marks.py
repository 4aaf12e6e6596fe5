"""Marks that are drawn into a picture but are no part of the model: frames, points, lines, ghosts."""

from __future__ import annotations

from itertools import pairwise

import mujoco
import numpy as np
from numpy.typing import ArrayLike

from forearm.spatial import Array, Pose

Rgba = tuple[float, float, float, float]

AXIS_RGBA: tuple[Rgba, Rgba, Rgba] = (
    (0.89, 0.20, 0.18, 1.0),
    (0.24, 0.68, 0.28, 1.0),
    (0.16, 0.42, 0.90, 1.0),
)
TARGET_RGBA: Rgba = (0.98, 0.78, 0.12, 1.0)
PATH_RGBA: Rgba = (0.90, 0.24, 0.42, 1.0)
PALE_RGBA: Rgba = (0.36, 0.48, 0.68, 1.0)
"""Of a path that only goes with another."""
GHOST_RGBA: Rgba = (0.36, 0.60, 0.86, 1.0)
GHOST_SCALE = 0.97
THINNING = 0.1
"""How far a drawn path may cut its corners, in its own radii."""


def add_triad(scene: mujoco.MjvScene, frame_in_world: Pose, length_m: float) -> None:
    """A frame as three arrows: x red, y green, z blue."""
    origin, rotation = frame_in_world.position_m, frame_in_world.rotation
    add_point(scene, origin, 0.085 * length_m, (0.95, 0.95, 0.95, 1.0))
    for axis, rgba in zip(rotation.T, AXIS_RGBA, strict=True):
        add_connector(
            scene, mujoco.mjtGeom.mjGEOM_ARROW, 0.055 * length_m, origin, origin + length_m * axis, rgba
        )


def add_point(scene: mujoco.MjvScene, position_m: ArrayLike, radius_m: float, rgba: Rgba) -> None:
    """A ball at a point in the world."""
    geom = next_geom(scene)
    mujoco.mjv_initGeom(
        geom,
        mujoco.mjtGeom.mjGEOM_SPHERE,
        np.full(3, radius_m),
        np.asarray(position_m, dtype=np.float64),
        np.eye(3).ravel(),
        np.array(rgba, dtype=np.float32),
    )
    geom.emission = 0.25


def add_polyline(
    scene: mujoco.MjvScene, points_m: ArrayLike, radius_m: float, rgba: Rgba = PATH_RGBA
) -> None:
    """A path through points (n, 3) in the world, without those that cannot be told from the line."""
    points = thinned(np.asarray(points_m, dtype=np.float64).reshape(-1, 3), THINNING * radius_m)
    for start, end in pairwise(points):
        add_connector(scene, mujoco.mjtGeom.mjGEOM_CAPSULE, radius_m, start, end, rgba, 0.55)


def thinned(points_m: Array, tolerance_m: float) -> Array:
    """The fewest of the points (n, 3) that keep the path within the tolerance: Douglas and Peucker's way."""
    keep = np.zeros(len(points_m), dtype=bool)
    keep[[0, -1] if len(points_m) else []] = True
    spans = [(0, len(points_m) - 1)]
    while spans:
        first, last = spans.pop()
        if last - first < 2:
            continue
        away = distance_to_line(points_m[first + 1 : last], points_m[first], points_m[last])
        farthest = int(np.argmax(away))
        if away[farthest] > tolerance_m:
            middle = first + 1 + farthest
            keep[middle] = True
            spans += [(first, middle), (middle, last)]
    kept = points_m[keep]
    apart = np.linalg.norm(np.diff(kept, axis=0), axis=1) > 1e-9
    return kept[np.concatenate([[True], apart])] if len(kept) else kept


def distance_to_line(points_m: Array, start_m: Array, end_m: Array) -> Array:
    """How far each point (n, 3) is from the straight line between two others (n,)."""
    step = end_m - start_m
    share = np.clip((points_m - start_m) @ step / max(float(step @ step), 1e-30), 0.0, 1.0)
    return np.linalg.norm(points_m - start_m - np.multiply.outer(share, step), axis=1)


def add_ghost(
    scene: mujoco.MjvScene,
    model: mujoco.MjModel,
    ghost: mujoco.MjData,
    option: mujoco.MjvOption,
    rgba: Rgba = GHOST_RGBA,
) -> None:
    """The moving parts of the model at another state, in one colour, opaque.

    They are a little slimmer than the arm, which therefore hides them where the two coincide.
    """
    first = scene.ngeom
    moving = mujoco.mjtCatBit.mjCAT_DYNAMIC.value
    mujoco.mjv_addGeoms(model, ghost, option, mujoco.MjvPerturb(), moving, scene)
    for geom in scene.geoms[first : scene.ngeom]:
        geom.rgba[:] = rgba
        geom.matid = -1
        geom.size[:] *= GHOST_SCALE


def add_connector(
    scene: mujoco.MjvScene,
    kind: int,
    radius_m: float,
    start_m: Array,
    end_m: Array,
    rgba: Rgba,
    emission: float = 0.25,
) -> None:
    geom = next_geom(scene)
    mujoco.mjv_initGeom(
        geom, kind, np.zeros(3), np.zeros(3), np.eye(3).ravel(), np.array(rgba, dtype=np.float32)
    )
    mujoco.mjv_connector(geom, kind, radius_m, start_m, end_m)
    geom.emission = emission


def next_geom(scene: mujoco.MjvScene) -> mujoco.MjvGeom:
    """The scene's next free geom; when all are in use the last one is drawn over."""
    scene.ngeom = min(scene.ngeom + 1, scene.maxgeom)
    return scene.geoms[scene.ngeom - 1]
