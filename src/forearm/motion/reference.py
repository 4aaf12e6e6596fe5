"""References: what a controller is to follow, tick by tick, in joints and at the tip."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from forearm.spatial import Array


@dataclass(frozen=True, eq=False, slots=True)
class TipReference:
    """The tip's motion at evenly spaced ticks, in base axes."""

    dt_s: float
    poses: Array
    """(ticks, 4, 4)"""
    twists: Array
    """(ticks, 6): linear (m/s), angular (rad/s)"""
    accelerations: Array
    """(ticks, 6)"""
    segments: Array
    """(ticks,): which segment of the route the tick lies on."""

    def __len__(self) -> int:
        return len(self.poses)


@dataclass(frozen=True, eq=False, slots=True)
class JointReference:
    """Joint motion at evenly spaced ticks."""

    dt_s: float
    q: Array
    """(ticks, n)"""
    qd: Array
    qdd: Array

    def __len__(self) -> int:
        return len(self.q)

    @property
    def times_s(self) -> Array:
        return self.dt_s * np.arange(len(self.q))
