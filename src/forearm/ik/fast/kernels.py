"""The kernels' doors: compiled for this processor's width and for just the types they take."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from numba import types

from forearm.ik.fast.batch import BATCHES
from forearm.ik.fast.race import DIRECTS, RACES
from forearm.ik.fast.track import track
from forearm.kinematics.compiling import compiled_for, entry_of, filled, given
from forearm.kinematics.lanes import natural_width


@lru_cache(maxsize=1)
def race_kernel() -> Any:
    """``race(table, target, seed, answer) -> iterations``; see ``forearm.ik.fast.race``."""
    return compiled_for(RACES[natural_width()], types.int64(given(2), given(2), given(1), filled(1)))


@lru_cache(maxsize=1)
def direct_kernel() -> Any:
    """``direct(table, target, seed, answer) -> iterations``, entered without a look at the types."""
    matrix, vector = (types.Array(types.float64, dimensions, "A", readonly=True) for dimensions in (2, 1))
    written = types.Array(types.float64, 1, "A")
    return entry_of(compiled_for(DIRECTS[natural_width()], types.int64(given(2), matrix, vector, written)))


@lru_cache(maxsize=1)
def batch_kernel() -> Any:
    """``batch(table, targets, seeds, answers, iterations, counter)``; see ``forearm.ik.fast.batch``."""
    whole = filled(1, types.int64)
    signature = types.void(given(2), given(3), given(2), filled(2), whole, whole)
    return compiled_for(BATCHES[natural_width()], signature)


@lru_cache(maxsize=1)
def track_kernel() -> Any:
    """``track(table, most, targets, state, answers, iterations, crossed)``; see ``forearm.ik.fast.track``."""
    whole = filled(1, types.int64)
    signature = types.void(filled(2), given(1), given(3), filled(1), filled(2), whole, filled(1, types.bool_))
    return compiled_for(track, signature)
