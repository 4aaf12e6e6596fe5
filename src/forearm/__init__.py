"""forearm: inverse kinematics that says what it knows before the arm moves.

``load`` an arm, ask it for joint vectors with ``arm.ik(pose)``, and get an ``IKResult`` that is
certified or says why there is none. Conventions (frames, units, orders) stand in docs/conventions.md.
"""

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
from forearm.robots.catalog import bundled_names as robot_names
from forearm.spatial import Pose, pose_error

__version__ = "0.1.0"

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
    "UnknownName",
    "UnsafePath",
    "UnsupportedJoint",
    "load",
    "pose_error",
    "robot_names",
    "solver_names",
]
