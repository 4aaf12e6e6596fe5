"""Known values, measures of dexterity, and singularities with names."""

from __future__ import annotations

import numpy as np
import pytest

import forearm
from forearm.kinematics.chain import chain_of
from forearm.kinematics.forward import jacobian
from forearm.kinematics.measures import dexterity, dexterity_of, manipulability
from forearm.kinematics.planar import planar_geometry
from forearm.kinematics.workspace import sample_into
from forearm.robots.robot import chain_in
from forearm.robots.tree import Frame, Joint, JointKind, Link, Tree
from forearm.spatial import Pose


def test_the_ur5e_at_zero_is_where_its_table_says():
    q = np.zeros(6)
    assert np.allclose(forearm.load("ur5e").fk(q).position_m, (-0.8172, -0.2329, 0.0628), rtol=0, atol=1e-12)
    for arm in (forearm.load("ur5e", tool_length_m=0.135), forearm.load("ur5e", tool=0.135)):
        assert np.allclose(arm.fk(q).position_m, (-0.8172, -0.3679, 0.0628), rtol=0, atol=1e-12)


def test_the_planar_arm_is_the_textbook_formula(random):
    arm = forearm.load("two_link")
    for q1, q2 in random.uniform(-3.14, 3.14, (20, 2)):
        x = 0.3 * np.cos(q1) + 0.315 * np.cos(q1 + q2)
        y = 0.3 * np.sin(q1) + 0.315 * np.sin(q1 + q2)
        assert np.allclose(arm.fk((q1, q2)).position_m, (x, y, 0.0), rtol=0, atol=1e-15)
        # w = L1 L2 |sin q2| for a two-link arm.
        assert arm.manipulability((q1, q2)) == pytest.approx(0.3 * 0.315 * abs(np.sin(q2)), abs=1e-15)


@pytest.mark.parametrize("name", forearm.robot_names())
def test_measures_are_those_of_the_singular_values(name, arms, random, make_posture):
    arm = arms[name]
    rows = 3 if arm.task == "position" else 6
    for _ in range(10):
        q = make_posture(arm, random)
        columns = jacobian(arm, q)[:rows]
        wide = columns if columns.shape[0] <= columns.shape[1] else columns.T
        singular = np.linalg.svd(wide, compute_uv=False)
        measured = arm.dexterity(q)
        assert measured.manipulability == pytest.approx(
            np.sqrt(np.linalg.det(wide @ wide.T)), rel=1e-8, abs=1e-12
        )
        assert measured.min_singular_value == pytest.approx(singular[-1], abs=1e-14)
        assert measured.condition_number == pytest.approx(singular[0] / singular[-1], rel=1e-6)
        assert manipulability(arm, q) == measured.manipulability


def test_the_condition_number_of_a_singular_posture_is_infinite_and_never_nan():
    assert dexterity_of(np.zeros((3, 3))) == (0.0, 0.0, np.inf)
    assert dexterity_of(np.diag([1.0, 1.0, 0.0])).condition_number == np.inf
    arm = forearm.load("two_link")
    assert arm.dexterity((0.0, 0.0)).condition_number > 1e14


@pytest.mark.parametrize("name", forearm.robot_names())
def test_the_compiled_manipulability_is_the_reference(name, arms, random, make_posture):
    arm = arms[name]
    postures = np.array([make_posture(arm, random) for _ in range(50)])
    points, measure = np.full((50, 3), np.nan), np.full(50, np.nan)
    sample_into(chain_of(arm), postures, 3 if arm.task == "position" else 6, points, measure)
    for q, point, value in zip(postures, points, measure, strict=True):
        assert np.allclose(point, arm.fk(q).position_m, rtol=0, atol=1e-12)
        assert value == pytest.approx(dexterity(arm, q).manipulability, rel=1e-6, abs=1e-10)


def names_at(arm, q):
    return {singularity.name for singularity in arm.singularities(q)}


def test_the_ur5e_names_its_singularities(arms):
    arm = arms["ur5e"]
    regular = np.array([0.3, -1.2, 1.4, -0.9, -1.1, 0.4])
    assert names_at(arm, regular) == set()
    for turn in (0.0, np.pi, -np.pi, 2.0 * np.pi):
        assert "wrist" in names_at(arm, np.where(np.arange(6) == 4, turn + 0.04, regular))
        assert "wrist" not in names_at(arm, np.where(np.arange(6) == 4, turn + 0.06, regular))
    stretched = np.where(np.arange(6) == 2, 0.01, regular)
    assert "elbow" in names_at(arm, stretched)
    elbow = next(found for found in arm.singularities(stretched) if found.name == "elbow")
    assert elbow.joints == ("elbow",)
    assert elbow.distance == pytest.approx(0.01, abs=1e-12)


def test_the_shoulder_singularity_is_the_tip_above_the_base_axis(random, make_posture):
    # Without a tool the tip cannot come nearer to that axis than d4 - d6 = 0.034 m.
    arm = forearm.load("ur5e", tool_length_m=0.135)
    tries = (arm.ik((0.005, 0.0, 0.6), task="position", seed=make_posture(arm, random)) for _ in range(50))
    solved = next(result for result in tries if result)
    found = {singularity.name: singularity for singularity in arm.singularities(solved.q)}
    assert found["shoulder"].distance == pytest.approx(0.005, abs=2e-6)
    assert found["shoulder"].unit == "m"


def test_the_ur5e_is_singular_where_its_determinant_vanishes(arms):
    # det J is proportional to sin q3 · sin q5 · (a2 cos q2 + a3 cos q23 + d5 sin q234).
    arm, q2, q3 = arms["ur5e"], -2.0, 1.2
    reach = -0.425 * np.cos(q2) - 0.3922 * np.cos(q2 + q3)
    q4 = np.arcsin(-reach / 0.0997) - q2 - q3
    q = np.array([0.4, q2, q3, q4, -1.1, 0.3])
    assert np.linalg.svd(arm.jacobian(q), compute_uv=False)[-1] < 1e-12
    assert "dependent joints" in names_at(arm, q)


def test_a_stretched_planar_arm_is_singular_whole_and_in_part(arms):
    assert "elbow" in names_at(arms["two_link"], (0.3, 0.0))
    assert names_at(arms["two_link"], (0.3, 1.5)) == set()
    assert names_at(forearm.load("two_link", joints=("elbow",)), (0.0,)) == set()
    assert names_at(forearm.load("two_link", tip="link1"), (0.0,)) == {"dependent joints"}


def test_aligned_axes_are_found_on_any_arm(arms):
    q = arms["mini_arm"].home.copy()
    q[4] = 0.0
    aligned = [found for found in arms["mini_arm"].singularities(q) if found.name == "aligned axes"]
    assert ("wrist_roll", "tool_roll") in [found.joints for found in aligned]


def test_two_link_lengths_are_read_off_the_chain():
    for l1, l2 in ((0.3, 0.315), (0.5, 0.4), (0.4, 0.4)):
        geometry = planar_geometry(forearm.load(f"two_link({l1}, {l2})"))
        assert (geometry.l1_m, geometry.l2_m) == (pytest.approx(l1), pytest.approx(l2))
        assert geometry.elbow_sense == 1.0
        assert np.allclose(geometry.plane_in_base[:, 2], (0.0, 0.0, 1.0), rtol=0, atol=1e-15)


def two_axes(second_axis, kinds=(JointKind.REVOLUTE, JointKind.REVOLUTE), x_m=0.3, tip_m=0.2):
    joints = (
        Joint("a", kinds[0], "l0", "l1", Pose.identity()),
        Joint("b", kinds[1], "l1", "l2", Pose((x_m, 0.0, 0.0)), np.asarray(second_axis, dtype=float)),
    )
    frames = (Frame("tip", "l2", Pose((tip_m, 0.0, 0.1))),)
    return chain_in(Tree("t", "t", (Link("l0"), Link("l1"), Link("l2")), joints, frames, tip="tip"))


def test_only_two_parallel_hinges_with_two_links_are_planar(arms):
    assert planar_geometry(two_axes((0.0, 0.0, 1.0))) is not None
    assert planar_geometry(two_axes((0.0, 0.0, -1.0))).elbow_sense == -1.0
    assert planar_geometry(two_axes((0.0, 1.0, 0.0))) is None
    assert planar_geometry(two_axes((0.0, 1e-6, 1.0))) is None
    assert planar_geometry(two_axes((0.0, 0.0, 1.0), x_m=0.0)) is None
    assert planar_geometry(two_axes((0.0, 0.0, 1.0), tip_m=0.0)) is None
    slide = (JointKind.REVOLUTE, JointKind.PRISMATIC)
    assert planar_geometry(two_axes((0.0, 0.0, 1.0), slide)) is None
    assert planar_geometry(arms["ur5e"]) is None


@pytest.mark.parametrize("name", forearm.robot_names())
def test_postures_lie_in_the_limits_and_are_frozen(name, arms):
    arm = arms[name]
    assert {"home", "zeros"} <= set(arm.postures)
    for posture in arm.postures.values():
        assert ((arm.lower <= posture) & (posture <= arm.upper)).all()
        assert not posture.flags.writeable
