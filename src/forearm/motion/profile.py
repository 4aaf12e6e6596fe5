"""Profiles: how s goes from 0 to 1 in time, with both derivatives, from rest to rest."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from forearm.errors import InvalidInput, unknown_unless_in
from forearm.spatial import Array


class ProfilePoints(NamedTuple):
    """s and its first two derivatives by time, (n,) each."""

    s: Array
    first: Array
    second: Array


class Profile(Protocol):
    @property
    def duration_s(self) -> float: ...

    def at(self, times_s: Array) -> ProfilePoints:
        """The profile at times in [0, duration]; before and after, it rests.

        Where the second derivative jumps it is the one that follows: what a controller needs from this
        tick to the next. At the end itself it is zero.
        """
        ...


@dataclass(frozen=True, slots=True)
class Polynomial:
    """s(t) = Σ c_k (t/T)^k."""

    coefficients: tuple[float, ...]
    duration_s: float

    def at(self, times_s: Array) -> ProfilePoints:
        u, moves = share_of_time(times_s, self.duration_s)
        curve = np.polynomial.Polynomial(self.coefficients)
        speed, acceleration = curve.deriv(), curve.deriv(2)
        return ProfilePoints(
            curve(u), moves * speed(u) / self.duration_s, moves * acceleration(u) / self.duration_s**2
        )


def cubic(duration_s: float) -> Polynomial:
    """3u² - 2u³: at rest at both ends, with a jump of acceleration there."""
    return Polynomial((0.0, 0.0, 3.0, -2.0), checked_duration(duration_s))


def quintic(duration_s: float) -> Polynomial:
    """10u³ - 15u⁴ + 6u⁵: at rest and without acceleration at both ends. Peak speed is 15/8 of the mean."""
    return Polynomial((0.0, 0.0, 0.0, 10.0, -15.0, 6.0), checked_duration(duration_s))


@dataclass(frozen=True, slots=True)
class Trapezoid:
    """Even acceleration, even speed, even deceleration; ``ramp`` is the share of time of each ramp."""

    duration_s: float
    ramp: float = 0.25

    def at(self, times_s: Array) -> ProfilePoints:
        u, moves = share_of_time(times_s, self.duration_s)
        top = 1.0 / (1.0 - self.ramp)
        rises, falls = u < self.ramp, u >= 1.0 - self.ramp
        rest = 1.0 - u
        s = np.where(rises, 0.5 * top * u**2 / self.ramp, top * (u - 0.5 * self.ramp))
        s = np.where(falls, 1.0 - 0.5 * top * rest**2 / self.ramp, s)
        speed = top * np.where(rises, u / self.ramp, np.where(falls, rest / self.ramp, 1.0))
        sense = np.where(rises, 1.0, np.where(falls, -1.0, 0.0)) * moves
        return ProfilePoints(s, speed / self.duration_s, sense * top / self.ramp / self.duration_s**2)


def trapezoid(duration_s: float, ramp: float = 0.25) -> Trapezoid:
    """A trapezoid of speed. ``ramp`` in (0, 0.5]: 0.5 has no even speed at all."""
    if not 0.0 < ramp <= 0.5:
        raise InvalidInput("ramp", f"is {ramp}", "Give a share of the time in (0, 0.5].")
    return Trapezoid(checked_duration(duration_s), ramp)


PROFILES: dict[str, Callable[[float], Profile]] = {"cubic": cubic, "quintic": quintic, "trapezoid": trapezoid}


def profile(name: str, duration_s: float) -> Profile:
    """The profile called ``name``."""
    unknown_unless_in("profile", name, tuple(PROFILES))
    return PROFILES[name](duration_s)


def share_of_time(times_s: Array, duration_s: float) -> tuple[Array, Array]:
    """Time as a share of the duration, kept within [0, 1], and where the motion lasts: [0, duration)."""
    u = np.asarray(times_s, dtype=np.float64) / duration_s
    return np.clip(u, 0.0, 1.0), (u >= 0.0) & (u < 1.0)


def checked_duration(duration_s: float) -> float:
    if not (np.isfinite(duration_s) and duration_s > 0.0):
        raise InvalidInput("duration_s", f"is {duration_s}", "Give a positive number of seconds.")
    return float(duration_s)
