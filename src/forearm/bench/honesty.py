"""False success, limit violations and false refusals of every solver on every bundled arm.

Each answer is replayed in Pinocchio. Half of the problems can be solved; the others are poses drawn
in and around the workspace without regard to whether they can be reached.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from typing import Any

import numpy as np

from forearm.arguments import positive, seed_number
from forearm.bench import Measured
from forearm.bench._reach import longest_reach
from forearm.bench._solving import at_most, judged, uniform_in_limits, zero
from forearm.evidence.record import Metric, Outcome, Record
from forearm.ik.audit import PinocchioReplay
from forearm.ik.problem import LIMIT_TOLERANCE, Tolerance
from forearm.ik.replay import distance_between
from forearm.ik.result import IKResult, Solution, Status
from forearm.ik.solve import solve
from forearm.ik.solver import make_solver, solver_names
from forearm.kinematics.forward import tip_pose
from forearm.kinematics.reach import reach_bounds, reach_m
from forearm.robots.load import bundled_names, load
from forearm.robots.robot import Robot
from forearm.spatial import Array, Pose

TITLE = "Honesty: no false success, no false refusal"
BEYOND = (1.001, 3.0)
"""Targets beyond reach lie this many times the longest reach found from the first joint's axis."""
COUNTS = (
    "solved",
    "unreachable",
    "false_success",
    "limit_violations",
    "false_unreachable",
    "missed_unreachable",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--problems", type=positive, default=10_000, help="problems a solver and arm (default 10000)"
    )
    parser.add_argument(
        "--reach", type=positive, default=1_000, help="targets beyond and within reach (default 1000)"
    )
    parser.add_argument(
        "--max-iterations", type=positive, default=100, help="iterations a solve (default 100)"
    )
    parser.add_argument("--seed", type=seed_number, default=0, help="seed of the problems (default 0)")
    parser.add_argument("--workers", type=positive, default=2, help="processes (default 2)")


def measure(args: argparse.Namespace) -> Measured:
    pairs = [
        (arm, solver)
        for arm in bundled_names()
        for solver in solver_names()
        if make_solver(solver).supports(robot := load(arm), robot.task)
    ]
    jobs = [(arm, solver, args.problems, args.reach, args.max_iterations, args.seed) for arm, solver in pairs]
    with ProcessPoolExecutor(args.workers, mp_context=get_context("spawn")) as pool:
        rows = list(pool.map(judge_solver, *zip(*jobs, strict=True)))

    def total(name: str) -> int:
        return sum(row[name] for row in rows)

    metrics = [
        zero("false_success", total("false_success"), "answers that Pinocchio does not confirm"),
        zero("limit_violations", total("limit_violations"), f"answers beyond a limit by {LIMIT_TOLERANCE:g}"),
        zero("false_unreachable", total("false_unreachable"), "reachable targets called UNREACHABLE"),
        zero(
            "missed_unreachable", total("missed_unreachable"), "targets beyond reach not called UNREACHABLE"
        ),
        Metric("problems", total("problems"), "", "problems asked"),
        Metric("solved", total("solved"), "", "of them solved"),
        Metric("beyond_reach", total("beyond_reach"), "", "targets beyond reach asked"),
        at_most(
            "worst_position_m", largest(rows, "worst_position_m"), 1e-6, "m", "worst replay of an answer"
        ),
        at_most(
            "worst_rotation_rad",
            largest(rows, "worst_rotation_rad"),
            1e-6,
            "rad",
            "worst replay of an answer",
        ),
    ]
    record = Record(
        kind="bench.honesty",
        title=TITLE,
        summary=(
            f"{args.problems} problems for each of {len(rows)} pairs of solver and arm, "
            f"plus {args.reach} targets beyond reach and {args.reach} within it."
        ),
        outcome=Outcome.PASSED,
        metrics=(),
        inputs={"arms": list(bundled_names()), "problems": args.problems, "reach": args.reach},
        configuration={"max_iterations": args.max_iterations, "beyond": BEYOND},
        seeds={"problems": args.seed},
    )
    return Measured(judged(record, metrics), {"solvers": rows})


def largest(rows: list[dict[str, Any]], column: str) -> float:
    return max(row[column] for row in rows)


def judge_solver(
    arm: str, solver: str, problems: int, reach: int, max_iterations: int, seed: int
) -> dict[str, Any]:
    """Every count for one solver on one arm."""
    robot = load(arm)
    generator = np.random.default_rng([seed, sum(map(ord, arm))])
    ask = partial(solve, robot, solver=solver, max_iterations=max_iterations)
    row = dict.fromkeys(COUNTS, 0) | {"worst_position_m": 0.0, "worst_rotation_rad": 0.0}
    judge_problems(row, ask, robot, generator, problems, problems + reach)
    for _ in range(reach):
        result = ask(pose_beyond_reach(robot, generator))
        row["missed_unreachable"] += result.status is not Status.UNREACHABLE
    return {"arm": arm, "solver": solver, "problems": problems, "beyond_reach": reach, **row}


def judge_problems(
    row: dict[str, Any],
    ask: Callable[..., IKResult],
    robot: Robot,
    generator: np.random.Generator,
    problems: int,
    total: int,
) -> None:
    """Ask ``problems``, every other one within reach, then more that all are, and count into ``row``."""
    replay = PinocchioReplay(robot)
    for index in range(total):
        reachable = index % 2 == 0 or index >= problems
        target = (
            tip_pose(robot, uniform_in_limits(robot, generator)) if reachable else any_pose(robot, generator)
        )
        result = ask(target, seed=uniform_in_limits(robot, generator))
        row["unreachable"] += result.status is Status.UNREACHABLE and index < problems
        row["false_unreachable"] += reachable and result.status is Status.UNREACHABLE
        row["solved"] += result.status is Status.SOLVED and index < problems
        for solution in result.solutions:
            judge_solution(row, replay, robot, target, solution, result.tolerance)


def judge_solution(
    row: dict[str, Any],
    replay: PinocchioReplay,
    robot: Robot,
    target: Pose,
    solution: Solution,
    tolerance: Tolerance,
) -> None:
    """Replay one answer in Pinocchio, and hold it against the limits."""
    position, rotation = distance_between(target.matrix(), replay.tip_matrix(solution.q))
    rotation = rotation if robot.task == "pose" else 0.0
    row["worst_position_m"] = max(row["worst_position_m"], position)
    row["worst_rotation_rad"] = max(row["worst_rotation_rad"], rotation)
    # Written so that a NaN counts.
    row["false_success"] += not (position <= tolerance.position_m and rotation <= tolerance.rotation_rad)
    past = np.maximum(robot.lower - solution.q, solution.q - robot.upper).max()
    row["limit_violations"] += not past <= LIMIT_TOLERANCE


def random_rotation(generator: np.random.Generator) -> Array:
    quaternion = generator.normal(size=4)
    return quaternion / np.linalg.norm(quaternion)


def any_direction(generator: np.random.Generator) -> Array:
    direction = generator.normal(size=3)
    return direction / np.linalg.norm(direction)


def any_pose(robot: Robot, generator: np.random.Generator) -> Pose:
    """A pose within 1.2 reaches of the first axis, reachable or not; for planar arms in their plane."""
    center = reach_bounds(robot, robot.task)[-1].center_in_base_m
    distance = 1.2 * reach_m(robot) * generator.uniform() ** (1.0 / 3.0)
    away = generator.normal(size=3)
    if robot.tree.family == "planar":
        away[2] = 0.0
    return Pose(center + distance * away / np.linalg.norm(away), random_rotation(generator))


def pose_beyond_reach(robot: Robot, generator: np.random.Generator) -> Pose:
    """A pose, in any direction and turned at random, farther from the first axis than the tip can ever be.

    How far that is has been found by search, so that the bound under test has no say in it.
    """
    center = reach_bounds(robot, "position")[0].center_in_base_m
    distance = longest_reach(robot, tuple(center)) * generator.uniform(*BEYOND)
    return Pose(center + distance * any_direction(generator), random_rotation(generator))
