"""Arithmetic on intervals: what is computed of them holds for every number in them.

Bounds are not rounded outward. Whoever starts from intervals much wider than rounding need not care.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

TURN = 2.0 * math.pi


@dataclass(frozen=True, slots=True)
class Interval:
    """All numbers from ``low`` to ``high``."""

    low: float
    high: float

    def __add__(self, other: Interval | float) -> Interval:
        o = interval(other)
        return Interval(self.low + o.low, self.high + o.high)

    def __neg__(self) -> Interval:
        return Interval(-self.high, -self.low)

    def __sub__(self, other: Interval | float) -> Interval:
        o = interval(other)
        return Interval(self.low - o.high, self.high - o.low)

    def __rsub__(self, other: float) -> Interval:
        return interval(other) - self

    def __mul__(self, other: Interval | float) -> Interval:
        o = interval(other)
        products = (self.low * o.low, self.low * o.high, self.high * o.low, self.high * o.high)
        return Interval(min(products), max(products))

    __radd__ = __add__
    __rmul__ = __mul__

    @property
    def width(self) -> float:
        return self.high - self.low

    @property
    def middle(self) -> float:
        return 0.5 * (self.low + self.high)

    def __contains__(self, number: float) -> bool:
        return self.low <= number <= self.high

    def squared(self) -> Interval:
        ends = (self.low**2, self.high**2)
        return Interval(0.0 if 0.0 in self else min(ends), max(ends))

    def root(self) -> Interval:
        """The square root of what of it is not negative."""
        return Interval(math.sqrt(max(0.0, self.low)), math.sqrt(max(0.0, self.high)))

    def over(self, positive: Interval) -> Interval:
        """The quotient with numbers above zero."""
        return self * Interval(1.0 / positive.high, 1.0 / positive.low)


WHOLE_TURN = Interval(-math.pi, math.pi)
"""Any angle."""


def interval(number: Interval | float) -> Interval:
    return number if isinstance(number, Interval) else Interval(float(number), float(number))


def cosine(angle: Interval) -> Interval:
    if angle.width >= TURN:
        return Interval(-1.0, 1.0)
    ends = (math.cos(angle.low), math.cos(angle.high))
    # The nearest even and odd half turns at or above the low end.
    crest = math.ceil(angle.low / TURN) * TURN
    trough = math.ceil((angle.low - math.pi) / TURN) * TURN + math.pi
    return Interval(
        -1.0 if trough <= angle.high else min(ends),
        1.0 if crest <= angle.high else max(ends),
    )


def sine(angle: Interval) -> Interval:
    return cosine(angle - 0.5 * math.pi)


def arc_cosine(ratio: Interval) -> Interval | None:
    """The angle in [0, π]; None if no number of ``ratio`` is a cosine."""
    if ratio.low > 1.0 or ratio.high < -1.0:
        return None
    return Interval(math.acos(min(1.0, ratio.high)), math.acos(max(-1.0, ratio.low)))


def direction(y: Interval, x: Interval) -> Interval:
    """atan2(y, x), in one piece; any angle where both may be zero."""
    if 0.0 in y and 0.0 in x:
        return WHOLE_TURN
    # A box without the origin is seen under less than half a turn, between two of its corners.
    middle = math.atan2(y.middle, x.middle)
    aside = [
        math.remainder(math.atan2(b, a) - middle, TURN) for a in (x.low, x.high) for b in (y.low, y.high)
    ]
    return Interval(middle + min(aside), middle + max(aside))
