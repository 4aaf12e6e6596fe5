"""The vibrating box as it is drawn: its own faces, and below it the slides that carry it, on a column.

What stands below the box is drawn only; in the scene the box moves on joints alone.
"""

from __future__ import annotations

from collections.abc import Sequence

import mujoco
import numpy as np

from forearm.control.insertion.hole import Hole
from forearm.robots.drawing import ALUMINIUM, GRAPHITE, RUBBER, STEEL, Rgba
from forearm.sim.furniture import UNTOUCHABLE, bevelled
from forearm.sim.props import Prop
from forearm.sim.vibrating_box import BODY, JOINTS, OUTER_M, PLATE, WALLS, add_box
from forearm.spatial import Array, Pose

PAINT, WINDOW, BOTTOM = "box_paint", "box_window", "box_bottom"
BOX_RGBA: Rgba = (0.56, 0.66, 0.79, 1.0)
GREEN_RGBA: Rgba = (0.16, 0.66, 0.30, 1.0)
BOTTOM_RGBA: Rgba = (0.86, 0.80, 0.62, 1.0)
SENSOR_RGBA: Rgba = (0.15, 0.16, 0.18, 1.0)
GLASS = 0.12
"""Opacity of a wall that is looked through."""
BEVEL_M = 6e-4
LINING_M = 5e-5
SCENERY = "studio_slides"
SLIDE_JOINTS = ("studio_lower_x", "studio_upper_x", "studio_upper_y")
BACK_M = 0.033
"""The column stands so far behind the mouth: under the middle of the box."""
COLUMN_M = 2.0
"""The column ends somewhere under the floor, wherever that is laid."""


def box_prop(
    place: Pose, hole: Hole, values: Array, *, green_from: int | None = None, window: str | None = None
) -> Prop:
    """The box with its mouth at ``place`` (world), its joints at ``values`` (ticks, 4) in their own order.

    It is green from the tick ``green_from`` on; through the wall ``window`` one sees into the hole.
    """

    def add(spec: mujoco.MjSpec) -> None:
        add_drawn_box(spec, place, hole, window)

    return Prop(
        add,
        (*JOINTS, *SLIDE_JOINTS),
        np.column_stack([values, values[:, 0], values[:, :2]]),
        repainted={PAINT: GREEN_RGBA, WINDOW: (*GREEN_RGBA[:3], GLASS)},
        repainted_at=green_from,
    )


def add_drawn_box(spec: mujoco.MjSpec, place: Pose, hole: Hole, window: str | None = None) -> None:
    """The scene's box with edges that catch the light, and what carries it."""
    add_box(spec, place, hole)
    for name, rgba in ((PAINT, BOX_RGBA), (WINDOW, (*BOX_RGBA[:3], GLASS)), (BOTTOM, BOTTOM_RGBA)):
        spec.add_material(name=name, rgba=list(rgba), specular=0.3, shininess=0.5, reflectance=0.0)
    for geom in spec.body(BODY).geoms:
        half_size_m = np.array(geom.size)
        vertices, normals, faces = bevelled(half_size_m, BEVEL_M)
        mesh = spec.add_mesh(
            name=geom.name,
            uservert=vertices.ravel(),
            usernormal=normals.ravel(),
            userface=faces.ravel(),
        )
        geom.type, geom.meshname = mujoco.mjtGeom.mjGEOM_MESH, mesh.name
        geom.material = {PLATE: BOTTOM, window: WINDOW}.get(geom.name, PAINT)
        geom.contype = geom.conaffinity = 0
    for sensor in spec.body(BODY).sites:
        sensor.group, sensor.rgba = 0, list(SENSOR_RGBA)
    add_lining(spec.body(BODY), hole, window)
    add_slides(spec, place)


def add_lining(body: mujoco.MjsBody, hole: Hole, window: str | None) -> None:
    """Thin dark leaves on the walls inside the hole: the light here knows no shade, in which holes lie."""
    half, inner = 0.5 * hole.depth_m, hole.half_width_m
    for wall, (y, z) in zip(WALLS, ((0, -1), (0, 1), (-1, 0), (1, 0)), strict=True):
        if wall != window:
            thin = LINING_M if y else inner, LINING_M if z else inner
            add_part(body, f"lining_{wall}", (half, y * inner, z * inner), (half, *thin), RUBBER)


def add_slides(spec: mujoco.MjSpec, place: Pose) -> None:
    """A column with a pair of rails, a carriage along x that bears the rails across, and one along y."""
    below = -OUTER_M
    frame = {"pos": place.position_m.tolist(), "quat": place.quaternion_wxyz.tolist()}
    stand = spec.worldbody.add_body(name=SCENERY, **frame)
    add_part(stand, "column", (BACK_M, 0.0, below - 0.115 - 0.5 * COLUMN_M), (0.04, 0.5 * COLUMN_M), GRAPHITE)
    add_part(stand, "bed", (BACK_M, 0.0, below - 0.106), (0.15, 0.06, 0.009), GRAPHITE)
    for side in (-1.0, 1.0):
        add_part(
            stand, f"rail_x{side:+.0f}", (BACK_M, 0.04 * side, below - 0.092), (0.15, 0.006, 0.005), STEEL
        )
    lower = spec.worldbody.add_body(name=f"{SCENERY}_lower", **frame)
    add_slide(lower, SLIDE_JOINTS[0], (1.0, 0.0, 0.0))
    add_part(lower, "carriage_x", (BACK_M, 0.0, below - 0.079), (0.055, 0.15, 0.008), ALUMINIUM)
    for side in (-1.0, 1.0):
        add_part(
            lower,
            f"rail_y{side:+.0f}",
            (BACK_M + 0.035 * side, 0.0, below - 0.066),
            (0.006, 0.15, 0.005),
            STEEL,
        )
    upper = spec.worldbody.add_body(name=f"{SCENERY}_upper", **frame)
    add_slide(upper, SLIDE_JOINTS[1], (1.0, 0.0, 0.0))
    add_slide(upper, SLIDE_JOINTS[2], (0.0, 1.0, 0.0))
    add_part(upper, "carriage_y", (BACK_M, 0.0, below - 0.053), (0.05, 0.05, 0.008), ALUMINIUM)
    # It reaches into the box, so that no gap opens where this tilts.
    add_part(upper, "post", (BACK_M, 0.0, below - 0.02), (0.014, 0.026), STEEL)


def add_slide(body: mujoco.MjsBody, name: str, axis: Sequence[float]) -> None:
    # A body with a joint needs a mass, in a model that is never stepped as well.
    body.explicitinertial, body.mass, body.inertia = True, 1.0, [1.0] * 3
    body.add_joint(name=name, type=mujoco.mjtJoint.mjJNT_SLIDE, axis=list(axis))


def add_part(
    body: mujoco.MjsBody, name: str, center_m: Sequence[float], half_size_m: Sequence[float], rgba: Rgba
) -> None:
    """A block of three half sides, or an upright barrel of a radius and half a height."""
    block = len(half_size_m) == 3
    body.add_geom(
        name=f"{SCENERY}_{name}",
        type=mujoco.mjtGeom.mjGEOM_BOX if block else mujoco.mjtGeom.mjGEOM_CYLINDER,
        pos=list(center_m),
        size=list(half_size_m) + [0.0] * (3 - len(half_size_m)),
        rgba=list(rgba),
        **UNTOUCHABLE,
    )
