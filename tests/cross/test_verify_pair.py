"""A user's URDF and MJCF, each read by its own engine, and the faults that only a pair can have."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest

from forearm.cli import main
from forearm.dynamics.pair import verify_pair
from forearm.errors import ModelError, UnknownName
from forearm.robots.bundled import mini_arm, panda, ur5e
from forearm.robots.to_mujoco import mujoco_spec
from forearm.robots.tree import Inertial, JointKind, Link, Tree
from forearm.spatial import Pose

ARMS = {"ur5e": (ur5e, "flange"), "panda": (panda, "hand"), "mini_arm": (mini_arm, "tool")}
SHIFTED = Pose.from_rpy((1.2, -0.7, 2.1), (0.7, -1.1, 2.3))
SAMPLES = 8


def with_joint(tree: Tree, name: str, **changes) -> Tree:
    joints = tuple(replace(joint, **changes) if joint.name == name else joint for joint in tree.joints)
    return replace(tree, joints=joints)


def with_mass(tree: Tree, name: str, factor: float) -> Tree:
    body = tree.link(name).inertial
    heavier = Link(name, Inertial(body.mass_kg * factor, body.center_of_mass_m, body.inertia_kgm2))
    return replace(tree, links=tuple(heavier if link.name == name else link for link in tree.links))


def rpy(pose: Pose) -> tuple[float, float, float]:
    r = pose.rotation
    return (
        float(np.arctan2(r[2, 1], r[2, 2])),
        float(np.arctan2(-r[2, 0], np.hypot(r[2, 1], r[2, 2]))),
        float(np.arctan2(r[1, 0], r[0, 0])),
    )


def urdf_text(tree: Tree) -> str:
    """A URDF of ``tree``, its frames as massless links on fixed joints; armature has no place in it."""

    def origin(pose: Pose) -> str:
        numbers = " ".join(repr(float(x)) for x in pose.position_m), " ".join(map(repr, rpy(pose)))
        return f'<origin xyz="{numbers[0]}" rpy="{numbers[1]}"/>'

    parts = [f'<robot name="{tree.name}">']
    for link in tree.links:
        body = link.inertial
        inner = ""
        if body is not None:
            entries = {
                "ixx": (0, 0),
                "ixy": (0, 1),
                "ixz": (0, 2),
                "iyy": (1, 1),
                "iyz": (1, 2),
                "izz": (2, 2),
            }
            tensor = " ".join(f'{name}="{float(body.inertia_kgm2[at])!r}"' for name, at in entries.items())
            place = origin(Pose(body.center_of_mass_m))
            inner = f'<inertial>{place}<mass value="{body.mass_kg!r}"/><inertia {tensor}/></inertial>'
        parts.append(f'<link name="{link.name}">{inner}</link>')
    for joint in tree.joints:
        axis = " ".join(repr(float(x)) for x in joint.axis)
        limit = (
            ""
            if joint.kind is JointKind.CONTINUOUS
            else f'<limit lower="{joint.lower!r}" upper="{joint.upper!r}" effort="9" velocity="3"/>'
        )
        parts.append(
            f'<joint name="{joint.name}" type="{joint.kind}"><parent link="{joint.parent}"/>'
            f'<child link="{joint.child}"/>{origin(joint.origin)}<axis xyz="{axis}"/>{limit}</joint>'
        )
    for frame in tree.frames:
        parts.append(f'<link name="{frame.name}"/>')
        parts.append(
            f'<joint name="{frame.name}_mount" type="fixed"><parent link="{frame.link}"/>'
            f'<child link="{frame.name}"/>{origin(frame.pose)}</joint>'
        )
    return "\n".join((*parts, "</robot>"))


def bare(tree: Tree) -> Tree:
    """Without what a URDF cannot say."""
    joints = [replace(joint, armature=0.0) for joint in tree.joints]
    return replace(tree, joints=tuple(joints))


def mjcf_text(tree: Tree) -> str:
    spec = mujoco_spec(tree, shapes=False)
    spec.compile()
    return spec.to_xml()


@pytest.fixture
def pair(tmp_path):
    """Writes a URDF and an MJCF and gives their paths."""

    def write(urdf: str, mjcf: str) -> tuple[str, str]:
        (tmp_path / "arm.urdf").write_text(urdf)
        (tmp_path / "arm.xml").write_text(mjcf)
        return str(tmp_path / "arm.urdf"), str(tmp_path / "arm.xml")

    return write


@pytest.mark.parametrize("name", ARMS)
def test_a_pair_of_files_agrees_and_so_does_each_alone(name, pair):
    tree = bare(ARMS[name][0].describe())
    urdf, mjcf = pair(urdf_text(tree), mjcf_text(tree))
    tip = ARMS[name][1]
    for files in ((urdf, mjcf), (urdf, None), (None, mjcf)):
        verification = verify_pair(*files, tip=tip, samples=SAMPLES)
        assert verification.passed, verification.table()
        assert not any(row.skipped for row in verification.rows)
    assert verify_pair(urdf, tip=tip, samples=2).row("FK tip position", "pinocchio").tolerance == 1e-12
    assert verify_pair(urdf, mjcf, tip=tip, samples=2).row("FK tip position", "pinocchio").tolerance == 1e-12


def test_continuous_joints_read_by_pinocchio_itself_agree(pair):
    tree = bare(ur5e.describe())
    joints = [replace(j, kind=JointKind.CONTINUOUS, lower=-np.inf, upper=np.inf) for j in tree.joints]
    tree = replace(tree, joints=tuple(joints))
    files = pair(urdf_text(tree), mjcf_text(tree))
    assert verify_pair(*files, tip="flange", samples=SAMPLES).passed


def first_of(files, tip="flange"):
    verification = verify_pair(*files, tip=tip, samples=SAMPLES)
    failure = verification.first_failure
    assert failure is not None, verification.table()
    return failure.quantity, failure.where


def test_armature_in_the_mjcf_only_is_caught(pair):
    tree = ur5e.describe()
    only_elbow = with_joint(bare(tree), "elbow", armature=0.1)
    assert first_of(pair(urdf_text(tree), mjcf_text(only_elbow))) == ("mass matrix", "elbow")


def test_a_mass_one_percent_off_in_one_file_is_caught(pair):
    tree = bare(ur5e.describe())
    for link, joint in zip(ur5e.LINK_NAMES[1:], ur5e.JOINT_NAMES, strict=True):
        files = pair(urdf_text(with_mass(tree, link, 1.01)), mjcf_text(tree))
        assert first_of(files) == ("carried mass", joint)


def test_a_root_pose_in_the_mjcf_only_is_caught(pair):
    tree = bare(ur5e.describe())
    quantity, where = first_of(pair(urdf_text(tree), mjcf_text(tree.with_root(SHIFTED))))
    assert (quantity, where) == ("FK axis direction", "shoulder_pan")
    turned = tree.with_root(Pose.from_rpy((0.0, 0.0, 0.0), (0.0, 0.0, 0.5)))
    quantity, where = first_of(pair(urdf_text(tree), mjcf_text(turned)))
    assert (quantity, where) == ("FK axis direction", "shoulder_lift")


def test_an_axis_flipped_in_one_file_is_caught(pair):
    tree = bare(ur5e.describe())
    joint = next(joint for joint in tree.joints if joint.name == "wrist_2")
    flipped = with_joint(tree, "wrist_2", axis=-joint.axis)
    assert first_of(pair(urdf_text(flipped), mjcf_text(tree))) == ("FK axis direction", "wrist_2")


def test_radians_that_the_mjcf_reads_as_degrees_are_caught(pair):
    tree = bare(ur5e.describe())
    text = mjcf_text(tree).replace('angle="radian"', 'angle="degree"')
    assert first_of(pair(urdf_text(tree), text)) == ("joint limits", "shoulder_pan")


def test_degrees_in_the_urdf_are_caught(pair):
    tree = bare(ur5e.describe())
    text, changes = re.subn(
        r'(?<=<joint name="shoulder_lift")(.*rpy=)"[^"]*"', r'\1"90.0 0.0 0.0"', urdf_text(tree)
    )
    assert changes == 1
    quantity, where = first_of(pair(text, mjcf_text(tree)))
    assert (quantity, where) == ("FK axis direction", "shoulder_lift")


ODD_MJCF = """
<mujoco model="odd">
  <compiler angle="degree"/>
  <asset><mesh name="cover" file="missing.stl"/></asset>
  <worldbody>
    <geom type="plane" size="1 1 .1"/>
    <body name="base" pos="1 2 3" euler="20 30 40">
      <body name="upper" pos="0 0 .2" euler="10 0 0">
        <joint name="bend" axis="0 1 1" pos=".05 .02 -.1" ref="30" range="-90 120" armature=".05"/>
        <inertial pos=".1 0 .1" mass="2" fullinertia=".02 .03 .025 .001 .002 -.003"/>
        <geom type="mesh" mesh="cover"/>
        <body name="lower" pos="0 .1 .4" gravcomp="1">
          <joint name="slide" type="slide" axis="1 0 .3" range="-.2 .3" pos=".1 .1 .1" stiffness="20"/>
          <geom type="capsule" fromto="0 0 0 0 0 .3" size=".03"/>
          <site name="tcp" pos=".2 0 .1" euler="0 90 0"/>
          <body name="finger" pos=".2 0 .1">
            <joint name="grip" type="slide" axis="0 1 0" range=".01 .04"/>
            <geom type="box" size=".01 .01 .03"/>
          </body>
        </body>
      </body>
    </body>
    <body name="ball" pos="0 0 1"><freejoint/><geom size=".1"/></body>
  </worldbody>
  <actuator><motor joint="bend" ctrlrange="-5 5"/></actuator>
</mujoco>
"""


@pytest.mark.filterwarnings("ignore::forearm.errors.ModelWarning")
def test_an_mjcf_with_everything_that_is_easily_misread_agrees(pair):
    """Anchors off the origin, a reference angle, springs, a free ball, a gripper that is held."""
    _, mjcf = pair("", ODD_MJCF)
    verification = verify_pair(mjcf=mjcf, tip="tcp", samples=SAMPLES)
    assert verification.passed, verification.table()
    assert not any(row.skipped for row in verification.rows)


@pytest.mark.filterwarnings("ignore::forearm.errors.ModelWarning")
def test_a_mass_that_hides_in_a_missing_mesh_skips_the_dynamics(pair):
    _, mjcf = pair("", re.sub("<inertial.*?/>", "", ODD_MJCF))
    verification = verify_pair(mjcf=mjcf, tip="tcp", samples=SAMPLES)
    assert verification.passed
    assert verification.row("mass matrix").skipped == "no mass for upper: its mesh is missing"


EXAMPLES = Path(pin.__file__).parents[4] / "share" / "example-robot-data" / "robots"


@pytest.mark.skipif(not EXAMPLES.is_dir(), reason="example-robot-data is not installed")
@pytest.mark.filterwarnings("ignore::forearm.errors.ModelWarning")
@pytest.mark.parametrize(
    ("urdf", "tip"),
    [
        ("panda_description/urdf/panda.urdf", "panda_hand"),
        ("ur_description/urdf/ur5_robot.urdf", "tool0"),
        ("kinova_description/robots/kinova.urdf", "j2s6s200_end_effector"),
        ("talos_data/robots/talos_full_v2.urdf", "gripper_left_base_link"),
    ],
)
def test_public_urdfs_are_read_as_pinocchio_reads_them(urdf, tip):
    verification = verify_pair(EXAMPLES / urdf, tip=tip, assets=EXAMPLES, samples=SAMPLES)
    assert verification.passed, verification.table()
    assert not any(row.skipped for row in verification.rows)


def test_joints_under_other_names_are_refused_with_both_sides_names(pair):
    tree = bare(ur5e.describe())
    renamed = replace(
        tree,
        joints=tuple(replace(j, name=j.name.replace("elbow", "elbow_joint")) for j in tree.joints),
        postures={},
    )
    files = pair(urdf_text(tree), mjcf_text(renamed))
    with pytest.raises(UnknownName) as refused:
        verify_pair(*files, tip="flange")
    text = str(refused.value)
    assert "'elbow'" in text
    assert "elbow_joint" in text
    assert "wrist_3." in text


def test_a_file_of_the_other_kind_is_refused(pair):
    tree = bare(ur5e.describe())
    urdf, mjcf = pair(urdf_text(tree), mjcf_text(tree))
    with pytest.raises(ModelError, match="is not a URDF"):
        verify_pair(urdf=mjcf)
    with pytest.raises(ModelError, match="is not an MJCF"):
        verify_pair(mjcf=urdf)


def test_the_command_exits_1_on_disagreement_and_says_which_quantity_first(pair, capsys):
    tree = bare(ur5e.describe())
    unlimited = with_joint(tree, "elbow", kind=JointKind.CONTINUOUS, lower=-np.inf, upper=np.inf)
    urdf, mjcf = pair(urdf_text(tree), mjcf_text(unlimited))
    arguments = ["verify", "--urdf", urdf, "--mjcf", mjcf, "--tip", "flange", "--samples", "2"]
    assert main(arguments) == 1
    text = capsys.readouterr().out
    assert max(map(len, text.splitlines()[:-1])) <= 100
    assert "First: joint limits (tree - mujoco), starting at elbow" in text
    assert main([*arguments, "--json"]) == 1
    result = json.loads(capsys.readouterr().out)
    assert result["outcome"] == "failed"
    failure = result["first_failure"]
    assert (failure["quantity"], failure["where"], failure["worst"]) == ("joint limits", "elbow", None)
