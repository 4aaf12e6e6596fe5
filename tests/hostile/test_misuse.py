"""What a program may hand over by mistake: always an error of ours, in words, never a raw one."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pytest

import forearm
from forearm import Pose, pose_error
from forearm.errors import InvalidInput, UnknownName
from forearm.robots.bundled import two_link
from forearm.robots.robot import chain_in

AN_ARRAY = np.array([1.0, 2.0])
NOWHERE = np.full((4, 4), 2.0)
MODEL = '<robot name="r"><link name="a"/></robot>'

LOADING = {
    "hold a word": {"hold": {"elbow": "x"}},
    "hold nothing": {"hold": {"elbow": None}},
    "hold a list": {"hold": {"elbow": [0.1]}},
    "hold an array": {"hold": {"elbow": AN_ARRAY}},
    "hold complex": {"hold": {"elbow": 1j}},
    "hold a bool": {"hold": {"elbow": True}},
    "hold not a number": {"hold": {"elbow": float("nan")}},
    "hold far away": {"hold": {"elbow": 1e300}},
    "hold by a list": {"hold": ["elbow"]},
    "hold by a number": {"hold": 3},
    "hold by number": {"hold": {3: 0.1}},
    "joints by number": {"joints": 5},
    "joints of numbers": {"joints": [5]},
    "joints of arrays": {"joints": [AN_ARRAY]},
    "assets by number": {"assets": 3},
    "base by array": {"base": AN_ARRAY},
    "tip by array": {"tip": AN_ARRAY},
    "tip by number": {"tip": 7},
    "root by word": {"root": "table"},
    "root by number": {"root": 3},
    "root by position": {"root": (0.0, 0.0, 1.0)},
    "root askew": {"root": NOWHERE},
    "root far away": {"root": Pose((1e160, 0.0, 0.0))},
    "tool far away": {"tool": 1e160},
    "tool farther away": {"tool": 1e300},
    "tool backwards": {"tool": -1e200},
    "tool pose far away": {"tool": Pose((0.0, 1e200, 0.0))},
    "tool by word": {"tool": "gripper"},
    "tool complex": {"tool": 1j},
    "tool askew": {"tool": NOWHERE},
    "model by number": {"model": 7},
    "model by array": {"model": AN_ARRAY},
}


@pytest.mark.parametrize("given", LOADING.values(), ids=LOADING)
def test_loading(given):
    with pytest.raises((InvalidInput, UnknownName)) as caught:
        forearm.load(**{"model": "two_link", **given})
    assert 10 < len(str(caught.value)) < 400


def test_loading_a_file_with_assets_that_are_no_folder_name(tmp_path):
    path = tmp_path / "r.urdf"
    path.write_text(MODEL, encoding="utf-8")
    with pytest.raises(InvalidInput, match="assets is a int"):
        forearm.load(path, assets=3)


ASKING = {
    "task by array": {"task": AN_ARRAY},
    "task by number": {"task": 0},
    "frame by array": {"frame": AN_ARRAY},
    "frame by number": {"frame": 0},
    "solver by array": {"solver": AN_ARRAY},
    "solver by class": {"solver": InvalidInput},
    "damping by array": {"solver": "dls", "damping": AN_ARRAY},
    "damping by array of one": {"solver": "dls", "damping": np.array([0.1])},
    "damping by word": {"solver": "dls", "damping": "much"},
    "damping complex": {"solver": "dls", "damping": 1j},
    "damping none": {"solver": "dls_adaptive", "damping": None},
    "damping huge": {"solver": "dls", "damping": 1e200},
    "step by array": {"solver": "pinv", "max_step_rad": AN_ARRAY},
    "alpha by array": {"solver": "newton", "alpha": AN_ARRAY},
    "iterations by array": {"solver": "newton", "fixed_iterations": AN_ARRAY},
    "iterations by half": {"solver": "newton", "fixed_iterations": 2.5},
    "no iterations": {"solver": "newton", "fixed_iterations": 0},
    "iterations above the budget": {"solver": "newton", "fixed_iterations": 11, "max_iterations": 10},
    "record by array": {"solver": "dls", "record": AN_ARRAY},
    "seed complex": {"seed": [0.1 + 1j, 0.2]},
    "seed complex array": {"seed": np.array([0.1 + 1j, 0.2])},
    "seed by words": {"seed": ["0.1", "0.2"]},
    "seed far away": {"seed": [1e200, 0.0]},
    "seed ragged": {"seed": [0.1, [0.2]]},
    "tolerance by number": {"tolerance": 1e-3},
    "target complex": {"target": (0.3 + 0j, 0.3, 0.0)},
    "target complex array": {"target": np.array([0.3, 0.3 + 1j, 0.0])},
    "target complex matrix": {"target": np.eye(4) * (1.0 + 0j)},
    "target by words": {"target": ("0.3", "0.3", "0")},
    "target nothing": {"target": None},
    "target far away": {"target": (1e200, 0.0, 0.0)},
    "target farther away": {"target": (0.0, -1e308, 0.0)},
    "target of nothing": {"target": [None, 0.1, 0.2]},
    "target of dates": {"target": np.zeros(3, "datetime64[s]")},
}


@pytest.mark.parametrize("given", ASKING.values(), ids=ASKING)
def test_asking(given, arms):
    with pytest.raises((InvalidInput, UnknownName)) as caught:
        arms["two_link"].ik(**{"target": (0.3, 0.3, 0.0), **given})
    assert 10 < len(str(caught.value)) < 400


@pytest.mark.parametrize(
    "call",
    [
        lambda: Pose.from_rotation((0.0, 0.0, 0.0), "x"),
        lambda: Pose.from_rotation((0.0, 0.0, 0.0), None),
        lambda: Pose.from_rotation((0.0, 0.0, 0.0), [[1.0], [2.0, 3.0]]),
        lambda: Pose.from_rotation((0.0, 0.0, 0.0), np.eye(3) * 1j),
        lambda: Pose.from_rpy((0.0, 0.0, 0.0), "xyz"),
        lambda: Pose((1j, 0.0, 0.0)),
        lambda: Pose.identity().transform_points([1.0, 2.0]),
        lambda: Pose.identity().transform_points(3.0),
        lambda: Pose.identity().transform_points("abc"),
        lambda: Pose.identity().transform_points(np.zeros((4, 2))),
        lambda: pose_error("here", Pose.identity()),
        lambda: pose_error(Pose.identity(), (0.0, 0.0, 0.0)),
        lambda: pose_error(None, Pose.identity()),
        lambda: Pose.identity().is_close("here"),
    ],
)
def test_poses(call):
    with pytest.raises(InvalidInput):
        call()


@pytest.mark.parametrize("verb", ["fk", "jacobian", "manipulability", "dexterity", "singularities"])
@pytest.mark.parametrize("q", [np.array([0.1 + 1j, 0.2]), "ab", None, 3.0, ["0.1", "0.2"]], ids=str)
def test_joint_vectors(verb, q, arms):
    with pytest.raises(InvalidInput, match="shoulder, elbow"):
        getattr(arms["two_link"], verb)(q)


def test_what_is_merely_unusual_is_taken(arms):
    arm = arms["two_link"]
    assert np.array_equal(arm.fk([Decimal("0.5"), 1]).position_m, arm.fk((0.5, 1.0)).position_m)
    assert np.array_equal(
        arm.fk(np.array([0.5, 1.0], dtype=object)).position_m, arm.fk((0.5, 1.0)).position_m
    )
    assert pose_error(np.eye(4), Pose((0.0, 0.0, 1.0))).distance_m == 1.0
    matrix = Pose.from_rpy((0.1, 0.2, 0.3), (0.1, 0.2, 0.3)).matrix()
    assert forearm.load("ur5e", root=matrix).tree.root_in_world.is_close(Pose.from_matrix(matrix))
    tooled = forearm.load("ur5e", tool=matrix)
    assert tooled.fk(tooled.home).is_close(arms["ur5e"].fk(tooled.home) @ Pose.from_matrix(matrix))
    assert forearm.load("two_link", hold={"shoulder": np.float32(0.5)}).held["shoulder"] == 0.5
    assert forearm.load("ur5e", tool=1e4).reach_m > 1e4


def test_a_frame_that_is_not_below_the_link_asked_about_is_told_apart_from_one_that_moves():
    robot = chain_in(two_link.describe())
    with pytest.raises(InvalidInput, match="frame 'link2' moves with joint 'shoulder'"):
        robot.frame_in_ancestor("base", "link2")
    with pytest.raises(InvalidInput, match="frame 'base' is not below 'link2'"):
        robot.frame_in_ancestor("link2", "base")
