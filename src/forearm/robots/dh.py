"""Joints from modified Denavit-Hartenberg rows."""

from __future__ import annotations

from collections.abc import Sequence

from forearm.spatial import Pose, rotation_x


def dh_origin(alpha_rad: float, a_m: float, d_m: float) -> Pose:
    """A joint's frame in the frame before it, at q = 0: Rot_x(alpha) · Trans_x(a) · Trans_z(d)."""
    rotation = rotation_x(alpha_rad)
    return Pose.from_rotation(rotation @ (a_m, 0.0, d_m), rotation)


def dh_origins(rows: Sequence[tuple[float, float, float]]) -> list[Pose]:
    """``dh_origin`` of every (alpha, a, d) row."""
    return [dh_origin(*row) for row in rows]
