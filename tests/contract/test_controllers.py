"""Every registered control law: pure, honest about its actuators, and doing what its equation says."""

from __future__ import annotations

import numpy as np
import pytest

import forearm
from forearm.control.controller import (
    ActuatorMismatch,
    State,
    Tick,
    controller_names,
    law,
    make_controller,
)
from forearm.control.plant import ActuatorKind
from forearm.errors import UnknownName
from forearm.kinematics.forward import tip_matrix
from forearm.sim.loop import run_loop
from forearm.sim.scene import build_scene

SAGGING = {"joint_pd", "servo"}
"""Laws that leave gravity to the position error, as their docstrings say."""


def resting_tick(robot, q) -> Tick:
    zero = np.zeros(robot.dof)
    return Tick(q, zero, zero, zero, zero, tip_matrix(robot, q), np.zeros(6), np.zeros(6))


def bound(name: str, arm: str):
    robot = forearm.load(arm)
    scene = build_scene(robot, law(name).drives)
    return robot, scene, make_controller(name, scene.plant)


def test_the_laws_are_found_and_explain_themselves():
    assert {"joint_pd", "pd_gravity", "computed_torque", "impedance", "operational_space"} <= set(
        controller_names()
    )
    assert {"servo", "servo_gravity", "servo_velocity", "servo_inverse"} <= set(controller_names())
    for name in controller_names():
        assert law(name).summary
        assert "=" in (law(name).__doc__ or ""), f"{name} has no equation in its docstring"


@pytest.mark.parametrize("arm", ["two_link", "ur5e", "panda"])
@pytest.mark.parametrize("name", controller_names())
def test_a_law_is_pure_and_changes_nothing_it_is_given(name, arm):
    robot, _, controller = bound(name, arm)
    random = np.random.default_rng(0)
    q = robot.home + random.normal(0.0, 0.1, robot.dof)
    state = State(q, random.normal(0.0, 0.1, robot.dof))
    tick = resting_tick(robot, robot.home)
    for array in (*state, *tick):
        array.flags.writeable = False
    first, second = np.zeros(robot.dof), np.ones(robot.dof)
    controller.command(state, tick, first)
    controller.command(State(robot.home, np.zeros(robot.dof)), tick, np.zeros(robot.dof))
    controller.command(state, tick, second)
    np.testing.assert_array_equal(first, second)
    assert np.isfinite(first).all()


@pytest.mark.parametrize("name", controller_names())
def test_a_law_refuses_actuators_of_the_other_kind(name):
    other = ActuatorKind.SERVO if law(name).drives is ActuatorKind.MOTOR else ActuatorKind.MOTOR
    scene = build_scene(forearm.load("ur5e"), other)
    with pytest.raises(ActuatorMismatch) as caught:
        make_controller(name, scene.plant)
    assert name in str(caught.value)
    assert all(
        law(able).drives is other
        for able in controller_names()
        if f" {able}" in str(caught.value).split(":")[-1]
    )


def test_an_unknown_law_is_refused_by_name():
    with pytest.raises(UnknownName, match="computed_torque"):
        law("computed_talk")


@pytest.mark.parametrize("arm", ["ur5e", "panda", "mini_arm"])
@pytest.mark.parametrize("name", controller_names())
def test_the_arm_stands_still_under_gravity_unless_the_law_says_it_sags(name, arm):
    robot, scene, controller = bound(name, arm)
    result = run_loop(scene, controller, [resting_tick(robot, robot.home)] * 1000)
    strayed = np.abs(result.recording.q - robot.home).max()
    assert result.diverged_at_s is None
    if name in SAGGING:
        assert strayed > 1e-4
    else:
        assert strayed < 1e-9


@pytest.mark.parametrize("name", sorted(set(controller_names()) - SAGGING))
def test_the_arm_comes_back_from_beside_the_target(name):
    robot, scene, controller = bound(name, "ur5e")
    goal = robot.home + 0.02
    ticks = [resting_tick(robot, robot.home)] + [resting_tick(robot, goal)] * 2500
    result = run_loop(scene, controller, ticks)
    assert np.abs(result.recording.q[-1] - goal).max() < 2e-3
