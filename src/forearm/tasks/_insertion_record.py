"""What a trial leaves: its trace, its row in a sweep, its record."""

from __future__ import annotations

from typing import Any

import numpy as np

from forearm.control.insertion.inserter import (
    AIM,
    ANSWER,
    DEPTH,
    FELT,
    FREQUENCY,
    IK_SOLVED,
    INSERTERS,
    PHASE,
    REASON,
    SEEN,
    SURE,
)
from forearm.evidence.record import SHARE, Metric, Outcome, Record
from forearm.sim.insertion import SUBSTEPS, TICK_S
from forearm.sim.vibrating_box import JOINTS, SENSORS
from forearm.spatial import Array
from forearm.tasks._diagnosis import Failure
from forearm.tasks._insertion_judge import Truth
from forearm.tasks._insertion_options import FAULTS, LONGEST_S, PERTURBATIONS, InsertionOptions
from forearm.tasks._insertion_trial import Trial, recoveries
from forearm.tasks._perturb import in_words

MOST_SINK_M = 3e-4
MOST_TIME_RATIO = 3.0
TITLE = "The tool into the vibrating hole"


def trace_columns(trial: Trial, truth: Truth) -> dict[str, Array]:
    """A column a quantity, a row a tick."""
    recording, robot = trial.recording, trial.place.scene.robot
    n, said, place = robot.dof, recording.said, trial.place
    columns: dict[str, Array] = {
        "time_s": TICK_S * np.arange(len(recording)),
        "phase": said[:, PHASE].astype(np.int64),
        "reason": said[:, REASON].astype(np.int64),
    }

    def add(prefix: str, names: tuple[str, ...] | list[str], values: Array) -> None:
        for index, name in enumerate(names):
            columns[f"{prefix}_{name}"] = values[:, index]

    add("q", robot.joint_names, recording.qpos[:, :n])
    add("qd", robot.joint_names, recording.qvel[:, :n])
    add("wanted_q", robot.joint_names, said[:, ANSWER + n : ANSWER + 2 * n])
    add("answer_q", robot.joint_names, said[:, ANSWER : ANSWER + n])
    add("command", robot.joint_names, recording.command)
    add("torque", robot.joint_names, recording.torque)
    add("at", JOINTS, recording.qpos[:, n:])
    add("rate", JOINTS, recording.qvel[:, n:])
    for index, name in enumerate(SENSORS):
        add(f"reading_{name}", ["x_m", "y_m", "z_m"], recording.points[:, 3 * index : 3 * index + 3])
    add("seen", ["x_m", "y_m", "z_m"], said[:, SEEN : SEEN + 3])
    add("seen_axis", ["x", "y", "z"], said[:, SEEN + 3 : SEEN + 6])
    add("seen_side", ["x", "y", "z"], said[:, SEEN + 6 : SEEN + 9])
    add("aim", ["x_m", "y_m", "z_m"], said[:, AIM : AIM + 3])
    add("aim_axis", ["x", "y", "z"], said[:, AIM + 3 : AIM + 6])
    add("aim_side", ["x", "y", "z"], said[:, AIM + 6 : AIM + 9])
    add("true", ["x_m", "y_m", "z_m"], truth.middle)
    add("end_in_box", ["depth_m", "y_m", "z_m"], truth.end_in_box)
    columns |= {
        "sure_m": said[:, SURE],
        "believed_depth_m": said[:, DEPTH],
        "felt_n": said[:, FELT],
        "believed_hz": said[:, FREQUENCY],
        "ik_solved": said[:, IK_SOLVED],
        "tool_force_n": forces(trial),
        "plate_force_n": np.linalg.norm(recording.sensors[:, place.plate_force][:, 1:], axis=1),
        "sink_m": np.maximum(-recording.sensors[:, place.deepest], 0.0),
    }
    return columns


def forces(trial: Trial) -> Array:
    """The box's force on the tool at each tick (N)."""
    return np.linalg.norm(trial.recording.sensors[:, trial.place.tool_force][:, 1:], axis=1)


def measured(trial: Trial, failures: list[Failure]) -> dict[str, Any]:
    """What is told of a trial, as numbers by name; the two timings are the machine's."""
    recording = trial.recording
    torque = np.abs(recording.torque)
    success = not failures
    return {
        "controller": trial.options.controller,
        "difficulty": trial.options.difficulty,
        "seed": trial.options.seed,
        "success": success,
        "time_s": recording.touched * TICK_S if success and recording.touched is not None else None,
        "label": "" if success else failures[0].label,
        "failure": "" if success else failures[0].text,
        "recoveries": recoveries(trial),
        "peak_force_n": float(forces(trial).max()),
        "peak_torque_nm": float(torque.max()),
        "peak_torque_share": float((torque / trial.place.scene.robot.max_effort).max()),
        "peak_speed_share": speed_share(trial),
        "deepest_sink_m": float(max(0.0, -recording.sensors[:, trial.place.deepest].min())),
        "step_p99_us": float(np.percentile(recording.step_ns, 99.0)) * 1e-3,
        "time_ratio": 1e6 * trial.took_s / (len(recording) * recording.bare_us_per_tick),
    }


def speed_share(trial: Trial) -> float:
    """The largest share of a joint's rated speed until the touch."""
    robot, recording = trial.place.scene.robot, trial.recording
    until = len(recording) if recording.touched is None else recording.touched + 1
    return float((np.abs(recording.qvel[:until, : robot.dof]) / robot.max_speed).max())


def record_of(trial: Trial, failures: list[Failure]) -> Record:
    options, told = trial.options, measured(trial, failures)
    return Record(
        kind="run.insert",
        title=title_of(options),
        summary=summary_of(trial),
        outcome=Outcome.FAILED if failures else Outcome.PASSED,
        metrics=metrics_of(trial, told),
        inputs=inputs_of(trial),
        configuration={"task": "insert", **options_data(options)},
        seeds={"trial": options.seed},
        failures=[{"label": failure.label, "text": failure.text} for failure in failures],
    )


def options_data(options: InsertionOptions) -> dict[str, Any]:
    return {name: getattr(options, name) for name in InsertionOptions.__slots__}


def title_of(options: InsertionOptions) -> str:
    harder = in_words(options.perturb, PERTURBATIONS)
    fault = FAULTS[options.fault].meaning if options.fault else ""
    return TITLE + (f", perturbed: {harder}" if harder else "") + (f"; fault: {fault}" if fault else "")


def summary_of(trial: Trial) -> str:
    vibration, options = trial.vibration, trial.options
    away = 1e3 * np.abs(vibration.settled_waves()[0])
    yaw, tilt = np.degrees(np.abs(vibration.settled_waves()[2:]))
    return (
        f"{options.arm}, {INSERTERS.find(options.controller).summary}. At difficulty "
        f"{options.difficulty:g} the box runs along a circle of {away:.0f} mm at "
        f"{vibration.frequency_hz:.2g} Hz, and turns by ±{yaw:.1f}° and ±{tilt:.1f}°. The trial ends when "
        f"the tool's end touches the plate at the bottom of the hole, or after {LONGEST_S:g} s."
    )


def inputs_of(trial: Trial) -> dict[str, Any]:
    vibration, place = trial.vibration, trial.place
    return {
        "robot": place.scene.robot.name,
        "joints": place.scene.robot.joint_names,
        "max_effort": place.scene.robot.max_effort,
        "phases": list(trial.inserter.phases),
        "mouth_in_base_m": place.mouth.position_m,
        "hole": {"play_m": place.hole.play_m, "depth_m": place.hole.depth_m},
        "box": {name: getattr(vibration, name) for name in type(vibration).__slots__},
        "start_q": trial.recording.qpos[0, : place.scene.robot.dof],
    }


def metrics_of(trial: Trial, told: dict[str, Any]) -> list[Metric]:
    recording = trial.recording
    return [
        Metric(
            "success",
            int(told["success"]),
            "",
            "the tool's end touched the plate inside the hole",
            None,
            "1",
            told["success"],
        ),
        Metric("time_s", told["time_s"], "s", "from the start to the touch"),
        Metric("recoveries", told["recoveries"], "", "times that the controller backed out and tried again"),
        Metric("peak_force_n", told["peak_force_n"], "N", "largest force of the box on the tool"),
        Metric("peak_torque_nm", told["peak_torque_nm"], "N·m", "largest torque"),
        Metric("peak_torque_share", told["peak_torque_share"], SHARE, "largest share of a torque limit"),
        Metric("peak_speed_share", told["peak_speed_share"], SHARE, "largest share of a joint's rated speed"),
        Metric(
            "deepest_sink_m",
            told["deepest_sink_m"],
            "m",
            "deepest that the tool sank into the box",
            None,
            f"<= {MOST_SINK_M:g} m",
            told["deepest_sink_m"] <= MOST_SINK_M,
        ),
        Metric(
            "ticks",
            len(recording),
            "",
            f"control ticks of {1e3 * TICK_S:g} ms, {SUBSTEPS} physics steps each",
        ),
        Metric(
            "step_p99_us",
            told["step_p99_us"],
            "µs",
            "the controller, a tick, 99th percentile",
            None,
            f"< {1e6 * TICK_S:g} µs",
            told["step_p99_us"] < 1e6 * TICK_S,
        ),
        Metric(
            "time_ratio",
            told["time_ratio"],
            "x",
            "the trial's time over that of its bare simulation",
            None,
            f"<= {MOST_TIME_RATIO:g}",
            told["time_ratio"] <= MOST_TIME_RATIO,
        ),
    ]
