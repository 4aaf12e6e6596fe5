"""The studio that pictures are taken in: an arm on a floor under a soft sky, and lights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import mujoco
import numpy as np
from numpy.typing import ArrayLike

from forearm.robots.drawing import size_of, with_skeleton
from forearm.robots.robot import Robot
from forearm.robots.to_mujoco import mujoco_spec
from forearm.robots.tree import Link, Tree
from forearm.sim.framing import FIELD_OF_VIEW_DEG, View
from forearm.sim.furniture import add_blocks, block_bottoms, carries, settle_legs
from forearm.sim.props import Prop, move
from forearm.sim.scene import Block
from forearm.spatial import Array

SCENERY = "studio_"
"""Names of all that stands around begin so."""
FLOOR = "studio_floor"
PLINTH = "studio_plinth"
KEY_LIGHT = "studio_key"
RIM_LIGHT = "studio_rim"

PLINTH_MARGIN_M = 0.01
VISIBLE_GROUPS = 3


def studio_spec(robot: Robot, blocks: Sequence[Block] = (), props: Sequence[Prop] = ()) -> mujoco.MjSpec:
    """The robot, and the blocks and props around it, on a floor that touches nothing, with a sky and two
    lights.

    An arm without shapes is drawn as a skeleton. The floor lies under the lowest part that stands
    still; ``settle_floor`` lowers it for postures that reach below.
    """
    tree = without_hidden(with_skeleton(robot.held_tree, robot.tip_frame))
    size_m = size_of(tree, robot.tip_frame)
    spec = mujoco_spec(tree)
    spec.stat.extent = size_m
    for prop in props:
        prop.add(spec)
    polish(spec)
    add_blocks(spec, blocks)
    add_floor(spec, size_m)
    add_sky_and_lights(spec)
    spec.visual.quality.shadowsize = 8192
    spec.visual.quality.offsamples = 4
    spec.visual.quality.numslices = 96
    spec.visual.quality.numstacks = 48
    spec.visual.global_.fovy = FIELD_OF_VIEW_DEG
    spec.visual.map.znear = 0.02
    spec.visual.map.zfar = 14.0
    spec.visual.map.haze = 0.75
    spec.visual.map.shadowclip = 1.4
    return spec


def coarsen(spec: mujoco.MjSpec) -> None:
    """Fewer facets and a coarser shadow, for pictures that are many."""
    spec.visual.quality.shadowsize = 4096
    spec.visual.quality.numslices = 36
    spec.visual.quality.numstacks = 18


def without_hidden(tree: Tree) -> Tree:
    """``tree`` without the collision shapes of links that are drawn by meshes which touch nothing."""

    def seen(link: Link) -> Link:
        if any(shape.kind == "mesh" and not shape.collides for shape in link.shapes):
            return replace(link, shapes=tuple(shape for shape in link.shapes if not shape.collides))
        return link

    return replace(tree, links=tuple(map(seen, tree.links)))


def polish(spec: mujoco.MjSpec) -> None:
    """Give shapes that have no material the sheen of painted metal."""
    material = spec.add_material(name="studio_paint", specular=0.35, shininess=0.55, reflectance=0.0)
    for geom in spec.geoms:
        if not geom.material and geom.type != mujoco.mjtGeom.mjGEOM_PLANE:
            geom.material = material.name


def add_floor(spec: mujoco.MjSpec, size_m: float) -> None:
    texture = spec.add_texture(
        name=FLOOR,
        type=mujoco.mjtTexture.mjTEXTURE_2D,
        builtin=mujoco.mjtBuiltin.mjBUILTIN_CHECKER,
        rgb1=[0.755, 0.785, 0.82],
        rgb2=[0.73, 0.76, 0.795],
        width=512,
        height=512,
    )
    tiles_per_m = 2.0 / size_m
    material = spec.add_material(
        name=FLOOR, specular=0.0, shininess=0.0, reflectance=0.0, texuniform=True, texrepeat=[tiles_per_m] * 2
    )
    material.textures[mujoco.mjtTextureRole.mjTEXROLE_RGB] = texture.name
    untouchable = {"contype": 0, "conaffinity": 0, "mass": 0.0}
    spec.worldbody.add_geom(
        name=FLOOR,
        type=mujoco.mjtGeom.mjGEOM_PLANE,
        size=[0.0, 0.0, 1.0],
        material=material.name,
        **untouchable,
    )
    spec.worldbody.add_geom(
        name=PLINTH,
        type=mujoco.mjtGeom.mjGEOM_CYLINDER,
        size=[0.09 * size_m, 1.0, 0.0],
        rgba=[0.36, 0.39, 0.42, 0.0],
        **untouchable,
    )


def add_sky_and_lights(spec: mujoco.MjSpec) -> None:
    spec.add_texture(
        name="studio_sky",
        type=mujoco.mjtTexture.mjTEXTURE_SKYBOX,
        builtin=mujoco.mjtBuiltin.mjBUILTIN_GRADIENT,
        rgb1=[0.55, 0.66, 0.78],
        rgb2=[0.93, 0.95, 0.97],
        width=512,
        height=3072,
    )
    spec.visual.rgba.haze = [0.85, 0.885, 0.92, 1.0]
    spec.visual.headlight.ambient = [0.40, 0.40, 0.41]
    spec.visual.headlight.diffuse = [0.24, 0.24, 0.24]
    spec.visual.headlight.specular = [0.05, 0.05, 0.05]
    directional = mujoco.mjtLightType.mjLIGHT_DIRECTIONAL
    spec.worldbody.add_light(
        name=KEY_LIGHT,
        type=directional,
        castshadow=True,
        diffuse=[0.54, 0.53, 0.51],
        specular=[0.35, 0.35, 0.35],
        ambient=[0.0, 0.0, 0.0],
    )
    spec.worldbody.add_light(
        name=RIM_LIGHT,
        type=directional,
        castshadow=False,
        diffuse=[0.16, 0.18, 0.21],
        specular=[0.15, 0.15, 0.15],
        ambient=[0.0, 0.0, 0.0],
    )


def aim_lights(model: mujoco.MjModel, view: View) -> None:
    """Key light from the camera's upper left, rim light from behind on the right."""
    right, _, forward = view.axes
    level = np.array([forward[0], forward[1], 0.0]) / np.linalg.norm(forward[:2])
    look_at = np.array(view.look_at_m)
    for name, direction in (
        (KEY_LIGHT, 0.45 * right + 0.42 * level - 1.0 * np.eye(3)[2]),
        (RIM_LIGHT, -0.8 * right - 0.7 * level - 0.6 * np.eye(3)[2]),
    ):
        light = model.light(name)
        light.dir[:] = direction / np.linalg.norm(direction)
        light.pos[:] = look_at - 2.0 * model.stat.extent * light.dir


def posed(
    model: mujoco.MjModel, robot: Robot, q: ArrayLike, props: Sequence[Prop] = (), tick: int = 0
) -> mujoco.MjData:
    """The model's state with the chain at ``q`` and the props as at ``tick``, its poses computed."""
    data = mujoco.MjData(model)
    for name, value in zip(robot.joint_names, robot.joint_vector(q), strict=True):
        data.qpos[model.joint(name).qposadr[0]] = value
    move(props, model, data, tick)
    mujoco.mj_kinematics(model, data)
    mujoco.mj_camlight(model, data)
    return data


def arm_points(model: mujoco.MjModel, data: mujoco.MjData, standing: bool = False) -> Array:
    """Corners of the boxes around the visible shapes of arm and props (n, 3), world, m.

    With ``standing`` only of those that never move.
    """
    corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], dtype=float)
    points = []
    for geom in range(model.ngeom):
        moves = model.body_weldid[model.geom_bodyid[geom]] != 0
        if model.geom(geom).name.startswith(SCENERY) or (standing and moves):
            continue
        if model.geom_group[geom] < VISIBLE_GROUPS and np.isfinite(model.geom_aabb[geom]).all():
            local = model.geom_aabb[geom, :3] + corners * model.geom_aabb[geom, 3:]
            points.append(local @ data.geom_xmat[geom].reshape(3, 3).T + data.geom_xpos[geom])
    return np.concatenate(points) if points else np.zeros((0, 3))


def settle_floor(model: mujoco.MjModel, robot: Robot, postures: Sequence[mujoco.MjData]) -> None:
    """Lay the floor under the base, or, where a posture or a block reaches lower, under that.

    An upright base that nothing carries then gets a plinth; one that hangs or leans is left in the air.
    """
    standing = arm_points(model, postures[0], standing=True)
    base_in_world = robot.tree.root_in_world.position_m
    foot_m = float(standing[:, 2].min()) if len(standing) else float(base_in_world[2])
    lowest_m = min(float(arm_points(model, data)[:, 2].min()) for data in postures)
    floor, plinth = model.geom(FLOOR), model.geom(PLINTH)
    # A shape compiled at its body's origin is taken to stay there, whatever its position says later.
    model.geom_sameframe[[floor.id, plinth.id]] = 0
    floor_m = min([foot_m, *block_bottoms(model)])
    if lowest_m < foot_m - PLINTH_MARGIN_M:
        floor_m = min(floor_m, lowest_m - 0.03 * model.stat.extent)
    floor.pos[2] = floor_m
    foot = np.array([*base_in_world[:2], foot_m])
    upright = robot.tree.root_in_world.rotation[2, 2] > 0.9
    plinth.rgba[3] = float(floor_m < foot_m and upright and not carries(model, foot))
    plinth.size[1] = max(0.5 * (foot_m - floor_m), 1e-3)
    plinth.pos[:] = base_in_world[0], base_in_world[1], foot_m - plinth.size[1]
    settle_legs(model, floor_m)


def skeleton_points(robot: Robot, data: mujoco.MjData) -> Array:
    """The base, the origins of the chain's joints, and the tip (dof + 2, 3), world, m."""
    tip = robot.tip_frame
    link = data.body(tip.link)
    tip_m = link.xpos + link.xmat.reshape(3, 3) @ tip.pose.position_m
    origins = [data.body(joint.child).xpos for joint in robot.joints]
    return np.array([robot.base_in_world.position_m, *origins, tip_m])


def hidden_share(
    model: mujoco.MjModel, data: mujoco.MjData, eye_m: Array, points_m: Array, clear_m: float
) -> float:
    """The share of the points (n, 3) that something visible hides from ``eye_m``.

    What lies nearer than ``clear_m`` before a point belongs to it rather than hides it.
    """
    groups = np.array([group < VISIBLE_GROUPS for group in range(mujoco.mjNGROUP)], dtype=np.uint8)
    found = np.array([-1], dtype=np.int32)
    hidden = 0
    for point in points_m:
        way = point - eye_m
        # The ray is measured in lengths of ``way``; without a hit it returns -1.
        share = mujoco.mj_ray(model, data, eye_m, way, groups, 1, -1, found)
        hidden += 0.0 <= share < 1.0 - clear_m / float(np.linalg.norm(way))
    return hidden / max(len(points_m), 1)
