"""Where on its way a motion is at a tick, said so that a person finds it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from forearm.motion.follow import JUMP_RAD_PER_MM, JUMP_RAD_PER_RAD
from forearm.motion.reference import JointReference, TipReference
from forearm.spatial import Array


class Place(NamedTuple):
    """A tick, and where on the path it lies."""

    tick: int
    time_s: float
    segment: int | None
    """From 0; None if only joints are known."""
    segment_count: int
    fraction: float
    """How much of the segment's length lies behind; of the whole time if only joints are known."""

    def __str__(self) -> str:
        part = (
            f"segment {self.segment + 1} of {self.segment_count}"
            if self.segment is not None
            else "the motion"
        )
        return f"t = {self.time_s:.4g} s, {100.0 * self.fraction:.0f} % of {part}"


class Places:
    """Finds the place of any tick of one motion."""

    def __init__(self, joints: JointReference, tip: TipReference | None) -> None:
        self._dt_s, self._last = joints.dt_s, max(len(joints) - 1, 1)
        self._segments = None if tip is None else np.asarray(tip.segments)
        self.begins: Array = np.zeros(1, dtype=int)
        """The first tick of every segment."""
        if tip is not None:
            self.begins = np.flatnonzero(np.diff(tip.segments, prepend=-1))
            self._way = way_mm(tip)

    def at(self, tick: int) -> Place:
        time_s = self._dt_s * tick
        if self._segments is None:
            return Place(tick, time_s, None, 0, tick / self._last)
        segment = int(self._segments[tick])
        inside = np.flatnonzero(self._segments == segment)
        # A corner belongs to the segment that it begins; its way is the end of the one before it, too.
        begin, end = inside[0], min(inside[-1] + 1, len(self._way) - 1)
        length = self._way[end] - self._way[begin]
        share = (self._way[tick] - self._way[begin]) / length if length > 0.0 else 0.0
        return Place(tick, time_s, segment, int(self._segments.max()) + 1, float(share))


def way_mm(tip: TipReference) -> Array:
    """The tip's way until each tick, a turn counted as in ``jumps``: only shares of it mean anything."""
    steps_mm = 1e3 * np.linalg.norm(np.diff(tip.poses[:, :3, 3], axis=0), axis=1)
    turns = np.linalg.norm(np.diff(tip.poses[:, :3, :3], axis=0), axis=(1, 2)) / np.sqrt(2.0)
    return np.concatenate([[0.0], np.cumsum(steps_mm + turns * JUMP_RAD_PER_RAD / JUMP_RAD_PER_MM)])
