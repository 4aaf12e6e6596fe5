"""The UR5e's 50 targets: pseudo-inverse against adaptive damped least squares.

Targets FK(q) with q uniform inside the limits; each solver starts at home + N(0, 0.3 rad).
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

from forearm.arguments import positive, seed_number
from forearm.bench import Measured
from forearm.bench._solving import judged, mean_iterations, outcome_row, success_rate, uniform_in_limits
from forearm.evidence.record import SHARE, Metric, Outcome, Record
from forearm.ik.problem import Tolerance
from forearm.ik.result import IKResult
from forearm.ik.solve import solve
from forearm.kinematics.forward import tip_pose
from forearm.robots.load import load

TITLE = "UR5e: pseudo-inverse and adaptive damped least squares"
SEED_SPREAD_RAD = 0.3
MAX_ITERATIONS = 200
AUDITORS = ("pinocchio", "mujoco")
SOLVERS = ("pinv", "dls_adaptive", "newton", "dls")
SOURCE_RATE = {"pinv": 0.54, "dls_adaptive": 0.62}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--targets", type=positive, default=50, help="how many targets (default 50)")
    parser.add_argument("--seed", type=seed_number, default=0, help="seed of targets and starts (default 0)")


def measure(args: argparse.Namespace) -> Measured:
    arm = load("ur5e")
    generator = np.random.default_rng(args.seed)
    rows: list[dict[str, Any]] = []
    for index in range(args.targets):
        target = tip_pose(arm, uniform_in_limits(arm, generator))
        start = arm.posture("home") + generator.normal(0.0, SEED_SPREAD_RAD, arm.dof)
        for solver in SOLVERS:
            result = solve(arm, target, seed=start, solver=solver, max_iterations=MAX_ITERATIONS, audit=True)
            rows.append(outcome_row(result, index=index) | audit_columns(result))
    metrics: list[Metric] = []
    for solver in SOLVERS:
        mine = [row for row in rows if row["solver"] == solver]
        source = f"{100.0 * SOURCE_RATE[solver]:.3g} %" if solver in SOURCE_RATE else None
        metrics += [
            Metric(f"{solver}_success_rate", success_rate(mine), SHARE, f"{solver}: targets solved", source),
            Metric(f"{solver}_mean_iterations", mean_iterations(mine), "", f"{solver}: iterations, mean"),
        ]
    metrics += audit_metrics(rows)
    record = Record(
        kind="bench.ur5e",
        title=TITLE,
        summary=(
            f"{args.targets} targets FK(q) with q uniform in the limits, starts home + "
            f"N(0, {SEED_SPREAD_RAD} rad), 1e-6 m and 1e-6 rad, at most {MAX_ITERATIONS} iterations, every "
            "answer replayed in two engines. The source gives neither its iteration limit nor its tolerance."
        ),
        outcome=Outcome.PASSED,
        metrics=(),
        inputs={
            "robot": "ur5e",
            "targets": args.targets,
            "seed_spread_rad": SEED_SPREAD_RAD,
            "source_success_rate": SOURCE_RATE,
        },
        configuration={"solvers": SOLVERS, "max_iterations": MAX_ITERATIONS},
        seeds={"targets": args.seed},
    )
    return Measured(judged(record, metrics), {"cases": rows})


def audit_columns(result: IKResult) -> dict[str, Any]:
    """What each engine's replay of the answers found, and how many it turned away."""
    columns: dict[str, Any] = {"audit_drops": result.diagnostics.drops.get("audit", 0)}
    for engine in AUDITORS:
        position, rotation = result.audit.get(engine, (None, None))
        columns[f"{engine}_position_error_m"] = position
        columns[f"{engine}_rotation_error_rad"] = rotation
    return columns


def audit_metrics(rows: list[dict[str, Any]]) -> list[Metric]:
    """The worst replay of all answers, engine by engine, held against the tolerance."""
    tolerance = Tolerance()
    metrics = []
    for engine in AUDITORS:
        for quantity, unit, most in (
            ("position_error_m", "m", tolerance.position_m),
            ("rotation_error_rad", "rad", tolerance.rotation_rad),
        ):
            name = f"{engine}_{quantity}"
            found = [row[name] for row in rows if row[name] is not None]
            worst = max(found, default=float("nan"))
            text = f"worst of {len(found)} answers replayed in {engine}"
            # Written so that a NaN, of no answer at all, fails.
            metrics.append(
                Metric(f"{name}_worst", worst, unit, text, None, f"<= {most:g} {unit}", worst <= most)
            )
    drops = sum(row["audit_drops"] for row in rows)
    text = "answers of the gate that an engine does not confirm"
    metrics.append(Metric("audit_drops", drops, "", text, None, "0", drops == 0))
    return metrics
