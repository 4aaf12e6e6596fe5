"""The one loop that steps MuJoCo: sense, refer, command, saturate, step, record."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import mujoco
import numpy as np

from forearm.control.controller import Controller, State, Tick
from forearm.sim.disturbance import Disturbance, disturbed
from forearm.sim.recording import Recording
from forearm.sim.scene import Scene, tip_body
from forearm.sim.sensing import Sensing, Sensor, make_sensor
from forearm.spatial import Array

CHUNK = 500
"""Ticks between looks at what happened: events, divergence, the clock."""
BARE_STEPS = 100
"""Steps timed without anything around them, after every chunk, on a copy of the same state."""
RUNAWAY_RAD = 100.0
"""A joint beyond this has run away."""
PUSH_SECONDS = 0.5
AT_LIMIT = 1.0 - 1e-9

ChunkSink = Callable[[Recording, int, int], None]


@dataclass(frozen=True, eq=False, slots=True)
class LoopResult:
    recording: Recording
    diverged_at_s: float | None
    """When a state ran away or stopped being finite."""
    loop_us_per_tick: float
    bare_us_per_step: float
    """``mj_step`` alone, in the same states."""

    @property
    def time_ratio(self) -> float:
        return self.loop_us_per_tick / self.bare_us_per_step


def run_loop(
    scene: Scene,
    controller: Controller,
    ticks: Sequence[Tick],
    *,
    sensing: Sensing | None = None,
    sensor: Sensor | None = None,
    disturbance: Disturbance | None = None,
    on_chunk: ChunkSink | None = None,
) -> LoopResult:
    """Run the reference once, from rest on its first tick.

    The command of tick k acts until tick k + 1. ``sensing`` says how the sensors fall short; ``sensor``
    puts another sensor in their place. ``on_chunk(recording, start, end)`` is called after
    every half second or so of ticks, for what has to be written while the run goes on.
    """
    model = disturbed(scene, disturbance or Disturbance())
    data, bare = mujoco.MjData(model), mujoco.MjData(model)
    start = ticks[0].q
    data.qpos[:] = start
    mujoco.mj_forward(model, data)
    eyes = sensor or make_sensor(sensing or Sensing(), scene.dt_s, start)
    recording = Recording.empty(len(ticks), scene.robot.dof, scene.dt_s)
    recording.wanted_q[:] = [tick.q for tick in ticks]
    # A law's first call loads compiled code, which is no part of a tick. It is pure, so one call is free.
    controller.command(State(start, np.zeros_like(start)), ticks[0], np.zeros_like(start))
    push = Push(scene, disturbance or Disturbance(), len(ticks))
    loop_s, bare_s, done, diverged = [], [], 0, None
    for first in range(0, len(ticks), CHUNK):
        last = min(first + CHUNK, len(ticks))
        push.apply(data, first)
        began = time.perf_counter()
        run_chunk(model, data, eyes, controller.command, ticks, recording, first, last)
        loop_s.append((time.perf_counter() - began) / (last - first))
        bare_s.append(time_bare_steps(model, data, bare))
        note_saturation(scene, recording, first, last)
        done = last
        diverged = first_runaway(recording, first, last)
        if on_chunk:
            on_chunk(recording, first, last)
        if diverged is not None:
            break
    return LoopResult(
        recording=replace(recording, ticks_done=done),
        diverged_at_s=None if diverged is None else diverged * scene.dt_s,
        loop_us_per_tick=1e6 * float(np.median(loop_s)),
        bare_us_per_step=1e6 * float(np.median(bare_s)),
    )


def run_chunk(
    model: mujoco.MjModel,
    data: mujoco.MjData,
    sensor: Sensor,
    command: Callable[[State, Tick, Array], None],
    ticks: Sequence[Tick],
    recording: Recording,
    first: int,
    last: int,
) -> None:
    """The ticks from ``first`` to ``last``. Lean on purpose: everything here is paid for every tick."""
    qpos, qvel, ctrl, force = data.qpos, data.qvel, data.ctrl, data.actuator_force
    q, qd, commands, torque = recording.q, recording.qd, recording.command, recording.torque
    contacts, step = recording.contacts, mujoco.mj_step
    if sensor.perfect:
        # MuJoCo's own arrays: what is seen is the truth, at every tick, without a copy.
        state = State(qpos, qvel)
        for k in range(first, last):
            q[k] = qpos
            qd[k] = qvel
            command(state, ticks[k], ctrl)
            commands[k] = ctrl
            step(model, data)
            torque[k] = force
            if data.ncon:
                contacts[k] = data.ncon
        recording.seen_q[first:last], recording.seen_qd[first:last] = q[first:last], qd[first:last]
        recording.reading[first:last] = q[first:last]
        return
    for k in range(first, last):
        q[k] = qpos
        qd[k] = qvel
        state = sensor.observe(qpos, qvel)
        recording.seen_q[k], recording.seen_qd[k] = state
        recording.reading[k] = sensor.reading
        command(state, ticks[k], ctrl)
        commands[k] = ctrl
        step(model, data)
        torque[k] = force
        contacts[k] = data.ncon


def time_bare_steps(model: mujoco.MjModel, data: mujoco.MjData, bare: mujoco.MjData) -> float:
    """Seconds of one ``mj_step`` and nothing else, from the state that the loop is in."""
    bare.qpos[:], bare.qvel[:], bare.ctrl[:] = data.qpos, data.qvel, data.ctrl
    began = time.perf_counter()
    for _ in range(BARE_STEPS):
        mujoco.mj_step(model, bare)
    return (time.perf_counter() - began) / BARE_STEPS


def note_saturation(scene: Scene, recording: Recording, first: int, last: int) -> None:
    limit = AT_LIMIT * scene.plant.actuators.max_effort
    recording.saturated[first:last] = np.abs(recording.torque[first:last]) >= limit


def first_runaway(recording: Recording, first: int, last: int) -> int | None:
    """The first tick whose state is not finite or has run away."""
    chunk = recording.q[first:last]
    bad = ~(np.isfinite(chunk).all(axis=1) & (np.abs(chunk).max(axis=1) < RUNAWAY_RAD))
    return first + int(np.argmax(bad)) if bad.any() else None


class Push:
    """A sideways force on the tip's body from the middle of the run on, for half a second."""

    def __init__(self, scene: Scene, disturbance: Disturbance, ticks: int) -> None:
        middle = ticks // 2 // CHUNK * CHUNK
        self.begin = middle
        self.end = middle + max(CHUNK, round(PUSH_SECONDS / scene.dt_s / CHUNK) * CHUNK)
        self.body = tip_body(scene)
        self.force: Array = np.array([0.0, disturbance.push_n, 0.0, 0.0, 0.0, 0.0])

    def apply(self, data: mujoco.MjData, tick: int) -> None:
        """Called at the first tick of every chunk."""
        data.xfrc_applied[self.body] = self.force if self.begin <= tick < self.end else 0.0
