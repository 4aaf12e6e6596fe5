"""The one loop that steps MuJoCo: sense, refer, command, saturate, step, record."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

import mujoco
import numpy as np

from forearm.control.controller import Controller, State, Tick
from forearm.control.plant import ActuatorKind
from forearm.errors import InvalidInput
from forearm.sim.disturbance import Disturbance, disturbed
from forearm.sim.recording import Recording
from forearm.sim.scene import Scene, tip_body
from forearm.sim.sensing import Sensing, Sensor, make_sensor
from forearm.spatial import Array

CHUNK = 500
"""Ticks between looks at what happened: events, divergence, the clock."""
BARE_STEPS = 100
"""Steps timed without anything around them, before every chunk, on a copy of the state it begins with."""
RUNAWAY_RAD = 100.0
"""A joint beyond this has run away."""
PUSH_SECONDS = 0.5
AT_LIMIT = 1.0 - 1e-9

ChunkSink = Callable[[Recording, int, int], None]
Warnings = list[tuple[float, str]]


@dataclass(frozen=True, eq=False, slots=True)
class LoopResult:
    recording: Recording
    """As far as the run came; one that ran away ends with its last sound tick."""
    diverged_at_s: float | None
    """When a state ran away, stopped being finite, or left the law without an answer."""
    loop_us_per_tick: float
    """Processor time, so that another program's turn on the core is not charged to the loop."""
    bare_us_per_step: float
    """The same of ``mj_step`` alone, from states that the loop came through."""
    warnings: Warnings
    """What MuJoCo warned of: time (s) and text."""

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
    if not ticks:
        raise InvalidInput("ticks", "are none", "Give a reference of one tick or more.")
    model = disturbed(scene, disturbance or Disturbance())
    data, bare = mujoco.MjData(model), mujoco.MjData(model)
    start = ticks[0].q
    data.qpos[:] = start
    mujoco.mj_forward(model, data)
    eyes = sensor or make_sensor(sensing or Sensing(), scene.dt_s, start)
    servo = scene.plant.actuators.kind is ActuatorKind.SERVO
    recording = Recording.empty(len(ticks), scene.robot.dof, scene.dt_s)
    recording.wanted_q[:] = [tick.q for tick in ticks]
    # A law's first call loads compiled code, which is no part of a tick. It is pure, so one call is free.
    controller.command(State(start, np.zeros_like(start)), ticks[0], data.ctrl)
    push = Push(scene, disturbance or Disturbance(), len(ticks))
    warnings: Warnings = []
    loop_s, timed, bare_s, done, diverged = 0.0, 0, [], 0, None
    for first in range(0, len(ticks), CHUNK):
        last = min(first + CHUNK, len(ticks))
        bare_s.append(time_bare_steps(model, data, bare))
        push.apply(data, first)
        # A runaway is told as such, not by the overflows that follow.
        with warnings_into(warnings, data), np.errstate(over="ignore", invalid="ignore"):
            began = time.thread_time()
            ran = run_chunk(model, data, eyes, servo, controller.command, ticks, recording, first, last)
            took_s = time.thread_time() - began
        note_saturation(scene, recording, first, ran)
        diverged = first_runaway(recording, first, ran)
        if diverged is None and ran < last:
            diverged = ran
        done = last if diverged is None else diverged
        # What MuJoCo makes of a state that ran away takes longer than any motion.
        if diverged is None or not timed:
            loop_s, timed = loop_s + took_s, ran
        if on_chunk and done > first:
            on_chunk(recording, first, done)
        if diverged is not None:
            break
    return LoopResult(
        recording=replace(recording, ticks_done=done),
        diverged_at_s=None if diverged is None else diverged * scene.dt_s,
        loop_us_per_tick=1e6 * loop_s / max(timed, 1),
        bare_us_per_step=1e6 * sum(bare_s) / len(bare_s),
        warnings=warnings,
    )


def run_chunk(
    model: mujoco.MjModel,
    data: mujoco.MjData,
    sensor: Sensor,
    servo: bool,
    command: Callable[[State, Tick, Array], None],
    ticks: Sequence[Tick],
    recording: Recording,
    first: int,
    last: int,
) -> int:
    """The ticks from ``first`` to ``last``; returns where it ended, which is at a tick without a command.

    Lean on purpose: everything here is paid for every tick. A row is kept as bytes, a third of the time
    that copying it into a row of an array takes.
    """
    qpos, qvel, ctrl, step = data.qpos, data.qvel, data.ctrl, mujoco.mj_step
    q, qd, seen_q, seen_qd, readings, asked, torque, contacts = ([] for _ in range(8))
    q_row, qd_row, ctrl_row, force_row = qpos.tobytes, qvel.tobytes, ctrl.tobytes, data.actuator_force.tobytes
    # MuJoCo's own arrays: what a perfect sensor sees is the truth, at every tick, without a copy.
    state, perfect = State(qpos, qvel), sensor.perfect
    for tick in ticks[first:last]:
        q.append(q_row())
        qd.append(qd_row())
        if not perfect:
            state = sensor.observe(qpos, qvel)
            seen_q.append(state.q.tobytes())
            seen_qd.append(state.qd.tobytes())
            readings.append(sensor.reading.tobytes())
        try:
            command(state, tick, ctrl)
        except np.linalg.LinAlgError:
            # What a law does with a state that is no longer finite.
            break
        asked.append(ctrl_row())
        if servo and not perfect:
            # MuJoCo's drive knows the true q; shifted by this it acts on what was seen of it.
            ctrl += qpos - state.q
        step(model, data)
        torque.append(force_row())
        contacts.append(data.ncon)
    count = len(torque)
    if not count:
        return first
    done = slice(first, first + count)
    recording.q[done], recording.qd[done] = numbers(q[:count]), numbers(qd[:count])
    recording.command[done], recording.torque[done] = numbers(asked), numbers(torque)
    recording.contacts[done] = contacts
    if perfect:
        recording.seen_q[done], recording.seen_qd[done] = recording.q[done], recording.qd[done]
        recording.reading[done] = recording.q[done]
    else:
        recording.seen_q[done], recording.seen_qd[done] = numbers(seen_q[:count]), numbers(seen_qd[:count])
        recording.reading[done] = numbers(readings[:count])
    return first + count


def numbers(rows: Sequence[bytes]) -> Array:
    """The rows as one array."""
    return np.frombuffer(b"".join(rows)).reshape(len(rows), -1)


def time_bare_steps(model: mujoco.MjModel, data: mujoco.MjData, bare: mujoco.MjData) -> float:
    """Seconds of one ``mj_step`` and nothing else, from the state that the loop is in."""
    bare.qpos[:], bare.qvel[:], bare.ctrl[:] = data.qpos, data.qvel, data.ctrl
    with warnings_into([], bare):
        began = time.thread_time()
        for _ in range(BARE_STEPS):
            mujoco.mj_step(model, bare)
        return (time.thread_time() - began) / BARE_STEPS


@contextmanager
def warnings_into(said: Warnings, data: mujoco.MjData) -> Iterator[None]:
    """Collect what MuJoCo warns of; left alone it goes to stderr and into a file in the user's folder."""
    before = mujoco.get_mju_user_warning()
    mujoco.set_mju_user_warning(lambda text: said.append((round(data.time, 9), text.strip())))
    try:
        yield
    finally:
        mujoco.set_mju_user_warning(before)


def note_saturation(scene: Scene, recording: Recording, first: int, last: int) -> None:
    limit = AT_LIMIT * scene.plant.actuators.max_effort
    recording.saturated[first:last] = np.abs(recording.torque[first:last]) >= limit


def first_runaway(recording: Recording, first: int, last: int) -> int | None:
    """The first tick whose state is not finite or has run away."""
    q, qd = recording.q[first:last], recording.qd[first:last]
    # A comparison with NaN is false.
    bad = ~((np.abs(q) < RUNAWAY_RAD).all(axis=1) & np.isfinite(qd).all(axis=1))
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
