"""Motion at its limits: jerk-limited on ruckig, time-optimal on toppra."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

import forearm
from forearm.dynamics.pinocchio_engine import PinocchioDynamics
from forearm.errors import InvalidInput, MissingExtra
from forearm.motion.cube import cube
from forearm.motion.efforts import required_efforts
from forearm.motion.follow import LostTrack, follow
from forearm.motion.jerk_limited import PathLimits, jerk_limited, jerk_limited_along, point_to_point
from forearm.motion.profile import quintic
from forearm.motion.route import Line, circle, polyline, square, through
from forearm.motion.time_optimal import InfeasiblePath, time_optimal, time_optimal_joints
from forearm.motion.timing import import_toppra
from forearm.motion.trajectory import timed
from forearm.robots.robot import chain_in
from forearm.spatial import Pose, rotation_exp

DT_S = 0.002


def shares(arm, joints, speed, acceleration, effort):
    """How much of its limit each joint uses at each tick: speed, acceleration, effort."""
    efforts = required_efforts(PinocchioDynamics(arm), joints.q, joints.qd, joints.qdd)
    return (
        np.abs(joints.qd) / speed,
        np.abs(joints.qdd) / acceleration,
        np.abs(efforts) / effort,
    )


# Jerk-limited


@pytest.mark.parametrize("name", forearm.robot_names())
def test_point_to_point_keeps_every_limit_and_arrives_together(name, arms, random, make_posture):
    arm = arms[name]
    for _ in range(10):
        start, goal = make_posture(arm, random), make_posture(arm, random)
        speed, acceleration, jerk = (random.uniform(a, b, arm.dof) for a, b in ((0.5, 3), (1, 20), (5, 500)))
        joints = point_to_point(
            arm, start, goal, dt_s=DT_S, max_speed=speed, max_acceleration=acceleration, max_jerk=jerk
        )
        assert (np.abs(joints.qd) <= speed + 1e-9).all()
        assert (np.abs(joints.qdd) <= acceleration + 1e-9).all()
        assert (np.abs(np.diff(joints.qdd, axis=0)) <= jerk * DT_S + 1e-9).all()
        assert (joints.q >= np.minimum(start, goal) - 1e-9).all()
        assert (joints.q <= np.maximum(start, goal) + 1e-9).all()
        assert np.array_equal(joints.q[0], start)
        assert np.array_equal(joints.q[-1], goal)
        assert not joints.qd[-1].any()
        # All are still under way shortly before the end.
        assert (np.abs(joints.q[-30] - goal) > 0.0).all()
        used = [np.abs(joints.qd) / speed, np.abs(joints.qdd) / acceleration]
        used.append(np.abs(np.diff(joints.qdd, axis=0)) / DT_S / jerk)
        assert max(use.max() for use in used) > 0.95, "the slowest joint goes at one of its limits"


def test_joints_alike_in_their_limits_move_in_proportion(arms):
    arm = arms["ur5e"]
    goal = arm.home + np.array([0.4, -0.3, 0.2, 0.1, -0.5, 0.7])
    joints = point_to_point(arm, arm.home, goal, dt_s=DT_S, max_acceleration=5.0, max_jerk=50.0)
    s = (joints.q - arm.home) / (goal - arm.home)
    assert np.allclose(s, s[:, :1], rtol=0, atol=1e-12)


def test_a_motion_that_just_reaches_its_top_acceleration_is_found(arms):
    # Δ = 2 a³/j²: ruckig alone finds no profile here.
    arm = arms["ur5e"]
    joints = point_to_point(arm, arm.home, arm.home + 0.1, dt_s=DT_S, max_acceleration=5.0, max_jerk=50.0)
    assert joints.times_s[-1] == pytest.approx(0.4, abs=DT_S)
    assert np.abs(joints.qdd).max() <= 5.0


def test_going_nowhere_is_one_tick(arms):
    arm = arms["ur5e"]
    joints = point_to_point(arm, arm.home, arm.home, dt_s=DT_S, max_acceleration=5.0, max_jerk=50.0)
    assert len(joints) == 1
    assert np.array_equal(joints.q[0], arm.home)


def test_point_to_point_names_the_joint_and_the_value(arms, make_two_hinges):
    arm, good = arms["ur5e"], {"dt_s": DT_S, "max_acceleration": 5.0, "max_jerk": 50.0}
    cases = (
        ({"max_jerk": [1, 1, -3, 1, 1, 1]}, r"max_jerk of joint 'elbow' is -3"),
        ({"max_acceleration": np.nan}, r"max_acceleration of joint 'shoulder_pan' is nan"),
        ({"max_acceleration": np.inf}, r"max_acceleration of joint 'shoulder_pan' is not known"),
        ({"max_speed": [1.0, 2.0]}, r"max_speed has shape \(2,\)"),
        ({"dt_s": 0.0}, r"dt_s is 0"),
    )
    for wrong, text in cases:
        with pytest.raises(InvalidInput, match=text):
            point_to_point(arm, arm.home, arm.home + 0.1, **(good | wrong))
    beyond = arm.home.copy()
    beyond[2] = 4.0
    with pytest.raises(InvalidInput, match=r"goal of joint 'elbow' is 4, outside its limits \[-3.14159"):
        point_to_point(arm, arm.home, beyond, **good)
    with pytest.raises(InvalidInput, match="max_speed of joint 'shoulder' is not known"):
        point_to_point(make_two_hinges(), (0.0, 0.0), (1.0, 1.0), **good)


def test_a_jerk_limited_profile_keeps_its_limits_along_the_path_and_attains_them():
    limits = PathLimits(0.25, 2.0, 40.0)
    route = polyline([(0, 0, 0), (0.1, 0, 0), (0.1, 0.5, 0)], Pose.identity())
    trajectory = jerk_limited_along(route, limits)
    tip = trajectory.sampled(1e-3)
    speed = np.linalg.norm(tip.twists[:, :3], axis=1)
    acceleration = np.linalg.norm(tip.accelerations[:, :3], axis=1)
    jerk = np.linalg.norm(np.diff(tip.accelerations[:, :3], axis=0), axis=1) / 1e-3
    assert 0.25 * 0.99 < speed.max() <= 0.25 + 1e-9
    assert 2.0 * 0.99 < acceleration.max() <= 2.0 + 1e-9
    assert jerk[: round(trajectory.profiles[0].duration_s / 1e-3) - 1].max() <= 40.0 + 1e-6
    times = np.linspace(0.0, trajectory.profiles[1].duration_s, 5001)
    s, first, second = trajectory.profiles[1].at(times)
    assert (s[0], s[-1], first[0], first[-1]) == (0.0, 1.0, 0.0, 0.0)
    assert (np.diff(s) >= 0.0).all()
    assert np.allclose(np.diff(s), 0.5 * (first[1:] + first[:-1]) * times[1], rtol=0, atol=1e-8)
    assert np.allclose(np.diff(first), 0.5 * (second[1:] + second[:-1]) * times[1], rtol=0, atol=1e-5)


def test_turning_is_limited_in_radians():
    turn = Pose.from_rotation((0.001, 0.0, 0.0), rotation_exp((0.0, 0.0, 2.0)))
    segment = Line(Pose.identity(), turn)
    profile = jerk_limited(segment, PathLimits(1.0, 10.0, 100.0, 0.5, 5.0, 50.0))
    tip = timed(through([Pose.identity(), turn]), [profile]).sampled(1e-3)
    assert np.linalg.norm(tip.twists[:, 3:], axis=1).max() == pytest.approx(0.5, abs=1e-9)
    in_place = Line(Pose.identity(), Pose((0.0, 0.0, 0.0), turn.quaternion_wxyz))
    with pytest.raises(InvalidInput, match="Give limits of turning"):
        jerk_limited(in_place, PathLimits(1.0, 10.0, 100.0))
    with pytest.raises(InvalidInput, match="does not move"):
        jerk_limited(Line(turn, turn), PathLimits(1.0, 10.0, 100.0))
    with pytest.raises(InvalidInput, match="jerk_m_s3 is 0"):
        PathLimits(1.0, 10.0, 0.0)


# Time-optimal


ROUTES = {
    "two_link": lambda arm: (arm.ik((0.25, 0.25, 0.0)).q, square((0.3, 0.3, 0.0), 0.1, Pose.identity())),
    "ur5e": lambda arm: (arm.home, corner(arm)),
    "mini_arm": lambda arm: (arm.home, corner(arm)),
    "panda": lambda arm: (arm.home, corner(arm)),
}


def corner(arm):
    pose = arm.fk(arm.home)
    points = pose.position_m + np.array([(0, 0, 0), (0.1, 0.05, -0.08), (0.1, 0.15, -0.08)])
    return polyline(points, pose)


@pytest.mark.parametrize("name", ROUTES)
@pytest.mark.parametrize("acceleration", [None, 15.0])
def test_every_tick_keeps_its_limits_and_some_limit_is_attained(name, acceleration, arms):
    arm = arms[name]
    start, route = ROUTES[name](arm)
    found = time_optimal(arm, route, start, dt_s=DT_S, max_acceleration=acceleration)
    uses = shares(arm, found.joints, arm.max_speed, acceleration or np.inf, arm.max_effort)
    assert max(use.max() for use in uses) <= 1.0 + 1e-6
    reported = {kind: use.share for kind, use in found.usage.items()}
    for kind, use in zip(("speed", "acceleration", "effort"), uses, strict=True):
        assert reported.get(kind, 0.0) == pytest.approx(use.max(), abs=1e-12)
    assert max(found.slowed_by) < 1.001
    # Bang-bang: all but the ticks beside a switch, or at the end, are at some limit.
    most = np.max([use.max(axis=1) for use in uses], axis=0)
    ends_s = np.cumsum([0.0, *(profile.duration_s for profile in found.profiles)])
    inside = np.abs(found.joints.times_s[:, None] - ends_s).min(axis=1) > DT_S
    assert (most[inside] > 0.98).mean() > 0.97
    for begin, end in pairwise(ends_s):
        middle = np.abs(found.joints.times_s - 0.5 * (begin + end)) < 0.2 * (end - begin)
        assert np.median(most[middle]) > 0.98


@pytest.mark.parametrize("name", ROUTES)
def test_it_is_faster_than_the_fastest_quintics_within_the_same_limits(name, arms):
    arm = arms[name]
    start, route = ROUTES[name](arm)
    found = time_optimal(arm, route, start, dt_s=DT_S, max_acceleration=15.0)

    def holds(seconds):
        joints = follow(arm, timed(route, [quintic(seconds)]).sampled(DT_S), start)
        return max(use.max() for use in shares(arm, joints, arm.max_speed, 15.0, arm.max_effort)) <= 1.0

    low, high = 0.02, 2.0
    assert holds(high)
    for _ in range(12):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if holds(middle) else (middle, high)
    # The quintics share one duration: compare with the segment that sets it.
    assert max(profile.duration_s for profile in found.profiles) < high


def test_the_tip_stays_on_the_route_and_rests_at_its_corners(arms):
    arm = arms["ur5e"]
    start, route = ROUTES["ur5e"](arm)
    found = time_optimal(arm, route, start, dt_s=DT_S, max_acceleration=15.0)
    first = route.segments[0]
    along = (first.end.position_m - first.start.position_m) / first.length_m
    on_first = found.joints.times_s < found.profiles[0].duration_s
    positions = (
        np.array([arm.fk(q).position_m for q in found.joints.q[on_first][::10]]) - first.start.position_m
    )
    assert np.linalg.norm(positions - np.outer(positions @ along, along), axis=1).max() < 1e-9
    assert np.allclose(arm.fk(found.joints.q[-1]).position_m, route.segments[-1].end.position_m, atol=1e-9)
    assert found.trajectory.duration_s == pytest.approx(found.duration_s)
    starts_s = found.trajectory.starts_s
    assert not found.trajectory.at(starts_s, DT_S).twists.any()
    assert not found.joints.qd[-1].any()


def test_a_curved_route_and_damped_joints(arms):
    arm = arms["panda"]
    pose = arm.fk(arm.home)
    start = arm.home
    route = circle(pose.position_m - (0.08, 0.0, 0.0), 0.08, pose)
    begin = route.segments[0].at(np.zeros(1)).positions_m[0]
    q0 = arm.ik(Pose(begin, pose.quaternion_wxyz), seed=start).require().q
    limits = 0.6 * arm.max_effort
    found = time_optimal(arm, route, q0, dt_s=DT_S, max_effort=limits)
    uses = shares(arm, found.joints, arm.max_speed, np.inf, limits)
    assert 0.999 < max(use.max() for use in uses) <= 1.0 + 1e-6


def test_friction_costs_time(arms):
    arm = arms["two_link"]
    start, route = ROUTES["two_link"](arm)
    tree = arm.tree
    rough = chain_in(replace(tree, joints=tuple(replace(joint, friction=2.0) for joint in tree.joints)))
    smooth_s, rough_s = (time_optimal(robot, route, start, dt_s=DT_S).duration_s for robot in (arm, rough))
    assert rough_s > 1.02 * smooth_s
    found = time_optimal(rough, route, start, dt_s=DT_S)
    assert max(use.max() for use in shares(rough, found.joints, np.inf, np.inf, rough.max_effort)) <= 1 + 1e-6


def test_joint_waypoints_are_run_in_straight_lines(arms):
    arm = arms["ur5e"]
    waypoints = arm.home + np.array(
        [[0] * 6, [0.5, -0.2, 0.3, 0.1, 0.2, -0.4], [0.5, -0.2, 0.3, 0.1, 0.2, 0.5]]
    )
    found = time_optimal_joints(arm, waypoints, dt_s=DT_S, max_acceleration=20.0)
    uses = shares(arm, found.joints, arm.max_speed, 20.0, arm.max_effort)
    assert 0.999 < max(use.max() for use in uses) <= 1.0 + 1e-6
    assert np.allclose(found.joints.q[-1], waypoints[-1], rtol=0, atol=1e-12)
    on_second = found.joints.q[found.joints.times_s > found.profiles[0].duration_s]
    assert np.allclose(on_second[:, :5], waypoints[1, :5], rtol=0, atol=1e-12)
    # One joint alone at 20 rad/s² over 0.9 rad, never as fast as its limit of speed is reached at.
    assert found.profiles[1].duration_s == pytest.approx(np.pi / 20 + 0.9 / np.pi, rel=1e-4)


def test_what_cannot_be_run_however_slowly_is_named(arms):
    arm = arms["ur5e"]
    start, route = ROUTES["ur5e"](arm)

    def elbow_at(value):
        return np.where(np.arange(6) == 2, value, arm.home)

    weak = arm.max_effort.copy()
    weak[2] = 5.0
    with pytest.raises(
        InfeasiblePath, match=r"gravity and friction of joint 'elbow' is -.*, its limit -5 "
    ) as found:
        time_optimal(arm, route, start, dt_s=DT_S, max_effort=weak)
    assert (found.value.joint, found.value.segment, abs(found.value.limit)) == ("elbow", 0, 5.0)
    assert abs(found.value.value) > 5.0
    with pytest.raises(
        InfeasiblePath, match=r"the position of joint 'elbow' is 3\.5, its limit 3\.14159 "
    ) as found:
        time_optimal_joints(arm, [arm.home, elbow_at(3.5)], dt_s=DT_S)
    assert found.value.fraction == 1.0
    with pytest.raises(InfeasiblePath, match=r"is -3\.5, its limit -3\.14159 "):
        time_optimal_joints(arm, [arm.home, elbow_at(-3.5)], dt_s=DT_S)


def test_bad_questions_are_refused(arms, make_two_hinges):
    arm = arms["ur5e"]
    start, route = ROUTES["ur5e"](arm)
    with pytest.raises(InvalidInput, match="max_acceleration of joint 'wrist_1' is 0"):
        time_optimal(arm, route, start, dt_s=DT_S, max_acceleration=[1, 1, 1, 0, 1, 1])
    with pytest.raises(InvalidInput, match="bound neither acceleration nor effort"):
        time_optimal_joints(make_two_hinges(), [[0, 0], [1, 1]], dt_s=DT_S, max_speed=1.0)
    with pytest.raises(InvalidInput, match="segment 2 does not move"):
        time_optimal_joints(arm, [arm.home, arm.home + 0.1, arm.home + 0.1], dt_s=DT_S)
    far = polyline([arm.fk(arm.home).position_m, (3.0, 0.0, 0.0)], arm.fk(arm.home))
    with pytest.raises(LostTrack, match=r"at 3\d % of segment 1 of 1: "):
        time_optimal(arm, far, start, dt_s=DT_S)


def test_the_cube_is_drawn_within_limits(arms):
    arm = arms["ur5e"]
    route = cube((0.3, 0.2, 0.55), 0.1, arm.fk(arm.home))
    start = arm.ik(route.segments[0].start, seed=arm.home).require().q
    found = time_optimal(arm, route, start, dt_s=DT_S)
    assert len(found.profiles) == 15
    assert max(use.share for use in found.usage.values()) <= 1.0 + 1e-6
    assert found.duration_s < 2.0


# What they stand on


def test_a_missing_library_is_named_with_its_extra(monkeypatch, arms):
    arm = arms["ur5e"]
    monkeypatch.setitem(sys.modules, "ruckig", None)
    with pytest.raises(MissingExtra, match=r"needs ruckig. Install it: pip install 'forearm\[motion\]'"):
        point_to_point(arm, arm.home, arm.home + 0.1, dt_s=DT_S, max_acceleration=1.0, max_jerk=1.0)
    import_toppra.cache_clear()
    monkeypatch.setitem(sys.modules, "toppra", None)
    with pytest.raises(MissingExtra, match=r"needs toppra. Install it: pip install 'forearm\[motion\]'"):
        time_optimal_joints(arm, [arm.home, arm.home + 0.1], dt_s=DT_S)


def test_the_planners_load_when_asked_and_say_nothing(tmp_path):
    script = (
        "import sys, forearm, forearm.motion.jerk_limited, forearm.motion.time_optimal as t\n"
        "assert not {'ruckig', 'toppra', 'matplotlib'} & set(sys.modules)\n"
        "arm = forearm.load('ur5e')\n"
        "t.time_optimal_joints(arm, [arm.home, arm.home + 0.1], dt_s=0.01)\n"
    )
    # Python compiles anew here, which is when it warns about toppra's docstrings.
    toppra_only = f"import sys; sys.pycache_prefix = {str(tmp_path)!r}\n" + (
        "from forearm.motion.timing import import_toppra; import_toppra()\n"
    )
    for text in (script, toppra_only):
        run = subprocess.run(
            [sys.executable, "-W", "error", "-c", text], capture_output=True, text=True, check=False
        )
        assert (run.returncode, run.stdout, run.stderr) == (0, "", "")
