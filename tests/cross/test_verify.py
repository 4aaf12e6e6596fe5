"""The cross-check holds its bars on every arm, and rejects each planted fault at the right place."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from forearm.cli import main
from forearm.dynamics.verify import verify
from forearm.errors import InvalidInput, UnknownName
from forearm.robots.bundled import mini_arm, panda, two_link, ur5e
from forearm.robots.robot import Robot, chain_in
from forearm.robots.to_mujoco import mujoco_spec
from forearm.robots.to_pinocchio import pinocchio_model
from forearm.robots.tree import Inertial, Link, Tree
from forearm.spatial import Pose

ARMS = {module.__name__.rpartition(".")[2]: module for module in (ur5e, panda, mini_arm, two_link)}
SHIFTED = Pose.from_rpy((1.2, -0.7, 2.1), (0.7, -1.1, 2.3))
UR5E_JOINTS = tuple(ur5e.JOINT_NAMES)
SIDES = ("pinocchio", "mujoco")
SAMPLES = 8


def arm(name: str = "ur5e", root: Pose | None = None) -> Robot:
    tree = ARMS[name].describe()
    return chain_in(tree.with_root(root) if root else tree)


def planted(robot: Robot, faulty: Tree, side: str):
    """The verification of ``robot`` when one engine's model is made from ``faulty``."""
    held = chain_in(faulty, base=robot.base, tip=robot.tip).held_tree
    model = pinocchio_model(held) if side == "pinocchio" else mujoco_spec(held, shapes=False).compile()
    return verify(robot, SAMPLES, **{side: model})


def with_joint(tree: Tree, name: str, **changes) -> Tree:
    joints = tuple(replace(joint, **changes) if joint.name == name else joint for joint in tree.joints)
    return replace(tree, joints=joints)


def with_mass(tree: Tree, name: str, factor: float) -> Tree:
    body = tree.link(name).inertial
    heavier = Link(name, Inertial(body.mass_kg * factor, body.center_of_mass_m, body.inertia_kgm2))
    return replace(tree, links=tuple(heavier if link.name == name else link for link in tree.links))


def blames(verification, quantity: str, side: str, where: str) -> None:
    failure = verification.first_failure
    assert failure is not None
    assert (failure.quantity, failure.where) == (quantity, where)
    assert side in failure.compared or failure.compared == "pinocchio - mujoco"
    assert quantity in verification.summary()
    assert where in verification.summary()
    # The side that was not tampered with still agrees with the tree.
    other = SIDES[1 - SIDES.index(side)]
    assert not any(row.failed for row in verification.rows if row.compared == f"tree - {other}")


# The bars


@pytest.mark.parametrize("root", [None, SHIFTED], ids=["plain", "shifted"])
@pytest.mark.parametrize("name", ARMS)
def test_every_bundled_arm_agrees_within_its_bars(name, root):
    verification = verify(arm(name, root), 16, seed=3)
    assert verification.passed, verification.table()
    assert not any(row.skipped for row in verification.rows)
    bars = {"FK": 1e-12, "Jacobian": 1e-10, "mass": 1e-9, "gravity": 1e-9, "bias": 1e-9, "skew": 1e-6}
    for row in verification.rows:
        bar = 1e-6 if "differences" in row.compared else bars.get(row.quantity.split()[0])
        assert bar is None or row.tolerance == bar
        assert row.cases > 0


def test_every_link_frame_and_named_posture_is_covered():
    verification = verify(arm(), SAMPLES)
    frames, postures = 7 + 1, 4 + SAMPLES
    assert verification.row("FK link position", "pinocchio").cases == frames * postures
    assert verification.row("FK link position", "mujoco").cases == frames * postures
    quantities = [row.quantity for row in verification.rows]
    for posture in ("zeros", "home", "elbow_up", "shoulder_only", "random"):
        assert f"gravity at {posture}" in quantities
    assert {row.unit for row in verification.rows if row.quantity.endswith("position")} == {"m"}
    assert {row.unit for row in verification.rows if row.quantity.endswith("rotation")} == {"rad"}


def test_a_seed_gives_the_same_numbers_again():
    first, again, other = verify(arm(), 4, 1), verify(arm(), 4, 1), verify(arm(), 4, 2)
    assert first.to_json() == again.to_json()
    assert first.to_json() != other.to_json()


# Planted faults


@pytest.mark.parametrize("side", SIDES)
def test_a_rotated_root_that_one_engine_drops_is_caught(side):
    robot = arm(root=SHIFTED)
    verification = planted(robot, robot.tree.with_root(Pose.identity()), side)
    blames(verification, "FK link rotation", side, "base_link")
    assert verification.row("FK tip position", f"chain - {side}").failed
    assert verification.row("FK link position", side).where == "base_link"


@pytest.mark.parametrize("side", SIDES)
def test_a_shifted_root_that_one_engine_drops_is_caught(side):
    robot = arm(root=Pose((0.0, 0.0, 0.4)))
    blames(planted(robot, arm().tree, side), "FK link position", side, "base_link")


@pytest.mark.parametrize("side", SIDES)
def test_a_root_turned_about_its_first_axis_is_caught(side):
    """The first joint's axis is the same line then, and gravity and mass agree: only frames differ."""
    robot = arm(root=Pose.from_rpy((0.0, 0.0, 0.0), (0.0, 0.0, 0.5)))
    verification = planted(robot, arm().tree, side)
    blames(verification, "FK link rotation", side, "base_link")
    assert not verification.row("gravity at random").failed


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("index", range(6))
def test_one_link_s_mass_off_by_one_percent_is_caught(index, side):
    robot = arm()
    verification = planted(robot, with_mass(robot.tree, ur5e.LINK_NAMES[index + 1], 1.01), side)
    blames(verification, "carried mass", side, UR5E_JOINTS[index])
    if index > 0:
        assert verification.row("gravity at random").failed


@pytest.mark.parametrize("side", SIDES)
def test_the_mass_matrix_and_gravity_catch_a_mass_too(side):
    robot = arm()
    verification = planted(robot, with_mass(robot.tree, "forearm_link", 1.01), side)
    for quantity in ("mass matrix", "gravity at home", "bias force", "inverse dynamics", "forward dynamics"):
        assert verification.row(quantity).failed, quantity
    assert verification.row("mass matrix").where == "elbow"
    assert verification.row("gravity at random").where == "elbow"


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("index", range(6))
def test_one_flipped_joint_axis_is_caught(index, side):
    robot = arm()
    joint = robot.joints[index]
    verification = planted(robot, with_joint(robot.tree, joint.name, axis=-joint.axis), side)
    blames(verification, "FK link rotation", side, joint.child)
    axis = verification.row("FK axis direction", side)
    assert axis.failed
    assert axis.where == joint.name
    assert verification.row("Jacobian angular", side).where == joint.name


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("index", range(6))
def test_armature_in_one_model_only_is_caught(index, side):
    robot = arm()
    name = UR5E_JOINTS[index]
    verification = planted(robot, with_joint(robot.tree, name, armature=0.0), side)
    blames(verification, "mass matrix", side, name)
    assert verification.row("mass matrix").worst == pytest.approx(0.1)
    assert verification.row("forward dynamics").failed
    assert not verification.row("gravity at random").failed


@pytest.mark.parametrize("side", SIDES)
def test_an_origin_given_in_degrees_is_caught(side):
    robot = arm()
    joint = next(joint for joint in robot.joints if joint.name == "wrist_1")
    degrees = Pose.from_rpy(joint.origin.position_m, (90.0, 0.0, 0.0))
    verification = planted(robot, with_joint(robot.tree, "wrist_1", origin=degrees), side)
    blames(verification, "FK link rotation", side, "wrist_1_link")


@pytest.mark.parametrize("side", SIDES)
def test_limits_given_in_degrees_are_caught(side):
    """No frame depends on them: only the row of limits can see it."""
    robot = arm()
    verification = planted(robot, with_joint(robot.tree, "elbow", lower=-180.0, upper=180.0), side)
    blames(verification, "joint limits", side, "elbow")


@pytest.mark.parametrize("side", SIDES)
def test_two_joints_with_swapped_names_are_caught(side):
    robot = arm()
    swapped = {"elbow": "wrist_1", "wrist_1": "elbow"}
    joints = [replace(joint, name=swapped.get(joint.name, joint.name)) for joint in robot.tree.joints]
    verification = planted(robot, replace(robot.tree, joints=tuple(joints), postures={}), side)
    blames(verification, "FK link rotation", side, "forearm_link")


@pytest.mark.parametrize("side", SIDES)
def test_a_tool_point_a_nanometre_off_is_caught(side):
    robot = arm("mini_arm")
    frames = [
        replace(frame, pose=frame.pose @ Pose((1e-9, 0.0, 0.0))) if frame.name == "tool" else frame
        for frame in robot.tree.frames
    ]
    verification = planted(robot, replace(robot.tree, frames=tuple(frames)), side)
    blames(verification, "FK link position", side, "tool")


def test_gravity_that_points_elsewhere_in_one_engine_is_caught():
    robot = arm()
    model = mujoco_spec(robot.held_tree, shapes=False).compile()
    model.opt.gravity[:] = (0.0, 0.0, -9.80665)
    failure = verify(robot, SAMPLES, mujoco=model).first_failure
    assert failure.quantity == "gravity at zeros"


def test_a_chain_that_is_wrong_is_told_apart_from_an_engine_that_is_wrong(monkeypatch):
    """All three differ from the chain then, and no engine from the tree."""
    import forearm.dynamics.kinematics_rows as rows

    chain_of = rows.chain_of

    def bent(robot):
        chain = np.array(chain_of(robot))
        chain[2, 9] += 1e-6
        return chain

    monkeypatch.setattr(rows, "chain_of", bent)
    verification = verify(arm(), SAMPLES)
    assert verification.first_failure.compared == "chain - tree"
    assert verification.first_failure.quantity == "FK tip position"
    assert not any(row.failed for row in verification.rows if row.compared.startswith("tree - "))


def test_a_jacobian_that_is_wrong_alone_is_caught(monkeypatch):
    import forearm.dynamics.kinematics_rows as rows

    into = rows.forward_and_jacobian_into

    def wrong(chain, q, transform, jacobian):
        into(chain, q, transform, jacobian)
        jacobian[:, 4] *= 1.0 + 1e-5

    monkeypatch.setattr(rows, "forward_and_jacobian_into", wrong)
    verification = verify(arm(), SAMPLES)
    assert verification.first_failure.quantity == "Jacobian linear"
    assert verification.first_failure.where == "wrist_2"
    assert verification.row("Jacobian angular", "differences").failed


# What cannot be checked


def test_a_robot_without_inertia_has_its_dynamics_skipped_and_says_so():
    tree = arm().tree
    bare = [Link(link.name) if link.name == "wrist_3_link" else link for link in tree.links]
    verification = verify(chain_in(replace(tree, links=tuple(bare))), SAMPLES)
    skipped = [row for row in verification.rows if row.skipped]
    assert {row.skipped for row in skipped} == {"no inertia on joint wrist_3"}
    assert {"mass matrix", "gravity at home", "bias force", "skew of Ṁ - 2C"} <= {r.quantity for r in skipped}
    assert verification.passed
    assert "no inertia on joint wrist_3" in verification.summary()
    complete = [row.quantity for row in verify(arm(), SAMPLES).rows]
    assert [row.quantity for row in verification.rows] == complete


@pytest.mark.parametrize("samples", [0, -1, 10**9])
def test_a_bad_number_of_samples_is_refused(samples):
    with pytest.raises(InvalidInput, match=r"^samples is "):
        verify(arm(), samples)


def test_a_model_without_the_tip_is_refused():
    robot = arm()
    other = replace(robot.tree, frames=(), tip="wrist_3_link")
    with pytest.raises(UnknownName, match="'flange'"):
        planted(replace(robot, tip="flange"), replace(other, tip=None), "pinocchio")


# The command


def test_the_command_prints_a_table_of_a_hundred_columns(capsys):
    assert main(["verify", "ur5e", "--samples", "4"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 100
    assert "37 rows" in lines[-1]


def test_the_command_s_json_is_one_object(capsys):
    assert main(["verify", "two_link", "--samples", "2", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert (result["outcome"], result["passed"]) == ("passed", True)
    assert result["rows"][0]["tolerance"] == 1e-12


@pytest.mark.parametrize(
    "arguments",
    [[], ["ur5e", "--urdf", "x.urdf"], ["no_such_arm"], ["ur5e", "--samples", "0"], ["--urdf", "none.urdf"]],
)
def test_the_command_exits_2_on_bad_input(arguments, capsys):
    assert main(["verify", *arguments]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert len(captured.err.splitlines()) == 1


def test_a_link_without_inertia_between_two_joints_is_checked_like_any_other():
    tree = arm().tree
    bare = [Link(link.name) if link.name == "wrist_2_link" else link for link in tree.links]
    verification = verify(chain_in(replace(tree, links=tuple(bare))), SAMPLES)
    assert verification.passed
    assert not any(row.skipped for row in verification.rows)
