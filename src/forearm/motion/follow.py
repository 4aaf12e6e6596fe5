"""From the tip's motion to the joints': inverse kinematics at every tick, without leaving the branch."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from forearm.errors import ForearmError, unknown_unless_in
from forearm.kinematics.chain import chain_of, forward_and_jacobian_into
from forearm.kinematics.compiling import compiled
from forearm.kinematics.error import pose_error_into
from forearm.kinematics.rates import jacobian_rate_into
from forearm.motion.reference import JointReference, TipReference
from forearm.robots.robot import Robot

RESIDUAL = 1e-12
"""Error (m or rad) at which a tick counts as solved."""
USABLE_RESIDUAL = 1e-9
"""Error up to which a tick is accepted when rounding stops it from falling further."""
MAX_ROUNDS = 30
SPEED_ERROR = 1e-6
"""Share of the tip's speed by which the joints may miss it before the posture counts as singular."""
JUMP_RAD_PER_MM = 0.1
"""Joint motion for a millimetre of tip motion from which a tick is reported as a jump."""
JUMP_RAD_PER_RAD = 10.0
"""The same for a radian by which the tip turns."""


class LostTrack(ForearmError):
    """The joints cannot follow the tip from one tick to the next."""

    def __init__(self, tick: int, time_s: float, residual: float, where: str = "") -> None:
        self.tick, self.time_s, self.residual = tick, time_s, residual
        #: Whether the pose is reached, and it is the speed that the posture does not allow.
        self.singular = bool(residual <= USABLE_RESIDUAL)
        problem = (
            "the posture is singular and does not allow the tip's speed."
            if self.singular
            else f"the error stays at {residual:.3g}. The route leaves the reach, or passes a singularity."
        )
        super().__init__(f"the arm cannot follow the route at {where or f't = {time_s:.4g} s'}: {problem}")


class Jump(NamedTuple):
    """A tick at which the joints move much more than the tip."""

    tick: int
    joint: str
    rad_per_mm: float
    """Joint motion over tip motion; a tip that only turns counts with ``JUMP_RAD_PER_RAD``."""


def follow(
    robot: Robot, reference: TipReference, start: ArrayLike, task: str | None = None
) -> JointReference:
    """Joint positions, speeds and accelerations that put the tip on ``reference`` at every tick.

    Every tick starts from the one before, so the branch is ``start``'s throughout. Newton's method to
    1e-12, then speeds and accelerations exactly, with J⁺ = Jᵀ(JJᵀ)⁻¹ and A = J̇:

        qd = J⁺ v,   qdd = J⁺ (a - A qd) + (I - J⁺J) Aᵀ (JJᵀ)⁻¹ v,

    the last term only for arms with joints to spare. Where such an arm stands is what its speeds add up
    to, by Hermite's rule, q += dt/2 (qd₀ + qd₁) + dt²/12 (qdd₀ - qdd₁), which is good to dt⁴ a second.
    Raises ``LostTrack``.
    """
    unknown_unless_in("task", task or robot.task, ("pose", "position"))
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
    """The ticks from which a joint moves more than 0.1 rad for a millimetre of the tip.

    A tip that turns may take its joints along: 10 rad for a radian.
    """
    moved = np.abs(np.diff(joints.q, axis=0))
    travelled_mm = 1e3 * np.linalg.norm(np.diff(tip.poses[:, :3, 3], axis=0), axis=1)
    # The chord of the turn, |R1 - R0| / sqrt 2 = 2 sin(θ/2), is the turn itself between two ticks.
    chords = np.linalg.norm(np.diff(tip.poses[:, :3, :3], axis=0), axis=(1, 2)) / np.sqrt(2.0)
    as_travel_mm = travelled_mm + chords * JUMP_RAD_PER_RAD / JUMP_RAD_PER_MM
    # Below a micrometre a ratio of two roundings says nothing.
    ratio = moved / np.maximum(as_travel_mm, 1e-3)[:, None]
    found = []
    for tick in np.flatnonzero(ratio.max(axis=1, initial=0.0) > JUMP_RAD_PER_MM):
        joint = int(np.argmax(ratio[tick]))
        found.append(Jump(int(tick), robot.joint_names[joint], float(ratio[tick, joint])))
    return found


@compiled
def follow_into(chain, poses, twists, accelerations, dt, start, rows, q, qd, qdd, residuals):
    """Solve every tick; returns the first that cannot be solved, or -1."""
    n = q.shape[1]
    size = min(rows, n)
    gram, current = np.empty((size, size + 1)), start.copy()
    for tick in range(poses.shape[0]):
        if tick > 0:
            for i in range(n):
                current[i] = q[tick - 1, i] + dt * (qd[tick - 1, i] + 0.5 * dt * qdd[tick - 1, i])
        # The task settles where an arm stands unless it has joints to spare.
        corrections = 2 if n > rows and tick > 0 else 0
        for turn in range(corrections + 1):
            if turn > 0:
                for i in range(n):
                    current[i] = q[tick - 1, i] + dt * (
                        0.5 * (qd[tick - 1, i] + qd[tick, i]) + dt / 12.0 * (qdd[tick - 1, i] - qdd[tick, i])
                    )
            residuals[tick] = reach_into(chain, poses[tick], rows, gram, current)
            if not residuals[tick] <= USABLE_RESIDUAL:
                return tick
            for i in range(n):
                q[tick, i] = current[i]
            if not rates_into(
                chain, current, twists[tick], accelerations[tick], rows, gram, qd[tick], qdd[tick]
            ):
                return tick
    return -1


@compiled
def reach_into(chain, pose, rows, gram, current):
    """Newton's method from ``current``, in place; returns the error that is left."""
    n = current.shape[0]
    transform, jacobian = np.empty((4, 4)), np.empty((6, n))
    error, step = np.empty(6), np.empty(n)
    residual = np.inf
    for _ in range(MAX_ROUNDS):
        forward_and_jacobian_into(chain, current, transform, jacobian)
        pose_error_into(pose, transform, error)
        previous, residual = residual, largest(error, rows)
        if residual <= RESIDUAL or (residual <= USABLE_RESIDUAL and residual >= 0.5 * previous):
            break
        least_squares_into(jacobian, error, rows, gram, step)
        for i in range(n):
            current[i] += min(max(step[i], -0.2), 0.2)
    return residual


@compiled
def rates_into(chain, q, twist, acceleration, rows, gram, qd, qdd):
    """Write the joints' speeds and accelerations; returns whether they give the tip its speed."""
    n = q.shape[0]
    transform, jacobian, rate = np.empty((4, 4)), np.empty((6, n)), np.empty((6, n))
    wanted = np.empty(6)
    forward_and_jacobian_into(chain, q, transform, jacobian)
    least_squares_into(jacobian, twist, rows, gram, qd)
    missed = 0.0
    for r in range(rows):
        given = 0.0
        for i in range(n):
            given += jacobian[r, i] * qd[i]
        missed = max(missed, abs(given - twist[r]))
    if not missed <= SPEED_ERROR * largest(twist, rows):
        return False
    jacobian_rate_into(chain, q, qd, transform, jacobian, rate)
    for r in range(rows):
        wanted[r] = acceleration[r]
        for i in range(n):
            wanted[r] -= rate[r, i] * qd[i]
    least_squares_into(jacobian, wanted, rows, gram, qdd)
    if n > rows:
        spare_motion_into(jacobian, rate, twist, rows, gram, qdd)
    finite = True
    for i in range(n):
        finite = finite and abs(qd[i]) < np.inf and abs(qdd[i]) < np.inf
    return finite


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
def spare_motion_into(jacobian, rate, twist, rows, gram, qdd):
    """Add (I - J⁺J) Aᵀ (JJᵀ)⁻¹ v to qdd; ``least_squares_into`` leaves (JJᵀ)⁻¹ v in the system."""
    n = jacobian.shape[1]
    weights, spare, step = np.empty(6), np.empty(n), np.empty(n)
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
