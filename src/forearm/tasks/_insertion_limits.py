"""What going along with the box asks of the arm."""

from __future__ import annotations

import numpy as np

from forearm.control.insertion.hole import tool_pose_in_box
from forearm.control.insertion.planning import GATE_M
from forearm.ik.tracker import Tracker
from forearm.sim.insertion import InsertionScene
from forearm.sim.vibrating_box import Vibration
from forearm.spatial import Pose, rotation_y, rotation_z

POINTS = 200


def speed_needed(place: InsertionScene, vibration: Vibration) -> tuple[float, float]:
    """The share of a joint's rated speed that riding before the hole takes: where in its turn it is least,
    and most.

    Of the fastest joint at each moment, max_i |q̇_i| / v_i. Beyond 1 the arm cannot go along, whatever it
    plans.
    """
    if vibration.difficulty == 0.0:
        return 0.0, 0.0
    robot, period_s = place.scene.robot, 1.0 / vibration.frequency_hz
    times_s = np.linspace(0.0, period_s, POINTS, endpoint=False)
    swings = np.multiply.outer(np.exp(2j * np.pi * times_s / period_s), vibration.settled_waves()).imag
    tool = tool_pose_in_box(-GATE_M)
    poses = [
        place.mouth @ Pose.from_rotation((x, y, 0.0), rotation_z(yaw) @ rotation_y(tilt)) @ tool
        for x, y, yaw, tilt in swings
    ]
    tracker = Tracker(robot, start=place.ready, max_step_rad=np.pi)
    # The first turn comes from where the arm waits; the second closes.
    tracker.follow(poses)
    q = tracker.follow(poses).q
    steps = np.roll(q, -1, axis=0) - q
    shares = np.max(np.abs(steps) * POINTS / period_s / robot.max_speed, axis=1)
    return float(shares.min()), float(shares.max())
