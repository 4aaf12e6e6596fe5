"""Batches on all cores: ours, EAIK's own, and a peer in a process for each core."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

from forearm.bench._arms import pose_arms
from forearm.bench._contestants import Field
from forearm.bench._solving import at_least, uniform_in_limits
from forearm.bench._urdf import write_chain_urdf
from forearm.bench.peers import Subject, make_peer
from forearm.evidence.record import Metric
from forearm.ik.enumeration import axes_and_offsets, turned_to_axes
from forearm.ik.threads import available_cores
from forearm.kinematics.forward import tip_matrix
from forearm.spatial import Array

ARMS = ("ur5e", "panda")
OURS, SLOW, EAIK = "forearm, ik_batch", "OptIK", "EAIK"
FEW = 400
"""Targets for each process of the peer that solves one after the other."""
WAKING = 50
"""Of these, asked before."""
OTHERS = 10_000
"""Targets of EAIK's batch."""


def batch_rows(
    fields: Sequence[Field], peers: Sequence[str], count: int, rounds: int, seed: int
) -> list[dict[str, Any]]:
    """Targets a second, the median of the rounds, in which all take turns."""
    rows = []
    for made in (made for made in fields if made.name in ARMS):
        generator = np.random.default_rng([seed, 6])
        some = min(count, OTHERS)
        targets = np.array(
            [tip_matrix(made.arm, uniform_in_limits(made.arm, generator)) for _ in range(some)]
        )
        seeds = np.array([uniform_in_limits(made.arm, generator) for _ in range(some)])
        many = -(-count // some)
        all_targets, all_seeds = np.tile(targets, (many, 1, 1))[:count], np.tile(seeds, (many, 1))[:count]
        jobs: dict[str, Callable[[], float]] = {
            OURS: partial(ours_per_second, made.arm, all_targets, all_seeds)
        }
        if made.name == "ur5e" and EAIK in peers:
            jobs |= eaik_job(made, targets)
        with ProcessPoolExecutor(available_cores(), mp_context=get_context("spawn")) as pool:
            if any(who.name == SLOW for who in made.contestants):
                jobs[f"{SLOW}, a process a core"] = partial(processes_per_second, pool, made.name, seed)
            found = [{solver: job() for solver, job in jobs.items()} for _ in range(rounds)]
        rates = {solver: float(np.median([each[solver] for each in found])) for solver in jobs}
        first = rates[OURS]
        rows += [
            {"arm": made.name, "solver": solver, "targets_per_s": rate, "ours_over_it": first / rate}
            for solver, rate in rates.items()
        ]
    return rows


def ours_per_second(arm: Any, targets: Array, seeds: Array) -> float:
    # Like the others, it is not timed while the processor wakes up.
    arm.ik_batch(targets[:OTHERS], seeds[:OTHERS])
    begun = time.perf_counter()
    found = arm.ik_batch(targets, seeds)
    spent = time.perf_counter() - begun
    return float(found.solved.sum() / spent)


def eaik_job(made: Field, targets: Array) -> dict[str, Any]:
    """EAIK's own batch on all cores; it gives every branch, of which it checks none."""
    try:
        from eaik.IK_HP import HPRobot
    except ImportError:
        return {}
    axes, offsets, end_rotation, _ = axes_and_offsets(made.arm)
    arm, turned = HPRobot(axes, offsets), [turned_to_axes(target, end_rotation) for target in targets]

    def rate() -> float:
        arm.IK_batched(turned[: len(turned) // 10], available_cores())
        begun = time.perf_counter()
        arm.IK_batched(turned, available_cores())
        return len(turned) / (time.perf_counter() - begun)

    return {"EAIK, its batch": rate}


def processes_per_second(pool: ProcessPoolExecutor, arm: str, seed: int) -> float:
    """The sum of the rates of as many processes as there are cores, all at work together."""
    count = available_cores()
    rates = pool.map(one_process, [arm] * count, [seed + number for number in range(count)])
    return float(sum(rates))


def one_process(name: str, seed: int) -> float:
    """Targets a second of the peer alone in this process, once it is prepared."""
    arm, generator = pose_arms()[name], np.random.default_rng([seed, 7])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "arm.urdf")
        write_chain_urdf(arm, path)
        ready = make_peer(SLOW).prepare(Subject(arm, path), "best")
    questions = [
        (tip_matrix(arm, uniform_in_limits(arm, generator)).copy(), uniform_in_limits(arm, generator))
        for _ in range(FEW)
    ]
    for question in questions[:WAKING]:
        ready.solve(*question)
    begun = time.perf_counter()
    solved = sum(ready.solve(*question) is not None for question in questions)
    return solved / (time.perf_counter() - begun)


def batch_metrics(rows: Sequence[dict[str, Any]]) -> list[Metric]:
    metrics = []
    for solver, name, factor in ((f"{SLOW}, a process a core", "batch_ratio_optik", 250.0),
                                 ("EAIK, its batch", "batch_ratio_eaik", 5.0)):  # fmt: skip
        mine = {row["arm"]: row["ours_over_it"] for row in rows if row["solver"] == solver}
        if mine:
            ratio = float(np.median(list(mine.values())))
            text = f"batch: times faster than {solver} ({', '.join(mine)})"
            metrics.append(at_least(name, ratio, factor, "x", text))
    for row in rows:
        if row["solver"] == OURS:
            text = f"certified answers a second on all cores, {row['arm']}"
            metrics.append(Metric(f"batch_per_s_{row['arm']}", row["targets_per_s"], "1/s", text))
    return metrics
