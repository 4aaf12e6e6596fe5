"""What is asked of our solvers alone: many targets, every branch, refusals, determinism, the first answer."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from forearm.bench._contestants import Field
from forearm.bench._solving import at_least, at_most, uniform_in_limits, zero
from forearm.bench._targets import HARD, Draw, beyond_reach
from forearm.evidence.record import SHARE, Metric
from forearm.ik.closed_form import family_of
from forearm.ik.limits import TURN
from forearm.ik.problem import pose_problem
from forearm.ik.proofs import unreachable
from forearm.ik.replay import SAME_RAD
from forearm.ik.result import Status
from forearm.kinematics.forward import tip_matrix
from forearm.spatial import Array

HARD_SHARE = 10
"""Hard targets of a kind are this many times fewer than the others."""
REFUSED = 1_000
PROVED = 500
GENERIC = 8
"""Branches of a generic target of the UR5e."""
FIRST_ANSWER = """
import forearm, time
begun = time.perf_counter()
arm = forearm.load("ur5e")
assert arm.ik(arm.fk(arm.home + 0.1), seed=arm.home)
print(time.perf_counter() - begun)
"""


def wide_rows(fields: Sequence[Field], count: int, seed: int) -> list[dict[str, Any]]:
    """Many targets of every kind for the direct solver and the batch, each answer judged."""
    rows = []
    kinds: dict[str, tuple[Draw, int]] = {"uniform": (uniform_in_limits, count)}
    kinds |= {kind: (draw, max(1, count // HARD_SHARE)) for kind, draw in HARD.items()}
    for made in fields:
        for kind, (draw, number) in kinds.items():
            generator = np.random.default_rng([seed, 2, sum(map(ord, made.name + kind))])
            targets = np.array([tip_matrix(made.arm, draw(made.arm, generator)) for _ in range(number)])
            seeds = np.array([uniform_in_limits(made.arm, generator) for _ in range(number)])
            for solver, answers in (
                ("direct", direct_answers(made, targets, seeds)),
                ("batch", made.arm.ik_batch(targets, seeds).q),
            ):
                rows.append(
                    {"arm": made.name, "targets": kind, "solver": solver, **verdicts(made, targets, answers)}
                )
    return rows


def direct_answers(made: Field, targets: Array, seeds: Array) -> Array:
    """A row a target; NaN where there is no answer."""
    solve_into, answers = made.arm.direct_solver(), np.full(seeds.shape, np.nan)
    for target, seed, answer in zip(targets, seeds, answers, strict=True):
        if solve_into(target, seed, answer) <= 0:
            answer[:] = np.nan
    return answers


def verdicts(made: Field, targets: Array, answers: Array) -> dict[str, Any]:
    """How many were asked, solved and falsely claimed, and the worst of those solved."""
    claimed = np.isfinite(answers).all(axis=1)
    judged = [made.judged(target, q) for target, q in zip(targets[claimed], answers[claimed], strict=True)]
    return {
        "asked": len(targets),
        "solved": sum(true for true, _, _ in judged),
        "false_success": sum(not true for true, _, _ in judged),
        "worst_position_error_m": max((position for _, position, _ in judged), default=None),
        "worst_rotation_error_rad": max((rotation for _, _, rotation in judged), default=None),
    }


def wide_metrics(rows: Sequence[dict[str, Any]]) -> list[Metric]:
    metrics, arms = [], len({row["arm"] for row in rows})
    for kind in dict.fromkeys(row["targets"] for row in rows):
        mine = [row for row in rows if row["targets"] == kind]
        worst = min(row["solved"] / row["asked"] for row in mine)
        needed = 1.0 if kind == "uniform" else 0.999
        text = f"{kind}: solved of {mine[0]['asked']}, on the worst of {arms} arms, direct and batch"
        metrics.append(at_least(f"solved_{kind.replace(' ', '_')}", worst, needed, SHARE, text))
    false = sum(row["false_success"] for row in rows)
    asked = sum(row["asked"] for row in rows)
    text = f"answers of {asked} that Pinocchio or the limits do not confirm"
    return [*metrics, zero("false_success", false, text)]


def branch_rows(fields: Sequence[Field], count: int, seed: int) -> list[dict[str, Any]]:
    """All branches of the UR5e: how many, how long, and whether another algorithm finds the same."""
    made = next((made for made in fields if made.name == "ur5e"), None)
    if made is None:
        return []
    arm, generator = made.arm, np.random.default_rng([seed, 3])
    try:
        arm.ik(arm.fk(arm.home), solver="analytic", backend="ssik")
        arm.ik(arm.fk(arm.home), solver="analytic")
    except ImportError:
        return []
    rows: list[dict[str, Any]] = []
    while len(rows) < count:
        target = tip_matrix(arm, uniform_in_limits(arm, generator))
        begun = time.perf_counter_ns()
        result = arm.ik(target, solver="analytic")
        time_us = 1e-3 * (time.perf_counter_ns() - begun)
        other = arm.ik(target, solver="analytic", backend="ssik")
        mine, theirs = ([solution.q for solution in each.solutions] for each in (result, other))
        if len(theirs) != GENERIC:
            continue
        true = sum(made.judged(target, q)[0] for q in mine)
        rows.append(
            {
                "target": len(rows),
                "branches": len(mine),
                "true": true,
                "same_as_ssik": same_set(mine, theirs),
                "windings": sum(solution.winding_count for solution in result.solutions),
                "time_us": time_us,
            }
        )
    return rows


def same_set(some: Sequence[Array], others: Sequence[Array]) -> bool:
    """Whether each of either is one of the other, full turns aside."""
    if len(some) != len(others):
        return False
    apart = np.abs(np.remainder(np.array(some)[:, None] - np.array(others)[None] + np.pi, TURN) - np.pi)
    near = apart.max(axis=2) <= SAME_RAD
    return bool(near.any(axis=0).all() and near.any(axis=1).all())


def branch_metrics(rows: Sequence[dict[str, Any]]) -> list[Metric]:
    if not rows:
        return []
    complete = sum(row["branches"] == row["true"] == GENERIC and row["same_as_ssik"] for row in rows) / len(
        rows
    )
    median = float(np.median([row["time_us"] for row in rows]))
    text = f"of {len(rows)} UR5e targets with 8 branches: all 8 certified, by EAIK and by ssik the same"
    return [
        at_least("branches_complete", complete, 1.0, SHARE, text),
        at_most("branches_us", median, 60.0, "µs", "all branches of the UR5e, certified, median"),
    ]


def refusal_metrics(fields: Sequence[Field], reachable: int, seed: int) -> list[Metric]:
    """What is beyond reach is called so, and nothing else, neither by the bound nor by closed forms."""
    missed = asked = false = said = proofs = 0
    times_us = []
    for made in fields:
        generator = np.random.default_rng([seed, 4, sum(map(ord, made.name))])
        for target in [beyond_reach(made.arm, generator) for _ in range(REFUSED // len(fields))]:
            asked += 1
            begun = time.perf_counter_ns()
            result = made.arm.ik(target)
            times_us.append(1e-3 * (time.perf_counter_ns() - begun))
            missed += result.status is not Status.UNREACHABLE
        count = reachable // len(fields)
        targets = np.array(
            [tip_matrix(made.arm, uniform_in_limits(made.arm, generator)) for _ in range(count)]
        )
        said += count
        false += int((made.arm.ik_batch(targets).status == Status.UNREACHABLE).sum())
        if family_of(made.arm) is not None:
            proofs += PROVED
            false += sum(
                unreachable(pose_problem(made.arm, target)) is not None for target in targets[:PROVED]
            )
    by = f"{said} reachable targets called UNREACHABLE by the bound, of {proofs} by closed forms"
    return [
        zero("unreachable_missed", missed, f"of {asked} targets beyond reach not called UNREACHABLE"),
        zero("unreachable_false", false, f"of {by}"),
        at_most(
            "refusal_us", float(np.median(times_us)), 10.0, "µs", "arm.ik: UNREACHABLE by the reach bound"
        ),
    ]


def determinism_metrics(fields: Sequence[Field], seed: int) -> list[Metric]:
    """The same answers on one core, on two, and twice."""
    different = 0
    for made in fields:
        generator = np.random.default_rng([seed, 5])
        targets = np.array(
            [tip_matrix(made.arm, uniform_in_limits(made.arm, generator)) for _ in range(1000)]
        )
        seeds = np.array([uniform_in_limits(made.arm, generator) for _ in range(1000)])
        batches = [made.arm.ik_batch(targets, seeds, workers=workers) for workers in (1, 2, 2)]
        different += sum(unlike(batches[0].q, other.q) for other in batches[1:])
        once, again = (direct_answers(made, targets, seeds) for _ in range(2))
        different += unlike(once, again)
    text = "answers that differ on one core, on two, or when asked again"
    return [zero("not_deterministic", different, text)]


def unlike(one: Array, other: Array) -> int:
    """How many rows are not the same, bit for bit."""
    return int((~((one == other) | (np.isnan(one) & np.isnan(other))).all(axis=1)).sum())


def start_metrics() -> list[Metric]:
    """From the end of ``import forearm`` to the first answer, in a new process whose kernels are on disk."""
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "-c", FIRST_ANSWER], capture_output=True, text=True, check=True, timeout=300
        )
    seconds = float(done.stdout)
    return [
        Metric(
            "first_answer_s",
            seconds,
            "s",
            "first answer after import, kernels on disk",
            None,
            "<= 0.5 s",
            seconds <= 0.5,
        )
    ]
