"""Run a task over settings and seeds, on several cores or on Ray, and keep the evidence."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from forearm.sweep._run import Finished

NEWEST = object()


def add_arguments(parser: argparse.ArgumentParser) -> None:
    from forearm.arguments import positive
    from forearm.cli._parsers import add_verbs, existing_folder, folder_to_write
    from forearm.sweep import sweep_module, sweep_names

    sweeps = parser.add_subparsers(title="sweeps", dest="sweep", metavar="SWEEP", required=True)
    for sweep in add_verbs(sweeps, {name: sweep_module(name) for name in sweep_names()}).values():
        sweep.add_argument("--workers", type=positive, help="trials at the same time (default one a core)")
        sweep.add_argument(
            "--backend", choices=("local", "ray"), default="local", help="who runs them (default local)"
        )
        sweep.add_argument(
            "--resume",
            nargs="?",
            type=existing_folder,
            const=NEWEST,
            metavar="DIR",
            help="go on with an unfinished sweep; without DIR the newest one with the same options",
        )
        sweep.add_argument(
            "--out", type=folder_to_write, default="runs", metavar="DIR", help="parent of the artifact"
        )
        sweep.add_argument("--json", action="store_true", help="print one JSON object and nothing else")


def run(args: argparse.Namespace) -> int:
    import shlex

    from forearm.cli import FAILED, PASSED, print_json
    from forearm.cli._table import print_metrics
    from forearm.evidence.record import Outcome
    from forearm.sweep._run import Interrupted

    try:
        folder, record, settings = finished(args)
    except Interrupted as stop:
        again = f"forearm sweep {args.sweep} --resume {shlex.quote(str(stop.folder))}"
        raise KeyboardInterrupt(f"go on with: {again}") from stop
    if args.json:
        metrics = {metric.name: metric.value for metric in record.metrics}
        print_json({"outcome": record.outcome, "metrics": metrics, "rows": settings, "artifact": str(folder)})
    else:
        print_metrics(record, folder)
    return PASSED if record.outcome is Outcome.PASSED else FAILED


def finished(args: argparse.Namespace) -> Finished:
    from forearm.ik.threads import available_cores
    from forearm.sweep import sweep_module
    from forearm.sweep._resume import newest_unfinished
    from forearm.sweep._run import all_options, resume_sweep, run_sweep

    module = sweep_module(args.sweep)
    given, workers = module.options_from(args), args.workers or available_cores()
    if args.resume is None:
        return run_sweep(module, given, args.out, workers, args.backend)
    folder = args.resume
    if folder is NEWEST:
        folder = newest_unfinished(module, all_options(module, given), args.out)
    return resume_sweep(module, folder, given, workers, args.backend)
