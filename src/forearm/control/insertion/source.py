"""What the source's two controllers share: sense, aim, ten Newton steps, a PD.

They take every reading for the truth and the present. Of what the source leaves open, two things decide:

- **Which point of the tool is aimed.** It is the tool's middle: aimed with its end, 0.02 m past the mouth,
the
  tool would never touch a plate that lies 0.05 m deep.
- **Gravity.** The PD works on top of the torques that hold the arm still. A PD of 150 N·m/rad alone lets the
  tool hang centimetres below the hole.
"""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from forearm.control.insertion.hole import TOOL_SIZE_M
from forearm.control.insertion.inserter import (
    AIM,
    ANSWER,
    DEPTH,
    IK_SOLVED,
    PHASE,
    SEEN,
    Cell,
    nothing_said,
)
from forearm.control.insertion.newton import newton_into
from forearm.control.insertion.ride import stop_short
from forearm.control.insertion.seen import frame_into
from forearm.control.torque import BODIES, CHAIN, SCRATCH, model_sheets
from forearm.dynamics.compiled import inverse_dynamics_into
from forearm.kinematics.chain import forward_into
from forearm.kinematics.compiling import lean
from forearm.spatial import Array

KP, KD = 150.0, 5.2
PAST_MOUTH_M = 0.02
BEFORE_MOUTH_M = 0.15
WAIT_S, PUSH_S = 3.0, 5.0
MIDDLE_M = 0.5 * TOOL_SIZE_M[2]
"""From the tool's end back to the point that is aimed."""

# Sheets of the room that a step needs beside the dynamics'.
ROOM = 0
MATRIX = 1
RIGHT = 2
JACOBIAN = 3
TRANSFORM = 4
SHEETS = 5
# Rows of ROOM.
HELD, FRAME, TURN, PLACE, TURN_IN_BOX, ZEROS = range(6)


class SourceInserter:
    """The source's loop with ``depth_m`` as its error function: where along the hole the tool is to be."""

    phases: ClassVar[tuple[str, ...]]
    gravity = 1.0
    """Share of gravity's torques that is added to the PD's."""
    aimed_m = MIDDLE_M

    def __init__(self, cell: Cell) -> None:
        n = cell.plant.robot.dof
        self.sheets = model_sheets(cell.plant)
        self.room = np.zeros((SHEETS, 6, 12))
        self.room[ROOM, TURN_IN_BOX, :9] = cell.tool_in_box.ravel()
        # Before the first reading there is nothing to aim at.
        self.room[ROOM, HELD] = np.nan
        self.said = nothing_said(n)
        self.ik_slack_m = cell.ik_slack_m

    def aim(self, now_s: float) -> tuple[int, float]:
        """The phase, and how far past the mouth the aimed point is to be."""
        raise NotImplementedError

    def step(  # a reading is taken for the present, whatever its stamp says
        self,
        now_s: float,
        stamp_s: float,  # noqa: ARG002
        q: Array,
        qd: Array,
        points: Array,
        out: Array,
    ) -> None:
        phase, past_m = self.aim(now_s)
        source_step(
            self.sheets, self.room, phase, past_m, self.aimed_m, self.gravity, self.ik_slack_m,
            q, qd, points, self.said, out,
        )  # fmt: skip


@lean
def source_step(sheets, room, phase, past_m, aimed_m, gravity, slack, q, qd, points, said, out):
    """One tick: the frame from the sensors, the aimed pose, ten Newton steps from q, then

    τ = 150 (q_target - q) - 5.2 qd + gravity · g(q).
    """
    n = q.shape[0]
    chain = sheets[CHAIN]
    frame, turn, place, q_target = room[ROOM, FRAME], room[ROOM, TURN], room[ROOM, PLACE], room[ROOM, HELD]
    if not math.isnan(points[0]):
        frame_into(points, frame)
        for i in range(n):
            q_target[i] = q[i]
        tool_turn_into(frame, room[ROOM, TURN_IN_BOX], turn)
        for k in range(3):
            # The tool's z axis is the third column of its rotation; its end is what the chain ends in.
            place[k] = frame[k] + past_m * frame[3 + k] + aimed_m * turn[3 * k + 2]
        solved = newton_into(
            chain, place, turn, q_target, room[TRANSFORM], room[JACOBIAN], room[MATRIX], room[RIGHT]
        )
        if slack > 0.0:
            stop_short(chain, slack, n, q, q_target, room[TRANSFORM], room[JACOBIAN])
        said[IK_SOLVED] = 1.0 if solved or slack > 0.0 else 0.0
    inverse_dynamics_into(
        chain, sheets[BODIES], gravity, q, room[ROOM, ZEROS], room[ROOM, ZEROS], sheets[SCRATCH], out
    )
    for i in range(n):
        wanted = q_target[i] if not math.isnan(q_target[i]) else q[i]
        out[i] += KP * (wanted - q[i]) - KD * qd[i]
        said[ANSWER + i], said[ANSWER + n + i] = wanted, wanted
    forward_into(chain, q, room[TRANSFORM])
    depth = 0.0
    said[PHASE] = phase
    for k in range(3):
        depth += (room[TRANSFORM, k, 3] - frame[k]) * frame[3 + k]
        said[AIM + k], said[AIM + 3 + k], said[AIM + 6 + k] = place[k], turn[3 * k + 2], turn[3 * k]
    for k in range(9):
        said[SEEN + k] = frame[k]
    said[DEPTH] = depth


@lean
def tool_turn_into(frame, turn_in_box, turn):
    """R_tool = R_box · turn_in_box, row by row; R_box's columns are x, y and x cross y."""
    for k in range(3):
        a, b = (k + 1) % 3, (k + 2) % 3
        x, y = frame[3 + k], frame[6 + k]
        z = frame[3 + a] * frame[6 + b] - frame[3 + b] * frame[6 + a]
        for column in range(3):
            turn[3 * k + column] = (
                x * turn_in_box[column] + y * turn_in_box[3 + column] + z * turn_in_box[6 + column]
            )
