"""What ``arm.ik_batch`` owes: the gate's word on every answer, and the same answers however it is run."""

from __future__ import annotations

import sys
import threading

import numpy as np
import pytest

import forearm
from forearm.ik import batch
from forearm.ik.audit import PinocchioReplay
from forearm.ik.fast.kernels import batch_kernel
from forearm.ik.problem import LIMIT_TOLERANCE, TASKS, Tolerance
from forearm.ik.replay import distance_between
from forearm.ik.result import Status
from forearm.progress import Progress
from forearm.robots.tree import JointKind
from forearm.spatial import Pose

MANY = 300
"""Enough that the batch uses threads."""


def questions(arm, random, make_posture, count=MANY):
    targets = np.array([arm.fk(make_posture(arm, random)).matrix() for _ in range(count)])
    return targets, np.array([make_posture(arm, random) for _ in range(count)])


@pytest.mark.parametrize("name", forearm.robot_names())
@pytest.mark.parametrize("task", TASKS)
def test_every_answer_is_true_and_every_reachable_target_answered(name, task, arms, random, make_posture):
    arm = arms[name]
    targets, seeds = questions(arm, random, make_posture)
    found = arm.ik_batch(targets, seeds, task=task)
    replay = PinocchioReplay(arm)
    if (name, task) != ("two_link", "pose"):  # two joints have nothing to choose there, nor to descend along
        assert found.solved.mean() >= 0.99
    for k in np.flatnonzero(found.solved):
        reached = replay.tip_matrix(found.q[k])
        position, rotation = distance_between(targets[k], reached)
        if task == "axis":
            cosine = targets[k, :3, 2] @ reached[:3, 2]
            rotation = np.arctan2(np.linalg.norm(np.cross(targets[k, :3, 2], reached[:3, 2])), cosine)
        assert position <= 1e-6 + 1e-12
        assert found.position_error_m[k] == pytest.approx(position, abs=1e-12)
        if task != "position":
            assert rotation <= 1e-6 + 1e-12
            assert found.rotation_error_rad[k] == pytest.approx(rotation, abs=1e-11)
        assert np.maximum(arm.lower - found.q[k], found.q[k] - arm.upper).max() <= LIMIT_TOLERANCE
    assert np.isnan(found.q[~found.solved]).all()
    assert np.isnan(found.position_error_m[~found.solved]).all()
    assert len(found) == MANY


@pytest.mark.parametrize("name", ["ur5e", "panda"])
def test_the_answers_do_not_depend_on_how_the_batch_is_run(name, arms, random, make_posture):
    arm = arms[name]
    targets, seeds = questions(arm, random, make_posture, 600)
    whole = arm.ik_batch(targets, seeds, workers=2)
    alone = arm.ik_batch(targets, seeds, workers=1)
    parts = [
        arm.ik_batch(targets[part], seeds[part]) for part in (slice(0, 7), slice(7, 350), slice(350, 600))
    ]
    for other in (alone, arm.ik_batch(targets, seeds, workers=5)):
        assert np.array_equal(whole.q, other.q, equal_nan=True)
        assert np.array_equal(whole.iterations, other.iterations)
        assert np.array_equal(whole.position_error_m, other.position_error_m, equal_nan=True)
    assert np.array_equal(whole.q, np.concatenate([part.q for part in parts]), equal_nan=True)
    assert np.array_equal(whole.status, np.concatenate([part.status for part in parts]))


def test_targets_beyond_reach_are_proved_so(arms, random, make_posture):
    arm = arms["panda"]
    targets, seeds = questions(arm, random, make_posture)
    targets[::3, :3, 3] += 5.0
    found = arm.ik_batch(targets, seeds)
    assert (found.status[::3] == Status.UNREACHABLE).all()
    assert (found.iterations[::3] == 0).all()
    within = np.arange(MANY) % 3 != 0
    assert found.solved[within].mean() >= 0.99
    assert not (found.status[within] == Status.UNREACHABLE).any()
    assert arm.ik(targets[0]).status is Status.UNREACHABLE


def test_a_kernel_that_lies_is_caught(arms, random, make_posture, monkeypatch):
    """Planted: it calls the seeds answers, or what is past a limit, or no number at all."""
    arm = arms["panda"]
    targets, seeds = questions(arm, random, make_posture)

    def seeds_as_answers(table, targets, seeds, answers, iterations, counter):
        answers[:], iterations[:], counter[0] = seeds, 1, len(targets)

    monkeypatch.setattr(batch, "batch_kernel", lambda: seeds_as_answers)
    found = arm.ik_batch(targets, seeds)
    assert (found.status == Status.NOT_FOUND).all()
    assert np.isnan(found.q).all()
    assert arm.ik_batch([arm.fk(seed) for seed in seeds], seeds).solved.all()

    beyond = seeds.copy()
    beyond[:, 2] = arm.upper[2] + 1e-6
    there = np.array([PinocchioReplay(arm).tip_matrix(q) for q in beyond])
    assert not arm.ik_batch(there, beyond).solved.any()

    def nothing_as_answers(table, targets, seeds, answers, iterations, counter):
        answers[:], iterations[:], counter[0] = np.nan, 1, len(targets)

    monkeypatch.setattr(batch, "batch_kernel", lambda: nothing_as_answers)
    assert not arm.ik_batch(targets, seeds).solved.any()


def test_tolerances_axes_and_held_joints_are_those_of_a_single_question(arms, random, make_posture):
    arm = arms["panda"]
    targets, seeds = questions(arm, random, make_posture, 40)
    loose = arm.ik_batch(targets, seeds, tolerance=Tolerance(1e-2, 1e-2))
    assert np.nanmax(loose.position_error_m) > 1e-5
    assert np.nanmax(loose.position_error_m) <= 1e-2
    held = arm.ik_batch(targets, seeds, task="axis", axis=(1.0, 0.0, 0.0), hold={"joint3": 0.3})
    assert held.solved.mean() > 0.5
    for k in np.flatnonzero(held.solved):
        assert held.q[k, 2] == pytest.approx(0.3, abs=LIMIT_TOLERANCE)
        assert np.allclose(arm.fk(held.q[k]).rotation[:, 0], targets[k, :3, 0], rtol=0, atol=2e-6)


def test_nothing_that_is_given_is_changed(arms, random, make_posture):
    arm = arms["ur5e"]
    targets, seeds = questions(arm, random, make_posture)
    kept = targets.copy(), seeds.copy()
    arm.ik_batch(targets, seeds)
    assert np.array_equal(kept[0], targets)
    assert np.array_equal(kept[1], seeds)


def test_what_can_be_given(arms, random, make_posture):
    arm = arms["ur5e"]
    targets, seeds = questions(arm, random, make_posture, 12)
    whole = arm.ik_batch(targets, seeds)
    poses = arm.ik_batch([Pose.from_matrix(target) for target in targets], seeds)
    assert np.allclose(whole.q, poses.q, rtol=0, atol=1e-6)
    strided = arm.ik_batch(np.asfortranarray(targets), seeds[:, ::-1][:, ::-1])
    assert np.array_equal(whole.q, strided.q)
    one_seed = arm.ik_batch(targets, seeds[0])
    assert one_seed.solved.all()
    assert arm.ik_batch(targets).solved.all()
    none = arm.ik_batch(np.empty((0, 4, 4)))
    assert len(none) == 0
    assert none.q.shape == (0, 6)
    assert none.status.tolist() == []


def test_wrong_input_is_named(arms, random, make_posture):
    arm = arms["ur5e"]
    targets, seeds = questions(arm, random, make_posture, 12)
    broken = targets.copy()
    broken[7, 0, 0] += 0.1
    with pytest.raises(forearm.InvalidInput, match="target 7"):
        arm.ik_batch(broken)
    broken[7] = np.nan
    with pytest.raises(forearm.InvalidInput, match="target 7"):
        arm.ik_batch(broken)
    for wrong in (targets[0], Pose((0.1, 0.2, 0.3)), 3, "here", None):
        with pytest.raises(forearm.InvalidInput):
            arm.ik_batch(wrong)
    for wrong in (seeds[:5], seeds[:, :5], np.full(6, np.nan), np.full(6, 1e5), "x"):
        with pytest.raises(forearm.InvalidInput, match="seeds"):
            arm.ik_batch(targets, wrong)
    for workers in (0, -1, 1.5, True):
        with pytest.raises(forearm.InvalidInput, match="workers"):
            arm.ik_batch(targets, workers=workers)


def test_seeds_past_a_limit_are_said(arms, random, make_posture):
    arm = arms["panda"]
    targets, seeds = questions(arm, random, make_posture, 12)
    seeds[4, 0] = arm.upper[0] + 0.5
    found = arm.ik_batch(targets, seeds)
    assert np.flatnonzero(found.seed_outside).tolist() == [4]
    assert found.solved.all()


def test_a_chain_of_every_kind_of_joint(make_chain, random, make_posture):
    kinds = [JointKind.CONTINUOUS, JointKind.PRISMATIC, JointKind.REVOLUTE, JointKind.REVOLUTE] * 2
    robot = make_chain(random, kinds)
    targets, seeds = questions(forearm.Arm(robot.tree, robot.base, robot.tip, robot.joints, robot.held),
                               random, make_posture)  # fmt: skip
    found = batch.solve_batch(robot, targets, seeds)
    assert found.solved.mean() > 0.9
    replay = PinocchioReplay(robot)
    for k in np.flatnonzero(found.solved):
        assert max(distance_between(targets[k], replay.tip_matrix(found.q[k]))) <= 1e-6 + 1e-11


def test_others_run_while_the_kernel_does(arms, random, make_posture):
    """It gives Python's lock back: another thread counts on inside one call of the kernel."""
    arm = arms["ur5e"]
    targets, seeds = questions(arm, random, make_posture, 400)
    targets, seeds = np.tile(targets, (250, 1, 1)), np.tile(seeds, (250, 1))
    counted, stop = [0], threading.Event()

    def count():
        while not stop.is_set():
            counted[0] += 1

    table, kernel = batch.Race().table(batch.pose_problem(arm, targets[0])), batch_kernel()
    answers, iterations = np.empty_like(seeds), np.empty(len(seeds), dtype=np.int64)
    other = threading.Thread(target=count)
    other.start()
    try:
        before = counted[0]
        kernel(table, targets, seeds, answers, iterations, np.zeros(1, dtype=np.int64))
        during = counted[0] - before
    finally:
        stop.set()
        other.join()
    assert during > 1000


class Terminal:
    def __init__(self):
        self.text = ""

    def isatty(self):
        return True

    def write(self, text):
        self.text += text

    def flush(self):
        pass


def test_long_jobs_show_how_far_they_are_and_short_ones_nothing(monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    short = Progress(100, "targets")
    short.at(50)
    short.end()
    assert terminal.text == ""
    long = Progress(1000, "targets")
    long.due -= 10.0
    long.at(250)
    assert "250 of 1,000 targets" in terminal.text
    long.end()
    assert terminal.text.endswith("\r\x1b[K")
    terminal.isatty = lambda: False
    silent = Progress(1000, "targets")
    silent.due -= 10.0
    silent.at(250)
    assert terminal.text.count("250 of") == 1


def test_the_direct_solver_gives_the_races_answers_on_the_callers_buffers(arms, random, make_posture):
    for name in ("ur5e", "panda"):
        arm = arms[name]
        targets, seeds = questions(arm, random, make_posture, 40)
        solve_into, answer = arm.direct_solver(), np.empty(arm.dof)
        for target, seed in zip(targets, seeds, strict=True):
            certified = arm.ik(target, seed=seed, solver="race")
            assert solve_into(target, seed, answer) == certified.diagnostics.iterations
            assert np.allclose(answer, certified.q, rtol=0, atol=1e-9)
        away = targets[0].copy()
        away[:3, 3] += 9.0
        assert solve_into(away, seeds[0], answer) == 0
        assert arm.direct_solver(max_iterations=1)(targets[0], seeds[0], answer) == -1
        # However they lie in memory.
        spread = np.repeat(seeds[0], 2)[::2]
        count = solve_into(np.asfortranarray(targets[0]), spread, answer)
        assert count == solve_into(targets[0], seeds[0], answer) > 0
        for wrong in ((targets[0][:2], seeds[0], answer), (targets[0], seeds[0][:-1], answer),
                      (targets[0], seeds[0], np.empty(arm.dof + 1))):  # fmt: skip
            with pytest.raises(ValueError, match="one number a joint"):
                solve_into(*wrong)
        for wrong in (targets[0].tolist(), targets[0].astype(np.float32), None):
            with pytest.raises(TypeError):
                solve_into(wrong, seeds[0], answer)
    with pytest.raises(forearm.InvalidInput, match="objective"):
        arm.direct_solver(mode="best")
