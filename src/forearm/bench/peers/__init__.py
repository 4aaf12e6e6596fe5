"""Other people's solvers, asked the same questions: one adapter a file, found by looking.

Each is told the arm by one URDF, made from the arm that is measured (``bench._urdf``), or by numbers of
that same arm, and checked before it is timed: where its forward kinematics disagree with Pinocchio's it
is left out, with that reason.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np

from forearm.bench._solving import uniform_in_limits
from forearm.errors import ForearmError
from forearm.registry import Registry
from forearm.robots.robot import Robot
from forearm.spatial import Array


@dataclass(frozen=True, slots=True)
class Subject:
    """The arm that is asked about, as peers are told it."""

    robot: Robot
    urdf: Path
    """The chain alone, without meshes."""
    base_link: str = "base"
    tip_link: str = "tip"


class Unfit(ForearmError):
    """A peer cannot be asked about this arm; the text says why."""


class Ready(Protocol):
    """A peer prepared for one arm at one setting."""

    def fk(self, q: Array) -> Array:
        """The tip's pose in the base (4x4), by the peer's own forward kinematics."""
        ...

    def solve(self, target: Array, seed: Array) -> Array | None:
        """The joint vector that the peer calls a success, or None where it says that it has none.

        Whatever a peer that has no status gives back counts as a claim.
        """
        ...


class Peer(Protocol):
    name: str
    package: str
    """What ``pip`` calls it."""
    settings: tuple[str, ...]
    """``"best"``, the best that is known for 1e-6 m and 1e-6 rad, and ``"default"``."""

    def prepare(self, subject: Subject, setting: str) -> Ready:
        """Raises ``ImportError`` if the package is missing, ``Unfit`` if it cannot take the arm."""
        ...


PEERS: Registry[type[Peer]] = Registry("peer", "forearm.bench.peers")
register = PEERS.register
peer_names = PEERS.names


def make_peer(name: str) -> Peer:
    """The adapter called ``name``."""
    return PEERS.make(name)


def start_postures(robot: Robot, count: int) -> Array:
    """Where peers without restarts of their own start again, (count, dof): the same at every call."""
    generator = np.random.default_rng(0)
    return np.array([uniform_in_limits(robot, generator) for _ in range(count)])
