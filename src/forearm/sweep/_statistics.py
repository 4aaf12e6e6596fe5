"""What a handful of trials says: rates with their uncertainty, and times of those that there are."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

CONFIDENT = 1.959963984540054
"""The standard normal's 97.5 % quantile: 95 % lie within it on both sides."""


def wilson(successes: int, trials: int, z: float = CONFIDENT) -> tuple[float, float]:
    """Wilson's interval of a share: (p + z²/2n ± z √(p(1 - p)/n + z²/4n²)) / (1 + z²/n), p = successes/n.

    Unlike p ± z √(p(1 - p)/n) it says something where all or none succeeded.
    """
    if not trials:
        return 0.0, 1.0
    share, turn = successes / trials, z * z / trials
    middle = (share + turn / 2.0) / (1.0 + turn)
    half = z * math.sqrt(share * (1.0 - share) / trials + turn / (4.0 * trials)) / (1.0 + turn)
    # Of none or all, rounding would leave a bound beside 0 or 1.
    return (middle - half if successes else 0.0), (middle + half if successes < trials else 1.0)


def mean(values: Sequence[float]) -> float | None:
    return float(np.mean(values)) if values else None


def percentile(values: Sequence[float], percent: float) -> float | None:
    """Between neighbours in a straight line; None of nothing."""
    return float(np.percentile(values, percent)) if values else None


def largest(values: Sequence[float]) -> float | None:
    return max(values, default=None)
