"""The ladder of controllers on the cube, and the source's own route measured the source's way."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from forearm.control.controller import law, make_controller
from forearm.ik.solve import solve
from forearm.motion.cube import corner_points
from forearm.motion.plan import PlanRefused
from forearm.motion.reference import TipReference
from forearm.motion.trajectory import joint_quintics
from forearm.sim.loop import run_loop
from forearm.sim.recording import ticks_of
from forearm.sim.scene import build_scene
from forearm.spatial import Array, Pose
from forearm.tasks._drawing import Drawing, DrawingOptions, perform_drawing, plan_drawing, rms, tip_path

STEPS = (
    ("servo", "plain servo", "13 mm"),
    ("servo_gravity", "+ gravity", ""),
    ("servo_velocity", "+ velocity", "0.088 mm"),
    ("servo_inverse", "+ inverse dynamics, exact", ""),
)
SOURCE_CORNERS = [0, 1, 3, 2, 0, 4, 5, 7, 6, 4, 1, 5, 3]
"""Thirteen waypoints, corners numbered x y z as bits. Twelve moves, two of them across face diagonals."""


def ladder_rows(
    drawing_for: Callable[[DrawingOptions], Drawing],
    options: DrawingOptions,
    bad_center_m: tuple[float, float, float],
) -> list[dict[str, Any]]:
    """One row a rung, worst first."""
    bad = replace(options, controller="servo", center_m=bad_center_m, force=False)
    try:
        plan_drawing(drawing_for(bad), bad)
        refusal = "the plan check found nothing"
    except PlanRefused as refused:
        refusal = str(refused)
    rows = [
        row(
            drawing_for, replace(bad, force=True), "bad centre, forced", "133 mm", f"refused first: {refusal}"
        )
    ]
    for controller, label, source in STEPS:
        rows.append(
            row(drawing_for, replace(options, controller=controller), label, source, law(controller).summary)
        )
    rows.append(source_route_row(drawing_for(options), options))
    return rows


def row(
    drawing_for: Callable[[DrawingOptions], Drawing],
    options: DrawingOptions,
    label: str,
    source: str,
    note: str,
) -> dict[str, Any]:
    _, _, columns = perform_drawing(drawing_for(options), options, None)
    error = columns["error_m"]
    return {
        "label": label,
        "controller": options.controller,
        "rms_error_m": rms(error),
        "max_error_m": float(error.max()),
        "contacts": int(np.count_nonzero(columns["contacts"])),
        "source": source,
        "note": note,
    }


def source_route_row(drawing: Drawing, options: DrawingOptions) -> dict[str, Any]:
    """Joint-space quintics between thirteen waypoints, its error against its own joint-space path."""
    robot = drawing.robot
    scene = build_scene(robot, law("servo_velocity").drives, drawing.blocks)
    rotation = drawing.route.segments[0].at(np.zeros(1)).rotations[0]
    corners = [((c >> 0) & 1, (c >> 1) & 1, (c >> 2) & 1) for c in SOURCE_CORNERS]
    q, waypoints = drawing.seed_posture, []
    for point in corner_points(options.center_m, options.side_m, corners):
        q = solve(robot, Pose.from_rotation(point, rotation), seed=q).require().q
        waypoints.append(q)
    joints = joint_quintics(np.array(waypoints), options.edge_seconds, scene.dt_s)
    resting = resting_tip(len(joints), scene.dt_s)
    result = run_loop(scene, make_controller("servo_velocity", scene.plant), ticks_of(joints, resting))
    error = np.linalg.norm(tip_path(robot, result.recording.q) - tip_path(robot, joints.q), axis=1)
    bow = bow_m(tip_path(robot, joints.q), corner_points(options.center_m, options.side_m, corners))
    return {
        "label": "the source's own route, its own way",
        "controller": "servo_velocity",
        "rms_error_m": rms(error),
        "max_error_m": float(error.max()),
        "contacts": int(np.count_nonzero(result.recording.contacts)),
        "source": "0.088 mm",
        "note": f"against its own joint-space path, which bows {bow * 1e3:.2g} mm off the straight lines",
    }


def resting_tip(ticks: int, dt_s: float) -> TipReference:
    """A tip reference for laws that do not look at the tip."""
    poses = np.broadcast_to(np.eye(4), (ticks, 4, 4))
    zeros = np.zeros((ticks, 6))
    return TipReference(dt_s, poses, zeros, zeros, np.zeros(ticks, dtype=int))


def bow_m(path: Array, corners: Array) -> float:
    """The largest distance of a path, cut evenly at the corners, from the straight lines between them."""
    worst = 0.0
    for piece, start, end in zip(
        np.array_split(path, len(corners) - 1), corners[:-1], corners[1:], strict=True
    ):
        step = (end - start) / np.linalg.norm(end - start)
        offset = piece - start
        worst = max(worst, float(np.linalg.norm(offset - np.outer(offset @ step, step), axis=1).max()))
    return worst
