"""The insertion: controllers, trials, the judge, planted faults, perturbations, the task and what it
leaves."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from functools import cache

import mujoco
import numpy as np
import pytest

import forearm
from forearm.cli import BAD_INPUT, FAILED, PASSED, main
from forearm.control.insertion.hole import tool_pose_in_box
from forearm.control.insertion.inserter import (
    ANSWER,
    FELT,
    FREQUENCY,
    INSERTERS,
    PHASE,
    REASON,
    REASONS,
    SEEN,
    Cell,
    inserter_names,
    make_inserter,
)
from forearm.control.insertion.phases import MOST_ATTEMPTS, PHASES
from forearm.control.insertion.planning import GATE_M
from forearm.errors import InvalidInput, UnknownName
from forearm.evidence.compare import is_timing
from forearm.evidence.record import Outcome, read_record
from forearm.evidence.report import build_report
from forearm.evidence.trace import read_trace, write_trace
from forearm.ik.solve import solve
from forearm.kinematics.forward import tip_pose
from forearm.sim.hole_sensing import HoleSensing
from forearm.sim.insertion import SUBSTEPS, TICK_S, WORKPLACES, insertion_scene
from forearm.sim.live import SETTLE_S
from forearm.spatial import Pose, rotation_exp, rotation_y, rotation_z
from forearm.tasks import _insertion_judge as judge
from forearm.tasks import _insertion_trial, insert, task_names
from forearm.tasks._insertion_limits import speed_needed
from forearm.tasks._insertion_options import (
    FALSE_IK_M,
    FAULTS,
    PERTURBATIONS,
    STALE_S,
    WEAK_SHARE,
    InsertionOptions,
)
from forearm.tasks._insertion_record import measured
from forearm.tasks._insertion_trial import CLEAR_M, cell_of, recoveries, run_trial
from forearm.tasks._runner import replay_task, run_task

HANGS_S = 3600
"""A process that takes longer has hung; less would fail a test on a busy machine."""
SHORTENED_S = 2.5
"""A trial that fails is not waited for to its end here."""
DIFFICULTIES = (0.3, 0.5, 0.7, 0.9)
SEEDS = (0, 1)


@pytest.fixture(autouse=True)
def shortened(monkeypatch):
    """Trials that end earlier where nothing is touched, and runs without pictures."""
    monkeypatch.setattr(_insertion_trial, "LONGEST_S", SHORTENED_S)
    monkeypatch.setattr(insert, "draw", lambda *_: None)


def trial_of(difficulty=0.5, seed=0, controller="predictive", **options):
    return run_trial(InsertionOptions(controller, difficulty, seed, **options), lambda *_: None)


@cache
def good(difficulty=0.5, seed=0, arm="mini_arm"):
    """A trial without faults and perturbations, and what was true in it."""
    trial = trial_of(difficulty, seed, arm=arm)
    return trial, judge.truth_of(trial)


def labels(trial):
    return [failure.label for failure in judge.failures_of(trial, judge.truth_of(trial))]


# Controllers


def test_the_controllers_are_found_and_say_what_they_are():
    assert {"predictive", "direct", "baseline"} <= set(inserter_names())
    for name in inserter_names():
        kind = INSERTERS.find(name)
        assert kind.name == name
        assert len(kind.summary) > 20
        assert kind.__doc__
    with pytest.raises(UnknownName, match="predictive"):
        INSERTERS.find("predicting")


@pytest.mark.parametrize("arm", WORKPLACES)
@pytest.mark.parametrize("name", inserter_names())
def test_a_controller_commands_from_the_first_tick_and_changes_nothing_it_is_given(name, arm):
    place = insertion_scene(arm)
    inserter = make_inserter(name, Cell(place.scene.plant, place.hole, TICK_S))
    data = mujoco.MjData(place.scene.model)
    data.qpos[:6] = place.ready
    mujoco.mj_forward(place.scene.model, data)
    seen, blind = data.sensordata[:12].copy(), np.full(12, np.nan)
    assert inserter.said.shape == (ANSWER + 12,)
    for tick in range(60):
        q, qd, points = place.ready.copy(), np.full(6, 0.01), (seen if tick % 2 else blind).copy()
        given = [array.copy() for array in (q, qd, points)]
        out = np.full(6, np.nan)
        inserter.step(tick * TICK_S, tick * TICK_S, q, qd, points, out)
        assert np.isfinite(out).all()
        assert 0 <= inserter.said[PHASE] < len(inserter.phases)
        assert 0 <= inserter.said[REASON] < len(REASONS)
        for before, after in zip(given, (q, qd, points), strict=True):
            np.testing.assert_array_equal(before, after)
    middle = inserter.said[SEEN : SEEN + 3]
    np.testing.assert_allclose(middle, place.mouth.position_m, atol=1e-6)


@pytest.mark.parametrize("name", inserter_names())
def test_two_controllers_of_a_kind_share_no_memory(name):
    """A trial run between the ticks of another leaves that as it is."""
    place = insertion_scene("mini_arm")
    cell = Cell(place.scene.plant, place.hole, TICK_S)
    corners = 0.03 * np.array([[0, -1, -1], [0, 1, -1], [0, 1, 1], [0, -1, 1]])
    points = (place.mouth.position_m + corners).ravel()

    def commands(disturbing):
        inserter, out, rows = make_inserter(name, cell), np.zeros(6), []
        other = make_inserter(name, cell)
        for tick in range(80):
            now = tick * TICK_S
            inserter.step(now, now, place.ready.copy(), np.zeros(6), points, out)
            rows.append(out.copy())
            if disturbing:
                other.step(now, now, place.ready + 0.1, np.ones(6), points + 0.05, np.zeros(6))
        return np.array(rows)

    np.testing.assert_array_equal(commands(False), commands(True))


# Trials


@pytest.mark.parametrize("arm", WORKPLACES)
@pytest.mark.parametrize("difficulty", [0.1, *DIFFICULTIES])
def test_the_predictive_controller_gets_in_wherever_the_box_swings(difficulty, arm):
    for seed in SEEDS:
        trial, truth = good(difficulty, seed, arm)
        told = measured(trial, judge.failures_of(trial, truth))
        assert told["success"], told["failure"]
        assert told["time_s"] == trial.recording.touched * TICK_S
        depth, y, z = truth.end_in_box[trial.recording.touched]
        assert depth == pytest.approx(trial.place.hole.depth_m, abs=5e-4)
        assert max(abs(y), abs(z)) <= trial.place.hole.play_m + 2e-4


@pytest.mark.parametrize("controller", ["direct", "baseline"])
def test_the_sources_controllers_do_not_where_it_swings_far(controller):
    assert labels(trial_of(0.9, 0, controller)) in (["control"], ["planning"], ["evaluation"])


def test_truth_is_mujocos():
    trial, truth = good(0.7, 1)
    model, data = trial.place.scene.model, mujoco.MjData(trial.place.scene.model)
    base = trial.place.scene.robot.base_in_world
    for tick in range(0, len(trial.recording), 83):
        data.qpos[:] = trial.recording.qpos[tick]
        mujoco.mj_kinematics(model, data)
        mouth, axes = data.body("box").xpos, data.body("box").xmat.reshape(3, 3)
        np.testing.assert_allclose(base.transform_points(truth.middle[tick]), mouth, atol=1e-9)
        np.testing.assert_allclose(base.rotation @ truth.box[tick], axes, atol=1e-9)
        tip = tip_pose(trial.place.scene.robot, trial.recording.qpos[tick, :6])
        np.testing.assert_allclose(truth.end[tick], tip.position_m, atol=1e-9)
        np.testing.assert_allclose(truth.tool[tick], tip.rotation, atol=1e-9)
        np.testing.assert_allclose(
            truth.end_in_box[tick], axes.T @ (base.transform_points(tip.position_m) - mouth), atol=1e-9
        )


@pytest.mark.parametrize(
    "options",
    [
        {"perturb": {"noise": 1e-3, "delay": 0.01, "dropout": 0.3}},
        {"fault": "stale_sensor"},
        {"controller": "direct", "difficulty": 0.1},
    ],
    ids=["noise", "fault", "direct"],
)
def test_a_trial_is_its_seeds(options):
    first, again, other = (trial_of(**{"difficulty": 0.7, "seed": seed, **options}) for seed in (5, 5, 6))
    for name in ("qpos", "qvel", "points", "said", "command", "torque", "sensors"):
        one, two = getattr(first.recording, name), getattr(again.recording, name)
        assert one.tobytes() == two.tobytes(), name
    assert first.recording.touched == again.recording.touched
    assert first.vibration == again.vibration != other.vibration
    assert not np.array_equal(first.recording.qpos[0], other.recording.qpos[0])
    assert not np.array_equal(first.recording.qpos[0, :6], other.recording.qpos[0, :6])


def test_what_is_perturbed_leaves_start_and_motion_as_they_were():
    """So that trials with and without can be held against each other."""
    plain = good(0.5, 0)[0]
    for options in ({"perturb": {"noise": 1e-3}}, {"perturb": {"payload": 0.1}}, {"fault": "weak_motors"}):
        harder = trial_of(0.5, 0, **options)
        assert harder.vibration == plain.vibration
        np.testing.assert_array_equal(harder.recording.qpos[0], plain.recording.qpos[0])


@pytest.mark.parametrize("arm", WORKPLACES)
@pytest.mark.parametrize("difficulty", [0.0, 0.5, 1.0, 2.0])
def test_the_arm_begins_clear_of_the_box_and_not_where_it_waits(arm, difficulty, monkeypatch):
    monkeypatch.setattr(_insertion_trial, "LONGEST_S", 4 * TICK_S)
    place = insertion_scene(arm)
    robot, starts = place.scene.robot, []
    for seed in range(6):
        trial = trial_of(difficulty, seed, "direct", arm=arm)
        q, swing = trial.recording.qpos[0, :6], abs(trial.vibration.settled_waves()[0])
        depth = (place.mouth.inverse() @ tip_pose(robot, q)).position_m[0]
        assert depth < -(swing + CLEAR_M)
        assert ((q > robot.lower) & (q < robot.upper)).all()
        assert not trial.recording.qvel[0, :6].any()
        starts.append(q)
    assert np.ptp(starts, axis=0).min() > 0.02


# Who is to blame

BITES_FROM = {"stale_sensor": 0.7, "weak_motors": 0.7}
"""Below these difficulties a controller may get in all the same: the box moves millimetres in the time by
which readings are late, and weak motors can carry an arm that is in no hurry."""


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("difficulty", DIFFICULTIES)
@pytest.mark.parametrize("fault", [name for name in FAULTS if name])
def test_a_planted_fault_is_blamed_on_whom_it_has_to_be(fault, difficulty, seed):
    found = labels(trial_of(difficulty, seed, fault=fault))
    may_get_in = difficulty < BITES_FROM.get(fault, 0.0)
    assert found == [FAULTS[fault].label] or (may_get_in and not found)


def test_every_label_is_planted_by_some_fault():
    assert {fault.label for name, fault in FAULTS.items() if name} == {
        "perception",
        "state",
        "planning",
        "control",
    }


@pytest.mark.parametrize(
    ("difficulty", "perturb"),
    [
        *((difficulty, {}) for difficulty in (0.1, *DIFFICULTIES)),
        *((difficulty, {"noise": 1e-3}) for difficulty in (0.1, 0.3, 0.5)),
        *((difficulty, {"delay": 0.02}) for difficulty in (0.1, 0.3, 0.5)),
        *((difficulty, {"dropout": 0.3}) for difficulty in (0.1, 0.3, 0.5)),
    ],
    ids=str,
)
def test_where_no_fault_is_planted_nobody_is_blamed(difficulty, perturb):
    """Not even if the plate had not been touched: every look at a good trial finds nothing."""
    for seed in SEEDS:
        trial = trial_of(difficulty, seed, perturb=perturb) if perturb else good(difficulty, seed)[0]
        truth = judge.truth_of(trial)
        assert judge.failures_of(trial, truth) == []
        case = judge.case_of(trial, truth)
        assert [look.__name__ for look in judge.LOOKS if look(case)] == []


def untouched(trial):
    return replace(trial, recording=replace(trial.recording, touched=None))


def test_a_good_trial_whose_touch_is_taken_away_is_nobodys_fault():
    trial, truth = good()
    (failure,) = judge.failures_of(untouched(trial), truth)
    assert failure.label == "evaluation"
    assert "not touched" in failure.text


@pytest.mark.parametrize(
    "off_m",
    [(-5e-3, 0.0, 0.0), (5e-3, 0.0, 0.0), (0.0, 4e-3, 0.0), (0.0, 0.0, -4e-3), (-0.2, 0.1, 0.0)],
    ids=str,
)
def test_a_touch_of_the_plate_with_the_tool_elsewhere_is_no_success(off_m):
    """The recording says that the plate was touched, and the geometry that it cannot have been."""
    trial, truth = good()
    off = np.einsum("kij,j->ki", truth.box, np.array(off_m))
    (failure,) = judge.failures_of(trial, replace(truth, end=truth.end + off))
    assert failure.label == "evaluation"
    assert "was not in the hole" in failure.text


def test_a_box_that_is_elsewhere_at_the_touch_is_no_success():
    trial, _ = good()
    qpos = trial.recording.qpos.copy()
    qpos[:, 6] += 0.02
    assert labels(replace(trial, recording=replace(trial.recording, qpos=qpos))) == ["evaluation"]


def test_what_the_controller_says_makes_no_success():
    """Rows that tell of a plate and a depth, of a trial that never came there."""
    trial = untouched(good()[0])
    said = trial.recording.said.copy()
    said[:, PHASE], said[:, REASON] = PHASES.index("seat"), REASONS.index("in place")
    assert labels(replace(trial, recording=replace(trial.recording, said=said)))


def case(**changes):
    trial, truth = good()
    return replace(judge.case_of(trial, truth), **changes)


def test_a_hole_believed_beside_where_it_is_is_a_matter_of_perception():
    whole = case()
    seen = whole.seen.copy()
    seen[:, :3] += (0.0, 0.003, 0.004)
    failure = judge.place_failure(replace(whole, seen=seen))
    assert failure.label == "perception"
    assert "5.0 mm off" in failure.text
    small = whole.seen.copy()
    small[:, 1] += 0.5 * judge.PLACE_OFF_M
    assert judge.place_failure(replace(whole, seen=small)) is None
    # What comes and goes is no matter of the place, however large.
    swinging = whole.seen.copy()
    swinging[:, 1] += 0.02 * np.sin(np.arange(len(seen)))
    assert judge.place_failure(replace(whole, seen=swinging)) is None


@pytest.mark.parametrize("what", ["seen", "aim"])
def test_a_hole_believed_to_point_elsewhere_is_a_matter_of_perception(what):
    whole = case()
    for degrees, blamed in ((60.0, True), (0.5, False)):
        rows = getattr(whole, what).copy()
        rows[:, 3:6] = rows[:, 3:6] @ rotation_exp((0.0, 0.0, np.radians(degrees))).T
        failure = judge.frame_failure(replace(whole, **{what: rows}))
        assert (failure is not None) is blamed
        assert failure is None or failure.label == "perception"


def test_a_belief_that_fits_an_earlier_box_is_a_stale_state_unless_it_was_declared():
    whole = case()
    late = round(0.1 / TICK_S)
    seen = np.full_like(whole.seen, np.nan)
    seen[late:] = whole.seen[:-late]
    failure = judge.state_failure(replace(whole, seen=seen))
    assert failure.label == "state"
    assert "100 ms" in failure.text
    assert judge.state_failure(replace(whole, seen=seen, declared_s=0.1)) is None
    assert judge.state_failure(whole) is None


def test_an_ik_that_calls_wrong_answers_solved_is_to_blame_and_one_that_admits_it_is_not():
    whole = case()
    aim = whole.aim.copy()
    aim[:, 0] += 0.005
    false = replace(whole, aim=aim, solved=np.ones_like(whole.solved))
    failure = judge.false_answers(false)
    assert failure.label == "planning"
    assert "5.0 mm" in failure.text
    assert judge.false_answers(replace(false, solved=np.zeros_like(whole.solved))) is None
    turned = whole.aim.copy()
    turned[:, 3:6] = turned[:, 3:6] @ rotation_exp((0.0, 0.1, 0.0)).T
    assert judge.false_answers(replace(whole, aim=turned)).label == "planning"
    assert judge.false_answers(whole) is None


@pytest.mark.parametrize(("share", "blamed"), [(0.0, False), (0.4, False), (0.6, True), (1.0, True)])
def test_an_ik_that_mostly_has_no_answer_is_to_blame(share, blamed):
    whole = case()
    asked = np.flatnonzero(~np.isnan(whole.answers[:, 0]))
    solved = np.ones_like(whole.solved)
    solved[asked[: round(share * len(asked))]] = False
    failure = judge.no_answers(replace(whole, solved=solved))
    assert (failure is not None) is blamed
    assert failure is None or (failure.label == "planning" and f"{100 * share:.0f} %" in failure.text)


@pytest.mark.parametrize(
    ("beside_m", "blamed"), [(None, False), (5e-4, False), (1e-3, False), (3e-3, True)], ids=str
)
def test_a_push_beside_the_hole_is_a_matter_of_planning(beside_m, blamed):
    failure = judge.aim_failure(case(touch_beside_m=beside_m, play_m=1e-3))
    assert (failure is not None) is blamed
    assert failure is None or (failure.label == "planning" and "3.0 mm" in failure.text)


def test_an_arm_that_is_too_slow_for_the_box_is_said_to_be_and_only_then():
    hopeless = case(came_to_push=False, speed_needed=(0.8, 1.3))
    failure = judge.limit_failure(hopeless)
    assert failure.label == "planning"
    assert "80 to 130 %" in failure.text
    assert judge.limit_failure(replace(hopeless, speed_needed=(0.5, 0.9))) is None
    assert judge.limit_failure(replace(hopeless, came_to_push=True)) is None
    assert judge.limit_failure(case()) is None


@pytest.mark.parametrize("arm", WORKPLACES)
def test_the_speed_that_a_box_asks_for_is_that_of_joints_that_go_along(arm):
    """Against the rates of postures that the certified IK finds along the way."""
    place, (trial, _) = insertion_scene(arm), good(0.9, 0, arm)
    vibration, robot = trial.vibration, insertion_scene(arm).scene.robot
    h, shares, q = 1e-4, [], place.ready

    def gate(t):
        x, y, yaw, tilt = (vibration.settled_waves() * np.exp(2j * np.pi * vibration.frequency_hz * t)).imag
        box = Pose.from_rotation((x, y, 0.0), rotation_z(yaw) @ rotation_y(tilt))
        return place.mouth @ box @ tool_pose_in_box(-GATE_M)

    for t in np.linspace(0.0, 1.0 / vibration.frequency_hz, 40):
        q = solve(robot, gate(t), seed=q).require().q
        after = solve(robot, gate(t + h), seed=q).require().q
        shares.append((np.abs(after - q) / h / robot.max_speed).max())
    least, most = speed_needed(place, vibration)
    assert most == pytest.approx(max(shares), rel=0.05)
    assert least == pytest.approx(min(shares), rel=0.15)
    assert speed_needed(place, replace(vibration, difficulty=0.0)) == (0.0, 0.0)


def test_an_arm_that_does_not_do_what_is_wanted_is_a_matter_of_control():
    whole = case()
    assert judge.control_failure(whole) is None
    assert "ran away" in judge.control_failure(replace(whole, diverged=True)).text
    failure = judge.control_failure(replace(whole, wanted=whole.wanted + 0.01))
    assert failure.label == "control"
    assert "limits" not in failure.text
    weak = replace(whole, wanted=whole.wanted + 0.01, at_limit=np.ones_like(whole.at_limit))
    assert "limits 100 %" in judge.control_failure(weak).text


def test_a_recording_that_never_touched_is_judged_to_its_last_tick_and_one_that_did_before():
    trial, truth = good()
    touching = trial.recording.sensors[:, trial.place.tool_force][:, 0] > 0.0
    assert len(judge.case_of(trial, truth).seen) == np.argmax(touching)
    sensors = trial.recording.sensors.copy()
    sensors[:, trial.place.tool_force] = 0.0
    free = replace(trial, recording=replace(trial.recording, sensors=sensors))
    assert len(judge.case_of(free, truth).seen) == len(trial.recording)
    assert judge.case_of(free, truth).touch_beside_m is None


# Perturbations and faults

CHANGES = {
    "noise": (2e-3, {"noise_m": 2e-3}, {}),
    "delay": (0.02, {"delay_ticks": round(0.02 / TICK_S)}, {}),
    "dropout": (0.3, {"dropout": 0.3}, {}),
    "payload": (0.1, {}, {"mass": 0.1}),
    "friction": (0.5, {}, {"friction_nm": 0.5}),
    "gain": (-0.05, {}, {"gain": -0.05}),
    "torque": (0.7, {}, {"effort": 0.7}),
    "play": (5e-4, {}, {}),
}
"""A value of each, and what it makes of the sensing and of the disturbance."""


@pytest.mark.parametrize("name", PERTURBATIONS)
def test_a_perturbation_changes_what_it_says_and_nothing_else(name):
    value, sensing, disturbance = CHANGES[name]
    plain, harder = (InsertionOptions("predictive", 0.5, 3, perturb=given) for given in ({}, {name: value}))
    assert harder.sensing == replace(plain.sensing, **sensing)
    assert harder.disturbance == replace(plain.disturbance, **disturbance)
    assert harder.play_m == (value if name == "play" else plain.play_m)
    assert plain.sensing == HoleSensing(seed=3)
    assert plain.disturbance.nothing


@pytest.mark.parametrize("name", PERTURBATIONS)
def test_every_perturbation_bites_and_is_gone_into_or_blamed(name):
    value, plain = CHANGES[name][0], good()[0]
    trial = trial_of(0.5, 0, perturb={name: value})
    if name == "play":
        # What fits easily fits as well with less room.
        assert trial.place.hole.play_m == value != plain.place.hole.play_m
    else:
        assert trial.recording.command.tobytes() != plain.recording.command.tobytes()
    found = labels(trial)
    assert not found or found[0] in ("control", "evaluation", "planning")


@pytest.mark.parametrize(
    ("fault", "sensing", "disturbance"),
    [
        ("wrong_frame", {}, {}),
        ("stale_sensor", {"stale_ticks": round(STALE_S / TICK_S)}, {}),
        ("false_ik", {}, {}),
        ("weak_motors", {}, {"effort": WEAK_SHARE}),
    ],
)
def test_a_fault_is_planted_where_it_says_and_nowhere_else(fault, sensing, disturbance):
    plain, faulty = (InsertionOptions("predictive", 0.5, fault=given) for given in ("", fault))
    assert faulty.sensing == replace(plain.sensing, **sensing)
    assert faulty.disturbance == replace(plain.disturbance, **disturbance)
    cells = [cell_of(insertion_scene("mini_arm"), options) for options in (plain, faulty)]
    assert np.array_equal(cells[0].tool_in_box, cells[1].tool_in_box) is (fault != "wrong_frame")
    assert cells[1].ik_slack_m == (FALSE_IK_M if fault == "false_ik" else 0.0)
    assert cells[0].plant is cells[1].plant
    # A fault that lies in the readings' age is not told of.
    assert faulty.delay_ticks == 0


def test_readings_are_as_noisy_late_and_rare_as_the_perturbation_says():
    perturb = {"noise": 2e-3, "delay": 0.02, "dropout": 0.3}
    trial = trial_of(0.5, 2, perturb=perturb)
    recording, place = trial.recording, trial.place
    late, old = trial.options.delay_ticks, place.scene.dt_s
    lost = np.isnan(recording.points[:, 0])
    assert lost[:late].all()
    assert lost[late:].mean() == pytest.approx(0.3, abs=0.06)
    then = np.flatnonzero(~lost)
    x, y, _, _ = (recording.qpos[then - late, 6:] - old * recording.qvel[then - late, 6:]).T
    middles = recording.points[then].reshape(-1, 4, 3).mean(axis=1)
    off = middles - place.mouth.position_m - np.column_stack([x, y, 0.0 * x])
    # The mean of four.
    np.testing.assert_allclose(off.std(axis=0), 1e-3, rtol=0.15)
    assert np.abs(off.mean(axis=0)).max() < 2e-4


def test_the_arms_of_both_scenes_can_be_disturbed():
    perturb = {"payload": 0.05, "friction": 0.1, "gain": 0.03}
    assert labels(trial_of(0.3, 0, arm="ur5e", perturb=perturb)) == []


# The task

RUN = ("run", "insert", "--json")


def ran(tmp_path, capsys, *words):
    code = main([*RUN, "--out", str(tmp_path), *map(str, words)])
    captured = capsys.readouterr()
    return code, json.loads(captured.out), captured.err


def events_of(folder):
    return [json.loads(line) for line in (folder / "events.jsonl").read_text().splitlines()]


def only(tmp_path):
    (folder,) = tmp_path.iterdir()
    return folder


def test_the_task_is_found():
    assert "insert" in task_names()
    assert set(insert.arm_names()) == set(WORKPLACES)
    assert set(insert.controller_names()) == set(inserter_names())


def test_a_run_that_gets_in_passes_and_tells_how(tmp_path, capsys):
    code, data, err = ran(tmp_path, capsys, "--difficulty", 0.5, "--seed", 4)
    assert (code, err) == (PASSED, "")
    metrics, folder = data["metrics"], only(tmp_path)
    assert data["outcome"] == "passed"
    assert data["failures"] == []
    assert metrics["success"] == 1
    assert 0.1 < metrics["time_s"] < SHORTENED_S
    assert metrics["deepest_sink_m"] <= 3e-4
    assert 0.0 < metrics["peak_torque_share"] <= 1.0
    events = events_of(folder)
    kinds = [event["kind"] for event in events]
    assert kinds[0] == "start"
    assert kinds[-2:] == ["touch", "end"]
    times = [event["time_s"] for event in events[:-2]]
    assert times == sorted(times)
    assert events[-2]["time_s"] == metrics["time_s"]
    phases = [event["text"].split(":")[0] for event in events if event["kind"] == "phase"]
    assert phases[:5] == ["look", "approach", "align", "push", "seat"]
    record = read_record(folder)
    assert record.configuration["task"] == "insert"
    assert record.seeds == {"trial": 4}
    trace = read_trace(folder)
    rows = round(metrics["time_s"] / TICK_S) + round(SETTLE_S / TICK_S)
    assert {len(column) for column in trace.values()} == {rows}
    assert metrics["ticks"] == rows
    np.testing.assert_allclose(np.diff(trace["time_s"]), TICK_S, atol=1e-12)
    assert [
        PHASES[index] for index in trace["phase"][np.flatnonzero(np.diff(trace["phase"], prepend=-1))]
    ] == phases
    # The plate tells of a force when it is touched, and not before.
    touch = round(metrics["time_s"] / TICK_S)
    assert not trace["plate_force_n"][: touch + 1].any()
    assert trace["plate_force_n"][touch + 1] > 0.0


def test_a_run_that_does_not_get_in_fails_and_says_why(tmp_path, capsys):
    code, data, err = ran(tmp_path, capsys, "--fault", "false_ik", "--difficulty", 0.5)
    assert (code, err) == (FAILED, "")
    assert [failure["label"] for failure in data["failures"]] == ["planning"]
    assert data["metrics"]["success"] == 0
    assert data["metrics"]["time_s"] is None
    events = events_of(only(tmp_path))
    assert "touch" not in [event["kind"] for event in events]
    end_s = len(read_trace(only(tmp_path))["time_s"]) * TICK_S
    assert events[-1] == {"time_s": end_s, "kind": "end", "text": data["failures"][0]["text"]}
    assert "fault" in read_record(only(tmp_path)).title


def test_every_recovery_is_an_event_with_its_reason_and_there_are_only_so_many(tmp_path, capsys):
    _, data, _ = ran(tmp_path, capsys, "--fault", "stale_sensor", "--difficulty", 0.5)
    events = events_of(only(tmp_path))
    found = [event for event in events if event["kind"] == "recovery"]
    assert 1 <= len(found) == data["metrics"]["recoveries"] <= MOST_ATTEMPTS
    for event in found:
        assert event["text"].split(": ")[1] in REASONS
    if any(event["text"] == "give up: tried often enough" for event in events):
        assert len(found) == MOST_ATTEMPTS
    trace = read_trace(only(tmp_path))
    began = trace["time_s"][1:][np.diff((trace["phase"] == PHASES.index("back out")).astype(int)) == 1]
    np.testing.assert_allclose([event["time_s"] for event in found], began, atol=1e-9)


def test_recoveries_are_counted_once_each():
    trial, _ = good()
    said = trial.recording.said.copy()
    said[:, PHASE] = PHASES.index("push")
    for first in (100, 300, 500):
        said[first : first + 50, PHASE] = PHASES.index("back out")
    assert recoveries(replace(trial, recording=replace(trial.recording, said=said))) == 3
    assert recoveries(trial) == 0


REFUSED = [
    ("--controller", "magic"),
    ("--arm", "panda"),
    ("--fault", "gremlin"),
    ("--difficulty", "-1"),
    ("--difficulty", "nan"),
    ("--difficulty", "inf"),
    ("--difficulty", "2.1"),
    ("--difficulty", "hard"),
    ("--seed", "-1"),
    ("--seed", "1.5"),
    ("--perturb", "gremlin=1"),
    ("--perturb", "noise"),
    ("--perturb", "noise=nan"),
    ("--perturb", "noise=-1"),
    ("--perturb", "dropout=1"),
    ("--perturb", "delay=0.0003"),
    ("--perturb", "delay=-0.1"),
    ("--perturb", "play=0"),
    ("--perturb", "play=1"),
    ("--perturb", "torque=0"),
    ("--perturb", "push=5"),
    ("--perturb", "noise=0.001", "--perturb", "noise=0.002"),
]


@pytest.mark.parametrize("words", REFUSED, ids=" ".join)
def test_what_cannot_be_meant_is_refused_in_one_line_and_leaves_nothing(words, tmp_path, capsys):
    assert main(["run", "insert", "--out", str(tmp_path / "runs"), *words]) == BAD_INPUT
    out, err = capsys.readouterr()
    assert not out
    assert len(err.strip().splitlines()) == 1
    assert "Traceback" not in err
    assert not list(tmp_path.glob("runs/*"))
    code, data, _ = ran(tmp_path / "runs", capsys, *words)
    assert code == BAD_INPUT
    assert data["outcome"] == "bad_input"


def test_a_replay_is_identical_bit_for_bit(tmp_path, capsys):
    perturb = [word for name in ("noise=0.001", "delay=0.01", "dropout=0.2") for word in ("--perturb", name)]
    assert ran(tmp_path, capsys, "--seed", 5, "--difficulty", 0.7, *perturb)[0] == PASSED
    assert main(["replay", str(only(tmp_path)), "--out", str(tmp_path / "again"), "--json"]) == PASSED
    assert json.loads(capsys.readouterr().out)["identical"]


def test_a_replay_notices_one_changed_bit(tmp_path, capsys):
    ran(tmp_path, capsys)
    folder = only(tmp_path)
    columns = read_trace(folder)
    changed = columns["at_box_yaw"].copy()
    changed[100] = np.nextafter(changed[100], 10.0)
    write_trace(folder, {**columns, "at_box_yaw": changed})
    found = replay_task(folder, tmp_path / "again")[1]
    assert [difference.what for difference in found] == ["at_box_yaw at row 100"]


def test_a_trial_killed_in_its_middle_leaves_an_artifact_that_opens(tmp_path):
    """Killed as soon as it has told of a phase, which it does long before its end."""
    words = ["run", "insert", "--controller", "direct", "--difficulty", "0.5", "--out", str(tmp_path)]
    child = subprocess.Popen(
        [sys.executable, "-m", "forearm", *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        while not any("phase" in path.read_text() for path in tmp_path.glob("*/events.jsonl")):
            assert child.poll() is None, "it was over before it was killed"
            time.sleep(0.005)
    finally:
        child.kill()
    assert child.wait() == -signal.SIGKILL
    folder = only(tmp_path)
    assert folder.name.endswith(".partial")
    record = read_record(folder)
    assert record.outcome is Outcome.INTERRUPTED
    assert record.configuration["controller"] == "direct"
    assert record.seeds == {"trial": 0}
    assert "interrupted" in build_report(folder).read_text(encoding="utf-8")
    assert [event["kind"] for event in events_of(folder)][:2] == ["start", "phase"]
    assert main(["replay", str(folder)]) == BAD_INPUT


def options(**changes):
    return {
        "controller": "predictive",
        "difficulty": 0.5,
        "seed": 2,
        "arm": "mini_arm",
        "perturb": {},
        "fault": "",
        **changes,
    }


@pytest.mark.parametrize("changes", [{}, {"fault": "stale_sensor"}], ids=["in", "not in"])
def test_a_trial_of_a_sweep_leaves_its_row_and_a_whole_artifact(changes, tmp_path, capsys):
    row = insert.trial_row(options(**changes), tmp_path / "trial")
    assert row["success"] is not bool(changes)
    assert {"controller", "difficulty", "seed", "time_s", "label", "recoveries"} <= set(row)
    record = read_record(tmp_path / "trial")
    for metric in record.metrics:
        if metric.name in row and not is_timing(metric.name):
            assert metric.value == row[metric.name], metric.name
    assert [failure["label"] for failure in record.failures] == ([row["label"]] if changes else [])
    # The same trial as the command's.
    folder, _ = run_task("insert", options(**changes), tmp_path / "runs")
    alone, swept = (read_trace(each) for each in (folder, tmp_path / "trial"))
    assert list(alone) == list(swept)
    assert all(alone[name].tobytes() == swept[name].tobytes() for name in alone)
    assert events_of(folder) == events_of(tmp_path / "trial")
    assert main(["report", str(tmp_path / "trial")]) == PASSED
    capsys.readouterr()
    page = (tmp_path / "trial" / "report.html").read_text(encoding="utf-8")
    assert insert.TITLE in page


def test_the_machines_speed_fails_no_trial(monkeypatch):
    trial, truth = good()
    slow = replace(trial, recording=replace(trial.recording, bare_us_per_tick=1e-6))
    record = insert.record_of(slow, judge.failures_of(slow, truth))
    ratio = next(metric for metric in record.metrics if metric.name == "time_ratio")
    assert ratio.passed is False
    assert record.outcome is Outcome.PASSED


# What strangers hand over


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """The artifact of a trial whose numbers can be told from all others in it."""
    folder = tmp_path_factory.mktemp("kept") / "trial"
    insert.trial_row(options(perturb={"noise": 0.0009765625}, difficulty=0.265625), folder)
    return folder


def test_a_record_that_nobody_edited_is_replayed(kept, tmp_path):
    assert not replay_task(kept, tmp_path / "again")[1]


@pytest.mark.parametrize(
    "change",
    [
        {"difficulty": "abc"},
        {"difficulty": None},
        {"difficulty": -1.0},
        {"difficulty": 1e9},
        {"controller": "magic"},
        {"controller": ["predictive"]},
        {"arm": "panda"},
        {"arm": None},
        {"fault": "gremlin"},
        {"fault": 3},
        {"seed": -4},
        {"seed": 1.5},
        {"perturb": [1.0]},
        {"perturb": {"noise": "abc"}},
        {"perturb": {"noise": None}},
        {"perturb": {"delay": 1e-5}},
        {"perturb": {"delay": 40.0}},
        {"perturb": {"play": 1.0}},
        {"perturb": {"bias": 1.0}},
        {"gremlin": 1},
    ],
    ids=str,
)
def test_a_replay_of_an_edited_record_is_refused_in_one_line(change, kept, tmp_path, capsys):
    path = shutil.copytree(kept, tmp_path / "trial") / "record.json"
    record = json.loads(path.read_text())
    record["configuration"] |= change
    path.write_text(json.dumps(record))
    assert main(["replay", str(tmp_path / "trial"), "--out", str(tmp_path / "again")]) == BAD_INPUT
    assert len(capsys.readouterr().err.strip().splitlines()) == 1
    assert not list(tmp_path.glob("again/*"))


@pytest.mark.parametrize("value", ["NaN", "Infinity", "-Infinity", "1e999"])
@pytest.mark.parametrize("place", ["difficulty", "noise"])
def test_a_record_with_what_is_no_number_is_refused(value, place, kept, tmp_path, capsys):
    path = shutil.copytree(kept, tmp_path / "trial") / "record.json"
    text = path.read_text()
    number = {"difficulty": '"difficulty": 0.265625', "noise": '"noise": 0.0009765625'}[place]
    assert number in text
    path.write_text(text.replace(number, number.split(":")[0] + f": {value}"))
    assert main(["replay", str(tmp_path / "trial"), "--out", str(tmp_path / "again")]) == BAD_INPUT
    assert len(capsys.readouterr().err.strip().splitlines()) == 1


@pytest.mark.parametrize(
    "changes",
    [
        {"difficulty": float("nan")},
        {"difficulty": "hard"},
        {"perturb": {"noise": float("nan")}},
        {"perturb": {"payload": float("inf")}},
        {"perturb": {"push": 1.0}},
        {"perturb": "noise=1"},
        {"controller": 7},
        {"arm": "two_link"},
        {"fault": None},
        {"seed": True},
        {"speed": 1.0},
    ],
    ids=str,
)
def test_a_wrong_option_from_python_is_refused_by_its_name(changes, tmp_path):
    with pytest.raises((InvalidInput, UnknownName)) as caught:
        forearm.run("insert", out=tmp_path / "runs", **changes)
    (name,) = changes
    words = [name, *changes[name]] if isinstance(changes[name], dict) else [name]
    assert any(str(word) in str(caught.value) for word in words)
    assert "\n" not in str(caught.value)
    assert not list(tmp_path.glob("runs/*"))


def test_what_the_controller_feels_and_believes_is_near_the_truth():
    """The columns of the trace that are beliefs, against those that are true."""
    trial, truth = good(0.7, 0)
    said, touched = trial.recording.said, trial.recording.touched
    late = slice(touched - round(0.1 / TICK_S), touched)
    off = np.linalg.norm(said[late, SEEN : SEEN + 3] - truth.middle[late], axis=1)
    assert off.max() < 1e-3
    assert np.median(said[late, FREQUENCY]) == pytest.approx(trial.vibration.frequency_hz, rel=0.05)
    assert np.isfinite(said[late, FELT]).all()
    assert trial.place.scene.dt_s * SUBSTEPS == TICK_S
