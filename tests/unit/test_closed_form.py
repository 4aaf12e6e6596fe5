"""Intervals hold what they should, boxes hold every branch, and what is proved unreachable is."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import forearm
from forearm.ik import closed_form, proofs
from forearm.ik.closed_form import family_of
from forearm.ik.enumeration import branches_of
from forearm.ik.intervals import WHOLE_TURN, Interval, arc_cosine, cosine, direction, sine
from forearm.ik.limits import TURN
from forearm.ik.problem import Tolerance, pose_problem
from forearm.ik.proofs import by_closed_form, past_by
from forearm.kinematics.forward import tip_matrix
from forearm.robots.tree import JointKind
from forearm.spatial import Pose, rotation_exp

number = st.floats(-8.0, 8.0)
share = st.floats(0.0, 1.0)
SLACK = 1e-12
CLOSED = ("ur5e", "mini_arm")


def between(interval, where):
    """A number of the interval; rounding may not carry it out."""
    return min(max(interval.low + where * (interval.high - interval.low), interval.low), interval.high)


def holds(interval, value):
    return interval.low - SLACK <= value <= interval.high + SLACK


def spanned(a, b):
    return Interval(min(a, b), max(a, b))


@given(number, number, number, number, share, share)
@settings(max_examples=400)
def test_whatever_is_computed_of_intervals_holds_for_what_is_in_them(a, b, c, d, s, t):
    x, y = spanned(a, b), spanned(c, d)
    u, v = between(x, s), between(y, t)
    assert holds(x + y, u + v)
    assert holds(x - y, u - v)
    assert holds(1.0 - x, 1.0 - u)
    assert holds(2.0 * x, 2.0 * u)
    assert holds(x * y, u * v)
    assert holds(x.squared(), u * u)
    assert holds(x.squared().root(), abs(u))
    assert holds(cosine(x), math.cos(u))
    assert holds(sine(x), math.sin(u))
    if y.low > 1e-3:
        assert holds(x.over(y), u / v)
    if abs(u) <= 1.0:
        assert holds(arc_cosine(x), math.acos(u))
    found = direction(x, y)
    if (u, v) != (0.0, 0.0):
        angle = math.atan2(u, v)
        assert any(holds(found, angle + turn) for turn in (-TURN, 0.0, TURN))


def test_edges_of_intervals():
    assert arc_cosine(Interval(1.1, 1.2)) is None
    assert arc_cosine(Interval(-1.2, -1.1)) is None
    assert direction(Interval(-1.0, 1.0), Interval(-1.0, 1.0)) is WHOLE_TURN
    assert direction(Interval(-0.1, 0.1), Interval(-2.0, -1.0)).width < 0.3
    assert cosine(Interval(3.0, 3.3)).low == -1.0
    assert cosine(Interval(-0.1, 0.1)).high == 1.0
    assert cosine(Interval(0.0, 7.0)) == Interval(-1.0, 1.0)


@pytest.mark.parametrize(
    ("low", "high", "past"),
    [(1.0, 1.1, 0.0), (2.5, 2.6, 0.5), (-2.6, -2.5, 0.5), (2.5 + TURN, 2.6 + TURN, 0.5), (1.9, 2.1, -1.0),
     (3.0, 3.1, 1.0), (2.0, 2.0 + TURN, -1.0), (TURN - 1.0, TURN, -1.0)],
)  # fmt: skip
def test_how_far_an_angle_is_past_its_limits_whatever_its_turns(low, high, past):
    found = past_by(Interval(low, high), -2.0, 2.0)
    assert (found <= 0.0) if past <= 0.0 else found == pytest.approx(past, abs=1e-12)
    assert past_by(Interval(low, high), -np.inf, np.inf) <= 0.0


def sides(boxes):
    """Middles and half widths, a row a box."""
    middles = np.array([[angle.middle for angle in box] for box in boxes]).reshape(-1, 6)
    return middles, np.array([[0.5 * angle.width for angle in box] for box in boxes]).reshape(-1, 6)


@pytest.mark.parametrize("name", CLOSED)
def test_another_algorithm_finds_the_same_branches(name, arms, random, make_posture):
    """EAIK's are all in boxes, and there are as many boxes as it has branches."""
    counted = 0
    for _ in range(60):
        arm = turned_round(arms[name], random)
        target = tip_matrix(arm, make_posture(arm, random, 0.02))
        boxes = list(family_of(arm).boxes(target, 1e-9, 1e-9))
        found = branches_of(arm, target)
        exact = found.q[found.exact]
        middles, halves = sides(boxes)
        for q in exact:
            apart = np.abs(np.remainder(middles - q + np.pi, TURN) - np.pi) - halves
            assert (apart.max(axis=1) <= 1e-9).any()
        counted += len(boxes) == len(exact)
    assert counted >= 55


def moved_root(arm, random, make_pose):
    return forearm.Arm(arm.tree.with_root(make_pose(random)), arm.base, arm.tip, arm.joints, arm.held)


def turned_round(arm, random):
    """The same arm with some of its joints counting the other way."""
    flip = [random.random() < 0.5 for _ in arm.joints]
    joints = {
        joint.name: replace(joint, axis=-joint.axis, lower=-joint.upper, upper=-joint.lower)
        for joint, other in zip(arm.joints, flip, strict=True)
        if other
    }
    tree = replace(arm.tree, joints=tuple(joints.get(joint.name, joint) for joint in arm.tree.joints))
    chain = tuple(joints.get(joint.name, joint) for joint in arm.joints)
    return forearm.Arm(tree, arm.base, arm.tip, chain, arm.held)


@pytest.mark.parametrize("name", CLOSED)
def test_no_reachable_target_is_proved_unreachable(name, arms, random, make_posture, make_pose):
    """At limits, at and beside singularities, and moved by as much as the tolerance allows."""
    for _ in range(6):
        arm = turned_round(moved_root(arms[name], random, make_pose), random)
        assert family_of(arm) is not None
        check_no_false_proof(arm, random, make_posture)


def check_no_false_proof(arm, random, make_posture):
    for index in range(100):
        q = make_posture(arm, random)
        if index % 4 == 1:
            ends = np.where(random.random(6) < 0.5, arm.lower, arm.upper)
            q = np.where(random.random(6) < 0.5, ends, q)
        if index % 4 == 2:
            q[4] = np.clip(random.normal() * 10.0 ** random.uniform(-9, -1), arm.lower[4], arm.upper[4])
        if index % 4 == 3:
            q[2] = np.clip(random.normal() * 10.0 ** random.uniform(-9, -1), arm.lower[2], arm.upper[2])
        tolerance = 10.0 ** random.uniform(-9, -3)
        assert by_closed_form(nudged(arm, q, tolerance, random)) is None, q


def nudged(arm, q, tolerance, random):
    """The question of a target that the posture misses by nearly the tolerance."""
    target, shift, turn = tip_matrix(arm, q), random.normal(size=3), random.normal(size=3)
    target[:3, 3] += 0.99 * tolerance * shift / np.linalg.norm(shift)
    target[:3, :3] = rotation_exp(0.99 * tolerance * turn / np.linalg.norm(turn)) @ target[:3, :3]
    return pose_problem(arm, target, tolerance=Tolerance(tolerance, tolerance))


def test_a_closed_form_that_forgets_the_tolerance_is_caught(arms, random, monkeypatch):
    """Planted: the numbers instead of intervals around them. At the edge of reach that proves falsely."""
    arm, honest = arms["ur5e"], closed_form.blurred
    monkeypatch.setattr(closed_form, "blurred", lambda values, by: honest(values, 1e-13))
    false = 0
    for _ in range(100):
        q = random.uniform(-1.0, 1.0, 6)
        q[2] = 0.0
        false += by_closed_form(nudged(arm, q, 1e-4, random)) is not None
    assert false > 10


@pytest.mark.parametrize("name", CLOSED)
def test_what_is_not_solved_is_proved(name, arms, random):
    """Coverage: of poses drawn anywhere nearly each is solved or proved to have no solution."""
    arm, open_questions, proved = arms[name], 0, set()
    for _ in range(150):
        turn = random.normal(size=4)
        target = Pose(random.uniform(-0.6, 0.6, 3) + np.array([0.0, 0.0, 0.3]), turn / np.linalg.norm(turn))
        result = arm.ik(target)
        open_questions += result.status == "NOT_FOUND"
        if result.status == "UNREACHABLE":
            proved.add(result.reason)
    assert open_questions <= 2
    assert ("no branch" if name == "ur5e" else "limits block every branch") in proved


def test_the_proof_names_joint_and_branch(arms):
    arm = arms["ur5e"]
    target = arm.fk(arm.home + 0.1)
    narrow = [
        replace(joint, lower=1.3, upper=1.5) if joint.name == "elbow" else joint for joint in arm.joints
    ]
    blocked = forearm.Arm(arm.tree, arm.base, arm.tip, tuple(narrow), arm.held).ik(target)
    assert (blocked.status, blocked.reason) == ("UNREACHABLE", "limits block every branch")
    assert "all 8 branches enumerated (three parallel axes)" in blocked.proof
    assert "shoulder_left elbow_up wrist_no_flip: joint elbow is 0.171 rad past its limit" in blocked.proof
    held = arm.ik(target, hold={"wrist_1": 0.5})
    assert held.reason == "limits block every branch"
    assert "joint wrist_1 is" in held.proof
    assert "rad from where it is held" in held.proof


def test_other_arms_and_tasks_have_no_closed_form(arms, make_chain, random):
    for robot in (arms["panda"], arms["two_link"], make_chain(random, [JointKind.REVOLUTE] * 6),
                  make_chain(random, [JointKind.PRISMATIC] * 6)):  # fmt: skip
        assert family_of(robot) is None
    problem = pose_problem(arms["ur5e"], np.eye(4), task="position")
    assert by_closed_form(problem) is None
    assert proofs.unreachable(pose_problem(arms["ur5e"], arms["ur5e"].fk(arms["ur5e"].home))) is None
