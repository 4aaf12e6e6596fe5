"""The planar arm's 20 targets, and a target at the edge of its reach.

Pseudo-inverse and damped least squares, each with one set of options throughout: on 20 targets in front
of the arm and away from the edges of its reach; on further panels of such targets, since 20 say little;
on targets anywhere in the reach, where both have failures that are reported; and in the stress case,
from full extension, where the Jacobian is singular, to a target just inside the reach.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

import numpy as np

from forearm.arguments import positive, seed_number
from forearm.bench import Measured
from forearm.bench._solving import judged, mean_iterations, outcome_row, success_rate, uniform_in_limits
from forearm.evidence.record import SHARE, Metric, Outcome, Record
from forearm.ik.problem import Tolerance
from forearm.ik.result import IKResult, Status
from forearm.ik.solve import solve
from forearm.kinematics.forward import tip_pose
from forearm.kinematics.reach import bound_to
from forearm.robots.load import load
from forearm.robots.robot import Robot
from forearm.spatial import Array

TITLE = "Planar arm: pseudo-inverse and damped least squares"
TOLERANCE_M = 1e-5
SEED_POSTURE_RAD = (0.3, 0.8)
OPTIONS: dict[str, dict[str, Any]] = {
    "pinv": {"alpha": 0.7, "max_step_rad": 0.5},
    "dls": {"damping": 0.1, "max_step_rad": 0.2},
}
EDGE_M = 0.03
"""How far the panels' targets keep from either edge of the reach."""
STRESS_RADIUS_M = 0.614
STRESS_BEARING_RAD = np.radians(20.0)
MAX_ITERATIONS = 500
SOURCE_ITERATIONS = {"pinv": "12.5", "dls": "13.5"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--targets", type=positive, default=20, help="targets in a panel (default 20)")
    parser.add_argument("--panels", type=positive, default=40, help="further panels (default 40)")
    parser.add_argument(
        "--many", type=positive, default=1000, help="targets anywhere in reach (default 1000)"
    )
    parser.add_argument("--seed", type=seed_number, default=0, help="seed of the targets (default 0)")


def measure(args: argparse.Namespace) -> Measured:
    arm = load("two_link")
    rows = target_rows(arm, "targets", front_target, args.targets, args.seed)
    for number in range(args.seed + 1, args.seed + 1 + args.panels):
        rows += target_rows(arm, "further", front_target, args.targets, number)
    rows += target_rows(arm, "many", any_target, args.many, args.seed)
    stress, history = stress_rows(arm)
    inner_m, outer_m = reach_of(arm)
    record = Record(
        kind="bench.planar",
        title=TITLE,
        summary=(
            f"{args.targets} targets spread evenly over the front half of the reach, {EDGE_M} m away from "
            f"its edges, one starting posture, {TOLERANCE_M:g} m; {args.panels} further panels of such "
            f"targets; {args.many} targets FK(q) with q uniform in the limits, so behind the base and at the "
            f"very edges too; then a target {STRESS_RADIUS_M} m out (the reach is {outer_m:.4g} m) from full "
            "extension. Options are the same throughout. The source gives neither its targets nor its start "
            "nor its step limits: ours are chosen. Anywhere in reach, damping fails in two ways: within "
            "millimetres of an edge its end is slower than the budget, and on targets behind the base the "
            "clamp on every joint can make it swing between two postures."
        ),
        outcome=Outcome.PASSED,
        metrics=(),
        inputs={
            "robot": "two_link",
            "reach_m": (inner_m, outer_m),
            "targets": args.targets,
            "start_rad": SEED_POSTURE_RAD,
        },
        configuration={
            "solvers": OPTIONS,
            "tolerance_m": TOLERANCE_M,
            "max_iterations": MAX_ITERATIONS,
            "edge_m": EDGE_M,
            "stress_radius_m": STRESS_RADIUS_M,
        },
        seeds={"targets": args.seed, "further": args.seed + 1, "many": args.seed},
    )
    metrics = [*target_metrics(rows), *stress_metrics(stress)]
    return Measured(judged(record, metrics), {"cases": rows + stress, "stress": history})


def reach_of(arm: Robot) -> tuple[float, float]:
    """The nearest and the farthest that the tip can be from the first axis (m)."""
    bound = bound_to(arm, to_tip=True)
    return bound.inner_m, bound.outer_m


def front_target(arm: Robot, generator: np.random.Generator) -> Array:
    """A point (m) uniform in area over the front half of the reach, ``EDGE_M`` away from its edges."""
    inner_m, outer_m = reach_of(arm)
    radius = np.sqrt(generator.uniform((inner_m + EDGE_M) ** 2, (outer_m - EDGE_M) ** 2))
    bearing = generator.uniform(-0.5 * np.pi, 0.5 * np.pi)
    return np.array([radius * np.cos(bearing), radius * np.sin(bearing), 0.0])


def any_target(arm: Robot, generator: np.random.Generator) -> Array:
    """FK(q) with q uniform in the limits (m)."""
    return tip_pose(arm, uniform_in_limits(arm, generator)).position_m


def target_rows(
    arm: Robot, panel: str, draw: Callable[[Robot, np.random.Generator], Array], count: int, number: int
) -> list[dict[str, Any]]:
    """Every solver on ``count`` targets that the arm can reach, drawn from seed ``number``."""
    generator = np.random.default_rng(number)
    rows = []
    for index in range(count):
        target = draw(arm, generator)
        for solver in OPTIONS:
            result = asked(arm, target, SEED_POSTURE_RAD, solver)
            rows.append(
                outcome_row(result, panel=panel, seed=number, index=index, x_m=target[0], y_m=target[1])
            )
    return rows


def asked(arm: Robot, target: Array, start: tuple[float, float], solver: str, **more: Any) -> IKResult:
    return solve(
        arm,
        target,
        seed=start,
        solver=solver,
        tolerance=Tolerance(TOLERANCE_M, TOLERANCE_M),
        max_iterations=MAX_ITERATIONS,
        **OPTIONS[solver],
        **more,
    )


def stress_rows(arm: Robot) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The target at the edge: a row a solver, and the error at every iteration."""
    x, y = STRESS_RADIUS_M * np.cos(STRESS_BEARING_RAD), STRESS_RADIUS_M * np.sin(STRESS_BEARING_RAD)
    rows, history = [], []
    for solver in OPTIONS:
        result = asked(arm, np.array([x, y, 0.0]), (0.0, 0.0), solver, record=True)
        rows.append(outcome_row(result, panel="stress", seed=0, index=0, x_m=x, y_m=y))
        history += [
            {"solver": solver, "iteration": k, "position_error_m": step.position_error_m}
            for k, step in enumerate(result.diagnostics.history)
        ]
    return rows, history


def target_metrics(rows: list[dict[str, Any]]) -> list[Metric]:
    """Success and iterations beside the source's, on one panel, on the further ones and anywhere in reach."""
    metrics = []
    for solver, source in SOURCE_ITERATIONS.items():
        few, further, many = (
            [row for row in rows if row["panel"] == panel and row["solver"] == solver]
            for panel in ("targets", "further", "many")
        )
        rate, whole = success_rate(few), solved_panels(further)
        share = float(np.mean(whole))
        metrics += [
            Metric(
                f"{solver}_success_rate",
                rate,
                SHARE,
                f"{solver}: share of targets solved",
                "100 %",
                "100 %",
                rate == 1.0,
            ),
            Metric(
                f"{solver}_mean_iterations", mean_iterations(few), "", f"{solver}: mean iterations", source
            ),
            Metric(
                f"{solver}_panels_solved",
                share,
                SHARE,
                f"{solver}: share of {len(whole)} further panels solved whole",
                None,
                "100 %",
                share == 1.0,
            ),
            Metric(
                f"{solver}_mean_iterations_further",
                mean_iterations(further),
                "",
                f"{solver}: mean iterations on the further panels",
            ),
            Metric(
                f"{solver}_success_rate_many",
                success_rate(many),
                SHARE,
                f"{solver}: share of {len(many)} targets anywhere in reach solved",
            ),
        ]
    return metrics


def solved_panels(rows: list[dict[str, Any]]) -> list[bool]:
    """For every panel, whether all of its targets were solved."""
    numbers = dict.fromkeys(row["seed"] for row in rows)
    return [success_rate([row for row in rows if row["seed"] == number]) == 1.0 for number in numbers]


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
