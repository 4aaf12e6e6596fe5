"""Blocks as they are drawn: matt wood whose edges are broken, so that they catch the light."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, product

import mujoco
import numpy as np
from numpy.typing import NDArray

from forearm.sim.scene import Block
from forearm.spatial import Array

PREFIX = "studio_block_"
LEG = "_leg"
LEG_RADIUS_M = 0.016
LEG_INSET_M = 0.05
FLOATS_M = 0.02
"""A block this far above the floor needs legs."""
BEVEL_M = 0.004
GRAIN_PX = 512
TEXTURE_M = 0.35
"""How much wood one repeat of the grain covers."""

UNTOUCHABLE = {"contype": 0, "conaffinity": 0, "mass": 0.0}


def add_blocks(spec: mujoco.MjSpec, blocks: Sequence[Block]) -> None:
    """Draw ``blocks`` into the studio; they touch nothing there."""
    for index, block in enumerate(blocks):
        name, half_size_m = f"{PREFIX}{index}", np.array(block.half_size_m)
        vertices, normals, faces = bevelled(half_size_m)
        spec.add_mesh(
            name=name,
            uservert=vertices.ravel(),
            usernormal=normals.ravel(),
            usertexcoord=along_the_grain(vertices, normals, half_size_m).ravel(),
            userface=faces.ravel(),
        )
        spec.worldbody.add_geom(
            name=name,
            type=mujoco.mjtGeom.mjGEOM_MESH,
            meshname=name,
            pos=list(block.center_m),
            material=add_wood(spec, name, block.rgba),
            **UNTOUCHABLE,
        )
        for corner, signs in enumerate(product((-1.0, 1.0), repeat=2)):
            away = np.maximum(half_size_m[:2] - LEG_INSET_M, 0.0) * signs
            spec.worldbody.add_geom(
                name=f"{name}{LEG}{corner}",
                type=mujoco.mjtGeom.mjGEOM_CYLINDER,
                size=[LEG_RADIUS_M, 0.1, 0.0],
                pos=[*(np.array(block.center_m[:2]) + away), block.center_m[2] - half_size_m[2]],
                rgba=[0.30, 0.315, 0.34, 0.0],
                **UNTOUCHABLE,
            )


def boxes(model: mujoco.MjModel) -> dict[str, tuple[Array, Array]]:
    """Centre and half size of every block in a studio's model, world, m."""
    found = {}
    for index in range(model.ngeom):
        name = model.geom(index).name
        if name.startswith(PREFIX) and LEG not in name:
            # The compiler turns a mesh to its principal axes.
            turn = np.empty(9)
            mujoco.mju_quat2Mat(turn, model.geom_quat[index])
            found[name] = (model.geom_pos[index], np.abs(turn.reshape(3, 3)) @ model.geom_aabb[index, 3:])
    return found


def block_bottoms(model: mujoco.MjModel) -> list[float]:
    """How high each block's underside lies (m)."""
    return [float(center[2] - half[2]) for center, half in boxes(model).values()]


def carries(model: mujoco.MjModel, foot_m: Array) -> bool:
    """Whether some block reaches up to a foot that stands over it."""
    return any(
        bool((np.abs(foot_m[:2] - center[:2]) <= half[:2]).all())
        and abs(center[2] + half[2] - foot_m[2]) < FLOATS_M
        for center, half in boxes(model).values()
    )


def settle_legs(model: mujoco.MjModel, floor_m: float) -> None:
    """Give blocks that float above the floor four legs, which are drawn and no part of the run."""
    for name, (center, half) in boxes(model).items():
        height_m = float(center[2] - half[2]) - floor_m
        for leg in (model.geom(f"{name}{LEG}{corner}") for corner in range(4)):
            model.geom_sameframe[leg.id] = 0
            leg.rgba[3] = float(height_m > FLOATS_M)
            leg.size[1] = max(0.5 * height_m, 1e-3)
            leg.pos[2] = floor_m + leg.size[1]


def bevelled(half_size_m: Array, most_m: float = BEVEL_M) -> tuple[Array, Array, Array]:
    """A box whose edges are cut off: vertices (24, 3), their normals, faces (44, 3).

    Each vertex lies on one of the six sides and has its normal, so that the cut edges look round.
    """
    bevel_m = min(most_m, 0.25 * float(half_size_m.min()))
    inset = half_size_m - bevel_m * (1.0 - np.eye(3))
    signs = np.array(list(product((-1.0, 1.0), repeat=3)))
    vertices = (signs[:, None, :] * inset[None, :, :]).reshape(-1, 3)
    normals = (signs[:, None, :] * np.eye(3)[None, :, :]).reshape(-1, 3)
    outlines = [[3 * corner, 3 * corner + 1, 3 * corner + 2] for corner in range(8)]
    for axis, sign in product(range(3), (-1.0, 1.0)):
        outlines.append([3 * corner + axis for corner in range(8) if signs[corner, axis] == sign])
    for one, other in combinations(range(8), 2):
        if np.count_nonzero(signs[one] != signs[other]) == 1:
            shared = np.flatnonzero(signs[one] == signs[other]).tolist()
            outlines.append([3 * corner + axis for corner in (one, other) for axis in shared])
    return (
        vertices,
        normals,
        np.array([face for outline in outlines for face in fan(vertices[outline], outline)]),
    )


def fan(points_m: Array, names: Sequence[int]) -> list[list[int]]:
    """Triangles over a flat convex outline about the origin's far side, counterclockwise from outside."""
    middle = points_m.mean(axis=0)
    outward = np.linalg.svd(points_m - middle)[2][2]
    outward = outward if outward @ middle > 0.0 else -outward
    u = (points_m[0] - middle) / np.linalg.norm(points_m[0] - middle)
    v = np.cross(outward, u)
    order = np.argsort(np.arctan2((points_m - middle) @ v, (points_m - middle) @ u))
    around = [names[int(index)] for index in order]
    return [[around[0], around[i], around[i + 1]] for i in range(1, len(around) - 1)]


def along_the_grain(vertices: Array, normals: Array, half_size_m: Array) -> Array:
    """Texture coordinates (n, 2): u across the grain, v along it, which runs along the longest side."""
    longest = int(np.argmax(half_size_m))
    coordinates = np.empty((len(vertices), 2))
    for index, (vertex, normal) in enumerate(zip(vertices, normals, strict=True)):
        side = int(np.argmax(np.abs(normal)))
        along = longest if longest != side else (side + 1) % 3
        across = 3 - side - along
        coordinates[index] = vertex[across], vertex[along]
    return coordinates / TEXTURE_M


def add_wood(spec: mujoco.MjSpec, name: str, rgba: Sequence[float]) -> str:
    """A matt material in the colour ``rgba`` with a fine grain."""
    texture = spec.add_texture(
        name=name, type=mujoco.mjtTexture.mjTEXTURE_2D, width=GRAIN_PX, height=GRAIN_PX, nchannel=3
    )
    texture.data = grain().tobytes()
    material = spec.add_material(name=name, rgba=list(rgba), specular=0.06, shininess=0.15, reflectance=0.0)
    material.textures[mujoco.mjtTextureRole.mjTEXROLE_RGB] = texture.name
    return name


def grain() -> NDArray[np.uint8]:
    """Streaks of slightly different brightness that repeat seamlessly (GRAIN_PX, GRAIN_PX, 3)."""
    random = np.random.default_rng(5)
    walk = np.cumsum(random.normal(size=GRAIN_PX))
    walk -= np.linspace(walk[0], walk[-1], GRAIN_PX)
    streaks = walk / np.abs(walk).max() + 0.3 * random.normal(size=GRAIN_PX)
    waves = 2.0 * np.sin(2.0 * np.pi * np.arange(GRAIN_PX) / GRAIN_PX)
    columns = (np.arange(GRAIN_PX) + waves[:, None]) % GRAIN_PX
    rows = np.interp(columns, np.arange(GRAIN_PX + 1), np.append(streaks, streaks[0]))
    shade = np.clip(236.0 + 9.0 * rows, 0.0, 255.0)
    return np.repeat(shade[:, :, None], 3, axis=2).astype(np.uint8)
