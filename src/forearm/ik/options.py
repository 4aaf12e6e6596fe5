"""Checks of the options that solvers share; each raises ``InvalidInput`` in the option's name."""

from __future__ import annotations

import math
from numbers import Integral, Real

from forearm.errors import InvalidInput, shown


def positive(name: str, value: object, most: float = math.inf) -> float:
    """A number above zero and up to ``most``, which infinity is unless ``most`` says otherwise."""
    # Written so that a NaN fails.
    if isinstance(value, bool) or not isinstance(value, Real) or not 0.0 < float(value) <= most:
        up_to = "" if math.isinf(most) else f" of at most {most:.6g}"
        raise InvalidInput(name, f"is {given(value)}", f"Give a positive number{up_to}.")
    return float(value)


def step_length(name: str, value: object) -> float:
    """A number in (0, 1]."""
    try:
        return positive(name, value, 1.0)
    except InvalidInput as error:
        raise InvalidInput(name, error.problem, "Give a step length in (0, 1].") from None


def count(name: str, value: object) -> int:
    """A whole number, 1 or more."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < 1:
        raise InvalidInput(name, f"is {given(value)}", "Give a whole number, 1 or more.")
    return int(value)


def switch(name: str, value: object) -> bool:
    """True or False."""
    if not isinstance(value, bool):
        raise InvalidInput(name, f"is {given(value)}", "Give True or False.")
    return value


def given(value: object) -> str:
    return str(value) if isinstance(value, Real) else shown(value)
