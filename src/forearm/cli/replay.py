"""Run an artifact's task again and compare bit for bit, timings aside."""

from __future__ import annotations

import argparse
from pathlib import Path


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", type=Path, help="an evidence folder of `forearm run`")
    parser.add_argument("--out", metavar="DIR", help="keep the second run there (default: throw it away)")
    parser.add_argument("--json", action="store_true", help="print one JSON object and nothing else")


def run(args: argparse.Namespace) -> int:
    from tempfile import TemporaryDirectory

    from forearm.cli import FAILED, PASSED, print_json
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
        print(f"{len(found)} differences:")
        for difference in found[:20]:
            print(f"  {difference.what}: {difference.first} became {difference.second}")
    else:
        print("identical, bit for bit (timings aside)")
    return FAILED if found else PASSED
