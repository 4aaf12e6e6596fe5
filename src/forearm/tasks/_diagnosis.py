"""Which part of a run failed: what was sensed, what was estimated, what was planned, what was done.

Labels: perception, state, planning, control, evaluation.
"""

from __future__ import annotations

from itertools import combinations
from typing import NamedTuple

import numpy as np

from forearm.sim.loop import LoopResult
from forearm.sim.recording import Recording
from forearm.spatial import Array

LATEST_TICKS = 50
"""The longest delay that is looked for."""
BETTER = 0.5
"""A delay or an order explains what was seen if it leaves less than this share of the mismatch."""
SMOOTHING_TICKS = 3
"""How many ticks an observer may lag behind what was declared."""
NOTICEABLE_RAD = 1e-4
"""A mismatch of seen and true positions below this is not looked into."""


class Failure(NamedTuple):
    label: str
    text: str


def sensing_failures(
    recording: Recording, dt_s: float, declared_delay_s: float, noise_rad: float
) -> list[Failure]:
    """What is wrong with the state that the controller was given, beyond what was declared.

    A stale state fits the truth of some ticks ago; a wrong joint order fits it with columns swapped.
    """
    ticks = recording.ticks_done
    true, seen = recording.q[:ticks], recording.seen_q[:ticks]
    mismatch = spread(seen - true)
    if ticks <= LATEST_TICKS or mismatch <= NOTICEABLE_RAD + 3.0 * noise_rad:
        return []
    order = best_order(true, seen)
    if order is not None:
        names = ", ".join(f"{a} as {b}" for b, a in enumerate(order) if a != b)
        return [Failure("state", f"the joints arrive in the wrong order (joint {names})")]
    lags = [spread(seen[lag:] - true[: ticks - lag]) for lag in range(LATEST_TICKS)]
    lag = int(np.argmin(lags))
    excess_s = lag * dt_s - declared_delay_s
    if lags[lag] < BETTER * mismatch and excess_s > SMOOTHING_TICKS * dt_s:
        return [
            Failure(
                "state",
                f"the state is {lag * dt_s * 1e3:.0f} ms old, {excess_s * 1e3:.0f} ms more than declared",
            )
        ]
    return []


def spread(difference: Array) -> float:
    """Root mean square of a difference, its mean over time taken out."""
    return float(np.sqrt(np.mean((difference - difference.mean(axis=0)) ** 2)))


def best_order(true: Array, seen: Array) -> tuple[int, ...] | None:
    """The pair of joints whose swap explains what was seen, or None."""
    straight = float(np.abs(seen - true).mean())
    n = true.shape[1]
    best, least = None, BETTER * straight
    for a, b in combinations(range(n), 2):
        order = list(range(n))
        order[a], order[b] = b, a
        left = float(np.abs(seen - true[:, order]).mean())
        if left < least:
            best, least = tuple(order), left
    return best


def control_failures(result: LoopResult, rms_m: float, goal_rms_m: float) -> list[Failure]:
    """What the controller did with a good state."""
    found = []
    if result.diverged_at_s is not None:
        found.append(Failure("control", f"the arm ran away at t = {result.diverged_at_s:.3g} s"))
    elif not rms_m <= goal_rms_m:
        found.append(
            Failure(
                "control", f"tracking error {rms_m * 1e3:.3g} mm RMS, the goal is {goal_rms_m * 1e3:.3g} mm"
            )
        )
    return found
