"""The gate's arithmetic, compiled: candidates replayed, held against the limits, put in order.

It stands on the product of exponentials (``kinematics.screws``) and shares no code and no constants
with the chains that solvers iterate on.
"""

from __future__ import annotations

import math

import numpy as np

from forearm.ik.problem import LIMIT_TOLERANCE, WHOLE_ROTATION, Problem
from forearm.kinematics.compiling import compiled, lean
from forearm.kinematics.screws import SLIDES, replay_into, screws_of
from forearm.spatial import Array

# Columns of the report on a candidate.
POSITION_ERROR, ROTATION_ERROR, MARGIN_RAD, MARGIN_M, TIGHTEST, VERDICT = range(6)
REPORT_COLUMNS = 6

ACCEPTED, NOT_FINITE, POSITION, ROTATION, LIMITS, AUDIT = range(6)
DROPS = {
    NOT_FINITE: "not finite",
    POSITION: "position",
    ROTATION: "rotation",
    LIMITS: "limits",
    AUDIT: "audit",
}
"""Why a candidate is turned away."""

SAME_RAD = 1e-5
"""Candidates nearer to each other than this (rad or m, turns aside) are one solution."""
TURN = 2.0 * math.pi


def reports_on(problem: Problem, candidates: Array) -> Array:
    """A row (see the columns above) for each row of ``candidates``; not a number where one is not finite."""
    reports = np.empty((len(candidates), REPORT_COLUMNS))
    report_into(
        screws_of(problem.robot),
        problem.limits,
        problem.target,
        problem.axis_in_tip,
        problem.tolerance.position_m,
        problem.tolerance.rotation_rad if problem.task != "position" else math.inf,
        candidates,
        reports,
    )
    return reports


def distinct(problem: Problem, candidates: Array, reports: Array) -> list[int]:
    """The numbers of the candidates that passed, best first, one for each place the arm can be."""
    if len(candidates) == 1:
        return [0] if reports[0, VERDICT] == ACCEPTED else []
    order = np.empty(len(candidates), dtype=np.int64)
    kept = order_into(
        screws_of(problem.robot), candidates, reports, problem.seed, problem.seed_given, SAME_RAD, order
    )
    return order[:kept].tolist()


@compiled
def report_into(screws, limits, target, axis_in_tip, position_m, rotation_rad, candidates, reports):
    """Replay every candidate; ``limits`` is (2, n). An axis of zeros stands for the whole rotation."""
    tip = np.empty((4, 4))
    for k in range(candidates.shape[0]):
        report_one(
            screws, limits, target, axis_in_tip, position_m, rotation_rad, candidates[k], tip, reports[k]
        )


@compiled
def report_path_into(
    screws, limits, targets, axis_in_tip, position_m, rotation_rad, start, candidates, reports, moved
):
    """The same for candidates that have a target each, (N, 4, 4), and come one after the other.

    Writes also how far the joint moved that moved most from each to the next, ``start`` being the first.
    """
    tip = np.empty((4, 4))
    for k in range(candidates.shape[0]):
        report_one(
            screws, limits, targets[k], axis_in_tip, position_m, rotation_rad, candidates[k], tip, reports[k]
        )
        farthest = 0.0
        for i in range(candidates.shape[1]):
            before = candidates[k - 1, i] if k > 0 else start[i]
            farthest = max(farthest, abs(candidates[k, i] - before))
        moved[k] = farthest


@lean
def report_one(screws, limits, target, axis_in_tip, position_m, rotation_rad, q, tip, report):
    """Replay one candidate; ``tip`` is scratch (4x4)."""
    for i in range(q.shape[0]):
        if not math.isfinite(q[i]):
            report[:] = math.nan
            report[VERDICT] = NOT_FINITE
            return
    replay_into(screws, q, tip)
    distance, angle = errors_between(target, tip, axis_in_tip)
    margin_rad, margin_m, least, tightest = math.inf, math.inf, math.inf, -1
    for i in range(q.shape[0]):
        margin = min(q[i] - limits[0, i], limits[1, i] - q[i])
        if screws[i, SLIDES] != 0.0:
            margin_m = min(margin_m, margin)
        else:
            margin_rad = min(margin_rad, margin)
        if margin < least:
            least, tightest = margin, i
    report[POSITION_ERROR], report[ROTATION_ERROR] = distance, angle
    report[MARGIN_RAD], report[MARGIN_M], report[TIGHTEST] = margin_rad, margin_m, tightest
    # Written so that what is not a number fails.
    if not distance <= position_m:
        report[VERDICT] = POSITION
    elif not angle <= rotation_rad:
        report[VERDICT] = ROTATION
    elif not least >= -LIMIT_TOLERANCE:
        report[VERDICT] = LIMITS
    else:
        report[VERDICT] = ACCEPTED


@lean
def errors_between(target, tip, axis_in_tip):
    """(m, rad) between two 4x4 poses; the angle from sine and cosine, so that none is ill-conditioned."""
    dx, dy, dz = target[0, 3] - tip[0, 3], target[1, 3] - tip[1, 3], target[2, 3] - tip[2, 3]
    distance = math.sqrt(dx * dx + dy * dy + dz * dz)
    a, b, c = axis_in_tip[0], axis_in_tip[1], axis_in_tip[2]
    if a != 0.0 or b != 0.0 or c != 0.0:
        return distance, angle_between_axes(target, tip, a, b, c)
    # The entries of target · tipᵀ that the angle needs.
    vx = row_product(target, 2, tip, 1) - row_product(target, 1, tip, 2)
    vy = row_product(target, 0, tip, 2) - row_product(target, 2, tip, 0)
    vz = row_product(target, 1, tip, 0) - row_product(target, 0, tip, 1)
    trace = row_product(target, 0, tip, 0) + row_product(target, 1, tip, 1) + row_product(target, 2, tip, 2)
    return distance, math.atan2(0.5 * math.sqrt(vx * vx + vy * vy + vz * vz), 0.5 * (trace - 1.0))


def distance_between(target: Array, current: Array) -> tuple[float, float]:
    """(m, rad) between two 4x4 poses."""
    return errors_between(target, current, WHOLE_ROTATION)


@lean
def angle_between_axes(target, tip, a, b, c):
    """The angle between the direction (a, b, c) turned by either pose."""
    ux, uy, uz = turned_by(target, 0, a, b, c), turned_by(target, 1, a, b, c), turned_by(target, 2, a, b, c)
    vx, vy, vz = turned_by(tip, 0, a, b, c), turned_by(tip, 1, a, b, c), turned_by(tip, 2, a, b, c)
    x, y, z = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
    return math.atan2(math.sqrt(x * x + y * y + z * z), ux * vx + uy * vy + uz * vz)


@lean
def turned_by(pose, row, a, b, c):
    return pose[row, 0] * a + pose[row, 1] * b + pose[row, 2] * c


@lean
def row_product(left, i, right, j):
    return left[i, 0] * right[j, 0] + left[i, 1] * right[j, 1] + left[i, 2] * right[j, 2]


@lean
def order_into(screws, candidates, reports, seed, by_seed, same_rad, order):
    """Write the numbers of the accepted candidates that are distinct, nearest to the seed first if asked.

    Returns how many there are. Joint vectors that differ by whole turns are one.
    """
    count = 0
    for k in range(candidates.shape[0]):
        if reports[k, VERDICT] == ACCEPTED:
            j = count
            while by_seed and j > 0:
                if squared_distance(candidates[order[j - 1]], seed) <= squared_distance(candidates[k], seed):
                    break
                order[j] = order[j - 1]
                j -= 1
            order[j] = k
            count += 1
    kept = 0
    for place in range(count):
        repeated = False
        for other in range(kept):
            if same_place(screws, candidates[order[place]], candidates[order[other]], same_rad):
                repeated = True
                break
        if not repeated:
            order[kept] = order[place]
            kept += 1
    return kept


@lean
def squared_distance(a, b):
    total = 0.0
    for i in range(a.shape[0]):
        total += (a[i] - b[i]) ** 2
    return total


@lean
def same_place(screws, a, b, same_rad):
    """Whether two joint vectors put the arm in the same place."""
    for i in range(a.shape[0]):
        difference = a[i] - b[i]
        if screws[i, SLIDES] == 0.0:
            difference -= TURN * np.rint(difference / TURN)
        if not abs(difference) <= same_rad:
            return False
    return True
