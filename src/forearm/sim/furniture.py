"""Blocks as they are drawn: matt wood whose edges are broken, so that they catch the light."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import mujoco
import numpy as np

from forearm.sim.scene import Block
from forearm.spatial import Array

PREFIX = "studio_block_"
BEVEL_M = 0.004
GRAIN_PX = 256


def add_blocks(spec: mujoco.MjSpec, blocks: Sequence[Block]) -> None:
    """Draw ``blocks`` into the studio; they touch nothing there."""
    if not blocks:
        return
    for index, block in enumerate(blocks):
        name = f"{PREFIX}{index}"
        along = int(np.argmax(block.half_size_m))
        material = add_wood(spec, name, block.rgba, along)
        spec.add_mesh(name=name, uservert=bevelled(np.array(block.half_size_m)).ravel())
        spec.worldbody.add_geom(
            name=name,
            type=mujoco.mjtGeom.mjGEOM_MESH,
            meshname=name,
            pos=list(block.center_m),
            material=material,
            contype=0,
            conaffinity=0,
            mass=0.0,
        )


def bevelled(half_size_m: Array) -> Array:
    """The corners (24, 3) of a box whose edges are cut off."""
    bevel_m = min(BEVEL_M, 0.25 * float(half_size_m.min()))
    inset = half_size_m - bevel_m * (1.0 - np.eye(3))
    signs = np.array(list(product((-1.0, 1.0), repeat=3)))
    return (signs[:, None, :] * inset[None, :, :]).reshape(-1, 3)


def add_wood(spec: mujoco.MjSpec, name: str, rgba: Sequence[float], along: int) -> str:
    """A matt material in the colour ``rgba``, its grain along the block's axis ``along``."""
    texture = spec.add_texture(
        name=name, type=mujoco.mjtTexture.mjTEXTURE_CUBE, width=GRAIN_PX, height=6 * GRAIN_PX, nchannel=3
    )
    texture.data = np.concatenate([face(along, side) for side in range(6)]).tobytes()
    material = spec.add_material(
        name=name, rgba=[*rgba[:3], rgba[3]], specular=0.06, shininess=0.15, reflectance=0.0
    )
    material.textures[mujoco.mjtTextureRole.mjTEXROLE_RGB] = texture.name
    return name


def face(along: int, side: int) -> Array:
    """One face of the wood: streaks of slightly different brightness (GRAIN_PX, GRAIN_PX, 3)."""
    random = np.random.default_rng(side)
    streaks = np.cumsum(random.normal(size=GRAIN_PX))
    streaks -= np.linspace(streaks[0], streaks[-1], GRAIN_PX)
    streaks = streaks / max(float(np.abs(streaks).max()), 1e-9) + 0.35 * random.normal(size=GRAIN_PX)
    # The images of a cube texture lie so that the world's x runs down the sides that face y.
    across = np.broadcast_to(streaks, (GRAIN_PX, GRAIN_PX))
    lines = across if along == 1 else across.T
    shade = np.clip(228.0 + 12.0 * lines, 0.0, 255.0)
    return np.repeat(shade[:, :, None], 3, axis=2).astype(np.uint8)
