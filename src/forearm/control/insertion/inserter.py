"""What a controller of the insertion is, what it is told, and what it says of itself at every tick.

Each lives in its own file in ``forearm.control.insertion.controllers`` and registers itself there; adding a
file adds a controller.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from forearm.control.insertion.hole import Hole, tool_in_box
from forearm.control.plant import Plant
from forearm.errors import InvalidInput
from forearm.registry import Registry
from forearm.spatial import Array, frozen_array

# What a controller says at every tick: one row of numbers. Vectors are in the base.
PHASE = 0
REASON = 1
"""Why the phase before was left; a place in ``REASONS``."""
SEEN = 2
"""The hole as the controller believes it to be now: middle (3), its axis x (3), its side y (3)."""
AIM = 11
"""The pose that IK was asked for: the tool's end (3), its axis z (3), its side x (3)."""
SURE = 20
"""Standard deviation of the believed middle (m); NaN if the controller does not know."""
DEPTH = 21
"""How far past the mouth the controller believes the tool's end to be (m)."""
FELT = 22
"""Force on the tool along the hole that the joint torques tell of (N); NaN if it does not feel."""
FREQUENCY = 23
"""Of the box, as believed (Hz); NaN if it does not estimate it."""
IK_SOLVED = 24
"""Whether the IK said of its answer that it is one."""
ANSWER = 25
"""The IK's answer (n), then the joints wanted now (n)."""

REASONS = (
    "",
    "in place",
    "missed the mouth",
    "jammed",
    "slipped off the line",
    "no plate",
    "lost sight",
    "tried often enough",
    "no way within the limits",
    "waited in vain",
)


@dataclass(frozen=True, eq=False, slots=True)
class Cell:
    """What a controller is told before the trial."""

    plant: Plant
    hole: Hole
    tick_s: float
    """From one command to the next; the plant's own step may be shorter."""
    tool_in_box: Array = field(default_factory=lambda: frozen_array(tool_in_box()))
    """How the tool is to be turned in the box (3x3)."""
    ik_slack_m: float = 0.0
    """How far from the pose the IK stops and calls its last iterate solved; more than 0 is a fault."""

    def __post_init__(self) -> None:
        if self.plant.robot.dof != 6:
            raise InvalidInput("robot", f"has {self.plant.robot.dof} joints", "The insertion takes six.")


class Inserter(Protocol):
    """A controller bound to a cell. It has a memory: one trial's."""

    phases: tuple[str, ...]
    said: Array
    """The row above, (ANSWER + 2n,); written at every step."""

    def step(self, now_s: float, stamp_s: float, q: Array, qd: Array, points: Array, out: Array) -> None:
        """Write the torques into ``out``.

        ``points`` (12) are the four sensors' positions as they were at ``stamp_s``; all NaN where no reading
        has arrived. ``q`` and ``qd`` are the arm's encoders', as they are now.
        """
        ...


RECOVERY, GAVE_UP = "back out", "give up"
"""Names by which a controller's phases are known to be a recovery, and its last."""


def phase_of(inserter: Inserter, name: str) -> int:
    """The number of the phase of that name; -1 if the controller has none."""
    return inserter.phases.index(name) if name in inserter.phases else -1


class InserterKind(Protocol):
    name: str
    summary: str

    def __call__(self, cell: Cell) -> Inserter: ...


INSERTERS: Registry[InserterKind] = Registry("controller", "forearm.control.insertion.controllers")
register = INSERTERS.register
inserter_names = INSERTERS.names


def make_inserter(name: str, cell: Cell) -> Inserter:
    return INSERTERS.find(name)(cell)


def nothing_said(dof: int) -> Array:
    row = np.full(ANSWER + 2 * dof, np.nan)
    row[[PHASE, REASON]] = 0.0
    return row
