"""What holds for every motion: routes, profiles, timings and joints drawn at random."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from forearm.kinematics.forward import tip_matrix
from forearm.motion.follow import LostTrack, follow
from forearm.motion.jerk_limited import PathLimits, jerk_limited, point_to_point
from forearm.motion.profile import PROFILES, profile, trapezoid
from forearm.motion.route import Line, through
from forearm.motion.time_optimal import time_optimal_joints
from forearm.motion.trajectory import joint_quintics, timed
from forearm.spatial import Pose, pose_error, rotation_exp

numbers = st.floats(-1.0, 1.0, allow_subnormal=False)
vectors = arrays(np.float64, 3, elements=numbers)
durations = st.floats(1e-3, 1e3)


@st.composite
def poses(draw):
    quaternion = draw(arrays(np.float64, 4, elements=numbers))
    assume(np.linalg.norm(quaternion) > 0.1)
    return Pose(draw(vectors), quaternion / np.linalg.norm(quaternion))


@given(poses(), poses(), st.floats(0.0, 1.0))
def test_a_line_divides_its_way_and_its_turn_alike(start, end, share):
    segment = Line(start, end)
    points = segment.at(np.array([0.0, share, 1.0]))
    passed = [Pose.from_rotation(p, r) for p, r in zip(points.positions_m, points.rotations, strict=True)]
    assert pose_error(start, passed[0]).angle_rad < 1e-9
    assert pose_error(end, passed[2]).angle_rad < 1e-9
    whole, part = pose_error(end, start), pose_error(passed[1], start)
    assert part.distance_m == pytest.approx(share * whole.distance_m, abs=1e-12)
    assert part.angle_rad == pytest.approx(share * whole.angle_rad, abs=1e-7)
    assert whole.angle_rad <= np.pi + 1e-12


@given(st.sampled_from(sorted(PROFILES)), durations, st.lists(st.floats(-0.5, 1.5), min_size=2, max_size=20))
def test_profiles_stay_between_their_ends_and_never_turn_back(name, seconds, shares):
    times = np.sort(shares) * seconds
    s, first, second = profile(name, seconds).at(times)
    assert ((s >= 0.0) & (s <= 1.0 + 1e-12)).all()
    assert (np.diff(s) >= -1e-12).all()
    assert (first >= -1e-12 / seconds).all()
    outside = (times < 0.0) | (times >= seconds)
    assert not first[outside].any()
    assert not second[outside].any()


@given(durations, st.floats(0.01, 0.5))
def test_every_trapezoid_covers_its_way(seconds, ramp):
    times = np.array([0.0, ramp, 0.5, 1.0 - ramp, 1.0]) * seconds
    s = trapezoid(seconds, ramp).at(times).s
    assert s[[0, 2, 4]] == pytest.approx([0.0, 0.5, 1.0], abs=1e-9)
    assert s[1] + s[3] == pytest.approx(1.0, abs=1e-9)


limits = st.floats(0.05, 50.0)


@given(st.floats(0.001, 5.0), limits, limits, limits)
def test_jerk_limited_profiles_keep_their_limits_and_cover_their_way(length_m, speed, acceleration, jerk):
    segment = Line(Pose.identity(), Pose((length_m, 0.0, 0.0)))
    timing = jerk_limited(segment, PathLimits(speed, acceleration, jerk))
    times = np.linspace(0.0, timing.duration_s, 801)
    s, first, second = timing.at(times)
    assert (np.diff(s) >= -1e-12).all()
    assert s[-2] == pytest.approx(1.0, abs=1e-4)
    assert (first * length_m <= speed * (1 + 1e-9)).all()
    assert (np.abs(second[:-1]) * length_m <= acceleration * (1 + 1e-9)).all()
    assert (np.abs(np.diff(second)) * length_m <= jerk * times[1] * (1 + 1e-6) + 1e-9).all()
    # It cannot be faster than each limit alone would let it be.
    least = max(length_m / speed, 2.0 * np.sqrt(length_m / acceleration), (32.0 * length_m / jerk) ** (1 / 3))
    assert timing.duration_s >= least * (1.0 - 1e-6)
    assert timing.duration_s <= length_m / speed + 2 * speed / acceleration + 2 * acceleration / jerk + least


@given(st.integers(0, 10_000))
@settings(max_examples=40)
def test_point_to_point_keeps_its_limits_between_any_postures(arms, make_posture, seed):
    random = np.random.default_rng(seed)
    arm = arms["panda"]
    start, goal = make_posture(arm, random), make_posture(arm, random)
    acceleration, jerk = 10.0 ** random.uniform(-1, 2, arm.dof), 10.0 ** random.uniform(0, 4, arm.dof)
    joints = point_to_point(arm, start, goal, dt_s=0.01, max_acceleration=acceleration, max_jerk=jerk)
    assert (np.abs(joints.qd) <= arm.max_speed + 1e-9).all()
    assert (np.abs(joints.qdd) <= acceleration + 1e-9).all()
    assert (np.abs(np.diff(joints.qdd, axis=0)) <= 0.01 * jerk + 1e-9).all()
    assert (joints.q >= arm.lower - 1e-9).all()
    assert (joints.q <= arm.upper + 1e-9).all()
    assert np.array_equal(joints.q[-1], goal)


@pytest.mark.parametrize("name", ["ur5e", "mini_arm", "panda"])
def test_whatever_is_followed_is_followed_to_a_nanometre(name, arms, make_posture, random):
    arm, followed = arms[name], 0
    for _ in range(30):
        start = make_posture(arm, random, 0.1)
        pose = arm.fk(start)
        turn = rotation_exp(random.uniform(-0.3, 0.3, 3))
        end = Pose.from_rotation(pose.position_m + random.uniform(-0.05, 0.05, 3), turn @ pose.rotation)
        tip = timed(through([pose, end]), [profile("quintic", 1.0)]).sampled(0.01)
        try:
            joints = follow(arm, tip, start)
        except LostTrack:
            continue
        followed += 1
        reached = np.array([tip_matrix(arm, q) for q in joints.q])
        assert np.abs(reached - tip.poses).max() <= 2e-9
        assert np.isfinite(joints.qd).all()
        assert np.isfinite(joints.qdd).all()
    assert followed >= 20, "accuracy says nothing without coverage"


@given(st.integers(0, 10_000))
@settings(max_examples=15)
def test_time_optimal_is_within_limits_and_no_slower_than_quintics(arms, make_posture, seed):
    random = np.random.default_rng(seed)
    arm = arms["ur5e"]
    # Near home, where gravity leaves every joint something to move with.
    waypoints = arm.home + random.uniform(-0.6, 0.6, (2, 6))
    found = time_optimal_joints(arm, waypoints, dt_s=0.004, max_acceleration=12.0, cells=100)
    assert max(use.share for use in found.usage.values()) <= 1.0 + 1e-6
    moved = np.abs(np.diff(waypoints, axis=0)).max()
    # A quintic's peaks: 15/8 of the mean speed, and 10/√3 steps a second squared.
    seconds = max(15 / 8 * moved / np.pi, np.sqrt(10 / np.sqrt(3) * moved / 12.0))
    assert np.abs(joint_quintics(waypoints, seconds, 0.004).qdd).max() <= 12.0 + 1e-9
    if "effort" not in found.usage or found.usage["effort"].share < 0.999:
        assert found.duration_s < seconds
