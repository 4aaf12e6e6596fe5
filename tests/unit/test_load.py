"""What ``load`` takes, what it gives, and how the end of a chain is found."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from forearm.errors import InvalidInput, ModelError, ModelWarning, UnknownName
from forearm.kinematics.chain import chain_of, forward_into
from forearm.robots import Robot, bundled_names, load, load_tree, summary
from forearm.robots.tips import find_tip
from forearm.robots.tree import Joint, JointKind, Link, Tree
from forearm.spatial import Pose


def forward(arm: Robot, q: np.ndarray) -> np.ndarray:
    transform = np.zeros((4, 4))
    forward_into(chain_of(arm), q, transform)
    return transform


@pytest.mark.parametrize("name", bundled_names())
def test_every_bundled_arm_loads_by_its_name(name):
    arm = load(name)
    assert arm.name == name
    assert arm.dof == len(arm.joint_names)
    assert "\n" not in summary(name)
    assert np.isfinite(forward(arm, arm.home)).all()


def test_bundled_names_are_the_modules():
    import forearm.robots.bundled as bundled

    files = {path.stem for path in Path(bundled.__path__[0]).glob("[a-z]*.py")}
    assert set(bundled_names()) == files


def test_numbers_in_the_name_are_options_in_order():
    written, named = load("two_link(0.5, 0.4)"), load("two_link", l1_m=0.5, l2_m=0.4)
    np.testing.assert_array_equal(chain_of(written), chain_of(named))
    np.testing.assert_allclose(forward(written, np.zeros(2))[:3, 3], (0.9, 0.0, 0.0), atol=1e-15)
    assert load("ur5e(0.135)").tip == "tool"


def test_unknown_option_lists_the_valid_ones():
    with pytest.raises(UnknownName) as caught:
        load("two_link", length=1.0)
    assert str(caught.value) == "unknown option of two_link 'length'; valid: l1_m, l2_m."


@pytest.mark.parametrize("value", [math.nan, math.inf, "0.5", True, None, [0.5]])
def test_an_option_is_a_finite_number(value):
    with pytest.raises(InvalidInput, match="l1_m"):
        load("two_link", l1_m=value)


def test_an_option_is_not_given_twice():
    with pytest.raises(InvalidInput, match="twice"):
        load("two_link(0.5)", l1_m=0.4)


def test_files_take_no_options(tmp_path):
    with pytest.raises(UnknownName, match="Only bundled arms"):
        load(tmp_path / "arm.urdf", l1_m=0.4)


def test_root_moves_the_base_in_the_world():
    root = Pose.from_rpy((1.0, 2.0, 3.0), (0.1, 0.2, 0.3))
    arm, plain = load("ur5e", root=root), load("ur5e")
    np.testing.assert_allclose(arm.base_in_world.matrix(), root.matrix(), atol=1e-15)
    np.testing.assert_array_equal(chain_of(arm), chain_of(plain))


def test_tool_as_a_length_and_as_a_pose():
    q = np.array([0.1, -1.0, 1.2, -0.3, 0.5, 0.2])
    flange = forward(load("ur5e"), q)
    long = load("ur5e", tool=0.2)
    assert long.tip == "tool"
    np.testing.assert_allclose(forward(long, q), flange @ Pose((0.0, 0.0, 0.2)).matrix(), atol=1e-14)
    tool = Pose.from_rpy((0.1, 0.2, 0.3), (0.4, 0.5, 0.6))
    np.testing.assert_allclose(forward(load("ur5e", tool=tool), q), flange @ tool.matrix(), atol=1e-14)


def test_tool_stacks_on_the_tip_under_a_free_name():
    q = np.array([0.3, 0.4])
    arm = load("two_link", tool=0.1)
    assert arm.tip == "tool_2"
    np.testing.assert_allclose(
        forward(arm, q), forward(load("two_link"), q) @ Pose((0.0, 0.0, 0.1)).matrix(), atol=1e-15
    )


@pytest.mark.parametrize("tool", [math.nan, "0.1", True, (0, 0, 0.1)])
def test_a_tool_is_a_pose_or_a_length(tool):
    with pytest.raises(InvalidInput, match="tool"):
        load("ur5e", tool=tool)


def test_joints_and_hold_choose_what_moves():
    arm = load("ur5e", joints=("elbow", "wrist_1"), hold={"shoulder_pan": 0.5})
    assert arm.joint_names == ("elbow", "wrist_1")
    full = load("ur5e")
    np.testing.assert_allclose(
        forward(arm, np.array([0.2, 0.3])),
        forward(full, np.array([0.5, 0.0, 0.2, 0.3, 0.0, 0.0])),
        atol=1e-14,
    )


@pytest.mark.parametrize("model", [None, 5, b"ur5e", ["ur5e"]])
def test_a_model_is_a_name_or_a_path(model):
    with pytest.raises(InvalidInput, match="model is a"):
        load(model)


SMALL = """<robot name="small">
<link name="base"/><link name="a"><inertial>
<origin xyz="0 0 1" rpy="0 0 1.5707963267948966"/><mass value="2"/>
<inertia ixx="1" iyy="2" izz="2.5" ixy="0" ixz="0" iyz="0"/></inertial>
<visual><origin xyz="1 2 3"/><geometry><box size="2 4 6"/></geometry><material name="red"/></visual>
<visual><geometry><cylinder radius="1" length="4"/></geometry></visual><collision/></link>
<link name="b"/><link name="c"/>
<material name="red"><color rgba="1 0 0 1"/></material>
<joint name="slide" type="prismatic"><parent link="base"/><child link="a"/><axis xyz="0 0 2"/>
<limit lower="-1" upper="2" effort="0" velocity="0"/></joint>
<joint name="spin" type="continuous"><parent link="a"/><child link="b"/><origin xyz="1 0 0"/>
<limit lower="-1" upper="1" effort="5" velocity="3"/><dynamics damping="0.5" friction="0.25"/></joint>
<joint name="copy" type="revolute"><parent link="a"/><child link="c"/><limit lower="0" upper="1"/>
<mimic joint="spin"/></joint>
</robot>"""


@pytest.fixture
def small(tmp_path) -> Path:
    path = tmp_path / "small.urdf"
    path.write_text(SMALL)
    return path


def test_what_a_urdf_says(small):
    tree = load_tree(small)
    assert (tree.name, tree.root) == ("small", "base")
    joints = {joint.name: joint for joint in tree.joints}
    slide, spin, copy = joints["slide"], joints["spin"], joints["copy"]
    assert (slide.kind, slide.lower, slide.upper) == (JointKind.PRISMATIC, -1.0, 2.0)
    assert slide.axis.tolist() == [0.0, 0.0, 1.0]
    assert (slide.max_speed, slide.max_effort) == (math.inf, math.inf)
    assert (spin.kind, spin.lower, spin.upper) == (JointKind.CONTINUOUS, -math.inf, math.inf)
    assert spin.axis.tolist() == [1.0, 0.0, 0.0]
    assert (spin.max_speed, spin.max_effort, spin.damping, spin.friction) == (3.0, 5.0, 0.5, 0.25)
    assert copy.mimics == "spin"
    link = tree.link("a")
    assert link.inertial is not None
    assert link.inertial.center_of_mass_m.tolist() == [0.0, 0.0, 1.0]
    np.testing.assert_allclose(np.diag(link.inertial.inertia_kgm2), (2.0, 1.0, 2.5), atol=1e-15)
    box, cylinder = link.shapes
    assert (box.kind, box.size_m, box.rgba, box.collides) == (
        "box",
        (1.0, 2.0, 3.0),
        (1.0, 0.0, 0.0, 1.0),
        True,
    )
    assert box.pose.position_m.tolist() == [1.0, 2.0, 3.0]
    assert (cylinder.kind, cylinder.size_m) == ("cylinder", (1.0, 2.0))


def test_the_root_element_decides_not_the_ending(small):
    other = small.with_suffix(".xml")
    other.write_text(SMALL)
    assert load_tree(other).name == "small"


def test_a_joint_that_cannot_move_is_told(small):
    small.write_text(SMALL.replace('lower="-1" upper="2"', ""))
    with pytest.warns(ModelWarning, match="nothing moves, at joint 'slide'"):
        load_tree(small)


def test_an_inertia_of_no_solid_body_is_told(small):
    small.write_text(SMALL.replace('izz="2.5"', 'izz="5"'))
    with pytest.warns(ModelWarning, match=r"given for 'a' \(principal moments a \+ b < c\)"):
        load_tree(small)


def menagerie(tmp_path: Path, *files: str) -> None:
    for file in files:
        path = tmp_path / file
        path.parent.mkdir(exist_ok=True)
        path.write_text(
            f'<mujoco model="{path.stem}"><worldbody><body name="l"><joint name="j"/><geom size=".1"/></body>'
            "</worldbody></mujoco>"
        )


@pytest.mark.parametrize(
    ("files", "name", "expected"),
    [
        (("abc/abc.xml", "abc/scene.xml", "abc/other.xml"), "abc", "abc"),
        (("abc/scene.xml", "abc/other.xml"), "abc", "other"),
        (("franka_emika_panda/panda.xml", "franka_emika_panda/hand.xml"), "franka_emika_panda", "panda"),
        (("abc/one.xml", "abc/two.xml"), "abc/two", "two"),
        (("abc/one.xml", "abc/two.xml"), "abc/two.xml", "two"),
    ],
)
def test_menagerie_names(tmp_path, monkeypatch, files, name, expected):
    menagerie(tmp_path, *files)
    monkeypatch.setenv("MENAGERIE_ROOT", str(tmp_path))
    assert load(f"menagerie:{name}").name == expected


@pytest.mark.parametrize("name", ["nope", "..", "../abc", "abc/../../x", "/etc", "", "abc/sub/x"])
def test_menagerie_names_stay_in_the_folder(tmp_path, monkeypatch, name):
    (tmp_path / "root").mkdir()
    menagerie(tmp_path / "root", "abc/abc.xml")
    monkeypatch.setenv("MENAGERIE_ROOT", str(tmp_path / "root"))
    with pytest.raises(UnknownName, match="valid: abc"):
        load(f"menagerie:{name}")


def test_menagerie_says_what_to_set(monkeypatch, tmp_path):
    monkeypatch.delenv("MENAGERIE_ROOT", raising=False)
    with pytest.raises(ModelError, match="MENAGERIE_ROOT is not set"):
        load("menagerie:abc")
    monkeypatch.setenv("MENAGERIE_ROOT", str(tmp_path / "gone"))
    with pytest.raises(ModelError, match="which is not a folder"):
        load("menagerie:abc")
    menagerie(tmp_path, "abc/one.xml", "abc/two.xml")
    monkeypatch.setenv("MENAGERIE_ROOT", str(tmp_path))
    with pytest.raises(ModelError, match="no single model file in it: one, two"):
        load("menagerie:abc")


def tree_with(*branches: tuple[str, int, str]) -> Tree:
    """Chains of joints, each: the link that it starts at, its length, and its links' name before a number."""
    links, joints = [Link("base")], []
    for start, count, name in branches:
        parent = start
        for i in range(count):
            links.append(Link(f"{name}{i}"))
            joints.append(Joint(f"{name}_joint{i}", JointKind.REVOLUTE, parent, f"{name}{i}"))
            parent = f"{name}{i}"
    return Tree("t", "t", tuple(links), tuple(joints))


@pytest.mark.parametrize(
    ("branches", "tip"),
    [
        ([("base", 6, "arm")], "arm5"),
        ([("base", 6, "arm"), ("arm5", 1, "gripper")], "arm5"),
        ([("base", 6, "arm"), ("arm5", 1, "roll")], "roll0"),
        ([("base", 6, "arm"), ("arm5", 1, "left"), ("arm5", 1, "right")], "arm5"),
        ([("base", 6, "arm"), ("arm5", 4, "index"), ("arm5", 4, "thumb"), ("arm5", 3, "ring")], "arm5"),
        ([("base", 1, "wheel"), ("base", 2, "head"), ("base", 7, "arm")], "arm6"),
        ([("base", 3, "leg"), ("base", 3, "foot"), ("base", 7, "arm")], "arm6"),
        ([("base", 2, "pan"), ("base", 1, "wheel")], "pan1"),
    ],
)
def test_the_tip_is_the_end_of_the_arm(branches, tip):
    assert find_tip(tree_with(*branches), "base") == tip


@pytest.mark.parametrize(
    "branches",
    [
        [("base", 7, "left"), ("base", 7, "right")],
        [("base", 6, "leg"), ("base", 7, "arm")],
        [("base", 2, "one"), ("base", 2, "two")],
        [("base", 3, "waist"), ("waist2", 5, "left"), ("waist2", 5, "right")],
    ],
)
def test_two_long_branches_are_ambiguous(branches):
    with pytest.raises(ModelError, match="several chains") as caught:
        find_tip(tree_with(*branches), "base")
    assert f"{branches[-1][2]}0" in str(caught.value)
