"""Rebuild an artifact's report from its files alone."""

from __future__ import annotations

import argparse
from pathlib import Path


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", type=Path, help="an evidence folder")
    parser.add_argument("--json", action="store_true", help="print the record instead of the report's path")


def run(args: argparse.Namespace) -> int:
    from forearm.cli import FAILED, PASSED, print_json
    from forearm.cli._output import say, warn
    from forearm.evidence.record import Outcome, read_record
    from forearm.evidence.report import build_report

    record = read_record(args.folder)
    path = build_report(args.folder)
    if args.json:
        print_json({**record.to_json(), "report": str(path)})
    else:
        say(str(path))
    if record.outcome is Outcome.INTERRUPTED:
        warn("the run was cut short: the report shows how far it came")
        return FAILED
    return PASSED
