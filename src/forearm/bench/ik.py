"""Every inverse kinematics solver on one panel: solved, false success, time, and what happens at the edges.

All are asked the same questions, in rounds, in one process, and judged by Pinocchio and the limits. Ours
stands beside the textbook solvers of this project and beside other people's, which are an extra (peers); one
that is not installed, or that computes other kinematics, is named and left out.
"""

from __future__ import annotations

import argparse
import gc
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from forearm.arguments import positive, seed_number
from forearm.bench import Measured
from forearm.bench._arms import pose_arms
from forearm.bench._batches import batch_metrics, batch_rows
from forearm.bench._contestants import CONTRACT, DIRECT, TEXTBOOK, Field, field_of, timed
from forearm.bench._floor import attained_share
from forearm.bench._ours import (
    branch_metrics,
    branch_rows,
    determinism_metrics,
    refusal_metrics,
    start_metrics,
    wide_metrics,
    wide_rows,
)
from forearm.bench._paths import path_metrics, path_rows
from forearm.bench._solving import at_least, at_most, judged, uniform_in_limits
from forearm.bench._targets import HARD, beyond_reach
from forearm.bench.peers import peer_names
from forearm.evidence.record import SHARE, Metric, Outcome, Record
from forearm.kinematics.forward import tip_matrix
from forearm.spatial import Array

TITLE = "Inverse kinematics, measured beside everyone"
NEAR = "uniform"
BEYOND = "beyond reach"
WARMING = 2
"""Questions before each round that are not counted."""
FASTER_THAN = {"OptIK": 50.0, "Robotics Toolbox": 15.0}
"""By what factor the direct solver must be faster."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--arms", nargs="*", metavar="ARM", help="these arms only (default: all)")
    parser.add_argument(
        "--peers", nargs="*", metavar="PEER", help="these peers only (default: all; none: no name)"
    )
    parser.add_argument(
        "--targets", type=positive, default=10_000, help="targets an arm for ours (default 10000)"
    )
    parser.add_argument(
        "--shared", type=positive, default=100, help="targets an arm for everyone (default 100)"
    )
    parser.add_argument("--hard", type=positive, default=20, help="hard targets a kind and arm (default 20)")
    parser.add_argument("--refused", type=positive, default=3, help="targets beyond reach an arm (default 3)")
    parser.add_argument(
        "--reach", type=positive, default=100_000, help="reachable targets in all (default 100000)"
    )
    parser.add_argument(
        "--branches", type=positive, default=1_000, help="targets for all branches (default 1000)"
    )
    parser.add_argument("--batch", type=positive, default=100_000, help="targets of a batch (default 100000)")
    parser.add_argument("--path", type=positive, default=1_000, help="poses of a path (default 1000)")
    parser.add_argument("--rounds", type=positive, default=5, help="rounds (default 5)")
    parser.add_argument("--seed", type=seed_number, default=0, help="seed of the targets (default 0)")


def measure(args: argparse.Namespace) -> Measured:
    arms = {name: arm for name, arm in pose_arms().items() if not args.arms or name in args.arms}
    peers = peer_names() if args.peers is None else tuple(args.peers)
    with tempfile.TemporaryDirectory() as folder:
        fields = [field_of(name, arm, peers, Path(folder)) for name, arm in arms.items()]
        solves = shared_rows(fields, args)
        wide = wide_rows(fields, args.targets, args.seed)
        batches = batch_rows(fields, peers, args.batch, args.rounds, args.seed)
        paths = path_rows(fields, args.path, args.seed)
        branches = branch_rows(fields, args.branches, args.seed)
    summary = [summed_up(solves, *who) for who in asked(solves)]
    fractions = [
        {"arm": made.name, **attained_share(made.arm, *questions(made, 500, args.seed))} for made in fields
    ]
    metrics = [
        *wide_metrics(wide),
        *speed_metrics(solves),
        *batch_metrics(batches),
        *branch_metrics(branches),
        *refusal_metrics(fields, args.reach, args.seed),
        *path_metrics(paths, fields, args.seed),
        *determinism_metrics(fields, args.seed),
        *start_metrics(),
        *floor_metrics(fractions),
    ]
    left_out = [row for made in fields for row in made.left_out]
    record = Record(
        kind="bench.ik",
        title=TITLE,
        summary=(
            f"{len(arms)} arms; {args.shared} targets an arm for everyone, in {args.rounds} rounds, and "
            f"{args.targets} for ours. Targets are poses of postures uniform in the limits, seeds are others."
        ),
        outcome=Outcome.PASSED,
        metrics=(),
        inputs={"arms": list(arms), "peers": list(peers)},
        configuration={name: value for name, value in vars(args).items() if isinstance(value, int)},
        seeds={"targets": args.seed},
        tables={
            "Everyone on the same targets": [shown(row) for row in summary if row["panel"] == NEAR],
            "Hard targets, each solver at its best": [
                shown(row, "panel")
                for row in summary
                if row["panel"] in HARD
                and row["setting"] == "best"
                and not row["solver"].startswith(TEXTBOOK)
            ],
            "Beyond reach: the time to say no": [
                {name: shown(row)[name] for name in ("solver", "setting", "false %", "median µs")}
                for row in summary
                if row["panel"] == BEYOND
            ],
            "Batches": [rounded(row) for row in batches],
            "A smooth path, each pose from the last answer": [rounded(row) for row in paths],
            "Left out": left_out,
        },
    )
    tables = {
        "solves": solves,
        "summary": summary,
        "wide": wide,
        "batches": batches,
        "paths": paths,
        "branches": branches,
        "floor": fractions,
        "left_out": left_out,
    }
    return Measured(judged(record, metrics), {name: rows for name, rows in tables.items() if rows})


def questions(made: Field, count: int, seed: int) -> tuple[Array, Array]:
    """Targets that can be reached, and seeds that have nothing to do with them."""
    generator = np.random.default_rng([seed, sum(map(ord, made.name))])
    targets = [tip_matrix(made.arm, uniform_in_limits(made.arm, generator)) for _ in range(count)]
    seeds = [uniform_in_limits(made.arm, generator) for _ in range(count)]
    return np.array(targets), np.array(seeds)


def shared_rows(fields: Sequence[Field], args: argparse.Namespace) -> list[dict[str, Any]]:
    """Everyone's answers to the same questions, round by round, arm by arm, one after the other."""
    panels = {made.name: panels_of(made, args) for made in fields}
    rows: list[dict[str, Any]] = []
    gc.collect()
    gc.disable()
    try:
        for number in range(args.rounds):
            for made in fields:
                for panel, (targets, seeds) in panels[made.name].items():
                    part = slice(number, None, args.rounds)
                    for who in made.contestants:
                        # Nobody is timed while it prepares itself, or with the cache as others left it.
                        timed(made, who, *(each[:WARMING] for each in panels[made.name][NEAR]))
                        found = timed(made, who, targets[part], seeds[part])
                        rows += [{"panel": panel, "round": number, **row} for row in found]
    finally:
        gc.enable()
    return rows


def panels_of(made: Field, args: argparse.Namespace) -> dict[str, tuple[Array, Array]]:
    """Targets and seeds by panel."""
    generator = np.random.default_rng([args.seed, 1, sum(map(ord, made.name))])
    arm, panels = made.arm, {NEAR: questions(made, args.shared, args.seed)}
    for panel, draw in HARD.items():
        targets = np.array([tip_matrix(arm, draw(arm, generator)) for _ in range(args.hard)])
        panels[panel] = targets, np.array([uniform_in_limits(arm, generator) for _ in range(args.hard)])
    targets = np.array([beyond_reach(arm, generator) for _ in range(args.refused)])
    panels[BEYOND] = targets, np.array([uniform_in_limits(arm, generator) for _ in range(args.refused)])
    return panels


def asked(rows: Sequence[dict[str, Any]]) -> list[tuple[str, str, str]]:
    """Panel, solver and setting of every sum, in the order in which they were asked."""
    return list(dict.fromkeys((row["panel"], row["solver"], row["setting"]) for row in rows))


def summed_up(rows: Sequence[dict[str, Any]], panel: str, solver: str, setting: str) -> dict[str, Any]:
    """One line of the comparison; ratios are the median over the arms of the ratios of medians."""
    mine = [row for row in rows if (row["panel"], row["solver"], row["setting"]) == (panel, solver, setting)]
    times = np.array([row["time_us"] for row in mine])
    solved = [row for row in mine if row["solved"]]
    false = sum(row["claimed"] and not row["solved"] for row in mine)
    return {
        "panel": panel,
        "solver": solver,
        "setting": setting,
        "arms": len({row["arm"] for row in mine}),
        "asked": len(mine),
        "solved_percent": 100.0 * len(solved) / len(mine),
        "false_success_percent": 100.0 * false / len(mine),
        "median_us": float(np.median(times)),
        "p95_us": float(np.percentile(times, 95)),
        "p99_us": float(np.percentile(times, 99)),
        "ratio_to_direct": ratio_to_direct(rows, panel, solver, setting),
        "worst_position_error_m": largest(solved, "position_error_m"),
        "worst_rotation_error_rad": largest(solved, "rotation_error_rad"),
        "median_distance_rad": float(np.median([row["distance_rad"] for row in solved])) if solved else None,
    }


SHOWN = {
    "solver": "solver",
    "setting": "setting",
    "arms": "arms",
    "solved_percent": "solved %",
    "false_success_percent": "false %",
    "median_us": "median µs",
    "p95_us": "p95 µs",
    "p99_us": "p99 µs",
    "ratio_to_direct": "x direct",
    "worst_position_error_m": "worst m",
    "median_distance_rad": "from seed rad",
}
"""Columns of the page, and what stands above them."""


def shown(row: dict[str, Any], *also: str) -> dict[str, Any]:
    """A line of the comparison as the page has it."""
    return {name: row[name] for name in also} | rounded({title: row[name] for name, title in SHOWN.items()})


def rounded(row: dict[str, Any]) -> dict[str, Any]:
    """Numbers to four digits."""
    return {name: float(f"{value:.4g}") if isinstance(value, float) else value for name, value in row.items()}


def largest(rows: Sequence[dict[str, Any]], column: str) -> float | None:
    return max((row[column] for row in rows), default=None)


def ratio_to_direct(rows: Sequence[dict[str, Any]], panel: str, solver: str, setting: str) -> float:
    return float(np.median(list(ratios_by_arm(rows, panel, solver, setting).values())))


def ratios_by_arm(rows: Sequence[dict[str, Any]], panel: str, solver: str, setting: str) -> dict[str, float]:
    """For each arm, the solver's median time over that of our direct solver on the same targets."""
    mine, direct = (median_by_arm(rows, panel, *who) for who in ((solver, setting), (DIRECT, "best")))
    return {arm: mine[arm] / direct[arm] for arm in mine}


def median_by_arm(rows: Sequence[dict[str, Any]], panel: str, solver: str, setting: str) -> dict[str, float]:
    times: dict[str, list[float]] = {}
    for row in rows:
        if (row["panel"], row["solver"], row["setting"]) == (panel, solver, setting):
            times.setdefault(row["arm"], []).append(row["time_us"])
    return {arm: float(np.median(values)) for arm, values in times.items()}


def speed_metrics(rows: Sequence[dict[str, Any]]) -> list[Metric]:
    """Times of our tiers, and how much faster the direct one is than the fastest peers."""
    direct, contract = (median_by_arm(rows, NEAR, who, "best") for who in (DIRECT, CONTRACT))
    middle, slowest = float(np.median(list(direct.values()))), max(contract.values())
    metrics = [
        Metric("direct_median_us", middle, "µs", "direct solver, median over the arms"),
        at_most("contract_median_us", slowest, 20.0, "µs", "arm.ik, the full contract, slowest arm's median"),
    ]
    there = {(row["solver"], row["setting"]) for row in rows}
    for peer, factor in FASTER_THAN.items():
        if (peer, "best") in there:
            by_arm = ratios_by_arm(rows, NEAR, peer, "best")
            name, text = peer.lower().replace(" ", "_"), f"x faster than {peer} at its best"
            ratio = float(np.median(list(by_arm.values())))
            least = min(by_arm, key=by_arm.__getitem__)
            metrics += [
                at_least(f"ratio_{name}", ratio, factor, "x", f"{text}, median over {len(by_arm)} arms"),
                Metric(f"ratio_{name}_least", by_arm[least], "x", f"{text}, on {least}, the least"),
            ]
    if ("EAIK", "best") in there and "ur5e" in (by_arm := ratios_by_arm(rows, NEAR, "EAIK", "best")):
        metrics.append(
            at_least("ratio_eaik_ur5e", by_arm["ur5e"], 1.0, "x", "times faster than EAIK on the UR5e")
        )
    return metrics


def floor_metrics(rows: Sequence[dict[str, Any]]) -> list[Metric]:
    share = float(np.median([row["attained_share"] for row in rows]))
    text = "of the processor's arithmetic peak attained by the race, calls and bookkeeping included"
    return [Metric("attained_share", share, SHARE, text)]
