"""Bounds on reach are proofs: nothing may ever lie outside, and they should be sharp.

Counterexamples are hunted with forward kinematics written here, in NumPy, from the tree alone.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import forearm
from forearm.ik.problem import Tolerance, pose_problem
from forearm.ik.proofs import beyond_reach
from forearm.kinematics.forward import tip_pose
from forearm.kinematics.reach import combine, distance_range, reach_bounds, reach_m
from forearm.robots.robot import chain_in
from forearm.robots.tree import JointKind
from forearm.spatial import Pose, rotation_exp

REVOLUTE, CONTINUOUS, PRISMATIC = JointKind.REVOLUTE, JointKind.CONTINUOUS, JointKind.PRISMATIC
SAMPLES = 20_000


def tips(robot, postures):
    """Rotations (k, 3, 3) and positions (k, 3) of the tip in the base."""
    base = robot.base_frame.pose.inverse()
    rotation = np.broadcast_to(base.rotation, (len(postures), 3, 3))
    position = np.broadcast_to(base.position_m, (len(postures), 3))
    moving = {joint.name: index for index, joint in enumerate(robot.joints)}
    for joint in robot.path:
        position = position + rotation @ joint.origin.position_m
        rotation = rotation @ joint.origin.rotation
        if joint.name not in moving:
            continue
        values = postures[:, moving[joint.name]]
        if joint.kind is PRISMATIC:
            position = position + values[:, None] * (rotation @ joint.axis)
        else:
            rotation = rotation @ turns_about(joint.axis, values)
    tip = robot.tip_frame.pose
    return rotation @ tip.rotation, position + rotation @ tip.position_m


def turns_about(axis, values):
    cross = np.array([[0.0, -axis[2], axis[1]], [axis[2], 0.0, -axis[0]], [-axis[1], axis[0], 0.0]])
    sine, cosine = np.sin(values)[:, None, None], np.cos(values)[:, None, None]
    return np.eye(3) + sine * cross + (1.0 - cosine) * (cross @ cross)


def distances(robot, bound, postures):
    rotation, position = tips(robot, postures)
    return np.linalg.norm(position + rotation @ bound.point_in_tip_m - bound.center_in_base_m, axis=1)


def extremes(robot, bound, random, samples=SAMPLES, rounds=40):
    """The least and greatest distance found by sampling, then by climbing from the best samples."""
    lower = np.where(np.isfinite(robot.lower), robot.lower, -np.pi)
    upper = np.where(np.isfinite(robot.upper), robot.upper, np.pi)
    postures = random.uniform(lower, upper, (samples, robot.dof))
    # Corners of the limits are where bounds that depend on limits are met.
    corners = np.where(random.random((200, robot.dof)) < 0.5, lower, upper)
    postures = np.vstack([postures, corners])
    measured = distances(robot, bound, postures)
    found = []
    for sign in (-1.0, 1.0):
        order = np.argsort(sign * measured)[-8:]
        best, value = postures[order], sign * measured[order]
        for step in np.geomspace(0.5, 1e-5, rounds):
            tries = best[:, None, :] + step * random.normal(size=(len(best), 24, robot.dof))
            tries = np.clip(tries, lower, upper)
            scores = sign * distances(robot, bound, tries.reshape(-1, robot.dof)).reshape(len(best), -1)
            pick = scores.argmax(axis=1)
            rises = scores[np.arange(len(best)), pick] > value
            best = np.where(rises[:, None], tries[np.arange(len(best)), pick], best)
            value = np.where(rises, scores[np.arange(len(best)), pick], value)
        found.append(sign * value.max())
    return found


def require_no_counterexample(robot, random, **hunt):
    """Returns the bounds with what was found: (bound, least, greatest)."""
    bounds = reach_bounds(robot, "pose")
    hunted = []
    for bound in bounds:
        least, greatest = extremes(robot, bound, random, **hunt)
        assert bound.inner_m <= least, (bound, least)
        assert greatest <= bound.outer_m, (bound, greatest)
        assert bound.inner_m <= bound.outer_m
        hunted.append((bound, least, greatest))
    return hunted


@pytest.mark.parametrize("name", forearm.robot_names())
def test_no_posture_of_a_bundled_arm_lies_outside_and_the_bounds_are_sharp(name, arms, random):
    hunted = require_no_counterexample(arms[name], random)
    assert [bound.description for bound, _, _ in hunted] == ["wrist", "tip"]
    for bound, _, greatest in hunted:
        assert greatest > 0.99 * bound.outer_m
    assert reach_m(arms[name]) == hunted[-1][0].outer_m


def test_the_numpy_forward_kinematics_of_this_file_is_right(arms, random, make_posture):
    for arm in arms.values():
        q = make_posture(arm, random)
        rotation, position = tips(arm, q[None])
        pose = tip_pose(arm, q)
        assert np.allclose(rotation[0], pose.rotation, rtol=0, atol=1e-12)
        assert np.allclose(position[0], pose.position_m, rtol=0, atol=1e-12)


KINDS = [REVOLUTE, REVOLUTE, REVOLUTE, CONTINUOUS, PRISMATIC]


def squared(robot, random):
    """The same chain with right angles, shared origins and parallel axes: the degenerate cases."""
    joints = []
    for joint in robot.tree.joints:
        position = np.eye(3)[random.integers(3)] * random.choice([0.0, 0.0, 0.3, -0.4])
        rpy = random.choice([0.0, 0.0, np.pi / 2, -np.pi / 2, np.pi], 3)
        axis = np.eye(3)[random.integers(3)] * random.choice([-1.0, 1.0])
        joints.append(replace(joint, origin=Pose.from_rpy(position, rpy), axis=axis))
    return chain_in(replace(robot.tree, joints=tuple(joints)), None, "tip")


@pytest.mark.parametrize("square", [False, True], ids=["askew", "square"])
@pytest.mark.parametrize("group", range(3))
def test_no_posture_of_a_made_chain_lies_outside(group, square, make_chain):
    random = np.random.default_rng([group, square])
    hunts = 0
    for _ in range(25):
        kinds = random.choice(KINDS, random.integers(1, 9))
        robot = make_chain(random, [JointKind(kind) for kind in kinds])
        if square:
            robot = squared(robot, random)
        hunts += len(require_no_counterexample(robot, random, samples=2000, rounds=25))
    assert hunts >= 25


def test_thirty_joints_keep_their_bounds(make_chain, random):
    robot = make_chain(random, [REVOLUTE, REVOLUTE, PRISMATIC] * 10)
    assert len(require_no_counterexample(robot, random, samples=2000)) == 2


def test_a_slide_without_end_has_no_bound(make_chain, random):
    robot = make_chain(random, [REVOLUTE, PRISMATIC, REVOLUTE])
    for lower, upper in ((-np.inf, np.inf), (0.0, np.inf), (-np.inf, 0.0)):
        joints = tuple(
            replace(joint, lower=np.float64(lower), upper=np.float64(upper))
            if joint.kind is PRISMATIC
            else joint
            for joint in robot.tree.joints
        )
        endless = chain_in(replace(robot.tree, joints=joints), None, "tip")
        assert reach_bounds(endless, "pose") == ()
        problem = pose_problem(endless, (1e4, 0.0, 0.0), task="position")
        assert beyond_reach(problem) is None


@pytest.mark.parametrize("name", forearm.robot_names())
def test_a_thousand_targets_within_reach_are_never_called_unreachable(name, arms, random, make_posture):
    arm = arms[name]
    statuses = []
    for index in range(1000):
        q = make_posture(arm, random)
        if index % 4 == 0:  # at the limits, where bounds are met
            q = np.where(random.random(arm.dof) < 0.5, arm.lower, arm.upper)
        result = arm.ik(arm.fk(q), max_iterations=1)
        statuses.append(result.status)
    assert len(statuses) == 1000
    assert forearm.Status.UNREACHABLE not in statuses


@pytest.mark.parametrize("name", forearm.robot_names())
def test_a_thousand_targets_beyond_reach_are_all_proved_unreachable(name, arms, random):
    arm = arms[name]
    bound = reach_bounds(arm, "position")[0]
    for index in range(1000):
        direction = random.normal(size=3)
        if name == "two_link":
            direction[2] = 0.0
        distance = bound.outer_m * random.uniform(1.0 + 1e-4, 3.0)
        position = bound.center_in_base_m + distance * direction / np.linalg.norm(direction)
        target = Pose.from_rotation(position, rotation_exp(random.normal(size=3)))
        result = arm.ik(target, max_iterations=1)
        assert result.status is forearm.Status.UNREACHABLE, index
        assert result.reason == "beyond reach"
        assert f"{bound.outer_m:.6g} m" in result.proof or "wrist" in result.proof
        assert result.solutions == ()


@pytest.mark.parametrize("sense", [-1.0, 1.0])
def test_a_distance_that_can_vanish_keeps_its_digits(sense):
    # Where the two points nearly meet, a difference of squares would be off by 1e-8.
    for gap in (0.0, 1e-12, 1e-9, 1e-8, 3e-8, 1e-5):
        before, after = np.array([0.7, 0.1, 0.0]), np.array([0.7, 0.1, 0.0])
        lower, upper = (gap, 1.0) if sense > 0 else (-1.0, -gap)
        least, _ = distance_range(before, after, np.zeros(3), np.array([0.0, 0.0, 1.0]), lower, upper)
        assert least == pytest.approx(2.0 * np.hypot(0.7, 0.1) * np.sin(0.5 * gap), rel=1e-6, abs=1e-15)


def test_the_distance_range_is_that_of_a_dense_sweep(random):
    for _ in range(200):
        axis = random.normal(size=3)
        axis /= np.linalg.norm(axis)
        anchor, before, after = random.normal(size=(3, 3))
        lower = random.uniform(-7.0, 5.0)
        upper = lower + random.uniform(0.0, 6.2)
        least, greatest = distance_range(before, after, anchor, axis, lower, upper)
        turned = turns_about(axis, np.linspace(lower, upper, 2001)) @ (after - anchor) + anchor - before
        swept = np.linalg.norm(turned, axis=1)
        assert least == pytest.approx(swept.min(), abs=1e-4)
        assert greatest == pytest.approx(swept.max(), abs=1e-4)
        assert least <= swept.min() + 1e-12
        assert greatest >= swept.max() - 1e-12


def test_combining_pairs_is_never_worse_than_singles_and_right_by_hand():
    singles = [(1.0, 1.0), (2.0, 2.0), (0.5, 0.5)]
    assert combine(singles, {}) == (0.5, 3.5)
    # With the first joint nearly folded, the first two steps together reach no farther than 1.2.
    inner, outer = combine(singles, {1: (1.0, 1.2)})
    assert outer == pytest.approx(1.7)
    assert inner == pytest.approx(0.5)
    assert combine([(3.0, 3.0), (1.0, 1.0)], {1: (2.5, 4.0)}) == (2.5, 4.0)


def test_a_target_is_unreachable_only_past_the_tolerance(make_two_hinges):
    robot = make_two_hinges()
    for past, proved in ((-1e-9, False), (0.5e-6, False), (0.99e-6, False), (1.1e-6, True), (1e-5, True)):
        problem = pose_problem(robot, (0.9 + past, 0.0, 0.0))
        assert (beyond_reach(problem) is not None) is proved, past
    loose = pose_problem(robot, (0.9 + 1e-3, 0.0, 0.0), tolerance=Tolerance(1e-2, 1e-2))
    assert beyond_reach(loose) is None


def test_the_rotation_tolerance_counts_with_its_lever(arms):
    arm = forearm.load("ur5e", tool_length_m=1.0)
    wrist = reach_bounds(arm, "pose")[0]
    assert wrist.description == "wrist"
    assert wrist.lever_m() > 1.0
    outward = wrist.center_in_base_m + (wrist.outer_m + 1e-3) * np.array([1.0, 0.0, 0.0])
    target = Pose(outward - wrist.point_in_tip_m)
    assert beyond_reach(pose_problem(arm, target)) is not None
    loose = Tolerance(1e-6, 1e-3)
    assert beyond_reach(pose_problem(arm, target, tolerance=loose)) is None
