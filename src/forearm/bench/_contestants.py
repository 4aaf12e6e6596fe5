"""Who is asked in the inverse kinematics benchmark, each by one call that takes a target and a seed."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from forearm.arm import Arm
from forearm.bench._solving import uniform_in_limits
from forearm.bench._urdf import write_chain_urdf
from forearm.bench.peers import Peer, Subject, Unfit, make_peer
from forearm.ik.audit import PinocchioReplay
from forearm.ik.problem import LIMIT_TOLERANCE
from forearm.ik.replay import distance_between
from forearm.ik.solver import make_solver, solver_names
from forearm.spatial import Array

Ask = Callable[[Array, Array], Array | None]
"""A joint vector that is claimed to be right, or None."""

DIRECT, CONTRACT = "forearm, direct", "forearm, arm.ik"
TEXTBOOK = "textbook"
BASELINE_ITERATIONS = 200
TOLERANCE = 1e-6
"""Metres and radians, for everyone."""
ROUNDING = 1e-11
"""Between two engines."""
FK_AGREES = 1e-9
FK_POSTURES = 20


@dataclass(slots=True)
class Contestant:
    """One solver at one setting, prepared for one arm."""

    name: str
    setting: str
    ask: Ask

    def answer(self, target: Array, seed: Array) -> tuple[Array | None, float]:
        """A copy of what it claims, if anything, and the time that it took (µs)."""
        begun = time.perf_counter_ns()
        try:
            q = self.ask(target, seed)
        except KeyboardInterrupt:
            raise
        except BaseException:
            # Some bindings panic with what is no Exception. It is no answer.
            q = None
        time_us = 1e-3 * (time.perf_counter_ns() - begun)
        return None if q is None else np.array(q, dtype=np.float64), time_us


@dataclass(slots=True)
class Field:
    """An arm, those who are asked about it, and those who are not, with the reason."""

    name: str
    arm: Arm
    replay: PinocchioReplay
    contestants: list[Contestant] = field(default_factory=list)
    left_out: list[dict[str, str]] = field(default_factory=list)

    def judged(self, target: Array, q: Array) -> tuple[bool, float, float]:
        """Whether an answer is true, and by how much (m, rad) it misses, by Pinocchio and the limits."""
        position, rotation = distance_between(target, self.replay.tip_matrix(q))
        inside = (q >= self.arm.lower - LIMIT_TOLERANCE) & (q <= self.arm.upper + LIMIT_TOLERANCE)
        # Written so that a NaN fails.
        near = position <= TOLERANCE + ROUNDING and rotation <= TOLERANCE + ROUNDING
        return bool(near and inside.all()), position, rotation


def field_of(name: str, arm: Arm, peers: Sequence[str], folder: Path) -> Field:
    """Everyone who can be asked about ``arm``; the arm is told to peers by a file in ``folder``."""
    urdf = folder / f"{name}.urdf"
    write_chain_urdf(arm, urdf)
    made = Field(name, arm, PinocchioReplay(arm))
    made.contestants = [*ours(arm), *baselines(arm)]
    for peer_name in peers:
        peer = make_peer(peer_name)
        for setting in peer.settings:
            reason = enter(made, peer, setting, Subject(arm, urdf))
            if reason:
                made.left_out.append({"solver": peer.name, "setting": setting, "arm": name, "reason": reason})
    return made


def enter(made: Field, peer: Peer, setting: str, subject: Subject) -> str:
    """Add a peer if it is installed, can take the arm, and has the same kinematics; else say why not."""
    try:
        ready = peer.prepare(subject, setting)
    except ImportError:
        return f"not installed: pip install 'forearm[peers]' ({peer.package})"
    except Unfit as error:
        return str(error)
    generator, worst = np.random.default_rng(0), 0.0
    for _ in range(FK_POSTURES):
        q = uniform_in_limits(made.arm, generator)
        worst = max(worst, float(np.abs(ready.fk(q) - made.replay.tip_matrix(q)).max()))
    if not worst <= FK_AGREES:
        return f"its forward kinematics are {worst:.2g} off Pinocchio's"
    made.contestants.append(Contestant(peer.name, setting, ready.solve))
    return ""


def ours(arm: Arm) -> list[Contestant]:
    """Our tiers: the compiled solver alone, and the whole contract."""
    solve_into, answer = arm.direct_solver(), np.empty(arm.dof)

    def direct(target: Array, seed: Array) -> Array | None:
        return answer if solve_into(target, seed, answer) > 0 else None

    made = [
        Contestant(DIRECT, "best", direct),
        Contestant(CONTRACT, "best", asking(arm)),
    ]
    try:
        if make_solver("analytic").supports(arm, "pose") and arm.dof == 6:
            arm.ik(arm.fk(arm.home), solver="analytic")
            made.append(Contestant("forearm, analytic", "best", asking(arm, solver="analytic")))
    except ImportError:
        pass  # The tables then have no such row; the extra is named in the list of those left out.
    return made


def baselines(arm: Arm) -> list[Contestant]:
    """The textbook solvers of this project."""
    names = [name for name in solver_names() if name not in ("race", "analytic", "planar")]
    return [
        Contestant(f"{TEXTBOOK} {name}", "best", asking(arm, solver=name, max_iterations=BASELINE_ITERATIONS))
        for name in names
    ]


def asking(arm: Arm, **question: Any) -> Ask:
    def ask(target: Array, seed: Array) -> Array | None:
        result = arm.ik(target, seed=seed, **question)
        return result.solutions[0].q if result.solutions else None

    return ask


def timed(made: Field, who: Contestant, targets: Array, seeds: Array) -> list[dict[str, Any]]:
    """Ask every question once; a row each: the time, what was claimed, and what is true."""
    answers = [who.answer(target, seed) for target, seed in zip(targets, seeds, strict=True)]
    rows = []
    for target, seed, (q, time_us) in zip(targets, seeds, answers, strict=True):
        true, position, rotation = (False, None, None) if q is None else made.judged(target, q)
        rows.append(
            {
                "arm": made.name,
                "solver": who.name,
                "setting": who.setting,
                "time_us": time_us,
                "claimed": q is not None,
                "solved": true,
                "position_error_m": position,
                "rotation_error_rad": rotation,
                "distance_rad": None if q is None else float(np.linalg.norm(q - seed)),
            }
        )
    return rows
