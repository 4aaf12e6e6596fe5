"""The options that the drawing tasks share."""

from __future__ import annotations

import argparse
import math
from collections.abc import Mapping
from numbers import Integral
from typing import Any

import numpy as np

from forearm.arguments import seed_number
from forearm.errors import InvalidInput, shown, unknown_unless_in
from forearm.tasks._perturb import (
    PERTURBATIONS,
    Kinds,
    checked_perturbations,
    listed,
    number,
    parse_perturbations,
)


def add_drawing_arguments(
    parser: argparse.ArgumentParser,
    controller: str,
    edge_seconds: float,
    side_m: float,
    center_m: tuple[float, float, float],
) -> None:
    parser.add_argument("--controller", default=controller, help=f"which law (default {controller})")
    parser.add_argument(
        "--edge-seconds", type=float, default=edge_seconds, help=f"time of an edge (default {edge_seconds:g})"
    )
    parser.add_argument(
        "--side", type=float, default=side_m, help=f"length of an edge, m (default {side_m:g})"
    )
    parser.add_argument(
        "--center",
        type=float,
        nargs=3,
        default=center_m,
        metavar=("X", "Y", "Z"),
        help="middle of the figure, m (default {} {} {})".format(*center_m),
    )
    parser.add_argument(
        "--profile", choices=("quintic", "cubic", "trapezoid"), default="quintic", help="speed along an edge"
    )
    parser.add_argument(
        "--perturb",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help=f"make it harder. {listed(PERTURBATIONS)}",
    )
    parser.add_argument("--seed", type=seed_number, default=0, help="seed of the perturbation (default 0)")
    parser.add_argument("--force", action="store_true", help="run even if the plan check refuses")


def drawing_options(args: argparse.Namespace) -> dict[str, Any]:
    """The arguments as plain data, which a record keeps and a replay gives again."""
    return {
        "controller": args.controller,
        "edge_seconds": args.edge_seconds,
        "side_m": args.side,
        "center_m": tuple(args.center),
        "profile": args.profile,
        "perturb": parse_perturbations(args.perturb),
        "seed": args.seed,
        "force": args.force,
    }


def checked_options(
    task: str, options: Mapping[str, Any], defaults: Mapping[str, Any], kinds: Kinds = PERTURBATIONS
) -> dict[str, Any]:
    """``defaults`` with ``options`` in their place, each of its default's kind; perturbations are of
    ``kinds``.

    Raises ``UnknownName`` for an option that there is not and ``InvalidInput`` for a value of another kind.
    """
    checked = dict(defaults)
    for name, value in options.items():
        unknown_unless_in(f"option of {task}", name, tuple(defaults))
        checked[name] = like(defaults[name], name, value, kinds)
    return checked


def like(default: Any, name: str, value: Any, kinds: Kinds) -> Any:
    """``value`` if it is of the kind of ``default``, its numbers as Python's own."""
    if isinstance(default, Mapping):
        return checked_perturbations(value, kinds)
    if isinstance(default, tuple):
        return numbers(name, value, len(default))
    if isinstance(default, bool):
        good, fix = isinstance(value, bool), "Give True or False."
    elif isinstance(default, int):
        whole = isinstance(value, Integral) and not isinstance(value, bool)
        good, fix = whole and int(value) >= 0, "Give a whole number, 0 or more."
    elif isinstance(default, float):
        good, fix = math.isfinite(number(value)), "Give a number."
    else:
        good, fix = isinstance(value, str), "Give a name."
    if not good:
        raise InvalidInput(name, f"is {shown(value)}", fix)
    return type(default)(value)


def numbers(name: str, values: Any, count: int) -> tuple[float, ...]:
    plain = values.tolist() if isinstance(values, np.ndarray) else values
    found = tuple(map(number, plain)) if isinstance(plain, (list, tuple)) else ()
    if len(found) != count or not all(map(math.isfinite, found)):
        raise InvalidInput(name, f"is {shown(values)}", f"Give {count} numbers.")
    return found
