"""Both engines answer the same questions; the equation of motion holds in each."""

from __future__ import annotations

from dataclasses import replace

import mujoco
import numpy as np
import pinocchio as pin
import pytest

from forearm.dynamics.mujoco_engine import MujocoDynamics
from forearm.dynamics.pinocchio_engine import PinocchioDynamics
from forearm.errors import InvalidInput, UnknownName
from forearm.robots.bundled import mini_arm, panda, two_link, ur5e
from forearm.robots.robot import Robot, chain_in
from forearm.robots.to_mujoco import mujoco_spec
from forearm.robots.to_pinocchio import pinocchio_model
from forearm.robots.tree import Inertial, Joint, JointKind, Link, Tree
from forearm.spatial import Pose

ARMS = {module.__name__.rpartition(".")[2]: module for module in (ur5e, panda, mini_arm, two_link)}
ENGINES = (PinocchioDynamics, MujocoDynamics)


def arm(name: str) -> Robot:
    return chain_in(ARMS[name].describe())


def state(robot: Robot, seed: int = 0):
    return np.random.default_rng(seed).uniform(-1.0, 1.0, (3, robot.dof))


def gripper_arm() -> Tree:
    """The two-link arm with a sliding finger that is not in the chain, stiff limits and damping."""
    tree = two_link.describe()
    finger = Inertial(0.3, np.array([0.0, 0.02, 0.01]), np.diag([1e-4, 2e-4, 2.5e-4]))
    slide = Joint(
        "finger_joint",
        JointKind.PRISMATIC,
        "link2",
        "finger",
        Pose.from_rpy((0.315, 0.01, 0.0), (0.3, 0.2, 0.1)),
        np.array([0.0, 1.0, 0.0]),
        lower=0.02,
        upper=0.05,
    )
    return replace(tree, links=(*tree.links, Link("finger", finger)), joints=(*tree.joints, slide))


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", ARMS)
def test_the_equation_of_motion_holds_in_each_engine(engine, name):
    robot = arm(name)
    dynamics = engine(robot)
    q, qd, qdd = state(robot)
    tau = dynamics.inverse_dynamics(q, qd, qdd)
    mass, bias, gravity = dynamics.mass_matrix(q), dynamics.bias(q, qd), dynamics.gravity(q)
    assert np.allclose(mass @ qdd + bias, tau, rtol=0, atol=1e-12)
    assert np.allclose(dynamics.forward_dynamics(q, qd, tau), qdd, rtol=0, atol=1e-11)
    assert np.allclose(dynamics.coriolis_matrix(q, qd) @ qd + gravity, bias, rtol=0, atol=1e-8)
    assert np.array_equal(dynamics.bias(q, np.zeros(robot.dof)), gravity)
    assert np.allclose(mass, mass.T, rtol=0, atol=1e-15)


def test_gravity_of_the_two_link_arm_is_the_one_on_paper():
    """Turned so that it swings in a vertical plane: g_2 = (m a)_2 g cos(q_1 + q_2)."""
    upright = Pose.from_rpy((0.0, 0.0, 0.0), (np.pi / 2, 0.0, 0.0))
    robot = chain_in(two_link.describe().with_root(upright))
    first, second = (robot.tree.link(name).inertial for name in ("link1", "link2"))
    q = np.array([0.4, -0.9])
    outer = second.mass_kg * 9.81 * second.center_of_mass_m[0] * np.cos(q.sum())
    inner = (first.mass_kg * first.center_of_mass_m[0] + second.mass_kg * 0.3) * 9.81 * np.cos(q[0])
    for engine in ENGINES:
        assert np.allclose(engine(robot).gravity(q), [inner + outer, outer], rtol=0, atol=1e-12)


@pytest.mark.parametrize("engine", ENGINES)
def test_armature_is_on_the_diagonal_of_the_mass_matrix_and_nowhere_else(engine):
    robot = arm("panda")
    bare = [replace(joint, armature=0.0) for joint in robot.tree.joints]
    without = chain_in(replace(robot.tree, joints=tuple(bare)))
    q = robot.home
    difference = engine(robot).mass_matrix(q) - engine(without).mass_matrix(q)
    assert np.allclose(difference, 0.1 * np.eye(7), rtol=0, atol=1e-13)


def test_damping_friction_limits_and_contacts_do_not_enter_mujoco_s_answer():
    robot = arm("mini_arm")
    rough = [replace(joint, damping=3.0, friction=2.0) for joint in robot.tree.joints]
    rough_robot = chain_in(replace(robot.tree, joints=tuple(rough)))
    q = robot.upper + 0.5
    _, qd, tau = state(robot)
    expected = PinocchioDynamics(robot).forward_dynamics(q, qd, tau)
    found = MujocoDynamics(rough_robot).forward_dynamics(q, qd, tau)
    assert np.allclose(found, expected, rtol=0, atol=1e-10)


def test_a_given_model_is_not_changed():
    robot = arm("ur5e")
    model = mujoco_spec(robot.held_tree, shapes=False).compile()
    flags = model.opt.disableflags
    MujocoDynamics(robot, model)
    assert model.opt.disableflags == flags


def test_joints_outside_the_chain_are_held_where_the_robot_holds_them():
    robot = chain_in(gripper_arm(), tip="tool", held={"finger_joint": 0.04})
    free = robot.tree
    pinocchio, whole = PinocchioDynamics(robot), PinocchioDynamics(robot, pinocchio_model(free))
    mujoco_whole = MujocoDynamics(robot, mujoco_spec(free, shapes=False).compile())
    assert mujoco_whole.model.nv == 3
    q, qd, tau = state(robot)
    for given in (whole, mujoco_whole):
        assert np.allclose(given.mass_matrix(q), pinocchio.mass_matrix(q), rtol=0, atol=1e-12)
        assert np.allclose(given.bias(q, qd), pinocchio.bias(q, qd), rtol=0, atol=1e-12)
        expected = pinocchio.forward_dynamics(q, qd, tau)
        assert np.allclose(given.forward_dynamics(q, qd, tau), expected, rtol=0, atol=1e-11)
    elsewhere = chain_in(gripper_arm(), tip="tool")
    assert not np.allclose(PinocchioDynamics(elsewhere).mass_matrix(q), pinocchio.mass_matrix(q), atol=1e-6)


def test_an_unbounded_joint_with_two_coordinates_takes_one_angle():
    tree = two_link.describe()
    joints = [replace(joint, kind=JointKind.CONTINUOUS, lower=-np.inf, upper=np.inf) for joint in tree.joints]
    robot = chain_in(replace(tree, joints=tuple(joints)))
    model = pin.Model()
    previous = 0
    for joint in robot.joints:
        placement = pin.SE3(joint.origin.rotation, joint.origin.position_m.copy())
        previous = model.addJoint(previous, pin.JointModelRUBZ(), placement, joint.name)
        inertial = robot.tree.link(joint.child).inertial
        body = pin.Inertia(inertial.mass_kg, inertial.center_of_mass_m.copy(), inertial.inertia_kgm2.copy())
        model.appendBodyToJoint(previous, body, pin.SE3.Identity())
        model.armature[model.joints[previous].idx_v] = joint.armature
    assert (model.nq, model.nv) == (4, 2)
    given, ours = PinocchioDynamics(robot, model), PinocchioDynamics(robot)
    q, qd, qdd = 4.0 * state(robot)
    expected = ours.inverse_dynamics(q, qd, qdd)
    assert np.allclose(given.inverse_dynamics(q, qd, qdd), expected, rtol=0, atol=1e-12)
    assert np.isinf(given.limits()).all()


def test_a_model_without_the_chain_s_joints_is_refused_with_both_sides_names():
    robot = arm("ur5e")
    other = arm("two_link")
    for engine, model in (
        (PinocchioDynamics, pinocchio_model(other.held_tree)),
        (MujocoDynamics, mujoco_spec(other.held_tree, shapes=False).compile()),
    ):
        with pytest.raises(UnknownName) as refused:
            engine(robot, model)
        text = str(refused.value)
        assert "'shoulder_pan'" in text
        assert "valid: shoulder, elbow." in text
        assert "wrist_3" in text


@pytest.mark.parametrize("engine", ENGINES)
def test_a_vector_of_the_wrong_size_is_refused_by_name(engine):
    dynamics = engine(arm("ur5e"))
    with pytest.raises(InvalidInput, match=r"^qd has shape \(2,\)\. Give 6 numbers: shoulder_pan, "):
        dynamics.bias(np.zeros(6), np.zeros(2))
    with pytest.raises(InvalidInput, match=r"^q holds a value that is not finite"):
        dynamics.gravity([0.0, 0.0, np.nan, 0.0, 0.0, 0.0])


@pytest.mark.parametrize("engine", ENGINES)
def test_results_are_the_caller_s_own(engine):
    robot = arm("panda")
    dynamics = engine(robot)
    q, qd, _ = state(robot)
    for ask in (dynamics.gravity, dynamics.mass_matrix):
        first = ask(q)
        kept = first.copy()
        ask(q + 0.3)
        assert np.array_equal(first, kept)
    first = dynamics.coriolis_matrix(q, qd)
    kept = first.copy()
    dynamics.coriolis_matrix(q + 0.3, qd)
    assert np.array_equal(first, kept)


def test_mujoco_is_told_to_leave_out_what_the_equation_leaves_out():
    model = MujocoDynamics(arm("panda")).model
    assert model.opt.disableflags & int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)
    assert model.opt.disableflags & int(mujoco.mjtDisableBit.mjDSBL_DAMPER)
