"""The inverse kinematics panels run, and measure what they promise."""

from __future__ import annotations

import argparse
import json

import numpy as np
import pytest

import forearm
from forearm.bench import Measured, honesty, panel_modules
from forearm.bench._solving import mean_iterations, success_rate, uniform_in_limits
from forearm.evidence.record import Outcome
from forearm.ik import certify
from forearm.ik.solver import make_solver, solver_names


def run(name: str, *words: str) -> Measured:
    module = panel_modules()[name]
    parser = argparse.ArgumentParser()
    module.add_arguments(parser)
    measured = module.measure(parser.parse_args(words))
    record = measured.record
    assert record.kind == f"bench.{name}"
    assert record.title == module.TITLE
    assert len({metric.name for metric in record.metrics}) == len(record.metrics)
    assert (record.outcome is Outcome.FAILED) == any(metric.passed is False for metric in record.metrics)
    json.dumps(record.to_json(), allow_nan=False)
    for table in measured.tables.values():
        assert table
        assert len({tuple(row) for row in table}) == 1, "every row of a table has the same columns"
    return measured


@pytest.fixture(scope="module")
def planar() -> Measured:
    return run("planar", "--many", "200")


def test_every_panel_has_a_title_and_arguments():
    panels = panel_modules()
    assert {"planar", "ur5e", "honesty"} <= set(panels)
    for module in panels.values():
        module.add_arguments(argparse.ArgumentParser())
        assert module.TITLE
        assert module.__doc__


def test_the_planar_panel_passes_as_promised(planar):
    record = planar.record
    assert record.outcome is Outcome.PASSED
    assert record.value("pinv_success_rate") == 1.0
    assert record.value("dls_success_rate") == 1.0
    assert 5.0 < record.value("pinv_mean_iterations") < 30.0
    assert 5.0 < record.value("dls_mean_iterations") < 60.0
    assert 0.9 < record.value("pinv_success_rate_many") <= 1.0
    assert 0.9 < record.value("dls_success_rate_many") <= 1.0


def test_the_planar_stress_case_breaks_the_pseudo_inverse_and_not_damping(planar):
    record = planar.record
    assert record.value("stress_pinv") == "NOT_FOUND after 0 steps"
    assert record.value("stress_dls_error_m") < 1e-5
    assert 10 < record.value("stress_dls_iterations") <= 500
    history = planar.tables["stress"]
    assert {row["solver"] for row in history} == {"dls"}
    assert len(history) == record.value("stress_dls_iterations")


def test_the_planar_rows_bear_the_metrics_out(planar):
    cases = planar.tables["cases"]
    assert len(cases) == 2 * 20 + 2 * 200 + 2
    for solver in ("pinv", "dls"):
        rows = [row for row in cases if (row["panel"], row["solver"]) == ("targets", solver)]
        assert len(rows) == 20
        assert planar.record.value(f"{solver}_mean_iterations") == np.mean(
            [row["iterations"] for row in rows]
        )
        assert max(row["position_error_m"] for row in rows) <= 1e-5
    for row in cases:
        assert np.hypot(row["x_m"], row["y_m"]) <= 0.615


def test_the_ur5e_panel_measures_four_solvers():
    measured = run("ur5e", "--targets", "12", "--seed", "3")
    assert len(measured.tables["cases"]) == 4 * 12
    for solver in ("pinv", "dls_adaptive", "newton", "dls"):
        rows = [row for row in measured.tables["cases"] if row["solver"] == solver]
        solved = [row for row in rows if row["status"] == "SOLVED"]
        assert measured.record.value(f"{solver}_success_rate") == len(solved) / 12
        assert 0.1 < len(solved) / 12 <= 1.0
        assert all(row["position_error_m"] <= 1e-6 for row in solved)
        assert all(row["rotation_error_rad"] <= 1e-6 for row in solved)
    again = run("ur5e", "--targets", "12", "--seed", "3")
    assert again.tables == measured.tables


def test_the_honesty_panel_finds_nothing_to_blame():
    measured = run("honesty", "--problems", "6", "--reach", "3", "--max-iterations", "40", "--workers", "1")
    record, rows = measured.record, measured.tables["solvers"]
    assert record.outcome is Outcome.PASSED
    for name in ("false_success", "limit_violations", "false_unreachable", "missed_unreachable"):
        assert record.value(name) == 0
    pairs = {(row["arm"], row["solver"]) for row in rows}
    able = {
        (name, solver)
        for name in forearm.robot_names()
        for solver in solver_names()
        if make_solver(solver).supports(arm := forearm.load(name), arm.task)
    }
    assert pairs == able
    assert record.value("problems") == 6 * len(able)
    assert record.value("beyond_reach") == 3 * len(able)
    assert 0 < record.value("solved") < record.value("problems")
    assert 0.0 < record.value("worst_position_m") <= 1e-6


def test_the_honesty_panel_blames_a_gate_that_lets_everything_through(monkeypatch):
    """The bench's own teeth: with the gate's tolerance check gone, false successes are counted."""
    monkeypatch.setattr(certify, "distance_between", lambda target, current: (0.0, 0.0))
    row = honesty.judge_solver("two_link", "planar", 20, 2, 20, 0)
    assert row["false_success"] > 0


def test_summaries_of_rows():
    rows = [
        {"status": "SOLVED", "iterations": 4},
        {"status": "NOT_FOUND", "iterations": 100},
        {"status": "SOLVED", "iterations": 6},
    ]
    assert success_rate(rows) == pytest.approx(2 / 3)
    assert mean_iterations(rows) == 5.0
    assert np.isnan(mean_iterations(rows[1:2]))


def test_postures_are_drawn_inside_the_limits(arms, random, make_two_hinges):
    for robot in (*arms.values(), make_two_hinges()):
        drawn = np.array([uniform_in_limits(robot, random) for _ in range(200)])
        assert np.isfinite(drawn).all()
        assert (drawn >= robot.lower).all()
        assert (drawn <= robot.upper).all()
        assert drawn.std(axis=0).min() > 0.1
