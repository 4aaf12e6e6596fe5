"""Chains of one joint: Pinocchio drops a dimension there."""

from __future__ import annotations

import numpy as np
import pytest

from forearm.dynamics.mujoco_engine import MujocoDynamics
from forearm.dynamics.pinocchio_engine import PinocchioDynamics
from forearm.dynamics.verify import verify
from forearm.ik.result import Status
from forearm.ik.solve import solve
from forearm.kinematics.forward import tip_pose
from forearm.robots.robot import Robot, chain_in
from forearm.robots.tree import Frame, Inertial, Joint, JointKind, Link, Tree
from forearm.spatial import Pose

KINDS = [JointKind.REVOLUTE, JointKind.CONTINUOUS, JointKind.PRISMATIC]


def one_joint(kind: JointKind, passengers: int = 0) -> Robot:
    """One joint askew, and perhaps joints outside the chain."""
    body = Inertial(1.3, np.array([0.1, 0.02, -0.05]), np.diag([0.02, 0.03, 0.04]))
    limits = {} if kind is JointKind.CONTINUOUS else {"lower": -0.4, "upper": 0.7}
    axis = np.array([0.36, -0.48, 0.8])
    joints = [
        Joint("only", kind, "base", "arm", Pose.from_rpy((0.1, 0.2, 0.3), (0.4, 0.5, 0.6)), axis, **limits)
    ]
    joints += [Joint(f"other{i}", kind, "base", f"other{i}", **limits) for i in range(passengers)]
    links = (Link("base"), Link("arm", body), *(Link(f"other{i}", body) for i in range(passengers)))
    frames = (Frame("tip", "arm", Pose.from_rpy((0.3, 0.0, 0.1), (0.0, 0.3, 0.0))),)
    return chain_in(Tree("one", "one", links, tuple(joints), frames), tip="tip", joints=("only",))


@pytest.mark.parametrize("passengers", [0, 2])
@pytest.mark.parametrize("kind", KINDS)
def test_a_chain_of_one_joint_verifies(kind, passengers):
    robot = one_joint(kind, passengers)
    verification = verify(robot, samples=8)
    assert [row for row in verification.rows if row.failed] == []
    checked = [row for row in verification.rows if row.cases and not row.skipped]
    assert {"Jacobian linear", "mass matrix", "Coriolis matrix"} <= {row.quantity for row in checked}


@pytest.mark.parametrize("kind", KINDS)
def test_both_engines_answer_in_the_shapes_they_promise(kind):
    robot = one_joint(kind)
    q, qd = np.array([0.3]), np.array([0.7])
    for engine in (PinocchioDynamics(robot), MujocoDynamics(robot)):
        assert engine.jacobian(q, "tip").shape == (6, 1)
        assert engine.axes_in_world(q).shape == (1, 2, 3)
        assert engine.mass_matrix(q).shape == engine.coriolis_matrix(q, qd).shape == (1, 1)
        for force in (engine.gravity(q), engine.bias(q, qd), engine.inverse_dynamics(q, qd, qd)):
            assert force.shape == (1,)
        assert engine.forward_dynamics(q, qd, qd).shape == (1,)


@pytest.mark.parametrize("kind", KINDS)
def test_it_is_solved_and_audited(kind):
    robot = one_joint(kind)
    result = solve(robot, tip_pose(robot, [0.3]), audit=True)
    assert result.status is Status.SOLVED
    assert set(result.audit) == {"pinocchio", "mujoco"}
