"""The record of one inverse kinematics question: all that it takes to ask it again, and the answer."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from forearm.evidence.record import Metric, Outcome, Record
from forearm.ik.problem import Tolerance
from forearm.ik.result import IKResult, Posture
from forearm.robots.load import ENDINGS, MENAGERIE
from forearm.robots.robot import Robot
from forearm.spatial import Pose

NOT_A_SOLUTION = "best effort, not a solution"
QUANTITIES = (
    ("position_error_m", "m", "distance to the target"),
    ("rotation_error_rad", "rad", "rotation to the target"),
    ("limit_margin_rad", "rad", "tightest turning joint to its limit"),
    ("limit_margin_m", "m", "tightest sliding joint to its limit"),
    ("limit_joint", "", "nearest to its limit"),
    ("manipulability", "", "manipulability"),
    ("min_singular_value", "", "smallest singular value of J"),
    ("condition_number", "", "condition number of J"),
)


def solve_record(
    robot: Robot, target: Pose, result: IKResult, *, loading: Mapping[str, Any], question: Mapping[str, Any]
) -> Record:
    """What was asked and what came out, with the two engines' replays if they were asked for.

    ``loading`` are the arguments that ``load`` was given, ``question`` those that ``solve`` was given
    beside the target.
    """
    metrics = [
        Metric("status", str(result.status), "", "status"),
        Metric("reason", result.reason, "", "reason"),
        Metric("solutions", len(result.solutions), "", "certified solutions"),
    ]
    tables: dict[str, list[dict[str, Any]]] = {}
    if result.solutions:
        metrics += posture_metrics(result.solutions[0], tolerance=result.tolerance)
        tables["The answer"] = joint_rows(robot, result.solutions[0])
    elif result.best_effort:
        metrics += posture_metrics(result.best_effort, "best_effort_", f"{NOT_A_SOLUTION}: ")
        tables[sentence(NOT_A_SOLUTION)] = joint_rows(robot, result.best_effort)
    if len(result.solutions) > 1:
        tables[f"Every solution found ({unit_of(robot)})"] = solution_rows(robot, result)
    metrics.append(Metric("iterations", result.diagnostics.iterations, "", "iterations"))
    for engine, (position, rotation) in result.audit.items():
        metrics += [
            Metric(f"{engine}_position_error_m", position, "m", f"distance, replayed in {engine}"),
            Metric(f"{engine}_rotation_error_rad", rotation, "rad", f"rotation, replayed in {engine}"),
        ]
    what = explanation(result)
    return Record(
        kind="solve",
        title=f"Inverse kinematics of {robot.name}",
        summary=what,
        outcome=Outcome.PASSED if result else Outcome.FAILED,
        metrics=metrics,
        inputs=inputs(robot, target, result, loading, question),
        configuration=configuration(robot, result, question),
        failures=[] if result else [{"label": "planning", "text": what}],
        tables=tables,
    )


def explanation(result: IKResult) -> str:
    proof = f" Proof: {result.proof}." if result.proof else ""
    return f"{result.status}: {result.reason}.{proof}"


def sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def inputs(
    robot: Robot, target: Pose, result: IKResult, loading: Mapping[str, Any], question: Mapping[str, Any]
) -> dict[str, Any]:
    """The arm as it was loaded, the target as it was given, the start."""
    return {
        "load": {**loading, **model_named(robot, str(loading["model"]))},
        "chain": {"base": robot.base, "tip": robot.tip, "joints": robot.joint_names},
        "target": {**pose_data(target), "frame": result.frame},
        "target_in_base": pose_data(robot.target_in_base(target, result.frame)),
        "seed": result.seed,
        "seed_given": question.get("seed") is not None,
    }


def configuration(robot: Robot, result: IKResult, question: Mapping[str, Any]) -> dict[str, Any]:
    """How the answer was looked for; what was left open is written as it was chosen."""
    elsewhere = {"seed", "frame"}
    return {
        **{name: value for name, value in question.items() if name not in elsewhere},
        "solver": result.solver,
        "task": question.get("task") or robot.task,
        "tolerance": asdict(result.tolerance),
    }


def model_named(robot: Robot, given: str) -> dict[str, str | None]:
    """A bundled name as it was given; of a file its name and what it holds, not where it lies."""
    path = Path(robot.tree.source)
    if path.suffix.lower() not in ENDINGS:
        return {"model": given, "sha256": None}
    name = given if given.startswith(MENAGERIE) else path.name
    return {"model": name, "sha256": hashlib.sha256(path.read_bytes()).hexdigest()}


def pose_data(pose: Pose) -> dict[str, Any]:
    return {"position_m": pose.position_m, "quaternion_wxyz": pose.quaternion_wxyz}


def posture_metrics(
    posture: Posture, prefix: str = "", note: str = "", tolerance: Tolerance | None = None
) -> list[Metric]:
    """What the gate measured, its errors held against ``tolerance``.

    What does not exist (a free rotation, a limit of no joint) is left out.
    """
    bars: dict[str, float] = {}
    if tolerance is not None:
        bars = {"position_error_m": tolerance.position_m, "rotation_error_rad": tolerance.rotation_rad}
    metrics = []
    for name, unit, meaning in QUANTITIES:
        value = getattr(posture, name)
        if name == "condition_number" and not np.isfinite(value):
            value = "infinite"
        if isinstance(value, str) or (value is not None and np.isfinite(value)):
            bar = bars.get(name)
            held = (f"<= {bar:g} {unit}", bool(float(value) <= bar)) if bar is not None else (None, None)
            metrics.append(Metric(prefix + name, value, unit, note + meaning, None, *held))
    return metrics


def unit_of(robot: Robot) -> str:
    """The unit of a joint vector's numbers."""
    return "rad" if all(robot.turns) else "rad or m" if any(robot.turns) else "m"


def joint_rows(robot: Robot, posture: Posture) -> list[dict[str, Any]]:
    """A joint a row: its value, its limits, and how far it is from the nearer one."""
    unit = unit_of(robot)
    return [
        {
            "joint": joint.name,
            f"value ({unit})": float(value),
            "degrees": float(np.degrees(value)) if joint.kind.turns else None,
            f"lower ({unit})": joint.lower,
            f"upper ({unit})": joint.upper,
            f"margin ({unit})": min(float(value) - joint.lower, joint.upper - float(value)),
            "": "nearest to its limit" if joint.name == posture.limit_joint else "",
        }
        for joint, value in zip(robot.joints, posture.q, strict=True)
    ]


def solution_rows(robot: Robot, result: IKResult) -> list[dict[str, Any]]:
    return [
        {"": number, "branch": solution.branch, **dict(zip(robot.joint_names, solution.q, strict=True))}
        for number, solution in enumerate(result.solutions, start=1)
    ]
