"""The loop of a controller that makes its plans while it runs, among things that move on their own."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import mujoco
import numpy as np

from forearm.control.insertion.inserter import PHASE, Inserter
from forearm.sim.hole_sensing import HoleSensor
from forearm.sim.insertion import READINGS, SUBSTEPS, TICK_S, InsertionScene
from forearm.sim.loop import CHUNK, RUNAWAY_RAD, Warnings, numbers, time_bare_steps, warnings_into
from forearm.spatial import Array

SETTLE_S = 0.1
"""A trial goes on for so long after the tool has touched the plate: a blow comes after its first touch."""


@dataclass(frozen=True, eq=False, slots=True)
class LiveRecording:
    """A row a tick: what was true at its begin, what was told, what was said and done."""

    qpos: Array
    qvel: Array
    points: Array
    said: Array
    command: Array
    torque: Array
    sensors: Array
    """MuJoCo's, of the tick before: see ``forearm.sim.insertion``."""
    step_ns: Array
    """What the controller took."""
    touched: int | None
    """The first tick at whose begin the tool touched the plate."""
    diverged: bool
    bare_us_per_tick: float
    """Processor time of a tick's bare physics steps, from states that the loop came through."""
    bare_s: float
    """What it took to measure that."""
    warnings: Warnings

    def __len__(self) -> int:
        return len(self.qpos)


ChunkSink = Callable[[int, Array], None]
"""Told of every chunk: its first tick, and what the controller said in it."""


def run_live(
    place: InsertionScene,
    model: mujoco.MjModel,
    inserter: Inserter,
    start: Array,
    box_start: tuple[Array, Array],
    drive: Callable[[Array], Array],
    *,
    most_ticks: int,
    sensor: HoleSensor | None = None,
    delay_s: float = 0.0,
    last_phase: int = -1,
    on_chunk: ChunkSink | None = None,
) -> LiveRecording:
    """Run until the tool has touched the plate, the controller is in its ``last_phase``, or for
    ``most_ticks``.

    ``model`` is what happens; ``drive`` gives what the box's drives are told at some times, a row a time.
    ``sensor`` stands between the four sensors and the controller, and ``delay_s`` is how old the readings
    are by their own account.
    """
    data, bare = mujoco.MjData(model), mujoco.MjData(model)
    n = place.scene.robot.dof
    data.qpos[:n], data.qpos[n:], data.qvel[n:] = start, *box_start
    data.ctrl[n:] = drive(np.zeros(1))[0]
    mujoco.mj_forward(model, data)
    rows: tuple[list[bytes], ...] = tuple([] for _ in range(7))
    took: list[int] = []
    warnings: Warnings = []
    bare_s, measured_s, touched, diverged = [], 0.0, None, False
    first, last, given_up = 0, most_ticks, False
    while first < last and not (diverged or given_up):
        end = min(first + CHUNK, last)
        measuring = time.process_time()
        bare_s.append(time_bare_steps(model, data, bare))
        measured_s += time.process_time() - measuring
        with warnings_into(warnings, data), np.errstate(over="ignore", invalid="ignore"):
            # Held for a tick, it lags by half of one.
            told = drive(TICK_S * (np.arange(first, end) + 0.5))
            found = run_chunk(
                place, model, data, inserter, told, sensor, delay_s, rows, took, first, end, touched is None
            )
        if touched is None and found is not None:
            touched = found
            last = min(last, touched + round(SETTLE_S / TICK_S))
        if on_chunk:
            on_chunk(first, numbers(rows[3][first:]))
        first = len(took)
        given_up = int(inserter.said[PHASE]) == last_phase
        diverged = not (np.abs(data.qpos) < RUNAWAY_RAD).all()
    qpos, qvel, points, said, command, torque, sensors = (numbers(each) for each in rows)
    return LiveRecording(
        qpos=qpos,
        qvel=qvel,
        points=points,
        said=said,
        command=command,
        torque=torque,
        sensors=sensors,
        step_ns=np.array(took),
        touched=touched,
        diverged=diverged,
        bare_us_per_tick=1e6 * SUBSTEPS * sum(bare_s) / len(bare_s),
        bare_s=measured_s,
        warnings=warnings,
    )


def run_chunk(
    place: InsertionScene,
    model: mujoco.MjModel,
    data: mujoco.MjData,
    inserter: Inserter,
    told: Array,
    sensor: HoleSensor | None,
    delay_s: float,
    rows: tuple[list[bytes], ...],
    took: list[int],
    first: int,
    end: int,
    until_touched: bool,
) -> int | None:
    """The ticks from ``first`` to ``end``, or to the touch of the plate, whose tick is returned.

    Lean on purpose, as ``forearm.sim.loop.run_chunk`` is. The engine tells of its sensors at the begin of
    the step that it has just made, so a reading is a step old before any delay.
    """
    n, dt, old = place.scene.robot.dof, TICK_S, place.scene.dt_s
    q, qd, command, drives = data.qpos[:n], data.qvel[:n], data.ctrl[:n], data.ctrl[n:]
    positions, plate = data.sensordata[:READINGS], data.sensordata[place.plate_force]
    said, clock, step, act = inserter.said, time.perf_counter_ns, mujoco.mj_step, inserter.step
    arm_torque = data.actuator_force[:n]
    qpos_row, qvel_row, sensor_row = data.qpos.tobytes, data.qvel.tobytes, data.sensordata.tobytes
    said_row, command_row, torque_row = said.tobytes, command.tobytes, arm_torque.tobytes
    qpos_rows, qvel_rows, point_rows, said_rows, command_rows, torque_rows, sensor_rows = rows
    points = positions
    for tick in range(first, end):
        now = tick * dt
        if sensor is not None:
            points = sensor.observe(positions)
        qpos_rows.append(qpos_row())
        qvel_rows.append(qvel_row())
        point_rows.append(points.tobytes())
        sensor_rows.append(sensor_row())
        began = clock()
        act(now, max(now - old, 0.0) - delay_s, q, qd, points, command)
        took.append(clock() - began)
        said_rows.append(said_row())
        command_rows.append(command_row())
        drives[:] = told[tick - first]
        step(model, data, SUBSTEPS)
        torque_rows.append(torque_row())
        if until_touched and plate[0] > 0.0:
            # Those forces are of the step that is over: the touch was at its begin.
            return tick
    return None
