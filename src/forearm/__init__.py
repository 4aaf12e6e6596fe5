"""forearm: inverse kinematics that says what it knows before the arm moves.

``load`` an arm, ask it for joint vectors with ``arm.ik(pose)``, and get an ``IKResult`` that is
certified or says why there is none. Conventions (frames, units, orders) stand in docs/conventions.md.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from forearm.arm import Arm, load
from forearm.errors import (
    ForearmError,
    InvalidInput,
    MissingExtra,
    ModelError,
    ModelWarning,
    NoSolution,
    UnknownName,
    UnsafePath,
    UnsupportedJoint,
)
from forearm.ik.problem import Tolerance
from forearm.ik.result import BestEffort, IKResult, Solution, Status
from forearm.ik.solver import solver_names
from forearm.ik.tracker import Tracker, TrackStatus
from forearm.robots.catalog import bundled_names as robot_names
from forearm.spatial import Pose, pose_error

if TYPE_CHECKING:
    from forearm.evidence.record import Record

__version__ = "0.1.0"


def run(task: str, **options: Any) -> Record:
    """Run a task as ``forearm run`` does and keep its evidence; see ``forearm.tasks``."""
    # Imported here: a task brings the simulator, and loading an arm must not.
    from forearm.tasks._runner import run as run_task

    return run_task(task, **options)


__all__ = [
    "Arm",
    "BestEffort",
    "ForearmError",
    "IKResult",
    "InvalidInput",
    "MissingExtra",
    "ModelError",
    "ModelWarning",
    "NoSolution",
    "Pose",
    "Solution",
    "Status",
    "Tolerance",
    "TrackStatus",
    "Tracker",
    "UnknownName",
    "UnsafePath",
    "UnsupportedJoint",
    "load",
    "pose_error",
    "robot_names",
    "run",
    "solver_names",
]
