"""How closely two sides must agree, and why."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from forearm.spatial import Array


@dataclass(frozen=True, slots=True)
class Bars:
    """Tolerances for two sides made from one description: rounding is all that may differ."""

    length_m: float = 1e-12
    angle_rad: float = 1e-12
    jacobian: float = 1e-10
    limits: float = 1e-12
    mass_kg: float = 1e-9
    dynamics: float = 1e-9
    """For mass matrix, gravity, bias, inverse and forward dynamics, in their SI units."""
    relative: float = 1e-13
    """The bar grows to this part of the largest value compared, for arms large or heavy enough."""

    def scaled(self, bar: float, *values: Array) -> float:
        largest = max((float(np.abs(value).max(initial=0.0)) for value in values), default=0.0)
        return max(bar, self.relative * largest) if np.isfinite(largest) else bar


ONE_SOURCE = Bars()

TWO_FILES = Bars(
    length_m=1e-4,
    angle_rad=1e-4,
    jacobian=1e-4,
    limits=1e-4,
    mass_kg=1e-4,
    dynamics=1e-4,
    relative=1e-4,
)
"""For two files written apart: 1.5708 for π/2 in one of them is 4e-6 rad off, a joint at a time."""

DIFFERENCES = 1e-6
"""For central differences of FK, and of the mass matrix in Ṁ - 2C."""

INVERSION = 1e-14
"""ABA solves with M: its rounding grows with the condition number, by this part of cond(M)·|qdd|."""
