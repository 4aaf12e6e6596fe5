"""Loaded models against the engines' own readers: same frames, same masses."""

from __future__ import annotations

import contextlib
import math
import warnings
from pathlib import Path

import mujoco
import numpy as np
import pinocchio as pin
import pytest

from forearm.errors import ModelError, ModelWarning, UnsupportedJoint
from forearm.kinematics.chain import chain_of, forward_into
from forearm.robots import Robot, load, load_tree
from forearm.robots.to_mujoco import mujoco_spec
from forearm.robots.to_pinocchio import pinocchio_model
from forearm.robots.tree import JointKind, resting_value
from forearm.spatial import Pose

FK_TOLERANCE = 1e-12
DYNAMICS_TOLERANCE = 1e-9
SHARE = Path(pin.__file__).parents[4] / "share"
ROBOTS = SHARE / "example-robot-data" / "robots"
needs_robots = pytest.mark.skipif(not ROBOTS.is_dir(), reason="example-robot-data is not installed")

TIPS = {
    "ur_description/urdf/ur3_robot.urdf": ("tool0", 6),
    "ur_description/urdf/ur5_robot.urdf": ("tool0", 6),
    "ur_description/urdf/ur5_gripper.urdf": ("tool0", 6),
    "ur_description/urdf/ur10_robot.urdf": ("tool0", 6),
    "panda_description/urdf/panda.urdf": ("panda_hand_tcp", 7),
    "kinova_description/robots/kinova.urdf": ("j2s6s200_end_effector", 6),
    "xarm_description/urdf/xarm7.urdf": ("link_eef", 7),
    "talos_data/robots/talos_left_arm.urdf": ("arm_left_7_link", 6),
    "z1_description/urdf/z1.urdf": ("link06", 6),
    "so_arm_description/urdf/so100.urdf": ("gripper", 5),
    "so_arm_description/urdf/so101.urdf": ("gripper_frame_link", 5),
    "b1_description/urdf/b1-z1.urdf": ("link06", 6),
    "tiago_description/robots/tiago_no_hand.urdf": ("wrist_ft_tool_link", 8),
    "double_pendulum_description/urdf/double_pendulum_continuous.urdf": ("link2", 2),
    "finger_edu_description/robots/finger_edu.urdf": ("finger_tip_link", 3),
}
TWO_ARMS = {
    "talos_data/robots/talos_full_v2.urdf": ("torso_1_link", "leg_left_1_link", "leg_right_1_link"),
    "tiago_description/robots/tiago_dual.urdf": ("arm_left_1_link", "arm_right_1_link"),
    "baxter_description/urdf/baxter.urdf": ("left_arm_mount", "right_arm_mount"),
}


def quiet(model: Path, **options) -> Robot:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        return load(model, **options)


def forward(arm: Robot, q: np.ndarray) -> np.ndarray:
    transform = np.zeros((4, 4))
    forward_into(chain_of(arm), q, transform)
    return transform


def random_q(arm: Robot, rng: np.random.Generator) -> np.ndarray:
    return rng.uniform(np.maximum(arm.lower, -4.0), np.minimum(arm.upper, 4.0))


def at_rest(arm: Robot, q: np.ndarray) -> dict[str, float]:
    """The value of every joint of the tree."""
    values = {
        joint.name: resting_value(joint) for joint in arm.tree.joints if joint.kind.moves_along_one_axis
    }
    return values | dict(zip(arm.joint_names, q, strict=True))


def pinocchio_q(model: pin.Model, values: dict[str, float]) -> np.ndarray:
    """Pinocchio's own reader gives a continuous joint two coordinates, cos and sin."""
    q = pin.neutral(model)
    for name, value in values.items():
        joint = model.joints[model.getJointId(name)] if model.existJointName(name) else None
        if joint is not None and joint.nq == 2:
            q[joint.idx_q : joint.idx_q + 2] = np.cos(value), np.sin(value)
        elif joint is not None:
            q[joint.idx_q] = value
    return q


def columns(model: pin.Model, arm: Robot) -> list[int]:
    return [model.joints[model.getJointId(name)].idx_v for name in arm.joint_names]


@needs_robots
@pytest.mark.parametrize("file", TIPS)
def test_urdf_agrees_with_pinocchios_reader(file):
    arm = quiet(ROBOTS / file, assets=SHARE)
    assert (arm.tip, arm.dof) == TIPS[file]
    theirs = pin.buildModelFromUrdf(str(ROBOTS / file))
    ours = pinocchio_model(arm.held_tree)
    their_data, our_data = theirs.createData(), ours.createData()
    rng = np.random.default_rng(1)
    for _ in range(20):
        q = random_q(arm, rng)
        values = at_rest(arm, q)
        their_q, our_q = pinocchio_q(theirs, values), pinocchio_q(ours, values)
        pin.framesForwardKinematics(theirs, their_data, their_q)
        base, tip = (their_data.oMf[theirs.getFrameId(name, pin.BODY)] for name in (arm.base, arm.tip))
        np.testing.assert_allclose(forward(arm, q), base.actInv(tip).homogeneous, rtol=0, atol=FK_TOLERANCE)

        # With the other joints still, a block of the whole robot's matrix is the arm's.
        rows, own = columns(theirs, arm), columns(ours, arm)
        mass = np.triu(pin.crba(theirs, their_data, their_q))[np.ix_(rows, rows)]
        mass = np.maximum(abs(mass), abs(mass.T)) * np.where(mass + mass.T < 0, -1.0, 1.0)
        full = pin.crba(ours, our_data, our_q)
        full = np.triu(full) + np.triu(full, 1).T
        np.testing.assert_allclose(full[np.ix_(own, own)], mass, rtol=0, atol=DYNAMICS_TOLERANCE)
        np.testing.assert_allclose(
            pin.computeGeneralizedGravity(ours, our_data, our_q)[own],
            pin.computeGeneralizedGravity(theirs, their_data, their_q)[rows],
            rtol=0,
            atol=DYNAMICS_TOLERANCE,
        )


@needs_robots
@pytest.mark.parametrize("file", TIPS)
def test_urdf_compiles_in_mujoco_with_the_same_frames(file):
    arm = quiet(ROBOTS / file, assets=SHARE)
    model = mujoco_spec(arm.held_tree, shapes=False).compile()
    assert model.nq == arm.dof
    data = mujoco.MjData(model)
    data.qpos[:] = q = random_q(arm, np.random.default_rng(2))
    mujoco.mj_kinematics(model, data)
    tip = data.body(arm.tip).xpos - data.body(arm.base).xpos
    np.testing.assert_allclose(
        data.body(arm.base).xmat.reshape(3, 3).T @ tip, forward(arm, q)[:3, 3], rtol=0, atol=FK_TOLERANCE
    )


@needs_robots
@pytest.mark.parametrize("file", TWO_ARMS)
def test_two_arms_are_ambiguous_and_listed(file):
    with pytest.raises(ModelError, match="several chains") as caught:
        quiet(ROBOTS / file, assets=SHARE)
    assert "tip=" in str(caught.value)
    for candidate in TWO_ARMS[file]:
        assert candidate in str(caught.value)


@needs_robots
def test_every_urdf_reads_or_says_why():
    """Nothing but our own errors, and few of them: each of these files is broken as it is."""
    refused = set()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        for path in sorted(ROBOTS.rglob("*.urdf")):
            try:
                load_tree(path, assets=SHARE)
            except ModelError:
                refused.add(path.name)
    # A mesh in /usr, and a file that is a launch file's fragment.
    assert refused == {"romeo_laas_small.urdf", "ur3.urdf"}


@needs_robots
def test_urdf_meshes_are_found_in_assets():
    arm = quiet(ROBOTS / "xarm_description/urdf/xarm7.urdf", assets=SHARE)
    meshes = [shape.mesh for link in arm.tree.links for shape in link.shapes if shape.mesh]
    assert len(meshes) == 8
    assert all(mesh.is_file() and mesh.is_relative_to(SHARE.resolve()) for mesh in meshes)
    with pytest.warns(ModelWarning, match="mesh files not found"):
        bare = load(ROBOTS / "xarm_description/urdf/xarm7.urdf")
    np.testing.assert_array_equal(chain_of(bare), chain_of(arm))


ODD = """
<mujoco model="odd">
  <compiler angle="degree" eulerseq="zyx"/>
  <default>
    <joint damping="3" armature=".1"/>
    <default class="arm"><joint range="-90 80" frictionloss=".2"/><geom rgba="1 0 0 1"/></default>
  </default>
  <asset><material name="blue" rgba="0 0 1 1"/></asset>
  <worldbody>
    <geom type="plane" size="1 1 1"/>
    <body name="pedestal" pos=".1 .2 .3" euler="10 20 30">
      <inertial pos="0 0 0" mass="3" diaginertia="1 1 1"/>
      <frame pos="0 0 .1" euler="0 30 0">
        <body name="a" pos="0 .1 .2" quat="1 2 3 4" childclass="arm">
          <joint name="j1" axis="1 2 -3" pos=".1 .2 .3" ref="20"/>
          <joint name="j2" axis="0 1 0" pos="-.1 .05 0"/>
          <joint name="s1" type="slide" axis="1 0 1" pos="1 2 3" range="-.2 .3" ref=".05"/>
          <geom size=".05 .1" type="capsule" pos="0 0 .1"/>
          <body pos="0 0 .3" euler="5 6 7">
            <joint axis="0 0 1" limited="false"/>
            <geom size=".05 .06 .07" type="box" pos="0 .1 .1" euler="3 4 5"/>
            <body name="hand" pos=".1 0 .2">
              <inertial pos=".01 .02 .03" mass=".5" fullinertia=".02 .03 .04 .001 .002 .003"/>
              <joint name="j4" axis="0 1 1" range="-20 200" pos="0 0 .1"/>
              <geom class="main" size=".01" material="blue" mass="0"/>
              <site name="point" pos=".1 0 .2" euler="40 50 60"/>
            </body>
          </body>
        </body>
      </frame>
    </body>
    <body name="cube" pos="1 0 0"><freejoint/><geom size=".1"/></body>
    <body name="pendulum" pos="2 0 0" euler="1 2 3">
      <joint type="ball" pos="0 0 .4"/><geom size=".1"/><site name="bob"/>
    </body>
  </worldbody>
  <actuator>
    <motor joint="j1" gear="10" ctrlrange="-2 2"/>
    <position joint="j2" forcerange="-7 5"/>
    <position joint="s1"/>
  </actuator>
  <keyframe>
    <key name="home" qpos=".1 .2 .03 .4 .5 0 0 1 1 0 0 0 1 0 0 0" ctrl="0 0 0"/>
  </keyframe>
</mujoco>
"""
JOINTS = ("j1", "j2", "s1", "joint_3", "j4")


@pytest.fixture
def odd(tmp_path) -> Path:
    path = tmp_path / "odd.xml"
    path.write_text(ODD)
    return path


def mujoco_at(path: Path, q: np.ndarray) -> tuple[mujoco.MjModel, mujoco.MjData]:
    """MuJoCo's own reading, with the first hinges and slides at ``q``."""
    model = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(model)
    data.qpos[: len(q)] = q
    mujoco.mj_kinematics(model, data)
    return model, data


def test_mjcf_frames_agree_with_mujoco_for_any_qpos(odd):
    arms = {
        name: load(odd, tip=name) for name in ("point", "hand", "a", "pedestal/nothing") if "/" not in name
    }
    assert arms["point"].base == "world"
    assert arms["point"].joint_names == JOINTS
    rng = np.random.default_rng(3)
    for _ in range(30):
        q = rng.uniform(-4.0, 4.0, 5)
        _, data = mujoco_at(odd, q)
        for name, arm in arms.items():
            place = data.site(name) if name == "point" else data.body(name)
            transform = forward(arm, q[: arm.dof])
            np.testing.assert_allclose(transform[:3, 3], place.xpos, rtol=0, atol=FK_TOLERANCE)
            np.testing.assert_allclose(transform[:3, :3], place.xmat.reshape(3, 3), rtol=0, atol=FK_TOLERANCE)


def test_mjcf_ball_elsewhere_is_held_at_rest(odd):
    arm = load(odd, tip="point")
    _, data = mujoco_at(odd, np.zeros(5))
    frame = arm.frame_in_ancestor("world", "pendulum") if not has_moving(arm, "pendulum") else None
    assert frame is not None
    np.testing.assert_allclose(frame.position_m, data.body("pendulum").xpos, rtol=0, atol=FK_TOLERANCE)
    with pytest.raises(UnsupportedJoint, match="ball joint"):
        load(odd, tip="bob")
    with pytest.raises(UnsupportedJoint, match="free joint"):
        load(odd, tip="cube")


def has_moving(arm: Robot, link: str) -> bool:
    return any(joint.kind is not JointKind.FIXED for joint in arm.held_tree.path("world", link) or ())


def test_mjcf_limits_efforts_and_postures(odd):
    arm = load(odd, tip="point")
    model, _ = mujoco_at(odd, np.zeros(5))
    limited = [0, 1, 2, 4]
    np.testing.assert_allclose(arm.lower[limited], model.jnt_range[limited, 0], rtol=0, atol=1e-15)
    np.testing.assert_allclose(arm.upper[limited], model.jnt_range[limited, 1], rtol=0, atol=1e-15)
    assert arm.joints[3].kind is JointKind.CONTINUOUS
    assert np.isinf(arm.upper[3])
    np.testing.assert_array_equal(arm.max_effort, [20.0, 7.0, np.inf, np.inf, np.inf])
    np.testing.assert_allclose(arm.home, [0.1, 0.2, 0.03, 0.4, 0.5])
    assert [joint.damping for joint in arm.joints] == [3.0] * 5
    assert [joint.armature for joint in arm.joints] == [0.1] * 5
    assert [joint.friction for joint in arm.joints] == [0.2] * 5


def test_mjcf_masses_agree_with_mujoco(odd):
    """The mass matrix of our Pinocchio model, armature included, is MuJoCo's own."""
    arm = load(odd, tip="point")
    ours = pinocchio_model(arm.held_tree)
    data = ours.createData()
    rng = np.random.default_rng(4)
    for _ in range(10):
        q = rng.uniform(-2.0, 2.0, 5)
        model, theirs = mujoco_at(odd, q)
        mujoco.mj_forward(model, theirs)
        full = np.zeros((model.nv, model.nv))
        mujoco.mj_fullM(model, theirs, full)
        own = columns(ours, arm)
        mass = pin.crba(ours, data, pinocchio_q(ours, dict(zip(JOINTS, q, strict=True))))
        mass = (np.triu(mass) + np.triu(mass, 1).T)[np.ix_(own, own)]
        np.testing.assert_allclose(mass, full[:5, :5], rtol=0, atol=DYNAMICS_TOLERANCE)
        gravity = pin.computeGeneralizedGravity(
            ours, data, pinocchio_q(ours, dict(zip(JOINTS, q, strict=True)))
        )
        np.testing.assert_allclose(gravity[own], theirs.qfrc_bias[:5], rtol=0, atol=DYNAMICS_TOLERANCE)


def test_mjcf_shapes_stand_where_mujocos_geoms_stand(odd):
    arm = load(odd, tip="point")
    _, data = mujoco_at(odd, np.zeros(5))
    model = mujoco_spec(arm.held_tree).compile()
    ours = mujoco.MjData(model)
    mujoco.mj_kinematics(model, ours)
    theirs = sorted(map(tuple, np.round(data.geom_xpos[1:], 9).tolist()))
    assert theirs == sorted(map(tuple, np.round(ours.geom_xpos, 9).tolist()))
    (ball,) = arm.tree.link("hand").shapes
    assert (ball.kind, ball.rgba) == ("sphere", (0.0, 0.0, 1.0, 1.0))
    (capsule,) = arm.tree.link("a").shapes
    assert (capsule.kind, capsule.size_m, capsule.rgba) == ("capsule", (0.05, 0.1), (1.0, 0.0, 0.0, 1.0))


def test_mjcf_stands_where_root_says(odd):
    root = Pose.from_rpy((0.3, -0.2, 0.5), (0.4, -0.5, 0.6))
    arm = load(odd, tip="point", root=root)
    model = mujoco_spec(arm.held_tree).compile()
    data = mujoco.MjData(model)
    data.qpos[:] = q = np.array([0.1, -0.2, 0.05, 0.4, 0.3])
    mujoco.mj_kinematics(model, data)
    expected = root.matrix() @ forward(arm, q)
    np.testing.assert_allclose(data.site("point").xpos, expected[:3, 3], rtol=0, atol=FK_TOLERANCE)
    _, own = mujoco_at(odd, q)
    np.testing.assert_allclose(forward(arm, q)[:3, 3], own.site("point").xpos, rtol=0, atol=FK_TOLERANCE)


def test_an_anchor_or_a_ref_left_out_would_show(odd):
    """The comparison has teeth: without one of the odd features the frames are centimetres off."""
    q = np.array([0.3, -0.4, 0.1, 0.5, 0.2])
    _, data = mujoco_at(odd, q)
    for feature in (' ref="20"', ' pos=".1 .2 .3" ref', ' pos="-.1 .05 0"', ' pos="0 0 .1"', ' ref=".05"'):
        assert feature in ODD
        odd.write_text(ODD.replace(feature, " ref" if feature.endswith("ref") else ""))
        wrong = forward(load(odd, tip="point"), q)[:3, 3]
        assert np.linalg.norm(wrong - data.site("point").xpos) > 0.01, feature


CUBE = """v -1 -1 -1
v 1 -1 -1
v 1 1 -1
v -1 1 -1
v -1 -1 1
v 1 -1 1
v 1 1 1
v -1 1 1
f 1 3 2
f 1 4 3
f 5 6 7
f 5 7 8
f 1 2 6
f 1 6 5
f 2 3 7
f 2 7 6
f 3 4 8
f 3 8 7
f 4 1 5
f 4 5 8
"""


@pytest.mark.parametrize("explicit", [False, True])
def test_mjcf_meshes(tmp_path, explicit):
    """Mass comes from a mesh where MuJoCo takes it from there; its drawing keeps the file's own frame."""
    moved = "\n".join(
        " ".join(["v", *(str(float(x) + 3) for x in line.split()[1:])]) if line[0] == "v" else line
        for line in CUBE.splitlines()
    )
    (tmp_path / "meshes").mkdir()
    (tmp_path / "meshes" / "cube.obj").write_text(moved)
    inertial = '<inertial pos="0 0 0" mass="2" diaginertia="1 1 1"/>' if explicit else ""
    (tmp_path / "arm.xml").write_text(
        f"""<mujoco><compiler meshdir="meshes"/>
        <default><default class="visual"><geom type="mesh" contype="0" conaffinity="0"/>
        <mesh scale=".1 .2 .3"/></default></default>
        <asset><mesh class="visual" file="cube.obj"/></asset>
        <worldbody><body name="b" pos="0 0 1"><joint axis="0 1 0"/>{inertial}
        <geom class="visual" mesh="cube" pos="1 2 3" euler="10 20 30"/></body></worldbody></mujoco>"""
    )
    arm = load(tmp_path / "arm.xml")
    theirs = mujoco.MjModel.from_xml_path(str(tmp_path / "arm.xml"))
    link = arm.tree.link("b")
    assert link.inertial is not None
    assert link.inertial.mass_kg == pytest.approx(theirs.body_mass[1], rel=1e-12)
    np.testing.assert_allclose(link.inertial.center_of_mass_m, theirs.body_ipos[1], atol=1e-9)
    (shape,) = link.shapes
    assert shape.mesh == tmp_path / "meshes" / "cube.obj"
    assert not shape.collides
    np.testing.assert_allclose(shape.size_m, (0.1, 0.2, 0.3))
    again = mujoco_spec(arm.held_tree).compile()
    np.testing.assert_allclose(again.geom_pos[0], theirs.geom_pos[0], atol=1e-7)


TIED = """
<mujoco><worldbody>
  <body name="a"><joint name="ja"/><geom size=".1"/>
    <body name="b" pos="0 0 1"><joint name="jb"/><geom size=".1"/>
      <body name="c" pos="0 0 1"><joint name="jc"/><geom size=".1"/><site name="sc"/></body>
    </body>
    <body name="d" pos="1 0 0"><joint name="jd"/><geom size=".1"/><site name="sd"/></body>
  </body>
  <body name="goal" mocap="true"/>
</worldbody>
<equality>{}</equality></mujoco>
"""


@pytest.mark.parametrize(
    ("equality", "loops", "mimics"),
    [
        ('<connect name="bar" body1="c" body2="d" anchor="0 0 0"/>', {"jb", "jc", "jd"}, {}),
        ('<connect name="bar" site1="sc" site2="sd"/>', {"jb", "jc", "jd"}, {}),
        ('<weld name="bar" body1="b"/>', {"ja", "jb"}, {}),
        ('<weld name="bar" body1="b" active="false"/>', set(), {}),
        ('<weld name="bar" body1="c" body2="goal"/>', set(), {}),
        ('<joint joint1="jd" joint2="jb"/>', set(), {"jd": "jb"}),
        ('<joint joint1="jd" joint2="jb" active="false"/>', set(), {}),
        ('<joint name="lock" joint1="jd"/>', set(), {"jd": "lock"}),
    ],
)
def test_mjcf_constraints(tmp_path, equality, loops, mimics):
    path = tmp_path / "tied.xml"
    path.write_text(TIED.format(equality))
    tree = load_tree(path)
    assert {joint.name for joint in tree.joints if joint.loop == "bar"} == loops
    assert {joint.name: joint.mimics for joint in tree.joints if joint.mimics} == mimics
    refused = {"ja", "jb", "jc"} & loops
    with pytest.raises(UnsupportedJoint, match="bar") if refused else contextlib.nullcontext():
        load(path, tip="c")


def test_mjcf_includes_and_replicates(tmp_path):
    (tmp_path / "parts").mkdir()
    (tmp_path / "arm.xml").write_text(
        '<mujoco><include file="parts/options.xml"/><worldbody><include file="parts/arm.xml"/>'
        '<replicate count="3" offset="1 0 0"><body name="post"><geom size=".1"/></body></replicate>'
        "</worldbody></mujoco>"
    )
    (tmp_path / "parts" / "options.xml").write_text(
        '<mujocoinclude><compiler angle="radian"/></mujocoinclude>'
    )
    (tmp_path / "parts" / "arm.xml").write_text(
        '<any><body name="a"><joint name="j" range="-1 1"/><geom size=".1"/></body></any>'
    )
    arm = load(tmp_path / "arm.xml")
    assert (arm.tip, arm.joint_names, arm.upper.tolist()) == ("a", ("j",), [1.0])
    assert {"post0", "post1", "post2"} <= set(arm.tree.frame_names())


GRIPPER = """
<mujoco model="gripper">
  <default>
    <default class="g"><joint range="-2 2"/>
      <general biastype="affine" ctrlrange="-1 1" forcerange="-9 9"/></default>
  </default>
  <worldbody><body name="link" childclass="g">
    <joint name="j"/><joint name="k" axis="0 1 0"/><joint name="l" axis="1 0 0"/><geom size=".1"/>
    <body name="hand" pos="0 0 .2"><geom size=".1"/>
      <body name="left"><joint name="f1" type="slide" axis="0 1 0" range="0 .04"/><geom size=".01"/></body>
      <body name="right"><joint name="f2" type="slide" axis="0 -1 0" range="0 .04"/><geom size=".01"/></body>
    </body>
  </body></worldbody>
  <tendon><fixed name="split"><joint joint="f1" coef=".5"/><joint joint="f2" coef=".5"/></fixed></tendon>
  <equality><joint joint1="f1" joint2="f2"/></equality>
  <actuator><general class="g" name="a" joint="j"/><general class="g" name="b" tendon="split"/></actuator>
  <sensor><jointpos joint="j"/></sensor>
  <contact><exclude body1="left" body2="right"/></contact>
  <keyframe><key name="home" qpos=".1 .2 .3 .04 .04" ctrl=".1 255"/></keyframe>
</mujoco>
"""


def test_mjcf_arm_with_a_gripper_on_tendons(tmp_path):
    path = tmp_path / "gripper.xml"
    path.write_text(GRIPPER)
    arm = load(path)
    assert (arm.tip, arm.joint_names) == ("hand", ("j", "k", "l"))
    assert arm.max_effort.tolist() == [9.0, math.inf, math.inf]
    np.testing.assert_allclose(arm.home, (0.1, 0.2, 0.3))
    assert arm.tree.postures["home"]["f2"] == pytest.approx(0.04)
    with pytest.raises(UnsupportedJoint, match="mimic joint 'f1'"):
        load(path, tip="left")
    assert load(path, tip="right").joint_names == ("j", "k", "l", "f2")
