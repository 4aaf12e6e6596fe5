"""The bundled arms: every module of ``robots.bundled``, found by looking."""

from __future__ import annotations

import inspect
import math
import pkgutil
from importlib import import_module
from numbers import Real
from typing import Any

from forearm.errors import InvalidInput, UnknownName, shown, unknown_unless_in
from forearm.robots import bundled
from forearm.robots.tree import Tree


def bundled_names() -> tuple[str, ...]:
    """The names of the bundled arms, sorted."""
    return tuple(sorted(module.name for module in pkgutil.iter_modules(bundled.__path__)))


def summary(name: str) -> str:
    """One line about a bundled arm."""
    return bundled_module(name).SUMMARY


def bundled_tree(name: str, values: tuple[float, ...] = (), options: dict[str, Any] | None = None) -> Tree:
    """The bundled arm ``name``, its ``describe`` given ``values`` in order and ``options`` by name.

    Raises ``UnknownName`` for an option that the arm does not have, ``InvalidInput`` for a bad value.
    """
    describe = bundled_module(name).describe
    valid = tuple(inspect.signature(describe).parameters)
    given = dict(zip(valid, values, strict=False))
    if len(values) > len(valid):
        raise InvalidInput(name, f"is given {len(values)} numbers", f"It takes {takes(valid)}.")
    for option, value in (options or {}).items():
        if option not in valid:
            raise UnknownName(f"option of {name}", option, valid)
        if option in given:
            raise InvalidInput(f"option {option}", "is given twice")
        given[option] = value
    for option, value in given.items():
        if isinstance(value, bool) or not isinstance(value, Real) or not math.isfinite(value):
            raise InvalidInput(f"option {option} of {name}", f"is {shown(value)}", "Give a finite number.")
    return describe(**given)


def takes(valid: tuple[str, ...]) -> str:
    return ", ".join(valid) if valid else "no options"


def bundled_module(name: str) -> Any:
    unknown_unless_in("bundled arm", name, bundled_names())
    return import_module(f"{bundled.__name__}.{name}")
