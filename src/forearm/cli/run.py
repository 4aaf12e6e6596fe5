"""Run a task and keep the evidence."""

from __future__ import annotations

import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    from forearm.cli._parsers import add_verbs
    from forearm.tasks import task_module, task_names

    tasks = parser.add_subparsers(title="tasks", dest="task", metavar="TASK", required=True)
    for added in add_verbs(tasks, {name: task_module(name) for name in task_names()}).values():
        added.add_argument("--out", default="runs", metavar="DIR", help="parent of the artifact")
        added.add_argument("--video", action="store_true", help="keep a film of the run too")
        added.add_argument("--json", action="store_true", help="print one JSON object and nothing else")


def run(args: argparse.Namespace) -> int:
    from forearm.cli import FAILED, PASSED, print_json
    from forearm.cli._table import print_metrics
    from forearm.evidence.record import Outcome
    from forearm.tasks import task_module
    from forearm.tasks._runner import run_task

    folder, record = run_task(args.task, task_module(args.task).options_from(args), args.out, args.video)
    if args.json:
        metrics = {metric.name: metric.value for metric in record.metrics}
        print_json(
            {
                "outcome": record.outcome,
                "metrics": metrics,
                "failures": record.failures,
                "artifact": str(folder),
            }
        )
    else:
        print_metrics(record, folder)
    return PASSED if record.outcome is Outcome.PASSED else FAILED
