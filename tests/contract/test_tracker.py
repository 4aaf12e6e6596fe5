"""What a tracker owes: the gate's word on each step, no joint too fast, no jump unsaid, and back on track."""

from __future__ import annotations

import numpy as np
import pytest

import forearm
from forearm.ik import tracker as tracker_module
from forearm.ik.audit import PinocchioReplay
from forearm.ik.replay import distance_between
from forearm.ik.tracker import TrackStatus
from forearm.kinematics.forward import tip_matrix
from forearm.robots.tree import JointKind
from forearm.spatial import Pose, rotation_exp

DT_S = 0.002
TURN_RAD = np.deg2rad(0.1)


def smooth_path(arm, random, ticks=400):
    """The tip's way while the joints go from home to somewhere, slowly at both ends."""
    goal = np.clip(arm.home + random.uniform(-0.6, 0.6, arm.dof), arm.lower + 0.05, arm.upper - 0.05)
    s = np.linspace(0.0, 1.0, ticks)[:, None]
    joints = arm.home + (goal - arm.home) * (10.0 * s**3 - 15.0 * s**4 + 6.0 * s**5)
    return joints, np.array([tip_matrix(arm, q) for q in joints])


def past_wrist_singularity(arm, miss_rad, random, steps=161):
    """Millimetres and tenths of a degree along a line and about an axis, past q5 = ``miss_rad``."""
    posture = arm.home.copy()
    posture[4] = miss_rad
    middle, way = arm.fk(posture), random.normal(size=3)
    axis = random.normal(size=3)
    way, axis = way / np.linalg.norm(way), axis / np.linalg.norm(axis)
    path = []
    for step in range(steps):
        u = step - steps // 2
        turn = rotation_exp(u * TURN_RAD * axis)
        path.append(Pose.from_rotation(middle.position_m + 1e-3 * u * way, turn @ middle.rotation))
    start = arm.ik(path[0], seed=posture, mode="nearest").q
    return start, path


def check_honest(arm, tracker, start, poses, path):
    """Statuses are true by Pinocchio, limits and speeds are kept, nothing jumps unsaid."""
    replay, before = PinocchioReplay(arm), start
    assert np.isfinite(path.q).all()
    for k, pose in enumerate(poses):
        target = pose.matrix() if isinstance(pose, Pose) else pose
        position, rotation = distance_between(target, replay.tip_matrix(path.q[k]))
        assert path.position_error_m[k] == pytest.approx(position, abs=1e-12)
        moved = np.abs(path.q[k] - before)
        assert (moved <= tracker.most + 1e-12).all()
        assert (path.q[k] >= arm.lower).all()
        assert (path.q[k] <= arm.upper).all()
        on_pose = position <= 1e-6 + 1e-12 and rotation <= 1e-6 + 1e-12
        if path.status[k] == TrackStatus.OK:
            assert on_pose
            assert moved.max() <= tracker.jump_rad
        elif path.status[k] == TrackStatus.HELD:
            assert not on_pose or position > 1e-6 - 1e-12 or rotation > 1e-6 - 1e-12
            assert path[k].reason
        else:
            assert moved.max() > tracker.jump_rad
            assert "moved" in path[k].reason
        before = path.q[k]


@pytest.mark.parametrize("name", ["ur5e", "panda", "mini_arm"])
def test_a_smooth_path_is_followed_to_the_end(name, arms, random):
    arm = arms[name]
    joints, poses = smooth_path(arm, random)
    tracker = arm.tracker(joints[0], dt_s=0.01)
    path = tracker.follow(poses)
    assert (path.status == "OK").all()
    assert len(path) == len(poses)
    check_honest(arm, tracker, joints[0], poses, path)
    assert path.iterations.mean() < 4.0
    if arm.dof == 6:
        assert np.allclose(path.q, joints, rtol=0, atol=1e-4)


@pytest.mark.parametrize("name", ["ur5e", "mini_arm"])
@pytest.mark.parametrize("miss_rad", [0.0, 1e-6, 1e-3, 1e-2, 3e-2])
@pytest.mark.parametrize("dt_s", [DT_S, None])
def test_through_the_wrist_singularity(name, miss_rad, dt_s, arms, random):
    """Coverage too: with speed limits the tip falls behind, and is back once it has had time."""
    arm = arms[name]
    for _ in range(4):
        start, poses = past_wrist_singularity(arm, miss_rad, random)
        tracker = arm.tracker(start, dt_s=dt_s)
        path = tracker.follow(poses)
        check_honest(arm, tracker, start, poses, path)
        if dt_s is None:
            continue
        assert not (path.status == "JUMPED").any()
        waiting = tracker.follow([poses[-1]] * 1500)
        check_honest(arm, tracker, path.q[-1], [poses[-1]] * 1500, waiting)
        # The mini arm's wrist may have no room left to turn in; the UR5e's has.
        blocked = name == "mini_arm" and waiting[-1].reason.startswith("limit of wrist_roll")
        assert waiting.status[-1] == "OK" or blocked, waiting[-1].reason


def test_a_change_of_branch_is_said(arms, random):
    arm = arms["ur5e"]
    start, poses = past_wrist_singularity(arm, 0.0, random)
    path = arm.tracker(start, dt_s=DT_S).follow(poses)
    assert np.sign(path.q[0, 4]) != np.sign(path.q[-1, 4])
    assert path.crossed.sum() == 1
    (where,) = np.flatnonzero(path.crossed)
    assert "passed a singularity" in path[where].reason
    assert path[where - 1].reason == ""
    assert path[-1].crossed == path.crossed[-1]
    with pytest.raises(IndexError):
        path[len(path)]


def test_one_by_one_is_the_same_as_all_at_once(arms, random):
    arm = arms["panda"]
    _, poses = smooth_path(arm, random, 60)
    together = arm.tracker(dt_s=DT_S).follow(poses)
    tracker = arm.tracker(dt_s=DT_S)
    for k, pose in enumerate(poses):
        step = tracker.step(pose)
        assert np.array_equal(step.q, together.q[k])
        assert np.array_equal(step.q, tracker.q)
        assert step.status == together.status[k]
        assert bool(step) == (step.status is TrackStatus.OK)
        assert step.position_error_m == together.position_error_m[k]
        assert step.iterations == together.iterations[k]
    again = arm.tracker(dt_s=DT_S).follow([Pose.from_matrix(pose) for pose in poses])
    assert np.allclose(again.q, together.q, rtol=0, atol=1e-5)
    assert together.worst == int(np.argmax(together.position_error_m))


def test_a_pose_far_off_is_a_jump_without_speed_limits_and_a_way_with_them(arms):
    arm = arms["ur5e"]
    goal = arm.home + 0.3
    jumped = arm.tracker(max_step_rad=0.5).step(arm.fk(goal))
    assert jumped.status is TrackStatus.JUMPED
    assert "moved 0.3" in jumped.reason
    tracker = arm.tracker(dt_s=DT_S)
    first = tracker.step(arm.fk(goal))
    assert first.status is TrackStatus.HELD
    assert "speed limit of" in first.reason
    steps = [tracker.step(arm.fk(goal)) for _ in range(100)]
    assert steps[-1].status is TrackStatus.OK
    assert np.allclose(tracker.q, goal, rtol=0, atol=1e-5)


def test_beyond_reach_it_holds_says_why_and_comes_back(arms):
    arm = arms["ur5e"]
    tracker = arm.tracker(arm.home, dt_s=DT_S)
    home = arm.fk(arm.home)
    away = Pose(home.position_m + np.array([0.0, 0.0, 3.0]), home.quaternion_wxyz)
    steps = [tracker.step(away) for _ in range(1000)]
    assert {step.status for step in steps} == {TrackStatus.HELD}
    assert "beyond reach by" in steps[-1].reason
    assert np.abs(steps[-1].q - steps[-2].q).max() < 1e-3
    back = [tracker.step(home) for _ in range(3000)]
    assert back[-1].status is TrackStatus.OK


def test_at_a_limit_the_joint_is_named(arms):
    arm = arms["panda"]
    posture = arm.home.copy()
    posture[3] = arm.upper[3] - 1e-3
    free, held = arm.tracker(posture), arm.tracker(posture, hold={"joint1": posture[0]})
    beyond = posture.copy()
    beyond[3] = arm.upper[3] + 0.05
    held.follow([tip_matrix(arm, posture + s * (beyond - posture)) for s in np.linspace(0.0, 1.0, 60)])
    step = held.step(tip_matrix(arm, beyond))
    assert step.status is TrackStatus.HELD
    assert "limit of joint4" in step.reason
    assert "joint1" not in step.reason
    assert held.q[0] == posture[0]
    assert free.q[3] == posture[3]


@pytest.mark.parametrize("task", ["position", "axis"])
def test_tasks_that_leave_the_tip_free(task, arms, random):
    arm = arms["panda"]
    _, poses = smooth_path(arm, random, 100)
    path = arm.tracker(dt_s=0.01, task=task).follow(poses)
    assert (path.status == "OK").all()
    replay = PinocchioReplay(arm)
    for k in range(0, 100, 7):
        reached = replay.tip_matrix(path.q[k])
        assert np.linalg.norm(reached[:3, 3] - poses[k, :3, 3]) <= 1e-6
        if task == "axis":
            assert np.allclose(reached[:3, 2], poses[k, :3, 2], rtol=0, atol=2e-6)
    assert np.isnan(path.rotation_error_rad).all() == (task == "position")


def test_a_chain_of_every_kind_of_joint(make_chain, make_posture, random):
    kinds = [JointKind.CONTINUOUS, JointKind.PRISMATIC, JointKind.REVOLUTE, JointKind.REVOLUTE] * 2
    robot = make_chain(random, kinds)
    arm = forearm.Arm(robot.tree, robot.base, robot.tip, robot.joints, robot.held)
    start = make_posture(arm, random, 0.4)
    middle = 0.5 * (np.nan_to_num(arm.lower, neginf=-3.0) + np.nan_to_num(arm.upper, posinf=3.0))
    poses = [tip_matrix(arm, start + s * 0.1 * (middle - start)) for s in np.linspace(0.0, 1.0, 80)]
    tracker = arm.tracker(start)
    path = tracker.follow(poses)
    check_honest(arm, tracker, start, poses, path)
    assert (path.status == "OK").mean() > 0.9


def test_a_kernel_that_lies_or_jumps_is_caught(arms, random, monkeypatch):
    """Planted: it says that it has arrived where it has not, and it changes the branch without a word."""
    arm = arms["ur5e"]
    _, poses = smooth_path(arm, random, 20)

    def stays(table, most, targets, state, answers, iterations, crossed):
        answers[:], iterations[:], crossed[:] = state[:6], 1, False

    monkeypatch.setattr(tracker_module, "track_kernel", lambda: stays)
    assert (arm.tracker().follow(poses).status[2:] == "HELD").all()

    other = arm.ik(poses[0], seed=arm.home + np.pi * np.array([0, 0, 0, 1, 0, 1]), mode="nearest").q
    assert np.abs(other - arm.home).max() > 1.0

    def flips(table, most, targets, state, answers, iterations, crossed):
        answers[:], iterations[:], crossed[:] = other, 1, False

    monkeypatch.setattr(tracker_module, "track_kernel", lambda: flips)
    assert arm.tracker().step(poses[0]).status is TrackStatus.JUMPED


def test_what_cannot_be_tracked_is_refused(arms):
    arm = arms["panda"]
    outside = arm.home.copy()
    outside[3] = 1.0
    with pytest.raises(forearm.InvalidInput, match="joint4 at 1"):
        arm.tracker(outside)
    tracker = arm.tracker()
    with pytest.raises(forearm.InvalidInput, match="joint4"):
        tracker.reset(outside)
    for wrong in (np.full((4, 4), np.nan), np.zeros((4, 4)), "here", None):
        with pytest.raises(forearm.ForearmError):
            tracker.step(wrong)
    assert np.array_equal(tracker.q, arm.home)
    for options in ({"dt_s": 0.0}, {"dt_s": -1.0}, {"max_step_rad": 0.0}, {"jump_rad": float("nan")}):
        with pytest.raises(forearm.InvalidInput, match=next(iter(options))):
            arm.tracker(**options)


def test_joints_to_spare_keep_off_their_limits_and_come_to_rest(arms, random):
    arm = arms["panda"]
    posture = arm.home.copy()
    posture[0] = arm.upper[0] - 0.02
    pose = arm.fk(posture)
    tracker = arm.tracker(posture, dt_s=DT_S)
    path = tracker.follow([pose] * 2000)
    assert (path.status == "OK").all()
    check_honest(arm, tracker, path.q[-1], [pose] * 50, tracker.follow([pose] * 50))
    assert arm.upper[0] - path.q[-1, 0] > 0.3
    assert np.abs(path.q[-1] - path.q[-2]).max() < 1e-6
    away = arm.home.copy()
    still = arm.tracker(away, dt_s=DT_S).follow([arm.fk(away)] * 50)
    assert np.abs(still.q - away).max() < 1e-5


def test_reset_starts_over(arms):
    arm = arms["ur5e"]
    tracker = arm.tracker(dt_s=DT_S)
    target = arm.fk(arm.home + 0.001)
    first = tracker.step(target).q
    tracker.reset(arm.home)
    assert np.array_equal(tracker.step(target).q, first)
