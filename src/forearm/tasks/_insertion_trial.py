"""One trial of the insertion: drawn from its seed, run, and judged."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import mujoco
import numpy as np

from forearm.control.insertion.hole import tool_in_box
from forearm.control.insertion.inserter import (
    GAVE_UP,
    PHASE,
    REASON,
    REASONS,
    RECOVERY,
    Cell,
    Inserter,
    make_inserter,
    phase_of,
)
from forearm.kinematics.forward import tip_pose
from forearm.sim.disturbance import Disturbance, disturbed
from forearm.sim.hole_sensing import HoleSensor
from forearm.sim.insertion import READINGS, TICK_S, InsertionScene, insertion_scene
from forearm.sim.live import LiveRecording, run_live
from forearm.sim.vibrating_box import Vibration
from forearm.spatial import Array
from forearm.tasks._insertion_options import FALSE_IK_M, LONGEST_S, InsertionOptions

START_RAD = 0.1
"""A trial starts this far from the posture in which the arm waits, in every joint, at most."""
CLEAR_M = 0.03
"""So much room is left between the tool at the start and the mouth at its nearest."""
WIDER = 1.05
TRIES = 200

Note = Callable[[float, str, str], None]


@dataclass(frozen=True, eq=False, slots=True)
class Trial:
    options: InsertionOptions
    place: InsertionScene
    vibration: Vibration
    recording: LiveRecording
    inserter: Inserter
    took_s: float
    """Processor time of the trial, beside that of measuring the bare simulation."""

    @property
    def limits(self) -> Array:
        """The torques that the real motors give at most (N·m)."""
        return self.options.disturbance.effort * self.place.scene.robot.max_effort


def run_trial(options: InsertionOptions, note: Note) -> Trial:
    """Draw everything that the trial leaves to chance, and run it; ``note`` is told what happens."""
    place = insertion_scene(options.arm, options.play_m)
    warm_up(options.controller, options.arm)
    began = time.process_time()
    inserter = make_inserter(options.controller, cell_of(place, options))
    vibration = Vibration.drawn(options.difficulty, np.random.default_rng((options.seed, 0)))
    start = drawn_start(place, vibration, options.seed)
    sensing = options.sensing
    note(0.0, "start", f"{options.controller}, difficulty {options.difficulty:g}, seed {options.seed}")
    phases = PhaseFinder(inserter, note)
    recording = run_live(
        place,
        real_model(options.arm, options.play_m, options.disturbance),
        inserter,
        start,
        vibration.settled(),
        vibration.told,
        most_ticks=round(LONGEST_S / TICK_S),
        sensor=None if sensing.perfect else HoleSensor(sensing),
        delay_s=options.delay_ticks * TICK_S,
        last_phase=phase_of(inserter, GAVE_UP),
        on_chunk=phases,
    )
    for time_s, text in recording.warnings:
        note(time_s, "engine", text)
    took_s = time.process_time() - began - recording.bare_s
    return Trial(options, place, vibration, recording, inserter, took_s)


def cell_of(place: InsertionScene, options: InsertionOptions) -> Cell:
    """What the controller is told, with the faults that lie in what it believes."""
    wrong, false = options.fault == "wrong_frame", options.fault == "false_ik"
    return Cell(
        place.scene.plant,
        place.hole,
        TICK_S,
        tool_in_box=np.eye(3) if wrong else tool_in_box(),
        ik_slack_m=FALSE_IK_M if false else 0.0,
    )


@lru_cache(maxsize=16)
def warm_up(controller: str, arm: str) -> None:
    """Load a controller's compiled code, which is no part of a trial."""
    place = insertion_scene(arm)
    n, unseen = place.scene.robot.dof, np.full(READINGS, np.nan)
    inserter = make_inserter(controller, Cell(place.scene.plant, place.hole, TICK_S))
    inserter.step(0.0, 0.0, place.ready.copy(), np.zeros(n), unseen, np.zeros(n))


@lru_cache(maxsize=16)
def real_model(arm: str, play_m: float, disturbance: Disturbance) -> mujoco.MjModel:
    return disturbed(insertion_scene(arm, play_m).scene, disturbance)


def drawn_start(place: InsertionScene, vibration: Vibration, seed: int) -> Array:
    """A posture about that in which the arm waits, the tool clear of the box wherever that comes."""
    random = np.random.default_rng((seed, 1))
    nearest = float(np.abs(vibration.settled_waves()[0])) + CLEAR_M
    spread, robot = START_RAD, place.scene.robot
    into_mouth = place.mouth.inverse()
    while True:
        for _ in range(TRIES):
            q = place.ready + random.uniform(-spread, spread, size=robot.dof)
            depth = (into_mouth @ tip_pose(robot, q)).position_m[0]
            if depth < -nearest and bool(((q > robot.lower) & (q < robot.upper)).all()):
                return q
        # A box that swings far leaves little room where the arm waits: then it starts further off.
        spread *= WIDER


class PhaseFinder:
    """Tells of every phase as it begins, and why the one before ended."""

    def __init__(self, inserter: Inserter, note: Note) -> None:
        self.phases, self.note, self.phase = inserter.phases, note, -1

    def __call__(self, first: int, said: Array) -> None:
        phases = said[:, PHASE].astype(int)
        for tick in np.flatnonzero(np.diff(phases, prepend=self.phase)):
            reason = REASONS[int(said[tick, REASON])]
            name = self.phases[phases[tick]]
            kind = "recovery" if name == RECOVERY else "phase"
            self.note((first + int(tick)) * TICK_S, kind, f"{name}: {reason}" if reason else name)
        self.phase = int(phases[-1]) if len(phases) else self.phase


def recoveries(trial: Trial) -> int:
    """How often the controller backed out."""
    backs = trial.recording.said[:, PHASE] == phase_of(trial.inserter, RECOVERY)
    return int(np.count_nonzero(np.diff(backs.astype(int), prepend=0) == 1))
