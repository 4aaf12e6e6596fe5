"""Singularities with names: those a family of arms is known for, and on any arm the joints behind them."""

from __future__ import annotations

from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from forearm.kinematics.forward import jacobian, joint_frames
from forearm.kinematics.measures import task_rows
from forearm.robots.robot import Robot

WRIST_RAD = 0.05
SHOULDER_M = 0.02
ELBOW_RAD = 0.05
ALIGNED_RAD = 0.05
ALIGNED_M = 0.001
SINGULAR_RATIO = 0.01
"""Smallest to largest singular value below which a posture counts as near singular."""


class Singularity(NamedTuple):
    name: str
    joints: tuple[str, ...]
    distance: float
    """How far the posture is from it, in ``unit``."""
    unit: str


def singularities(robot: Robot, q: ArrayLike) -> tuple[Singularity, ...]:
    """The singularities that ``q`` lies within the thresholds of, the arm's own first."""
    found = [*aligned_axes(robot, q), *dependent_joints(robot, q)]
    if robot.tree.family == "ur" and robot.dof == 6:
        found = [*ur_singularities(robot, q), *found]
    if robot.tree.family == "planar" and robot.dof == 2:
        found = [*planar_singularities(robot, q), *found]
    return tuple(found)


def ur_singularities(robot: Robot, q: ArrayLike) -> list[Singularity]:
    """Wrist: axes 4 and 6 align. Shoulder: tip on the base axis. Elbow: links 2 and 3 in line.

    The wrist is singular at q5 = 0 and at q5 = ±π alike, and a full turn changes nothing.
    """
    values = robot.joint_vector(q)
    names = robot.joint_names
    wrist = half_turn_distance(values[4])
    elbow = half_turn_distance(values[2])
    frames = joint_frames(robot, q)
    axis, origin = frames[0][:3, 2], frames[0][:3, 3]
    offset = frames[-1][:3, 3] - origin
    shoulder = float(np.linalg.norm(offset - axis * (axis @ offset)))
    found = []
    if wrist < WRIST_RAD:
        found.append(Singularity("wrist", (names[3], names[5]), wrist, "rad"))
    if shoulder < SHOULDER_M:
        found.append(Singularity("shoulder", (names[0],), shoulder, "m"))
    if elbow < ELBOW_RAD:
        found.append(Singularity("elbow", (names[2],), elbow, "rad"))
    return found


def planar_singularities(robot: Robot, q: ArrayLike) -> list[Singularity]:
    """A planar two-link arm is singular when stretched or folded."""
    elbow = half_turn_distance(robot.joint_vector(q)[1])
    return [Singularity("elbow", robot.joint_names[1:], elbow, "rad")] if elbow < ELBOW_RAD else []


def aligned_axes(robot: Robot, q: ArrayLike) -> list[Singularity]:
    """Pairs of revolute joints that turn about one and the same line: one of them does nothing new."""
    frames = joint_frames(robot, q)
    lines = [
        (joint.name, frame[:3, :3] @ joint.axis, frame[:3, 3])
        for joint, frame in zip(robot.joints, frames[:-1], strict=True)
        if joint.kind.turns
    ]
    found = []
    for (first, axis, point), (second, other_axis, other_point) in combinations(lines, 2):
        sine = float(np.linalg.norm(np.cross(axis, other_axis)))
        apart = float(np.linalg.norm(np.cross(axis, other_point - point)))
        if sine < ALIGNED_RAD and apart < ALIGNED_M:
            found.append(Singularity("aligned axes", (first, second), float(np.arcsin(sine)), "rad"))
    return sorted(found, key=lambda singularity: singularity.distance)


def dependent_joints(robot: Robot, q: ArrayLike) -> list[Singularity]:
    """The joints whose motions cancel, where the smallest singular value of J nearly vanishes.

    They are the entries of its right singular vector v: J v ≈ 0. An arm with more joints than its
    task needs has such motions everywhere, so there the joints are not named.
    """
    rows = jacobian(robot, q)[task_rows(robot.task)]
    _, singular, right = np.linalg.svd(rows)
    if singular[-1] >= SINGULAR_RATIO * singular[0] > 0.0:
        return []
    names: tuple[str, ...] = ()
    if robot.dof <= len(rows):
        share = np.abs(right[-1]) / np.abs(right[-1]).max()
        names = tuple(name for name, part in zip(robot.joint_names, share, strict=True) if part > 0.05)
    return [Singularity("dependent joints", names, float(singular[-1]), "smallest singular value")]


def half_turn_distance(angle_rad: float) -> float:
    """How far an angle is from the nearest multiple of π."""
    return float(abs(angle_rad - np.pi * np.round(angle_rad / np.pi)))
