"""What a run leaves: a row a tick of everything that was seen, asked and done."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from forearm.control.controller import Tick
from forearm.motion.reference import JointReference, TipReference
from forearm.spatial import Array


@dataclass(frozen=True, eq=False, slots=True)
class Recording:
    """(ticks, n) each, unless said otherwise. Rows past ``ticks_done`` were never run."""

    times_s: Array
    q: Array
    qd: Array
    reading: Array
    """What the position sensors gave; NaN where nothing arrived."""
    seen_q: Array
    """What the controller was told: the estimate."""
    seen_qd: Array
    wanted_q: Array
    command: Array
    torque: Array
    """What the actuators did, after their limits."""
    saturated: Array
    """Whether an actuator stood at its limit, for each joint."""
    contacts: Array
    """(ticks,): contacts in the scene."""
    ticks_done: int

    @staticmethod
    def empty(ticks: int, joints: int, dt_s: float) -> Recording:
        def numbers() -> Array:
            return np.zeros((ticks, joints))

        return Recording(
            times_s=dt_s * np.arange(ticks),
            q=numbers(),
            qd=numbers(),
            reading=numbers(),
            seen_q=numbers(),
            seen_qd=numbers(),
            wanted_q=numbers(),
            command=numbers(),
            torque=numbers(),
            saturated=np.zeros((ticks, joints), dtype=bool),
            contacts=np.zeros(ticks, dtype=np.int32),
            ticks_done=0,
        )


def ticks_of(joints: JointReference, tip: TipReference) -> list[Tick]:
    """The reference as the controllers take it, the differences of its samples included.

    Before the first sample and after the last the reference rests.
    """
    h = joints.dt_s
    padded = np.vstack([joints.q[:1], joints.q, joints.q[-1:]])
    rate = (padded[1:-1] - padded[:-2]) / h
    push = (padded[2:] - 2.0 * padded[1:-1] + padded[:-2]) / h**2
    rows = (joints.q, joints.qd, joints.qdd, rate, push, tip.poses, tip.twists, tip.accelerations)
    return [Tick(*row) for row in zip(*rows, strict=True)]
