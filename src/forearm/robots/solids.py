"""Mass properties of solids of uniform density, along z, and their sum."""

from __future__ import annotations

import numpy as np

from forearm.robots.tree import Inertial
from forearm.spatial import Pose


def sphere(mass_kg: float, radius_m: float) -> Inertial:
    return Inertial(mass_kg, np.zeros(3), 0.4 * mass_kg * radius_m**2 * np.eye(3))


def cylinder(mass_kg: float, radius_m: float, length_m: float) -> Inertial:
    across = mass_kg * (3.0 * radius_m**2 + length_m**2) / 12.0
    return Inertial(mass_kg, np.zeros(3), np.diag([across, across, 0.5 * mass_kg * radius_m**2]))


def box(mass_kg: float, x_m: float, y_m: float, z_m: float) -> Inertial:
    squares = np.array([y_m**2 + z_m**2, x_m**2 + z_m**2, x_m**2 + y_m**2])
    return Inertial(mass_kg, np.zeros(3), np.diag(mass_kg * squares / 12.0))


def capsule(mass_kg: float, radius_m: float, length_m: float) -> Inertial:
    """``length_m`` is the cylindrical part; two half spheres close it.

    A half sphere's centre of mass lies 3r/8 from its flat face, and its inertia about a diameter of
    that face is 2/5 m r².
    """
    volume_cylinder = np.pi * radius_m**2 * length_m
    volume_caps = 4.0 / 3.0 * np.pi * radius_m**3
    mass_cylinder = mass_kg * volume_cylinder / (volume_cylinder + volume_caps)
    mass_caps = mass_kg - mass_cylinder
    along = 0.5 * mass_cylinder * radius_m**2 + 0.4 * mass_caps * radius_m**2
    half = 0.5 * length_m
    across = mass_cylinder * (3.0 * radius_m**2 + length_m**2) / 12.0 + mass_caps * (
        0.4 * radius_m**2 + half**2 + 0.75 * radius_m * half
    )
    return Inertial(mass_kg, np.zeros(3), np.diag([across, across, along]))


def moved(part: Inertial, pose: Pose) -> Inertial:
    """``part`` given in a frame at ``pose``, expressed in the parent frame."""
    rotation = pose.rotation
    return Inertial(
        part.mass_kg,
        pose.transform_points(part.center_of_mass_m),
        rotation @ part.inertia_kgm2 @ rotation.T,
    )


def combined(*parts: Inertial) -> Inertial:
    """The sum of parts in one frame, by the parallel axis theorem: I + m (d·d E - d dᵀ)."""
    mass = sum(part.mass_kg for part in parts)
    center = sum((part.mass_kg * part.center_of_mass_m for part in parts), np.zeros(3)) / mass
    inertia = np.zeros((3, 3))
    for part in parts:
        offset = part.center_of_mass_m - center
        inertia += part.inertia_kgm2 + part.mass_kg * (offset @ offset * np.eye(3) - np.outer(offset, offset))
    return Inertial(mass, center, inertia)


def full_tensor(ixx: float, iyy: float, izz: float, ixy: float, ixz: float, iyz: float) -> np.ndarray:
    """The symmetric 3x3 inertia tensor."""
    return np.array([[ixx, ixy, ixz], [ixy, iyy, iyz], [ixz, iyz, izz]])
