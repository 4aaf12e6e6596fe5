"""Forward kinematics and Jacobians: five computations that share little must agree.

The compiled chain, the plain composition of the tree's transforms, the product of exponentials,
Pinocchio and MuJoCo; and finite differences for the Jacobian.
"""

from __future__ import annotations

import numpy as np
import pytest

import forearm
from forearm.errors import InvalidInput, ModelError, UnknownName
from forearm.ik.audit import MujocoReplay, PinocchioReplay
from forearm.kinematics.chain import LOWER, SLIDES, UPPER, chain_of, forward_into
from forearm.kinematics.forward import (
    jacobian,
    joint_frames,
    reference_jacobian,
    tip_matrix,
    tip_pose,
)
from forearm.kinematics.screws import replay_into, screws_of
from forearm.robots.robot import chain_in
from forearm.robots.tree import Frame, Joint, JointKind, Link, Tree
from forearm.spatial import Pose, pose_error

REVOLUTE, CONTINUOUS, PRISMATIC = JointKind.REVOLUTE, JointKind.CONTINUOUS, JointKind.PRISMATIC
POSTURES = 20
ROOT = Pose.from_rpy((0.4, -1.3, 0.7), (0.5, -1.1, 2.4))

LOADS = {
    "ur5e": {},
    "ur5e with a tool": {"model": "ur5e", "tool_length_m": 0.135},
    "ur5e elsewhere": {"model": "ur5e", "root": ROOT},
    "panda": {},
    "panda's hand": {"model": "panda", "tip": "hand"},
    "panda's middle": {"model": "panda", "base": "link2", "tip": "link6"},
    "panda with held joints": {"model": "panda", "hold": {"joint3": 0.4, "joint1": -1.0}},
    "panda with few joints": {"model": "panda", "joints": ("joint2", "joint4", "joint6"), "root": ROOT},
    "panda with a crooked tool": {
        "model": "panda",
        "tool": Pose.from_rpy((0.1, -0.05, 0.2), (0.3, 0.4, -1.0)),
        "root": ROOT,
    },
    "mini_arm": {},
    "mini_arm elsewhere": {"model": "mini_arm", "root": ROOT},
    "two_link": {},
    "two_link, longer": {"model": "two_link(0.5, 0.4)", "root": ROOT},
}


def loaded(label: str) -> forearm.Arm:
    return forearm.load(**{"model": label, **LOADS[label]})


def replayed(robot, q):
    transform = np.full((4, 4), np.nan)
    replay_into(screws_of(robot), q, transform)
    return transform


def differences(robot, q, step=1e-6):
    """The Jacobian by central differences of ``joint_frames``' tip."""
    columns = []
    for unit in np.eye(robot.dof):
        ahead, behind = (
            Pose.from_matrix(joint_frames(robot, q + sign * step * unit)[-1]) for sign in (1.0, -1.0)
        )
        columns.append(np.concatenate(pose_error(ahead, behind)) / (2.0 * step))
    return np.column_stack(columns)


def check(robot, postures, engines=()):
    """All of them at every posture; returns how many postures were compared."""
    for q in postures:
        reference = joint_frames(robot, q)[-1]
        assert np.allclose(tip_matrix(robot, q), reference, rtol=0, atol=1e-12)
        assert np.allclose(replayed(robot, q), reference, rtol=0, atol=1e-12)
        assert np.allclose(tip_pose(robot, q).matrix(), reference, rtol=0, atol=1e-12)
        for engine in engines:
            assert np.allclose(engine.tip_matrix(q), reference, rtol=0, atol=1e-12), engine
        columns = jacobian(robot, q)
        assert columns.shape == (6, robot.dof)
        assert np.allclose(columns, reference_jacobian(robot, q), rtol=0, atol=1e-12)
        assert np.allclose(columns, differences(robot, q), rtol=0, atol=2e-8)
    return len(postures)


def test_every_bundled_arm_is_among_the_cases():
    assert set(forearm.robot_names()) <= set(LOADS)


@pytest.mark.parametrize("label", LOADS)
def test_five_computations_agree(label, random, make_posture):
    arm = loaded(label)
    postures = [make_posture(arm, random) for _ in range(POSTURES)]
    postures += [arm.home, np.zeros(arm.dof), arm.lower, arm.upper]
    engines = (PinocchioReplay(arm), MujocoReplay(arm))
    assert check(arm, postures, engines) == POSTURES + 4


CHAINS = {
    "one hinge": [REVOLUTE],
    "one slide": [PRISMATIC],
    "a wheel": [CONTINUOUS],
    "three slides": [PRISMATIC] * 3,
    "slide first": [PRISMATIC, REVOLUTE, CONTINUOUS, REVOLUTE],
    "slide last": [REVOLUTE, CONTINUOUS, REVOLUTE, PRISMATIC],
    "mixed": [REVOLUTE, PRISMATIC, CONTINUOUS, PRISMATIC, REVOLUTE, PRISMATIC, REVOLUTE],
    "thirty": [REVOLUTE, CONTINUOUS, PRISMATIC] * 10,
}


@pytest.mark.parametrize("root", [None, ROOT], ids=["at the origin", "elsewhere"])
@pytest.mark.parametrize("kinds", CHAINS.values(), ids=CHAINS)
def test_they_agree_on_chains_made_by_hand(kinds, root, random, make_chain, make_posture):
    robot = make_chain(random, kinds, root=root)
    assert robot.dof == len(kinds)
    postures = [make_posture(robot, random) for _ in range(5)]
    assert check(robot, postures, (PinocchioReplay(robot), MujocoReplay(robot))) == 5


def test_they_agree_with_base_and_held_joints_inside_a_made_chain(random, make_chain, make_posture):
    kinds = CHAINS["mixed"]
    held = {"joint1": 0.1, "joint4": -0.4}
    robot = make_chain(random, kinds, root=ROOT, base="link0", held=held)
    assert robot.joint_names == ("joint0", "joint2", "joint3", "joint5", "joint6")
    postures = [make_posture(robot, random) for _ in range(5)]
    assert check(robot, postures, (PinocchioReplay(robot), MujocoReplay(robot))) == 5


@pytest.mark.parametrize("kinds", CHAINS.values(), ids=CHAINS)
def test_the_chain_array_carries_kinds_and_limits(kinds, random, make_chain):
    robot = make_chain(random, kinds)
    chain = chain_of(robot)
    assert chain.shape == (len(kinds) + 1, UPPER + 1)
    assert chain[:-1, SLIDES].tolist() == [float(kind is PRISMATIC) for kind in kinds]
    assert np.array_equal(chain[:-1, LOWER], robot.lower)
    assert np.array_equal(chain[:-1, UPPER], robot.upper)
    assert not chain.flags.writeable
    assert not screws_of(robot).flags.writeable


@pytest.mark.parametrize("axis", [(0, 0, 1), (0, 0, -1), (1, 0, 0), (0, -1, 0), (1e-9, 0, 1), (1, 1, 1)])
def test_any_axis_turns_the_right_way(axis):
    axis = np.array(axis, dtype=float) / np.linalg.norm(axis)
    joint = Joint("hinge", CONTINUOUS, "a", "b", Pose((0.1, 0.2, 0.3)), axis)
    tip = Frame("tip", "b", Pose((0.5, -0.4, 0.3)))
    robot = chain_in(Tree("hinge", "hinge", (Link("a"), Link("b")), (joint,), (tip,), tip="tip"))
    assert check(robot, [np.array([value]) for value in (0.0, 0.7, np.pi, -4.0)]) == 4


def test_the_root_in_the_world_changes_no_answer_in_the_base(random, make_posture):
    here, there = forearm.load("panda"), forearm.load("panda", root=ROOT)
    q = make_posture(here, random)
    assert np.array_equal(tip_matrix(here, q), tip_matrix(there, q))
    assert np.allclose(there.base_in_world.matrix(), ROOT.matrix(), rtol=0, atol=1e-15)


def test_the_kernel_writes_the_whole_matrix_and_reads_only(arms):
    arm = arms["ur5e"]
    q = arm.home.copy()
    transform = np.full((4, 4), np.nan)
    forward_into(chain_of(arm), q, transform)
    assert transform[3].tolist() == [0.0, 0.0, 0.0, 1.0]
    assert np.array_equal(q, arm.home)


def test_what_cannot_be_a_chain_is_refused():
    with pytest.raises(UnknownName) as unknown:
        forearm.load("panda", tip="nose")
    assert "hand" in unknown.value.valid
    with pytest.raises(ModelError, match="does not lie below"):
        forearm.load("panda", base="link5", tip="link2")
    with pytest.raises(ModelError, match="no joint moves"):
        forearm.load("panda", base="link7", tip="hand")
    with pytest.raises(UnknownName):
        forearm.load("panda", joints=("joint9",))
    with pytest.raises(InvalidInput, match="holds a value that is not finite"):
        forearm.load("ur5e").fk([np.nan] * 6)
    with pytest.raises(InvalidInput, match="Give 6 numbers: shoulder_pan"):
        forearm.load("ur5e").jacobian([0.0] * 5)


def test_a_chain_longer_than_thirty_is_refused(random, make_chain):
    with pytest.raises(ModelError, match="31 moving joints"):
        make_chain(random, [REVOLUTE] * 31)
