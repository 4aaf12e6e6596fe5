"""The options that the drawing tasks share."""

from __future__ import annotations

import argparse
from typing import Any

from forearm.arguments import seed_number
from forearm.tasks._perturb import PERTURBATIONS, parse_perturbations


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
    listed = "; ".join(f"{name}: {meaning}" for name, meaning in PERTURBATIONS.items())
    parser.add_argument(
        "--perturb", action="append", default=[], metavar="NAME=VALUE", help=f"make it harder. {listed}"
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
