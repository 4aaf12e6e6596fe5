"""Proofs of ``UNREACHABLE`` against brute force: never false, and found wherever there is one to find."""

from __future__ import annotations

import numpy as np
import pytest

from forearm.bench._solving import uniform_in_limits
from forearm.ik import proofs
from forearm.ik.problem import Tolerance, pose_problem
from forearm.ik.proofs import by_planar_branches, unreachable
from forearm.ik.result import Status
from forearm.ik.solve import solve
from forearm.ik.solver import make_solver, solver_names

GRID = 400


def limits_drawn(random):
    """Limits from narrow to several turns, some open on one side or both."""
    lower = random.uniform(-4.0, 3.0, 2)
    upper = lower + random.uniform(0.05, 7.0, 2)
    open_below, open_above = random.uniform(size=(2, 2)) < 0.15
    return np.where(open_below, -np.inf, lower), np.where(open_above, np.inf, upper)


def least_distance(robot, target, l1_m, l2_m):
    """The least distance over a grid of postures within the limits (m), and how coarse the grid is."""
    lower = np.where(np.isfinite(robot.lower), robot.lower, np.nan_to_num(robot.upper, posinf=np.pi) - 7.0)
    upper = np.where(np.isfinite(robot.upper), robot.upper, lower + 7.0)
    q1, q2 = (np.linspace(lower[i], upper[i], GRID) for i in range(2))
    tip = l1_m * np.exp(1j * q1[:, None]) + l2_m * np.exp(1j * (q1[:, None] + q2[None, :]))
    coarse = (l1_m + l2_m) * (q1[1] - q1[0]) + l2_m * (q2[1] - q2[0])
    return float(np.hypot(np.abs(tip - complex(*target[:2])), target[2]).min()), coarse


def test_planar_proofs_agree_with_a_search_of_the_whole_joint_space(random, make_two_hinges):
    proved = blocked = 0
    for _ in range(400):
        l1_m, l2_m = random.uniform(0.1, 0.6, 2)
        robot = make_two_hinges(*limits_drawn(random), l1_m, l2_m)
        height = 0.1 if random.uniform() < 0.1 else 0.0
        target = np.array([*random.uniform(-1.0, 1.0, 2) * (l1_m + l2_m), height])
        proof = unreachable(pose_problem(robot, target))
        least, coarse = least_distance(robot, target, l1_m, l2_m)
        if proof is None:
            assert least <= coarse
            assert solve(robot, target).status is Status.SOLVED
        else:
            assert least > 0.0
            proved, blocked = proved + 1, blocked + ("limits" in proof.reason)
        if proof is not None and proof.nearest is not None:
            assert ((robot.lower - 1e-9 <= proof.nearest) & (proof.nearest <= robot.upper + 1e-9)).all()
            tip = l1_m * np.exp(1j * proof.nearest[0]) + l2_m * np.exp(1j * proof.nearest.sum())
            found = np.hypot(abs(tip - complex(*target[:2])), height)
            assert found <= least + 1e-9
            assert found >= least - coarse
    assert proved > 100
    assert blocked > 50
    assert proved < 350


def test_what_a_posture_within_the_limits_reaches_is_never_proved_unreachable(random, make_two_hinges):
    for _ in range(400):
        lower, upper = limits_drawn(random)
        robot = make_two_hinges(lower, upper, *random.uniform(0.1, 0.6, 2))
        q = uniform_in_limits(robot, random)
        assert ((lower <= q) & (q <= upper)).all()
        if random.uniform() < 0.5:
            side = random.integers(2)
            q[side] = upper[side] if np.isfinite(upper[side]) else q[side]
        tip = proofs.replayed_tip(robot, q)
        assert unreachable(pose_problem(robot, tip)) is None


@pytest.mark.parametrize("offset_m", [1e-3, 1e-5, 1.1e-6])
def test_just_off_a_limit_is_proved_down_to_the_tolerance(offset_m, make_two_hinges):
    robot = make_two_hinges((-0.5, 0.2), (0.5, 2.0))
    corner = proofs.replayed_tip(robot, np.array([0.5, 2.0]))
    outward = corner / np.linalg.norm(corner)
    # Turning on past both limits is the only way to get there.
    beyond = corner + offset_m * np.array([-outward[1], outward[0], 0.0])
    assert unreachable(pose_problem(robot, beyond)).reason == "limits block every branch"
    assert unreachable(pose_problem(robot, beyond, tolerance=Tolerance(1.01 * offset_m, 1e-6))) is None


def test_a_wrong_reading_of_the_plane_proves_nothing(make_two_hinges, monkeypatch):
    robot = make_two_hinges((-0.5, -1.0), (0.5, 2.0))
    problem = pose_problem(robot, (-0.2, 0.6, 0.0))
    honest = proofs.planar_geometry(robot)
    assert by_planar_branches(problem) is not None
    wrong = type(honest)(
        0.9 * honest.l1_m,
        honest.l2_m,
        honest.origin_in_base_m,
        honest.plane_in_base,
        honest.shoulder_offset_rad,
        honest.elbow_offset_rad,
        honest.elbow_sense,
    )
    monkeypatch.setattr(proofs, "planar_geometry", lambda robot: wrong)
    assert by_planar_branches(problem) is None


def test_every_solver_gives_the_same_proof(make_two_hinges):
    robot = make_two_hinges((-0.5, -1.0), (0.5, 2.0))
    able = [name for name in solver_names() if make_solver(name).supports(robot, "position")]
    answers = [solve(robot, (-0.2, 0.6, 0.0), solver=name) for name in able]
    assert len(able) >= 6
    assert {answer.status for answer in answers} == {Status.UNREACHABLE}
    assert len({answer.proof for answer in answers}) == 1
    errors = [answer.best_effort.position_error_m for answer in answers]
    assert max(errors) - min(errors) < 1e-9


def test_a_pose_target_is_not_judged_by_its_position_alone(make_two_hinges):
    robot = make_two_hinges()
    problem = pose_problem(robot, np.eye(4), task="pose")
    assert by_planar_branches(problem) is None
