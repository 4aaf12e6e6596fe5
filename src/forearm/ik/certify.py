"""The gate. Solvers propose; this alone says ``SOLVED``, and ``UNREACHABLE`` where ``ik.proofs`` has a proof.

Every candidate is replayed by ``ik.replay`` and held against the tolerances and the limits.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import TypeVar

import numpy as np

from forearm.ik.problem import LIMIT_TOLERANCE, Problem
from forearm.ik.proofs import unreachable
from forearm.ik.proposal import Proposal, Stop
from forearm.ik.replay import (
    ACCEPTED,
    AUDIT,
    DROPS,
    LIMITS,
    NOT_FINITE,
    POSITION,
    REPORT_COLUMNS,
    ROTATION,
    VERDICT,
    distinct,
    errors_between,
    report_path_into,
    reports_on,
)
from forearm.ik.replay_batch import judge_kernel
from forearm.ik.result import BestEffort, IKResult, Posture, Solution, Status
from forearm.ik.solver import Solver, make_solver, proposal_of
from forearm.ik.threads import Crew
from forearm.kinematics.reach import bounds_table
from forearm.kinematics.screws import screws_of
from forearm.spatial import Array, frozen_array

Kind = TypeVar("Kind", bound=Posture)

NONE = frozen_array(np.empty((0, 0)))


def certify(
    problem: Problem, proposal: Proposal, solver: Solver, time_s: float, audit: bool = False
) -> IKResult:
    """Judge a proposal and make the result of it."""
    audited: dict[str, tuple[float, float]] = {}
    remarks: list[str] = []
    candidates, reports, kept = NONE, NONE, []
    if proposal.candidates:
        candidates = stacked(proposal.candidates, problem.robot.dof)
        reports = reports_on(problem, candidates)
        if audit:
            audited, remarks = audit_reports(problem, candidates, reports)
        kept = distinct(problem, candidates, reports)
    solutions = tuple([posture(problem, Solution, candidates[k], reports[k].tolist()) for k in kept])
    status, reason, proof = Status.SOLVED, "certified", None
    if not solutions:
        proof = unreachable(problem)
        if proof is not None:
            status, reason = Status.UNREACHABLE, proof.reason
        else:
            status, reason = Status.NOT_FOUND, explanation(problem, proposal, reports, remarks)
    return IKResult(
        problem=problem,
        solver=solver.name,
        status=status,
        reason=reason,
        evidence=proof,
        solutions=solutions,
        search=None if solutions else nearest_posture,
        proposal=proposal,
        drops=drop_counts(reports, len(kept)) if len(kept) < len(candidates) else {},
        time_s=time_s,
        audit=audited,
    )


def certify_batch(
    problem: Problem, targets: Array, answers: Array, iterations: Array, crew: Crew
) -> tuple[Array, Array]:
    """Judge many answers of one kind of question, those to which ``iterations`` is above 0.

    Returns their places in ``list(Status)`` and (m, rad) errors; what is not certified becomes NaN.
    """
    robot, tolerance = problem.robot, problem.tolerance
    codes, errors = np.empty(len(targets), dtype=np.int64), np.empty((len(targets), 2))
    judge_some, counter = judge_kernel(), np.zeros(1, dtype=np.int64)
    screws, bounds = screws_of(robot), bounds_table(robot, problem.task)
    free = problem.task == "position"
    allowed = np.array([tolerance.position_m, tolerance.rotation_rad, free])

    def judge() -> None:
        judge_some(
            screws,
            problem.limits,
            bounds,
            targets,
            problem.axis_in_tip,
            allowed,
            answers,
            iterations,
            codes,
            errors,
            counter,
        )

    crew.share(judge, counter, len(targets))
    return codes, errors


def certify_path(problem: Problem, start: Array, targets: Array, answers: Array) -> tuple[Array, Array]:
    """Judge answers to one kind of question, a target each, given one after the other from ``start`` on.

    Returns a report a row (``ik.replay``), and the largest joint motion of each step.
    """
    reports, moved = np.empty((len(answers), REPORT_COLUMNS)), np.empty(len(answers))
    report_path_into(
        screws_of(problem.robot),
        problem.limits,
        targets,
        problem.axis_in_tip,
        problem.tolerance.position_m,
        problem.tolerance.rotation_rad if problem.task != "position" else math.inf,
        start,
        answers,
        reports,
        moved,
    )
    return reports, moved


def stacked(candidates: Sequence[Array], dof: int) -> Array:
    """A read-only copy, a row each; NaN for what is no vector of ``dof`` numbers."""
    try:
        vectors = np.array(candidates, dtype=np.float64)
    except (TypeError, ValueError):
        vectors = np.empty(0)
    if vectors.shape != (len(candidates), dof):
        vectors = np.full((len(candidates), dof), math.nan)
        for row, q in zip(vectors, candidates, strict=True):
            if np.shape(q) == (dof,):
                row[:] = q
    vectors.flags.writeable = False
    return vectors


def posture(problem: Problem, kind: type[Kind], q: Array, report: list[float]) -> Kind:
    """A joint vector with what the replay says of it."""
    position, rotation, margin_rad, margin_m, tightest, _ = report
    joint = problem.robot.joints[int(tightest)].name if tightest >= 0.0 else None
    if problem.task == "position":
        rotation = math.nan
    return kind(q, position, rotation, margin_rad, margin_m, joint, problem)


def drop_counts(reports: Array, kept: int) -> dict[str, int]:
    """How many candidates were turned away, by reason."""
    counts = Counter(reports[:, VERDICT].astype(int).tolist())
    repeated = counts.pop(ACCEPTED, 0) - kept
    drops = {DROPS[verdict]: number for verdict, number in counts.items()}
    if repeated:
        drops["duplicate"] = repeated
    return drops


def audit_reports(
    problem: Problem, candidates: Array, reports: Array
) -> tuple[dict[str, tuple[float, float]], list[str]]:
    """Replay what passed in both engines; turn away what one of them does not confirm, and say so."""
    # Imported here, since both engines are large and only an audit needs them.
    from forearm.ik.audit import replays_of

    worst: dict[str, tuple[float, float]] = {}
    remarks = []
    tolerance, replays = problem.tolerance, replays_of(problem.robot)
    for q, report in zip(candidates, reports, strict=True):
        if report[VERDICT] != ACCEPTED:
            continue
        for engine, replay in replays.items():
            position, rotation = errors_between(problem.target, replay.tip_matrix(q), problem.axis_in_tip)
            if problem.task == "position":
                rotation = 0.0
            before = worst.get(engine, (0.0, 0.0))
            worst[engine] = max(before[0], position), max(before[1], rotation)
            # Written so that a NaN fails.
            if not (position <= tolerance.position_m and rotation <= tolerance.rotation_rad):
                report[VERDICT] = AUDIT
                remarks.append(f"{engine} finds it {position:.3g} m and {rotation:.3g} rad off")
    return worst, remarks


def explanation(problem: Problem, proposal: Proposal, reports: Array, remarks: list[str]) -> str:
    """Why nothing was found."""
    if proposal.stop is Stop.CONVERGED and len(reports):
        details = [*(detail(problem, report.tolist()) for report in reports), *remarks]
        return f"rejected: {'; '.join(dict.fromkeys(filter(None, details)))}"
    return str(Stop.STALLED if proposal.stop is Stop.CONVERGED else proposal.stop)


def detail(problem: Problem, report: list[float]) -> str:
    """What is wrong with a candidate."""
    position, rotation, margin_rad, margin_m, tightest, verdict = report
    if verdict == NOT_FINITE:
        return "the candidate is not a finite joint vector"
    if verdict == POSITION:
        return f"misses by {position:.3g} m"
    if verdict == ROTATION:
        return f"misses by {rotation:.3g} rad"
    if verdict == LIMITS:
        past, unit = (-margin_rad, "rad") if margin_rad <= margin_m else (-margin_m, "m")
        return f"joint {problem.robot.joints[int(tightest)].name} is {past:.3g} {unit} past its limit"
    return ""


def nearest_posture(result: IKResult) -> BestEffort | None:
    """The nearest that the solver, the proof, or whom the solver names for it, came; never a solution."""
    problem, proposal = result.problem, result.proposal
    vectors = [*proposal.candidates, proposal.nearest]
    if result.evidence is not None:
        vectors.append(result.evidence.nearest)
    if proposal.nearest_by is not None:
        asked = proposal_of(make_solver(proposal.nearest_by), problem)
        vectors += [*asked.candidates, asked.nearest]
    tried = stacked([vector for vector in vectors if vector is not None], problem.robot.dof)
    postures = [
        posture(problem, BestEffort, q, report.tolist())
        for q, report in zip(tried, reports_on(problem, tried), strict=True)
        if report[VERDICT] != NOT_FINITE
    ]
    return min(postures, key=failure_order, default=None)


def failure_order(failed: Posture) -> tuple[bool, float]:
    """Postures inside the limits first, then by metres and radians summed: fit to order failures only."""
    rotation = failed.rotation_error_rad
    outside = min(failed.limit_margin_rad, failed.limit_margin_m) < -LIMIT_TOLERANCE
    return outside, failed.position_error_m + (0.0 if math.isnan(rotation) else rotation)
