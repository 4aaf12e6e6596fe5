"""The drawing tasks: their goals, the ladder, planted faults, replay, refusals, and what a kill leaves."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import forearm
from forearm.cli import FAILED, PASSED, main
from forearm.control.controller import State
from forearm.control.laws.computed_torque import ComputedTorque
from forearm.control.laws.servo_inverse import ServoInverse
from forearm.control.torque import BODIES
from forearm.evidence.compare import differences
from forearm.evidence.record import Outcome
from forearm.evidence.trace import read_trace
from forearm.tasks import cube, square, task_names
from forearm.tasks._drawing import DrawingOptions, perform_drawing, rms
from forearm.tasks._ladder import source_route
from forearm.tasks._perturb import PERTURBATIONS
from forearm.tasks._runner import replay_task, run_task

HANGS_S = 3600
"""A process that takes longer has hung; less would fail a test on a busy machine."""


def draw(task=cube, *, controller=None, edge_seconds=2.0, center=None, make=None, sensor=None, **options):
    chosen = DrawingOptions(
        controller or task.CONTROLLER, edge_seconds, task.SIDE_M, center or task.CENTER_M, **options
    )
    return perform_drawing(task.drawing_for(chosen), chosen, None, make, sensor)


def labels(record) -> list[str]:
    return [failure["label"] for failure in record.failures]


def test_the_tasks_are_found():
    assert {"square", "cube"} <= set(task_names())


@pytest.mark.parametrize(
    ("task", "edge_seconds", "rms_m", "max_m", "edges"),
    [
        (square, 2.0, 0.8e-6, 2e-6, 4),
        (square, 0.5, 10e-6, np.inf, 4),
        (cube, 2.0, 9e-6, 25e-6, 12),
        (cube, 0.5, 50e-6, np.inf, 12),
    ],
    ids=["square 8 s", "square 2 s", "cube 2 s", "cube 0.5 s"],
)
def test_the_figures_are_drawn_within_their_bars(task, edge_seconds, rms_m, max_m, edges):
    record, result, columns = draw(task, edge_seconds=edge_seconds)
    assert record.outcome is Outcome.PASSED
    assert record.value("rms_error_m") <= rms_m
    assert record.value("max_error_m") <= max_m
    assert record.value("edges_drawn") == edges
    assert record.value("contacts") == 0
    assert record.value("saturated_ticks") == 0
    assert result.recording.ticks_done == len(columns["time_s"])
    # The tip has really been along the figure, and not only near its reference.
    tips = np.column_stack([columns[f"tip_{axis}_m"] for axis in "xyz"])
    assert np.ptp(tips[:, :2], axis=0) == pytest.approx([task.SIDE_M] * 2, abs=1e-5)


def test_the_tip_of_the_trace_is_mujocos():
    record, _, columns = draw(square, edge_seconds=0.5)
    import mujoco

    from forearm.sim.scene import build_scene
    from forearm.tasks.square import drawing_for

    drawing = drawing_for(DrawingOptions("computed_torque", 0.5, 0.1, square.CENTER_M))
    model = build_scene(drawing.robot, "motor").model
    data = mujoco.MjData(model)
    for tick in range(0, len(columns["time_s"]), 97):
        data.qpos[:] = [columns[f"q_{name}"][tick] for name in drawing.robot.joint_names]
        mujoco.mj_kinematics(model, data)
        tip = [columns[f"tip_{axis}_m"][tick] for axis in "xyz"]
        np.testing.assert_allclose(data.site("tool").xpos, tip, atol=1e-12)
    assert record.value("edges_drawn") == 4


def test_the_ladder_stands_in_the_sources_order(tmp_path):
    options = {"controller": "servo_inverse", "edge_seconds": 2.0, "side_m": 0.1, "center_m": cube.CENTER_M}
    full = {**options, "profile": "quintic", "perturb": {}, "seed": 0, "force": False, "compare": True}
    folder, record = run_task("cube", full, tmp_path)
    rows = [json.loads(line) for line in (folder / "ladder.jsonl").read_text().splitlines()]
    errors = {row["label"]: row["rms_error_m"] for row in rows}
    assert record.outcome is Outcome.PASSED
    assert 0.03 < errors["bad centre, forced"] < 0.3
    assert 0.008 < errors["plain servo"] < 0.02
    assert errors["+ gravity"] < errors["plain servo"]
    assert 5e-5 < errors["+ velocity"] < 2e-4
    assert errors["+ inverse dynamics, exact"] < 1e-9
    assert 5e-5 < errors["the source's own route, its own way"] < 2e-4
    refused = next(row["note"] for row in rows if row["label"] == "bad centre, forced")
    assert "upper_arm_link" in refused
    assert "table" in refused


def test_the_bad_centre_is_refused_by_link_and_obstacle_and_runs_when_forced(tmp_path, capsys):
    bad = [
        "run",
        "cube",
        "--center",
        "0.4",
        "0",
        "0.5",
        "--edge-seconds",
        "0.5",
        "--out",
        str(tmp_path),
        "--json",
    ]
    assert main(bad) == FAILED
    data = json.loads(capsys.readouterr().out)
    assert [failure["label"] for failure in data["failures"]] == ["planning"]
    assert "upper_arm_link hits table" in data["failures"][0]["text"]
    assert not (Path(data["artifact"]) / "trace.parquet").exists()
    assert main([*bad, "--force"]) == FAILED
    forced = json.loads(capsys.readouterr().out)
    assert forced["metrics"]["contacts"] > 0
    assert "planning" in [failure["label"] for failure in forced["failures"]]


HARDER = {"noise": 0.001, "delay": 0.01, "payload": 0.05}


@pytest.mark.parametrize("controller", ["servo_inverse", "servo_velocity", "servo", "computed_torque"])
def test_a_perturbed_run_degrades_and_stays_stable_and_says_what_it_is(controller):
    record, result, _ = draw(controller=controller, perturb=HARDER)
    clean = draw(controller=controller)[0].value("rms_error_m")
    assert record.outcome is Outcome.PASSED
    assert result.diverged_at_s is None
    assert record.value("saturated_ticks") == 0
    assert record.value("clean_rms_error_m") == clean
    assert clean < record.value("rms_error_m") < clean + 0.1 * cube.SIDE_M
    assert record.value("rms_error_ratio") == record.value("rms_error_m") / clean
    assert record.title.endswith("UR5e, perturbed: noise 1 mm, delay 10 ms, payload 5 %")
    assert "noise 1 mm, delay 10 ms, payload 5 %" in record.summary


def test_a_run_that_is_not_perturbed_says_nothing_of_it():
    record, _, _ = draw(edge_seconds=0.5, perturb={"noise": 0.0})
    assert record.title == cube.TITLE
    assert "erturb" not in record.summary
    assert "clean_rms_error_m" not in [metric.name for metric in record.metrics]


def test_a_perturbation_that_the_law_does_not_stand_fails_by_its_bar():
    record, result, _ = draw(controller="pd_gravity", perturb=HARDER)
    assert record.outcome is Outcome.FAILED
    assert result.diverged_at_s is None
    assert labels(record)[0] == "control"
    (metric,) = [metric for metric in record.metrics if metric.name == "rms_error_m"]
    assert metric.passed is False
    assert "unperturbed + 10 % of a side" in metric.bar


def test_the_sources_own_route_is_perturbed_too():
    hurt, clean = (
        DrawingOptions("servo_inverse", 0.5, cube.SIDE_M, cube.CENTER_M, perturb=perturb)
        for perturb in ({"noise": 0.05}, {})
    )
    errors = [rms(source_route(cube.drawing_for(chosen), chosen)[1]["error_m"]) for chosen in (hurt, clean)]
    assert errors[0] > 1.5 * errors[1]


@pytest.mark.parametrize(
    "perturb",
    [
        {"noise": 0.001},
        {"bias": 0.001},
        {"delay": 0.01},
        {"dropout": 0.2},
        {"payload": 0.05},
        {"friction": 1.0},
        {"gain": 0.05},
        {"push": 30.0},
    ],
    ids=lambda perturb: next(iter(perturb)),
)
@pytest.mark.parametrize("controller", ["servo_inverse", "computed_torque"])
def test_every_perturbation_bites_and_is_repeatable(perturb, controller):
    first, _, columns = draw(controller=controller, edge_seconds=0.5, perturb=perturb, seed=3)
    _, _, again = draw(controller=controller, edge_seconds=0.5, perturb=perturb, seed=3)
    assert first.value("rms_error_m") > 1e-6
    np.testing.assert_array_equal(columns["error_m"], again["error_m"])


@pytest.mark.parametrize(
    ("controller", "perturb"),
    [
        ("computed_torque", {"delay": 0.05}),
        ("computed_torque", {"dropout": 0.9}),
        ("joint_pd", {"dropout": 0.2}),
        ("servo_inverse", {"noise": 1.0}),
    ],
    ids=["late", "lossy", "observer", "noisy"],
)
def test_a_law_that_does_not_stand_what_was_declared_is_to_blame_itself(controller, perturb):
    record, _, _ = draw(controller=controller, perturb=perturb)
    assert record.outcome is Outcome.FAILED
    assert set(labels(record)) == {"control"}


def test_a_sensor_later_than_declared_is_told_from_one_as_late_as_declared():
    record, _, _ = draw(perturb={"delay": 0.01}, sensor=StaleSensor())
    assert labels(record)[0] == "state"
    assert "20 ms old, 10 ms more than declared" in record.failures[0]["text"]


@pytest.mark.parametrize("controller", ["servo_inverse", "operational_space"])
def test_a_runaway_tells_nothing_of_what_came_after(controller, tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    words = ["run", "cube", "--controller", controller, "--perturb", "payload=1e9"]
    assert main([*words, "--out", str(tmp_path), "--json"]) == FAILED
    captured = capfd.readouterr()
    data = json.loads(captured.out)
    metrics, columns = data["metrics"], read_trace(Path(data["artifact"]))
    assert captured.err == ""
    assert data["failures"][0]["label"] == "control"
    assert "ran away" in data["failures"][0]["text"]
    assert metrics["diverged"] == 1
    assert metrics["final_error_m"] is None
    assert metrics["duration_s"] == columns["time_s"][-1] < 2.0
    assert metrics["contacts"] == np.count_nonzero(columns["contacts"])
    for name, values in columns.items():
        assert np.isfinite(values).all(), name
    assert np.abs([columns[f"q_{joint}"] for joint in ("elbow", "wrist_3")]).max() < 100.0
    assert [path.name for path in tmp_path.iterdir()] == [Path(data["artifact"]).name]
    events = (Path(data["artifact"]) / "events.jsonl").read_text().splitlines()
    assert json.loads(events[-1])["kind"] == "end"
    assert "unstable" in "".join(event for event in events if json.loads(event)["kind"] == "engine")


def test_a_busy_machine_fails_no_run(monkeypatch):
    monkeypatch.setattr("forearm.sim.loop.LoopResult.time_ratio", property(lambda _: 7.0))
    record, _, _ = draw(square, edge_seconds=0.5)
    (metric,) = [metric for metric in record.metrics if metric.name == "loop_time_ratio"]
    assert metric.bar == "<= 2"
    assert metric.passed is False
    assert record.outcome is Outcome.PASSED


class WithoutGravity(ServoInverse):
    def __init__(self, plant):
        super().__init__(plant)
        # The last row of the bodies begins with free fall.
        self.model[BODIES, -1] = 0.0


class WrongDamping(ComputedTorque):
    def __init__(self, plant):
        super().__init__(plant)
        self.kd = -self.kd


class StaleSensor:
    """Shows the state of ten ticks, 20 ms, ago, and nobody was told."""

    perfect = False

    def __init__(self):
        self.past = []

    def observe(self, q, qd):
        self.past.append(State(q.copy(), qd.copy()))
        state = self.past[max(0, len(self.past) - 11)]
        self.reading = state.q
        return state


class SwappedSensor:
    perfect = False

    def observe(self, q, qd):
        order = [0, 2, 1, 3, 4, 5]
        self.reading = q[order]
        return State(q[order], qd[order])


class CrookedSensor:
    """Its elbow reads 0.01 rad too much."""

    perfect = False

    def observe(self, q, qd):
        self.reading = q + np.array([0.0, 0.0, 0.01, 0.0, 0.0, 0.0])
        return State(self.reading, qd)


@pytest.mark.parametrize(
    ("controller", "make", "sensor", "label", "words"),
    [
        ("servo_inverse", lambda scene: WithoutGravity(scene.plant), None, "control", "tracking error"),
        ("computed_torque", lambda scene: WrongDamping(scene.plant), None, "control", "tracking error"),
        ("computed_torque", None, StaleSensor, "state", "20 ms old"),
        ("computed_torque", None, SwappedSensor, "state", "wrong order"),
        ("servo_inverse", None, StaleSensor, "state", "20 ms old"),
        ("computed_torque", None, CrookedSensor, "perception", "joint elbow reads +0.01 rad off"),
    ],
    ids=[
        "no gravity",
        "wrong damping",
        "stale state",
        "swapped joints",
        "stale state, by servo",
        "crooked sensor",
    ],
)
def test_planted_faults_are_rejected_with_the_right_label(controller, make, sensor, label, words):
    record, _, _ = draw(controller=controller, make=make, sensor=sensor() if sensor else None)
    assert record.outcome is Outcome.FAILED
    assert labels(record)[0] == label
    assert words in record.failures[0]["text"]


def test_a_replay_is_identical_here_and_in_another_process(tmp_path, capsys):
    options = [
        "--edge-seconds",
        "0.5",
        "--perturb",
        "noise=0.001",
        "--seed",
        "5",
        "--out",
        str(tmp_path),
        "--json",
    ]
    assert main(["run", "cube", *options]) == PASSED
    folder = Path(json.loads(capsys.readouterr().out)["artifact"])
    _, found = replay_task(folder, tmp_path / "again")
    assert not found
    command = [sys.executable, "-m", "forearm", "replay", str(folder), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=HANGS_S, check=False)
    assert done.returncode == PASSED, done.stderr
    assert json.loads(done.stdout)["identical"]


def test_a_replay_notices_one_changed_bit(tmp_path):
    full = {"controller": "computed_torque", "edge_seconds": 0.5, "side_m": 0.1, "center_m": square.CENTER_M}
    options = {**full, "profile": "quintic", "perturb": {}, "seed": 0, "force": False}
    folder, _ = run_task("square", options, tmp_path)
    columns = read_trace(folder)
    changed = columns["q_elbow"].copy()
    changed[100] = np.nextafter(changed[100], 10.0)
    from forearm.evidence.trace import write_trace

    write_trace(folder, {**columns, "q_elbow": changed})
    _, found = replay_task(folder, tmp_path / "again")
    assert [difference.what for difference in found] == ["q_elbow at row 100"]
    assert not differences(folder, folder)


def test_the_events_tell_the_story(tmp_path):
    record = forearm.run("square", out=tmp_path, edge_seconds=0.5)
    (folder,) = tmp_path.iterdir()
    events = [json.loads(line) for line in (folder / "events.jsonl").read_text().splitlines()]
    assert record.outcome is Outcome.PASSED
    assert [event["kind"] for event in events] == ["start", *["segment"] * 4, "end"]
    with pytest.raises(forearm.UnknownName, match="edge_seconds"):
        forearm.run("square", out=tmp_path, edge_second=0.5)


def test_killed_runs_leave_artifacts_that_open(tmp_path):
    script = Path(__file__).with_name("kill_runs.py")
    command = [sys.executable, str(script), str(tmp_path), "50"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=HANGS_S, check=False)
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout.splitlines()[-1])
    assert seen["interrupted"] == 50


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--center", "3", "0", "0.5"], "UNREACHABLE"),
        (["--side", "1.5"], "UNREACHABLE"),
        (["--edge-seconds", "0.02"], "limit"),
    ],
    ids=["out of reach", "too large", "too fast"],
)
def test_a_figure_that_cannot_be_drawn_is_a_planning_failure_with_evidence(options, words, tmp_path, capsys):
    assert main(["run", "cube", *options, "--out", str(tmp_path), "--json"]) == FAILED
    data = json.loads(capsys.readouterr().out)
    assert {failure["label"] for failure in data["failures"]} == {"planning"}
    assert any(words in failure["text"] for failure in data["failures"])


@pytest.mark.parametrize(
    "options",
    [
        ["--controller", "magic"],
        ["--edge-seconds", "nan"],
        ["--edge-seconds", "1e9"],
        ["--edge-seconds", "0.001"],
        ["--edge-seconds", "0.001", "--force"],
        ["--center", "nan", "0", "0"],
        ["--perturb", "noise"],
        ["--perturb", "noise=much"],
        ["--perturb", "gremlins=1"],
        ["--perturb", "dropout=2"],
        *(["--perturb", f"{name}={value}"] for name in PERTURBATIONS for value in ("nan", "inf", "-inf")),
        ["--perturb", "payload=-1"],
        ["--perturb", "gain=-1"],
        ["--perturb", "delay=1e9"],
        ["--perturb", "delay=9"],
        ["--perturb", "delay=0.0005"],
        ["--perturb", "delay=0.003"],
        ["--perturb", "noise=1", "--perturb", "noise=2"],
        ["--perturb", "noise=-1", "--center", "3", "0", "0"],
        ["--perturb", "delay=1e7", "--center", "3", "0", "0"],
        ["--seed", "-1"],
        ["--side", "-1"],
    ],
    ids=" ".join,
)
def test_a_wrong_question_is_bad_input_and_leaves_nothing(options, tmp_path, capsys):
    try:
        code = main(["run", "square", *options, "--out", str(tmp_path)])
    except SystemExit as stop:
        code = stop.code
    assert code == 2
    (line,) = capsys.readouterr().err.strip().splitlines()
    assert "Sensing(" not in line
    assert "np.float64" not in line
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "options",
    [
        {"perturb": {"noise": "a"}},
        {"perturb": {"noise": None}},
        {"perturb": {"noise": True}},
        {"perturb": {"noise": 10**400}},
        {"perturb": {"noise": float("nan")}},
        {"perturb": {"gremlin": 1}},
        {"perturb": {3: 1.0}},
        {"perturb": ["noise", 1]},
        {"perturb": "noise=1"},
        {"perturb": None},
        {"edge_seconds": "2"},
        {"edge_seconds": None},
        {"edge_seconds": float("inf")},
        {"side_m": [0.1]},
        {"center_m": 0.3},
        {"center_m": (0.3, 0.3)},
        {"center_m": (0.3, "0.3", 0.0)},
        {"center_m": np.full((3, 3), 0.1)},
        {"seed": -1},
        {"seed": 1.5},
        {"seed": True},
        {"force": 1},
        {"controller": 7},
        {"controller": "magic"},
        {"profile": None},
        {"profile": "magic"},
        {"speed": 1.0},
    ],
    ids=str,
)
def test_a_wrong_option_from_python_is_refused_by_its_name(options, tmp_path):
    with pytest.raises((forearm.InvalidInput, forearm.UnknownName)) as caught:
        forearm.run("square", out=tmp_path / "runs", **options)
    (name,) = options
    words = [name, *options[name]] if isinstance(options[name], dict) else [name]
    assert any(str(word) in str(caught.value) for word in words)
    assert "\n" not in str(caught.value)
    assert not list(tmp_path.glob("runs/*"))


def test_what_is_merely_unusual_is_taken(tmp_path):
    record = forearm.run(
        "square",
        out=tmp_path,
        edge_seconds=np.float32(0.5),
        center_m=np.array(square.CENTER_M),
        seed=np.int64(3),
        perturb={"noise": np.float64(0.001), "delay": 0},
    )
    assert record.title.endswith("perturbed: noise 1 mm")
    _, found = replay_task(next(tmp_path.iterdir()), tmp_path / "again")
    assert not found


@pytest.mark.parametrize(
    "change",
    [
        {"edge_seconds": "abc"},
        {"perturb": {"noise": "abc"}},
        {"perturb": {"delay": 1e7}},
        {"perturb": {"gremlin": 1.0}},
        {"perturb": [1.0]},
        {"center_m": [0.3, None, 0.0]},
        {"controller": ["servo"]},
        {"seed": -4},
    ],
    ids=str,
)
def test_a_replay_of_an_edited_record_is_refused_in_one_line(change, tmp_path, capsys):
    forearm.run("square", out=tmp_path, edge_seconds=0.5)
    (folder,) = tmp_path.iterdir()
    record = json.loads((folder / "record.json").read_text())
    record["configuration"] |= change
    (folder / "record.json").write_text(json.dumps(record))
    assert main(["replay", str(folder)]) == 2
    assert len(capsys.readouterr().err.strip().splitlines()) == 1
