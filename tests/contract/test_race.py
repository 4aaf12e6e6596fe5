"""What the race owes beyond every solver's contract: modes, objectives, masks, and chains of every make."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

import forearm
from forearm.ik.audit import PinocchioReplay
from forearm.ik.limits import TURN
from forearm.ik.problem import LIMIT_TOLERANCE, Tolerance
from forearm.ik.replay import distance_between
from forearm.kinematics.forward import tip_matrix
from forearm.robots.robot import chain_in
from forearm.robots.tree import Frame, Joint, JointKind, Link, Tree
from forearm.spatial import Pose


def question(arm, random, make_posture):
    return tip_matrix(arm, make_posture(arm, random)), make_posture(arm, random)


def windings(arm, q):
    """``q`` and every joint vector within the limits that differs from it by full turns."""
    options = [
        [value + TURN * k for k in range(-2, 3) if low <= value + TURN * k <= high]
        for value, low, high in zip(q, arm.lower, arm.upper, strict=True)
    ]
    return np.stack(np.meshgrid(*options, indexing="ij"), axis=-1).reshape(-1, arm.dof)


def every_answer(arm, target, seed):
    """All joint vectors that reach the target, by the closed form."""
    found = arm.ik(target, seed=seed, solver="analytic").solutions
    return np.concatenate([windings(arm, solution.q) for solution in found])


def test_the_nearest_is_nearest(arms, random, make_posture):
    """Held against every branch and winding there is."""
    arm, nearest = arms["ur5e"], 0
    for _ in range(60):
        target, seed = question(arm, random, make_posture)
        answer = arm.ik(target, seed=seed, mode="nearest").q
        first = arm.ik(target, seed=seed).q
        there = every_answer(arm, target, seed)
        least = np.linalg.norm(there - seed, axis=1).min()
        distance = np.linalg.norm(answer - seed)
        assert distance <= np.linalg.norm(first - seed) + 1e-3
        # Near a singularity the tolerance leaves the joints some room.
        assert distance >= least - 1e-3
        nearest += distance <= least + 1e-3
    assert nearest >= 58


def test_near_its_seed_every_mode_but_best_stays_there(arms, random, make_posture):
    for name in ("ur5e", "panda"):
        arm = arms[name]
        for _ in range(20):
            q = make_posture(arm, random, 0.1)
            found = arm.ik(tip_matrix(arm, q), seed=q, mode="nearest")
            assert np.abs(found.q - q).max() <= 1e-5


def margin_share(arm, q):
    return (np.minimum(q - arm.lower, arm.upper - q) / (arm.upper - arm.lower)).min()


def test_the_best_by_limit_margin(arms, random, make_posture):
    arm, best = arms["ur5e"], 0
    for _ in range(40):
        target, seed = question(arm, random, make_posture)
        chosen = margin_share(arm, arm.ik(target, seed=seed, mode="best", objective="limit_margin").q)
        assert chosen >= margin_share(arm, arm.ik(target, seed=seed).q) - 1e-6
        most = max(margin_share(arm, q) for q in every_answer(arm, target, seed))
        assert chosen <= most + 1e-5
        best += chosen >= most - 0.05
    assert best >= 36


@pytest.mark.parametrize("name", ["ur5e", "panda", "mini_arm"])
def test_the_best_by_manipulability(name, arms, random, make_posture):
    arm, better = arms[name], 0
    for _ in range(30):
        target, seed = question(arm, random, make_posture)
        first = arm.ik(target, seed=seed).q
        chosen = arm.ik(target, seed=seed, mode="best", objective="manipulability").q
        assert arm.manipulability(chosen) >= arm.manipulability(first) * (1.0 - 1e-4)
        better += arm.manipulability(chosen) > 1.01 * arm.manipulability(first)
    assert better >= (10 if name == "panda" else 3)


def test_the_best_by_distance_to_a_posture_and_by_weights(arms, random, make_posture):
    arm, moved = arms["panda"], 0
    for _ in range(30):
        target, seed = question(arm, random, make_posture)
        asked = {"seed": seed, "mode": "best", "objective": "posture", "posture": arm.home}
        chosen, first = arm.ik(target, **asked).q, arm.ik(target, seed=seed).q
        assert np.linalg.norm(chosen - arm.home) <= np.linalg.norm(first - arm.home) + 1e-6
        weights = np.array([100.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0])
        weighed = arm.ik(target, weights=weights, **asked).q
        cost = [np.linalg.norm(weights * (q - arm.home)) for q in (weighed, chosen)]
        assert cost[0] <= cost[1] + 1e-6
        moved += cost[0] < cost[1] - 1e-3
    assert moved >= 3


def test_free_rotation_about_any_direction_of_the_tool(arms, random, make_posture):
    arm = arms["mini_arm"]
    replay, turned = PinocchioReplay(arm), 0
    for axis in ((0.0, 0.0, 1.0), (1.0, 0.0, 0.0), (0.6, 0.0, -0.8), (0.0, 0.0, -2.0)):
        unit = np.array(axis) / np.linalg.norm(axis)
        for _ in range(15):
            target, seed = question(arm, random, make_posture)
            result = arm.ik(target, seed=seed, task="axis", axis=axis)
            reached = replay.tip_matrix(result.q)
            assert np.linalg.norm(reached[:3, 3] - target[:3, 3]) <= 1e-6 + 1e-12
            assert np.linalg.norm(np.cross(reached[:3, :3] @ unit, target[:3, :3] @ unit)) <= 1e-6 + 1e-12
            assert (reached[:3, :3] @ unit) @ (target[:3, :3] @ unit) > 0.99
            turned += distance_between(target, reached)[1] > 0.1
    assert turned >= 40


def test_held_joints_stay(arms, random, make_posture):
    arm, solved = arms["panda"], 0
    for _ in range(30):
        q, seed = make_posture(arm, random, 0.05), make_posture(arm, random)
        hold = {"joint3": float(q[2])}
        result = arm.ik(tip_matrix(arm, q), seed=seed, hold=hold)
        solved += bool(result)
        if result:
            assert result.q[2] == pytest.approx(q[2], abs=LIMIT_TOLERANCE)
    assert solved >= 29


@pytest.mark.parametrize("tolerance", [1e-3, 1e-6, 1e-9, 1e-12])
def test_tolerances_are_met_down_to_rounding(tolerance, arms, random, make_posture):
    for name in ("ur5e", "panda"):
        arm, solved = arms[name], 0
        for _ in range(30):
            target, seed = question(arm, random, make_posture)
            result = arm.ik(target, seed=seed, tolerance=Tolerance(tolerance, tolerance))
            solved += bool(result)
        assert solved == 30
        # Below what doubles can tell apart it ends, and claims nothing.
        beneath = arm.ik(target, seed=seed, tolerance=Tolerance(1e-18, 1e-18))
        assert beneath.status == "NOT_FOUND"


def test_metres_and_radians_have_tolerances_of_their_own(arms, random, make_posture):
    arm = arms["ur5e"]
    coarse = {"position": [], "rotation": []}
    for _ in range(60):
        target, seed = question(arm, random, make_posture)
        rough = arm.ik(target, seed=seed, tolerance=Tolerance(1e-2, 1e-6)).require()
        coarse["position"].append(rough.position_error_m)
        assert rough.rotation_error_rad <= 1e-6
        rough = arm.ik(target, seed=seed, tolerance=Tolerance(1e-6, 1e-1)).require()
        coarse["rotation"].append(rough.rotation_error_rad)
        assert rough.position_error_m <= 1e-6
    assert max(coarse["rotation"]) > 1e-5


@pytest.mark.parametrize("count", [4, 7, 12, 20, 30])
def test_long_chains_of_every_kind_of_joint(count, make_chain, make_posture, random):
    kinds = [JointKind.REVOLUTE, JointKind.CONTINUOUS, JointKind.PRISMATIC, JointKind.REVOLUTE]
    robot = make_chain(random, [kinds[k % 4] for k in range(count)])
    arm = forearm.Arm(robot.tree, robot.base, robot.tip, robot.joints, robot.held)
    replay, solved = PinocchioReplay(arm), 0
    for _ in range(10):
        q = make_posture(arm, random)
        seed = q if count == 4 else make_posture(arm, random)
        result = arm.ik(replay.tip_matrix(q), seed=seed, task="pose")
        solved += bool(result)
    assert solved >= 9


@pytest.mark.parametrize("angle", [0.0, 1e-14, 1e-10, 1e-7, 1e-4])
def test_near_parallel_axes(angle, random, make_posture):
    """Where the common normal runs off to infinity."""
    tilts = (0.0, angle, 1.2, angle, -1.1, angle, 0.9)
    joints = tuple(
        Joint(f"j{k}", JointKind.REVOLUTE, f"l{k}", f"l{k + 1}",
              Pose.from_rpy((0.25, 0.05, 0.1), (0.0, tilt, 0.3)), lower=-2.5, upper=2.5)
        for k, tilt in enumerate(tilts)
    )  # fmt: skip
    links = tuple(Link(f"l{k}") for k in range(8))
    robot = chain_in(Tree("p", "p", links, joints, (Frame("tip", "l7", Pose((0.1, 0.2, 0.3))),), tip="tip"))
    arm = forearm.Arm(robot.tree, robot.base, robot.tip, robot.joints, robot.held)
    for _ in range(15):
        target, seed = question(arm, random, make_posture)
        result = arm.ik(target, seed=seed, tolerance=Tolerance(1e-9, 1e-9))
        assert result.status == "SOLVED"


def test_options_that_do_not_fit_are_refused(arms):
    arm = arms["ur5e"]
    target = arm.fk(arm.home)
    for options, said in (
        ({"mode": "fastest"}, "first, nearest, best"),
        ({"mode": "best"}, "objective"),
        ({"objective": "limit_margin"}, "objective"),
        ({"mode": "best", "objective": "beauty"}, "manipulability"),
        ({"mode": "best", "objective": "posture"}, "posture"),
        ({"posture": arm.home}, "posture"),
        ({"mode": "nearest", "weights": [1.0, -1.0, 1.0, 1.0, 1.0, 1.0]}, "weights"),
        ({"mode": "nearest", "weights": [1.0, 1.0]}, "weights"),
        ({"mode": "nearest", "enough": 0}, "enough"),
        ({"metres_per_radian": 0.0}, "metres_per_radian"),
        ({"metres_per_radian": float("nan")}, "metres_per_radian"),
        ({"speed": 9}, "metres_per_radian"),
    ):
        with pytest.raises(forearm.ForearmError, match=said):
            arm.ik(target, **options)


@pytest.mark.parametrize("width", ["2", "4"])
def test_a_narrower_processor_gives_the_same_answers(width):
    """The whole of it, in a process of its own that is told how wide its registers are."""
    code = (
        "import forearm, numpy as np; arm = forearm.load('ur5e'); r = np.random.default_rng(0);"
        "qs = r.uniform(-3, 3, (20, 6)); t = [arm.fk(q).matrix() for q in qs];"
        "print(*np.concatenate([arm.ik(x, seed=arm.home).q for x in t]).round(6) + 0.0)"
    )
    found = [
        subprocess.run(
            [sys.executable, "-c", code],
            env=os.environ | {"FOREARM_LANES": lanes},
            capture_output=True, text=True, check=True, timeout=600,
        ).stdout.split()
        for lanes in (width, "8")
    ]  # fmt: skip
    assert len(found[0]) == 120
    assert np.allclose(*(np.array(each, dtype=float) for each in found), rtol=0, atol=1e-5)
