"""Shared by every test: a repeatable Hypothesis, the bundled arms, and chains made by hand."""

from __future__ import annotations

import os
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

import forearm
from forearm.robots.robot import Robot, chain_in
from forearm.robots.tree import Frame, Joint, JointKind, Link, Tree
from forearm.spatial import Pose

settings.register_profile(
    "forearm",
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("forearm")


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """With FOREARM_NO_SKIPS, as in continuous integration, a skipped test is a failure."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    skipped = reporter.stats.get("skipped", []) if reporter else []
    if os.environ.get("FOREARM_NO_SKIPS") and skipped and exitstatus == pytest.ExitCode.OK:
        reporter.write_line(f"{len(skipped)} skipped, and nothing may be skipped here", red=True)
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.fixture(scope="session")
def arms() -> dict[str, forearm.Arm]:
    """Every bundled arm, loaded once."""
    return {name: forearm.load(name) for name in forearm.robot_names()}


@pytest.fixture
def random() -> np.random.Generator:
    """A generator that starts the same in every test."""
    return np.random.default_rng(20_240_607)


def a_pose(random: np.random.Generator, length_m: float = 0.4) -> Pose:
    quaternion = random.normal(size=4)
    return Pose(random.uniform(-length_m, length_m, 3), quaternion / np.linalg.norm(quaternion))


def a_chain(
    random: np.random.Generator,
    kinds: Sequence[JointKind],
    *,
    root: Pose | None = None,
    base: str | None = None,
    held: dict[str, float] | None = None,
) -> Robot:
    """A chain with random origins, axes and limits; its base frame and its tip sit askew on their links."""
    joints = []
    for index, kind in enumerate(kinds):
        axis = random.normal(size=3)
        lower, upper = -np.inf, np.inf
        if kind is JointKind.REVOLUTE:
            lower = random.uniform(-np.pi, 2.0)
            upper = lower + random.uniform(0.05, 4.0)
        elif kind is JointKind.PRISMATIC:
            lower = random.uniform(-0.3, 0.2)
            upper = lower + random.uniform(0.01, 0.5)
        joints.append(
            Joint(
                f"joint{index}",
                kind,
                f"link{index}",
                f"link{index + 1}",
                a_pose(random),
                axis / np.linalg.norm(axis),
                lower,
                upper,
            )
        )
    links = tuple(Link(f"link{index}") for index in range(len(kinds) + 1))
    frames = (Frame("askew", "link0", a_pose(random)), Frame("tip", links[-1].name, a_pose(random)))
    tree = Tree(
        "made", "made", links, tuple(joints), frames, root_in_world=root or Pose.identity(), base="askew"
    )
    return chain_in(tree, base, "tip", None, held)


@pytest.fixture(scope="session")
def make_pose():
    return a_pose


@pytest.fixture(scope="session")
def make_chain():
    return a_chain


def two_hinges(
    lower: Sequence[float] = (-np.inf, -np.inf),
    upper: Sequence[float] = (np.inf, np.inf),
    l1_m: float = 0.5,
    l2_m: float = 0.4,
) -> Robot:
    """A plain planar arm with the limits one asks for."""
    joints = tuple(
        Joint(name, JointKind.REVOLUTE, parent, child, Pose((x_m, 0.0, 0.0)), lower=lower[i], upper=upper[i])
        for i, (name, parent, child, x_m) in enumerate(
            (("shoulder", "base", "upper", 0.0), ("elbow", "upper", "fore", l1_m))
        )
    )
    frames = (Frame("tip", "fore", Pose((l2_m, 0.0, 0.0))),)
    links = tuple(Link(name) for name in ("base", "upper", "fore"))
    return chain_in(Tree("made", "made", links, joints, frames, tip="tip", task="position"))


@pytest.fixture(scope="session")
def make_two_hinges():
    return two_hinges


def a_posture(robot: Robot, random: np.random.Generator, margin: float = 0.0):
    """A joint vector uniform in the limits, ``margin`` of the range away from their ends."""
    lower = np.where(np.isfinite(robot.lower), robot.lower, -np.pi)
    upper = np.where(np.isfinite(robot.upper), robot.upper, np.pi)
    shrink = margin * (upper - lower)
    return random.uniform(lower + shrink, upper - shrink)


@pytest.fixture(scope="session")
def make_posture():
    return a_posture
