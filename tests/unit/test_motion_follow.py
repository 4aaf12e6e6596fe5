"""Joints that follow the tip, and how the Jacobian changes on the way."""

from __future__ import annotations

import numpy as np
import pytest

import forearm
from forearm.errors import UnknownName
from forearm.kinematics.forward import jacobian, tip_matrix
from forearm.kinematics.rates import jacobian_rate
from forearm.motion.follow import LostTrack, follow, jumps
from forearm.motion.profile import quintic
from forearm.motion.reference import JointReference, TipReference
from forearm.motion.route import circle, line, polyline, through
from forearm.motion.trajectory import timed
from forearm.robots.tree import JointKind
from forearm.spatial import Pose, rotation_exp

R, C, P = JointKind.REVOLUTE, JointKind.CONTINUOUS, JointKind.PRISMATIC
DT_S = 0.002


def differences(values, step):
    """The first derivative along axis 0 by the seventh-order central rule, three rows short at each end."""
    weights = np.array([-1.0, 9.0, -45.0, 0.0, 45.0, -9.0, 1.0]) / (60.0 * step)
    rows = len(values) - 6
    return sum(weight * values[i : i + rows] for i, weight in enumerate(weights))


def shifted(pose, metres, turn=(0.0, 0.0, 0.0)):
    return Pose.from_rotation(pose.position_m + metres, rotation_exp(turn) @ pose.rotation)


def a_motion(arm, name):
    """A route of 0.1 to 0.2 m for each bundled arm, with a turn where the arm can make one."""
    if name == "two_link":
        q = arm.ik((0.25, 0.3, 0.0)).q
        return q, timed(circle((0.3, 0.3, 0.0), 0.05, arm.fk(q)), [quintic(1.0)])
    pose = arm.fk(arm.home)
    return arm.home, timed(line(pose, shifted(pose, (0.1, 0.05, -0.08), (0.3, -0.2, 0.4))), [quintic(1.0)])


@pytest.mark.parametrize(
    "kinds", [(R, R, R), (C, P, R), (P, P, P), (R, P, C, R, P, R), (C, C, P, R, C, R, P, R)]
)
def test_the_jacobians_rate_is_the_difference_of_jacobians(kinds, random, make_chain, make_posture):
    robot = make_chain(random, kinds)
    for _ in range(5):
        q, qd = make_posture(robot, random), random.normal(size=robot.dof)
        h = 1e-3
        columns = np.array([jacobian(robot, q + k * h * qd) for k in range(-3, 4)])
        expected = differences(columns, h)[0]
        assert np.allclose(jacobian_rate(robot, q, qd), expected, rtol=0, atol=1e-8)


@pytest.mark.parametrize("name", forearm.robot_names())
def test_positions_speeds_and_accelerations_fit_the_tip_and_each_other(name, arms):
    arm = arms[name]
    start, moving = a_motion(arm, name)
    tip = moving.sampled(DT_S)
    joints = follow(arm, tip, start)
    rows = 3 if arm.task == "position" else 6
    inner = slice(3, -3)
    assert np.allclose(differences(joints.q, DT_S), joints.qd[inner], rtol=0, atol=1e-8)
    assert np.allclose(differences(joints.qd, DT_S), joints.qdd[inner], rtol=0, atol=1e-8)
    assert np.abs(joints.qd).max() > 0.1
    for tick in range(0, len(tip), 25):
        q, qd, qdd = joints.q[tick], joints.qd[tick], joints.qdd[tick]
        columns, rate = jacobian(arm, q), jacobian_rate(arm, q, qd)
        reached = tip_matrix(arm, q)
        assert np.abs(reached[:3, 3] - tip.poses[tick, :3, 3]).max() <= 1e-9
        if rows == 6:
            assert np.abs(reached - tip.poses[tick]).max() <= 1e-9
        assert np.allclose((columns @ qd)[:rows], tip.twists[tick, :rows], rtol=0, atol=1e-11)
        acceleration = columns @ qdd + rate @ qd
        assert np.allclose(acceleration[:rows], tip.accelerations[tick, :rows], rtol=0, atol=1e-10)
    assert jumps(arm, joints, tip) == []


def test_a_redundant_arm_spends_no_speed_on_what_the_tip_does_not_see(arms):
    arm = arms["panda"]
    start, moving = a_motion(arm, "panda")
    joints = follow(arm, moving.sampled(DT_S), start)
    for q, qd in zip(joints.q[::50], joints.qd[::50], strict=True):
        spare = np.linalg.svd(jacobian(arm, q))[2][-1]
        assert abs(spare @ qd) < 1e-10


def test_a_redundant_arm_arrives_at_the_same_posture_whatever_the_tick(arms):
    arm = arms["panda"]
    start, moving = a_motion(arm, "panda")
    coarse, fine = (follow(arm, moving.sampled(dt_s), start).q[-1] for dt_s in (0.01, 0.0005))
    assert np.allclose(coarse, fine, rtol=0, atol=1e-6)


def test_the_branch_is_the_starts(arms):
    arm = arms["two_link"]
    route = line(Pose((0.34, 0.28, 0.0)), Pose((0.3, 0.3, 0.0)))
    tip = timed(route, [quintic(1.0)]).sampled(DT_S)
    for start in np.radians([(-6.17, 88.55), (85.11, -88.55)]):
        joints = follow(arm, tip, start)
        assert (np.sign(joints.q[:, 1]) == np.sign(start[1])).all()


def test_a_route_that_leaves_the_reach_is_lost_where_it_does(arms):
    arm = arms["two_link"]
    route = line(Pose((0.5, 0.0, 0.0)), Pose((0.7, 0.0, 0.0)))
    tip = timed(route, [quintic(1.0)]).sampled(DT_S)
    start = arm.ik((0.5, 0.0, 0.0)).q
    with pytest.raises(LostTrack, match="leaves the reach") as lost:
        follow(arm, tip, start)
    assert tip.poses[lost.value.tick - 1, 0, 3] <= 0.615 + 1e-9
    assert tip.poses[lost.value.tick, 0, 3] > 0.615 - 1e-3
    assert lost.value.time_s == pytest.approx(lost.value.tick * DT_S)
    assert lost.value.residual > 1e-9
    assert not lost.value.singular


def test_a_route_out_of_a_plane_that_the_arm_cannot_leave_is_lost(arms):
    arm = arms["two_link"]
    start = arm.ik((0.4, 0.2, 0.0)).q
    tip = timed(line(Pose((0.4, 0.2, 0.0)), Pose((0.4, 0.2, 0.1))), [quintic(1.0)]).sampled(DT_S)
    with pytest.raises(LostTrack):
        follow(arm, tip, start)


def test_a_singular_start_is_said_to_be_singular_and_gives_no_speeds(arms):
    arm = arms["two_link"]
    tip = timed(line(Pose((0.615, 0.0, 0.0)), Pose((0.5, 0.0, 0.0))), [quintic(1.0)]).sampled(DT_S)
    moving = TipReference(DT_S, tip.poses[:1], np.eye(6)[:1], np.zeros((1, 6)), np.zeros(1, dtype=int))
    with pytest.raises(LostTrack, match="singular and does not allow the tip's speed") as lost:
        follow(arm, moving, np.zeros(2))
    assert lost.value.singular
    with pytest.raises(LostTrack):
        follow(arm, tip, np.zeros(2))


@pytest.mark.parametrize("along", [(0.0, 0.0, 0.05), (0.0, 0.05, 0.0)])
def test_a_route_through_a_wrist_singularity_is_lost_or_reported(along, arms):
    arm = arms["ur5e"]
    aligned = arm.home.copy()
    aligned[4] = 0.0
    pose = arm.fk(aligned)
    route = polyline([pose.position_m + sign * np.array(along) for sign in (1.0, 0.0, -1.0)], pose)
    start = arm.ik(route.segments[0].start, seed=aligned - (0.0, 0.0, 0.0, 0.0, 0.3, 0.0)).require().q
    tip = timed(route, [quintic(1.0)]).sampled(DT_S)
    if along[2]:
        with pytest.raises(LostTrack, match="singular"):
            follow(arm, tip, start)
    else:
        assert jumps(arm, follow(arm, tip, start), tip)


def test_an_unknown_task_is_refused(arms):
    start, moving = a_motion(arms["ur5e"], "ur5e")
    with pytest.raises(UnknownName, match="pose, position"):
        follow(arms["ur5e"], moving.sampled(0.1), start, task="both")


def test_a_planted_jump_is_reported_with_its_joint_and_tick(arms):
    arm = arms["ur5e"]
    start, moving = a_motion(arm, "ur5e")
    tip = moving.sampled(DT_S)
    joints = follow(arm, tip, start)
    q = joints.q.copy()
    q[250:, 3] += 0.5
    (jump,) = jumps(arm, JointReference(DT_S, q, joints.qd, joints.qdd), tip)
    assert (jump.tick, jump.joint) == (249, "wrist_1")
    assert jump.rad_per_mm > 0.1


def test_a_turn_in_place_is_no_jump(arms):
    arm = arms["ur5e"]
    pose = arm.fk(arm.home)
    tip = timed(through([pose, shifted(pose, 0.0, (0.0, 0.0, 0.8))]), [quintic(1.0)]).sampled(DT_S)
    joints = follow(arm, tip, arm.home)
    assert np.abs(np.diff(joints.q, axis=0)).max() > 2e-3
    assert jumps(arm, joints, tip) == []
    q = joints.q.copy()
    q[250:, 3] += 0.5
    assert len(jumps(arm, JointReference(DT_S, q, joints.qd, joints.qdd), tip)) == 1


def test_following_changes_none_of_its_inputs(arms):
    arm = arms["ur5e"]
    start, moving = a_motion(arm, "ur5e")
    tip = moving.sampled(0.01)
    given = np.array(start), tip.poses.copy(), tip.twists.copy()
    follow(arm, tip, given[0])
    assert np.array_equal(given[0], start)
    assert np.array_equal(given[1], tip.poses)
    assert np.array_equal(given[2], tip.twists)
