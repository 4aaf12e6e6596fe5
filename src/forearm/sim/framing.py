"""Where the camera stands, so that an arm fills the frame."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import mujoco
import numpy as np

from forearm.spatial import Array

FIELD_OF_VIEW_DEG = 30.0
"""Vertical; narrow, as a portrait lens, so that a near wrist does not look larger than the base."""
FILL = 0.84
"""How much of the frame's tighter side the arm takes up."""
HIDING_COSTS = 3.0
"""How much of an arm's size, in breadth, a view may give up to show all of what matters."""


@dataclass(frozen=True)
class View:
    """A camera: the point that it looks at (world, m), its distance (m) and its angles (deg).

    At azimuth 0 it looks along +x, at 90 along +y; a negative elevation looks down.
    """

    look_at_m: tuple[float, float, float]
    distance_m: float
    azimuth_deg: float
    elevation_deg: float

    @property
    def eye_m(self) -> Array:
        """Where the camera stands, world."""
        return np.array(self.look_at_m) - self.distance_m * self.axes[2]

    @property
    def axes(self) -> Array:
        """Rows: right, up and forward of the image, in world axes."""
        azimuth, elevation = np.radians([self.azimuth_deg, self.elevation_deg])
        forward = np.array(
            [np.cos(elevation) * np.cos(azimuth), np.cos(elevation) * np.sin(azimuth), np.sin(elevation)]
        )
        right = np.array([np.sin(azimuth), -np.cos(azimuth), 0.0])
        return np.array([right, np.cross(right, forward), forward])

    def camera(self) -> mujoco.MjvCamera:
        camera = mujoco.MjvCamera()
        camera.type = mujoco.mjtCamera.mjCAMERA_FREE
        camera.lookat = self.look_at_m
        camera.distance, camera.azimuth, camera.elevation = (
            self.distance_m,
            self.azimuth_deg,
            self.elevation_deg,
        )
        return camera


def view_of(
    points_m: Array,
    skeleton_m: Array,
    aspect: float,
    azimuth_deg: float | None = None,
    elevation_deg: float | None = None,
    hidden: Callable[[View], float] | None = None,
) -> View:
    """The camera that sees all points (n, 3) as large as the frame allows.

    Angles that are not given are chosen from the skeleton, the joints' origins from base to tip: the
    side that shows the most of the arm, with the tip towards the camera, and from above for an arm
    that lies flat. ``hidden`` tells what share of what matters a view does not show.
    """
    spread = np.ptp(skeleton_m, axis=0)
    flat = spread[2] < 0.2 * float(np.linalg.norm(spread[:2]))
    if elevation_deg is None:
        # What is drawn in the air, or stands on a table, shows better from a little higher.
        elevation_deg = -48.0 if flat else -22.0 if hidden else -16.0
    view = View((0.0, 0.0, 0.0), 1.0, 0.0, elevation_deg)
    if azimuth_deg is None and flat:
        # As on paper: x to the right, y away.
        azimuth_deg = 90.0
    if azimuth_deg is None:
        views = [replace(view, azimuth_deg=angle) for angle in range(0, 360, 15)]
        size_m = float(np.ptp(skeleton_m, axis=0).max())

        def merit(candidate: View) -> float:
            missing = hidden(framed(candidate, points_m, aspect)) if hidden else 0.0
            return breadth(candidate, skeleton_m) - HIDING_COSTS * size_m * missing

        azimuth_deg = max(views, key=merit).azimuth_deg
    return framed(replace(view, azimuth_deg=azimuth_deg), points_m, aspect)


def breadth(view: View, skeleton_m: Array) -> float:
    """How well a view shows an arm: its width in the image, and how far the tip comes forward."""
    right, _, forward = view.axes
    across = skeleton_m @ right
    level = np.array([forward[0], forward[1], 0.0])
    towards = float((skeleton_m[0] - skeleton_m[-1]) @ level)
    away_from_front = 1.0 - np.cos(np.radians(view.azimuth_deg - 140.0))
    size_m = float(np.ptp(skeleton_m, axis=0).max())
    return float(np.ptp(across)) + 0.55 * towards - 0.02 * size_m * away_from_front


def framed(view: View, points_m: Array, aspect: float) -> View:
    """``view`` moved so that the points' image is centred and fills the frame; angles are kept."""
    axes = view.axes
    tangent = np.tan(np.radians(0.5 * FIELD_OF_VIEW_DEG))
    look_at, distance = points_m.mean(axis=0), 4.0 * float(np.ptp(points_m, axis=0).max())
    # Moving the camera changes the perspective a little, so the fit is repeated until it settles.
    for _ in range(20):
        across, up, depth = axes @ (points_m - look_at).T
        depth = np.maximum(depth + distance, 0.1 * distance)
        horizontal, vertical = across / (depth * tangent * aspect), up / (depth * tangent)
        middle = 0.5 * np.array([horizontal.max() + horizontal.min(), vertical.max() + vertical.min()])
        look_at = look_at + distance * tangent * (middle[0] * aspect * axes[0] + middle[1] * axes[1])
        distance *= max(np.ptp(horizontal), np.ptp(vertical)) / (2.0 * FILL)
    x, y, z = (float(value) for value in look_at)
    return replace(view, look_at_m=(x, y, z), distance_m=float(distance))
