"""Poses: the conventions by example, and everything that is refused."""

from __future__ import annotations

import numpy as np
import pytest

from forearm.errors import InvalidInput
from forearm.spatial import (
    Pose,
    as_pose,
    pose_error,
    quaternion_from_rotation,
    rotation_exp,
    rotation_from_quaternion,
    rotation_log,
    rotation_x,
    rotation_y,
    rotation_z,
)

HALF = np.sqrt(0.5)


def test_a_quarter_turn_about_z_takes_x_to_y():
    turn = Pose((1.0, 2.0, 3.0), (HALF, 0.0, 0.0, HALF))
    assert np.allclose(turn.transform_points((1.0, 0.0, 0.0)), (1.0, 3.0, 3.0), rtol=0, atol=1e-15)
    assert np.allclose(turn.rotation, rotation_z(np.pi / 2), rtol=0, atol=1e-15)


def test_composition_reads_from_right_to_left():
    a_in_b = Pose((1.0, 0.0, 0.0), (HALF, 0.0, 0.0, HALF))
    c_in_a = Pose((0.0, 2.0, 0.0))
    assert np.allclose((a_in_b @ c_in_a).position_m, (-1.0, 0.0, 0.0), rtol=0, atol=1e-15)


def test_rpy_is_about_fixed_axes_x_then_y_then_z():
    pose = Pose.from_rpy((0.0, 0.0, 0.0), (0.1, 0.2, 0.3))
    expected = rotation_z(0.3) @ rotation_y(0.2) @ rotation_x(0.1)
    assert np.allclose(pose.rotation, expected, rtol=0, atol=1e-15)


def test_pose_error_points_from_the_current_pose_to_the_target_in_base_axes():
    current = Pose.from_rotation((0.0, 0.0, 0.0), rotation_x(0.7))
    target = Pose.from_rotation((0.1, -0.2, 0.3), rotation_z(0.4) @ rotation_x(0.7))
    error = pose_error(target, current)
    assert np.allclose(error.position_m, (0.1, -0.2, 0.3), rtol=0, atol=1e-15)
    assert np.allclose(error.rotation_rad, (0.0, 0.0, 0.4), rtol=0, atol=1e-15)
    assert error.distance_m == pytest.approx(np.sqrt(0.14), abs=1e-15)
    assert error.angle_rad == pytest.approx(0.4, abs=1e-15)


def test_the_log_of_a_half_turn_is_exact_about_every_axis():
    for axis in np.vstack([np.eye(3), -np.eye(3), [[0.6, 0.8, 0.0]], [[1 / 3, -2 / 3, 2 / 3]]]):
        vector = rotation_log(2.0 * np.outer(axis, axis) - np.eye(3))
        assert np.linalg.norm(vector) == pytest.approx(np.pi, abs=1e-14)
        assert abs(vector @ axis) == pytest.approx(np.pi, abs=1e-14)


@pytest.mark.parametrize("angle", [0.0, 1e-300, 1e-16, 1e-12, 1e-9, 1e-8, 1.1e-8, 1e-4])
def test_small_turns_keep_all_their_digits(angle):
    vector = angle * np.array([0.36, -0.48, 0.8])
    assert np.allclose(rotation_log(rotation_exp(vector)), vector, rtol=1e-12, atol=1e-300)


def test_a_quaternion_and_its_negative_are_one_rotation():
    quaternion = np.array([0.1, -0.5, 0.7, 0.5])
    quaternion /= np.linalg.norm(quaternion)
    assert np.allclose(
        rotation_from_quaternion(quaternion), rotation_from_quaternion(-quaternion), rtol=0, atol=0
    )
    assert np.allclose(
        quaternion_from_rotation(rotation_from_quaternion(-quaternion)), quaternion, atol=1e-15
    )


def refused(what: str, function, *arguments) -> str:
    with pytest.raises(InvalidInput) as caught:
        function(*arguments)
    assert caught.value.what == what
    return caught.value.problem


NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("rotation", "problem"),
    [
        (np.diag([1.0, 1.0, -1.0]), "is a reflection"),
        (-np.eye(3), "is a reflection"),
        (2.0 * np.eye(3), "is not orthonormal"),
        (np.zeros((3, 3)), "is not orthonormal"),
        (np.eye(3) + 2e-6 * np.eye(3), "is not orthonormal"),
        (np.array([[1.0, 0.1, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]), "is not orthonormal"),
        (np.full((3, 3), NAN), "is not finite"),
        (np.diag([1.0, 1.0, INF]), "is not finite"),
        (np.eye(2), "has shape (2, 2)"),
        (np.ones(9), "has shape (9,)"),
    ],
)
def test_what_is_not_a_rotation_is_refused(rotation, problem):
    assert problem in refused("rotation", quaternion_from_rotation, rotation)
    if np.shape(rotation) == (3, 3):
        matrix = np.eye(4)
        matrix[:3, :3] = rotation
        with pytest.raises(InvalidInput, match=r"finite|orthonormal|reflection"):
            Pose.from_matrix(matrix)


@pytest.mark.parametrize(
    ("position", "quaternion", "what"),
    [
        ((0.0, 0.0), (1.0, 0.0, 0.0, 0.0), "position_m"),
        ((0.0, NAN, 0.0), (1.0, 0.0, 0.0, 0.0), "position_m"),
        ((0.0, INF, 0.0), (1.0, 0.0, 0.0, 0.0), "position_m"),
        ("abc", (1.0, 0.0, 0.0, 0.0), "position_m"),
        (None, (1.0, 0.0, 0.0, 0.0), "position_m"),
        (([1.0], [2.0, 3.0], 4.0), (1.0, 0.0, 0.0, 0.0), "position_m"),
        ((0.0, 0.0, 0.0), (1.0, 0.0, 0.0), "quaternion_wxyz"),
        ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 0.0), "quaternion_wxyz"),
        ((0.0, 0.0, 0.0), (1.0, 0.0, 0.0, 0.01), "quaternion_wxyz"),
        ((0.0, 0.0, 0.0), (1.00001, 0.0, 0.0, 0.0), "quaternion_wxyz"),
        ((0.0, 0.0, 0.0), (NAN, 0.0, 0.0, 1.0), "quaternion_wxyz"),
    ],
)
def test_what_is_not_a_pose_is_refused(position, quaternion, what):
    refused(what, Pose, position, quaternion)


@pytest.mark.parametrize(
    "matrix",
    [
        np.eye(3),
        np.zeros((4, 4)),
        np.diag([1.0, 1.0, 1.0, 2.0]),
        np.eye(4).T + np.eye(4, k=-3),
        "not a matrix",
        None,
        [[1.0, 2.0], [3.0]],
        {"x": 1.0},
        np.full((4, 4), NAN),
    ],
)
def test_what_is_not_a_rigid_transform_is_refused(matrix):
    refused("pose matrix", Pose.from_matrix, matrix)
    refused("pose matrix", as_pose, matrix)


def test_a_matrix_printed_with_seven_digits_is_accepted_and_made_exact():
    exact = Pose.from_rpy((0.1, 0.2, 0.3), (0.4, 0.5, 0.6))
    read = Pose.from_matrix(np.round(exact.matrix(), 7))
    assert np.allclose(read.rotation.T @ read.rotation, np.eye(3), rtol=0, atol=1e-15)
    assert pose_error(exact, read).angle_rad < 2e-7


def test_as_pose_takes_what_users_have_at_hand():
    pose = Pose.from_rpy((0.1, 0.2, 0.3), (0.4, 0.5, 0.6))
    assert as_pose(pose) is pose
    assert np.allclose(as_pose(pose.matrix().tolist()).matrix(), pose.matrix(), rtol=0, atol=1e-15)
    for coordinates in ((1, 2, 3), [1.0, 2.0, 3.0], np.array([1.0, 2.0, 3.0], dtype=np.float32)):
        assert as_pose(coordinates).position_m.tolist() == [1.0, 2.0, 3.0]


def test_a_pose_is_frozen_and_keeps_nothing_of_the_caller():
    given = np.array([1.0, 2.0, 3.0])
    pose = Pose(given)
    given[0] = 9.0
    assert pose.position_m[0] == 1.0
    with pytest.raises(ValueError, match="read-only"):
        pose.position_m[0] = 5.0
    with pytest.raises(AttributeError):
        pose.position_m = given
    with pytest.raises(TypeError):
        pose @ (1.0, 2.0, 3.0)


def test_repr_reads_back():
    pose = Pose.from_rpy((0.1, -0.2, 0.3), (0.4, 0.5, 0.6))
    again = eval(repr(pose), {"Pose": Pose})
    assert np.allclose(again.matrix(), pose.matrix(), rtol=0, atol=1e-15)


def test_two_poses_are_close_in_metres_and_in_radians_apart():
    pose = Pose.from_rpy((1.0, 2.0, 3.0), (0.1, 0.2, 0.3))
    w, x, y, z = pose.quaternion_wxyz
    assert pose.is_close(Pose(pose.position_m, (-w, -x, -y, -z))), "two quaternions, one rotation"
    shifted = Pose((1.0, 2.0, 3.001), pose.quaternion_wxyz)
    turned = pose @ Pose.from_rpy((0.0, 0.0, 0.0), (0.001, 0.0, 0.0))
    for other, close in ((shifted, {"position_m": 0.0011}), (turned, {"rotation_rad": 0.0011})):
        assert not pose.is_close(other)
        assert pose.is_close(other, **close)
        assert other.is_close(pose, **close)
    assert not pose.is_close(shifted, rotation_rad=10.0)
    assert not pose.is_close(turned, position_m=10.0)
    assert pose != Pose(pose.position_m, pose.quaternion_wxyz), "== is identity, as documented"
