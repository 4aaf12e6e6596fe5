"""Poses and rotations.

A ``Pose`` is the position and orientation of one frame in another. Rotations act on column vectors.
``pose_error`` keeps metres and radians apart, always. See docs/conventions.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from forearm.errors import InvalidInput

Array = NDArray[Any]
"""A float64 array; its shape stands in the docstring."""

ROTATION_TOLERANCE = 1e-6
"""How far RᵀR may be from the identity, and a quaternion's norm from 1, before it is refused.

Wide enough for matrices printed with seven digits, narrow enough to catch a transposed block or a
scaled matrix. Accepted rotations are projected onto SO(3).
"""

MAX_LENGTH_M = 1e4
"""Targets, tools, roots and seeds beyond this are refused: no arm is near, and squares overflow at 1e154."""


def frozen_array(values: ArrayLike) -> Array:
    """A read-only float64 copy of ``values``."""
    array = np.array(values, dtype=np.float64)
    array.flags.writeable = False
    return array


def real_array(values: ArrayLike, what: str, fix: str = "") -> Array:
    """``values`` as a float64 array of any shape; ``InvalidInput`` for text, complex numbers and the like."""
    try:
        array = np.asarray(values)
        # Left to itself NumPy drops imaginary parts and reads numbers out of text.
        if array.dtype.kind not in "biufO":
            raise TypeError(f"it holds {array.dtype}")
        return np.asarray(array, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidInput(what, "is not numeric", fix) from error


def finite_vector(values: ArrayLike, size: int, what: str) -> Array:
    """``values`` as a float64 vector of ``size`` finite numbers, or ``InvalidInput``."""
    vector = real_array(values, what, f"Give {size} numbers.")
    if vector.shape != (size,):
        raise InvalidInput(what, f"has shape {vector.shape}", f"Give {size} numbers.")
    if not np.isfinite(vector).all():
        raise InvalidInput(what, f"holds a value that is not finite: {vector.tolist()}")
    return vector


def require_length(values: ArrayLike, what: str) -> None:
    """Raise ``InvalidInput`` if a length is beyond ``MAX_LENGTH_M``."""
    largest = float(np.abs(np.asarray(values, dtype=np.float64)).max(initial=0.0))
    if largest > MAX_LENGTH_M:
        raise InvalidInput(what, f"is {largest:.6g} m away", f"Give metres, {MAX_LENGTH_M:g} at most.")


@dataclass(frozen=True, eq=False, slots=True)
class Pose:
    """Position (m) and orientation (unit quaternion w x y z) of a frame in a parent frame.

    ``a_in_b @ c_in_a`` is ``c_in_b``; ``pose.inverse()`` swaps the frames.
    """

    position_m: Array
    quaternion_wxyz: Array

    # NumPy must not take ``matrix @ pose`` for a product of arrays.
    __array_ufunc__ = None

    def __init__(self, position_m: ArrayLike, quaternion_wxyz: ArrayLike = (1.0, 0.0, 0.0, 0.0)) -> None:
        position = finite_vector(position_m, 3, "position_m")
        quaternion = finite_vector(quaternion_wxyz, 4, "quaternion_wxyz")
        norm = float(np.linalg.norm(quaternion))
        if abs(norm - 1.0) > ROTATION_TOLERANCE:
            raise InvalidInput(
                "quaternion_wxyz", f"has norm {norm:.6g}", "Give a unit quaternion, scalar part first."
            )
        object.__setattr__(self, "position_m", frozen_array(position))
        object.__setattr__(self, "quaternion_wxyz", frozen_array(quaternion / norm))

    @staticmethod
    def identity() -> Pose:
        return Pose((0.0, 0.0, 0.0))

    @staticmethod
    def from_matrix(matrix: ArrayLike) -> Pose:
        """From a 4x4 homogeneous matrix; raises ``InvalidInput`` if it is not a rigid transform."""
        transform = real_array(matrix, "pose matrix", "Give a 4x4 matrix.")
        if transform.shape != (4, 4):
            raise InvalidInput("pose matrix", f"has shape {transform.shape}", "Give a 4x4 matrix.")
        if not np.isfinite(transform).all():
            raise InvalidInput("pose matrix", "holds a value that is not finite")
        if np.abs(transform[3] - (0.0, 0.0, 0.0, 1.0)).max() > ROTATION_TOLERANCE:
            raise InvalidInput("pose matrix", f"has last row {transform[3].tolist()}", "It must be 0 0 0 1.")
        return Pose(transform[:3, 3], quaternion_from_rotation(transform[:3, :3]))

    @staticmethod
    def from_rotation(position_m: ArrayLike, rotation: ArrayLike) -> Pose:
        """From a position and a 3x3 rotation matrix."""
        return Pose(position_m, quaternion_from_rotation(rotation))

    @staticmethod
    def from_rpy(position_m: ArrayLike, roll_pitch_yaw_rad: ArrayLike) -> Pose:
        """From fixed-axis angles as URDF has them: R = Rz(yaw) Ry(pitch) Rx(roll)."""
        roll, pitch, yaw = finite_vector(roll_pitch_yaw_rad, 3, "roll_pitch_yaw_rad")
        rotation = rotation_z(yaw) @ rotation_y(pitch) @ rotation_x(roll)
        return Pose.from_rotation(position_m, rotation)

    @property
    def rotation(self) -> Array:
        """The 3x3 rotation matrix."""
        return rotation_from_quaternion(self.quaternion_wxyz)

    def matrix(self) -> Array:
        """The 4x4 homogeneous matrix."""
        transform = np.eye(4)
        transform[:3, :3] = self.rotation
        transform[:3, 3] = self.position_m
        return transform

    def inverse(self) -> Pose:
        w, x, y, z = self.quaternion_wxyz
        return Pose(-self.rotation.T @ self.position_m, (w, -x, -y, -z))

    def __matmul__(self, other: Pose) -> Pose:
        if not isinstance(other, Pose):
            return NotImplemented
        return Pose(
            self.position_m + self.rotation @ other.position_m,
            quaternion_product(self.quaternion_wxyz, other.quaternion_wxyz),
        )

    def transform_points(self, points_m: ArrayLike) -> Array:
        """Points (..., 3) given in this frame, expressed in its parent."""
        fix = "Give points of three coordinates (m)."
        points = real_array(points_m, "points_m", fix)
        if points.ndim == 0 or points.shape[-1] != 3:
            raise InvalidInput("points_m", f"has shape {points.shape}", fix)
        return points @ self.rotation.T + self.position_m

    def is_close(self, other: Pose, position_m: float = 1e-9, rotation_rad: float = 1e-9) -> bool:
        """Whether ``other`` is within ``position_m`` and ``rotation_rad`` of this pose, each on its own.

        Poses have no ``==``: two quaternions stand for one rotation, and rounding is everywhere.
        """
        error = pose_error(other, self)
        return error.distance_m <= position_m and error.angle_rad <= rotation_rad

    def __repr__(self) -> str:
        return f"Pose({self.position_m.tolist()}, {self.quaternion_wxyz.tolist()})"


class PoseError(NamedTuple):
    """The difference of two poses in world-aligned axes: (p_target - p, log(R_target Rᵀ))."""

    position_m: Array
    rotation_rad: Array

    @property
    def distance_m(self) -> float:
        return float(np.linalg.norm(self.position_m))

    @property
    def angle_rad(self) -> float:
        return float(np.linalg.norm(self.rotation_rad))


def pose_error(target: Pose | ArrayLike, current: Pose | ArrayLike) -> PoseError:
    """The error that takes ``current`` to ``target``: (p_target - p, log(R_target Rᵀ)).

    Either may be a 4x4 matrix. Raises ``InvalidInput`` for anything else.
    """
    target, current = rigid_pose(target, "target"), rigid_pose(current, "current")
    return PoseError(
        target.position_m - current.position_m,
        rotation_log(target.rotation @ current.rotation.T),
    )


def skew(vector: ArrayLike) -> Array:
    """The matrix [v]x with [v]x w = v x w."""
    x, y, z = np.asarray(vector, dtype=np.float64)
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])


def rotation_x(angle_rad: float) -> Array:
    c, s = np.cos(angle_rad), np.sin(angle_rad)
    return np.array([[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]])


def rotation_y(angle_rad: float) -> Array:
    c, s = np.cos(angle_rad), np.sin(angle_rad)
    return np.array([[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]])


def rotation_z(angle_rad: float) -> Array:
    c, s = np.cos(angle_rad), np.sin(angle_rad)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def rotation_exp(rotation_vector_rad: ArrayLike) -> Array:
    """exp([w]x) by Rodrigues: I + sin|w|/|w| [w]x + (1 - cos|w|)/|w|² [w]x²."""
    vector = np.asarray(rotation_vector_rad, dtype=np.float64)
    angle = float(np.linalg.norm(vector))
    cross = skew(vector)
    if angle < 1e-8:
        return np.eye(3) + cross + 0.5 * cross @ cross
    half_sinc = np.sin(0.5 * angle) / angle
    return np.eye(3) + (np.sin(angle) / angle) * cross + 2.0 * half_sinc**2 * cross @ cross


def rotation_log(rotation: ArrayLike) -> Array:
    """The rotation vector w (rad, |w| <= π) with exp([w]x) = R, exact up to and at π."""
    w, *xyz = quaternion_from_rotation(rotation, check=False)
    vector = np.array(xyz)
    sine = float(np.linalg.norm(vector))
    if sine < 1e-12:
        return 2.0 * vector
    return (2.0 * np.arctan2(sine, w) / sine) * vector


def rotation_from_quaternion(quaternion_wxyz: ArrayLike) -> Array:
    """The rotation matrix of a unit quaternion (w x y z)."""
    w, x, y, z = np.asarray(quaternion_wxyz, dtype=np.float64)
    return np.array(
        [
            [w * w + x * x - y * y - z * z, 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)],
            [2.0 * (x * y + w * z), w * w - x * x + y * y - z * z, 2.0 * (y * z - w * x)],
            [2.0 * (x * z - w * y), 2.0 * (y * z + w * x), w * w - x * x - y * y + z * z],
        ]
    )


def quaternion_from_rotation(rotation: ArrayLike, check: bool = True) -> Array:
    """The unit quaternion (w x y z, w >= 0) of a rotation matrix.

    Of the four equivalent formulas the one with the largest divisor is used, so that no angle
    loses precision. With ``check``, anything that is not a rotation raises ``InvalidInput``.
    """
    matrix = real_array(rotation, "rotation", "Give a 3x3 rotation matrix.")
    if check:
        require_rotation(matrix)
    (xx, xy, xz), (yx, yy, yz), (zx, zy, zz) = matrix.tolist()
    squares = np.array([1.0 + xx + yy + zz, 1.0 + xx - yy - zz, 1.0 - xx + yy - zz, 1.0 - xx - yy + zz])
    largest = int(np.argmax(squares))
    root = np.sqrt(squares[largest])
    if largest == 0:
        parts = [root, (zy - yz) / root, (xz - zx) / root, (yx - xy) / root]
    elif largest == 1:
        parts = [(zy - yz) / root, root, (xy + yx) / root, (xz + zx) / root]
    elif largest == 2:
        parts = [(xz - zx) / root, (xy + yx) / root, root, (yz + zy) / root]
    else:
        parts = [(yx - xy) / root, (xz + zx) / root, (yz + zy) / root, root]
    quaternion = np.array(parts)
    quaternion /= np.linalg.norm(quaternion)
    return quaternion if quaternion[0] >= 0.0 else -quaternion


def require_rotation(matrix: Array) -> None:
    """Raise ``InvalidInput`` unless ``matrix`` is 3x3, orthonormal and right-handed."""
    if matrix.shape != (3, 3):
        raise InvalidInput("rotation", f"has shape {matrix.shape}", "Give a 3x3 rotation matrix.")
    if not np.isfinite(matrix).all():
        raise InvalidInput("rotation", "holds a value that is not finite")
    deviation = float(np.abs(matrix.T @ matrix - np.eye(3)).max())
    if deviation > ROTATION_TOLERANCE:
        raise InvalidInput(
            "rotation",
            f"is not orthonormal: RᵀR differs from the identity by {deviation:.3g}",
            "Give a rotation matrix without scale or shear.",
        )
    if np.linalg.det(matrix) < 0.0:
        raise InvalidInput("rotation", "is a reflection (determinant -1)", "Give a right-handed frame.")


def quaternion_product(left: ArrayLike, right: ArrayLike) -> Array:
    """The Hamilton product, normalised against drift."""
    aw, ax, ay, az = np.asarray(left, dtype=np.float64)
    bw, bx, by, bz = np.asarray(right, dtype=np.float64)
    product = np.array(
        [
            aw * bw - ax * bx - ay * by - az * bz,
            aw * bx + ax * bw + ay * bz - az * by,
            aw * by - ax * bz + ay * bw + az * bx,
            aw * bz + ax * by - ay * bx + az * bw,
        ]
    )
    return product / np.linalg.norm(product)


def as_pose(target: Any) -> Pose:
    """A ``Pose`` from what users have at hand: a Pose, a 4x4 matrix, or three coordinates (m)."""
    if isinstance(target, Pose):
        return target
    try:
        is_position = isinstance(target, Sequence | np.ndarray) and np.shape(target) == (3,)
    except ValueError:  # ragged, which from_matrix refuses
        is_position = False
    return Pose(target) if is_position else Pose.from_matrix(target)


def rigid_pose(value: Any, what: str) -> Pose:
    """A ``Pose`` from a Pose or a 4x4 matrix; ``InvalidInput`` names ``what`` for anything else."""
    if isinstance(value, Pose):
        return value
    try:
        return Pose.from_matrix(value)
    except InvalidInput as error:
        problem = f"is no pose ({error.what} {error.problem})"
        raise InvalidInput(what, problem, "Give a Pose or a 4x4 matrix.") from None
