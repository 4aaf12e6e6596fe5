"""What goes into a question and comes out of an answer: known values, frames, refusals, JSON."""

from __future__ import annotations

import json
from dataclasses import FrozenInstanceError

import numpy as np
import pytest

import forearm
from forearm.ik.problem import Tolerance, pose_problem
from forearm.ik.result import POSTURE_DATA, IKResult, Status
from forearm.ik.solve import solve
from forearm.robots.robot import chain_in
from forearm.robots.tree import Frame, Joint, JointKind, Link, Tree
from forearm.spatial import Pose

ROOT = Pose.from_rpy((1.0, -2.0, 0.5), (0.3, -0.2, 2.0))


def test_the_two_branches_of_the_known_target(arms):
    result = arms["two_link"].ik((0.34, 0.28, 0.0))
    down, up = result.solutions
    assert np.allclose(np.degrees(down.q), (-6.17, 88.55), rtol=0, atol=0.01)
    assert np.allclose(np.degrees(up.q), (85.11, -88.55), rtol=0, atol=0.01)
    assert (down.branch, up.branch) == ("elbow_down", "elbow_up")
    assert max(down.position_error_m, up.position_error_m) < 1e-15
    assert result.solver == "planar"
    assert (result.status, result.reason, result.proof) == (Status.SOLVED, "certified", None)
    assert result.best_effort is None


def test_a_solution_says_how_far_it_is_from_its_limits(arms):
    solution = arms["two_link"].ik((0.34, 0.28, 0.0)).require()
    assert solution.limit_joint == "elbow"
    assert solution.limit_margin_rad == pytest.approx(3.14 - np.radians(88.55), abs=1e-3)
    assert solution.limit_margin_m == np.inf
    assert solution.winding_count == 1


def test_one_branch_blocked_leaves_the_other(make_two_hinges):
    only_up = solve(make_two_hinges((-3.0, -3.0), (3.0, 0.0)), (0.5, 0.3, 0.0))
    assert [solution.branch for solution in only_up.solutions] == ["elbow_up"]
    assert only_up.diagnostics.drops == {"limits": 1}
    only_down = solve(make_two_hinges((-3.0, 0.0), (3.0, 3.0)), (0.5, 0.3, 0.0))
    assert [solution.branch for solution in only_down.solutions] == ["elbow_down"]


def test_both_branches_blocked_is_proved_and_the_joints_are_named(make_two_hinges):
    result = solve(make_two_hinges((-3.0, -0.5), (3.0, 0.5)), (0.5, 0.3, 0.0))
    assert (result.status, result.reason) == (Status.UNREACHABLE, "beyond reach")
    result = solve(make_two_hinges((-0.2, -2.9), (0.2, 2.9)), (-0.5, 0.3, 0.0))
    assert (result.status, result.reason) == (Status.UNREACHABLE, "limits block every branch")
    assert result.proof.count("joint shoulder is") == 2
    assert result.diagnostics.drops["limits"] == 2
    assert result.best_effort is not None


def test_a_stretched_and_a_folded_arm_have_one_branch(make_two_hinges):
    stretched = solve(make_two_hinges(), (0.9, 0.0, 0.0))
    assert [solution.branch for solution in stretched.solutions] == ["stretched"]
    folded = solve(make_two_hinges(), (0.1, 0.0, 0.0))
    assert [solution.branch for solution in folded.solutions] == ["folded"]


def test_equal_links_reach_their_own_shoulder(make_two_hinges):
    result = solve(make_two_hinges(l1_m=0.4, l2_m=0.4), (0.0, 0.0, 0.0))
    assert result.status is Status.SOLVED
    assert result.require().branch == "folded"


def test_every_kind_of_target_is_the_same_question(arms):
    arm = arms["ur5e"]
    pose = arm.fk(arm.home + 0.1)
    answers = [
        arm.ik(target, seed=arm.home).q
        for target in (pose, pose.matrix(), pose.matrix().tolist(), tuple(map(tuple, pose.matrix())))
    ]
    assert all(np.allclose(answer, answers[0], rtol=0, atol=1e-9) for answer in answers)
    for target in ((0.3, 0.3, 0.4), [0.3, 0.3, 0.4], np.array([0.3, 0.3, 0.4]), Pose((0.3, 0.3, 0.4))):
        solution = arm.ik(target, task="position", seed=arm.home + 0.1).require()
        assert np.isnan(solution.rotation_error_rad)
        assert np.allclose(arm.fk(solution.q).position_m, (0.3, 0.3, 0.4), rtol=0, atol=1e-6)


def test_the_frame_of_a_target_is_honoured(arms):
    here, there = arms["ur5e"], forearm.load("ur5e", root=ROOT)
    q = here.home + 0.1
    in_base = here.fk(q)
    in_world = ROOT @ in_base
    for arm, target, frame in (
        (here, in_base, None),
        (here, in_base, "world"),
        (there, in_base, None),
        (there, in_base, "base_link"),
        (there, in_world, "world"),
    ):
        result = arm.ik(target, seed=q + 0.01, frame=frame)
        assert np.allclose(result.q, q, rtol=0, atol=1e-4), frame
        assert result.frame == (frame or "base_link")
    assert there.ik(in_world, seed=q).status is not Status.SOLVED


def test_a_frame_that_stands_still_above_a_chosen_base_is_honoured():
    arm = forearm.load("panda", base="link2", root=ROOT)
    q = 0.5 * (arm.lower + arm.upper)
    in_base = arm.fk(q)
    in_root = arm.frame_in_ancestor("link0", "link2") @ in_base
    for target, frame in ((in_base, None), (in_root, "link0"), (ROOT @ in_root, "world")):
        problem = pose_problem(arm, target, frame=frame)
        assert np.allclose(problem.target_in_base.matrix(), in_base.matrix(), rtol=0, atol=1e-12)


def test_the_world_is_the_world_even_if_the_root_link_bears_its_name():
    joint = Joint("slide", JointKind.PRISMATIC, "world", "cart", lower=-1.0, upper=1.0)
    frames = (Frame("tip", "cart"),)
    tree = Tree(
        "t", "t", (Link("world"), Link("cart")), (joint,), frames, root_in_world=Pose((5.0, 0.0, 0.0))
    )
    robot = chain_in(tree, None, "tip")
    assert robot.base == "world"
    inside = solve(robot, (0.0, 0.0, 0.5))
    assert np.allclose(inside.q, [0.5], rtol=0, atol=1e-6)
    outside = solve(robot, (5.0, 0.0, 0.5), frame="world")
    assert np.allclose(outside.q, [0.5], rtol=0, atol=1e-6)


@pytest.mark.parametrize(
    ("question", "kind", "says"),
    [
        ({"solver": "magic"}, forearm.UnknownName, "dls_adaptive"),
        ({"frame": "table"}, forearm.UnknownName, "base"),
        ({"task": "force"}, forearm.UnknownName, "position"),
        ({"colour": "red"}, forearm.UnknownName, "option"),
        ({"solver": "dls", "dampin": 0.1}, forearm.UnknownName, "damping"),
        ({"solver": "dls", "damping": "much"}, forearm.InvalidInput, "positive"),
        ({"frame": "link2"}, forearm.InvalidInput, "moves with joint 'shoulder'"),
        ({"seed": (0.1,)}, forearm.InvalidInput, "shoulder, elbow"),
        ({"seed": (0.1, float("nan"))}, forearm.InvalidInput, "not finite"),
        ({"seed": "home"}, forearm.InvalidInput, "not numeric"),
        ({"tolerance": 1e-6}, forearm.InvalidInput, "Tolerance"),
        ({"max_iterations": 0}, forearm.InvalidInput, "1 or more"),
        ({"max_iterations": 2.5}, forearm.InvalidInput, "whole number"),
        ({"max_iterations": "many"}, forearm.InvalidInput, "whole number"),
    ],
)
def test_a_bad_question_is_refused(question, kind, says, arms):
    with pytest.raises(kind, match=says) as caught:
        arms["two_link"].ik((0.3, 0.3, 0.0), **question)
    if kind is forearm.UnknownName:
        assert isinstance(caught.value.valid, tuple)


@pytest.mark.parametrize(
    "target",
    [
        (0.3, 0.3),
        (0.3, 0.3, float("nan")),
        np.full((4, 4), np.nan),
        np.eye(3),
        np.diag([1.0, 1.0, -1.0, 1.0]),
        2.0 * np.eye(4),
        [[1.0, 2.0], [3.0]],
        [0.3, [0.3], 0.1],
        "there",
        None,
        {},
        5,
    ],
)
def test_a_bad_target_is_refused(target, arms):
    with pytest.raises(forearm.InvalidInput):
        arms["two_link"].ik(target)


def test_three_coordinates_are_no_pose(arms):
    for target in ((0.3, 0.3, 0.3), np.array([0.3, 0.3, 0.3])):
        with pytest.raises(forearm.InvalidInput, match="without a rotation"):
            arms["ur5e"].ik(target)


@pytest.mark.parametrize("value", [0.0, -1e-6, float("nan"), float("inf"), "small", None])
def test_a_tolerance_is_a_positive_number(value):
    with pytest.raises(forearm.InvalidInput, match=r"tolerance\.position_m"):
        Tolerance(value, 1e-6)
    with pytest.raises(forearm.InvalidInput, match=r"tolerance\.rotation_rad"):
        Tolerance(1e-6, value)


def failures(arms):
    yield arms["two_link"].ik((2.0, 0.0, 0.0))
    yield arms["ur5e"].ik(Pose((3.0, 0.0, 0.0)))
    yield arms["ur5e"].ik(arms["ur5e"].fk(arms["ur5e"].home + 1.0), max_iterations=1)


def test_a_failure_gives_no_joint_vector_away(arms):
    seen = []
    for result in failures(arms):
        seen.append(result.status)
        assert not result
        for ask in (lambda result=result: result.q, result.require):
            with pytest.raises(forearm.NoSolution) as caught:
                ask()
            assert caught.value.result is result
            assert str(caught.value).startswith(f"{result.status}: {result.reason}")
    assert seen == [Status.UNREACHABLE, Status.UNREACHABLE, Status.NOT_FOUND]


def reads_back(result: IKResult) -> dict:
    return json.loads(json.dumps(result.to_json(), allow_nan=False))


def test_results_are_strict_json_whatever_they_hold(arms, make_chain, random):
    results = [
        *failures(arms),
        arms["two_link"].ik((0.9, 0.0, 0.0), solver="dls", record=True, seed=(0.0, 0.0)),
        arms["ur5e"].ik(arms["ur5e"].fk(arms["ur5e"].home), seed=arms["ur5e"].home, audit=True),
        solve(make_chain(random, [JointKind.CONTINUOUS]), (0.1, 0.1, 0.1), solver="pinv"),
        arms["two_link"].ik((0.3, 0.3, 0.0), seed=(9.0, 0.0)),
    ]
    for result in results:
        data = reads_back(result)
        assert data["status"] == str(result.status)
        assert len(data["solutions"]) == len(result.solutions)
        assert data["tolerance"] == {"position_m": 1e-6, "rotation_rad": 1e-6}
        shown = [*data["solutions"], *([data["best_effort"]] if data["best_effort"] else [])]
        assert shown
        for posture in shown:
            assert set(posture) == set(POSTURE_DATA)


def test_the_result_is_frozen(arms):
    result = arms["two_link"].ik((0.3, 0.3, 0.0))
    with pytest.raises(FrozenInstanceError):
        result.status = Status.NOT_FOUND
    with pytest.raises(FrozenInstanceError):
        result.solutions[0].q = np.zeros(2)
    with pytest.raises(ValueError, match="read-only"):
        result.seed[0] = 1.0


def test_a_looser_tolerance_is_kept_to_and_reported(arms):
    arm = arms["ur5e"]
    loose = Tolerance(position_m=1e-2, rotation_rad=2e-2)
    result = arm.ik(arm.fk(arm.home + 0.2), seed=arm.home, tolerance=loose)
    assert result.tolerance is loose
    solution = result.require()
    assert 1e-6 < max(solution.position_error_m, solution.rotation_error_rad) < 2e-2


def test_without_a_seed_home_is_the_start(arms):
    for arm in arms.values():
        assert np.array_equal(arm.ik(arm.fk(arm.home)).seed, arm.home)
