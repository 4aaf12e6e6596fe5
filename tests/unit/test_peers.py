"""The chain as a URDF of its own, and the contract of every peer that is installed."""

from __future__ import annotations

import sys
from importlib import metadata
from pathlib import Path

import numpy as np
import pytest

import forearm
from forearm.bench._urdf import roll_pitch_yaw, write_chain_urdf
from forearm.bench.peers import Ready, Subject, Unfit, make_peer, peer_names, start_postures
from forearm.ik.audit import PinocchioReplay
from forearm.ik.problem import LIMIT_TOLERANCE
from forearm.robots.robot import Robot, chain_in
from forearm.robots.tree import Joint, JointKind, Link, Tree
from forearm.spatial import Pose, pose_error

KINDS = (JointKind.REVOLUTE, JointKind.CONTINUOUS, JointKind.PRISMATIC)
IMPORTED = {
    "Drake": "pydrake",
    "EAIK": "eaik",
    "OptIK": "optik",
    "Robotics Toolbox": "roboticstoolbox",
    "TRAC-IK": "pytracik",
    "ikpy": "ikpy",
    "mink": "mink",
    "pink": "pink",
    "ssik": "ssik",
}


def is_installed(package: str) -> bool:
    try:
        metadata.version(package)
    except metadata.PackageNotFoundError:
        return False
    return True


INSTALLED = [name for name in peer_names() if is_installed(make_peer(name).package)]
QUESTIONS = [(name, setting) for name in INSTALLED for setting in make_peer(name).settings]
"""Peers that are not installed are not collected."""


def read_back(robot: Robot, folder: Path) -> Robot:
    path = folder / "chain.urdf"
    write_chain_urdf(robot, path)
    return forearm.load(path)


def assert_same_arm(robot: Robot, copy: Robot, make_posture, random: np.random.Generator) -> None:
    assert (copy.base, copy.tip) == ("base", "tip")
    assert copy.joint_names == tuple(f"joint{number + 1}" for number in range(robot.dof))
    for name in ("lower", "upper", "max_speed", "max_effort"):
        np.testing.assert_array_equal(getattr(copy, name), getattr(robot, name))
    original, again = PinocchioReplay(robot), PinocchioReplay(copy)
    for _ in range(20):
        q = make_posture(robot, random)
        np.testing.assert_allclose(again.tip_matrix(q), original.tip_matrix(q), atol=1e-12, rtol=0.0)


@pytest.mark.parametrize("name", forearm.robot_names())
def test_a_bundled_arm_comes_back_from_its_urdf(name, arms, tmp_path, make_posture, random):
    assert_same_arm(arms[name], read_back(arms[name], tmp_path), make_posture, random)


@pytest.mark.parametrize("seed", range(12))
def test_a_random_chain_comes_back_from_its_urdf(seed, tmp_path, make_chain, make_pose, make_posture):
    random = np.random.default_rng(seed)
    kinds = [KINDS[k] for k in random.integers(len(KINDS), size=random.integers(1, 9))]
    robot = make_chain(random, kinds, root=make_pose(random))
    assert_same_arm(robot, read_back(robot, tmp_path), make_posture, random)


@pytest.mark.parametrize("base", [None, "link0", "link1"])
def test_held_joints_and_other_bases_are_folded_in(base, tmp_path, make_chain, make_posture, random):
    kinds = [JointKind.CONTINUOUS, *KINDS, JointKind.CONTINUOUS]
    robot = make_chain(random, kinds, base=base, held={"joint4": 0.7})
    copy = read_back(robot, tmp_path)
    assert copy.dof == robot.dof
    assert_same_arm(robot, copy, make_posture, random)


def test_the_models_own_names_stay_out_of_it(tmp_path, make_posture, random):
    """Some peers write code from what they read."""
    names = ('<joint name="x"/>', "a & b", 'quo"te', "to_tip", "x'\nimport os\n'", "ünïcode", "]]>")
    links = tuple(Link(f"l{k}") for k in range(len(names) + 1))
    joints = tuple(
        Joint(name, JointKind.REVOLUTE, f"l{k}", f"l{k + 1}", Pose((0.1, 0.0, 0.2)), lower=-1.0, upper=1.0)
        for k, name in enumerate(names)
    )
    robot = chain_in(Tree('<robot name="&">', "made", links, joints))
    copy = read_back(robot, tmp_path)
    text = (tmp_path / "chain.urdf").read_text(encoding="utf-8")
    assert not any(name in text for name in (*names[:3], "import os", "ünïcode"))
    assert_same_arm(robot, copy, make_posture, random)


@pytest.mark.parametrize("beside", [0.0, 1e-300, 1e-16, 1e-12, 1e-8, 1e-4])
@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_angles_are_exact_beside_the_gimbal_lock(sign, beside, random):
    for roll, yaw in random.uniform(-np.pi, np.pi, (20, 2)):
        rotation = Pose.from_rpy((0.0, 0.0, 0.0), (roll, sign * (0.5 * np.pi - beside), yaw)).rotation
        again = Pose.from_rpy((0.0, 0.0, 0.0), roll_pitch_yaw(rotation)).rotation
        np.testing.assert_allclose(again, rotation, atol=1e-15, rtol=0.0)


def test_every_peer_is_found_and_says_what_it_is():
    assert set(peer_names()) == set(IMPORTED)
    for name in peer_names():
        peer = make_peer(name)
        assert peer.name == name
        assert peer.package
        assert peer.settings in (("best",), ("best", "default"))


@pytest.mark.parametrize("name", sorted(IMPORTED))
def test_a_missing_package_is_an_import_error(name, ur5e, monkeypatch):
    for module in [m for m in sys.modules if m.partition(".")[0] == IMPORTED[name]]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, IMPORTED[name], None)
    with pytest.raises(ImportError):
        make_peer(name).prepare(ur5e, "best")


def test_start_postures_are_in_the_limits_and_always_the_same(arms):
    robot = arms["panda"]
    postures = start_postures(robot, 7)
    np.testing.assert_array_equal(postures, start_postures(robot, 7))
    assert postures.shape == (7, robot.dof)
    assert ((postures >= robot.lower) & (postures <= robot.upper)).all()


@pytest.fixture(scope="module")
def subjects(arms, tmp_path_factory) -> dict[str, Subject]:
    made = {}
    for name in ("ur5e", "panda"):
        path = tmp_path_factory.mktemp(name) / "chain.urdf"
        write_chain_urdf(arms[name], path)
        made[name] = Subject(arms[name], path)
    return made


@pytest.fixture
def ur5e(subjects) -> Subject:
    return subjects["ur5e"]


def near_questions(robot: Robot, count: int = 5) -> list[tuple[np.ndarray, np.ndarray]]:
    """Targets that can be reached from near their seeds, neither at a limit nor singular."""
    random, replay = np.random.default_rng(3), PinocchioReplay(robot)
    seeds = [robot.home + random.uniform(-0.3, 0.3, robot.dof) for _ in range(count)]
    return [(replay.tip_matrix(q + random.uniform(-0.1, 0.1, robot.dof)), q.copy()) for q in seeds]


def is_true(robot: Robot, target: np.ndarray, q: np.ndarray) -> bool:
    error = pose_error(target, PinocchioReplay(robot).tip_matrix(np.asarray(q, dtype=np.float64)))
    inside = (q >= robot.lower - LIMIT_TOLERANCE) & (q <= robot.upper + LIMIT_TOLERANCE)
    return error.distance_m <= 1e-6 and error.angle_rad <= 1e-6 and bool(inside.all())


def asked(ready: Ready, target: np.ndarray, seed: np.ndarray) -> np.ndarray | None:
    """The answer to a question that nothing may write to."""
    target.flags.writeable = seed.flags.writeable = False
    q = ready.solve(target, seed)
    assert q is None or (isinstance(q, np.ndarray) and q.shape == seed.shape and q.dtype == np.float64)
    return q


def check_refusal(name: str, ready: Ready, robot: Robot) -> None:
    beyond = PinocchioReplay(robot).tip_matrix(robot.home).copy()
    beyond[:3, 3] = 3.0
    answer = ready.solve(beyond, robot.home)
    if name == "ikpy":
        assert answer is not None
    else:
        assert answer is None


class TestInstalledPeers:
    """A class, because without any peer there is nothing to collect, and an empty parameter is a skip."""

    __test__ = bool(INSTALLED)

    @pytest.mark.parametrize("arm", ["ur5e", "panda"])
    @pytest.mark.parametrize(("name", "setting"), QUESTIONS)
    def test_a_peer_keeps_the_contract(self, name, setting, arm, subjects, make_posture, random, capfd):
        subject = subjects[arm]
        robot = subject.robot
        ready = make_peer(name).prepare(subject, setting)
        replay = PinocchioReplay(robot)
        for _ in range(10):
            q = make_posture(robot, random)
            np.testing.assert_allclose(ready.fk(q), replay.tip_matrix(q), atol=1e-9, rtol=0.0)
        answers = [asked(ready, target, seed) for target, seed in near_questions(robot)]
        if setting == "best":
            pairs = zip(near_questions(robot), answers, strict=True)
            true = sum(q is not None and is_true(robot, target, q) for (target, _), q in pairs)
            assert true >= 4
        check_refusal(name, ready, robot)
        shown = capfd.readouterr()
        assert (shown.out, shown.err) == ("", "")

    @pytest.mark.parametrize("name", INSTALLED)
    def test_a_peer_answers_the_same_twice(self, name, ur5e):
        answers = []
        for _ in range(2):
            ready = make_peer(name).prepare(ur5e, "best")
            answers.append([ready.solve(*question) for question in near_questions(ur5e.robot)])
        # One races two threads, the other draws its restarts from one stream for all questions.
        exact = name not in ("TRAC-IK", "Robotics Toolbox")
        for first, second in zip(*answers, strict=True):
            assert (first is None) == (second is None)
            if exact:
                np.testing.assert_array_equal(first, second)

    @pytest.mark.parametrize("name", INSTALLED)
    @pytest.mark.parametrize(
        "kinds", [(JointKind.CONTINUOUS,) * 6, (JointKind.PRISMATIC, *KINDS, *KINDS[:2])]
    )
    def test_other_joints_are_followed_or_refused(
        self, name, kinds, tmp_path, make_chain, make_posture, random
    ):
        robot = make_chain(random, kinds)
        path = tmp_path / "chain.urdf"
        write_chain_urdf(robot, path)
        try:
            ready = make_peer(name).prepare(Subject(robot, path), "best")
        except Unfit:
            return
        replay = PinocchioReplay(robot)
        for _ in range(5):
            q = make_posture(robot, random)
            np.testing.assert_allclose(ready.fk(q), replay.tip_matrix(q), atol=1e-9, rtol=0.0)
            target, seed = replay.tip_matrix(q).copy(), make_posture(robot, random)
            answer = ready.solve(target, seed)
            assert answer is None or name == "ikpy" or is_true(robot, target, answer)
