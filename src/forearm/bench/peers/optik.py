"""OptIK: Lie-group gradients and SLSQP with random restarts, in Rust."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from forearm.bench.peers import Ready, Subject, Unfit, register
from forearm.spatial import Array

BEST: dict[str, Any] = {"tol_f": 1e-12, "max_time": 1.0}
"""``tol_f`` bounds the squared error, so its default, 1e-6, leaves a millimetre."""
THREADS = 1
"""So the answers are the same every time; two threads on two cores are no faster, at the median or at p95."""


@register
class OptIK:
    name = "OptIK"
    package = "optik-py"
    settings = ("best", "default")

    def prepare(self, subject: Subject, setting: str) -> Ready:
        with warnings.catch_warnings(action="ignore"):
            import optik

        robot = subject.robot
        if not np.isfinite(robot.lower).all() or not np.isfinite(robot.upper).all():
            # It panics, with an exception that ``except Exception`` does not catch.
            raise Unfit("OptIK panics on joints without limits")
        chain = optik.Robot.from_urdf_file(str(subject.urdf), subject.base_link, subject.tip_link)
        if setting == "best":
            chain.set_parallelism(THREADS)
            return ReadyOptIK(chain, optik.SolverConfig(**BEST))
        return ReadyOptIK(chain, optik.SolverConfig())


class ReadyOptIK:
    def __init__(self, chain: Any, config: Any) -> None:
        self.chain, self.config = chain, config

    def fk(self, q: Array) -> Array:
        return np.array(self.chain.fk(q))

    def solve(self, target: Array, seed: Array) -> Array | None:
        found = self.chain.ik(self.config, target, seed)
        return None if found is None else np.array(found[0])
