"""The bundled arms' drawings agree with their kinematics and serve as collision geometry."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module

import mujoco
import numpy as np
import pytest

from forearm.robots.bundled import ur5e
from forearm.robots.drawing import LEAST_SIZE_M, between, size_of, with_skeleton
from forearm.robots.robot import Robot, chain_in
from forearm.robots.to_mujoco import mujoco_spec
from forearm.robots.tree import Joint, JointKind, Link, Tree
from forearm.sim.studio import studio_spec
from forearm.spatial import Pose

NAMES = ("two_link", "ur5e", "panda", "mini_arm")
SEAM_M = 0.01


def bundled(name: str) -> Robot:
    return chain_in(import_module(f"forearm.robots.bundled.{name}").describe())


def at(robot: Robot, q: np.ndarray) -> tuple[mujoco.MjModel, mujoco.MjData]:
    model = mujoco_spec(robot.held_tree).compile()
    data = mujoco.MjData(model)
    for name, value in zip(robot.joint_names, q, strict=True):
        data.qpos[model.joint(name).qposadr[0]] = value
    mujoco.mj_forward(model, data)
    return model, data


def geoms_of(model: mujoco.MjModel, link: str) -> range:
    body = model.body(link)
    return range(int(body.geomadr[0]), int(body.geomadr[0]) + int(body.geomnum[0]))


@pytest.mark.parametrize("name", NAMES)
def test_nothing_touches_at_the_named_postures(name: str) -> None:
    robot = bundled(name)
    for posture, q in robot.postures.items():
        model, data = at(robot, q)
        touching = [(model.geom(c.geom1).name, model.geom(c.geom2).name) for c in data.contact]
        assert not touching, posture


def test_a_folded_elbow_is_seen_to_touch() -> None:
    _, data = at(bundled("ur5e"), np.radians([0.0, -90.0, 172.0, 0.0, 0.0, 0.0]))
    assert data.ncon > 0


@pytest.mark.parametrize("name", NAMES)
def test_neighbours_meet_at_their_joint_in_any_posture(name: str) -> None:
    robot = bundled(name)
    rng = np.random.default_rng(7)
    for _ in range(10):
        model, data = at(robot, rng.uniform(robot.lower, robot.upper))
        for joint in robot.path:
            gap_m = min(
                mujoco.mj_geomDistance(model, data, a, b, 0.5, None)
                for a in geoms_of(model, joint.parent)
                for b in geoms_of(model, joint.child)
            )
            assert gap_m < SEAM_M, joint.name


@pytest.mark.parametrize("name", NAMES)
def test_each_link_reaches_from_its_own_joint_to_the_next(name: str) -> None:
    """A drawing that is mirrored, or offset along the wrong axis, misses one of the two joint axes."""
    robot = bundled(name)
    model, data = at(robot, robot.home)
    for joint in robot.path:
        body = data.body(joint.child)
        axis = body.xmat.reshape(3, 3) @ joint.axis
        for link in (joint.parent, joint.child):
            assert min(axis_distance(model, data, g, body.xpos, axis) for g in geoms_of(model, link)) < 0.01


def axis_distance(
    model: mujoco.MjModel, data: mujoco.MjData, geom: int, point: np.ndarray, axis: np.ndarray
) -> float:
    """How far (m) a shape's box stays away from the line through ``point`` within 0.25 m of it."""
    rotation = data.geom_xmat[geom].reshape(3, 3)
    center, half = model.geom_aabb[geom, :3], model.geom_aabb[geom, 3:]
    along = point + np.linspace(-0.25, 0.25, 201)[:, None] * axis
    local = (along - data.geom_xpos[geom]) @ rotation - center
    return float(np.linalg.norm(np.maximum(np.abs(local) - half, 0.0), axis=1).min())


@pytest.mark.parametrize("name", NAMES)
def test_every_link_has_a_drawing_with_a_solid_part(name: str) -> None:
    for link in bundled(name).tree.links:
        assert any(shape.collides for shape in link.shapes), link.name


@pytest.mark.parametrize("name", ["ur5e", "panda", "mini_arm"])
def test_the_base_stands_on_the_ground(name: str) -> None:
    robot = bundled(name)
    model, data = at(robot, robot.home)
    lowest = [
        data.geom_xpos[g][2]
        - (np.abs(data.geom_xmat[g].reshape(3, 3)) @ model.geom_aabb[g, 3:])[2]
        + (data.geom_xmat[g].reshape(3, 3) @ model.geom_aabb[g, :3])[2]
        for g in geoms_of(model, robot.tree.root)
        if model.geom_contype[g]
    ]
    assert min(lowest) == pytest.approx(0.0, abs=1e-9)


def test_the_planar_arm_passes_over_its_base() -> None:
    robot = bundled("two_link")
    for elbow in np.linspace(-3.14, 3.14, 41):
        _, data = at(robot, np.array([0.3, elbow]))
        assert data.ncon == 0


def test_the_tool_of_a_ur5e_ends_at_its_tip() -> None:
    robot = chain_in(ur5e.describe(tool_length_m=0.135))
    pose, half_m, radius_m = next(
        (shape.pose, shape.size_m[1], shape.size_m[0])
        for shape in robot.tree.link("wrist_3_link").shapes
        if shape.kind == "capsule"
    )
    assert pose.position_m[2] + half_m + radius_m == pytest.approx(0.135)


def test_between_places_z_from_one_point_to_the_other() -> None:
    pose, half_m = between((0.1, -0.2, 0.3), (0.4, 0.5, -0.1))
    np.testing.assert_allclose(pose.transform_points([0.0, 0.0, -half_m]), (0.1, -0.2, 0.3), atol=1e-12)
    np.testing.assert_allclose(pose.transform_points([0.0, 0.0, half_m]), (0.4, 0.5, -0.1), atol=1e-12)


def bare_ur5e() -> Tree:
    tree = ur5e.describe()
    return replace(tree, links=tuple(replace(link, shapes=()) for link in tree.links))


def test_a_skeleton_draws_rods_between_joints_and_touches_nothing() -> None:
    robot = chain_in(bare_ur5e())
    tree = with_skeleton(robot.held_tree, robot.tip_frame)
    for joint in tree.joints:
        assert any(shape.kind == "cylinder" for shape in tree.link(joint.child).shapes)
    upper_arm = next(shape for shape in tree.link("upper_arm_link").shapes if shape.kind == "capsule")
    assert upper_arm.size_m[1] == pytest.approx(0.425 / 2)
    assert not any(shape.collides for link in tree.links for shape in link.shapes)


def test_an_arm_with_a_drawing_is_left_as_it_is() -> None:
    tree = ur5e.describe()
    assert with_skeleton(tree) is tree


def gantry(lower: float, upper: float) -> Tree:
    """Three slides whose origins all coincide: all of its size is stroke."""
    names = ("base", "bridge", "trolley", "tool")
    joints = tuple(
        Joint(f"slide_{i}", JointKind.PRISMATIC, names[i], names[i + 1], Pose.identity(), axis, lower, upper)
        for i, axis in enumerate(np.eye(3))
    )
    return Tree("gantry", "gantry", tuple(map(Link, names)), joints, tip="tool")


@pytest.mark.parametrize(
    ("lower", "upper", "size_m"),
    [(0.0, 0.4, 1.2), (-0.5, 0.2, 1.5), (0.0, 0.0, LEAST_SIZE_M), (-np.inf, np.inf, 3.0)],
)
def test_strokes_count_for_the_size_and_no_arm_has_none(lower, upper, size_m):
    tree = gantry(lower, upper)
    assert size_of(tree, None) == pytest.approx(size_m)
    assert any(link.shapes for link in with_skeleton(tree).links)


@pytest.mark.parametrize("upper", [0.0, 0.4, np.inf])
def test_a_gantry_whose_origins_coincide_can_be_drawn(upper):
    robot = chain_in(gantry(0.0, upper))
    model = studio_spec(robot).compile()
    assert model.ngeom > 5
    assert np.isfinite(model.stat.extent)


def test_a_joint_held_still_has_no_stroke():
    robot = chain_in(gantry(0.0, 0.4), joints=("slide_0",), held={"slide_1": 0.1})
    assert size_of(robot.held_tree, None) == pytest.approx(0.4 + 0.1)
