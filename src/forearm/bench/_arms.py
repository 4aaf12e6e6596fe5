"""The arms of the inverse kinematics panels: the bundled ones, and others that wheels bring along."""

from __future__ import annotations

import sysconfig
import warnings
from pathlib import Path

from forearm.arm import Arm, load
from forearm.errors import ModelWarning
from forearm.robots.catalog import bundled_names

ROBOT_DATA = Path("cmeel.prefix", "share", "example-robot-data", "robots")
FOUND = {
    "ur5": ("ur_description/urdf/ur5_robot.urdf", "base_link", "ee_link"),
    "kinova": ("kinova_description/robots/kinova.urdf", None, None),
    "xarm7": ("xarm_description/urdf/xarm7.urdf", None, None),
    "talos_arm": ("talos_data/robots/talos_reduced.urdf", "torso_2_link", "gripper_left_base_link"),
}
"""File, base and tip of arms in the example-robot-data wheel. Its Panda is the bundled one."""


def robot_data() -> Path | None:
    """The models of the example-robot-data wheel (extra: robots), or None where it is not installed."""
    folder = Path(sysconfig.get_paths()["purelib"]) / ROBOT_DATA
    return folder if folder.is_dir() else None


def pose_arms() -> dict[str, Arm]:
    """Every arm that is asked for poses, by name."""
    arms = {name: load(name) for name in bundled_names()}
    arms = {name: arm for name, arm in arms.items() if arm.task == "pose"}
    folder = robot_data()
    for name, (file, base, tip) in FOUND.items():
        path = folder / file if folder else None
        if path and path.is_file():
            with warnings.catch_warnings():
                # Meshes are missing, which kinematics do not need.
                warnings.simplefilter("ignore", ModelWarning)
                arms[name] = load(path, base=base, tip=tip)
    return arms
