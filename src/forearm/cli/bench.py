"""Measure a panel and keep the evidence."""

from __future__ import annotations

import argparse

from forearm.bench import panel_modules
from forearm.cli._parsers import add_verbs, folder_to_write


def add_arguments(parser: argparse.ArgumentParser) -> None:
    panels = parser.add_subparsers(title="panels", dest="panel", metavar="PANEL", required=True)
    for panel in add_verbs(panels, panel_modules()).values():
        panel.add_argument(
            "--out",
            type=folder_to_write,
            default="runs",
            metavar="DIR",
            help="where the artifact goes (default runs)",
        )
        panel.add_argument("--json", action="store_true", help="print one JSON object and nothing else")


def run(args: argparse.Namespace) -> int:
    from forearm.cli import FAILED, PASSED, print_json
    from forearm.cli._table import print_metrics
    from forearm.evidence.record import Outcome
    from forearm.evidence.writer import ArtifactWriter

    module = panel_modules()[args.panel]
    with ArtifactWriter(args.out, f"bench.{args.panel}", module.TITLE) as artifact:
        measured = module.measure(args)
        for name, rows in measured.tables.items():
            artifact.write_rows(name, rows)
        folder = artifact.finish(measured.record)
    record = measured.record
    if args.json:
        metrics = {metric.name: metric.value for metric in record.metrics}
        print_json({"outcome": record.outcome, "metrics": metrics, "artifact": str(folder)})
    else:
        print_metrics(record, folder)
    return PASSED if record.outcome is Outcome.PASSED else FAILED
