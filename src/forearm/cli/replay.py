"""Run an artifact's task again and compare bit for bit, timings aside."""

from __future__ import annotations

import argparse
from pathlib import Path

MOST = 20
"""How many differences are printed."""
LONGEST = 120
"""How many characters of a value are."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", type=Path, help="an evidence folder of `forearm run`")
    parser.add_argument("--out", metavar="DIR", help="keep the second run there (default: throw it away)")
    parser.add_argument("--json", action="store_true", help="print one JSON object and nothing else")


def run(args: argparse.Namespace) -> int:
    from tempfile import TemporaryDirectory

    from forearm.cli import FAILED, PASSED, print_json
    from forearm.cli._output import say
    from forearm.tasks._runner import replay_task

    with TemporaryDirectory() as scratch:
        again, found = replay_task(args.folder, args.out or scratch)
    if args.json:
        print_json(
            {
                "outcome": "failed" if found else "passed",
                "identical": not found,
                "differences": [difference._asdict() for difference in found],
                "artifact": str(again) if args.out else None,
            }
        )
    elif found:
        say(f"{len(found)} {'difference' if len(found) == 1 else 'differences'}:")
        for difference in found[:MOST]:
            first, second = (cut(value) for value in difference[1:])
            say(f"  {difference.what}: {first} became {second}")
        if len(found) > MOST:
            say(f"  and {len(found) - MOST} more")
    else:
        say("identical, bit for bit: record, tables and traces (timings aside)")
    return FAILED if found else PASSED


def cut(value: object) -> str:
    """The value's text, without its middle if it is long."""
    text = str(value)
    return text if len(text) <= LONGEST else f"{text[: LONGEST // 2]}…{text[-LONGEST // 2 :]}"
