"""A profile made of pieces of constant jerk, which is what planners of limits give back."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from forearm.motion.profile import ProfilePoints
from forearm.spatial import Array


@dataclass(frozen=True, eq=False, slots=True)
class Pieces:
    """From rest at s = 0 to rest at s = 1: s = s_k + ṡ_k τ + s̈_k τ²/2 + j_k τ³/6 from t_k on.

    Row k of each array is the start of piece k; ``starts_s`` begins at 0.
    """

    starts_s: Array
    s: Array
    first: Array
    second: Array
    jerk: Array
    duration_s: float

    def at(self, times_s: Array) -> ProfilePoints:
        times = np.asarray(times_s, dtype=np.float64)
        k = np.clip(np.searchsorted(self.starts_s, times, side="right") - 1, 0, len(self.starts_s) - 1)
        t = times - self.starts_s[k]
        s0, v0, a0, jerk = self.s[k], self.first[k], self.second[k], self.jerk[k]
        s = s0 + t * (v0 + t * (0.5 * a0 + t * jerk / 6.0))
        first = v0 + t * (a0 + 0.5 * t * jerk)
        second = a0 + t * jerk
        after = times >= self.duration_s
        moves = ~after & (times >= 0.0)
        s = np.where(after, 1.0, np.where(moves, np.clip(s, 0.0, 1.0), 0.0))
        return ProfilePoints(s, np.where(moves, np.maximum(first, 0.0), 0.0), np.where(moves, second, 0.0))

    def slowed(self, factor: float) -> Pieces:
        """The same motion, ``factor`` times as long."""
        return Pieces(
            self.starts_s * factor,
            self.s,
            self.first / factor,
            self.second / factor**2,
            self.jerk / factor**3,
            self.duration_s * factor,
        )
