"""The planar arm's 20 targets, and a target at the edge of its reach.

Pseudo-inverse and damped least squares on 20 targets that the arm can reach, the same on many more,
since 20 say little; then the stress case: from full extension, where the Jacobian is singular, to a
target just inside the reach.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

from forearm.bench import Measured
from forearm.bench._solving import judged, mean_iterations, outcome_row, success_rate, uniform_in_limits
from forearm.evidence.record import Metric, Outcome, Record
from forearm.ik.problem import Tolerance
from forearm.ik.result import Status
from forearm.ik.solve import solve
from forearm.kinematics.forward import tip_pose
from forearm.robots.load import load
from forearm.robots.robot import Robot

TITLE = "Planar arm: pseudo-inverse and damped least squares"
TOLERANCE_M = 1e-5
SEED_POSTURE_RAD = (0.3, 0.8)
OPTIONS: dict[str, dict[str, Any]] = {"pinv": {"alpha": 0.7}, "dls": {"damping": 0.05}}
STRESS_RADIUS_M = 0.614
STRESS_BEARING_RAD = np.radians(20.0)
MAX_ITERATIONS = 500
STRESS_DAMPING = 0.1
SOURCE_ITERATIONS = {"pinv": "12.5", "dls": "13.5"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--targets", type=int, default=20, help="how many targets (default 20)")
    parser.add_argument("--many", type=int, default=1000, help="size of the larger panel (default 1000)")
    parser.add_argument("--seed", type=int, default=0, help="seed of the targets (default 0)")


def measure(args: argparse.Namespace) -> Measured:
    arm = load("two_link")
    rows = [
        *target_rows(arm, "targets", args.targets, args.seed),
        *target_rows(arm, "many", args.many, args.seed + 1),
    ]
    stress, history = stress_rows(arm)
    record = Record(
        kind="bench.planar",
        title=TITLE,
        summary=(
            f"{args.targets} targets FK(q) with q uniform in the limits, one starting posture, "
            f"{TOLERANCE_M:g} m; {args.many} more; then a target {STRESS_RADIUS_M} m out (the reach is "
            "0.615 m) from full extension. The source does not give its targets, start or step length; "
            "a mean is ruled by the few targets at the very edge, where damping makes the end slow."
        ),
        outcome=Outcome.PASSED,
        metrics=(),
        inputs={"robot": "two_link", "targets": args.targets, "start_rad": SEED_POSTURE_RAD},
        configuration={
            "solvers": OPTIONS,
            "tolerance_m": TOLERANCE_M,
            "max_iterations": MAX_ITERATIONS,
            "stress_radius_m": STRESS_RADIUS_M,
            "stress_damping": STRESS_DAMPING,
        },
        seeds={"targets": args.seed, "many": args.seed + 1},
    )
    metrics = [*target_metrics(rows), *stress_metrics(stress)]
    return Measured(judged(record, metrics), {"cases": rows + stress, "stress": history})


def target_rows(arm: Robot, panel: str, count: int, seed: int) -> list[dict[str, Any]]:
    """Every solver on ``count`` targets that the arm can reach."""
    tolerance = Tolerance(TOLERANCE_M, TOLERANCE_M)
    generator = np.random.default_rng(seed)
    rows = []
    for index in range(count):
        target = tip_pose(arm, uniform_in_limits(arm, generator))
        x, y, _ = target.position_m
        for solver, options in OPTIONS.items():
            result = solve(
                arm,
                target,
                seed=SEED_POSTURE_RAD,
                solver=solver,
                tolerance=tolerance,
                max_iterations=MAX_ITERATIONS,
                **options,
            )
            rows.append(outcome_row(result, panel=panel, index=index, x_m=x, y_m=y))
    return rows


def stress_rows(arm: Robot) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The target at the edge: a row a solver, and the error at every iteration."""
    x, y = STRESS_RADIUS_M * np.cos(STRESS_BEARING_RAD), STRESS_RADIUS_M * np.sin(STRESS_BEARING_RAD)
    rows, history = [], []
    for solver, options in (("pinv", OPTIONS["pinv"]), ("dls", {"damping": STRESS_DAMPING})):
        result = solve(
            arm,
            (x, y, 0.0),
            seed=(0.0, 0.0),
            solver=solver,
            tolerance=Tolerance(TOLERANCE_M, TOLERANCE_M),
            max_iterations=MAX_ITERATIONS,
            record=True,
            **options,
        )
        rows.append(outcome_row(result, panel="stress", index=0, x_m=x, y_m=y))
        history += [
            {"solver": solver, "iteration": k, "position_error_m": step.position_error_m}
            for k, step in enumerate(result.diagnostics.history)
        ]
    return rows, history


def target_metrics(rows: list[dict[str, Any]]) -> list[Metric]:
    """Success and iterations on the small panel beside the source's, success on the large one."""
    metrics = []
    for solver, source in SOURCE_ITERATIONS.items():
        few, many = (
            [row for row in rows if row["panel"] == panel and row["solver"] == solver]
            for panel in ("targets", "many")
        )
        rate = success_rate(few)
        metrics += [
            Metric(
                f"{solver}_success_rate",
                rate,
                "",
                f"{solver}: share of targets solved",
                "1",
                "1",
                rate == 1.0,
            ),
            Metric(
                f"{solver}_mean_iterations", mean_iterations(few), "", f"{solver}: mean iterations", source
            ),
            Metric(
                f"{solver}_success_rate_many",
                success_rate(many),
                "",
                f"{solver}: share of {len(many)} more targets solved",
            ),
        ]
    return metrics


def stress_metrics(rows: list[dict[str, Any]]) -> list[Metric]:
    """What each solver makes of the target at the edge."""
    pinv, dls = rows
    return [
        Metric(
            "stress_pinv",
            f"{pinv['status']} after {pinv['iterations']} steps",
            "",
            "edge, pseudo-inverse",
            "fails on its first step",
            "not solved",
            pinv["status"] != Status.SOLVED,
        ),
        Metric(
            "stress_dls_error_m",
            dls["position_error_m"],
            "m",
            "edge, damped least squares: error",
            "9.83e-6 m",
            "< 1e-5 m",
            dls["position_error_m"] < 1e-5,
        ),
        Metric(
            "stress_dls_iterations", dls["iterations"], "", "edge, damped least squares: iterations", "161"
        ),
    ]
