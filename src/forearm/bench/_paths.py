"""Smooth paths: the tracker beside solvers that are asked for each pose from their last answer."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from forearm.bench._contestants import Contestant, Field
from forearm.bench._solving import at_least, at_most, zero
from forearm.bench._targets import smooth_path
from forearm.evidence.record import SHARE, Metric
from forearm.ik.tracker import Tracker, TrackStatus
from forearm.spatial import Array, rotation_exp

JUMP_RAD = 0.1
REPEATS = 5
STEP_M, STEP_RAD = 1e-3, np.deg2rad(0.1)
DT_S = 0.002
MISSES_RAD = (0.0, 1e-6, 1e-4, 1e-3, 1e-2, 3e-2)
"""By how much paths miss the wrist's singularity."""
PATHS = 10
STEPS = 161
WRISTS = {"ur5e": 4, "mini_arm": 4}
"""Arms whose wrist is singular where this joint is zero, and that stand well at home."""
MOST = 60
"""Poses for a solver that takes more than a millisecond for one."""


def path_rows(fields: Sequence[Field], count: int, seed: int) -> list[dict[str, Any]]:
    """For the tracker and every solver at its best: time a pose, poses reached, largest joint step."""
    rows = []
    for made in fields:
        generator = np.random.default_rng([seed, 8, sum(map(ord, made.name))])
        start, poses = smooth_path(made.arm, generator, count)
        rows.append(tracker_row(made, start, poses))
        rows += [solver_row(made, who, start, poses) for who in made.contestants if who.setting == "best"]
    return rows


def tracker_row(made: Field, start: Array, poses: Array) -> dict[str, Any]:
    """The kernel that ``Tracker.follow`` runs, timed alone; its answers judged like all others."""
    tracker = Tracker(made.arm, start)
    q, iterations = np.empty((len(poses), made.arm.dof)), np.empty(len(poses), dtype=np.int64)
    crossed, least = np.empty(len(poses), dtype=np.bool_), np.inf
    for _ in range(REPEATS):
        tracker.reset(start)
        begun = time.perf_counter()
        tracker._kernel(tracker._table, tracker.most, poses, tracker._state, q, iterations, crossed)
        least = min(least, time.perf_counter() - begun)
    return row_of(made, "forearm, tracker", start, poses, q, 1e6 * least / len(poses))


def solver_row(made: Field, who: Contestant, start: Array, poses: Array) -> dict[str, Any]:
    """A solver asked for each pose, its last answer the seed."""
    last, answers, spent = start, np.full((len(poses), made.arm.dof), np.nan), []
    for k, pose in enumerate(poses):
        q, time_us = who.answer(pose, last)
        spent.append(time_us)
        if q is not None:
            answers[k] = last = q
        if k + 1 >= MOST and np.median(spent) > 1e3:
            break
    return row_of(made, who.name, start, poses[: len(spent)], answers[: len(spent)], float(np.median(spent)))


def row_of(
    made: Field, solver: str, start: Array, poses: Array, answers: Array, us_per_pose: float
) -> dict[str, Any]:
    given = np.isfinite(answers).all(axis=1)
    true = [made.judged(pose, q)[0] for pose, q in zip(poses[given], answers[given], strict=True)]
    steps = np.abs(np.diff(answers[given], axis=0, prepend=start[None]))
    largest = float(steps.max()) if len(steps) else 0.0
    return {
        "arm": made.name,
        "solver": solver,
        "poses": len(poses),
        "us_per_pose": us_per_pose,
        "reached_percent": 100.0 * sum(true) / len(poses),
        "largest_step_rad": largest,
    }


def path_metrics(rows: Sequence[dict[str, Any]], fields: Sequence[Field], seed: int) -> list[Metric]:
    mine = [row for row in rows if row["solver"] == "forearm, tracker"]
    slowest = max(row["us_per_pose"] for row in mine)
    reached = min(row["reached_percent"] for row in mine) / 100.0
    jump = max(row["largest_step_rad"] for row in mine)
    crossings, faults = singular_crossings(fields, seed)
    text = f"of {crossings} steps of 1 mm, 0.1° past wrist singularities: not finite, too fast, a jump unsaid"
    return [
        at_most("tracker_us", slowest, 3.0, "µs", "tracker's kernel, a pose of a smooth path, slowest arm"),
        at_least("tracker_reached", reached, 1.0, SHARE, "poses of smooth paths reached, worst arm"),
        at_most("tracker_largest_step_rad", jump, JUMP_RAD, "rad", "tracker's largest joint step on them"),
        zero("tracker_faults", faults, text),
    ]


def singular_crossings(fields: Sequence[Field], seed: int) -> tuple[int, int]:
    """(steps, faults) of trackers past the wrist's singularity, with speed limits and without."""
    steps = faults = 0
    generator = np.random.default_rng([seed, 9])
    for made in (made for made in fields if made.name in WRISTS):
        for miss in MISSES_RAD:
            for _ in range(PATHS):
                start, poses = past_wrist(made, miss, generator)
                for dt_s in (DT_S, None):
                    tracker = Tracker(made.arm, start, dt_s=dt_s)
                    path = tracker.follow(poses)
                    moved = np.abs(np.diff(path.q, axis=0, prepend=start[None]))
                    unsaid = (moved.max(axis=1) > JUMP_RAD) & (path.status != TrackStatus.JUMPED)
                    fast = (moved > tracker.most + 1e-12).any(axis=1)
                    steps += len(poses)
                    faults += int((unsaid | fast | ~np.isfinite(path.q).all(axis=1)).sum())
    return steps, faults


def past_wrist(made: Field, miss_rad: float, generator: np.random.Generator) -> tuple[Array, Array]:
    """A start and poses a millimetre and a tenth of a degree apart, past a posture near the singularity."""
    posture = made.arm.home.copy()
    posture[WRISTS[made.name]] = miss_rad
    middle = made.arm.fk(posture).matrix()
    way, axis = generator.normal(size=(2, 3))
    way, axis = way / np.linalg.norm(way), axis / np.linalg.norm(axis)
    poses = np.tile(middle, (STEPS, 1, 1))
    for k in range(STEPS):
        u = k - STEPS // 2
        poses[k, :3, 3] += u * STEP_M * way
        poses[k, :3, :3] = rotation_exp(u * STEP_RAD * axis) @ middle[:3, :3]
    return made.arm.ik(poses[0], seed=posture, mode="nearest").q.copy(), poses
