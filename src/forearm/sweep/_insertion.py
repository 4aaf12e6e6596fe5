"""The record of an insertion sweep, made from its rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from forearm.evidence.record import SHARE, Metric, Outcome, Record
from forearm.sweep._calls import Row
from forearm.sweep._goals import goals_for, reported
from forearm.sweep._settings import grouped, setting_of, settings_of, shown_settings, there
from forearm.sweep._statistics import largest, percentile

MOST_FAILURES = 20
"""So many failed trials are told one by one."""

MEANINGS = {
    "success_rate": (SHARE, "{of}: trials that inserted the tool"),
    "least_success_rate": (SHARE, "{of}: the same in its worst setting"),
    "mean_time_s": ("s", "{of}: mean time of the trials that did"),
    "p95_time_s": ("s", "{of}: 95th percentile of these times"),
    "peak_force_p95_n": ("N", "{of}: 95th percentile of the trials' largest contact force"),
    "deepest_sink_m": ("m", "{of}: deepest that the tool sank into the box"),
    "recoveries": ("", "{of}: times that it backed out and tried again"),
    "step_p99_us": ("µs", "{of}: 99th percentile of a control step's time, in its slowest trial"),
    "time_ratio": ("", "{of}: a trial's time over that of its bare simulation, median"),
}
OVERALL = ("success_rate", "mean_time_s")
"""Told of the whole sweep as well."""


def record_of(title: str, options: Mapping[str, Any], rows: Sequence[Row]) -> Record:
    by_controller = grouped(rows, lambda row: row["controller"])
    metrics = list(overall(rows))
    for controller, mine in by_controller.items():
        metrics += metrics_of(controller, mine, options)
    judged = [row for row in rows if goals_for(row["controller"], options)]
    missed = [metric for metric in metrics if metric.passed is False]
    return Record(
        kind="sweep.insert",
        title=title,
        summary=summary(by_controller, options),
        outcome=Outcome.FAILED if missed else Outcome.PASSED,
        metrics=tuple(metrics),
        inputs={"arm": options["arm"]},
        failures=[*missed_goals(missed), *failed_trials(judged)],
        tables={
            f"{controller}, by difficulty": shown_settings(settings_of(mine))
            for controller, mine in by_controller.items()
        },
    )


def overall(rows: Sequence[Row]) -> Iterator[Metric]:
    for name, value in measured(rows).items():
        if name in OVERALL:
            unit, meaning = MEANINGS[name]
            yield Metric(name, value, unit, meaning.format(of="all trials"))


def metrics_of(controller: str, rows: Sequence[Row], options: Mapping[str, Any]) -> Iterator[Metric]:
    goals = goals_for(controller, options)
    for name, value in measured(rows).items():
        unit, meaning = MEANINGS[name]
        goal = goals.get(name)
        yield Metric(
            f"{name}_{controller}",
            value,
            unit,
            meaning.format(of=controller),
            reported(controller, name, options),
            goal and goal.text,
            goal and goal.holds(value),
        )


def measured(rows: Sequence[Row]) -> dict[str, float | int | None]:
    """All that is measured of some trials, in the order in which it is told."""
    whole = setting_of("", 0.0, rows)
    rates = [setting["success_rate"] for setting in settings_of(rows)]
    return {
        "success_rate": whole["success_rate"],
        "least_success_rate": min(rates),
        "mean_time_s": whole["mean_time_s"],
        "p95_time_s": whole["p95_time_s"],
        "peak_force_p95_n": whole["peak_force_p95_n"],
        "deepest_sink_m": whole["deepest_sink_m"],
        "recoveries": whole["recoveries"],
        "step_p99_us": largest(there(rows, "step_p99_us")),
        "time_ratio": percentile(there(rows, "time_ratio"), 50.0),
    }


def summary(by_controller: Mapping[str, Sequence[Row]], options: Mapping[str, Any]) -> str:
    difficulties = options["difficulties"]
    ends = sorted({min(difficulties), max(difficulties)})
    each = "1 trial" if options["trials"] == 1 else f"{options['trials']} trials"
    found = [f"{each} at each difficulty, {' to '.join(f'{end:g}' for end in ends)}."]
    if options["perturb"]:
        told = ", ".join(f"{name} {value:g}" for name, value in options["perturb"].items())
        found.append(f"Perturbed: {told}.")
    for controller, rows in by_controller.items():
        whole = setting_of(controller, 0.0, rows)
        mean = f", {whole['mean_time_s']:.3g} s on average" if whole["successes"] else ""
        found.append(f"{controller}: {whole['successes']} of {whole['trials']} inserted{mean}.")
    return " ".join(found)


def missed_goals(missed: Sequence[Metric]) -> Iterator[dict[str, str]]:
    for metric in missed:
        text = f"{metric.meaning}: {metric.shown}, must hold: {metric.bar}"
        yield {"label": "evaluation", "text": text}


def failed_trials(rows: Sequence[Row]) -> Iterator[dict[str, str]]:
    """The failed trials of controllers that have goals; the others' failures stand in the tables alone."""
    failed = [row for row in rows if not row["success"]]
    for row in failed[:MOST_FAILURES]:
        yield {"label": row["label"], "text": f"{row['trial']}: {row['failure']}"}
    if len(failed) > MOST_FAILURES:
        yield {"label": "evaluation", "text": f"{len(failed) - MOST_FAILURES} more trials failed."}
