"""The compiled solver's parts against NumPy and the plain chain, on floats and on lanes of every width."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numba import types

from forearm.ik.descent import rotation_between
from forearm.ik.fast.batch import BATCHES
from forearm.ik.fast.descent import damped_step, error_of, finish_columns, sine_cosine, walk
from forearm.ik.fast.layout import (
    BASE,
    END,
    EXTRA_ROWS,
    METRES_PER_RADIAN,
    SETTINGS,
    TASK_CODES,
    Recipe,
    characteristic_length_m,
    golden,
    layout,
)
from forearm.ik.fast.question import fold_target
from forearm.ik.fast.race import RACES
from forearm.ik.problem import Tolerance
from forearm.kinematics.compiling import compiled, compiled_for, filled, given
from forearm.kinematics.forward import reference_jacobian, tip_matrix
from forearm.kinematics.lanes import get, get_lane, lane_count, lanes, put, put_lane, stack
from forearm.kinematics.links import links_of
from forearm.kinematics.screws import replay_into, screws_of
from forearm.kinematics.screws_lanes import replay_lanes, sine_versine
from forearm.robots.robot import chain_in
from forearm.robots.tree import Frame, Joint, JointKind, Link, Tree
from forearm.spatial import Pose, rotation_log

ALL_KINDS = [JointKind.REVOLUTE, JointKind.PRISMATIC, JointKind.CONTINUOUS, JointKind.REVOLUTE] * 2


@compiled
def sines(one, x, out):
    slots = stack(2, one)
    for k in range(lane_count(one)):
        put_lane(slots, 0, k, x[k])
    s, c = sine_cosine(get(slots, 0))
    put(slots, 0, s)
    put(slots, 1, c)
    for k in range(lane_count(one)):
        out[0, k], out[1, k] = get_lane(slots, 0, k), get_lane(slots, 1, k)


@compiled
def sines_of_one(x, out):
    sines(1.0, x, out)


@compiled
def sines_of_two(x, out):
    sines(lanes(2, 1.0), x, out)


@compiled
def sines_of_eight(x, out):
    sines(lanes(8, 1.0), x, out)


@pytest.mark.parametrize(("width", "kernel"), [(1, sines_of_one), (2, sines_of_two), (8, sines_of_eight)])
def test_sine_and_cosine(width, kernel, random):
    angles = np.concatenate(
        [random.uniform(-7.0, 7.0, 400), random.uniform(-1e4, 1e4, 400), np.arange(-16, 16) * np.pi / 4]
    )
    out = np.empty((2, width))
    for first in range(0, len(angles), width):
        x = np.resize(angles[first : first + width], width)
        kernel(x, out)
        # Far from zero the reduction keeps the angle to about 1e-16 of its size.
        allowed = 4e-16 + 2e-16 * np.abs(x)
        assert (np.abs(out[0] - np.sin(x)) <= allowed).all()
        assert (np.abs(out[1] - np.cos(x)) <= allowed).all()


@compiled
def versines(x):
    return sine_versine(x)


def test_the_gates_own_sine(random):
    for x in (*random.uniform(-7.0, 7.0, 500), 0.0, 1e-9, np.pi, -np.pi, 1000.0):
        sine, versine = versines(x)
        assert sine == pytest.approx(math.sin(x), abs=2e-15)
        assert versine == pytest.approx(2.0 * math.sin(0.5 * x) ** 2, abs=2e-15)


@compiled
def one_iteration(task, table, target, q, damping, tip_out, jacobian, step_out):
    """What the race does in one iteration, on plain floats; returns error and cosine."""
    n = table.shape[0] - EXTRA_ROWS
    slots, columns, step = stack(32, 1.0), stack(192, 1.0), stack(32, 1.0)
    given_target, folded = stack(12, 1.0), stack(12, 1.0)
    for k in range(12):
        put(given_target, k, target[k // 4, k % 4])
    fold_target(n, table, given_target, folded)
    for i in range(n):
        put(slots, i, q[i])
    tip = walk(n, table, slots, columns)
    lever = table[n + SETTINGS, METRES_PER_RADIAN]
    e0, e1, e2, e3, e4, e5, _ = error_of(task, lever, folded, tip)
    finish_columns(n, table, task, lever, slots, columns, tip, e0, e1, e2, e3, e4, e5)
    largest = damped_step(n, columns, step, damping, e0, e1, e2, e3, e4, e5)
    for k in range(12):
        tip_out[k] = tip[k]
    for i in range(n):
        step_out[i] = get(step, i)
        for row in range(6):
            jacobian[row, i] = get(columns, 6 * i + row)
    return (e0, e1, e2, e3, e4, e5), largest


def tip_from_links(table, n, tip):
    """B · (what the links give) · E: the rotation's columns x, y, z, then the origin."""
    rotation, base = np.reshape(tip[:9], (3, 3)).T, table[n + BASE]
    b = base[:9].reshape(3, 3)
    pose = np.eye(4)
    pose[:3, :3] = b @ rotation @ table[n + END, :9].reshape(3, 3)
    pose[:3, 3] = b @ tip[9:12] + base[9:12]
    return pose


def robots(arms, make_chain, random):
    made = [make_chain(random, ALL_KINDS[:count]) for count in (1, 3, 6, 8)]
    return [*arms.values(), *made, make_chain(random, ALL_KINDS * 3 + ALL_KINDS[:6])]


@pytest.mark.parametrize("task", TASK_CODES)
def test_one_iteration_is_what_numpy_makes_of_the_plain_chain(task, arms, make_chain, make_posture, random):
    for robot in robots(arms, make_chain, random):
        n = robot.dof
        table = layout(robot, task, Tolerance(), budget=10)
        lever = table[n + SETTINGS, METRES_PER_RADIAN]
        for _ in range(5):
            q, goal = make_posture(robot, random, 0.05), make_posture(robot, random)
            target, reached = tip_matrix(robot, goal), tip_matrix(robot, q)
            tip, jacobian, step = np.empty(12), np.empty((6, n)), np.empty(n)
            damping = 0.01
            error, largest = one_iteration(TASK_CODES[task], table, target, q, damping, tip, jacobian, step)
            assert np.allclose(tip_from_links(table, n, tip), reached, rtol=0, atol=1e-12 * max(1, n))

            # In the base's axes, weighed, and the rotation as the chord 2 sin(θ/2).
            base = table[n + BASE, :9].reshape(3, 3)
            plain = reference_jacobian(robot, q)
            turn = rotation_log(target[:3, :3] @ reached[:3, :3].T)
            if task == "axis":
                z = reached[:3, 2]
                turn = rotation_between(z, target[:3, 2])
                plain[3:] -= np.outer(z, z @ plain[3:])
            angle = np.linalg.norm(turn)
            chord = turn * np.sinc(angle / (2.0 * np.pi))
            wanted = np.concatenate([target[:3, 3] - reached[:3, 3], lever * chord])
            told = np.concatenate([base @ error[:3], base @ error[3:]])
            assert np.allclose(told, wanted, rtol=0, atol=1e-9)
            weighed = np.vstack([plain[:3], lever * plain[3:]])
            turned = np.vstack([base @ jacobian[:3], base @ jacobian[3:]])
            assert np.allclose(turned, weighed, rtol=0, atol=1e-11 * max(1, n))
            exact = weighed.T @ np.linalg.solve(weighed @ weighed.T + damping * np.eye(6), wanted)
            assert np.allclose(step, exact, rtol=1e-7, atol=1e-9)
            assert largest == np.abs(step).max()


def test_a_joint_on_its_limit_is_held_while_it_pushes_outward(arms):
    arm = arms["panda"]
    table = layout(arm, "pose", Tolerance(), budget=10)
    q, goal = arm.home.copy(), arm.home.copy()
    q[3], goal[3] = arm.lower[3], arm.lower[3] - 0.2
    tip, jacobian, step = np.empty(12), np.empty((6, 7)), np.empty(7)
    one_iteration(0.0, table, tip_matrix(arm, goal), q, 1e-6, tip, jacobian, step)
    assert step[3] == 0.0
    goal[3] = arm.lower[3] + 0.2
    one_iteration(0.0, table, tip_matrix(arm, goal), q, 1e-6, tip, jacobian, step)
    assert step[3] > 0.05


@pytest.mark.parametrize("angle", [0.0, 1e-15, 1e-13, 1e-9, 1e-6, 1e-3, np.pi, np.pi - 1e-9])
def test_near_parallel_axes_keep_their_precision(angle, random):
    """The feet of the common normals run off to 1/angle metres; the links must not follow them."""
    joints = [
        Joint(
            f"j{k}",
            JointKind.REVOLUTE,
            f"l{k}",
            f"l{k + 1}",
            Pose.from_rpy((0.3, 0.05, 0.1), (0.0, angle if k % 2 else 1.0, 0.0)),
            np.array([0.0, 0.0, 1.0]),
            -2.0,
            2.0,
        )
        for k in range(6)
    ]
    links = tuple(Link(f"l{k}") for k in range(7))
    robot = chain_in(
        Tree("p", "p", links, tuple(joints), (Frame("tip", "l6", Pose((0.1, 0.2, 0.3))),), tip="tip")
    )
    assert np.abs(links_of(robot).rows[:, 1:4]).max() < 1.0
    table = layout(robot, "pose", Tolerance(), budget=10)
    tip, jacobian, step = np.empty(12), np.empty((6, 6)), np.empty(6)
    for _ in range(20):
        q = random.uniform(-2.0, 2.0, 6)
        one_iteration(0.0, table, np.eye(4), q, 0.01, tip, jacobian, step)
        assert np.allclose(tip_from_links(table, 6, tip), tip_matrix(robot, q), rtol=0, atol=2e-15 * 10)


@compiled
def replay_eight(screws, q, out):
    slots = stack(32, lanes(8, 1.0))
    for k in range(8):
        for i in range(q.shape[1]):
            put_lane(slots, i, k, q[k, i])
    pose = replay_lanes(screws, slots)
    held = stack(12, lanes(8, 1.0))
    for j in range(12):
        put(held, j, pose[j])
    for k in range(8):
        for j in range(12):
            out[k, j // 4, j % 4] = get_lane(held, j, k)


def test_the_gates_lanes_replay_as_its_plain_code_does(arms, make_chain, make_posture, random):
    for robot in robots(arms, make_chain, random):
        q = np.array([make_posture(robot, random) for _ in range(8)])
        out, plain = np.zeros((8, 3, 4)), np.empty((4, 4))
        replay_eight(screws_of(robot), q, out)
        for k in range(8):
            replay_into(screws_of(robot), q[k], plain)
            assert np.allclose(out[k], plain[:3], rtol=0, atol=1e-13 * max(1, robot.dof))


@pytest.mark.parametrize("width", [2, 4])
def test_narrower_registers_give_the_same_answers(width, arms, make_posture, random):
    """The same attempt wins, after as many iterations; sums may be rounded in another order."""
    race = types.int64(given(2), given(2), given(1), filled(1))
    whole = filled(1, types.int64)
    batch = types.void(given(2), given(3), given(2), filled(2), whole, whole)
    for name in ("ur5e", "panda"):
        arm = arms[name]
        table = layout(arm, "pose", Tolerance(), budget=200)
        targets = np.array([tip_matrix(arm, make_posture(arm, random)) for _ in range(150)])
        seeds = np.array([make_posture(arm, random) for _ in range(150)])
        raced, batched = {}, {}
        for lane_width in (width, 8):
            kernel = compiled_for(RACES[lane_width], race)
            answers, counts = np.empty_like(seeds), np.empty(len(seeds), dtype=np.int64)
            for k in range(len(seeds)):
                counts[k] = kernel(table, targets[k], seeds[k], answers[k])
            raced[lane_width] = counts.copy(), answers.copy()
            kernel = compiled_for(BATCHES[lane_width], batch)
            kernel(table, targets, seeds, answers, counts, np.zeros(1, dtype=np.int64))
            batched[lane_width] = counts.copy(), answers.copy()
        for found in (raced, batched):
            assert (found[8][0] > 0).all()
            assert np.array_equal(found[width][0], found[8][0])
            assert np.allclose(found[width][1], found[8][1], rtol=0, atol=1e-6)


def test_attempts_spread_evenly():
    """Every part of a square gets about its share of the starts."""
    points = (np.arange(1, 4001)[:, None] * golden(2) + 0.5) % 1.0
    counts, _, _ = np.histogram2d(*points.T, bins=10, range=[[0, 1], [0, 1]])
    assert counts.min() >= 30
    assert counts.max() <= 50


def test_a_radian_weighs_the_same_share_of_every_reach(arms):
    for arm in arms.values():
        table = layout(arm, "pose", Tolerance(), budget=1)
        lever = table[arm.dof + SETTINGS, METRES_PER_RADIAN]
        assert lever == pytest.approx(Recipe().radian * characteristic_length_m(arm))
