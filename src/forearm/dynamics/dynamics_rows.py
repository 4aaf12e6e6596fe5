"""Masses, torques and accelerations: Pinocchio against MuJoCo, and each against itself."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from forearm.dynamics.bars import DIFFERENCES, INVERSION, ONE_SOURCE, Bars
from forearm.dynamics.engine import Engine
from forearm.dynamics.samples import Samples
from forearm.dynamics.verification import Row, measured
from forearm.robots.robot import Robot
from forearm.robots.to_mujoco import massless_joints
from forearm.spatial import Array

MASS_STEP_S = 1e-5
"""Step along qd of the central difference that gives Ṁ: rounding and truncation are near 1e-10."""

BETWEEN, WITHIN = "pinocchio - mujoco", "pinocchio"


def dynamics_rows(
    pinocchio: Engine, mujoco: Engine, at: Samples, bars: Bars, not_because: str = ""
) -> Iterator[Row]:
    """Every dynamics row, or the same rows marked skipped.

    They are skipped for ``not_because``, and for a robot whose moving links lack inertia.
    """
    reason = not_because or why_undefined(pinocchio.robot)
    if reason:
        yield from skipped_rows(pinocchio.robot, at, bars, reason)
        return
    yield from rows_between(pinocchio, mujoco, at, bars)
    yield from rows_within(pinocchio, at)


def why_undefined(robot: Robot) -> str:
    """Why the robot has no dynamics; empty if it has."""
    joints = massless_joints(robot.held_tree)
    if not joints:
        return ""
    more = f" and {len(joints) - 1} more" if len(joints) > 1 else ""
    return f"no inertia on joint {joints[0]}{more}"


def rows_between(pinocchio: Engine, mujoco: Engine, at: Samples, bars: Bars) -> Iterator[Row]:
    joints, unit = pinocchio.robot.joint_names, units(pinocchio.robot)[1]
    ours, theirs = pinocchio.carried_masses(), mujoco.carried_masses()
    bar = bars.scaled(bars.mass_kg)
    yield measured("carried mass", BETWEEN, "kg", bar, abs(ours - theirs), joints, starts="last")

    masses = np.array([pinocchio.mass_matrix(q) for q in at.q])
    error = masses - np.array([mujoco.mass_matrix(q) for q in at.q])
    bar = bars.scaled(bars.dynamics, masses)
    yield measured("mass matrix", BETWEEN, unit, bar, shells(error), joints, at.postures, "last")

    yield from gravity_rows(pinocchio, mujoco, at, bars)
    yield from velocity_rows(pinocchio, mujoco, at, bars)
    yield from acceleration_rows(pinocchio, mujoco, at, bars, masses)


def velocity_rows(pinocchio: Engine, mujoco: Engine, at: Samples, bars: Bars) -> Iterator[Row]:
    joints, force = pinocchio.robot.joint_names, units(pinocchio.robot)[0]
    ours = np.array([pinocchio.bias(q, qd) for q, qd in zip(at.q, at.qd, strict=True)])
    theirs = np.array([mujoco.bias(q, qd) for q, qd in zip(at.q, at.qd, strict=True)])
    bar = bars.scaled(bars.dynamics, ours)
    yield measured("bias force", BETWEEN, force, bar, abs(ours - theirs), joints, at.postures, "last")

    # Of the matrices C that give the same force, both make the one of the Christoffel symbols.
    error = np.array(
        [
            pinocchio.coriolis_matrix(q, qd) - mujoco.coriolis_matrix(q, qd)
            for q, qd in zip(at.q, at.qd, strict=True)
        ]
    )
    bar = max(DIFFERENCES, bars.scaled(bars.dynamics, ours))
    yield measured(
        "Coriolis matrix",
        BETWEEN,
        rate_unit(pinocchio.robot),
        bar,
        shells(error),
        joints,
        at.postures,
        "last",
    )


def acceleration_rows(
    pinocchio: Engine, mujoco: Engine, at: Samples, bars: Bars, masses: Array
) -> Iterator[Row]:
    joints, (force, _, acceleration) = pinocchio.robot.joint_names, units(pinocchio.robot)
    states = list(zip(at.q, at.qd, at.qdd, strict=True))
    torques = np.array([pinocchio.inverse_dynamics(*state) for state in states])
    theirs = np.array([mujoco.inverse_dynamics(*state) for state in states])
    bar = bars.scaled(bars.dynamics, torques)
    error = abs(torques - theirs)
    yield measured("inverse dynamics", "RNEA - mj_inverse", force, bar, error, joints, at.postures, "last")

    pushes = list(zip(at.q, at.qd, torques, strict=True))
    ours = np.array([pinocchio.forward_dynamics(*push) for push in pushes])
    theirs = np.array([mujoco.forward_dynamics(*push) for push in pushes])
    bar = max(bars.scaled(bars.dynamics, ours), inversion_bar(masses, ours))
    error = abs(ours - theirs)
    yield measured(
        "forward dynamics", "ABA - mj_forward", acceleration, bar, error, joints, at.postures, "last"
    )


def gravity_rows(pinocchio: Engine, mujoco: Engine, at: Samples, bars: Bars) -> Iterator[Row]:
    """A row for each named posture and one for the random ones."""
    ours = np.array([pinocchio.gravity(q) for q in at.q])
    error = abs(ours - np.array([mujoco.gravity(q) for q in at.q]))
    bar, joints, force = (
        bars.scaled(bars.dynamics, ours),
        pinocchio.robot.joint_names,
        units(pinocchio.robot)[0],
    )
    for index, posture in enumerate(at.postures[: at.named]):
        quantity = f"gravity at {posture}"
        yield measured(quantity, BETWEEN, force, bar, error[index], joints, (posture,), "last")
    random = slice(at.named, None)
    yield measured(
        "gravity at random", BETWEEN, force, bar, error[random], joints, at.postures[random], "last"
    )


def rows_within(engine: Engine, at: Samples) -> Iterator[Row]:
    """What must hold inside one engine: RNEA and ABA invert each other, C matches g and Ṁ."""
    joints, (force, _, acceleration) = engine.robot.joint_names, units(engine.robot)
    dynamics = ONE_SOURCE.dynamics
    masses = np.array([engine.mass_matrix(q) for q in at.q])
    error, back, remainder, skewness = (np.zeros_like(at.q) for _ in range(4))
    largest = 0.0
    for row, (q, qd, qdd) in enumerate(zip(at.q, at.qd, at.qdd, strict=True)):
        torque = engine.inverse_dynamics(q, qd, qdd)
        error[row] = abs(engine.forward_dynamics(q, qd, torque) - qdd)
        pushed = engine.forward_dynamics(q, qd, at.qdd[row - 1])
        back[row] = abs(engine.inverse_dynamics(q, qd, pushed) - at.qdd[row - 1])
        coriolis = engine.coriolis_matrix(q, qd)
        remainder[row] = abs(coriolis @ qd + engine.gravity(q) - engine.bias(q, qd))
        skewness[row] = shells(skew_remainder(engine, q, qd, coriolis))
        largest = max(largest, float(abs(torque).max()), float(abs(masses[row] @ pushed).max()))
    solve_bar = max(dynamics, inversion_bar(masses, at.qdd))
    torque_bar = max(dynamics, ONE_SOURCE.relative * largest)
    yield measured("ABA(RNEA(a)) - a", WITHIN, acceleration, solve_bar, error, joints, at.postures, "last")
    yield measured("RNEA(ABA(τ)) - τ", WITHIN, force, torque_bar, back, joints, at.postures, "last")
    yield measured("C qd + g - bias", WITHIN, force, torque_bar, remainder, joints, at.postures, "last")
    unit = rate_unit(engine.robot)
    yield measured("skew of Ṁ - 2C", WITHIN, unit, DIFFERENCES, skewness, joints, at.postures, "last")


def skew_remainder(engine: Engine, q: Array, qd: Array, coriolis: Array) -> Array:
    """N + Nᵀ with N = Ṁ - 2C, Ṁ by central differences along qd."""
    after, before = engine.mass_matrix(q + MASS_STEP_S * qd), engine.mass_matrix(q - MASS_STEP_S * qd)
    n = (after - before) / (2.0 * MASS_STEP_S) - 2.0 * coriolis
    return n + n.T


def shells(matrices: Array) -> Array:
    """For each joint k the largest |entry| of row or column k up to the diagonal: (..., dof).

    Entry (i, j) of a mass matrix depends on what joint max(i, j) carries, and on nothing else.
    """
    size = matrices.shape[-1]
    magnitude = np.abs(matrices)
    return np.stack(
        [
            np.maximum(magnitude[..., k, : k + 1].max(axis=-1), magnitude[..., : k + 1, k].max(axis=-1))
            for k in range(size)
        ],
        axis=-1,
    )


def inversion_bar(masses: Array, accelerations: Array) -> float:
    """The rounding of M⁻¹: ``INVERSION`` · cond(M) · |qdd|, at its largest over the samples."""
    return float(INVERSION * np.linalg.cond(masses).max() * np.abs(accelerations).max())


def units(robot: Robot) -> tuple[str, str, str]:
    """The units of force, of the mass matrix and of acceleration."""
    return ("N·m", "kg·m²", "rad/s²") if all(robot.turns) else ("N·m, N", "SI", "SI")


def rate_unit(robot: Robot) -> str:
    """The unit of Ṁ and C."""
    return "N·m·s" if all(robot.turns) else "SI"


def skipped_rows(robot: Robot, at: Samples, bars: Bars, reason: str) -> Iterator[Row]:
    force, inertia, acceleration = units(robot)
    gravity = [(f"gravity at {name}", BETWEEN, force) for name in (*at.postures[: at.named], "random")]
    for quantity, compared, unit in (
        ("carried mass", BETWEEN, "kg"),
        ("mass matrix", BETWEEN, inertia),
        *gravity,
        ("bias force", BETWEEN, force),
        ("Coriolis matrix", BETWEEN, rate_unit(robot)),
        ("inverse dynamics", "RNEA - mj_inverse", force),
        ("forward dynamics", "ABA - mj_forward", acceleration),
        ("ABA(RNEA(a)) - a", WITHIN, acceleration),
        ("RNEA(ABA(τ)) - τ", WITHIN, force),
        ("C qd + g - bias", WITHIN, force),
        ("skew of Ṁ - 2C", WITHIN, rate_unit(robot)),
    ):
        yield Row(quantity, compared, unit, bars.dynamics, skipped=reason)
