"""The UR5e's 50 targets: pseudo-inverse against adaptive damped least squares.

Targets FK(q) with q uniform inside the limits; each solver starts at home + N(0, 0.3 rad).
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

from forearm.bench import Measured
from forearm.bench._solving import judged, mean_iterations, outcome_row, success_rate, uniform_in_limits
from forearm.evidence.record import Metric, Outcome, Record
from forearm.ik.solve import solve
from forearm.kinematics.forward import tip_pose
from forearm.robots.load import load

TITLE = "UR5e: pseudo-inverse and adaptive damped least squares"
SEED_SPREAD_RAD = 0.3
MAX_ITERATIONS = 200
SOLVERS = ("pinv", "dls_adaptive", "newton", "dls")
SOURCE_RATE = {"pinv": "about 54 %", "dls_adaptive": "about 62 %"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--targets", type=int, default=50, help="how many targets (default 50)")
    parser.add_argument("--seed", type=int, default=0, help="seed of targets and starts (default 0)")


def measure(args: argparse.Namespace) -> Measured:
    arm = load("ur5e")
    generator = np.random.default_rng(args.seed)
    rows: list[dict[str, Any]] = []
    for index in range(args.targets):
        target = tip_pose(arm, uniform_in_limits(arm, generator))
        start = arm.posture("home") + generator.normal(0.0, SEED_SPREAD_RAD, arm.dof)
        for solver in SOLVERS:
            result = solve(arm, target, seed=start, solver=solver, max_iterations=MAX_ITERATIONS, audit=True)
            rows.append(outcome_row(result, index=index))
    metrics: list[Metric] = []
    for solver in SOLVERS:
        mine = [row for row in rows if row["solver"] == solver]
        source = SOURCE_RATE.get(solver)
        metrics += [
            Metric(f"{solver}_success_rate", success_rate(mine), "", f"{solver}: targets solved", source),
            Metric(f"{solver}_mean_iterations", mean_iterations(mine), "", f"{solver}: iterations, mean"),
        ]
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
        inputs={"robot": "ur5e", "targets": args.targets, "seed_spread_rad": SEED_SPREAD_RAD},
        configuration={"solvers": SOLVERS, "max_iterations": MAX_ITERATIONS},
        seeds={"targets": args.seed},
    )
    return Measured(judged(record, metrics), {"cases": rows})
