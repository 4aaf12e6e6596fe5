"""From the tip's motion to the joints': inverse kinematics at every tick, without leaving the branch."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from forearm.errors import ForearmError
from forearm.kinematics.chain import chain_of, compiled, forward_and_jacobian_into
from forearm.kinematics.error import pose_error_into
from forearm.kinematics.rates import jacobian_rate_into
from forearm.motion.reference import JointReference, TipReference
from forearm.robots.robot import Robot

RESIDUAL = 1e-12
"""Error (m or rad) at which a tick counts as solved."""
USABLE_RESIDUAL = 1e-9
"""Error up to which a tick is accepted when rounding stops it from falling further."""
MAX_ROUNDS = 30
JUMP_RAD_PER_MM = 0.1
"""Joint motion for a millimetre of tip motion from which a tick is reported as a jump."""


class LostTrack(ForearmError):
    """The joints cannot follow the tip from one tick to the next."""

    def __init__(self, tick: int, time_s: float, residual: float) -> None:
        self.tick, self.time_s, self.residual = tick, time_s, residual
        super().__init__(
            f"the arm cannot follow the route at t = {time_s:.4g} s: the error stays at {residual:.3g}. "
            "The route leaves the reach, or passes a singularity."
        )


class Jump(NamedTuple):
    """A tick at which the joints move much more than the tip."""

    tick: int
    joint: str
    rad_per_mm: float


def follow(
    robot: Robot, reference: TipReference, start: ArrayLike, task: str | None = None
) -> JointReference:
    """Joint positions, speeds and accelerations that put the tip on ``reference`` at every tick.

    Every tick starts from the one before, so the branch is ``start``'s throughout. Newton's method to
    1e-12, then speeds and accelerations exactly, with J⁺ = Jᵀ(JJᵀ)⁻¹ and A = J̇:

        qd = J⁺ v,   qdd = J⁺ (a - A qd) + (I - J⁺J) Aᵀ (JJᵀ)⁻¹ v,

    the last term only for arms with joints to spare. Raises ``LostTrack``.
    """
    rows = 3 if (task or robot.task) == "position" else 6
    ticks, n = len(reference), robot.dof
    q, qd, qdd = np.empty((ticks, n)), np.empty((ticks, n)), np.empty((ticks, n))
    residuals = np.zeros(ticks)
    lost = follow_into(
        chain_of(robot),
        np.ascontiguousarray(reference.poses),
        np.ascontiguousarray(reference.twists),
        np.ascontiguousarray(reference.accelerations),
        reference.dt_s,
        robot.joint_vector(start, "start"),
        rows,
        q,
        qd,
        qdd,
        residuals,
    )
    if lost >= 0:
        raise LostTrack(lost, lost * reference.dt_s, float(residuals[lost]))
    return JointReference(reference.dt_s, q, qd, qdd)


def jumps(robot: Robot, joints: JointReference, tip: TipReference) -> list[Jump]:
    """The ticks at which a joint moves more than 0.1 rad for a millimetre of the tip."""
    moved = np.abs(np.diff(joints.q, axis=0))
    travelled_mm = 1e3 * np.linalg.norm(np.diff(tip.poses[:, :3, 3], axis=0), axis=1)
    # Below a micrometre a ratio of two roundings says nothing.
    ratio = moved / np.maximum(travelled_mm, 1e-3)[:, None]
    found = []
    for tick in np.flatnonzero(ratio.max(axis=1) > JUMP_RAD_PER_MM):
        joint = int(np.argmax(ratio[tick]))
        found.append(Jump(int(tick), robot.joint_names[joint], float(ratio[tick, joint])))
    return found


@compiled
def follow_into(chain, poses, twists, accelerations, dt, start, rows, q, qd, qdd, residuals):
    """Solve every tick; returns the first that cannot be solved, or -1."""
    n = q.shape[1]
    transform, jacobian, rate = np.empty((4, 4)), np.empty((6, n)), np.empty((6, n))
    error, wanted = np.empty(6), np.empty(6)
    size = min(rows, n)
    gram, step, current = np.empty((size, size + 1)), np.empty(n), start.copy()
    spare, weights = np.empty(n), np.empty(6)
    for tick in range(poses.shape[0]):
        if tick > 0:
            for i in range(n):
                current[i] = q[tick - 1, i] + dt * (qd[tick - 1, i] + 0.5 * dt * qdd[tick - 1, i])
        residual, previous = np.inf, np.inf
        for _ in range(MAX_ROUNDS):
            forward_and_jacobian_into(chain, current, transform, jacobian)
            pose_error_into(poses[tick], transform, error)
            previous, residual = residual, largest(error, rows)
            if residual <= RESIDUAL or (residual <= USABLE_RESIDUAL and residual >= 0.5 * previous):
                break
            least_squares_into(jacobian, error, rows, gram, step)
            for i in range(n):
                current[i] += min(max(step[i], -0.2), 0.2)
        residuals[tick] = residual
        if not residual <= USABLE_RESIDUAL:
            return tick
        for i in range(n):
            q[tick, i] = current[i]
        least_squares_into(jacobian, twists[tick], rows, gram, qd[tick])
        jacobian_rate_into(chain, current, qd[tick], transform, jacobian, rate)
        for r in range(rows):
            wanted[r] = accelerations[tick, r]
            for i in range(n):
                wanted[r] -= rate[r, i] * qd[tick, i]
        least_squares_into(jacobian, wanted, rows, gram, qdd[tick])
        if n > rows:
            spare_motion_into(jacobian, rate, twists[tick], rows, gram, weights, spare, step, qdd[tick])
    return -1


@compiled
def largest(error, rows):
    """The largest absolute entry among the task's rows."""
    most = 0.0
    for r in range(rows):
        most = max(most, abs(error[r]))
    return most


@compiled
def least_squares_into(jacobian, wanted, rows, gram, x):
    """x = J⁺ wanted: Jᵀ(JJᵀ)⁻¹ for wide J, (JᵀJ)⁻¹Jᵀ for tall, elimination with pivots for square."""
    n = jacobian.shape[1]
    size = gram.shape[0]
    if rows == n:
        for r in range(size):
            for c in range(size):
                gram[r, c] = jacobian[r, c]
            gram[r, size] = wanted[r]
        eliminate(gram)
        for i in range(n):
            x[i] = gram[i, size]
    elif rows < n:
        for r in range(size):
            for c in range(size):
                gram[r, c] = 0.0
                for i in range(n):
                    gram[r, c] += jacobian[r, i] * jacobian[c, i]
            gram[r, size] = wanted[r]
        eliminate(gram)
        for i in range(n):
            x[i] = 0.0
            for r in range(size):
                x[i] += jacobian[r, i] * gram[r, size]
    else:
        for r in range(size):
            for c in range(size):
                gram[r, c] = 0.0
                for k in range(rows):
                    gram[r, c] += jacobian[k, r] * jacobian[k, c]
            gram[r, size] = 0.0
            for k in range(rows):
                gram[r, size] += jacobian[k, r] * wanted[k]
        eliminate(gram)
        for i in range(n):
            x[i] = gram[i, size]


@compiled
def eliminate(system):
    """Solve a square system in place, its right side in the last column, by Gauss with row pivots."""
    size = system.shape[0]
    for k in range(size):
        pivot = k
        for r in range(k + 1, size):
            if abs(system[r, k]) > abs(system[pivot, k]):
                pivot = r
        for c in range(k, size + 1):
            system[k, c], system[pivot, c] = system[pivot, c], system[k, c]
        for r in range(k + 1, size):
            factor = system[r, k] / system[k, k]
            for c in range(k + 1, size + 1):
                system[r, c] -= factor * system[k, c]
    for k in range(size - 1, -1, -1):
        for c in range(k + 1, size):
            system[k, size] -= system[k, c] * system[c, size]
        system[k, size] /= system[k, k]


@compiled
def spare_motion_into(jacobian, rate, twist, rows, gram, weights, spare, step, qdd):
    """Add (I - J⁺J) Aᵀ (JJᵀ)⁻¹ v to qdd; ``least_squares_into`` leaves (JJᵀ)⁻¹ v in the system."""
    n = jacobian.shape[1]
    least_squares_into(jacobian, twist, rows, gram, step)
    for r in range(rows):
        weights[r] = gram[r, rows]
    for i in range(n):
        spare[i] = 0.0
        for r in range(rows):
            spare[i] += rate[r, i] * weights[r]
    for r in range(rows):
        weights[r] = 0.0
        for i in range(n):
            weights[r] += jacobian[r, i] * spare[i]
    least_squares_into(jacobian, weights, rows, gram, step)
    for i in range(n):
        qdd[i] += spare[i] - step[i]
