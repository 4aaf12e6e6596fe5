"""Where the tip can be, and how well it can move there: a slice of the workspace by sampling."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from forearm.kinematics.chain import chain_of, forward_and_jacobian_into
from forearm.kinematics.compiling import compiled
from forearm.kinematics.forward import joint_frames
from forearm.kinematics.planar import planar_geometry
from forearm.kinematics.reach import bound_to
from forearm.robots.robot import Robot
from forearm.spatial import Array

DEFAULT_SAMPLES = 4_000_000
CHUNK = 250_000
"""Samples held in memory at a time."""


@dataclass(frozen=True, eq=False, slots=True)
class WorkspaceSlice:
    """The best manipulability found in every cell of a slice; NaN where no sample fell.

    For a planar arm the slice is its plane (x, y). For any other it is a half plane through the first
    joint's axis (distance from the axis, height along it), all turns of that joint folded into one.
    """

    kind: str
    """``"plane"`` or ``"half plane"``."""
    best: Array
    """(rows along the second coordinate, columns along the first)."""
    extent_m: tuple[float, float, float, float]
    samples: int
    seed: int


def workspace_slice(
    robot: Robot, samples: int = DEFAULT_SAMPLES, cells: int = 160, seed: int = 0
) -> WorkspaceSlice:
    """Sample joint vectors uniform in the limits and keep the best manipulability in every cell."""
    frames = joint_frames(robot, robot.home)
    origin, axis = frames[0][:3, 3], frames[0][:3, :3] @ robot.joints[0].axis
    planar = planar_geometry(robot)
    across = planar.plane_in_base if planar else frame_about(axis)
    bound = bound_to(robot, to_tip=True)
    reach = 1.05 * (bound.outer_m + float(np.linalg.norm(bound.center_in_base_m - origin)))
    extent = (-reach if planar else 0.0, reach, -reach, reach)
    best = np.full((cells, cells if planar else cells // 2), -np.inf)

    generator = np.random.default_rng(seed)
    lower = np.where(np.isfinite(robot.lower), robot.lower, -np.pi)
    upper = np.where(np.isfinite(robot.upper), robot.upper, np.pi)
    rows = 3 if robot.task == "position" else 6
    for start in range(0, samples, CHUNK):
        count = min(CHUNK, samples - start)
        points, measure = np.empty((count, 3)), np.empty(count)
        postures = generator.uniform(lower, upper, (count, robot.dof))
        sample_into(chain_of(robot), postures, rows, points, measure)
        local = (points - origin) @ across
        first = local[:, 0] if planar else np.hypot(local[:, 0], local[:, 1])
        second = local[:, 1] if planar else local[:, 2]
        column = ((first - extent[0]) / (extent[1] - extent[0]) * best.shape[1]).astype(int)
        row = ((second - extent[2]) / (extent[3] - extent[2]) * best.shape[0]).astype(int)
        np.maximum.at(best, (row, column), measure)
    best[~np.isfinite(best)] = np.nan
    return WorkspaceSlice("plane" if planar else "half plane", best, extent, samples, seed)


def frame_about(axis: Array) -> Array:
    """Columns: two directions across ``axis``, then the axis."""
    x = np.eye(3)[int(np.argmin(np.abs(axis)))]
    x = x - axis * (axis @ x)
    x /= np.linalg.norm(x)
    return np.column_stack([x, np.cross(axis, x), axis])


@compiled
def sample_into(chain, postures, rows, points, measure):
    """Tip position and manipulability of every posture."""
    n = postures.shape[1]
    transform, jacobian = np.empty((4, 4)), np.empty((6, n))
    size = min(rows, n)
    gram = np.empty((size, size))
    for k in range(postures.shape[0]):
        forward_and_jacobian_into(chain, postures[k], transform, jacobian)
        for i in range(3):
            points[k, i] = transform[i, 3]
        measure[k] = manipulability_of(jacobian, rows, gram)


@compiled
def manipulability_of(jacobian, rows, gram):
    """sqrt(det(J Jᵀ)), or sqrt(det(JᵀJ)) for tall J, by Cholesky's pivots: their product is det."""
    n = jacobian.shape[1]
    tall = rows > n
    size = gram.shape[0]
    for i in range(size):
        for j in range(i + 1):
            total = 0.0
            if tall:
                for k in range(rows):
                    total += jacobian[k, i] * jacobian[k, j]
            else:
                for k in range(n):
                    total += jacobian[i, k] * jacobian[j, k]
            gram[i, j] = total
    product = 1.0
    for i in range(size):
        for j in range(i):
            for k in range(j):
                gram[i, j] -= gram[i, k] * gram[j, k]
            gram[i, j] /= gram[j, j]
            gram[i, i] -= gram[i, j] * gram[i, j]
        if gram[i, i] <= 0.0:
            return 0.0
        gram[i, i] = math.sqrt(gram[i, i])
        product *= gram[i, i]
    return product
