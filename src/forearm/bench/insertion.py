"""The predictive insertion against all that makes it harder, and planted faults; its time against the
best."""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from forearm.arguments import positive, seed_number
from forearm.bench import Measured
from forearm.bench._solving import judged
from forearm.errors import MissingExtra
from forearm.evidence.record import SHARE, Metric, Outcome, Record
from forearm.progress import Progress
from forearm.sim.insertion import insertion_scene
from forearm.sim.vibrating_box import Vibration
from forearm.sweep._calls import Call
from forearm.sweep._pool import on_this_machine
from forearm.sweep._settings import there
from forearm.sweep._statistics import largest, mean, percentile, wilson
from forearm.sweep._trials import lost_row
from forearm.tasks._insertion_bound import mean_bounds
from forearm.tasks._insertion_limits import speed_needed
from forearm.tasks._insertion_options import FAULTS
from forearm.tasks._insertion_trial import drawn_start
from forearm.tasks.insert import WORKPLACES, plain_row

TITLE = "The tool into the vibrating hole, under all that makes it harder"
DIFFICULTIES = (0.1, 0.3, 0.5, 0.7, 0.9)
HARDER = (1.0, 1.1, 1.2, 1.3, 1.4, 1.5)
FAULTY = (0.7, 0.8, 0.9)
"""At lower difficulties a fault need not be fatal: in 0.2 s the box then moves no farther than it can give
way."""
STARTS = 5
"""Trials for whose starts the least time is worked out."""


class Panel(NamedTuple):
    name: str
    perturb: Mapping[str, float]
    difficulties: Sequence[float] = DIFFICULTIES
    fault: str = ""
    least_rate: float | None = None
    most_mean_s: float | None = None


PANELS = (
    Panel("nothing", {}, least_rate=1.0, most_mean_s=1.5),
    Panel("noise 1 mm", {"noise": 1e-3}),
    Panel("noise 2 mm", {"noise": 2e-3}),
    Panel("delay 20 ms", {"delay": 0.02}),
    Panel("delay 40 ms", {"delay": 0.04}),
    Panel("noise 1 mm, delay 20 ms", {"noise": 1e-3, "delay": 0.02}, least_rate=0.99, most_mean_s=2.0),
    Panel("noise 2 mm, delay 40 ms", {"noise": 2e-3, "delay": 0.04}),
    Panel("dropout 30 %", {"dropout": 0.3}),
    Panel("dropout 60 %", {"dropout": 0.6}),
    Panel("arm and tool 20 % heavier", {"payload": 0.2}),
    Panel("arm and tool 20 % lighter", {"payload": -0.2}),
    Panel("friction 0.5 N·m", {"friction": 0.5}),
    Panel("friction 1 N·m", {"friction": 1.0}),
    Panel("motors 10 % too strong", {"gain": 0.1}),
    Panel("motors 10 % too weak", {"gain": -0.1}),
    Panel("torque limits halved", {"torque": 0.5}),
    Panel("play 0.5 mm", {"play": 5e-4}),
    *(Panel(f"difficulty {d:g}", {}, (d,)) for d in HARDER),
    *(Panel(f"fault: {FAULTS[name].meaning}", {}, FAULTY, name) for name in FAULTS if name),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--trials", type=positive, default=20, help="trials at each difficulty (default 20)")
    parser.add_argument("--first-seed", type=seed_number, default=0, help="seed of the first (default 0)")
    parser.add_argument("--workers", type=positive, default=2, help="processes (default 2)")
    parser.add_argument("--arm", choices=tuple(WORKPLACES), default="mini_arm", help="default mini_arm")


def measure(args: argparse.Namespace) -> Measured:
    seeds = range(args.first_seed, args.first_seed + args.trials)
    jobs = [
        (panel.name, {"controller": "predictive", "difficulty": d, "seed": seed, "arm": args.arm,
                      "perturb": dict(panel.perturb), "fault": panel.fault})
        for panel in PANELS for d in panel.difficulties for seed in seeds
    ]  # fmt: skip
    trials = [
        {"panel": name, **row}
        for (name, _), row in zip(jobs, run([job for _, job in jobs], args.workers), strict=True)
    ]
    panels = [
        panel_row(panel, [row for row in trials if row["panel"] == panel.name], args.arm) for panel in PANELS
    ]
    unperturbed = [row for row in trials if row["panel"] == PANELS[0].name]
    record = Record(
        kind="bench.insertion",
        title=TITLE,
        summary=(
            f"{args.arm}, controller predictive, {args.trials} trials at each difficulty "
            f"({', '.join(f'{d:g}' for d in DIFFICULTIES)} unless said otherwise). Times are of successful "
            "trials."
        ),
        outcome=Outcome.PASSED,
        metrics=(),
        inputs={"arm": args.arm},
        configuration={"trials": args.trials, "workers": args.workers},
        seeds={"first": args.first_seed},
    )
    metrics = [*panel_metrics(panels), *fault_metrics(trials), *bound_metrics(args.arm, seeds, unperturbed)]
    return Measured(judged(record, metrics), {"panels": panels, "trials": trials})


def run(jobs: Sequence[Mapping[str, Any]], workers: int) -> list[Mapping[str, Any]]:
    """The rows of the trials, in the jobs' order, on so many processes."""
    rows: dict[int, Mapping[str, Any]] = {}
    progress = Progress(len(jobs), "trials")
    with tempfile.TemporaryDirectory() as scratch:
        calls = [
            Call(f"{__name__}:one", job, str(Path(scratch) / str(number))) for number, job in enumerate(jobs)
        ]
        for number, done in on_this_machine(calls, workers):
            if done.error is not None:
                raise done.error
            rows[number] = done.row or lost_row(jobs[number], done.died)
            progress.at(len(rows))
    progress.end()
    return [rows[number] for number in range(len(jobs))]


def one(job: Mapping[str, Any], folder: Path) -> Mapping[str, Any]:  # noqa: ARG001 - nothing is written
    return plain_row(job)


def panel_row(panel: Panel, rows: Sequence[Mapping[str, Any]], arm: str) -> dict[str, Any]:
    done = [row for row in rows if row["success"]]
    times, forces = there(done, "time_s"), there(done, "peak_force_n")
    low, high = wilson(len(done), len(rows))
    failed = [row for row in rows if not row["success"]]
    labels = sorted({row["label"] for row in failed})
    hardest = max(panel.difficulties)
    least, most = speed_needed(insertion_scene(arm), Vibration(hardest))
    return {
        "panel": panel.name,
        "fault": panel.fault,
        "trials": len(rows),
        "success_rate": len(done) / len(rows),
        "rate_low": low,
        "rate_high": high,
        "mean_time_s": mean(times),
        "p95_time_s": percentile(times, 95.0),
        "peak_force_p95_n": percentile(forces, 95.0),
        "recoveries": sum(row["recoveries"] for row in rows),
        "peak_torque_share": largest(there(rows, "peak_torque_share")),
        "deepest_sink_m": largest(there(done, "deepest_sink_m")),
        "failures": ", ".join(f"{label}: {sum(row['label'] == label for row in failed)}" for label in labels),
        "first_failure": failed[0]["failure"] if failed else "",
        "hardest": hardest,
        "speed_needed_least": least,
        "speed_needed_most": most,
        "least_rate": panel.least_rate,
        "most_mean_s": panel.most_mean_s,
    }


def panel_metrics(panels: Sequence[Mapping[str, Any]]) -> Iterator[Metric]:
    for row in panels:
        if row["fault"]:
            continue
        rate, time_s = row["success_rate"], row["mean_time_s"]
        bar = row["least_rate"]
        yield Metric(
            f"success_rate, {row['panel']}", rate, SHARE, f"{row['panel']}: inserted", None,
            None if bar is None else f">= {100.0 * bar:g} %", None if bar is None else rate >= bar,
        )  # fmt: skip
        bar = row["most_mean_s"]
        if bar is not None:
            held = time_s is not None and time_s <= bar
            yield Metric(
                f"mean_time_s, {row['panel']}",
                time_s,
                "s",
                f"{row['panel']}: mean time",
                None,
                f"<= {bar:g} s",
                held,
            )


def fault_metrics(trials: Sequence[Mapping[str, Any]]) -> Iterator[Metric]:
    """Of each planted fault: how often it was fatal, and how often that was blamed on the right part."""
    for name, fault in FAULTS.items():
        mine = [row for row in trials if row["panel"] == f"fault: {fault.meaning}"] if name else []
        failed = [row for row in mine if not row["success"]]
        if failed:
            yield Metric(f"failed, {name}", len(failed) / len(mine), SHARE, f"{name}: trials that failed")
            right = sum(row["label"] == fault.label for row in failed) / len(failed)
            text = f"{name}: of these, labelled {fault.label}"
            yield Metric(f"labelled, {name}", right, SHARE, text, None, ">= 100 %", right >= 1.0)


def bound_metrics(arm: str, seeds: Sequence[int], rows: Sequence[Mapping[str, Any]]) -> Iterator[Metric]:
    """The least time to the plate of a box that stands still, and what the unperturbed trials took of it."""
    took = mean([row["time_s"] for row in rows if row["success"]])
    starts = [drawn_start(insertion_scene(arm), Vibration(DIFFICULTIES[0]), seed) for seed in seeds[:STARTS]]
    try:
        bounds = mean_bounds(arm, starts)
    except MissingExtra as missing:
        yield Metric("time_over_best", None, "x", f"mean time over the least possible: {missing}")
        return
    yield Metric(
        "bound_s", bounds.lower_s, "s", "box at rest, by the joints' rated speeds alone: no run is faster"
    )
    yield Metric(
        "best_s", bounds.fastest_s, "s", "box at rest, torque and speed limits: the fastest run found"
    )
    ratio = took / bounds.fastest_s if took is not None else None
    yield Metric(
        "time_over_best", ratio, "x", "mean time of the unperturbed trials over that", None, "aim: <= 2"
    )
