"""The planar closed form and the gate, on arms and targets that Hypothesis chooses."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import forearm
from forearm.ik.limits import TURN, turned_into_limits, winding_count
from forearm.ik.problem import LIMIT_TOLERANCE, Tolerance, limits_of
from forearm.ik.replay import same_place
from forearm.ik.result import Status
from forearm.ik.solve import solve
from forearm.kinematics.forward import joint_frames, tip_pose
from forearm.kinematics.planar import planar_geometry
from forearm.kinematics.screws import screws_of
from forearm.robots.robot import chain_in
from forearm.robots.tree import Frame, Joint, JointKind, Link, Tree
from forearm.spatial import Pose, rotation_exp

angle = st.floats(-3.1, 3.1)
length = st.floats(0.05, 2.0)
offset = st.floats(-1.0, 1.0)


@st.composite
def any_two_hinges(draw):
    """Two parallel hinges however they are written down: turned, shifted, antiparallel, off the plane."""
    axis = np.array([draw(offset), draw(offset), draw(offset)])
    assume(np.linalg.norm(axis) > 0.1)
    axis /= np.linalg.norm(axis)
    # The second joint's own frame is turned arbitrarily; its axis is the first's seen from there.
    turn = rotation_exp((draw(offset), draw(offset), draw(offset)))
    across = np.cross(axis, np.eye(3)[int(np.argmin(np.abs(axis)))])
    across /= np.linalg.norm(across)
    sense = draw(st.sampled_from([-1.0, 1.0]))
    l1, l2 = draw(length), draw(length)
    elbow = l1 * rotation_exp(draw(angle) * axis) @ across + draw(offset) * axis
    tip = l2 * rotation_exp(draw(angle) * axis) @ across + draw(offset) * axis
    root = Pose.from_rpy((draw(offset), draw(offset), draw(offset)), (draw(angle), draw(offset), draw(angle)))
    joints = (
        Joint("a", JointKind.CONTINUOUS, "l0", "l1", root, axis),
        Joint(
            "b",
            JointKind.CONTINUOUS,
            "l1",
            "l2",
            Pose.from_rotation(elbow, turn),
            sense * (turn.T @ axis),
        ),
    )
    frames = (Frame("tip", "l2", Pose.from_rotation(turn.T @ tip, np.eye(3))),)
    tree = Tree("t", "t", (Link("l0"), Link("l1"), Link("l2")), joints, frames, tip="tip", task="position")
    return chain_in(tree), l1, l2


@given(any_two_hinges(), angle, angle)
def test_the_closed_form_reads_any_two_hinges(arm, q1, q2):
    robot, l1, l2 = arm
    geometry = planar_geometry(robot)
    assert geometry is not None
    assert geometry.l1_m == pytest.approx(l1, abs=1e-12)
    assert geometry.l2_m == pytest.approx(l2, abs=1e-12)
    q = np.array([q1, q2])
    result = solve(robot, tip_pose(robot, q), solver="planar")
    assert result.status is Status.SOLVED
    assert max(solution.position_error_m for solution in result.solutions) < 1e-12
    bend = geometry.bend_rad(q)
    if abs(np.sin(bend)) > 1e-3:
        assert len(result.solutions) == 2
        assert {solution.branch for solution in result.solutions} == {"elbow_down", "elbow_up"}
        assert result.solutions[0].branch == "elbow_down"
    if abs(np.sin(bend)) > 1e-4:
        # Coverage: the posture that the target came from is among the answers.
        assert any(same_place(screws_of(robot), solution.q, q, 1e-7) for solution in result.solutions)


@given(any_two_hinges(), angle, st.sampled_from([-1.0, 0.0, 1.0]), st.sampled_from(["outer", "inner"]))
def test_the_edges_of_the_annulus_are_exact(arm, bearing, side, edge):
    robot, l1, l2 = arm
    geometry = planar_geometry(robot)
    assume(edge == "outer" or abs(l1 - l2) > 1e-3)
    radius = l1 + l2 if edge == "outer" else abs(l1 - l2)
    outward = 1.0 if edge == "outer" else -1.0
    direction = geometry.plane_in_base @ np.array([np.cos(bearing), np.sin(bearing), 0.0])
    base = geometry.origin_in_base_m

    on_edge = solve(robot, base + (radius + side * 1e-9) * direction, solver="planar")
    assert on_edge.status is Status.SOLVED
    assert on_edge.solutions[0].position_error_m < 2e-9

    outside = solve(robot, base + (radius + outward * 1e-5) * direction, solver="planar")
    assert outside.status is Status.UNREACHABLE
    assert outside.proof
    assert outside.best_effort.position_error_m == pytest.approx(1e-5, abs=1e-9)

    inside = solve(robot, base + (radius - outward * 1e-5) * direction, solver="planar")
    assert inside.status is Status.SOLVED
    assert inside.solutions[0].position_error_m < 1e-12


@given(any_two_hinges(), angle, angle, st.floats(1e-5, 1.0))
def test_a_target_off_the_plane_is_refused_with_proof(arm, q1, q2, height):
    robot, _, _ = arm
    geometry = planar_geometry(robot)
    on_plane = tip_pose(robot, (q1, q2)).position_m
    result = solve(robot, on_plane + height * geometry.plane_in_base[:, 2], solver="planar")
    assert result.status is Status.UNREACHABLE
    assert result.best_effort.position_error_m == pytest.approx(height, rel=1e-6, abs=1e-9)


@st.composite
def limited_hinges(draw):
    lower = [draw(st.floats(-3.1, 2.0)), draw(st.floats(-3.1, 2.0))]
    upper = [low + draw(st.floats(0.01, 3.0)) for low in lower]
    return lower, upper


def nearest_by_sweep(lower, upper, target, steps=250):
    """The least distance to the target over a grid of the limits, for links of 0.5 and 0.4 m."""
    first, second = np.meshgrid(
        np.linspace(lower[0], upper[0], steps), np.linspace(lower[1], upper[1], steps)
    )
    x = 0.5 * np.cos(first) + 0.4 * np.cos(first + second)
    y = 0.5 * np.sin(first) + 0.4 * np.sin(first + second)
    return float(np.hypot(x - target[0], y - target[1]).min())


@settings(max_examples=60)
@given(limited_hinges(), st.floats(-0.8, 0.8), st.floats(-0.8, 0.8))
def test_limits_are_blamed_only_when_a_sweep_finds_nothing(make_two_hinges, limits, x, y):
    lower, upper = limits
    result = solve(make_two_hinges(lower, upper), (x, y, 0.0), solver="planar")
    nearest = nearest_by_sweep(lower, upper, (x, y))
    assert result.status is not Status.NOT_FOUND
    if result.status is Status.UNREACHABLE:
        assert nearest > 1e-6
        assert result.proof
    else:
        assert nearest < 0.02


@settings(max_examples=60)
@given(st.floats(-9.0, -6.2), st.sampled_from([0, 1]), angle, st.floats(0.1, 3.0))
def test_a_branch_past_a_limit_by_less_than_the_tolerance_is_not_blocked(
    make_two_hinges, exponent, joint, q1, bend
):
    """A posture on the limit is then near enough, whatever the closed form's own roots say."""
    q, upper = np.array([q1, bend]), np.array([q1 + 1e-12, bend + 1e-12])
    upper[joint] -= 10.0**exponent
    lower = np.minimum(upper, q) - 0.5 * np.array([1.0, min(1.0, bend)])
    reach_target = tip_pose(make_two_hinges(), q)
    result = solve(make_two_hinges(lower, upper), reach_target, solver="planar")
    assert result.status is Status.SOLVED
    assert result.require().limit_margin_rad >= -LIMIT_TOLERANCE


@given(st.floats(1e-18, 1e-12), angle, angle)
def test_rounding_is_never_a_proof(make_two_hinges, tolerance, q1, q2):
    robot = make_two_hinges()
    result = solve(robot, tip_pose(robot, (q1, q2)), tolerance=Tolerance(tolerance, tolerance))
    assert result.status is not Status.UNREACHABLE


@given(angle, angle, st.lists(st.floats(-20.0, 20.0), min_size=2, max_size=2))
def test_turning_into_limits_never_moves_the_arm(make_two_hinges, q1, q2, near):
    robot = make_two_hinges((-7.0, -1.0), (4.0, 9.0))
    q = np.array([q1, q2])
    turned = turned_into_limits(robot, q, np.array(near))
    assert np.allclose((turned - q) / TURN, np.round((turned - q) / TURN), rtol=0, atol=1e-12)
    assert same_place(screws_of(robot), turned, q, 1e-12)
    inside = (robot.lower <= turned) & (turned <= robot.upper)
    for i in range(2):
        options = q[i] + TURN * np.arange(-6, 7)
        options = options[(robot.lower[i] <= options) & (options <= robot.upper[i])]
        assert inside[i] == (len(options) > 0)
        if len(options):
            assert abs(turned[i] - near[i]) <= np.abs(options - near[i]).min() + 1e-12
    counts = [
        sum(robot.lower[i] <= q[i] + TURN * k <= robot.upper[i] for k in range(-6, 7)) for i in range(2)
    ]
    assert winding_count(limits_of(robot), robot.turns, q) == counts[0] * counts[1]


@settings(max_examples=40)
@given(st.integers(0, 2**32 - 1), st.sampled_from(["dls", "dls_adaptive", "newton", "pinv"]))
def test_no_solver_claims_what_is_not_so_on_made_chains(make_chain, make_posture, number, solver):
    random = np.random.default_rng(number)
    kinds = random.choice(
        [JointKind.REVOLUTE, JointKind.CONTINUOUS, JointKind.PRISMATIC], random.integers(1, 8)
    )
    robot = make_chain(random, [JointKind(kind) for kind in kinds])
    target = tip_pose(robot, make_posture(robot, random))
    for task in ("pose", "position"):
        seed = make_posture(robot, random)
        result = solve(robot, target, seed=seed, solver=solver, task=task, max_iterations=60)
        assert result.status is not Status.UNREACHABLE
        for solution in result.solutions:
            tip = joint_frames(robot, solution.q)[-1]
            assert np.linalg.norm(tip[:3, 3] - target.position_m) <= 1e-6 + 1e-12
            if task == "pose":
                assert np.abs(tip[:3, :3] - target.rotation).max() <= 1.1e-6
            assert np.maximum(robot.lower - solution.q, solution.q - robot.upper).max() <= LIMIT_TOLERANCE


def test_a_circle_is_followed_without_a_flip():
    """Each answer seeds the next: no branch change, no jump, twice around the shoulder's full turns."""
    arm = forearm.load("two_link")
    for start in ("elbow_down", "elbow_up"):
        centre, radius = np.array([0.3, 0.2, 0.0]), 0.15
        circle = [
            centre + radius * np.array([np.cos(phase), np.sin(phase), 0.0])
            for phase in np.linspace(0.0, 4.0 * np.pi, 401)
        ]
        q = next(solution.q for solution in arm.ik(circle[0]).solutions if solution.branch == start)
        for point in circle:
            solution = arm.ik(point, seed=q).require()
            assert solution.branch == start
            assert np.abs(solution.q - q).max() < 0.1
            q = solution.q


def test_a_circle_around_the_shoulder_winds_on_where_the_limits_allow(make_two_hinges):
    robot = make_two_hinges((-20.0, -3.0), (20.0, 3.0))
    q = solve(robot, (0.6, 0.0, 0.0)).q
    for phase in np.linspace(0.0, 6.0 * np.pi, 600):
        following = solve(robot, (0.6 * np.cos(phase), 0.6 * np.sin(phase), 0.0), seed=q).q
        assert np.abs(following - q).max() < 0.1
        q = following
    assert q[0] > 5.0 * np.pi
