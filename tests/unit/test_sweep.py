"""The parts of a sweep: grids, intervals, rows, the record that is made of rows, links."""

from __future__ import annotations

import argparse

import pytest

from forearm.errors import InvalidInput
from forearm.evidence.compare import is_timing
from forearm.evidence.record import Outcome
from forearm.evidence.tables import MANY, Link, anchor, folded_if_long, plain_table
from forearm.sweep._goals import GOALS, goals_for
from forearm.sweep._grid import MOST_VALUES, grid
from forearm.sweep._insertion import MOST_FAILURES, record_of
from forearm.sweep._settings import settings_of
from forearm.sweep._statistics import wilson
from forearm.sweep._trials import COLUMNS, checked_row, lost_row


@pytest.mark.parametrize(
    ("word", "values"),
    [
        ("0.1:0.9:0.1", [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]),
        ("0.5", [0.5]),
        ("0.5:0.5:0.1", [0.5]),
        ("0:1:0.3", [0.0, 0.3, 0.6, 0.9]),
        ("0.9,0.1:0.3:0.1,0.2", [0.9, 0.1, 0.2, 0.3]),
        ("-1:1:1", [-1.0, 0.0, 1.0]),
        ("1e-1:3e-1:1e-1", [0.1, 0.2, 0.3]),
        ("-0", [0.0]),
    ],
)
def test_a_grid_has_its_ends_and_no_dust(word, values):
    found = grid(word)
    assert list(map(repr, found)) == list(map(repr, values))


@pytest.mark.parametrize(
    ("word", "problem"),
    [
        ("", "no number"),
        ("abc", "no number"),
        ("0.1:", "is not START:STOP:STEP"),
        ("0.1:0.2:0.1:0.1", "is not START:STOP:STEP"),
        ("0.1,,0.2", "no number"),
        ("0.1:0.9:0", "step"),
        ("0.1:0.9:-0.1", "step"),
        ("0:1:1e-999999999", "step"),
        ("0.9:0.1:0.1", "ends before it starts"),
        ("nan", "no number"),
        ("0:inf:1", "no number"),
        ("1e999999999", "no number"),
        ("0:1e9:1", f"more than {MOST_VALUES}"),
        (",".join(map(str, range(MOST_VALUES + 1))), f"more than {MOST_VALUES}"),
        ("sNaN", "no number"),
        ("x" * 500, "no number"),
    ],
)
def test_what_is_no_grid_is_refused_in_one_line(word, problem):
    with pytest.raises(argparse.ArgumentTypeError, match=problem) as caught:
        grid(word)
    assert len(str(caught.value)) < 120
    assert "\n" not in str(caught.value)


def test_a_grid_may_have_as_many_values_as_it_may():
    assert len(grid(f"1:{MOST_VALUES}:1")) == MOST_VALUES


@pytest.mark.parametrize(
    ("successes", "trials", "low", "high"),
    # Newcombe, Statistics in Medicine 17 (1998), table I, method 3.
    [
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
        (20, 20, 0.8389, 1.0),
    ],
)
def test_wilsons_interval(successes, trials, low, high):
    assert wilson(successes, trials) == pytest.approx((low, high), abs=5e-5)


def test_wilsons_interval_ends_where_shares_do_and_knows_nothing_of_nothing():
    assert wilson(0, 0) == (0.0, 1.0)
    for trials in range(1, 60):
        assert wilson(0, trials)[0] == 0.0
        assert wilson(trials, trials)[1] == 1.0
        for successes in range(trials + 1):
            low, high = wilson(successes, trials)
            assert 0.0 <= low <= successes / trials <= high <= 1.0


def row(controller="predictive", difficulty=0.3, seed=0, **changes):
    made = {
        "trial": f"{controller}-d{difficulty}-s{seed}",
        "controller": controller,
        "difficulty": difficulty,
        "seed": seed,
        "success": True,
        "time_s": 1.0,
        "label": "",
        "failure": "",
        "recoveries": 0,
        "peak_force_n": 20.0,
        "peak_torque_nm": 30.0,
        "peak_torque_share": 0.5,
        "deepest_sink_m": 1e-4,
        "step_p99_us": 30.0,
        "time_ratio": 1.1,
    }
    return {**made, **changes}


def failed(label="control", **changes):
    return row(success=False, time_s=None, label=label, failure="why", **changes)


OPTIONS = {
    "difficulties": [0.3, 0.6],
    "trials": 2,
    "controllers": ["predictive"],
    "first_seed": 0,
    "arm": "mini_arm",
    "perturb": {},
}


def test_a_setting_is_of_its_trials_alone():
    rows = [
        row(time_s=1.0, peak_force_n=10.0, recoveries=1),
        row(seed=1, time_s=2.0, peak_force_n=30.0, recoveries=2, deepest_sink_m=2e-4),
        failed("state", seed=2, peak_force_n=500.0),
        row("direct", time_s=9.0),
        row(difficulty=0.6, time_s=7.0),
    ]
    first, second, third = settings_of(rows)
    assert (first["controller"], first["difficulty"]) == ("predictive", 0.3)
    assert (first["trials"], first["successes"], first["success_rate"]) == (3, 2, 2 / 3)
    assert (first["success_rate_low"], first["success_rate_high"]) == wilson(2, 3)
    assert (first["mean_time_s"], first["median_time_s"]) == (1.5, 1.5)
    assert first["p95_time_s"] == pytest.approx(1.95)
    assert first["recoveries"] == 3
    assert first["peak_force_max_n"] == 500.0
    assert first["deepest_sink_m"] == 2e-4
    assert (first["failed_state"], first["failed_control"]) == (1, 0)
    assert (second["controller"], second["mean_time_s"]) == ("direct", 9.0)
    assert (third["difficulty"], third["mean_time_s"]) == (0.6, 7.0)


def test_the_record_is_made_of_the_rows():
    rows = [
        row(time_s=1.0),
        row(seed=1, time_s=2.0),
        row(difficulty=0.6, time_s=3.0),
        failed(difficulty=0.6, seed=1),
        row("baseline", time_s=6.0),
    ]
    record = record_of("Title", OPTIONS, rows)
    assert record.value("success_rate") == 0.8
    assert record.value("mean_time_s") == 3.0
    assert record.value("success_rate_predictive") == 0.75
    assert record.value("least_success_rate_predictive") == 0.5
    assert record.value("mean_time_s_predictive") == 2.0
    assert record.value("p95_time_s_predictive") == pytest.approx(2.9)
    assert record.value("recoveries_baseline") == 0
    assert set(record.tables) == {"predictive, by difficulty", "baseline, by difficulty"}
    assert [line["inserted"] for line in record.tables["predictive, by difficulty"]] == ["2 of 2", "1 of 2"]
    sources = {metric.name: metric.source for metric in record.metrics if metric.source}
    assert sources == {
        "least_success_rate_baseline": "under 60 % in its worst settings",
        "mean_time_s_baseline": "7.28 s",
    }


GOOD = [row(), row(seed=1), row(difficulty=0.6), row(difficulty=0.6, seed=1)]


def with_column(column, value):
    return [{**each, column: value} for each in GOOD]


@pytest.mark.parametrize(
    ("rows", "missed"),
    [
        (GOOD, set()),
        ([*GOOD[:3], failed(difficulty=0.6, seed=1)], {"least_success_rate"}),
        (with_column("time_s", 1.51), {"mean_time_s"}),
        ([*GOOD[:3], row(difficulty=0.6, seed=1, time_s=2.9)], {"p95_time_s"}),
        (with_column("peak_force_n", 60.1), {"peak_force_p95_n"}),
        (with_column("deepest_sink_m", 0.31e-3), {"deepest_sink_m"}),
        (with_column("deepest_sink_m", None), {"deepest_sink_m"}),
        ([failed()], {"least_success_rate", "mean_time_s", "p95_time_s"}),
    ],
    ids=["good", "a failure", "slow", "one slow", "forceful", "sunk", "not known", "nothing"],
)
def test_every_goal_has_teeth(rows, missed):
    record = record_of("Title", OPTIONS, rows)
    assert {metric.name for metric in record.metrics if metric.passed is not None} == {
        f"{name}_predictive" for name in GOALS
    }
    assert {metric.name for metric in record.metrics if metric.passed is False} == {
        f"{name}_predictive" for name in missed
    }
    assert record.outcome is (Outcome.FAILED if missed else Outcome.PASSED)
    assert bool(record.failures) == bool(missed)


@pytest.mark.parametrize(
    "changes",
    [{"perturb": {"noise": 1e-3}}, {"difficulties": [0.5, 1.0]}],
    ids=["perturbed", "harder"],
)
def test_elsewhere_nothing_must_hold(changes):
    assert goals_for("predictive", OPTIONS)
    assert not goals_for("predictive", {**OPTIONS, **changes})
    assert not goals_for("baseline", OPTIONS)
    record = record_of("Title", {**OPTIONS, **changes}, [failed()])
    assert record.outcome is Outcome.PASSED


def test_the_baseline_alone_passes_if_it_ran():
    record = record_of("Title", OPTIONS, [failed(controller="baseline")])
    assert record.outcome is Outcome.PASSED
    assert not record.failures
    assert record.value("mean_time_s_baseline") is None


def test_many_failures_are_told_in_few_words():
    rows = [failed(seed=seed) for seed in range(MOST_FAILURES + 5)]
    record = record_of("Title", OPTIONS, rows)
    told = [failure for failure in record.failures if failure["text"].startswith("predictive-d0.3-s")]
    assert len(told) == MOST_FAILURES
    assert record.failures[-1]["text"] == "5 more trials failed."


def test_a_row_is_checked_by_what_it_says():
    assert checked_row(row(more=None)) == row(more=None)
    job = {"controller": "direct", "difficulty": 0.3, "seed": 1, "arm": "mini_arm", "perturb": {}}
    lost = checked_row({"trial": "direct-d0.3-s1", **lost_row(job, "it died")})
    assert (lost["label"], lost["failure"], lost["time_s"]) == ("evaluation", "it died", None)
    for column in COLUMNS:
        short = {name: value for name, value in row().items() if name != column}
        for wrong in (short, row(**{column: [1]}), row(**{column: float("nan")})):
            with pytest.raises(InvalidInput):
                checked_row(wrong)
    for wrong in (
        None,
        [],
        row(seed=True),
        row(success=1),
        row(time_s=None),
        row(label="control"),
        failed("fate"),
        row(more={}),
    ):
        with pytest.raises(InvalidInput):
            checked_row(wrong)


@pytest.mark.parametrize(
    ("path", "href"),
    [
        ("trials/a-d0.3-s1/record.json", "./trials/a-d0.3-s1/record.json"),
        ("javascript:alert(1)", "./javascript%3Aalert%281%29"),
        ("//elsewhere.example/x", ".///elsewhere.example/x"),
        ('a" onclick="b', "./a%22%20onclick%3D%22b"),
        ("\ud800", "./%3F"),
        ("a\\..\\b", "./a%5C..%5Cb"),
        ("../record.json", None),
        ("trials/../../x", None),
    ],
)
def test_a_link_leads_to_a_place_under_the_page(path, href):
    shown = anchor(Link("<b>", path))
    assert shown == (f'<a href="{href}">&lt;b&gt;</a>' if href else "&lt;b&gt;")
    assert shown in plain_table([{"trial": Link("<b>", path)}])


def test_long_tables_are_folded():
    rows = [{"a": number} for number in range(MANY + 1)]
    assert folded_if_long(rows[:MANY]) == plain_table(rows[:MANY])
    assert folded_if_long(rows).startswith(f"<details><summary>{MANY + 1} rows</summary><table>")


@pytest.mark.parametrize(
    ("name", "timing"),
    [
        ("step_p99_us", True),
        ("step_p99_us_predictive", True),
        ("time_ratio_direct", True),
        ("loop_time_ratio", True),
        ("mean_time_s_predictive", False),
        ("time_s", False),
        ("time_ratios", False),
    ],
)
def test_what_is_a_timing(name, timing):
    assert is_timing(name) is timing
