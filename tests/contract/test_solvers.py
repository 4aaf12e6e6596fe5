"""What every registered solver owes, on every bundled arm and task that it says it handles.

A new solver file is picked up here without being named.
"""

from __future__ import annotations

import itertools
from dataclasses import asdict

import numpy as np
import pytest

import forearm
from forearm.ik import descent
from forearm.ik.audit import PinocchioReplay
from forearm.ik.problem import LIMIT_TOLERANCE, TASKS, Problem, Tolerance, pose_problem
from forearm.ik.replay import distance_between
from forearm.ik.result import IKResult, Status
from forearm.ik.solve import solve
from forearm.ik.solver import Proposal, make_solver, solver_names
from forearm.ik.solvers import newton
from forearm.kinematics.forward import tip_pose
from forearm.robots.tree import JointKind
from forearm.spatial import Pose

CASES = [
    (solver, name, task)
    for solver in solver_names()
    for name in forearm.robot_names()
    for task in TASKS
    if make_solver(solver).supports(forearm.load(name), task)
]
PROBLEMS = 20

each_case = pytest.mark.parametrize(
    ("solver", "name", "task"), CASES, ids=[f"{solver}-{name}-{task}" for solver, name, task in CASES]
)


def test_every_solver_and_every_arm_is_covered():
    assert {solver for solver, _, _ in CASES} == set(solver_names())
    assert {(name, task) for _, name, task in CASES} == {
        (name, task) for name in forearm.robot_names() for task in TASKS
    }
    assert {"planar", "pinv", "newton", "dls", "dls_adaptive"} <= set(solver_names())


@pytest.mark.parametrize("solver", solver_names())
def test_it_describes_itself(solver):
    made = make_solver(solver)
    assert made.name == solver
    assert isinstance(made.settles, bool)
    assert 10 < len(made.summary) < 100
    assert "\n" not in made.summary


def check_honest(arm, target, task, result):
    """Whatever the result claims is true by Pinocchio's forward kinematics."""
    assert isinstance(result, IKResult)
    assert (result.status is Status.SOLVED) == bool(result) == (len(result.solutions) > 0)
    assert (result.best_effort is None) or not result.solutions
    assert (result.proof is not None) == (result.status is Status.UNREACHABLE)
    assert result.reason
    replay = PinocchioReplay(arm)
    for solution in result.solutions:
        reached = replay.tip_matrix(solution.q)
        position, rotation = distance_between(target.matrix(), reached)
        if task == "axis":
            rotation = angle_between(target.matrix()[:3, 2], reached[:3, 2])
        assert position <= result.tolerance.position_m + 1e-12
        assert solution.position_error_m == pytest.approx(position, abs=1e-12)
        if task != "position":
            assert rotation <= result.tolerance.rotation_rad + 1e-12
            assert solution.rotation_error_rad == pytest.approx(rotation, abs=1e-11)
        else:
            assert np.isnan(solution.rotation_error_rad)
        margin = np.minimum(solution.q - arm.lower, arm.upper - solution.q)
        assert margin.min() >= -LIMIT_TOLERANCE
        assert solution.limit_margin_rad == pytest.approx(margin.min(), abs=1e-15)
        assert solution.limit_joint == arm.joint_names[int(margin.argmin())]
        assert solution.winding_count >= 1
        assert not solution.q.flags.writeable


def angle_between(a, b):
    return np.arctan2(np.linalg.norm(np.cross(a, b)), a @ b)


@each_case
def test_no_false_success_and_some_success(solver, name, task, arms, random, make_posture):
    """Residual and coverage side by side: nothing claimed is false, and not everything is refused."""
    arm, solved = arms[name], 0
    for index in range(PROBLEMS):
        q = make_posture(arm, random)
        near = index % 2 == 0
        seed = np.clip(q + random.normal(0.0, 0.05, arm.dof), arm.lower, arm.upper) if near else None
        result = arm.ik(arm.fk(q), seed=seed, solver=solver, task=task, max_iterations=200)
        check_honest(arm, arm.fk(q), task, result)
        assert result.status is not Status.UNREACHABLE
        solved += bool(result)
    # The planar arm's pose targets leave it nothing to choose; the rest must mostly succeed.
    assert solved >= PROBLEMS // 2, solved


@each_case
def test_targets_drawn_anywhere_are_answered_honestly(solver, name, task, arms, random):
    arm = arms[name]
    for _ in range(10):
        target = Pose(random.uniform(-1.2, 1.2, 3), a_quaternion(random))
        result = arm.ik(target, solver=solver, task=task, max_iterations=60)
        check_honest(arm, target, task, result)
        if result.status is not Status.SOLVED:
            assert result.best_effort is not None
            assert np.isfinite(result.best_effort.q).all()


def a_quaternion(random):
    quaternion = random.normal(size=4)
    return quaternion / np.linalg.norm(quaternion)


def without_time(result):
    data = result.to_json()
    assert data["diagnostics"].pop("time_s") >= 0.0
    return data


@each_case
def test_the_same_question_has_the_same_answer(solver, name, task, arms, random, make_posture):
    arm = arms[name]
    target, seed = arm.fk(make_posture(arm, random)), make_posture(arm, random)
    question = {"seed": seed, "solver": solver, "task": task}
    first, second = (without_time(arm.ik(target, **question)) for _ in range(2))
    again = without_time(forearm.load(name).ik(target, **question))
    assert first == second == again


@each_case
def test_nothing_that_is_given_is_changed(solver, name, task, arms, random, make_posture):
    arm = arms[name]
    matrix, seed = arm.fk(make_posture(arm, random)).matrix(), make_posture(arm, random)
    kept = matrix.copy(), seed.copy(), arm.lower.copy(), arm.upper.copy(), arm.home.copy()
    result = arm.ik(matrix, seed=seed, solver=solver, task=task)
    assert all(
        np.array_equal(before, after)
        for before, after in zip(kept, (matrix, seed, arm.lower, arm.upper, arm.home), strict=True)
    )
    assert np.array_equal(result.seed, seed)
    assert result.seed is not seed

    problem = pose_problem(arm, matrix, seed=seed, task=task)
    before = {field: repr(getattr(problem, field)) for field in Problem.__slots__ if field != "robot"}
    proposal = make_solver(solver).propose(problem)
    assert isinstance(proposal, Proposal)
    assert before == {field: repr(getattr(problem, field)) for field in Problem.__slots__ if field != "robot"}
    assert not any(np.shares_memory(q, problem.seed) for q in proposal.candidates)


@each_case
def test_an_impossible_target_ends_within_its_budget(solver, name, task, arms):
    arm = arms[name]
    for budget in (1, 7, 40):
        result = arm.ik(Pose((9.0, 9.0, 0.0)), solver=solver, task=task, max_iterations=budget)
        assert result.status is Status.UNREACHABLE
        assert result.diagnostics.iterations <= budget
        assert result.solver == solver


@each_case
def test_a_budget_is_kept_on_targets_that_might_be_possible(solver, name, task, arms, random, make_posture):
    arm = arms[name]
    for budget in (1, 3, 10):
        target, seed = arm.fk(make_posture(arm, random)), make_posture(arm, random)
        result = arm.ik(target, seed=seed, solver=solver, task=task, max_iterations=budget)
        check_honest(arm, target, task, result)
        assert result.diagnostics.iterations <= budget


@each_case
def test_targets_at_the_limits(solver, name, task, arms):
    arm = arms[name]
    for q in (arm.lower, arm.upper, np.where(np.arange(arm.dof) % 2, arm.lower, arm.upper)):
        target = arm.fk(q)
        seed = q + 0.05 * np.sign(arm.lower + arm.upper - 2.0 * q)
        result = arm.ik(target, seed=seed, solver=solver, task=task)
        check_honest(arm, target, task, result)
        assert result.status is not Status.UNREACHABLE


@each_case
def test_singular_targets_and_singular_seeds(solver, name, task, arms):
    arm = arms[name]
    zeros = arm.postures["zeros"]
    for target_q, seed in ((zeros, zeros), (zeros, arm.home), (arm.home, zeros)):
        target = arm.fk(target_q)
        result = arm.ik(target, seed=seed, solver=solver, task=task)
        check_honest(arm, target, task, result)
        assert result.status is not Status.UNREACHABLE
        if target_q is seed:
            assert result.status is Status.SOLVED


@each_case
def test_a_seed_outside_the_limits_is_reported_and_kept(solver, name, task, arms):
    arm = arms[name]
    target = arm.fk(0.5 * (arm.lower + arm.upper) + 0.1)
    seed = arm.home.copy()
    seed[0] = arm.upper[0] + 0.25
    result = arm.ik(target, seed=seed, solver=solver, task=task)
    check_honest(arm, target, task, result)
    assert np.array_equal(result.seed, seed)
    assert len(result.warnings) == 1
    assert f"joint {arm.joint_names[0]} at {seed[0]:.6g} is 0.25 past its upper limit" in result.warnings[0]
    inside = arm.ik(target, solver=solver, task=task)
    assert inside.warnings == ()


@each_case
def test_the_result_has_one_type_whatever_is_asked(solver, name, task, arms):
    arm = arms[name]
    target = arm.fk(arm.home)
    plain = set(arm.ik(target, solver=solver, task=task).to_json())
    for options in (
        {"seed": arm.home},
        {"tolerance": Tolerance(1e-3, 1e-3)},
        {"max_iterations": 1},
        {"frame": "world"},
        {"audit": True},
    ):
        result = arm.ik(target, solver=solver, task=task, **options)
        assert type(result) is IKResult
        assert set(result.to_json()) == plain
        assert isinstance(result.solutions, tuple)
    beyond = arm.ik(Pose((9.0, 0.0, 0.0)), solver=solver, task=task)
    assert type(beyond) is IKResult
    assert set(beyond.to_json()) == plain


@pytest.mark.parametrize("solver", sorted({solver for solver, name, _ in CASES if name == "two_link"}))
def test_the_careful_loops_arm(solver):
    arm = forearm.load("two_link(0.5, 0.4)")
    start = np.radians([10.0, 10.0])
    reached = arm.ik((0.6, 0.3, 0.0), seed=start, solver=solver)
    assert reached.status is Status.SOLVED
    assert reached.require().position_error_m <= 1e-6
    assert np.allclose(arm.fk(reached.q).position_m, (0.6, 0.3, 0.0), rtol=0, atol=1e-6)
    beyond = arm.ik((1.5, 0.0, 0.0), seed=start, solver=solver)
    assert beyond.status is Status.UNREACHABLE
    assert beyond.best_effort.position_error_m == pytest.approx(0.6, abs=1e-6)
    assert beyond.solver == solver


@pytest.mark.parametrize("solver", solver_names())
def test_what_it_does_not_handle_is_refused_with_those_that_do(solver, arms):
    for name, arm in arms.items():
        for task in TASKS:
            if (solver, name, task) in CASES:
                continue
            with pytest.raises(forearm.InvalidInput) as caught:
                arm.ik(arm.fk(arm.home), solver=solver, task=task)
            able = [other for other, robot, kind in CASES if (robot, kind) == (name, task)]
            assert caught.value.fix == f"These do: {', '.join(able)}."


@pytest.mark.parametrize("solver", solver_names())
def test_an_unknown_option_lists_the_known_ones(solver, arms):
    with pytest.raises(forearm.UnknownName) as caught:
        arms["two_link"].ik((0.3, 0.3, 0.0), solver=solver, colour="red")
    assert caught.value.given == "colour"
    assert "colour" not in caught.value.valid


@pytest.mark.parametrize("solver", ["newton", "pinv"])
@pytest.mark.parametrize("alpha", [0.0, -0.1, 1.0000001, float("nan"), float("inf"), "much"])
def test_a_step_length_lies_in_zero_to_one(solver, alpha):
    with pytest.raises(forearm.InvalidInput):
        make_solver(solver, alpha=alpha)
    assert make_solver(solver, alpha=1.0).alpha == 1.0
    assert make_solver(solver, alpha=1e-3).alpha == 1e-3


@pytest.mark.parametrize("solver", ["dls", "dls_adaptive"])
@pytest.mark.parametrize("damping", [0.0, -1.0, float("nan"), float("inf")])
def test_damping_is_a_positive_number(solver, damping):
    with pytest.raises(forearm.InvalidInput):
        make_solver(solver, damping=damping)


@pytest.mark.parametrize("solver", ["pinv", "dls", "dls_adaptive"])
@pytest.mark.parametrize("most", [0.0, -1.0, float("nan")])
def test_a_step_limit_is_a_positive_number(solver, most):
    with pytest.raises(forearm.InvalidInput):
        make_solver(solver, max_step_rad=most)


@pytest.mark.parametrize("solver", ["pinv", "newton", "dls", "dls_adaptive"])
def test_every_iteration_is_recorded_when_asked_and_none_otherwise(solver, arms):
    arm = arms["ur5e"]
    target = arm.fk(arm.home + 0.3)
    silent = arm.ik(target, seed=arm.home, solver=solver)
    told = arm.ik(target, seed=arm.home, solver=solver, record=True)
    assert silent.diagnostics.history == ()
    assert len(told.diagnostics.history) == told.diagnostics.iterations > 2
    assert np.array_equal(told.q, silent.q)
    first = told.diagnostics.history[0]
    at_seed = arm.fk(arm.home)
    error = forearm.pose_error(target, at_seed)
    assert first.position_error_m == pytest.approx(error.distance_m, abs=1e-12)
    assert first.rotation_error_rad == pytest.approx(error.angle_rad, abs=1e-12)
    assert first.condition_number == pytest.approx(arm.dexterity(arm.home).condition_number, rel=1e-9)


@pytest.mark.parametrize("solver", ["pinv", "dls", "dls_adaptive"])
@pytest.mark.parametrize("most", [0.02, 0.1])
def test_no_joint_ever_moves_more_than_the_step_limit(solver, most, arms, random, make_posture):
    arm = arms["mini_arm"]
    clamped = 0
    for _ in range(5):
        target, seed = arm.fk(make_posture(arm, random, 0.2)), make_posture(arm, random, 0.2)
        result = arm.ik(target, seed=seed, solver=solver, max_step_rad=most, record=True, max_iterations=40)
        steps = [step.step_rad for step in result.diagnostics.history]
        # A joint turned whole turns back into its limits stands still.
        moved = [step - 2.0 * np.pi * np.round(step / (2.0 * np.pi)) for step in steps]
        assert max(abs(step) for step in moved) <= most + 1e-12
        clamped += result.diagnostics.clamped_steps
    assert clamped > 0


def test_fixed_damping_is_recorded_at_every_iteration(arms):
    arm = arms["ur5e"]
    result = arm.ik(arm.fk(arm.home + 0.3), seed=arm.home, solver="dls", damping=0.07, record=True)
    assert {step.damping for step in result.diagnostics.history} == {0.07}
    assert result.diagnostics.damping == 0.07


def test_adaptive_damping_halves_when_the_error_falls_and_doubles_when_it_rises(arms, random, make_posture):
    halved = doubled = 0
    for _ in range(10):
        arm = arms["ur5e"]
        target, seed = arm.fk(make_posture(arm, random)), make_posture(arm, random)
        result = arm.ik(
            target, seed=seed, solver="dls_adaptive", damping=0.2, record=True, max_iterations=150
        )
        history = result.diagnostics.history
        assert history[0].damping == 0.2
        for before, after in itertools.pairwise(history):
            assert 1e-4 <= after.damping <= 1.0
            # A step that raises the error is taken back, so the record shows the same error again.
            falls = total_error(after) < total_error(before)
            expected = before.damping * (0.5 if falls else 2.0)
            assert after.damping == np.clip(expected, 1e-4, 1.0)
            halved, doubled = halved + falls, doubled + (not falls)
    assert halved > 50
    assert doubled > 50


def total_error(step):
    return np.hypot(step.position_error_m, step.rotation_error_rad)


def test_adaptive_damping_is_bounded_where_nothing_helps(arms):
    arm = arms["two_link"]
    proposal = make_solver("dls_adaptive", record=True).propose(pose_problem(arm, (2.0, 0.0, 0.0)))
    dampings = [step.damping for step in proposal.history]
    assert min(dampings) >= 1e-4
    assert max(dampings) <= 1.0
    with pytest.raises(forearm.InvalidInput):
        make_solver("dls_adaptive", damping=2.0)


@pytest.mark.parametrize("solver", ["dls", "dls_adaptive"])
def test_limits_hold_at_every_iteration(solver, arms, random, make_posture, monkeypatch):
    visited = []
    plain_at = descent.Measure.at

    def at(self, q):
        visited.append(q.copy())
        return plain_at(self, q)

    monkeypatch.setattr(descent.Measure, "at", at)
    for name in ("panda", "mini_arm"):
        arm = arms[name]
        visited.clear()
        held = 0
        for _ in range(10):
            target, seed = arm.fk(make_posture(arm, random)), make_posture(arm, random)
            held += arm.ik(target, seed=seed, solver=solver, max_iterations=60).diagnostics.limited_steps
        assert len(visited) > 100
        for q in visited:
            assert np.maximum(arm.lower - q, q - arm.upper).max() <= LIMIT_TOLERANCE
        assert held > 0, name


def test_the_pseudo_inverse_stops_at_an_exact_singularity(arms):
    arm = arms["two_link"]
    result = arm.ik((0.614, 0.0, 0.0), seed=(0.0, 0.0), solver="pinv", record=True)
    assert (result.status, result.reason) == (Status.NOT_FOUND, "stalled")
    assert result.diagnostics.iterations == 0
    assert result.diagnostics.history == ()
    assert result.best_effort.condition_number > 1e10
    damped = arm.ik(
        (0.614 * np.cos(0.3), 0.614 * np.sin(0.3), 0.0), seed=(0.0, 0.0), solver="dls", max_iterations=500
    )
    assert damped.status is Status.SOLVED


def test_newton_is_exact_on_a_square_regular_jacobian(arms):
    arm = arms["ur5e"]
    q = np.array([0.3, -1.2, 1.4, -0.9, -1.1, 0.4])
    result = arm.ik(arm.fk(q), seed=q + 0.01, solver="newton", record=True)
    assert result.status is Status.SOLVED
    errors = [total_error(step) for step in result.diagnostics.history]
    assert len(errors) <= 4
    # Quadratic convergence: the error at least squares, up to the curvature.
    assert all(after < 10.0 * before**2 for before, after in itertools.pairwise(errors))


@pytest.mark.parametrize("steps", [1, 4, 10])
def test_newton_takes_exactly_the_steps_it_is_told_to(steps, arms):
    """Ten steps of 0.8 leave 0.2^10 of the error, whether or not the target was reached before."""
    arm = arms["ur5e"]
    q = np.array([0.3, -1.2, 1.4, -0.9, -1.1, 0.4])
    question = {"seed": q + 0.02, "solver": "newton", "alpha": 0.8, "fixed_iterations": steps}
    result = arm.ik(arm.fk(q), record=True, **question)
    assert result.diagnostics.iterations == steps == len(result.diagnostics.history)
    assert result.diagnostics.candidates == 1
    assert (result.status is Status.SOLVED) == (steps == 10)
    if steps < 10:
        assert result.reason.startswith("rejected: misses by")
    loose = arm.ik(arm.fk(q), tolerance=Tolerance(1.0, 1.0), **question)
    assert loose.diagnostics.iterations == steps
    assert loose.status is Status.SOLVED
    assert np.array_equal(loose.q, (result.solutions or (result.best_effort,))[0].q)


def test_newton_says_where_a_fixed_number_of_steps_was_cut_short(arms, monkeypatch):
    arm = arms["ur5e"]
    calls = []

    def step(self, error, jacobian):
        calls.append(error)
        return None if len(calls) > 3 else np.full(6, 0.01)

    monkeypatch.setattr(newton.NewtonStep, "step", step)
    result = arm.ik(arm.fk(arm.home + 0.3), solver="newton", fixed_iterations=8)
    assert (result.status, result.reason) == (Status.NOT_FOUND, "stalled")
    assert result.diagnostics.iterations == 3
    assert result.diagnostics.candidates == 0
    assert np.allclose(result.best_effort.q, arm.home + 0.03, rtol=0, atol=1e-12)


def test_diagnostics_are_plain_data(arms):
    data = asdict(arms["two_link"].ik((0.3, 0.3, 0.0), solver="dls", record=True).diagnostics)
    assert data["candidates"] == 1
    assert data["restarts"] == 0
    assert data["drops"] == {}


def test_a_robot_without_a_closed_form_gets_a_numeric_solver(arms, make_chain, random):
    assert arms["two_link"].ik((0.3, 0.3, 0.0)).solver == "planar"
    assert arms["ur5e"].ik(arms["ur5e"].fk(arms["ur5e"].home)).solver != "planar"
    robot = make_chain(random, [JointKind.PRISMATIC] * 3)
    middle = 0.5 * (robot.lower + robot.upper)
    result = solve(robot, tip_pose(robot, middle), task="position")
    assert result.status is Status.SOLVED
    assert np.allclose(result.q, middle, rtol=0, atol=1e-4)
    assert result.require().limit_margin_rad == np.inf
