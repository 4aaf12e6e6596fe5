"""The gate has teeth: solvers that are broken on purpose must not get an answer through it."""

from __future__ import annotations

import ast
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import forearm
from forearm.errors import SolverError
from forearm.ik import audit, certify, descent, solver
from forearm.ik.problem import pose_problem
from forearm.ik.replay import distance_between
from forearm.ik.result import BestEffort, Solution, Status
from forearm.ik.solver import Proposal, Stop, make_solver
from forearm.kinematics.chain import chain_of
from forearm.kinematics.forward import tip_pose
from forearm.kinematics.reach import reach_bounds
from forearm.robots.tree import JointKind
from forearm.spatial import Pose, rotation_exp

SOURCE = Path(forearm.__file__).parent
POSTURE = np.array([0.3, -1.2, 1.4, -0.9, -1.1, 0.4])


class Broken:
    """A solver of our own making; subclasses say how it is broken."""

    name = "broken"
    summary = "broken on purpose"
    settles = False

    def supports(self, robot, task):
        return True

    def propose(self, problem):
        return Proposal(self.candidates(problem), Stop.CONVERGED, iterations=1)


class LastIterate(Broken):
    def candidates(self, problem):
        return [problem.seed.copy()]


class PastLimits(Broken):
    def candidates(self, problem):
        return [POSTURE]


class WrongFrame(Broken):
    """Solves for the target as if it were given where the base is not."""

    def candidates(self, problem):
        elsewhere = Pose((0.0, 0.0, 0.1)) @ problem.target_in_base
        question = replace(problem, target=elsewhere.matrix())
        found = make_solver("dls_adaptive").propose(question)
        assert found.stop is Stop.CONVERGED
        return found.candidates


class PositionOnly(Broken):
    """Forgets that the target has a rotation."""

    def candidates(self, problem):
        found = make_solver("dls_adaptive").propose(replace(problem, task="position"))
        assert found.stop is Stop.CONVERGED
        return found.candidates


class Degrees(Broken):
    def candidates(self, problem):
        return [np.degrees(POSTURE)]


def broken_by(name, values):
    def candidates(self, problem):
        return values

    return type(name, (Broken,), {"candidates": candidates})


NOT_VECTORS = {
    "nan": [np.full(6, np.nan)],
    "inf": [np.where(np.arange(6) == 2, np.inf, POSTURE)],
    "one joint nan": [np.where(np.arange(6) == 5, np.nan, POSTURE)],
    "short": [POSTURE[:5]],
    "long": [np.append(POSTURE, 0.0)],
    "column": [POSTURE[:, None]],
    "empty": [np.array([])],
    "number": [np.float64(0.3)],
}


@pytest.fixture
def plant(monkeypatch):
    """Register a broken solver for one test."""
    solver.SOLVERS.load()

    def planted(broken):
        monkeypatch.setitem(solver.SOLVERS.plugins, "broken", broken)

    return planted


@pytest.fixture
def arm(arms):
    return arms["ur5e"]


def rejected(result, reason: str) -> None:
    assert result.status is Status.NOT_FOUND
    assert result.solutions == ()
    assert not result
    assert result.proof is None
    assert sum(result.diagnostics.drops.values()) == result.diagnostics.candidates
    assert set(result.diagnostics.drops) == {reason}
    with pytest.raises(forearm.NoSolution):
        result.require()


def test_the_posture_that_the_others_spoil_is_itself_accepted(plant, arm):
    plant(broken_by("Honest", [POSTURE]))
    result = arm.ik(arm.fk(POSTURE), solver="broken")
    assert result.status is Status.SOLVED
    assert result.solutions[0].position_error_m < 1e-12
    assert result.solutions[0].winding_count == 2**5


@pytest.mark.parametrize(
    ("broken", "reason"),
    [(LastIterate, "position"), (WrongFrame, "position"), (PositionOnly, "rotation"), (Degrees, "position")],
)
def test_an_answer_that_misses_is_rejected(broken, reason, plant, arm):
    plant(broken)
    seed = POSTURE + 0.2
    result = arm.ik(arm.fk(POSTURE), solver="broken", seed=seed)
    rejected(result, reason)
    assert result.reason.startswith("rejected: misses by")
    assert isinstance(result.best_effort, BestEffort)
    assert not isinstance(result.best_effort, Solution)


@pytest.mark.parametrize("values", NOT_VECTORS.values(), ids=NOT_VECTORS)
def test_what_is_not_a_joint_vector_is_rejected(values, plant, arm):
    plant(broken_by("NotAVector", values))
    result = arm.ik(arm.fk(POSTURE), solver="broken")
    rejected(result, "not finite")
    assert result.best_effort is None


@pytest.mark.parametrize("values", NOT_VECTORS.values(), ids=NOT_VECTORS)
def test_a_nearest_posture_that_is_not_one_is_not_measured(values, plant, arm):
    class Nearest(Broken):
        def propose(self, problem):
            return Proposal([], Stop.STALLED, nearest=values[0])

    plant(Nearest)
    result = arm.ik(arm.fk(POSTURE), solver="broken")
    assert (result.status, result.reason) == (Status.NOT_FOUND, "stalled")
    assert result.best_effort is None


@pytest.mark.parametrize("past", [2e-9, 1e-6, 0.5])
def test_an_answer_past_a_limit_is_rejected_however_little(past, plant, arm):
    joints = tuple(
        replace(joint, upper=POSTURE[2] - past) if joint.name == "elbow" else joint
        for joint in arm.tree.joints
    )
    narrow = forearm.Arm(replace(arm.tree, joints=joints), arm.base, arm.tip, joints, {})
    plant(PastLimits)
    result = narrow.ik(arm.fk(POSTURE), solver="broken")
    rejected(result, "limits")
    assert "joint elbow is" in result.reason
    assert f"{past:.3g} rad past its limit" in result.reason
    assert result.best_effort.limit_joint == "elbow"
    assert result.best_effort.limit_margin_rad == pytest.approx(-past, abs=1e-12)


def test_rounding_at_a_limit_is_forgiven(plant, arm):
    joints = tuple(
        replace(joint, upper=POSTURE[2] - 5e-10) if joint.name == "elbow" else joint
        for joint in arm.tree.joints
    )
    narrow = forearm.Arm(replace(arm.tree, joints=joints), arm.base, arm.tip, joints, {})
    plant(PastLimits)
    assert narrow.ik(arm.fk(POSTURE), solver="broken").status is Status.SOLVED


def test_a_slide_past_its_stroke_is_rejected_in_metres(plant, make_chain, random):
    robot = make_chain(random, [JointKind.REVOLUTE, JointKind.PRISMATIC, JointKind.REVOLUTE])
    q = 0.5 * (robot.lower + robot.upper)
    q[1] = robot.upper[1] + 0.01
    plant(broken_by("PastStroke", [q]))
    result = forearm.ik.solve.solve(robot, tip_pose(robot, q), solver="broken")
    rejected(result, "limits")
    assert "joint joint1 is 0.01 m past its limit" in result.reason
    assert result.best_effort.limit_margin_m == pytest.approx(-0.01, abs=1e-12)
    assert result.best_effort.limit_margin_rad > 0.0


class MutatesSeed(Broken):
    def candidates(self, problem):
        problem.seed[:] = POSTURE
        return [POSTURE]


class MutatesTarget(Broken):
    def candidates(self, problem):
        problem.target[:3, 3] = 0.0
        return [POSTURE]


class MutatesBound(Broken):
    """Would make a false proof, since bounds are kept for the next question."""

    def candidates(self, problem):
        reach_bounds(problem.robot, problem.task)[0].center_in_base_m[:] = 100.0
        return []


class MutatesRobot(Broken):
    def candidates(self, problem):
        problem.robot.upper[:] = 100.0
        return [POSTURE + 20.0]


@pytest.mark.parametrize("broken", [MutatesSeed, MutatesTarget, MutatesRobot, MutatesBound])
@pytest.mark.parametrize("seeded", [False, True])
def test_a_solver_cannot_change_the_question(broken, seeded, plant, arm):
    plant(broken)
    with pytest.raises(SolverError, match="read-only") as caught:
        arm.ik(arm.fk(POSTURE), solver="broken", seed=POSTURE + 0.1 if seeded else None)
    assert isinstance(caught.value.__cause__, ValueError)


def test_a_solver_that_keeps_its_candidate_cannot_change_the_answer_later(plant, arm):
    kept = POSTURE.copy()
    plant(broken_by("Keeps", [kept]))
    result = arm.ik(arm.fk(POSTURE), solver="broken")
    kept[:] = 0.0
    assert np.array_equal(result.q, POSTURE)
    assert not result.q.flags.writeable


def shifted_chain(chain, row):
    chain[row, 9:12] += 1e-5 / np.sqrt(3.0)


def turned_chain(chain, row):
    turn = rotation_exp(1e-5 * np.array([0.6, 0.0, 0.8]))
    chain[row, :9] = (turn @ chain[row, :9].reshape(3, 3)).ravel()


@pytest.mark.parametrize("row", range(7))
@pytest.mark.parametrize("corrupt", [shifted_chain, turned_chain])
def test_a_corrupted_chain_is_caught_by_the_second_computation(row, corrupt, arm, monkeypatch):
    corrupted = chain_of(arm).copy()
    corrupt(corrupted, row)
    question = {"seed": POSTURE + 0.05, "solver": "dls_adaptive"}
    target = arm.fk(POSTURE)
    assert arm.ik(target, **question).status is Status.SOLVED
    monkeypatch.setattr(descent, "chain_of", lambda robot: corrupted)
    result = arm.ik(target, **question)
    assert result.diagnostics.candidates == 1
    assert result.status is Status.NOT_FOUND
    assert set(result.diagnostics.drops) <= {"position", "rotation"}
    assert result.diagnostics.drops


# All that a solver could say to be believed that it has listed every branch there is.
CLAIMS = {"exhaustive": True, "settles": True, "complete": True, "proof": "all branches enumerated"}


def lying_by(values):
    return type("Lying", (broken_by("Lying", values),), CLAIMS)


@pytest.mark.parametrize(
    "values", [[], [np.full(6, np.nan)], [POSTURE, np.full(6, np.nan)], [POSTURE]], ids=str
)
def test_a_solver_that_claims_to_be_exhaustive_proves_nothing(values, plant, arm):
    plant(lying_by(values))
    result = arm.ik(arm.fk(POSTURE + 0.3), solver="broken")
    assert result.status is Status.NOT_FOUND
    assert result.proof is None


@pytest.mark.parametrize("values", [[], [np.array([0.1, 0.2])], [np.array([9.0, 9.0])]], ids=str)
@pytest.mark.parametrize("target", [(0.3, 0.3, 0.0), (0.6, 0.1, 0.0), (0.615, 0.0, 0.0), (0.0, 0.016, 0.0)])
def test_nor_where_enumeration_is_a_proof_for_others(values, target, plant, arms):
    plant(lying_by(values))
    assert arms["two_link"].ik(target).status is Status.SOLVED
    result = arms["two_link"].ik(target, solver="broken")
    assert (result.status, result.proof) == (Status.NOT_FOUND, None)


@pytest.mark.parametrize("values", [[], [np.array([0.1, 0.2])]], ids=str)
def test_what_is_proved_is_proved_whatever_the_solver_says(values, plant, make_two_hinges):
    robot = make_two_hinges((-0.5, -1.0), (0.5, 2.0))
    honest = forearm.ik.solve.solve(robot, (-0.2, 0.6, 0.0))
    plant(broken_by("Silent", values))
    result = forearm.ik.solve.solve(robot, (-0.2, 0.6, 0.0), solver="broken")
    assert (result.status, result.reason, result.proof) == (honest.status, honest.reason, honest.proof)
    assert result.status is Status.UNREACHABLE
    assert np.allclose(result.best_effort.q, honest.best_effort.q, rtol=0, atol=1e-9)


def test_only_the_proofs_say_unreachable():
    """The gate says it in one place, and only with a ``Proof``, which only ``ik.proofs`` makes."""
    making = set()
    for name, tree in source_trees().items():
        called = {
            node.func.id
            for node in ast.walk(tree)
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        }
        making |= {name} if "Proof" in called else set()
    assert making == {"ik/proofs.py"}


class Raises(Broken):
    def candidates(self, problem):
        return 1 / 0


class RaisesOurs(Broken):
    def candidates(self, problem):
        raise forearm.InvalidInput("problem", "is not for me")


class GivesBackNothing(Broken):
    def propose(self, problem):
        return None


def test_a_solver_that_fails_is_named_and_the_cause_is_kept(plant, arm):
    target = arm.fk(POSTURE)
    plant(Raises)
    with pytest.raises(SolverError) as caught:
        arm.ik(target, solver="broken")
    assert str(caught.value) == "solver 'broken' raised ZeroDivisionError: division by zero."
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
    plant(RaisesOurs)
    with pytest.raises(forearm.InvalidInput, match="is not for me"):
        arm.ik(target, solver="broken")
    plant(GivesBackNothing)
    with pytest.raises(SolverError, match="gave back a NoneType, not a Proposal"):
        arm.ik(target, solver="broken")


def test_audits_in_threads_find_what_one_alone_finds(arm, random, make_posture):
    """Eight threads on one arm: with scratch shared between them, good answers were turned away."""
    postures = [make_posture(arm, random, 0.1) for _ in range(200)]

    def drops(q):
        result = arm.ik(arm.fk(q), seed=q, solver="newton", audit=True)
        return result.status, dict(result.diagnostics.drops), result.audit

    alone = [drops(q) for q in postures]
    assert all(status is Status.SOLVED for status, _, _ in alone)
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(8) as pool:
            assert list(pool.map(drops, postures * 4)) == alone * 4
    finally:
        sys.setswitchinterval(interval)


def test_windings_are_merged_and_counted(plant, arm):
    turns = 2.0 * np.pi * np.array([[0, 0, 0, 0, 0, 0], [-1, 0, 0, 0, 0, 0], [0, 1, 0, 1, 0, -1]])
    plant(broken_by("Winds", list(POSTURE + turns)))
    result = arm.ik(arm.fk(POSTURE), solver="broken")
    assert len(result.solutions) == 1
    assert result.diagnostics.candidates == 3
    assert result.diagnostics.drops == {"duplicate": 2}
    # Five joints have two turns, the elbow one.
    assert result.solutions[0].winding_count == 32


def test_the_winding_kept_is_the_one_nearest_the_seed(plant, arm):
    wound = POSTURE + 2.0 * np.pi * np.array([-1, 0, 0, 0, 0, 0])
    plant(broken_by("Winds", [POSTURE, wound]))
    assert np.array_equal(arm.ik(arm.fk(POSTURE), solver="broken").q, POSTURE)
    assert np.array_equal(arm.ik(arm.fk(POSTURE), solver="broken", seed=wound + 0.1).q, wound)


def test_branches_are_kept_apart_and_sorted_by_the_seed(arms):
    robot = arms["two_link"]
    target = robot.fk((0.4, 1.0))
    down, up = robot.ik(target).solutions
    assert (down.branch, up.branch) == ("elbow_down", "elbow_up")
    for first, second in ((down, up), (up, down)):
        found = robot.ik(target, seed=first.q + 0.01).solutions
        assert [solution.branch for solution in found] == [first.branch, second.branch]
        gaps = [np.linalg.norm(solution.q - first.q - 0.01) for solution in found]
        assert gaps == sorted(gaps)


def test_an_audit_replays_every_solution_in_both_engines(arms):
    for name, arm in arms.items():
        q = arm.home + 0.1
        result = arm.ik(arm.fk(q), seed=q + 0.02, audit=True)
        assert result.status is Status.SOLVED, name
        assert set(result.audit) == {"pinocchio", "mujoco"}
        for position, rotation in result.audit.values():
            assert 0.0 <= position <= result.tolerance.position_m
            assert 0.0 <= rotation <= result.tolerance.rotation_rad
        assert arm.ik(arm.fk(q), seed=q + 0.02).audit == {}


class Disagrees:
    def __init__(self, robot, spoil):
        self.robot, self.spoil = robot, spoil

    def tip_matrix(self, q):
        return self.spoil(tip_pose(self.robot, q).matrix())


def shifted(matrix):
    matrix[0, 3] += 1e-3
    return matrix


def turned(matrix):
    matrix[:3, :3] = Pose.from_rpy((0, 0, 0), (0, 0, 1e-3)).rotation @ matrix[:3, :3]
    return matrix


def nowhere(matrix):
    return np.full((4, 4), np.nan)


@pytest.mark.parametrize("spoil", [shifted, turned, nowhere])
@pytest.mark.parametrize("engine", ["pinocchio", "mujoco"])
def test_an_audit_drops_what_one_engine_does_not_confirm(engine, spoil, arm, monkeypatch):
    honest = audit.replays_of(arm)
    monkeypatch.setattr(audit, "replays_of", lambda robot: {**honest, engine: Disagrees(robot, spoil)})
    target = arm.fk(POSTURE)
    assert arm.ik(target, seed=POSTURE).status is Status.SOLVED
    result = arm.ik(target, seed=POSTURE, audit=True)
    rejected(result, "audit")
    assert f"rejected: {engine} finds it" in result.reason


def test_a_dropped_audit_is_no_proof(arms, monkeypatch):
    monkeypatch.setattr(audit, "replays_of", lambda robot: {"mujoco": Disagrees(robot, shifted)})
    result = arms["two_link"].ik((0.3, 0.3, 0.0), audit=True)
    assert result.solver == "planar"
    rejected(result, "audit")


def test_the_angle_between_two_poses_is_exact_at_both_ends():
    for angle in (0.0, 1e-12, 1e-7, 1.0, np.pi - 1e-7, np.pi):
        turn = Pose.from_rpy((0.0, 0.0, 0.0), (0.0, 0.0, angle))
        _, measured = distance_between(turn.matrix(), np.eye(4))
        assert measured == pytest.approx(angle, abs=1e-14)


def names_used(tree, attribute):
    return [node for node in ast.walk(tree) if isinstance(node, ast.Attribute) and node.attr == attribute]


def source_trees():
    files = sorted(SOURCE.rglob("*.py"))
    assert len(files) > 50
    return {str(path.relative_to(SOURCE)): ast.parse(path.read_text(encoding="utf-8")) for path in files}


def test_only_the_gate_says_solved():
    """Elsewhere ``Status.SOLVED`` is only compared with."""
    saying = {}
    for name, tree in source_trees().items():
        compared = {
            id(part) for node in ast.walk(tree) if isinstance(node, ast.Compare) for part in ast.walk(node)
        }
        looked_up = {
            id(part)
            for node in ast.walk(tree)
            if isinstance(node, ast.Dict)
            for key in node.keys
            if key is not None
            for part in ast.walk(key)
        }
        said = [
            node.lineno
            for node in names_used(tree, "SOLVED")
            if id(node) not in compared and id(node) not in looked_up
        ]
        if said:
            saying[name] = said
        made_from_text = [
            node.lineno
            for node in ast.walk(tree)
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Status"
        ]
        assert not made_from_text, name
    assert set(saying) == {"ik/certify.py"}
    assert len(saying["ik/certify.py"]) == 1


@pytest.mark.parametrize("kind", ["Solution", "IKResult", "BestEffort"])
def test_results_are_made_in_the_gate_only(kind):
    """Neither called, nor handed to something that calls it, outside the gate."""
    allowed = {"isinstance", "issubclass"}
    making = set()
    for name, tree in source_trees().items():
        for node in ast.walk(tree):
            if not isinstance(node, ast.Call):
                continue
            function = node.func
            called = function.id if isinstance(function, ast.Name) else getattr(function, "attr", None)
            if called in allowed:
                continue
            handed = [*node.args, *(keyword.value for keyword in node.keywords)]
            if called == kind or any(isinstance(part, ast.Name) and part.id == kind for part in handed):
                making.add(name)
    assert making == {"ik/certify.py"}


def test_a_hopeless_target_still_passes_the_gate(arm):
    problem = pose_problem(arm, Pose((5.0, 0.0, 0.0)))
    proposal = make_solver("dls").propose(problem)
    result = certify.certify(problem, proposal, make_solver("dls"), 0.0)
    assert result.status is Status.UNREACHABLE
