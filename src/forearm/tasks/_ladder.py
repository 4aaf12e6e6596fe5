"""The ladder of controllers on the cube, and the source's own route measured the source's way."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from forearm.control.controller import law, make_controller
from forearm.evidence.trace import write_trace
from forearm.ik.solve import solve
from forearm.motion.cube import corner_points
from forearm.motion.plan import PlanRefused
from forearm.motion.reference import TipReference
from forearm.motion.trajectory import joint_quintics
from forearm.sim.loop import run_loop
from forearm.sim.recording import ticks_of
from forearm.sim.scene import build_scene
from forearm.spatial import Array, Pose
from forearm.tasks._drawing import (
    Drawing,
    DrawingOptions,
    perform_drawing,
    perturbation_of,
    plan_drawing,
    rms,
    tip_path,
)

STEPS = (
    ("servo", "plain servo", "13 mm"),
    ("servo_gravity", "+ gravity", ""),
    ("servo_velocity", "+ velocity", "0.088 mm"),
    ("servo_inverse", "+ inverse dynamics, exact", ""),
)
KEPT = ("time_s", *(f"{of}_{axis}_m" for of in ("tip", "target") for axis in "xyz"), "error_m", "contacts")
"""What is kept of a rung's trace: all that its row is made of."""
SOURCE_CORNERS = [0, 1, 3, 2, 0, 4, 5, 7, 6, 4, 1, 5, 3]
"""Thirteen waypoints, corners numbered x y z as bits. Twelve moves, two of them across face diagonals."""


def ladder_rows(
    drawing_for: Callable[[DrawingOptions], Drawing],
    options: DrawingOptions,
    bad_center_m: tuple[float, float, float],
    folder: Path,
) -> list[dict[str, Any]]:
    """One row a rung, worst first; the trace behind each goes to ``folder``."""
    rows = []
    for number, (said, columns) in enumerate(rungs(drawing_for, options, bad_center_m), start=1):
        trace = f"rung-{number}.parquet"
        write_trace(folder, {name: columns[name] for name in KEPT}, trace)
        rows.append({**said, **figures_of(columns), "trace": trace})
    return rows


def figures_of(columns: Mapping[str, Array]) -> dict[str, Any]:
    """What a rung's trace comes to."""
    error = columns["error_m"]
    return {
        "rms_error_m": rms(error),
        "max_error_m": float(error.max()),
        "contacts": int(np.count_nonzero(columns["contacts"])),
    }


def rungs(
    drawing_for: Callable[[DrawingOptions], Drawing],
    options: DrawingOptions,
    bad_center_m: tuple[float, float, float],
) -> Iterator[tuple[dict[str, Any], Mapping[str, Array]]]:
    """What is said of each rung, and its trace."""
    bad = replace(options, controller="servo", center_m=bad_center_m, force=False)
    try:
        plan_drawing(drawing_for(bad), bad)
        refusal = "the plan check found nothing"
    except PlanRefused as refused:
        refusal = "; ".join(refused.report.problems)
    forced = replace(bad, force=True)
    yield (
        said_of("bad centre, forced", "servo", "133 mm", f"refused first: {refusal}"),
        perform_drawing(drawing_for(forced), forced, None)[2],
    )
    for controller, label, source in STEPS:
        chosen = replace(options, controller=controller)
        columns = perform_drawing(drawing_for(chosen), chosen, None)[2]
        yield said_of(label, controller, source, law(controller).summary), columns
    yield source_route(drawing_for(options), options)


def said_of(label: str, controller: str, source: str, note: str) -> dict[str, Any]:
    return {"label": label, "controller": controller, "source": source, "note": note}


def source_route(drawing: Drawing, options: DrawingOptions) -> tuple[dict[str, Any], dict[str, Array]]:
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
    perturbation = perturbation_of(drawing, options)
    rows = run_loop(
        scene,
        make_controller("servo_velocity", scene.plant),
        ticks_of(joints, resting),
        sensing=perturbation.sensing,
        disturbance=perturbation.disturbance,
    ).recording
    ran = slice(rows.ticks_done)
    path = tip_path(robot, joints.q)
    tips, targets = tip_path(robot, rows.q[ran]), path[ran]
    bow = bow_m(path, corner_points(options.center_m, options.side_m, corners))
    note = f"against its own joint-space path, which bows {bow * 1e3:.2g} mm off the straight lines"
    columns = {"time_s": rows.times_s[ran], "contacts": rows.contacts[ran].astype(np.int64)}
    for name, points in (("tip", tips), ("target", targets)):
        columns |= {f"{name}_{axis}_m": points[:, index] for index, axis in enumerate("xyz")}
    columns["error_m"] = np.linalg.norm(tips - targets, axis=1)
    return said_of("the source's own route, its own way", "servo_velocity", "0.088 mm", note), columns


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
