"""The shine around the paths of a picture."""

from __future__ import annotations

from collections.abc import Sequence

import mujoco
import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageFilter

from forearm.spatial import Array

WHITE = 0xFFFFFE
"""MuJoCo paints an identity plus one as a colour."""
SPREAD = (0.006, 0.018)
"""Widths of the halos, in heights of the picture."""
STRENGTH = (0.55, 0.70)


def only_these(scene: mujoco.MjvScene, shining: Sequence[int]) -> None:
    """Make the next drawing show the geoms ``shining`` white, all else without any green."""
    for geom in scene.geoms[: scene.ngeom]:
        # Without an identity it would not be drawn, and hide nothing.
        geom.segid = 0
    for index in shining:
        scene.geoms[index].segid = WHITE
    scene.flags[mujoco.mjtRndFlag.mjRND_SEGMENT] = True
    scene.flags[mujoco.mjtRndFlag.mjRND_IDCOLOR] = True


def everything(scene: mujoco.MjvScene) -> None:
    """Take ``only_these`` back."""
    scene.flags[mujoco.mjtRndFlag.mjRND_SEGMENT] = False
    scene.flags[mujoco.mjtRndFlag.mjRND_IDCOLOR] = False


def with_glow(image: NDArray[np.uint8], mask: NDArray[np.uint8], rgb: Sequence[float]) -> NDArray[np.uint8]:
    """The picture with a halo in the colour ``rgb`` around what is green in ``mask``, both (h, w, 3)."""
    core = Image.fromarray(np.ascontiguousarray(mask[:, :, 1]))
    height = image.shape[0]
    veil: Array = np.zeros(image.shape[:2])
    for spread, strength in zip(SPREAD, STRENGTH, strict=True):
        halo = core.filter(ImageFilter.GaussianBlur(spread * height))
        veil = np.maximum(veil, strength * np.minimum(np.asarray(halo, dtype=np.float64) / 255.0, 1.0))
    veil *= 1.0 - np.asarray(core, dtype=np.float64) / 255.0
    blended = image * (1.0 - veil[:, :, None]) + 255.0 * np.array(rgb) * veil[:, :, None]
    return np.rint(blended).astype(np.uint8)
