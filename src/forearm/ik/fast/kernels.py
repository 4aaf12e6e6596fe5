"""The kernels' doors: compiled for this processor's width and for just the types they take."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from numba import types

from forearm.ik.fast.race import RACES
from forearm.kinematics.compiling import compiled_for
from forearm.kinematics.lanes import natural_width


def given(dimensions: int) -> types.Array:
    """An array that a kernel reads."""
    return types.Array(types.float64, dimensions, "C", readonly=True)


def filled(dimensions: int, kind: types.Type = types.float64) -> types.Array:
    """An array that a kernel writes to."""
    return types.Array(kind, dimensions, "C")


@lru_cache(maxsize=1)
def race_kernel() -> Any:
    """``race(table, target, seed, answer) -> iterations``; see ``forearm.ik.fast.race``."""
    return compiled_for(RACES[natural_width()], types.int64(given(2), given(2), given(1), filled(1)))
