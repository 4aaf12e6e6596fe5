"""The tool into the vibrating hole, over difficulties, seeds and controllers."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

from forearm.arguments import positive, seed_number
from forearm.errors import InvalidInput, shown, unknown_unless_in
from forearm.evidence.record import Record
from forearm.sweep._calls import Row
from forearm.sweep._grid import LARGEST, MOST_VALUES, grid
from forearm.sweep._insertion import record_of
from forearm.sweep._settings import settings_of
from forearm.sweep._trials import checked_row, lost_row

__all__ = ["checked_row", "lost_row"]

TITLE = "Insertion into a vibrating hole, over difficulties, seeds and controllers"
DIFFICULTIES, TRIALS, ARM = "0.1:0.9:0.1", 10, "mini_arm"
MOST_TRIALS = 100_000
MOST_SEED = 2**31


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """None has a default here, so that a resumed sweep tells what was given from what was not."""

    def add(option: str, **about: Any) -> None:
        parser.add_argument(option, default=argparse.SUPPRESS, **about)

    add(
        "--difficulty",
        type=grid,
        metavar="START:STOP:STEP",
        help=f"stop included; or numbers with commas between them (default {DIFFICULTIES})",
    )
    add("--trials", type=positive, help=f"trials of each controller at each difficulty (default {TRIALS})")
    add(
        "--controller",
        action="append",
        metavar="NAME",
        help="which, may be given several times (default all)",
    )
    add("--first-seed", type=seed_number, help="seed of the first trial at each difficulty (default 0)")
    add("--arm", help=f"which arm (default {ARM})")
    add("--perturb", action="append", metavar="NAME=VALUE", help="make it harder, as in `forearm run insert`")


def options_from(args: argparse.Namespace) -> dict[str, Any]:
    """Those that were given."""
    from forearm.tasks._perturb import parse_perturbations
    from forearm.tasks.insert import PERTURBATIONS

    words = vars(args)
    named = {
        "difficulties": words.get("difficulty"),
        "trials": words.get("trials"),
        "controllers": words.get("controller"),
        "first_seed": words.get("first_seed"),
        "arm": words.get("arm"),
        "perturb": parse_perturbations(words["perturb"], PERTURBATIONS) if "perturb" in words else None,
    }
    return {name: value for name, value in named.items() if value is not None}


def default_options() -> dict[str, Any]:
    from forearm.tasks.insert import controller_names

    return {
        "difficulties": grid(DIFFICULTIES),
        "trials": TRIALS,
        "controllers": list(controller_names()),
        "first_seed": 0,
        "arm": ARM,
        "perturb": {},
    }


def checked(options: Mapping[str, Any]) -> dict[str, Any]:
    """All options, each of its kind; raises ``InvalidInput`` or ``UnknownName``."""
    from forearm.tasks._perturb import checked_perturbations
    from forearm.tasks.insert import PERTURBATIONS, arm_names, controller_names

    difficulties = [finite(value) for value in listed("difficulties", options, (float, int))]
    controllers = listed("controllers", options, (str,))
    for name in controllers:
        unknown_unless_in("controller", name, controller_names())
    unknown_unless_in("arm", options["arm"], arm_names())
    good = {
        "difficulties": difficulties,
        "trials": whole("trials", options, 1, MOST_TRIALS),
        "controllers": controllers,
        "first_seed": whole("first_seed", options, 0, MOST_SEED),
        "arm": options["arm"],
        "perturb": checked_perturbations(options["perturb"], PERTURBATIONS),
    }
    count = good["trials"] * len(difficulties) * len(controllers)
    if count > MOST_TRIALS:
        raise InvalidInput("the sweep", f"would be {count} trials", f"Ask for at most {MOST_TRIALS}.")
    return good


def listed(name: str, options: Mapping[str, Any], kinds: tuple[type, ...]) -> list[Any]:
    """The option, if it is a list of different values of these kinds."""
    values = options[name]
    if not isinstance(values, list) or not 0 < len(values) <= MOST_VALUES:
        raise InvalidInput(name, f"are {shown(values)}", f"Give a list of up to {MOST_VALUES}.")
    for value in values:
        if not isinstance(value, kinds) or isinstance(value, bool):
            raise InvalidInput(name, f"hold {shown(value)}")
        if values.count(value) > 1:
            raise InvalidInput(name, f"hold {shown(value)} twice", "Give it once.")
    return values


def finite(value: float) -> float:
    # Written so that a NaN fails.
    if not abs(value) <= LARGEST:
        raise InvalidInput("difficulties", f"hold {shown(value)}")
    return float(value)


def whole(name: str, options: Mapping[str, Any], least: int, most: int) -> int:
    value = options[name]
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        raise InvalidInput(name, f"is {shown(value)}", f"Give a whole number from {least} to {most}.")
    return value


def jobs(options: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Every controller meets the same boxes: their seeds are the same."""
    seeds = range(options["first_seed"], options["first_seed"] + options["trials"])
    return [
        {
            "controller": controller,
            "difficulty": difficulty,
            "seed": seed,
            "arm": options["arm"],
            "perturb": options["perturb"],
            "fault": "",
        }
        for controller, difficulty, seed in product(options["controllers"], options["difficulties"], seeds)
    ]


def name_of(job: Mapping[str, Any]) -> str:
    return f"{job['controller']}-d{job['difficulty']!r}-s{job['seed']}"


def run_job(job: Mapping[str, Any], folder: Path) -> Row:
    from forearm.tasks.insert import trial_row

    return trial_row(job, folder)


def settings(rows: Sequence[Row]) -> list[dict[str, Any]]:
    return settings_of(rows)


def record(options: Mapping[str, Any], rows: Sequence[Row]) -> Record:
    return record_of(TITLE, options, rows)
