"""Gains that follow from the arm instead of from trial and error."""

from __future__ import annotations

import numpy as np

from forearm.control.plant import Plant
from forearm.dynamics.compiled import mass_matrix_into
from forearm.spatial import Array

BANDWIDTH_RAD_S = 20.0
"""Closed-loop frequency of the tracking controllers, critically damped: Kp = ω², Kd = 2 ω."""


def joint_gains(plant: Plant) -> tuple[Array, Array]:
    """Kp = ω² m and Kd = 2 ω m for each joint, with m its inertia at home: critically damped there."""
    inertia = np.diag(mass_matrix(plant, plant.robot.home))
    return BANDWIDTH_RAD_S**2 * inertia, 2.0 * BANDWIDTH_RAD_S * inertia


def mass_matrix(plant: Plant, q: Array) -> Array:
    """M(q), armature included."""
    n = plant.robot.dof
    mass, unit, column = np.empty((n, n)), np.zeros((2, n)), np.empty(n)
    mass_matrix_into(plant.chain, plant.bodies, np.asarray(q), plant.scratch(), unit, column, mass)
    return mass
