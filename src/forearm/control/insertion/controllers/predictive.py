"""Ours: know how the box moves, go along with it, push when it fits, feel, and try again."""

from __future__ import annotations

import math

import numpy as np

from forearm.control.insertion.feel import LAST_TORQUE
from forearm.control.insertion.inserter import Cell, nothing_said, register
from forearm.control.insertion.layout import (
    COLUMNS,
    CORE,
    FEELING,
    LIMITS,
    ROOM_SHEETS,
    ROWS,
    SHEETS,
    TURN_IN_BOX,
)
from forearm.control.insertion.observer import observer_memory
from forearm.control.insertion.phases import PHASES
from forearm.control.insertion.planning import GATE_M
from forearm.control.insertion.predictive_step import predictive_step
from forearm.control.insertion.seen import CHANNELS, YAW, channels_into, rotation_into
from forearm.control.torque import model_sheets
from forearm.ik.problem import Tolerance
from forearm.ik.tracker import Tracker
from forearm.spatial import Array, Pose, rotation_z

BANDWIDTH_RAD_S = 110.0
"""Of the joints' feedback, critically damped."""
IK_TOLERANCE = Tolerance(1e-7, 1e-7)
REACHED_M = 1e-3
OUT_OF_REACH_S = 10.0
"""What a posture costs that does not come to the gate."""


@register
class Predictive:
    """Observer, plan, gate, push, feel; the phases are those of ``forearm.control.insertion.phases``."""

    name = "predictive"
    summary = "predicts the box, matches its motion before the hole, pushes when it fits, feels and retries"
    phases = PHASES

    def __init__(self, cell: Cell) -> None:
        robot, n = cell.plant.robot, cell.plant.robot.dof
        self.cell, self.robot = cell, robot
        self.sheets = model_sheets(cell.plant)
        self.memory = observer_memory()
        self.work = np.zeros((SHEETS, ROWS, COLUMNS))
        self.work[LIMITS, :2, :n] = robot.max_speed, cell.plant.actuators.max_effort
        self.work[FEELING, LAST_TORQUE] = np.nan
        self.room = np.zeros((ROOM_SHEETS, 6, 12))
        self.settings = np.array(
            [cell.tick_s, cell.hole.play_m, cell.hole.depth_m, cell.ik_slack_m, BANDWIDTH_RAD_S]
        )
        self.tracker = Tracker(robot, max_step_rad=math.pi, tolerance=IK_TOLERANCE)
        # Rows as in ``layout``.
        self.states = np.zeros((4, 2 * n + 2))
        self.target, self.answers = np.eye(4)[None].copy(), np.zeros((1, n))
        self.iterations, self.crossed = np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.bool_)
        self.said = nothing_said(n)
        self.placed = False

    def step(self, now_s: float, stamp_s: float, q: Array, qd: Array, points: Array, out: Array) -> None:
        if not self.placed and not math.isnan(points[0]):
            self.choose_posture(q, points)
        predictive_step(
            self.sheets, self.memory, self.work, self.room, self.settings,
            self.tracker.table, self.tracker.most, self.states, self.target, self.answers, self.iterations,
            self.crossed, now_s, stamp_s, q, qd, points, self.said, out,
        )  # fmt: skip

    def choose_posture(self, q: Array, points: Array) -> None:
        """Which of the four ways a square tool fits, and with which posture: the quickest to come to."""
        frame, channels, turn = np.zeros(9), np.zeros(CHANNELS), np.zeros(9)
        channels_into(points, frame, channels)
        rotation_into(*channels[YAW:], turn)
        box, start = turn.reshape(3, 3), np.clip(q, self.robot.lower, self.robot.upper)
        choices = []
        for quarter in range(4):
            turn_in_box = self.cell.tool_in_box @ rotation_z(0.5 * math.pi * quarter)
            gate = Pose.from_rotation(channels[:YAW] - GATE_M * box[:, 0], box @ turn_in_box)
            self.tracker.reset(start)
            found = self.tracker.step(gate)
            time_s = float(np.max(np.abs(found.q - q) / self.robot.max_speed))
            time_s += OUT_OF_REACH_S * (found.position_error_m > REACHED_M)
            choices.append((time_s, quarter, turn_in_box, found.q))
        _, _, turn_in_box, posture = min(choices, key=lambda choice: choice[:2])
        self.work[CORE, TURN_IN_BOX, :9] = turn_in_box.ravel()
        self.states[:] = 0.0
        self.states[:, : self.robot.dof] = posture
        self.placed = True
