"""The hole as a drawing would give it: what a controller may know of it before it sees it."""

from __future__ import annotations

import math
from dataclasses import dataclass

from forearm.errors import InvalidInput
from forearm.spatial import Array, Pose, rotation_y

TOOL_SIZE_M = (0.03, 0.03, 0.08)
"""The tool's two equal sides, and its length along the insertion."""
QUARTER = 0.5 * math.pi


@dataclass(frozen=True, slots=True)
class Hole:
    """A square hole in a box. The box's frame stands in the middle of the mouth; its x axis points inwards,
    y and z are parallel to the sides."""

    play_m: float = 1e-3
    """Room on each side of the tool."""
    depth_m: float = 0.05
    sensor_m: float = 0.03
    """The four position sensors lie this far from the middle along y and z, flush with the mouth, in the
    order (-y, -z), (+y, -z), (+y, +z), (-y, +z)."""

    def __post_init__(self) -> None:
        if not 1e-5 <= self.play_m <= 0.01:
            raise InvalidInput("play", f"is {self.play_m} m", "Give 1e-5 to 0.01 m.")

    @property
    def half_width_m(self) -> float:
        return 0.5 * TOOL_SIZE_M[0] + self.play_m


def tool_in_box() -> Array:
    """How the tool is turned in the box: +90° about y, so that its z axis is the box's x axis."""
    return rotation_y(QUARTER)


def tool_pose_in_box(depth_m: float) -> Pose:
    """The tool's end ``depth_m`` past the mouth, aligned."""
    return Pose.from_rotation((depth_m, 0.0, 0.0), tool_in_box())
