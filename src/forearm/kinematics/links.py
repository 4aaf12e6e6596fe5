"""The chain with as little arithmetic a joint as there can be, for the fast solvers.

Each frame is turned about its joint's axis until x lies along the common normal with the next axis.
Then a link is four numbers and an angle,

    T_tip(q) = B · Π Rz(θ_i + q_i) Trans(a_i, b_i, d_i) Rx(α_i) · E

for revolute joints, with d_i + q_i in place of θ_i + q_i for prismatic ones. B and E turn (B also
shifts), and both fold into the target once a solve. It is Denavit's and Hartenberg's form, but for b_i:
the origins stay where the model has them instead of moving to the feet of the common normals, which
run off to infinity as two axes become parallel.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import numpy as np

from forearm.kinematics.chain import POSITION as CHAIN_POSITION
from forearm.kinematics.chain import SLIDES as CHAIN_SLIDES
from forearm.kinematics.chain import chain_of
from forearm.robots.robot import Robot
from forearm.spatial import Array, frozen_array

PARALLEL = 1e-15
"""Sine of the angle between two axes below which they have no common normal to speak of."""

# Columns of a link row.
THETA, A, B, D, COS, SIN, SLIDES = range(7)
LINK_COLUMNS = 7


@dataclass(frozen=True, eq=False, slots=True)
class Links:
    """The numbers of the formula above."""

    rows: Array
    """(dof, 7): θ, a, b, d, cos α, sin α, and whether the joint slides."""
    base_rotation: Array
    base_position_m: Array
    """B."""
    end_rotation: Array
    """E."""


@lru_cache(maxsize=64)
def links_of(robot: Robot, axis_in_tip: tuple[float, float, float] = (0.0, 0.0, 1.0)) -> Links:
    """The links of ``robot``, such that the last z points along ``axis_in_tip``, a unit vector."""
    frames = chain_frames(chain_of(robot))
    slides = chain_of(robot)[:-1, CHAIN_SLIDES]
    tip = frames[-1]
    axes = [*(frame[:3, 2] for frame in frames[:-1]), tip[:3, :3] @ np.array(axis_in_tip)]
    origins = [frame[:3, 3] for frame in frames]

    start = frames[0][:3, :3]
    x = start[:, 0]
    rows = np.zeros((len(slides), LINK_COLUMNS))
    for i, (z, following) in enumerate(pairwise(axes)):
        across = np.cross(z, following)
        sine = float(np.linalg.norm(across))
        normal = unit_across(across, z) if sine > PARALLEL else x
        theta = np.arctan2(np.cross(x, normal) @ z, x @ normal)
        gap = origins[i + 1] - origins[i]
        rows[i, THETA] = theta
        rows[i, A : D + 1] = gap @ normal, gap @ np.cross(z, normal), gap @ z
        angle = np.arctan2(sine if sine > PARALLEL else 0.0, z @ following)
        rows[i, COS], rows[i, SIN] = np.cos(angle), np.sin(angle)
        rows[i, SLIDES] = slides[i]
        x = normal
    last = np.column_stack([x, np.cross(axes[-1], x), axes[-1]])
    return Links(
        rows=frozen_array(rows),
        base_rotation=frozen_array(start),
        base_position_m=frozen_array(origins[0]),
        end_rotation=frozen_array(last.T @ tip[:3, :3]),
    )


def unit_across(vector: Array, axis: Array) -> Array:
    """``vector`` made perpendicular to ``axis``, from which rounding turns a short one; length 1."""
    across = vector / np.linalg.norm(vector)
    across = across - axis * (axis @ across)
    return across / np.linalg.norm(across)


def chain_frames(chain: Array) -> list[Array]:
    """The joints' frames at q = 0, then the tip's, in the base (4x4 each)."""
    frames, frame = [], np.eye(4)
    for row in chain:
        step = np.eye(4)
        step[:3, :3] = row[:CHAIN_POSITION].reshape(3, 3)
        step[:3, 3] = row[CHAIN_POSITION : CHAIN_POSITION + 3]
        frame = frame @ step
        frames.append(frame)
    return frames
