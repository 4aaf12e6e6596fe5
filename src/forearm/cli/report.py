"""Rebuild an artifact's report from its files alone."""

from __future__ import annotations

import argparse
from pathlib import Path


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", type=Path, help="an evidence folder")
    parser.add_argument("--json", action="store_true", help="print the record instead of the report's path")


def run(args: argparse.Namespace) -> int:
    from forearm.cli import PASSED, print_json
    from forearm.cli._output import say
    from forearm.evidence.record import read_record
    from forearm.evidence.report import build_report

    path = build_report(args.folder)
    if args.json:
        print_json({**read_record(args.folder).to_json(), "report": str(path)})
    else:
        say(str(path))
    return PASSED
