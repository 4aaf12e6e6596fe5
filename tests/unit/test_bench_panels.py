"""The inverse kinematics panels run, and measure what they promise."""

from __future__ import annotations

import argparse
import json

import numpy as np
import pytest

import forearm
from forearm.bench import Measured, honesty, panel_modules
from forearm.bench._reach import longest_reach
from forearm.bench._solving import mean_iterations, success_rate, uniform_in_limits
from forearm.evidence.record import Outcome
from forearm.ik import audit, certify, proofs, replay
from forearm.ik.solver import make_solver, solver_names
from forearm.kinematics.reach import reach_bounds


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
    return run("planar", "--many", "200", "--panels", "5")


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
    for solver in ("pinv", "dls"):
        assert record.value(f"{solver}_panels_solved") == 1.0
        assert 5.0 < record.value(f"{solver}_mean_iterations_further") < 30.0


@pytest.mark.parametrize("seed", ["7", "1000", "31337"])
def test_the_planar_panel_passes_whatever_the_seed(seed):
    """The default seed must not be a lucky one."""
    record = run("planar", "--many", "10", "--panels", "5", "--seed", seed).record
    assert record.outcome is Outcome.PASSED


def test_the_planar_panel_says_where_its_targets_lie(planar):
    assert "front half" in planar.record.summary
    inner_m, outer_m = planar.record.inputs["reach_m"]
    edge_m = planar.record.configuration["edge_m"]
    for row in planar.tables["cases"]:
        if row["panel"] in ("targets", "further"):
            assert row["x_m"] >= 0.0
            assert inner_m + edge_m <= np.hypot(row["x_m"], row["y_m"]) <= outer_m - edge_m


def test_the_planar_panel_uses_one_set_of_options_throughout(monkeypatch):
    asked = []

    def watched(arm, target, *, solver, seed, tolerance, max_iterations, record=False, **options):
        asked.append((solver, tuple(options.items())))
        return forearm.ik.solve.solve(
            arm,
            target,
            solver=solver,
            seed=seed,
            tolerance=tolerance,
            max_iterations=max_iterations,
            record=record,
            **options,
        )

    monkeypatch.setattr(panel_modules()["planar"], "solve", watched)
    run("planar", "--targets", "2", "--many", "2", "--panels", "1")
    assert len(set(asked)) == 2


def test_a_planar_panel_not_solved_whole_is_not_counted():
    rows = [
        {"seed": seed, "status": "SOLVED" if index or seed != 2 else "NOT_FOUND"}
        for seed in (1, 2, 3)
        for index in range(4)
    ]
    assert panel_modules()["planar"].solved_panels(rows) == [True, False, True]


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
    assert len(cases) == 2 * 20 + 2 * 5 * 20 + 2 * 200 + 2
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
        for engine in ("pinocchio", "mujoco"):
            for row in solved:
                assert 0.0 <= row[f"{engine}_position_error_m"] <= 1e-6
                assert row[f"{engine}_position_error_m"] == pytest.approx(row["position_error_m"], abs=1e-12)
            assert measured.record.value(f"{engine}_position_error_m_worst") <= 1e-6
    assert measured.record.value("audit_drops") == 0
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

    def blind(problem, candidates):
        reports = replay.reports_on(problem, candidates)
        reports[:, replay.VERDICT] = replay.ACCEPTED
        return reports

    monkeypatch.setattr(certify, "reports_on", blind)
    row = honesty.judge_solver("two_link", "planar", 20, 2, 20, 0)
    assert row["false_success"] > 0


def test_the_ur5e_panel_fails_if_an_engine_disagrees(monkeypatch):
    honest = audit.MujocoReplay.tip_matrix

    def shifted(self, q):
        matrix = honest(self, q)
        matrix[0, 3] += 2e-6
        return matrix

    monkeypatch.setattr(audit.MujocoReplay, "tip_matrix", shifted)
    record = run("ur5e", "--targets", "4").record
    assert record.outcome is Outcome.FAILED
    assert record.value("audit_drops") > 0
    assert record.value("mujoco_position_error_m_worst") > 1e-6


@pytest.mark.parametrize("name", forearm.robot_names())
def test_the_longest_reach_is_found_from_inside_and_nearly_meets_the_bound(name, arms, random):
    arm = arms[name]
    bound = reach_bounds(arm, "position")[0]
    center = tuple(bound.center_in_base_m)
    found = longest_reach(arm, center)
    assert found <= bound.outer_m
    assert found >= bound.outer_m / 1.001, "targets at 1.001 of it would lie within the bound"
    for _ in range(2000):
        reached = np.linalg.norm(arm.fk(uniform_in_limits(arm, random)).position_m - center)
        assert reached <= found + 1e-9


def test_the_honesty_panel_blames_a_bound_that_is_too_wide(monkeypatch):
    """The targets beyond reach must not be drawn from the bound that they are to test."""
    honest = proofs.bounds_table

    def wide(robot, task):
        table = honest(robot, task).copy()
        table[:, 6:] *= (0.0, 1.2)
        return table

    monkeypatch.setattr(proofs, "bounds_table", wide)
    row = honesty.judge_solver("panda", "dls_adaptive", 2, 60, 20, 0)
    assert row["missed_unreachable"] > 0


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
