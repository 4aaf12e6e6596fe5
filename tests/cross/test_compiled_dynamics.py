"""The compiled Newton-Euler against Pinocchio and MuJoCo."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import forearm
from forearm.dynamics.compiled import bodies_of, dynamics_scratch, inverse_dynamics_into, mass_matrix_into
from forearm.dynamics.mujoco_engine import MujocoDynamics
from forearm.dynamics.pinocchio_engine import PinocchioDynamics
from forearm.kinematics.chain import chain_of
from forearm.robots.robot import chain_in
from forearm.robots.tree import Inertial, JointKind, Link

ROOTS = [None, forearm.Pose.from_rpy((0.1, 0.2, 0.3), (0.4, 0.5, 0.6))]


@pytest.mark.parametrize("root", ROOTS, ids=["upright", "askew"])
@pytest.mark.parametrize("name", forearm.robot_names())
def test_inverse_dynamics_and_mass_agree_with_both_engines(name, root):
    robot = forearm.load(name, root=root)
    chain, bodies, scratch = chain_of(robot), bodies_of(robot), dynamics_scratch(robot)
    engines = [PinocchioDynamics(robot), MujocoDynamics(robot)]
    random = np.random.default_rng(1)
    tau, column = np.zeros(robot.dof), np.zeros(robot.dof)
    mass, unit = np.zeros((robot.dof, robot.dof)), np.zeros((2, robot.dof))
    for _ in range(30):
        q = random.uniform(robot.lower, robot.upper)
        qd, qdd = random.normal(size=(2, robot.dof))
        inverse_dynamics_into(chain, bodies, 1.0, q, qd, qdd, scratch, tau)
        mass_matrix_into(chain, bodies, q, scratch, unit, column, mass)
        for engine in engines:
            np.testing.assert_allclose(tau, engine.inverse_dynamics(q, qd, qdd), atol=1e-9, rtol=1e-10)
            np.testing.assert_allclose(mass, engine.mass_matrix(q), atol=1e-9)


@pytest.mark.parametrize("seed", range(6))
def test_mixed_chains_agree_with_pinocchio(seed, make_chain):
    random = np.random.default_rng(seed)
    choices = [JointKind.REVOLUTE, JointKind.PRISMATIC, JointKind.CONTINUOUS] * 2
    kinds = [choices[index] for index in random.permutation(len(choices))]
    robot = make_chain(random, kinds)
    links = []
    for link in robot.tree.links:
        half = random.normal(size=(3, 3))
        tensor = half @ half.T + np.eye(3)
        links.append(Link(link.name, Inertial(random.uniform(0.1, 3.0), random.normal(size=3), tensor)))
    robot = chain_in(replace(robot.tree, links=tuple(links)), robot.base, robot.tip)
    engine = PinocchioDynamics(robot)
    tau = np.zeros(robot.dof)
    for _ in range(10):
        q = random.uniform(np.maximum(robot.lower, -3.0), np.minimum(robot.upper, 3.0))
        qd, qdd = random.normal(size=(2, robot.dof))
        inverse_dynamics_into(
            chain_of(robot), bodies_of(robot), 1.0, q, qd, qdd, dynamics_scratch(robot), tau
        )
        np.testing.assert_allclose(tau, engine.inverse_dynamics(q, qd, qdd), atol=1e-8, rtol=1e-9)
