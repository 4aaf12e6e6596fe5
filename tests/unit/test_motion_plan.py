"""The plan check: a sound plan passes, and every planted fault is refused with its line."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from forearm.dynamics.pinocchio_engine import PinocchioDynamics
from forearm.errors import InvalidInput
from forearm.kinematics.singularity import SINGULAR_RATIO
from forearm.motion.cube import cube
from forearm.motion.efforts import required_efforts
from forearm.motion.follow import follow
from forearm.motion.plan import Clearance, PlanRefused, check_plan
from forearm.motion.profile import quintic
from forearm.motion.reference import JointReference
from forearm.motion.route import line, polyline
from forearm.motion.trajectory import joint_quintics, timed
from forearm.robots.robot import chain_in
from forearm.spatial import Pose

DT_S = 0.002


@pytest.fixture(scope="module")
def cubes(arms):
    """The UR5e, its cube at 1 s an edge, and the joints that draw it."""
    arm = arms["ur5e"]
    route = cube((0.3, 0.2, 0.55), 0.1, arm.fk(arm.home))
    start = arm.ik(route.segments[0].start, seed=arm.home).require().q
    tip = timed(route, [quintic(1.0)]).sampled(DT_S)
    return arm, tip, follow(arm, tip, start)


def table_at(arm, height_m):
    """A made-up scene: how far the flange is above a table."""
    return lambda q: Clearance(arm.fk(q).position_m[2] - height_m, "wrist_3", "table")


def only(report):
    (problem,) = report.problems
    return problem


def changed(joints, **columns):
    arrays = {name: getattr(joints, name).copy() for name in ("q", "qd", "qdd")}
    for name, change in columns.items():
        change(arrays[name])
    return JointReference(joints.dt_s, **arrays)


def test_a_sound_plan_passes_and_its_figures_are_the_worst_of_all_ticks(cubes):
    arm, tip, joints = cubes
    report = check_plan(arm, joints, tip=tip, clearance=table_at(arm, 0.41))
    assert report.ok
    assert report.require() is report
    assert (report.ticks, report.duration_s) == (7501, pytest.approx(15.0))
    margins = np.minimum(joints.q - arm.lower, arm.upper - joints.q)
    assert report.limit_margin.value == margins.min()
    assert margins[report.limit_margin.place.tick].min() == margins.min()
    assert report.peak_speed.value == np.abs(joints.qd).max()
    efforts = required_efforts(PinocchioDynamics(arm), joints.q, joints.qd, joints.qdd)
    shares = np.abs(efforts) / arm.max_effort
    tick, joint = np.unravel_index(np.argmax(shares), shares.shape)
    assert report.peak_effort.value == pytest.approx(abs(efforts[tick, joint]), rel=1e-12)
    assert (report.peak_effort.place.tick, report.peak_effort.name) == (tick, arm.joint_names[joint])
    heights = tip.poses[:, 2, 3] - 0.41
    assert report.clearance.distance_m == pytest.approx(heights.min(), abs=1e-9)
    ratios = [1.0 / arm.dexterity(q).condition_number for q in joints.q[::5]]
    assert report.singularity.value <= min(ratios) + 1e-9
    assert report.singularity.value == pytest.approx(min(ratios), rel=1e-4)
    assert report.jumps == ()


def test_a_coarse_look_finds_the_same_worst_ticks(cubes):
    arm, tip, joints = cubes
    fine, coarse = (
        check_plan(arm, joints, tip=tip, clearance=table_at(arm, 0.41), stride=stride) for stride in (1, 25)
    )
    assert coarse.peak_effort == fine.peak_effort
    assert coarse.clearance.distance_m == pytest.approx(fine.clearance.distance_m, abs=1e-12)
    assert coarse.singularity.value == pytest.approx(fine.singularity.value, abs=1e-12)


def test_the_costly_parts_look_at_some_ticks_only(cubes):
    arm, tip, joints = cubes
    asked = []

    def clearance(q):
        asked.append(q)
        return Clearance(1.0, "", "")

    check_plan(arm, joints, tip=tip, clearance=clearance, stride=25)
    assert 7501 / 25 <= len(asked) < 7501 / 25 + 120


def test_a_speed_over_its_limit_is_refused(cubes):
    arm, tip, joints = cubes

    def fast(qd):
        qd[1234, 4] = -3.5

    report = check_plan(arm, changed(joints, qd=fast), tip=tip)
    assert only(report) == (
        "joint wrist_2 moves at 3.5 rad/s, its limit is 3.142 (t = 2.468 s, 44 % of segment 3 of 15)"
    )
    assert report.peak_speed[:4] == (3.5, "rad/s", np.pi, "wrist_2")
    assert report.peak_speed.place[:4] == (1234, pytest.approx(2.468), 2, 15)


def test_an_effort_over_its_limit_is_refused_though_it_lasts_one_tick(cubes):
    arm, tip, joints = cubes

    def hard(qdd):
        qdd[3333, 1] = 400.0

    problems = check_plan(arm, changed(joints, qdd=hard), tip=tip).problems
    assert all(problem.startswith("joint ") and " N·m, its limit is " in problem for problem in problems)
    assert any(
        "joint shoulder_lift needs" in problem and "segment 7 of 15" in problem for problem in problems
    )


def test_damping_and_friction_count_as_effort(arms):
    arm = arms["two_link"]
    joints = joint_quintics([[0.0, 0.5], [1.5, 0.5]], 1.0, DT_S)
    plain = check_plan(arm, joints).peak_effort.value
    tree = arm.tree
    for change, more in (({"damping": 1.1}, 1.0), ({"friction": 0.8}, 0.8)):
        heavy = chain_in(replace(tree, joints=tuple(replace(joint, **change) for joint in tree.joints)))
        assert check_plan(heavy, joints).peak_effort.value > plain + 0.5 * more


def test_a_limit_that_is_passed_is_refused(arms):
    arm = arms["ur5e"]
    goal = np.where(np.arange(6) == 2, 3.3, arm.home)
    report = check_plan(arm, joint_quintics([arm.home, goal, arm.home], 2.0, DT_S))
    limit = next(problem for problem in report.problems if "limits" in problem)
    assert limit == (
        "joint elbow goes to 3.3, outside its limits [-3.14159, 3.14159] (t = 2 s, 50 % of the motion)"
    )
    assert report.limit_margin.value == pytest.approx(np.pi - 3.3)
    assert report.limit_margin.name == "elbow"


def test_a_start_out_of_range_or_under_way_is_refused(arms):
    arm = arms["ur5e"]
    outside = np.where(np.arange(6) == 2, 3.3, arm.home)
    problems = check_plan(arm, joint_quintics([outside, arm.home], 2.0, DT_S)).problems
    assert problems[0] == ("the start puts joint elbow at 3.3, outside its limits [-3.14159, 3.14159]")
    joints = joint_quintics([arm.home, arm.home + 0.5], 2.0, DT_S)
    late = JointReference(DT_S, joints.q[400:], joints.qd[400:], joints.qdd[400:])
    assert "the motion starts with joint" in only(check_plan(arm, late))


def test_a_nearly_singular_plan_is_refused_and_the_singularity_named(arms):
    arm = arms["two_link"]
    start = arm.ik((0.5, 0.1, 0.0)).require().q
    route = polyline([(0.5, 0.1, 0.0), (0.6029, 0.1205, 0.0), (0.5, 0.1, 0.0)], Pose.identity())
    tip = timed(route, [quintic(3.0)]).sampled(DT_S)
    report = check_plan(arm, follow(arm, tip, start), tip=tip)
    problem = next(problem for problem in report.problems if "singular" in problem)
    assert problem.startswith("the arm is nearly singular, elbow (elbow): ")
    assert "(t = 3 s, 0 % of segment 2 of 2)" in problem
    assert report.singularity.value < SINGULAR_RATIO
    folded = np.array([arm.home, arm.home])
    folded[:, 1] = 0.0
    assert "singular" in only(check_plan(arm, joint_quintics(folded, 1.0, DT_S)))


def test_a_collision_is_refused_with_link_obstacle_first_touch_and_depth(cubes):
    arm, tip, joints = cubes
    scene = table_at(arm, 0.52)
    report = check_plan(arm, joints, tip=tip, clearance=scene)
    worst, first = report.clearance, report.clearance.first
    assert only(report) == (
        f"link wrist_3 hits table first ({first.place}); "
        f"deepest is wrist_3, 20 mm inside table ({worst.place})"
    )
    assert worst.distance_m == pytest.approx(-0.02, abs=1e-9)
    assert (worst.link, worst.obstacle) == ("wrist_3", "table")
    assert tip.poses[worst.place.tick, 2, 3] == pytest.approx(0.5, abs=1e-9)
    np.testing.assert_array_equal(worst.q, joints.q[worst.place.tick])
    # The very tick: there it touches, and nowhere before.
    heights = [scene(q).distance_m for q in joints.q[: first.place.tick + 1]]
    assert heights[-1] <= 0.0
    assert min(heights[:-1]) > 0.0
    assert first.place.tick < worst.place.tick


def test_a_collision_from_the_start_says_so_and_names_both_links(cubes):
    arm, tip, joints = cubes
    begin, deep = joints.q[0], joints.q[4000]

    def clearance(q):
        away = float(np.abs(q - deep).max())
        at_start = float(np.abs(q - begin).max())
        nearer = [Clearance(at_start - 0.01, "upper_arm", "table"), Clearance(away - 0.05, "forearm", "post")]
        return min(nearer)

    report = check_plan(arm, joints, tip=tip, clearance=clearance)
    assert only(report) == (
        "link upper_arm hits table first (t = 0 s, 0 % of segment 1 of 15); deepest is forearm, "
        f"50 mm inside post ({report.clearance.place})"
    )
    assert report.clearance.place.tick == 4000


def test_a_collision_of_one_place_is_told_once(cubes):
    arm, tip, joints = cubes
    spot = joints.q[0]
    report = check_plan(
        arm, joints, tip=tip, clearance=lambda q: Clearance(np.abs(q - spot).max() - 0.01, "forearm", "post")
    )
    assert only(report) == "link forearm hits post, 10 mm deep (t = 0 s, 0 % of segment 1 of 15)"


def test_coming_nearer_than_asked_is_refused(cubes):
    arm, tip, joints = cubes
    scene = table_at(arm, 0.47)
    assert check_plan(arm, joints, tip=tip, clearance=scene, min_clearance_m=0.02).ok
    close = only(check_plan(arm, joints, tip=tip, clearance=scene, min_clearance_m=0.05))
    assert close.startswith("link wrist_3 comes within 30 mm of table, 50 mm is asked for (")


def test_a_touch_between_the_ticks_looked_at_is_found(cubes):
    arm, tip, joints = cubes
    spot = joints.q[3507]

    def clearance(q):
        return Clearance(float(np.abs(q - spot).max()) - 1e-5, "forearm", "post")

    report = check_plan(arm, joints, tip=tip, clearance=clearance, stride=20)
    assert "link forearm hits post" in only(report)
    assert report.clearance.place.tick == 3507
    assert str(report.clearance.first.place) in only(report)


def test_a_jump_is_refused(cubes):
    arm, tip, joints = cubes

    def jump(q):
        q[2500:, 5] += 0.5

    report = check_plan(arm, changed(joints, q=jump), tip=tip)
    assert "joint wrist_3 jumps by " in only(report)
    assert [found.tick for found in report.jumps] == [2499]


def test_a_refusal_carries_the_report_and_can_be_forced(cubes):
    arm, tip, joints = cubes

    def faults(q):
        q[2500:, 5] += 0.5

    report = check_plan(arm, changed(joints, q=faults), tip=tip, clearance=table_at(arm, 0.52))
    assert len(report.problems) == 2
    with pytest.raises(PlanRefused) as refused:
        report.require()
    assert refused.value.report is report
    assert refused.value.label == "planning"
    # Whoever shows a failure puts its label before the text.
    assert not any("planning" in problem for problem in report.problems)
    assert str(refused.value) == (
        f"{report.problems[0]} (and 1 more). Pass force=True (--force) to run it all the same."
    )
    assert report.require(force=True) is report


def test_the_report_is_plain_data_and_text(cubes):
    arm, tip, joints = cubes
    data = check_plan(arm, joints, tip=tip, clearance=table_at(arm, 0.41)).to_json()
    assert json.loads(json.dumps(data, allow_nan=False)) == data
    assert data["ok"] is True
    assert data["clearance"]["link"] == "wrist_3"
    assert data["peak_speed"]["place"]["segment_count"] == 15
    text = "\n".join(check_plan(arm, joints).lines())
    assert "peak speed 0.63" in text
    assert "clearance not asked" in text


def test_an_arm_without_limits_has_none_to_pass(make_two_hinges):
    robot = make_two_hinges()
    report = check_plan(
        robot,
        joint_quintics([[0.0, 1.0], [2.0, 1.0]], 0.5, DT_S),
        clearance=lambda q: Clearance(np.inf, "", ""),
    )
    assert report.ok
    assert report.limit_margin is None
    assert report.peak_speed.value == pytest.approx(2.0 * 15 / 8 / 0.5)
    assert str(report.clearance) == "nothing near"
    json.dumps(report.to_json(), allow_nan=False)


def test_references_that_do_not_fit_are_refused(cubes):
    arm, _, joints = cubes

    def torn(qdd):
        qdd[77, 2] = np.nan

    with pytest.raises(InvalidInput, match="qdd is not finite at tick 77"):
        check_plan(arm, changed(joints, qdd=torn))
    with pytest.raises(InvalidInput, match="7501 of the joints"):
        check_plan(
            arm, joints, tip=timed(line(Pose((0, 0, 0)), Pose((1, 0, 0))), [quintic(1.0)]).sampled(DT_S)
        )
    with pytest.raises(InvalidInput, match=r"joint reference q has shape \(7501, 5\)"):
        check_plan(arm, JointReference(DT_S, joints.q[:, :5], joints.qd, joints.qdd))
    with pytest.raises(InvalidInput, match="stride is 0"):
        check_plan(arm, joints, stride=0)
