"""Which part of a run failed: what was sensed, what was estimated, what was planned, what was done.

Labels: perception, state, planning, control, evaluation.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from forearm.sim.loop import LoopResult
from forearm.sim.recording import Recording
from forearm.sim.sensing import Sensing, make_sensor
from forearm.spatial import Array

LATEST_TICKS = 50
"""The longest delay that is looked for."""
BETTER = 0.5
"""A delay or an order explains what was seen if it leaves less than this share of the mismatch."""
SMOOTHING_TICKS = 3
"""How many ticks another sensor's observer may lag behind what was declared."""
NOTICEABLE_RAD = 1e-4
"""A mismatch of seen and true positions below this is not looked into."""
OFFSET_RAD = 2e-3
"""A constant offset of a reading below this is not looked into; a delay makes a smaller one."""


class Failure(NamedTuple):
    label: str
    text: str


def sensing_failures(
    recording: Recording, names: Sequence[str], dt_s: float, declared: Sensing
) -> list[Failure]:
    """What is wrong with what the controller was told, beyond what was declared.

    It is held against what sensors as declared would have told of the true motion. A stale state fits that
    of some ticks ago, a wrong joint order fits it with columns swapped; a sensor that is off by a constant
    is no matter of the state but of perception.
    """
    ticks = recording.ticks_done
    seen = recording.seen_q[:ticks]
    expected, readings = as_declared(recording, dt_s, declared)
    if ticks <= LATEST_TICKS or not np.isfinite(seen).all() or np.array_equal(seen, expected):
        return []
    order = best_order(expected, seen)
    if order is not None:
        swapped = ", ".join(f"{names[a]} as {names[b]}" for b, a in enumerate(order) if a != b)
        return [Failure("state", f"the joints arrive in the wrong order: {swapped}")]
    found = offset_failures(recording.reading[:ticks] - readings, names, declared)
    mismatch = spread(seen - expected)
    if mismatch <= NOTICEABLE_RAD + 3.0 * declared.noise_rad:
        return found
    lags = [spread(seen[lag:] - expected[: ticks - lag]) for lag in range(LATEST_TICKS)]
    excess = int(np.argmin(lags))
    if lags[excess] < BETTER * mismatch and excess > SMOOTHING_TICKS:
        old, more = (late * dt_s * 1e3 for late in (declared.delay_ticks + excess, excess))
        found.append(Failure("state", f"the state is {old:.0f} ms old, {more:.0f} ms more than declared"))
    return found


def as_declared(recording: Recording, dt_s: float, declared: Sensing) -> tuple[Array, Array]:
    """What sensors as declared, and the observer behind them, tell of the true motion: seen q, readings."""
    true = recording.q[: recording.ticks_done]
    if declared.perfect:
        return true, true
    sensor = make_sensor(declared, dt_s, true[0])
    seen, readings = np.empty_like(true), np.empty_like(true)
    for tick, (q, qd) in enumerate(zip(true, recording.qd, strict=False)):
        seen[tick] = sensor.observe(q, qd).q
        readings[tick] = sensor.reading
    return seen, readings


def offset_failures(offsets: Array, names: Sequence[str], declared: Sensing) -> list[Failure]:
    """Joints whose readings are off by a constant that nobody declared."""
    mean = np.nanmean(offsets, axis=0)
    allowed = OFFSET_RAD + 5.0 * declared.bias_rad + declared.noise_rad
    return [
        Failure("perception", f"joint {name} reads {off:+.3g} rad off")
        for name, off in zip(names, mean, strict=True)
        if abs(off) > allowed
    ]


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
