"""toppra, asked for the fastest timing of one segment whose limits are tables along its grid."""

from __future__ import annotations

import importlib
import warnings
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from forearm.errors import MissingExtra
from forearm.motion.joint_path import JointPath
from forearm.motion.limits import NoMotionPlan
from forearm.motion.pieces import Pieces
from forearm.spatial import Array

ROUNDS = 12
"""Times that damping, which is not linear in ṡ², is put where the last timing had it."""
SETTLED = 1e-8
"""Change of ṡ, by its peak, at which damping counts as found."""

FREE = 1e4
"""ṡ (in rad/s of the fastest joint) that stands for no limit of speed."""


@dataclass(frozen=True, eq=False, slots=True)
class Bounds:
    """|a u + b x + c + d ṡ| <= 1 at every point of a grid, with x = ṡ² and u = s̈; (cells + 1, m) each."""

    a: Array
    b: Array
    c: Array
    d: Array


def fastest(
    path: JointPath, max_speed: Array, bounds: Bounds, segment: int, end_at_rest: bool = True
) -> Pieces:
    """From rest to rest along ``path`` within |q'| ṡ <= max_speed and ``bounds``, or to any speed at its end.

    Between points of the grid s̈ is constant, and the bounds hold at both ends of every step. Raises
    ``NoMotionPlan``.
    """
    # In units of s = 1 the numbers depend on the segment's length; toppra's tolerances do not.
    scale = float(np.abs(path.first).max())
    speeds = np.zeros(len(path.s))
    for _ in range(ROUNDS if bounds.d.any() else 1):
        before = speeds
        still = bounds.c + bounds.d * before[:, None]
        speeds = toppra_speeds(path, max_speed, bounds, still, scale, end_at_rest)
        if not (np.isfinite(speeds).all() and (speeds[1:-1] > 0.0).all()):
            raise NoMotionPlan(f"toppra finds no timing for segment {segment + 1} of the path.")
        if np.abs(speeds - before).max() <= SETTLED * speeds.max():
            break
    return pieces_of(path.s, speeds)


def toppra_speeds(
    path: JointPath, max_speed: Array, bounds: Bounds, still: Array, scale: float, end_at_rest: bool
) -> Array:
    """ṡ at the grid's points; NaN where toppra finds none. ``still`` is the part without u and x."""
    toppra = import_toppra()
    grid = path.s * scale
    scaled = JointPath(grid, path.q, path.first / scale, path.second / scale**2)
    with np.errstate(divide="ignore"):
        fastest_s = (max_speed / np.abs(scaled.first)).min(axis=1)
    top = np.minimum(fastest_s, FREE) ** 2
    constraint = table_constraint()(bounds.a / scale, bounds.b / scale**2, still, top)
    planner = toppra.algorithm.TOPPRA([constraint], scaled, gridpoints=grid, solver_wrapper="seidel")
    if not end_at_rest:
        # toppra asks for one speed at the end; its sets of speeds may as well begin with all of them.
        backwards, most = planner.compute_controllable_sets, float(np.sqrt(top[-1]))
        planner.compute_controllable_sets = lambda *_: backwards(0.0, most)
    _, speeds, _ = planner.compute_parameterization(0.0, 0.0)
    return np.full(len(grid), np.nan) if speeds is None else np.asarray(speeds) / scale


def pieces_of(s: Array, speeds: Array) -> Pieces:
    """The profile with ṡ given at points of s and s̈ constant between: ṡ² is linear in s."""
    steps = np.diff(s)
    seconds = 2.0 * steps / (speeds[:-1] + speeds[1:])
    ends = np.cumsum(seconds)
    return Pieces(
        starts_s=np.concatenate([[0.0], ends[:-1]]),
        s=s[:-1],
        first=speeds[:-1],
        second=np.diff(speeds**2) / (2.0 * steps),
        jerk=np.zeros(len(steps)),
        duration_s=float(ends[-1]),
    )


@lru_cache(maxsize=1)
def import_toppra() -> Any:
    try:
        with warnings.catch_warnings():
            # Its docstrings hold escapes that Python warns about when it compiles them.
            warnings.simplefilter("ignore")
            return importlib.import_module("toppra")
    except ImportError as error:
        raise MissingExtra("toppra", "time-optimal motion", "motion") from error


@lru_cache(maxsize=1)
def table_constraint() -> Any:
    """The class of |a u + b x + c| <= 1 and x <= top, given as tables; made once toppra is there."""
    import_toppra()
    linear = importlib.import_module("toppra.constraint.linear_constraint")
    base: Any = linear.LinearConstraint

    class Table(base):
        def __init__(self, a: Array, b: Array, c: Array, top: Array) -> None:
            super().__init__()
            self.rows, self.top = (a, b, c), top
            self.identical = True

        def compute_constraint_params(self, path: Any, gridpoints: Array) -> Any:  # noqa: ARG002
            count = self.rows[0].shape[1]
            sides = np.vstack([np.eye(count), -np.eye(count)])
            x_range = np.column_stack([np.zeros(len(self.top)), self.top])
            *tables, _, _ = linear.canlinear_colloc_to_interpolate(
                *self.rows, sides, np.ones(2 * count), None, None, gridpoints, identical=True
            )
            return *tables, None, x_range

    return Table
