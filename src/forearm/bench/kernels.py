"""What the compiled chain costs: forward kinematics and Jacobian, called from compiled code.

Every kernel is timed in rounds, the arms interleaved; the median round counts, since machines are
noisy. The reference composition in NumPy is timed beside it.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from forearm.arguments import positive, seed_number
from forearm.bench import Measured
from forearm.bench._solving import judged, uniform_in_limits
from forearm.evidence.record import Metric, Outcome, Record
from forearm.kinematics.chain import chain_of, forward_and_jacobian_into, forward_into
from forearm.kinematics.compiling import compiled
from forearm.kinematics.forward import reference_jacobian
from forearm.kinematics.screws import replay_into, screws_of
from forearm.robots.catalog import bundled_names
from forearm.robots.load import load
from forearm.robots.robot import Robot

TITLE = "What the compiled kinematics cost"
BAR_US = 1.0
REFERENCE_CALLS = 20


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--rounds", type=positive, default=15, help="rounds (default 15)")
    parser.add_argument("--calls", type=positive, default=20_000, help="calls a round (default 20000)")
    parser.add_argument("--seed", type=seed_number, default=0, help="seed of the postures (default 0)")


def measure(args: argparse.Namespace) -> Measured:
    generator = np.random.default_rng(args.seed)
    robots = [load(name) for name in bundled_names()]
    jobs = {robot.name: timers(robot, generator, args.calls) for robot in robots}
    rows: list[dict[str, Any]] = []
    for number in range(args.rounds):
        for name, kernels in jobs.items():
            rows += [
                {"round": number, "arm": name, "kernel": kernel, "us_per_call": 1e6 * call()}
                for kernel, call in kernels.items()
            ]

    def median_us(arm: str, kernel: str) -> float:
        mine = [row["us_per_call"] for row in rows if row["arm"] == arm and row["kernel"] == kernel]
        return float(np.median(mine))

    metrics = []
    for robot in robots:
        for kernel, meaning in (
            ("forward", "forward kinematics"),
            ("jacobian", "forward kinematics and Jacobian"),
            ("replay", "replay of the gate"),
        ):
            value = median_us(robot.name, kernel)
            bar = None if kernel == "replay" else f"<= {BAR_US:g} µs"
            text = f"{robot.name}, {robot.dof} joints: {meaning}"
            metrics.append(
                Metric(
                    f"{robot.name}_{kernel}_us",
                    value,
                    "µs",
                    text,
                    None,
                    bar,
                    value <= BAR_US if bar else None,
                )
            )
        ratio = median_us(robot.name, "reference") / median_us(robot.name, "jacobian")
        metrics.append(
            Metric(f"{robot.name}_ratio", ratio, "x", f"{robot.name}: faster than the NumPy reference")
        )
    record = Record(
        kind="bench.kernels",
        title=TITLE,
        summary=f"Median of {args.rounds} rounds of {args.calls} calls from compiled code, arms interleaved.",
        outcome=Outcome.PASSED,
        metrics=(),
        inputs={"arms": [robot.name for robot in robots]},
        configuration={"rounds": args.rounds, "calls": args.calls},
        seeds={"postures": args.seed},
    )
    return Measured(judged(record, metrics), {"rounds": rows})


def timers(robot: Robot, generator: np.random.Generator, calls: int) -> dict[str, Callable[[], float]]:
    """For every kernel, a function that returns the seconds that one call takes."""
    postures = np.array([uniform_in_limits(robot, generator) for _ in range(256)])
    transform, jacobian = np.empty((4, 4)), np.empty((6, robot.dof))
    chain, screws = chain_of(robot), screws_of(robot)
    loops: dict[str, Callable[[int], Any]] = {
        "forward": lambda count: repeat_forward(chain, postures, transform, count),
        "jacobian": lambda count: repeat_jacobian(chain, postures, transform, jacobian, count),
        "replay": lambda count: repeat_replay(screws, postures, transform, count),
    }

    def timed(loop: Callable[[int], Any], count: int) -> float:
        started = time.perf_counter()
        loop(count)
        return (time.perf_counter() - started) / count

    def reference(count: int) -> None:
        for k in range(count):
            reference_jacobian(robot, postures[k])

    for loop in loops.values():
        loop(1)
    kernels: dict[str, Callable[[], float]] = {
        name: partial(timed, loop, calls) for name, loop in loops.items()
    }
    kernels["reference"] = partial(timed, reference, REFERENCE_CALLS)
    return kernels


@compiled
def repeat_forward(chain, postures, transform, calls):
    for k in range(calls):
        forward_into(chain, postures[k % postures.shape[0]], transform)


@compiled
def repeat_jacobian(chain, postures, transform, jacobian, calls):
    for k in range(calls):
        forward_and_jacobian_into(chain, postures[k % postures.shape[0]], transform, jacobian)


@compiled
def repeat_replay(screws, postures, transform, calls):
    for k in range(calls):
        replay_into(screws, postures[k % postures.shape[0]], transform)
