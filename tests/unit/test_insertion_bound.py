"""The bounds of the insertion: one that nobody can beat, and a run that keeps every limit."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from forearm.control.insertion.hole import tool_pose_in_box
from forearm.dynamics.mujoco_engine import MujocoDynamics
from forearm.dynamics.pinocchio_engine import PinocchioDynamics
from forearm.errors import InvalidInput
from forearm.ik.solve import solve
from forearm.kinematics.screws import replay_into, screws_of
from forearm.motion.efforts import required_efforts
from forearm.motion.joint_path import JointPath
from forearm.motion.time_optimal import bounds_along, motion_limits
from forearm.motion.timing import fastest
from forearm.sim.insertion import insertion_scene
from forearm.spatial import Pose, rotation_z
from forearm.tasks._insertion_bound import (
    insertion_bounds,
    least_s,
    lines_to_plate,
    mean_bounds,
    tool_past_mouth_m,
)

ARMS = ("mini_arm", "ur5e")
FEW = 30
TICKS = 2777


@pytest.fixture(scope="module")
def found():
    return {arm: insertion_bounds(arm, evaluations=FEW) for arm in ARMS}


def before_mouth(scene, distance_m):
    """The arm on the line of its fastest way, so far outside."""
    target = scene.mouth @ tool_pose_in_box(-distance_m)
    return solve(scene.scene.robot, target, seed=scene.ready).require().q


def tips(robot, rows):
    """By the product of exponentials, of which inverse kinematics makes no use."""
    tip = np.empty((len(rows), 4, 4))
    for q, out in zip(rows, tip, strict=True):
        replay_into(screws_of(robot), q, out)
    return tip


@pytest.mark.parametrize("arm", ARMS)
def test_the_bounds_are_in_order_and_near_each_other(found, arm):
    bounds = found[arm]
    assert 0.0 < bounds.lower_s <= bounds.fastest_s <= bounds.at_rest_s
    assert bounds.fastest_s < 1.15 * bounds.lower_s
    assert 0.0 < bounds.mouth_s < bounds.fastest_s


@pytest.mark.parametrize("arm", ARMS)
def test_a_resampled_run_keeps_every_limit_by_the_other_engine(found, arm):
    robot, motion = insertion_scene(arm).scene.robot, found[arm].sampled(TICKS)
    efforts = required_efforts(MujocoDynamics(robot), motion.q, motion.qd, motion.qdd)
    speed, effort = (np.abs(motion.qd) / robot.max_speed).max(), (np.abs(efforts) / robot.max_effort).max()
    assert max(speed, effort) <= 1.0 + 1e-3
    # The limits are what it is up against: a run that keeps well away from them is not the fastest.
    assert min(speed, effort) > 0.97
    assert (motion.q >= robot.lower - 1e-9).all()
    assert (motion.q <= robot.upper + 1e-9).all()


@pytest.mark.parametrize("arm", ARMS)
def test_speeds_and_accelerations_are_those_of_the_postures(found, arm):
    bounds = found[arm]
    motion = bounds.sampled(TICKS)
    moved = motion.dt_s * (0.5 * (motion.qd[1:] + motion.qd[:-1]))
    assert np.abs(np.diff(motion.q, axis=0) - moved).max() < 1e-5
    sped = motion.dt_s * np.cumsum(0.5 * (motion.qdd[1:] + motion.qdd[:-1]), axis=0)
    # Where the acceleration leaps between two ticks the trapezium is out by its share of the leap.
    assert np.abs(motion.qd[1:] - motion.qd[0] - sped).max() < 0.03
    assert np.abs(motion.qd[0]).max() < 1e-9
    assert np.abs(motion.q[0] - bounds.start).max() < 1e-9
    assert motion.times_s[-1] == pytest.approx(bounds.fastest_s, rel=1e-6)


@pytest.mark.parametrize("arm", ARMS)
def test_the_tool_goes_straight_in_to_the_plate(found, arm):
    scene, bounds = insertion_scene(arm), found[arm]
    motion = bounds.sampled(TICKS)
    inside = motion.times_s >= bounds.mouth_s
    in_box = np.linalg.inv(scene.mouth.matrix()) @ tips(scene.scene.robot, motion.q)
    assert np.abs(in_box[inside][:, 1:3, 3]).max() < 1e-4
    assert np.abs(in_box[inside][:, :3, :3] - in_box[-1, :3, :3]).max() < 1e-6
    # Square in the hole: one of the four ways.
    assert np.allclose(np.abs(in_box[-1, :3, :3]).max(axis=0), 1.0, atol=1e-9)
    assert in_box[-1, :3, 2] == pytest.approx([1.0, 0.0, 0.0], abs=1e-9)
    assert in_box[inside][0, 0, 3] == pytest.approx(0.0, abs=2e-3)
    assert in_box[-1, 0, 3] == pytest.approx(scene.hole.depth_m, abs=1e-6)
    assert (np.diff(in_box[inside][:, 0, 3]) > 0.0).all()


@pytest.mark.parametrize("arm", ARMS)
def test_nothing_is_touched_before_the_plate(found, arm):
    scene, bounds = insertion_scene(arm), found[arm]
    model, n = scene.scene.model, scene.scene.robot.dof
    data = mujoco.MjData(model)

    def contacts(q):
        data.qpos[:] = 0.0
        data.qpos[:n] = q
        mujoco.mj_forward(model, data)
        return data.ncon

    assert not any(contacts(q) for q in bounds.sampled(300).q[:-1])
    (past,), _, _ = bounds.approach.line.at(np.array([1.02]))
    assert contacts(past) > 0


@pytest.mark.parametrize("arm", ARMS)
def test_weaker_motors_take_longer_and_leave_the_bound_as_it_is(found, arm):
    half = insertion_bounds(
        arm, max_effort=0.5 * insertion_scene(arm).scene.robot.max_effort, evaluations=FEW
    )
    assert half.fastest_s > 1.02 * found[arm].fastest_s
    assert half.lower_s == found[arm].lower_s


@pytest.mark.parametrize("arm", ARMS)
def test_a_start_farther_away_takes_longer(found, arm):
    scene, bounds = insertion_scene(arm), found[arm]
    (mouth,), _, _ = bounds.approach.line.at(np.zeros(1))
    far = insertion_bounds(arm, scene.ready + 0.3 * (scene.ready - mouth), evaluations=FEW)
    assert far.lower_s > bounds.lower_s + 0.01
    assert far.fastest_s > bounds.fastest_s + 0.01
    mean = mean_bounds(arm, [scene.ready, far.start], evaluations=FEW)
    assert mean.starts == 2
    assert mean.fastest_s == pytest.approx(0.5 * (bounds.fastest_s + far.fastest_s))


@pytest.mark.parametrize("distance_m", [0.0, 2e-4])
@pytest.mark.parametrize("arm", ARMS)
def test_from_the_mouth_there_is_the_hole_alone(arm, distance_m):
    scene = insertion_scene(arm)
    robot = scene.scene.robot
    bounds = insertion_bounds(arm, before_mouth(scene, distance_m), evaluations=FEW)
    limits = motion_limits(robot, None, None, None)
    line = min(lines_to_plate(scene, bounds.start), key=lambda each: least_s(each, bounds.start, limits))
    path = JointPath(s := np.linspace(0.0, 1.0, 101), *line.at(s))
    along = bounds_along(PinocchioDynamics(robot), path, limits, 0)
    hole_s = fastest(path, limits.speed, along, 0, end_at_rest=False).duration_s
    assert bounds.fastest_s == pytest.approx(hole_s, rel=0.03)
    assert bounds.at_rest_s > 1.05 * hole_s
    assert bounds.mouth_s < 0.3 * bounds.fastest_s


@pytest.mark.parametrize("arm", ARMS)
def test_every_way_into_the_hole_that_a_solver_finds_is_among_the_lines(arm, random):
    scene = insertion_scene(arm)
    robot = scene.scene.robot
    lines = list(lines_to_plate(scene, scene.ready))
    plates = np.array([line.at(np.ones(1))[0][0] for line in lines])
    low, high = np.maximum(robot.lower, -np.pi), np.minimum(robot.upper, np.pi)
    for attempt in range(40):
        turned = Pose.from_rotation((0.0, 0.0, 0.0), rotation_z(0.5 * np.pi * (attempt % 4)))
        target = scene.mouth @ tool_pose_in_box(scene.hole.depth_m) @ turned
        q = solve(robot, target, seed=random.uniform(low, high)).require().q
        away = np.abs((plates - q + np.pi) % (2.0 * np.pi) - np.pi).max(axis=1)
        assert away.min() < 1e-4
    assert (plates >= robot.lower - 1e-9).all()
    assert (plates <= robot.upper + 1e-9).all()


def test_a_start_behind_the_mouth_is_refused():
    scene = insertion_scene("ur5e")
    inside = before_mouth(scene, -0.01)
    assert tool_past_mouth_m(scene, inside) == pytest.approx(0.01, abs=1e-9)
    with pytest.raises(InvalidInput, match="past the plane of the mouth"):
        insertion_bounds("ur5e", inside)
