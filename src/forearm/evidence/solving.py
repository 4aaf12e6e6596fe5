"""The record of one inverse kinematics question."""

from __future__ import annotations

from forearm.evidence.record import Metric, Outcome, Record
from forearm.ik.result import IKResult, Posture
from forearm.robots.robot import Robot
from forearm.spatial import Pose

QUANTITIES = (
    ("position_error_m", "m", "distance to the target"),
    ("rotation_error_rad", "rad", "rotation to the target"),
    ("limit_margin_rad", "rad", "tightest joint to its limit"),
    ("manipulability", "", "manipulability"),
    ("min_singular_value", "", "smallest singular value of J"),
    ("condition_number", "", "condition number of J"),
)


def solve_record(robot: Robot, target_in_base: Pose, result: IKResult) -> Record:
    """What was asked and what came out, with the two engines' replays if they were asked for."""
    best = result.solutions[0] if result.solutions else result.best_effort
    metrics = [
        Metric("status", str(result.status), "", "status"),
        Metric("reason", result.reason, "", "reason"),
        Metric("solutions", len(result.solutions), "", "certified solutions"),
        *(posture_metrics(best) if best else []),
        Metric("iterations", result.diagnostics.iterations, "", "iterations"),
    ]
    for engine, (position, rotation) in result.audit.items():
        metrics += [
            Metric(f"{engine}_position_error_m", position, "m", f"distance, replayed in {engine}"),
            Metric(f"{engine}_rotation_error_rad", rotation, "rad", f"rotation, replayed in {engine}"),
        ]
    label = "evaluation" if result.status == "UNREACHABLE" else "planning"
    proof = f" {result.proof}." if result.proof else ""
    return Record(
        kind="solve",
        title=f"Inverse kinematics of {robot.name}",
        summary=f"{result.status}: {result.reason}.{proof}",
        outcome=Outcome.PASSED if result else Outcome.FAILED,
        metrics=metrics,
        inputs={
            "robot": robot.name,
            "base": robot.base,
            "tip": robot.tip,
            "target_in_base": {
                "position_m": target_in_base.position_m,
                "quaternion_wxyz": target_in_base.quaternion_wxyz,
            },
            "seed": result.seed,
        },
        configuration={"solver": result.solver, "tolerance": result.to_json()["tolerance"]},
        failures=[] if result else [{"label": label, "text": f"{result.status}: {result.reason}"}],
    )


def posture_metrics(posture: Posture) -> list[Metric]:
    return [Metric(name, getattr(posture, name), unit, meaning) for name, unit, meaning in QUANTITIES]
