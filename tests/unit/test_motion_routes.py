"""Routes, profiles, the cube's stroke, and routes in time."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from forearm.errors import InvalidInput, UnknownName
from forearm.motion.cube import cube, cube_edges, stroke
from forearm.motion.profile import PROFILES, cubic, profile, quintic, trapezoid
from forearm.motion.route import Line, Route, circle, line, polyline, square, through
from forearm.motion.trajectory import joint_quintics, timed
from forearm.spatial import Pose, rotation_exp, rotation_log

AXIS = np.array([1.0, -2.0, 0.5]) / np.linalg.norm([1.0, -2.0, 0.5])


def differences(values, step):
    """The first derivative along axis 0 by the seventh-order central rule, three rows short at each end."""
    weights = np.array([-1.0, 9.0, -45.0, 0.0, 45.0, -9.0, 1.0]) / (60.0 * step)
    rows = len(values) - 6
    return sum(weight * values[i : i + rows] for i, weight in enumerate(weights))


def spins(rotations, step):
    """The rotation vector turned per unit of the parameter: vee(R' Rᵀ)."""
    rate = differences(rotations, step) @ np.swapaxes(rotations[3:-3], 1, 2)
    return np.stack([rate[:, 2, 1], rate[:, 0, 2], rate[:, 1, 0]], axis=1)


def turned(angle_rad, axis=AXIS):
    return Pose.from_rotation((0.4, 0.1, 0.3), rotation_exp(angle_rad * axis))


SEGMENTS = {
    "line": Line(Pose((0.1, 0.2, 0.3)), Pose((0.3, -0.1, 0.35))),
    "turning line": Line(Pose((0.1, 0.2, 0.3), (0.5, 0.5, -0.5, 0.5)), turned(1.3)),
    "turn in place": Line(turned(0.2), turned(2.9)),
    "almost half a turn": Line(turned(0.0), turned(np.pi - 1e-7)),
    "arc": circle((0.3, 0.2, 0.5), 0.08, turned(0.7), AXIS).segments[0],
}


@pytest.mark.parametrize("name", SEGMENTS)
def test_a_segments_derivatives_are_those_of_its_poses(name):
    segment = SEGMENTS[name]
    s = np.linspace(0.0, 1.0, 401)
    points = segment.at(s)
    inner = slice(3, -3)
    assert np.allclose(differences(points.positions_m, s[1]), points.first[inner, :3], rtol=0, atol=1e-10)
    assert np.allclose(spins(points.rotations, s[1]), points.first[inner, 3:], rtol=0, atol=1e-9)
    assert np.allclose(differences(points.first, s[1]), points.second[inner], rtol=0, atol=1e-9)
    travelled = np.linalg.norm(np.diff(points.positions_m, axis=0), axis=1).sum()
    assert travelled == pytest.approx(segment.length_m, rel=2e-5, abs=1e-15)


@pytest.mark.parametrize("angle_rad", [1e-9, 0.3, 2.0, np.pi - 1e-9, np.pi])
def test_rotation_is_interpolated_about_one_axis_evenly_up_to_half_a_turn(angle_rad):
    segment = Line(turned(0.0), turned(angle_rad))
    s = np.array([0.0, 0.25, 0.5, 1.0])
    rotations = segment.at(s).rotations
    assert np.allclose(rotations @ np.swapaxes(rotations, 1, 2), np.eye(3), rtol=0, atol=1e-12)
    for value, rotation in zip(s, rotations, strict=True):
        # At half a turn both senses are as short.
        off = min(
            np.linalg.norm(rotation_log(rotation @ rotation_exp(-sense * value * angle_rad * AXIS)))
            for sense in ((1.0,) if angle_rad < np.pi else (1.0, -1.0))
        )
        assert off < 1e-8
    assert np.allclose(rotations[-1], segment.end.rotation, rtol=0, atol=1e-8)


def test_equal_rotations_do_not_turn_at_all():
    pose = turned(0.7)
    segment = Line(pose, Pose((0.0, 0.0, 0.0), pose.quaternion_wxyz))
    points = segment.at(np.linspace(0.0, 1.0, 5))
    assert not points.first[:, 3:].any()
    assert np.array_equal(points.rotations, np.broadcast_to(pose.rotation, (5, 3, 3)))


def test_lengths_and_ends_of_the_named_routes():
    pose = turned(0.4)
    assert square((0.3, 0.3, 0.0), 0.1, pose).length_m == pytest.approx(0.4)
    assert circle((0.3, 0.3, 0.0), 0.1, pose).length_m == pytest.approx(0.2 * np.pi)
    assert cube((0.3, 0.2, 0.5), 0.1, pose).length_m == pytest.approx(1.5)
    for route in (square((0.3, 0.3, 0.0), 0.1, pose), circle((0.3, 0.3, 0.0), 0.1, pose, (0, 1, 1))):
        begin = route.segments[0].at(np.zeros(1)).positions_m[0]
        end = route.segments[-1].at(np.ones(1)).positions_m[0]
        assert np.allclose(begin, end, rtol=0, atol=1e-15)
    turning = circle((0.3, 0.3, 0.1), 0.1, pose)
    points = turning.segments[0].at(np.array([0.0, 0.25])).positions_m - (0.3, 0.3, 0.1)
    assert np.cross(points[0], points[1])[2] == pytest.approx(0.01), (
        "counterclockwise seen from the normal's tip"
    )


def test_routes_that_make_no_sense_are_refused():
    pose = turned(0.0)
    for wrong in (lambda: through([pose]), lambda: polyline([[0, 0, 0]], pose), lambda: Route(())):
        with pytest.raises(InvalidInput):
            wrong()
    with pytest.raises(InvalidInput, match="side_m is -1"):
        square((0, 0, 0), -1.0, pose)
    with pytest.raises(InvalidInput, match=r"torn between segments 1 and 2: 0\.1 m"):
        Route((SEGMENTS["line"], Line(Pose((0.3, -0.1, 0.45)), pose)))
    with pytest.raises(InvalidInput, match="torn"):
        Route((SEGMENTS["line"], Line(Pose((0.3, -0.1, 0.35), (0.0, 1.0, 0.0, 0.0)), pose)))


def test_the_stroke_draws_every_edge_of_the_cube_and_three_of_them_twice():
    corners = stroke()
    drawn = [tuple(sorted(pair)) for pair in pairwise(corners)]
    assert len(corners) == 16
    assert len(drawn) == 15
    assert all(np.abs(np.subtract(a, b)).sum() == 1 for a, b in drawn)
    assert set(drawn) == {tuple(sorted(edge)) for edge in cube_edges()}
    assert len(set(drawn)) == 12


def test_the_cubes_segments_are_edges_of_the_cube_that_was_asked_for():
    center, pose = np.array([0.3, 0.2, 0.55]), turned(1.0)
    route = cube(center, 0.1, pose)
    assert len(route.segments) == 15
    for segment in route.segments:
        assert segment.length_m == pytest.approx(0.1)
        for end in (segment.start, segment.end):
            assert np.allclose(np.abs(end.position_m - center), 0.05, rtol=0, atol=1e-15)
            assert np.array_equal(end.quaternion_wxyz, pose.quaternion_wxyz)


@pytest.mark.parametrize("name", PROFILES)
def test_profiles_go_from_rest_to_rest_and_rest_outside(name):
    timing = profile(name, 1.7)
    before, begin, end, after = timing.at(np.array([-0.3, 0.0, 1.7, 2.5])).s
    assert (before, begin) == (0.0, 0.0)
    assert (end, after) == pytest.approx((1.0, 1.0), abs=1e-15)
    assert np.allclose(timing.at(np.array([-0.3, 0.0, 1.7, 2.5])).first, 0.0, rtol=0, atol=1e-15)
    assert np.array_equal(timing.at(np.array([-0.3, 1.7, 2.5])).second, np.zeros(3))


@pytest.mark.parametrize("name", PROFILES)
def test_profiles_never_go_back_and_their_derivatives_fit(name):
    timing = profile(name, 0.8)
    times = np.linspace(0.0, 0.8, 4001)
    s, first, second = timing.at(times)
    assert (np.diff(s) >= 0.0).all()
    # The trapezoid rule is exact to the step squared; across a jump of acceleration to the step.
    assert np.allclose(np.diff(s), 0.5 * (first[1:] + first[:-1]) * times[1], rtol=0, atol=1e-9)
    smooth = np.abs(np.diff(second)) < 1.0
    change = 0.5 * (second[1:] + second[:-1]) * times[1]
    assert np.allclose(np.diff(first)[smooth], change[smooth], rtol=0, atol=1e-7)
    assert smooth.mean() > 0.99


def test_profiles_peak_where_their_docstrings_say():
    times = np.linspace(0.0, 2.0, 2001)
    assert quintic(2.0).at(times).first.max() == pytest.approx(15 / 8 / 2.0)
    assert cubic(2.0).at(times).first.max() == pytest.approx(1.5 / 2.0)
    assert trapezoid(2.0).at(times).first.max() == pytest.approx(4 / 3 / 2.0)
    assert np.array_equal(np.unique(trapezoid(2.0, 0.5).at(times[:-1]).second), [-1.0, 1.0])


def test_acceleration_is_the_one_that_follows_a_jump():
    assert cubic(1.0).at(np.zeros(1)).second[0] == pytest.approx(6.0)
    assert trapezoid(1.0).at(np.array([0.0, 0.25, 0.75])).second == pytest.approx([16 / 3, 0.0, -16 / 3])


def test_profiles_refuse_what_is_not_a_duration():
    for wrong in (0.0, -1.0, np.nan, np.inf):
        with pytest.raises(InvalidInput, match="duration_s"):
            quintic(wrong)
    with pytest.raises(InvalidInput, match="ramp"):
        trapezoid(1.0, 0.6)
    with pytest.raises(UnknownName, match="quintic"):
        profile("septic", 1.0)


@pytest.mark.parametrize("make", [quintic, trapezoid])
def test_a_trajectory_follows_the_chain_rule(make):
    circled = circle((0.3, 0.2, 0.5), 0.08, turned(0.7), AXIS)
    route = Route((*circled.segments, Line(circled.segments[0].start, turned(2.0))))
    tip = timed(route, [make(1.0), make(0.5)]).sampled(1e-3)
    inner = slice(3, -3)
    position, rotation = tip.poses[:, :3, 3], tip.poses[:, :3, :3]
    # Across a jump of acceleration, and of jerk at the corner, a difference says nothing.
    smooth = np.ones(len(tip) - 6, dtype=bool)
    for tick in (250, 750, 1000, 1125, 1375) if make is trapezoid else (1000,):
        smooth[max(tick - 7, 0) : tick + 2] = False
    assert np.allclose(differences(position, 1e-3)[smooth], tip.twists[inner, :3][smooth], rtol=0, atol=1e-8)
    assert np.allclose(spins(rotation, 1e-3)[smooth], tip.twists[inner, 3:][smooth], rtol=0, atol=1e-6)
    rates = differences(tip.twists, 1e-3)
    assert np.allclose(rates[smooth], tip.accelerations[inner][smooth], rtol=0, atol=1e-5)


def test_a_trajectory_ends_at_rest_on_its_last_tick_whatever_the_tick():
    route = square((0.3, 0.3, 0.0), 0.1, turned(0.0))
    for dt_s in (0.002, 0.003, 0.07, 1.9):
        tip = timed(route, [quintic(0.5)]).sampled(dt_s)
        assert (len(tip) - 1) * dt_s >= 2.0 - 1e-9
        assert (len(tip) - 2) * dt_s < 2.0
        assert np.allclose(tip.poses[-1, :3, 3], (0.25, 0.25, 0.0), rtol=0, atol=1e-15)
        assert not tip.twists[-1].any()
        assert not tip.accelerations[-1].any()


def test_before_and_after_the_tip_rests_without_acceleration():
    moving = timed(line(Pose((0, 0, 0)), Pose((1, 0, 0))), [cubic(1.0)])
    tip = moving.at(np.array([-0.5, 0.0, 1.0, 3.0]), 0.01)
    assert tip.accelerations[:, 0] == pytest.approx([0.0, 6.0, 0.0, 0.0])
    assert not tip.twists.any()


def test_a_tick_on_a_corner_begins_the_next_segment():
    route = square((0.3, 0.3, 0.0), 0.1, turned(0.0))
    # Three times 0.7 in steps of 0.1 is not 2.1 in floating point.
    tip = timed(route, [cubic(0.7)]).sampled(0.1)
    assert tip.segments.tolist() == [*np.repeat(range(4), 7), 3]
    assert not tip.twists[::7].any()
    assert np.linalg.norm(tip.accelerations[:-1:7], axis=1) == pytest.approx(4 * [0.1 * 6 / 0.49])


def test_as_many_profiles_as_segments():
    route = square((0.3, 0.3, 0.0), 0.1, turned(0.0))
    with pytest.raises(InvalidInput, match="2 for 4"):
        timed(route, [quintic(1.0)] * 2)
    with pytest.raises(InvalidInput, match="dt_s"):
        timed(route, [quintic(1.0)]).sampled(0.0)


def test_joint_quintics_pass_their_waypoints_at_rest(random):
    waypoints = random.uniform(-2.0, 2.0, (4, 3))
    joints = joint_quintics(waypoints, 0.5, 0.002)
    assert len(joints) == 751
    assert np.allclose(joints.q[::250], waypoints, rtol=0, atol=1e-12)
    assert np.allclose(joints.qd[::250], 0.0, rtol=0, atol=1e-9)
    assert np.allclose(differences(joints.q, 0.002), joints.qd[3:-3], rtol=0, atol=1e-4)
    inside = np.r_[10:240, 260:490, 510:740]
    assert np.allclose(differences(joints.q, 0.002)[inside - 3], joints.qd[inside], rtol=0, atol=1e-9)
    assert np.allclose(differences(joints.qd, 0.002)[inside - 3], joints.qdd[inside], rtol=0, atol=1e-8)
    assert np.array_equal(joint_quintics(waypoints, 0.5, 0.007).q[-1], waypoints[-1])


def test_joint_quintics_need_waypoints_and_time():
    for wrong in ([[0.0, 1.0]], [0.0, 1.0], [[0.0], [np.nan]]):
        with pytest.raises(InvalidInput, match="waypoints"):
            joint_quintics(wrong, 1.0, 0.01)
    with pytest.raises(InvalidInput, match="seconds"):
        joint_quintics([[0.0], [1.0]], 0.0, 0.01)


def test_the_differences_of_this_file_see_a_wrong_derivative():
    s = np.linspace(0.0, 1.0, 401)
    points = SEGMENTS["arc"].at(s)
    off = points.first[3:-3, :3] * (1.0 + 1e-6)
    assert not np.allclose(differences(points.positions_m, s[1]), off, rtol=0, atol=1e-10)
