"""What the closed-form solver owes: every branch, by two backends that share nothing, through the gate."""

from __future__ import annotations

import sys
from dataclasses import replace

import numpy as np
import pytest

import forearm
from forearm.bench._targets import limit_corner, near_singular
from forearm.ik import enumeration
from forearm.ik.branches import branch_name
from forearm.ik.enumeration import Branches, branches_of, enumerator_of
from forearm.ik.limits import TURN
from forearm.ik.problem import LIMIT_TOLERANCE
from forearm.ik.replay import SAME_RAD
from forearm.ik.result import Status
from forearm.kinematics.forward import joint_frames, tip_matrix
from forearm.robots.tree import JointKind

UR_NAMES = {
    f"shoulder_{side} elbow_{bend} wrist_{flip}"
    for side in ("left", "right")
    for bend in ("up", "down")
    for flip in ("flip", "no_flip")
}


def same_turns(a, b):
    return np.abs(np.remainder(a - b + np.pi, TURN) - np.pi).max() <= SAME_RAD


def same_set(some, others):
    """Whether each of either is one of the other, full turns aside."""
    return all(any(same_turns(a, b) for b in others) for a in some) and all(
        any(same_turns(a, b) for a in some) for b in others
    )


@pytest.mark.parametrize("name", ["ur5e", "mini_arm"])
def test_both_backends_find_the_same_branches(name, arms, random, make_posture):
    arm, eights = arms[name], 0
    for _ in range(40):
        target, seed = tip_matrix(arm, make_posture(arm, random, 0.05)), make_posture(arm, random)
        mine = arm.ik(target, seed=seed, solver="analytic", backend="eaik")
        other = arm.ik(target, seed=seed, solver="analytic", backend="ssik")
        assert mine.status is other.status is Status.SOLVED
        assert same_set([s.q for s in mine.solutions], [s.q for s in other.solutions])
        distances = [np.linalg.norm(s.q - seed) for s in mine.solutions]
        assert distances == sorted(distances)
        eights += len(mine.solutions) == 8
    assert eights >= 10


def test_axes_that_point_the_other_way_lose_no_branch(arms, random, make_posture):
    """Left to itself EAIK calls wrong branches exact then; the gate would drop them."""
    plain = arms["ur5e"]
    for name in ("elbow", "wrist_1", "wrist_3"):
        joints = tuple(
            replace(joint, axis=-joint.axis, lower=-joint.upper, upper=-joint.lower)
            if joint.name == name
            else joint
            for joint in plain.joints
        )
        turned = {joint.name: joint for joint in joints}
        tree = replace(plain.tree, joints=tuple(turned.get(j.name, j) for j in plain.tree.joints))
        arm = forearm.Arm(tree, plain.base, plain.tip, joints, plain.held)
        for _ in range(5):
            q = make_posture(plain, random, 0.05)
            found = arm.ik(plain.fk(q), solver="analytic").solutions
            assert len(found) == len(plain.ik(plain.fk(q), solver="analytic").solutions)
            assert len(found) >= 2


def test_the_posture_asked_about_is_among_them(arms, random, make_posture):
    for name in ("ur5e", "mini_arm"):
        arm = arms[name]
        for _ in range(30):
            q = make_posture(arm, random, 0.05)
            found = arm.ik(tip_matrix(arm, q), seed=q, solver="analytic")
            assert same_turns(found.q, q)
            assert np.abs(found.q - q).max() <= 1e-5


def test_the_eight_branches_of_the_ur5e_have_eight_names(arms):
    arm = arms["ur5e"]
    result = arm.ik(arm.fk(arm.home + 0.1), solver="analytic")
    assert {solution.branch for solution in result.solutions} == UR_NAMES
    assert {solution.winding_count for solution in result.solutions} == {32}
    assert branch_name(arm, arm.home) == "shoulder_left elbow_up wrist_no_flip"


def test_names_mean_what_they_say(arms, random, make_posture):
    """Elbow above the line from shoulder to wrist, on the side where the arm is at q = 0."""
    arm = arms["ur5e"]
    for _ in range(200):
        q = make_posture(arm, random)
        frames, name = joint_frames(arm, q), branch_name(arm, q)
        shoulder, elbow, wrist = (frames[k][:3, 3] for k in (1, 2, 3))
        # Seen along the elbow's axis; the links stand beside each other.
        axis = frames[1][:3, 2]
        line, bend = (v - axis * (axis @ v) for v in (wrist - shoulder, elbow - shoulder))
        height = (bend - line * (bend @ line) / (line @ line))[2]
        level = np.cross(frames[0][:3, 2], axis)
        # Where the wrist reaches back over the base, the line leans the other way.
        if abs(height) > 1e-6 and (level @ line < 0.0) == ("shoulder_left" in name):
            assert (height > 0.0) == ("elbow_up" in name)
        assert ("wrist_flip" in name) == (np.sin(q[4]) > 0.0)
    stretched = np.array([0.0, -1.0, 0.0, 0.5, 0.5, 0.0])
    assert "elbow_straight" in branch_name(arm, stretched)
    assert "wrist_singular" in branch_name(arm, np.array([0.0, -1.0, 0.5, 0.5, 0.0, 0.0]))


def test_near_singularities_the_other_backend_helps_out(arms):
    """EAIK alone has no answer for some of these."""
    arm, alone, generator = arms["ur5e"], 0, np.random.default_rng(0)
    for _ in range(150):
        target = arm.fk(near_singular(arm, generator))
        alone += not arm.ik(target, solver="analytic", backend="eaik")
        assert arm.ik(target, solver="analytic").status is Status.SOLVED
    assert alone > 0


def test_a_joint_on_its_limit_stays_within_it(arms, random):
    arm = arms["ur5e"]
    for _ in range(60):
        found = arm.ik(tip_matrix(arm, limit_corner(arm, random)), solver="analytic")
        assert found.status is Status.SOLVED
        assert min(solution.limit_margin_rad for solution in found.solutions) >= -LIMIT_TOLERANCE


def test_seven_joints_are_sampled(arms, random, make_posture):
    arm = arms["panda"]
    q = make_posture(arm, random, 0.1)
    result = arm.ik(arm.fk(q), solver="analytic")
    assert len(result.solutions) >= 4
    assert not branches_of(arm, tip_matrix(arm, q)).complete


def test_a_backend_that_invents_branches_is_caught(arms, monkeypatch):
    arm = arms["ur5e"]
    target = arm.fk(arm.home)
    honest = branches_of(arm, tip_matrix(arm, arm.home))
    wrong = Branches(honest.q + 1e-4, honest.exact, "planted", True)
    monkeypatch.setattr("forearm.ik.solvers.analytic.branches_of", lambda *_: wrong)
    result = arm.ik(target, solver="analytic")
    assert result.status is Status.NOT_FOUND
    assert result.reason.startswith("rejected: misses by")
    assert result.drops == {"position": len(honest.q)}


@pytest.mark.parametrize(("backend", "package"), [("eaik", "EAIK"), ("ssik", "ssik")])
def test_a_missing_package_is_named_with_the_line_that_installs_it(backend, package, arms, monkeypatch):
    enumerator_of.cache_clear()
    monkeypatch.setitem(sys.modules, "eaik.IK_HP", None)
    monkeypatch.setitem(sys.modules, "ssik", None)
    with pytest.raises(forearm.MissingExtra, match=rf"needs {package}.*forearm\[analytic\]"):
        arms["ur5e"].ik(arms["ur5e"].fk(arms["ur5e"].home), solver="analytic", backend=backend)
    # Everything else goes on without it, proofs included.
    assert arms["ur5e"].ik(arms["ur5e"].fk(arms["ur5e"].home)).status is Status.SOLVED
    enumerator_of.cache_clear()


def test_what_has_no_closed_form_is_said(arms, make_chain, random):
    with pytest.raises(forearm.InvalidInput, match="knows no closed form for panda"):
        enumeration.branches_of(arms["panda"], np.eye(4), "eaik")
    with pytest.raises(forearm.UnknownName, match="eaik, ssik"):
        arms["ur5e"].ik(np.eye(4), solver="analytic", backend="ikfast")
    assert not enumeration.can_enumerate(make_chain(random, [JointKind.PRISMATIC] * 6))
    with pytest.raises(forearm.InvalidInput, match="does not handle position targets"):
        arms["ur5e"].ik((0.3, 0.2, 0.5), task="position", solver="analytic")
