"""The gate. Solvers propose; this alone says ``SOLVED``, and ``UNREACHABLE`` where ``ik.proofs`` has a proof.

Every candidate is replayed by the product of exponentials (``kinematics.screws``), which shares no
code and no constants with the chain that solvers iterate on, and held against the limits.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from forearm.ik.branches import branch_name
from forearm.ik.limits import same_up_to_turns, winding_count
from forearm.ik.problem import LIMIT_TOLERANCE, Problem
from forearm.ik.proofs import Proof, unreachable
from forearm.ik.result import BestEffort, Diagnostics, IKResult, Posture, Solution, Status
from forearm.ik.solver import Proposal, Solver, Stop
from forearm.kinematics.forward import jacobian
from forearm.kinematics.measures import dexterity_of, task_rows
from forearm.kinematics.screws import replay_into, screws_of
from forearm.spatial import Array

SAME_RAD = 1e-5
"""Candidates nearer to each other than this (rad or m, turns aside) are one solution."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the gate says of one candidate: nothing, or why it was turned away."""

    posture: Posture
    drop: str | None
    detail: str = ""


def certify(
    problem: Problem, proposal: Proposal, solver: Solver, time_s: float, audit: bool = False
) -> IKResult:
    """Judge a proposal and make the result of it."""
    verdicts = [judge(problem, q) for q in proposal.candidates]
    audited: dict[str, tuple[float, float]] = {}
    if audit:
        verdicts, audited = audit_verdicts(problem, verdicts)
    solutions, duplicates = distinct(problem, verdicts)
    drops = Counter(verdict.drop for verdict in verdicts if verdict.drop)
    if duplicates:
        drops["duplicate"] = duplicates

    best_effort = None
    if solutions:
        status, reason, proof = Status.SOLVED, "certified", None
    else:
        found = unreachable(problem)
        status, reason, proof = explain(proposal, verdicts, found)
        best_effort = nearest_posture(problem, proposal, verdicts, found)
    return IKResult(
        status=status,
        reason=reason,
        proof=proof,
        solutions=tuple(solutions),
        best_effort=best_effort,
        solver=solver.name,
        frame=problem.frame,
        seed=problem.seed,
        tolerance=problem.tolerance,
        diagnostics=Diagnostics(
            iterations=proposal.iterations,
            restarts=proposal.restarts,
            ran=proposal.solver or solver.name,
            candidates=len(proposal.candidates),
            drops=dict(drops),
            damping=proposal.damping,
            clamped_steps=proposal.clamped_steps,
            limited_steps=proposal.limited_steps,
            time_s=time_s,
            history=proposal.history,
        ),
        warnings=problem.warnings,
        audit=audited,
    )


def judge(problem: Problem, q: Array) -> Verdict:
    """Replay one candidate and hold it against the tolerances and the limits."""
    robot = problem.robot
    q = np.array(q, dtype=np.float64)
    q.flags.writeable = False
    if q.shape != (robot.dof,) or not np.isfinite(q).all():
        empty = measure(problem, Solution, problem.seed)
        return Verdict(empty, "not finite", "the candidate is not a finite joint vector")
    posture = measure(problem, Solution, q)
    tolerance = problem.tolerance
    # Written so that a NaN fails.
    if not posture.position_error_m <= tolerance.position_m:
        return Verdict(posture, "position", f"misses by {posture.position_error_m:.3g} m")
    if problem.task == "pose" and not posture.rotation_error_rad <= tolerance.rotation_rad:
        return Verdict(posture, "rotation", f"misses by {posture.rotation_error_rad:.3g} rad")
    if min(posture.limit_margin_rad, posture.limit_margin_m) < -LIMIT_TOLERANCE:
        past = -min(posture.limit_margin_rad, posture.limit_margin_m)
        unit = "rad" if -posture.limit_margin_rad == past else "m"
        return Verdict(posture, "limits", f"joint {posture.limit_joint} is {past:.3g} {unit} past its limit")
    return Verdict(posture, None)


def measure(problem: Problem, kind: type[Posture], q: Array) -> Posture:
    """Everything a result says of a joint vector."""
    robot = problem.robot
    transform = np.empty((4, 4))
    replay_into(screws_of(robot), q, transform)
    position_error, rotation_error = distance_between(problem.target_in_base.matrix(), transform)
    margins = np.minimum(q - robot.lower, robot.upper - q)
    turns = np.array(robot.turns)
    tightest = int(np.argmin(margins))
    agility = dexterity_of(jacobian(robot, q)[task_rows(problem.task)])
    return kind(
        q=q,
        position_error_m=position_error,
        rotation_error_rad=rotation_error if problem.task == "pose" else float("nan"),
        limit_margin_rad=float(margins[turns].min(initial=np.inf)),
        limit_margin_m=float(margins[~turns].min(initial=np.inf)),
        limit_joint=robot.joint_names[tightest] if np.isfinite(margins[tightest]) else None,
        branch=branch_name(robot, q),
        winding_count=winding_count(robot, q),
        manipulability=agility.manipulability,
        min_singular_value=agility.min_singular_value,
        condition_number=agility.condition_number,
    )


def distance_between(target: Array, current: Array) -> tuple[float, float]:
    """(m, rad) between two 4x4 poses; the angle from sine and cosine, so that none is ill-conditioned."""
    relative = target[:3, :3] @ current[:3, :3].T
    sine = 0.5 * np.sqrt(
        (relative[2, 1] - relative[1, 2]) ** 2
        + (relative[0, 2] - relative[2, 0]) ** 2
        + (relative[1, 0] - relative[0, 1]) ** 2
    )
    cosine = 0.5 * (relative[0, 0] + relative[1, 1] + relative[2, 2] - 1.0)
    return float(np.linalg.norm(target[:3, 3] - current[:3, 3])), float(np.arctan2(sine, cosine))


def distinct(problem: Problem, verdicts: Sequence[Verdict]) -> tuple[list[Solution], int]:
    """The certified postures, best first, one for each place the arm can be; and how many repeated."""
    certified = [v.posture for v in verdicts if v.drop is None and isinstance(v.posture, Solution)]
    if problem.seed_given:
        certified.sort(key=lambda posture: float(np.linalg.norm(posture.q - problem.seed)))
    kept: list[Solution] = []
    for posture in certified:
        if not any(same_up_to_turns(problem.robot, posture.q, other.q, SAME_RAD) for other in kept):
            kept.append(posture)
    return kept, len(certified) - len(kept)


def audit_verdicts(
    problem: Problem, verdicts: Sequence[Verdict]
) -> tuple[list[Verdict], dict[str, tuple[float, float]]]:
    """Replay what passed in both engines; drop what one of them does not confirm."""
    # Imported here, since both engines are large and only an audit needs them.
    from forearm.ik.audit import replays_of

    worst: dict[str, tuple[float, float]] = {}
    judged = list(verdicts)
    target = problem.target_in_base.matrix()
    replays = replays_of(problem.robot)
    for index, verdict in enumerate(verdicts):
        if verdict.drop is not None:
            continue
        for engine, replay in replays.items():
            position, rotation = distance_between(target, replay.tip_matrix(verdict.posture.q))
            if problem.task == "position":
                rotation = 0.0
            before = worst.get(engine, (0.0, 0.0))
            worst[engine] = max(before[0], position), max(before[1], rotation)
            # Written so that a NaN fails.
            if not (position <= problem.tolerance.position_m and rotation <= problem.tolerance.rotation_rad):
                detail = f"{engine} finds it {position:.3g} m and {rotation:.3g} rad off"
                judged[index] = Verdict(verdict.posture, "audit", detail)
    return judged, worst


def explain(
    proposal: Proposal, verdicts: Sequence[Verdict], proof: Proof | None
) -> tuple[Status, str, str | None]:
    """Why there is no solution: proved, or not found."""
    if proof is not None:
        return Status.UNREACHABLE, proof.reason, proof.statement
    if proposal.stop is Stop.CONVERGED and verdicts:
        details = "; ".join(dict.fromkeys(verdict.detail for verdict in verdicts))
        return Status.NOT_FOUND, f"rejected: {details}", None
    stop = Stop.STALLED if proposal.stop is Stop.CONVERGED else proposal.stop
    return Status.NOT_FOUND, str(stop), None


def nearest_posture(
    problem: Problem, proposal: Proposal, verdicts: Sequence[Verdict], proof: Proof | None
) -> BestEffort | None:
    """The nearest that the solver or the proof came, measured like a solution but never one."""
    tried = [verdict.posture.q for verdict in verdicts if verdict.drop != "not finite"]
    for nearest in (proposal.nearest, proof.nearest if proof else None):
        if nearest is not None and np.shape(nearest) == (problem.robot.dof,) and np.isfinite(nearest).all():
            tried.append(nearest)
    postures = [measure(problem, BestEffort, q) for q in tried]
    best = min(postures, key=failure_order, default=None)
    return best if isinstance(best, BestEffort) else None


def failure_order(posture: Posture) -> tuple[bool, float]:
    """Postures inside the limits first, then by metres and radians summed: fit to order failures only."""
    outside = min(posture.limit_margin_rad, posture.limit_margin_m) < -LIMIT_TOLERANCE
    rotation = posture.rotation_error_rad
    return outside, posture.position_error_m + (0.0 if np.isnan(rotation) else rotation)
