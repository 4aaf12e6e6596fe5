"""What every bundled arm owes. A new arm is picked up here without being named."""

from __future__ import annotations

import numpy as np
import pytest

import forearm
from forearm.ik.audit import replays_of
from forearm.kinematics.chain import chain_of
from forearm.kinematics.screws import screws_of
from forearm.robots.catalog import bundled_tree, summary
from forearm.robots.tree import JointKind

each_arm = pytest.mark.parametrize("name", forearm.robot_names())


def test_there_are_arms():
    assert {"ur5e", "panda", "two_link", "mini_arm"} <= set(forearm.robot_names())


@each_arm
def test_its_summary_is_one_line(name):
    assert 10 < len(summary(name)) < 90
    assert "\n" not in summary(name)


@each_arm
def test_its_names_are_unique_and_its_tree_is_in_order(name):
    tree = bundled_tree(name)
    assert tree.name == name
    names = [*tree.frame_names()]
    assert len(set(names)) == len(names)
    assert len({joint.name for joint in tree.joints}) == len(tree.joints)
    placed = {tree.root}
    for joint in tree.joints:
        assert joint.parent in placed
        assert joint.child not in placed
        placed.add(joint.child)
    assert placed == {link.name for link in tree.links}


@each_arm
def test_its_joints_have_axes_limits_and_efforts(name, arms):
    arm = arms[name]
    assert 1 <= arm.dof <= 30
    for joint in arm.joints:
        assert joint.kind in (JointKind.REVOLUTE, JointKind.CONTINUOUS, JointKind.PRISMATIC)
        assert np.linalg.norm(joint.axis) == pytest.approx(1.0, abs=1e-12)
        assert joint.lower < joint.upper
        assert 0.0 < joint.max_speed < np.inf
        assert 0.0 < joint.max_effort < np.inf
        assert joint.armature >= 0.0
    for vector in (arm.lower, arm.upper, arm.max_speed, arm.max_effort):
        assert vector.shape == (arm.dof,)
        assert not vector.flags.writeable


@each_arm
def test_its_bodies_could_exist(name, arms):
    """Positive masses and inertias whose principal moments obey the triangle inequality."""
    moving = {joint.child for joint in arms[name].joints}
    for link in arms[name].tree.links:
        if link.name not in moving:
            continue
        moments = np.linalg.eigvalsh(link.inertial.inertia_kgm2)
        assert link.inertial.mass_kg > 0.0
        assert moments[0] > 0.0
        assert moments[2] <= moments[0] + moments[1] + 1e-12
        assert np.allclose(link.inertial.inertia_kgm2, link.inertial.inertia_kgm2.T, rtol=0, atol=1e-15)


@each_arm
def test_home_lies_well_inside_the_limits(name, arms):
    arm = arms[name]
    assert np.minimum(arm.home - arm.lower, arm.upper - arm.home).min() > 0.05


@each_arm
def test_the_jacobian_at_home_is_regular(name, arms):
    measured = arms[name].dexterity(arms[name].home)
    assert measured.condition_number < 100.0
    assert measured.min_singular_value > 0.01


@each_arm
def test_home_is_solved_from_nearby_and_audited(name, arms):
    arm = arms[name]
    result = arm.ik(arm.fk(arm.home), seed=arm.home + 0.05, audit=True)
    assert result.status is forearm.Status.SOLVED
    assert np.allclose(arm.fk(result.q).matrix(), arm.fk(arm.home).matrix(), rtol=0, atol=3e-6)


@each_arm
def test_its_tip_lies_within_its_reach(name, arms, random, make_posture):
    arm = arms[name]
    for _ in range(100):
        tip = arm.fk(make_posture(arm, random)).position_m
        assert np.linalg.norm(tip) <= arm.reach_m + 0.5
    assert 0.3 < arm.reach_m < 2.0


@each_arm
def test_loading_twice_gives_the_same_arm_twice(name, arms):
    again = forearm.load(name)
    assert again is not arms[name]
    assert np.array_equal(chain_of(again), chain_of(arms[name]))
    assert np.array_equal(screws_of(again), screws_of(arms[name]))
    assert again.joint_names == arms[name].joint_names


@each_arm
def test_it_is_frozen(name, arms):
    arm = arms[name]
    with pytest.raises(AttributeError):
        arm.base = "elsewhere"
    for posture in ("home", "zeros"):
        with pytest.raises(ValueError, match="read-only"):
            arm.posture(posture)[0] = 1.0


@each_arm
def test_scratch_is_per_robot_and_engines_agree_at_home(name, arms):
    arm = arms[name]
    pin, mujoco = (replays_of(arm)[engine].tip_matrix(arm.home) for engine in ("pinocchio", "mujoco"))
    assert np.allclose(pin, mujoco, rtol=0, atol=1e-12)
    assert np.allclose(pin, arm.fk(arm.home).matrix(), rtol=0, atol=1e-12)
    first, second, other = replays_of(arm), replays_of(arm), replays_of(forearm.load(name))
    for engine in first:
        assert first[engine].model is second[engine].model
        assert first[engine].data is not second[engine].data
        assert first[engine].model is not other[engine].model


def test_options_and_arguments_are_checked():
    assert forearm.load("two_link(0.5, 0.4)").reach_m == pytest.approx(0.9)
    assert forearm.load("two_link", l1_m=0.5, l2_m=0.4).reach_m == pytest.approx(0.9)
    with pytest.raises(forearm.UnknownName) as unknown:
        forearm.load("ur5e", tool_m=0.1)
    assert unknown.value.valid == ("tool_length_m",)
    for bad in ("two_link(0.5, 0.4, 0.3)", "two_link(0.5, x)", "two_link(-1, 0.4)", "two_link(nan, 0.4)"):
        with pytest.raises(forearm.InvalidInput):
            forearm.load(bad)
    for value in (True, "long", None, float("inf"), [0.1]):
        with pytest.raises(forearm.InvalidInput):
            forearm.load("ur5e", tool_length_m=value)
    with pytest.raises(forearm.InvalidInput):
        forearm.load("ur5e", tool=float("nan"))
