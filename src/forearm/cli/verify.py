"""Cross-check an arm: our chain, Pinocchio and MuJoCo must agree.

Compares frames, Jacobians, limits, masses and torques at named and random postures. With --urdf and
--mjcf each engine reads its own file. Exit code 1 names the quantity that disagrees first, and where.
"""

from __future__ import annotations

import argparse
from dataclasses import replace

from forearm.arguments import positive, seed_number
from forearm.cli import FAILED, PASSED, print_json
from forearm.cli._output import printable, say
from forearm.cli._parsers import existing_folder
from forearm.dynamics.samples import SAMPLES, SEED
from forearm.dynamics.verification import Verification
from forearm.errors import InvalidInput
from forearm.robots.load import load


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("robot", nargs="?", help="a bundled arm, a URDF or an MJCF file")
    parser.add_argument("--urdf", metavar="FILE", help="a URDF, read by Pinocchio itself")
    parser.add_argument("--mjcf", metavar="FILE", help="an MJCF of the same arm, read by MuJoCo itself")
    parser.add_argument("--base", metavar="LINK", help="where the chain starts")
    parser.add_argument("--tip", metavar="LINK", help="where the chain ends")
    parser.add_argument(
        "--assets", type=existing_folder, metavar="FOLDER", help="a wider folder that the files may read from"
    )
    parser.add_argument(
        "--samples", type=positive, default=SAMPLES, help="random postures (default %(default)s)"
    )
    parser.add_argument("--seed", type=seed_number, default=SEED, help="their seed (default %(default)s)")
    parser.add_argument("--json", action="store_true", help="print one JSON object and nothing else")


def run(args: argparse.Namespace) -> int:
    verification = verified(args)
    if args.json:
        print_json({"outcome": "passed" if verification.passed else "failed", **verification.to_dict()})
    else:
        shown = with_printable_names(verification)
        say(*shown.table().splitlines(), "", shown.summary())
    return PASSED if verification.passed else FAILED


def with_printable_names(verification: Verification) -> Verification:
    """A row's places are names of links and joints, as the files have them."""
    rows = tuple(
        replace(
            row,
            where=printable(row.where),
            posture=printable(row.posture),
            worst_at=printable(row.worst_at),
            skipped=printable(row.skipped),
        )
        for row in verification.rows
    )
    return replace(verification, robot=printable(verification.robot), rows=rows)


def verified(args: argparse.Namespace) -> Verification:
    # Imported here, since both engines are large and the other verbs' start should not wait for them.
    from forearm.dynamics.pair import verify_pair
    from forearm.dynamics.verify import verify

    if args.urdf is None and args.mjcf is None:
        if args.robot is None:
            raise InvalidInput("robot", "is missing", "Name one, or give --urdf FILE, --mjcf FILE or both.")
        robot = load(args.robot, base=args.base, tip=args.tip, assets=args.assets)
        return verify(robot, args.samples, args.seed)
    if args.robot is not None:
        raise InvalidInput("robot", "is given beside --urdf or --mjcf", "Give one or the other.")
    return verify_pair(
        args.urdf,
        args.mjcf,
        base=args.base,
        tip=args.tip,
        assets=args.assets,
        samples=args.samples,
        seed=args.seed,
    )
