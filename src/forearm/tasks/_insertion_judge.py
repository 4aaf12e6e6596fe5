"""Whether the tool got in, and if not, who is to blame: judged by the scene, not by what the controller says.

- **perception**: the hole, or how the tool is to be turned in it, was taken for something that it is not.
- **state**: what was believed fits the box of some time ago.
- **planning**: the IK's answers are not where it said that they are, or it had none; the push began beside
the hole.
- **control**: the joints did not follow what was wanted of them.
- **evaluation**: none of this, and the plate was not touched.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from forearm.control.insertion import phases
from forearm.control.insertion.hole import Hole
from forearm.control.insertion.inserter import (
    AIM,
    ANSWER,
    GAVE_UP,
    IK_SOLVED,
    PHASE,
    REASONS,
    SEEN,
    phase_of,
)
from forearm.kinematics.compiling import compiled
from forearm.kinematics.screws import replay_into, screws_of
from forearm.robots.robot import Robot
from forearm.sim.insertion import TICK_S
from forearm.sim.loop import AT_LIMIT
from forearm.spatial import Array
from forearm.tasks._diagnosis import Failure
from forearm.tasks._insertion_limits import speed_needed
from forearm.tasks._insertion_trial import Trial

NO_WAY = REASONS[phases.NO_WAY]
PUSHING = "push"
AXIS_OFF_RAD = np.radians(25.0)
"""Beside what the box itself turns between a plan and its end."""
AXIS_SEEN_OFF_RAD = np.radians(5.0)
PLACE_OFF_M = 2e-3
LATE_S = 0.3
"""The longest delay that is looked for."""
LATE_STEP_S = 0.005
NOTICEABLE_M = 1e-3
"""A belief is this far off before it is looked for a reason."""
BETTER = 0.4
"""A delay explains what was believed if it leaves less than this share of the error."""
IK_OFF_M, IK_OFF_RAD = 1e-3, np.radians(0.5)
SELDOM, OFTEN, MOSTLY = 0.02, 0.1, 0.5
"""Share of the ticks from which on something is no exception."""
FOLLOWED_M = 1e-3
INSIDE_M = 1e-3
"""How far outside the play, by geometry, the tool's end may be for being inside by contact: it may be
turned."""


@dataclass(frozen=True, eq=False, slots=True)
class Truth:
    """What was true at every tick: the hole's middle, the box's axes as columns, the tool's end and axes."""

    middle: Array
    box: Array
    end: Array
    tool: Array

    @property
    def end_in_box(self) -> Array:
        """(ticks, 3): depth past the mouth, and beside the hole's axis along y and z."""
        return np.einsum("kji,kj->ki", self.box, self.end - self.middle)


@dataclass(frozen=True, eq=False, slots=True)
class Case:
    """What is looked at for a reason: the ticks until the tool first touched the box, or the controller
    gave up.

    From then on a box that was pushed swings as nobody can know.
    """

    robot: Robot
    middle: Array
    box: Array
    end: Array
    seen: Array
    aim: Array
    answers: Array
    solved: Array
    wanted: Array
    at_limit: Array
    """Whether any motor stood at its limit."""
    declared_s: float
    """How late the readings were by their own account."""
    swing_rad: float
    """How far the box turns to and fro: what is late may be off by that."""
    play_m: float
    touch_beside_m: float | None
    """How far beside the hole's axis the tool's end was when it first touched the box."""
    diverged: bool
    came_to_push: bool
    """Whether the controller thought that it could go in."""
    speed_needed: tuple[float, float]
    """What going along with the box before the hole takes of a joint's rated speed: least and most in a
    turn."""


def case_of(trial: Trial, truth: Truth) -> Case:
    robot, recording, said = trial.place.scene.robot, trial.recording, trial.recording.said
    n, whole = robot.dof, len(recording)
    touch = first(recording.sensors[:, trial.place.tool_force][:, 0] > 0.0)
    gave_up = first(said[:, PHASE] == phase_of(trial.inserter, GAVE_UP))
    ticks = slice(0, max(min(touch, gave_up), 1))
    return Case(
        robot=robot,
        middle=truth.middle[ticks],
        box=truth.box[ticks],
        end=truth.end[ticks],
        seen=said[ticks, SEEN : SEEN + 9],
        aim=said[ticks, AIM : AIM + 9],
        answers=said[ticks, ANSWER : ANSWER + n],
        solved=said[ticks, IK_SOLVED] > 0.0,
        wanted=said[ticks, ANSWER + n : ANSWER + 2 * n],
        at_limit=np.any(np.abs(recording.torque[ticks]) >= AT_LIMIT * trial.limits, axis=1),
        declared_s=trial.options.delay_ticks * TICK_S,
        swing_rad=2.0 * float(np.abs(trial.vibration.settled_waves()[2:]).sum()),
        play_m=trial.place.hole.play_m,
        touch_beside_m=float(np.abs(truth.end_in_box[touch, 1:]).max()) if touch < whole else None,
        diverged=recording.diverged,
        came_to_push=bool(np.any(said[ticks, PHASE] == phase_of(trial.inserter, PUSHING))),
        speed_needed=speed_needed(trial.place, trial.vibration),
    )


def first(happened: Array) -> int:
    """The first tick at which something happened; the number of ticks if it never did."""
    return int(np.argmax(happened)) if happened.any() else len(happened)


@compiled
def poses_into(screws, rows, poses):
    for k in range(rows.shape[0]):
        replay_into(screws, rows[k], poses[k])


def poses(robot: Robot, rows: Array) -> Array:
    """(ticks, 4, 4): the tip's poses, by the product of exponentials; NaN rows give NaN."""
    found = np.empty((len(rows), 4, 4))
    poses_into(screws_of(robot), np.ascontiguousarray(rows), found)
    return found


def truth_of(trial: Trial) -> Truth:
    robot, mouth, q = trial.place.scene.robot, trial.place.mouth, trial.recording.qpos
    n = robot.dof
    yaw, tilt = q[:, n + 2], q[:, n + 3]
    cy, sy, ct, st = np.cos(yaw), np.sin(yaw), np.cos(tilt), np.sin(tilt)
    zero = np.zeros_like(yaw)
    turn = np.stack([cy * ct, -sy, cy * st, sy * ct, cy, sy * st, -st, zero, ct], axis=1).reshape(-1, 3, 3)
    slid = np.stack([q[:, n], q[:, n + 1], zero], axis=1)
    tips = poses(robot, q[:, :n])
    return Truth(
        middle=mouth.position_m + slid @ mouth.rotation.T,
        box=mouth.rotation @ turn,
        end=tips[:, :3, 3],
        tool=tips[:, :3, :3],
    )


def inside_at_touch(trial: Trial, truth: Truth) -> bool:
    """Whether the tool's end was in the hole and at its bottom when the plate told of a contact."""
    touched = trial.recording.touched
    return touched is not None and is_seated(trial.place.hole, truth.end_in_box[touched])


def is_seated(hole: Hole, end_in_box: ArrayLike) -> bool:
    """Whether a tool's end at (depth, y, z) in the box is in the hole and at its bottom."""
    depth, y, z = np.asarray(end_in_box, dtype=np.float64)
    beside = max(abs(y), abs(z))
    return bool(abs(depth - hole.depth_m) < 2.0 * INSIDE_M and beside < hole.play_m + INSIDE_M)


def failures_of(trial: Trial, truth: Truth) -> list[Failure]:
    """Empty for a trial that succeeded."""
    if inside_at_touch(trial, truth):
        return []
    case = case_of(trial, truth)
    touched = trial.recording.touched is not None
    for look in LOOKS_AT_SIGHT if touched else LOOKS:
        found = look(case)
        if found is not None:
            return [found]
    if touched:
        return [Failure("evaluation", "the plate told of a contact, but the tool's end was not in the hole")]
    return [Failure("evaluation", f"the plate was not touched within {len(truth.end) * TICK_S:.3g} s")]


def frame_failure(case: Case) -> Failure | None:
    """Whether the hole's axis, or how the tool has to be turned to it, was taken for another."""
    axis = median(angles(case.seen[:, 3:6], case.box[:, :, 0]))
    if axis > AXIS_SEEN_OFF_RAD + case.swing_rad:
        return Failure("perception", f"the hole's axis is believed {np.degrees(axis):.0f}° off its true one")
    wanted = median(angles(case.aim[:, 3:6], case.box[:, :, 0]))
    if wanted > AXIS_OFF_RAD + case.swing_rad:
        return Failure(
            "perception",
            f"the tool is aimed {np.degrees(wanted):.0f}° off the hole's axis, which is seen as it is",
        )
    return None


def place_failure(case: Case) -> Failure | None:
    """Whether the hole was believed to be beside where it is, wherever it went."""
    off = case.seen[:, :3] - case.middle
    off = off[~np.isnan(off[:, 0])]
    # What comes and goes with the box's motion is late, or early, and no matter of the place.
    if len(off) and np.linalg.norm(off.mean(axis=0)) > PLACE_OFF_M + 2.0 * rms(off - off.mean(axis=0)):
        mean_mm = 1e3 * np.linalg.norm(off.mean(axis=0))
        return Failure("perception", f"the hole is believed {mean_mm:.1f} mm off, at all times")
    return None


def state_failure(case: Case) -> Failure | None:
    """Whether what was believed fits an earlier box, beyond the delay that was declared."""
    known = np.flatnonzero(~np.isnan(case.seen[:, 0]))
    known = known[known >= round(LATE_S / TICK_S)]
    if not len(known):
        return None
    step = round(LATE_STEP_S / TICK_S)
    lags = range(0, round(LATE_S / TICK_S) + 1, step)
    errors = [rms(case.seen[known, :3] - case.middle[known - lag]) for lag in lags]
    best = int(np.argmin(errors))
    late, declared = best * LATE_STEP_S, case.declared_s
    explained = errors[0] > NOTICEABLE_M and errors[best] < BETTER * errors[0]
    if explained and late > declared + 2.0 * LATE_STEP_S:
        more = f"{1e3 * (late - declared):.0f} ms more than declared"
        return Failure("state", f"what is believed of the box is {1e3 * late:.0f} ms old, {more}")
    return None


def false_answers(case: Case) -> Failure | None:
    """Whether the IK's answers are where it said."""
    asked = ~np.isnan(case.answers[:, 0])
    if not asked.any():
        return None
    tips, aim, solved = poses(case.robot, case.answers[asked]), case.aim[asked], case.solved[asked]
    metres = np.linalg.norm(tips[:, :3, 3] - aim[:, :3], axis=1)
    radians = np.maximum(angles(tips[:, :3, 2], aim[:, 3:6]), angles(tips[:, :3, 0], aim[:, 6:9]))
    false = solved & ((metres > IK_OFF_M) | (radians > IK_OFF_RAD))
    if np.mean(false) > OFTEN:
        mm, degrees = 1e3 * np.median(metres[false]), np.degrees(np.median(radians[false]))
        return Failure("planning", f"the IK calls answers solved that are {mm:.1f} mm and {degrees:.1f}° off")
    return None


def no_answers(case: Case) -> Failure | None:
    """Whether there mostly was no answer, by the IK's own account."""
    asked = ~np.isnan(case.answers[:, 0])
    none = float(np.mean(~case.solved[asked])) if asked.any() else 0.0
    if none <= MOSTLY:
        return None
    return Failure("planning", f"the IK came to no answer in {100.0 * none:.0f} % of the ticks")


def control_failure(case: Case) -> Failure | None:
    """Whether the arm did what was wanted of it."""
    if case.diverged:
        return Failure("control", "the arm ran away")
    behind = np.linalg.norm(poses(case.robot, case.wanted)[:, :3, 3] - case.end, axis=1)
    share = float(np.mean(case.at_limit))
    usual, often = median(behind), float(np.nanquantile(behind, 1.0 - SELDOM))
    if usual <= FOLLOWED_M and (often <= FOLLOWED_M or share <= SELDOM):
        return None
    saturated = f"; motors at their limits {100.0 * share:.0f} % of the time" if share > OFTEN else ""
    far = f"{1e3 * usual:.1f} mm, at times {1e3 * often:.1f} mm,"
    return Failure("control", f"the tool follows {far} behind what is wanted of it{saturated}")


def limit_failure(case: Case) -> Failure | None:
    """Whether the arm's limits left no way to the hole."""
    least, most = case.speed_needed
    if case.came_to_push or most <= 1.0:
        return None
    share = f"{100.0 * least:.0f} to {100.0 * most:.0f} % of a joint's rated speed"
    return Failure("planning", f"{NO_WAY}: going along with the box takes {share}")


def aim_failure(case: Case) -> Failure | None:
    """Whether the tool was pushed against the box beside the hole."""
    if case.touch_beside_m is None or case.touch_beside_m <= case.play_m:
        return None
    return Failure("planning", f"the push began {1e3 * case.touch_beside_m:.1f} mm beside the hole")


LOOKS = (
    frame_failure,
    state_failure,
    place_failure,
    false_answers,
    control_failure,
    limit_failure,
    no_answers,
    aim_failure,
)
"""In this order: what is wrong early on makes everything after it wrong."""
LOOKS_AT_SIGHT = (frame_failure, state_failure)
"""What may be asked of a controller that did come to the plate, if not into the hole."""


def angles(a: Array, b: Array) -> Array:
    """Between unit vectors, row by row."""
    return np.arctan2(np.linalg.norm(np.cross(a, b), axis=1), np.einsum("ki,ki->k", a, b))


def median(values: Array) -> float:
    known = values[~np.isnan(values)]
    return float(np.median(known)) if len(known) else 0.0


def rms(differences: Array) -> float:
    return float(np.sqrt(np.mean(np.sum(differences**2, axis=1))))
