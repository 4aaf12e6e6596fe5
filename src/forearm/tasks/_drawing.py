"""Drawing a figure with the tip: planned, checked, driven, judged against the true edges.

The error that counts is the distance of the true tip to the true point of the true edge at that time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from forearm.control.controller import Controller, law, make_controller
from forearm.errors import InvalidInput
from forearm.evidence.compare import TIMINGS
from forearm.evidence.record import SHARE, Metric, Outcome, Record
from forearm.evidence.trace import read_trace, write_trace
from forearm.evidence.writer import ArtifactWriter
from forearm.ik.solve import solve
from forearm.kinematics.chain import chain_of, forward_into
from forearm.kinematics.measures import task_rows
from forearm.kinematics.workspace import sample_into
from forearm.motion.follow import follow
from forearm.motion.plan import PlanRefused, PlanReport, check_plan
from forearm.motion.profile import profile
from forearm.motion.reference import JointReference, TipReference
from forearm.motion.route import Line, Route
from forearm.motion.trajectory import Trajectory, timed
from forearm.robots.robot import Robot
from forearm.sim.clearance import SceneClearance
from forearm.sim.loop import LoopResult, run_loop
from forearm.sim.recording import Recording, ticks_of
from forearm.sim.scene import DEFAULT_STEP_S, Block, Scene, build_scene
from forearm.sim.sensing import Sensor
from forearm.sim.still import render, save_png
from forearm.spatial import Array, Pose
from forearm.tasks._diagnosis import Failure, control_failures, sensing_failures
from forearm.tasks._perturb import Perturbation, perturbation_for

EDGE_TOLERANCE_M = 1e-3
"""An edge is drawn if the tip stays this near to it from end to end."""
LONGEST_S = 3600.0
"""The longest run that is held in memory."""
SHORTEST_S = DEFAULT_STEP_S
"""The shortest edge: one tick."""
STRAYS = 0.1
"""Share of a side that a perturbation may add to the RMS error; beyond, another figure is drawn."""
MAX_TIME_RATIO = 2.0


@dataclass(frozen=True, slots=True)
class DrawingOptions:
    """What can be chosen of a drawing run; plain data, kept in the record."""

    controller: str
    edge_seconds: float
    side_m: float
    center_m: tuple[float, float, float]
    profile: str = "quintic"
    perturb: Mapping[str, float] = field(default_factory=dict)
    seed: int = 0
    force: bool = False


@dataclass(frozen=True, eq=False, slots=True)
class Drawing:
    """What is to be drawn, with what, among what."""

    kind: str
    title: str
    robot: Robot
    route: Route
    blocks: tuple[Block, ...]
    goal_rms_m: float
    goal_max_m: float
    seed_posture: Array
    source_rms: str
    """What the text that the task comes from reports."""
    source_max: str


@dataclass(frozen=True, slots=True)
class Goals:
    """What a run is held against."""

    rms_m: float
    max_m: float
    clean_rms_m: float | None = None
    """The error of the same run unperturbed; None where this is it."""


@dataclass(frozen=True, eq=False, slots=True)
class Plan:
    scene: Scene
    tip: TipReference
    joints: JointReference
    report: PlanReport


def plan_drawing(drawing: Drawing, options: DrawingOptions) -> Plan:
    """Solve the whole stroke, and check it before anything moves; raises ``PlanRefused``."""
    robot = drawing.robot
    scene = build_scene(robot, law(options.controller).drives, drawing.blocks)
    tip = trajectory_of(drawing, options).sampled(scene.dt_s)
    start = solve(robot, Pose.from_matrix(tip.poses[0]), seed=drawing.seed_posture).require().q
    joints = follow(robot, tip, start)
    clearance = SceneClearance(scene) if drawing.blocks else None
    report = check_plan(robot, joints, tip=tip, clearance=clearance)
    if not report.ok and not options.force:
        raise PlanRefused(report)
    return Plan(scene, tip, joints, report)


def trajectory_of(drawing: Drawing, options: DrawingOptions) -> Trajectory:
    """The stroke in time; raises ``InvalidInput`` for edges too short or too long to be run."""
    trajectory = timed(drawing.route, [profile(options.profile, options.edge_seconds)])
    if options.edge_seconds < SHORTEST_S:
        raise InvalidInput(
            "edge_seconds", f"is {options.edge_seconds:g} s, less than a tick", f"At least {SHORTEST_S:g} s."
        )
    if trajectory.duration_s > LONGEST_S:
        raise InvalidInput(
            "edge_seconds", f"makes a run of {trajectory.duration_s:.3g} s", f"At most {LONGEST_S:g} s."
        )
    return trajectory


def perform_drawing(
    drawing: Drawing,
    options: DrawingOptions,
    artifact: ArtifactWriter | None,
    make: Callable[[Scene], Controller] | None = None,
    sensor: Sensor | None = None,
) -> tuple[Record, LoopResult, dict[str, Array]]:
    """Plan, run and judge one drawing; writes trace and events as it goes.

    ``make`` and ``sensor`` put another controller and another sensor in the place of what the options
    name.
    """
    perturbation = perturbation_of(drawing, options)
    if artifact:
        artifact.describe(drawing_inputs(drawing))
    plan = plan_drawing(drawing, options)
    scene = plan.scene
    controller = make(scene) if make else make_controller(options.controller, scene.plant)
    ticks = ticks_of(plan.joints, plan.tip)
    note = artifact.event if artifact else lambda *_: None
    note(0.0, "start", f"{title_of(drawing, perturbation)}: {options.controller}, {len(ticks)} ticks")
    for problem in plan.report.problems:
        note(0.0, "plan", f"forced although {problem}")
    result = run_loop(
        scene,
        controller,
        ticks,
        sensing=perturbation.sensing,
        sensor=sensor,
        disturbance=perturbation.disturbance,
        on_chunk=EventFinder(plan, note),
    )
    for time_s, text in result.warnings:
        note(time_s, "engine", text)
    columns = trace_columns(drawing.robot, plan, result.recording)
    goals = Goals(drawing.goal_rms_m, drawing.goal_max_m)
    if not perturbation.nothing:
        clean = trace_columns(drawing.robot, plan, run_loop(scene, controller, ticks).recording)
        clean_m = rms(clean["error_m"])
        goals = Goals(clean_m + STRAYS * options.side_m, np.inf, clean_m)
    failures = failures_of(drawing, plan, perturbation, goals, result, columns)
    note(scene.dt_s * result.recording.ticks_done, "end", "; ".join(f.text for f in failures) or "as planned")
    if artifact:
        write_trace(artifact.folder, columns)
    record = drawing_record(drawing, options, plan, perturbation, goals, result, columns, failures)
    return record, result, columns


def perturbation_of(drawing: Drawing, options: DrawingOptions) -> Perturbation:
    """What makes the run harder; raises ``InvalidInput`` for what no run of this length can have."""
    duration_s = trajectory_of(drawing, options).duration_s
    return perturbation_for(drawing.robot, options.perturb, DEFAULT_STEP_S, options.seed, duration_s)


def title_of(drawing: Drawing, perturbation: Perturbation) -> str:
    return drawing.title + ("" if perturbation.nothing else f", perturbed: {perturbation.text}")


class EventFinder:
    """Tells the artifact what begins and ends while a run goes on."""

    def __init__(self, plan: Plan, note: Callable[[float, str, str], None]) -> None:
        self.plan, self.note = plan, note
        self.touching, self.saturated, self.segment = False, False, -1

    def __call__(self, recording: Recording, first: int, last: int) -> None:
        times = recording.times_s
        for tick in np.flatnonzero(np.diff(self.plan.tip.segments[first:last], prepend=self.segment)):
            self.segment = int(self.plan.tip.segments[first + tick])
            self.note(float(times[first + tick]), "segment", f"segment {self.segment + 1}")
        self.touching = self._edges(
            np.asarray(recording.contacts[first:last] > 0), self.touching, times[first:last], "contact"
        )
        saturated = np.asarray(recording.saturated[first:last].any(axis=1))
        self.saturated = self._edges(saturated, self.saturated, times[first:last], "saturation")

    def _edges(self, active: Array, before: bool, times: Array, kind: str) -> bool:
        for tick in np.flatnonzero(np.diff(active.astype(int), prepend=int(before))):
            self.note(float(times[tick]), kind, f"{kind} {'begins' if active[tick] else 'ends'}")
        return bool(active[-1])


def trace_columns(robot: Robot, plan: Plan, recording: Recording) -> dict[str, Array]:
    """A column a quantity, a row a tick that was run."""
    ticks = recording.ticks_done
    columns: dict[str, Array] = {
        "time_s": recording.times_s[:ticks],
        "segment": plan.tip.segments[:ticks].astype(np.int64),
    }
    groups = {
        "q": recording.q,
        "qd": recording.qd,
        "reading": recording.reading,
        "seen_q": recording.seen_q,
        "seen_qd": recording.seen_qd,
        "wanted_q": recording.wanted_q,
        "command": recording.command,
        "torque": recording.torque,
    }
    for prefix, values in groups.items():
        for index, name in enumerate(robot.joint_names):
            columns[f"{prefix}_{name}"] = values[:ticks, index]
    q = recording.q[:ticks]
    tips, dexterity = np.empty((ticks, 3)), np.empty(ticks)
    sample_into(chain_of(robot), q, task_rows(robot.task).stop, tips, dexterity)
    targets = plan.tip.poses[:ticks, :3, 3]
    for name, points in (("tip", tips), ("target", targets)):
        for index, axis in enumerate("xyz"):
            columns[f"{name}_{axis}_m"] = points[:, index]
    columns["error_m"] = np.linalg.norm(tips - targets, axis=1)
    columns["path_error_m"] = distance_to_edges(plan, tips)
    columns["manipulability"] = dexterity
    columns["contacts"] = recording.contacts[:ticks].astype(np.int64)
    bits = 1 << np.arange(robot.dof)
    columns["saturated"] = (recording.saturated[:ticks] * bits).sum(axis=1)
    return columns


def distance_to_edges(plan: Plan, tips: Array) -> Array:
    """How far each point is from the straight edge that was being drawn."""
    distances = np.zeros(len(tips))
    segments = plan.tip.segments[: len(tips)]
    for index in np.unique(segments):
        ticks = segments == index
        points = plan.tip.poses[plan.tip.segments == index][:, :3, 3]
        start, end = points[0], points[-1]
        step = end - start
        share = np.clip((tips[ticks] - start) @ step / max(float(step @ step), 1e-30), 0.0, 1.0)
        distances[ticks] = np.linalg.norm(tips[ticks] - start - np.multiply.outer(share, step), axis=1)
    return distances


def edges_drawn(drawing: Drawing, columns: Mapping[str, Array], segments: Array) -> int:
    """How many different edges the tip has followed from end to end."""
    drawn = set()
    for index, piece in enumerate(drawing.route.segments):
        ticks = columns["segment"] == index
        whole = np.count_nonzero(segments == index)
        if (
            isinstance(piece, Line)
            and ticks.sum() == whole
            and columns["error_m"][ticks].max() <= EDGE_TOLERANCE_M
        ):
            ends = (tuple(np.round(pose.position_m, 9)) for pose in (piece.start, piece.end))
            drawn.add(frozenset(ends))
    return len(drawn)


def failures_of(
    drawing: Drawing,
    plan: Plan,
    perturbation: Perturbation,
    goals: Goals,
    result: LoopResult,
    columns: Mapping[str, Array],
) -> list[Failure]:
    """What went wrong, labelled; a bad state is not blamed on the controller."""
    names = drawing.robot.joint_names
    found = sensing_failures(result.recording, names, plan.scene.dt_s, perturbation.sensing)
    if not found:
        found = control_failures(result, rms(columns["error_m"]), goals.rms_m)
    if columns["contacts"].any():
        # A contact that the plan foresaw was planned; any other is where the arm strayed to.
        label = "planning" if plan.report.problems else "control"
        found.append(Failure(label, contact_text(columns)))
    return found


def contact_text(columns: Mapping[str, Array]) -> str:
    tick = int(np.argmax(columns["contacts"] > 0))
    return f"the arm touches something at t = {columns['time_s'][tick]:.3g} s"


def drawing_record(
    drawing: Drawing,
    options: DrawingOptions,
    plan: Plan,
    perturbation: Perturbation,
    goals: Goals,
    result: LoopResult,
    columns: Mapping[str, Array],
    failures: list[Failure],
) -> Record:
    metrics = drawing_metrics(drawing, plan, goals, result, columns)
    text = [{"label": failure.label, "text": failure.text} for failure in failures]
    # A machine that is busy with something else is no failure of the run.
    missed = [metric for metric in metrics if metric.passed is False and metric.name not in TIMINGS]
    if missed and not text:
        text = [{"label": "evaluation", "text": f"{m.meaning}: must hold {m.bar}"} for m in missed]
    return Record(
        kind=drawing.kind,
        title=title_of(drawing, perturbation),
        summary=(
            f"{drawing.robot.name}, {law(options.controller).summary}; {options.edge_seconds:g} s an edge, "
            f"{options.profile} profile. The error is the distance of the true tip to the true point of the "
            "true edge at that time."
            + (f" Perturbed by {perturbation.text}; seed {options.seed}." if perturbation.text else "")
            + (" The figures end where the arm ran away." if result.diverged_at_s is not None else "")
        ),
        outcome=Outcome.FAILED if text or missed else Outcome.PASSED,
        metrics=metrics,
        inputs=drawing_inputs(drawing),
        configuration={"task": drawing.kind.removeprefix("run."), **options_data(options)},
        seeds={"perturbation": options.seed},
        tables={"The plan, checked before anything moved": plan_rows(plan.report)},
        failures=text,
    )


def drawing_inputs(drawing: Drawing) -> dict[str, Any]:
    """The arm, the figure's corners in the order in which they are reached, and what stands around."""
    robot = drawing.robot
    line_ends = [piece.start.position_m for piece in drawing.route.segments if isinstance(piece, Line)]
    last = drawing.route.segments[-1]
    return {
        "robot": robot.name,
        "joints": robot.joint_names,
        "max_effort": robot.max_effort,
        "corners_m": [*line_ends, last.end.position_m] if isinstance(last, Line) else line_ends,
        "blocks": [
            {"name": b.name, "center_m": b.center_m, "half_size_m": b.half_size_m} for b in drawing.blocks
        ],
    }


def plan_rows(report: PlanReport) -> list[dict[str, str]]:
    """What the plan check found, a line a measure."""
    return [{"what was checked": line} for line in report.lines()]


def options_data(options: DrawingOptions) -> dict[str, Any]:
    return {name: getattr(options, name) for name in DrawingOptions.__slots__}


def drawing_metrics(
    drawing: Drawing,
    plan: Plan,
    goals: Goals,
    result: LoopResult,
    columns: Mapping[str, Array],
) -> list[Metric]:
    robot, error = drawing.robot, columns["error_m"]
    torque = np.abs(np.column_stack([columns[f"torque_{name}"] for name in robot.joint_names]))
    edges = len(
        {
            frozenset((tuple(np.round(p.start.position_m, 9)), tuple(np.round(p.end.position_m, 9))))
            for p in drawing.route.segments
            if isinstance(p, Line)
        }
    )
    drawn = edges_drawn(drawing, columns, plan.tip.segments)
    rms_m, max_m = rms(error), float(error.max())
    clean = goals.clean_rms_m is None
    whole = result.diverged_at_s is None
    return [
        Metric(
            "edges_drawn",
            drawn,
            "",
            f"different edges drawn, of {edges}",
            None,
            str(edges) if clean else None,
            drawn == edges if clean else None,
        ),
        Metric(
            "rms_error_m",
            rms_m,
            "m",
            "error, RMS",
            drawing.source_rms,
            f"<= {goals.rms_m:.3g} m" + ("" if clean else f" (unperturbed + {100 * STRAYS:g} % of a side)"),
            rms_m <= goals.rms_m,
        ),
        Metric(
            "max_error_m",
            max_m,
            "m",
            "error, largest",
            drawing.source_max,
            f"<= {goals.max_m:.3g} m" if clean else None,
            max_m <= goals.max_m if clean else None,
        ),
        *degradation(goals, rms_m),
        Metric("path_rms_error_m", rms(columns["path_error_m"]), "m", "distance to the edge, RMS"),
        Metric("final_error_m", float(error[-1]) if whole else None, "m", "error at the end"),
        Metric("duration_s", float(columns["time_s"][-1]), "s", "duration"),
        Metric("peak_torque_nm", float(torque.max()), "N·m", "largest torque"),
        Metric(
            "peak_torque_fraction",
            float((torque / robot.max_effort).max()),
            SHARE,
            "largest share of a torque limit",
        ),
        Metric(
            "saturated_ticks",
            int(np.count_nonzero(columns["saturated"])),
            "",
            "ticks with an actuator at its limit",
        ),
        Metric(
            "contacts",
            int(np.count_nonzero(columns["contacts"])),
            "",
            "ticks in contact",
            None,
            "0",
            not columns["contacts"].any(),
        ),
        Metric(
            "loop_time_ratio",
            result.time_ratio,
            "x",
            "the loop's time over bare mj_step",
            None,
            f"<= {MAX_TIME_RATIO:g}",
            result.time_ratio <= MAX_TIME_RATIO,
        ),
        Metric("loop_us_per_tick", result.loop_us_per_tick, "µs", "the loop, a tick"),
        Metric(
            "diverged",
            int(not whole),
            "",
            "runs that ran away",
            None,
            "0",
            whole,
        ),
    ]


def degradation(goals: Goals, rms_m: float) -> list[Metric]:
    """What the perturbation has made of the error."""
    if goals.clean_rms_m is None:
        return []
    ratio = rms_m / goals.clean_rms_m if goals.clean_rms_m else None
    return [
        Metric("clean_rms_error_m", goals.clean_rms_m, "m", "error unperturbed, RMS"),
        Metric("rms_error_ratio", ratio, "x", "error over that unperturbed, RMS"),
    ]


def rms(values: Array) -> float:
    return float(np.sqrt(np.mean(np.square(values))))


def draw_drawing(drawing: Drawing, folder: Path, video: bool) -> None:
    """A picture of the arm at the start with what it went on to draw, and a film if asked."""
    columns = read_trace(folder)
    robot = drawing.robot
    q = np.column_stack([columns[f"q_{name}"] for name in robot.joint_names])
    tips = np.column_stack([columns[f"tip_{axis}_m"] for axis in "xyz"])
    if len(q) < 2:
        return
    image = render(robot, q[0], paths=[tips], blocks=drawing.blocks)
    save_png(folder / "the_arm_and_what_it_drew.png", image)
    if video:
        # Imported here: films need an optional part.
        from forearm.sim.film import film

        dt_s = float(columns["time_s"][1] - columns["time_s"][0])
        film(robot, q, dt_s, folder / "run.mp4", blocks=drawing.blocks, trail=tips)


def tip_path(robot: Robot, q: Array) -> Array:
    """The tip's positions for rows of joint vectors."""
    chain, transform, points = chain_of(robot), np.empty((4, 4)), np.empty((len(q), 3))
    for row, point in zip(np.ascontiguousarray(q), points, strict=True):
        forward_into(chain, row, transform)
        point[:] = transform[:3, 3]
    return points
