"""Rotations and poses: the axioms, everywhere and where they are hardest."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from forearm.kinematics.error import pose_error_into
from forearm.spatial import (
    Pose,
    pose_error,
    quaternion_from_rotation,
    quaternion_product,
    rotation_exp,
    rotation_from_quaternion,
    rotation_log,
    skew,
)

number = st.floats(-10.0, 10.0, allow_nan=False)
coordinate = st.floats(-1.0, 1.0, allow_nan=False)
# The hard angles are the ends and what lies a rounding or two from them.
angle = st.one_of(
    st.floats(0.0, np.pi),
    st.sampled_from([0.0, 1e-300, 1e-15, 1e-9, 0.99e-8, 1.01e-8, 1e-6, np.pi / 2, np.pi]),
    st.floats(1e-16, 1e-2).map(lambda gap: np.pi - gap),
    st.floats(1e-16, 1e-6),
)


@st.composite
def unit_vectors(draw, size=3):
    vector = draw(arrays(np.float64, size, elements=coordinate).filter(lambda v: np.linalg.norm(v) > 1e-3))
    return vector / np.linalg.norm(vector)


@st.composite
def rotation_vectors(draw):
    return draw(angle) * draw(unit_vectors())


@st.composite
def poses(draw):
    return Pose(draw(arrays(np.float64, 3, elements=number)), draw(unit_vectors(4)))


def near(a, b, atol=1e-13):
    return np.allclose(a, b, rtol=0.0, atol=atol)


@given(rotation_vectors())
def test_exp_is_a_rotation_and_log_undoes_it(vector):
    rotation = rotation_exp(vector)
    assert near(rotation.T @ rotation, np.eye(3))
    assert np.linalg.det(rotation) > 0.0
    back = rotation_log(rotation)
    assert np.linalg.norm(back) <= np.pi + 1e-15
    if np.linalg.norm(vector) > np.pi - 1e-12 and back @ vector < 0.0:
        back = -back
    assert near(back, vector)


@given(rotation_vectors())
def test_exp_undoes_log(vector):
    rotation = rotation_exp(vector)
    assert near(rotation_exp(rotation_log(rotation)), rotation)


@given(rotation_vectors())
def test_exp_is_the_matrix_exponential(vector):
    series, term = np.eye(3), np.eye(3)
    for order in range(1, 40):
        term = term @ skew(vector) / order
        series = series + term
    assert near(rotation_exp(vector), series, 1e-12)


@given(unit_vectors(4))
def test_quaternions_and_matrices_agree(quaternion):
    back = quaternion_from_rotation(rotation_from_quaternion(quaternion))
    assert back[0] >= 0.0
    assert near(np.linalg.norm(back), 1.0)
    assert near(abs(back @ quaternion), 1.0)
    assert near(rotation_from_quaternion(back), rotation_from_quaternion(quaternion))


@given(unit_vectors(4), unit_vectors(4))
def test_the_hamilton_product_is_composition(left, right):
    product = rotation_from_quaternion(quaternion_product(left, right))
    assert near(product, rotation_from_quaternion(left) @ rotation_from_quaternion(right))


@given(poses(), poses(), poses())
def test_poses_are_a_group(a, b, c):
    identity = Pose.identity()
    assert near(((a @ b) @ c).matrix(), (a @ (b @ c)).matrix(), 1e-12)
    assert near((a @ identity).matrix(), a.matrix())
    assert near((identity @ a).matrix(), a.matrix())
    assert near((a @ a.inverse()).matrix(), np.eye(4), 1e-12)
    assert near((a.inverse() @ a).matrix(), np.eye(4), 1e-12)
    assert near((a @ b).inverse().matrix(), (b.inverse() @ a.inverse()).matrix(), 1e-12)


@given(poses(), poses(), arrays(np.float64, (4, 3), elements=number))
def test_poses_act_on_points_as_their_matrices_do(a, b, points):
    assert near((a @ b).matrix(), a.matrix() @ b.matrix(), 1e-12)
    assert near((a @ b).transform_points(points), a.transform_points(b.transform_points(points)), 1e-12)
    assert near(Pose.from_matrix(a.matrix()).matrix(), a.matrix())


@given(poses(), poses())
def test_the_pose_error_takes_the_current_pose_to_the_target(target, current):
    error = pose_error(target, current)
    assert near(current.position_m + error.position_m, target.position_m)
    assert near(rotation_exp(error.rotation_rad) @ current.rotation, target.rotation)


@given(poses())
def test_the_error_of_a_pose_with_itself_is_zero(pose):
    error = pose_error(pose, pose)
    assert error.distance_m == 0.0
    assert error.angle_rad < 1e-15


def compiled_error(target: Pose, current: Pose):
    error = np.full(6, np.nan)
    pose_error_into(target.matrix(), current.matrix(), error)
    return error


@given(rotation_vectors(), poses())
def test_the_compiled_error_is_the_reference(vector, current):
    target = Pose.from_rotation(current.position_m + vector, rotation_exp(vector) @ current.rotation)
    reference, compiled = pose_error(target, current), compiled_error(target, current)
    assert near(compiled[:3], reference.position_m, 0.0)
    turn = compiled[3:]
    # A half turn has two logarithms, and rounding chooses between them.
    if reference.angle_rad > np.pi - 1e-9 and turn @ reference.rotation_rad < 0.0:
        turn = -turn
    assert near(turn, reference.rotation_rad, 1e-12)


@given(unit_vectors(), st.floats(-20.0, -1.0))
def test_the_compiled_error_near_a_half_turn_keeps_its_axis_and_sign(axis, exponent):
    angle_rad = np.pi - 10.0**exponent
    turn = compiled_error(Pose.from_rotation(np.zeros(3), rotation_exp(angle_rad * axis)), Pose.identity())[
        3:
    ]
    assert np.linalg.norm(turn) == pytest.approx(angle_rad, abs=1e-14)
    assert near(abs(turn @ axis), angle_rad, 1e-13)
    if exponent > -12.0:
        assert turn @ axis > 0.0
