"""The loop: what drives act on, where a runaway ends, what MuJoCo says, what each row holds."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

import forearm
from forearm.control.controller import Tick, make_controller
from forearm.control.plant import ActuatorKind
from forearm.errors import InvalidInput, UnknownName
from forearm.kinematics.forward import tip_matrix
from forearm.sim.disturbance import Disturbance
from forearm.sim.loop import numbers, run_chunk, run_loop
from forearm.sim.recording import Recording
from forearm.sim.scene import build_scene
from forearm.sim.sensing import PerfectSensor, Sensing


def resting(robot, ticks: int) -> list[Tick]:
    zero = np.zeros(robot.dof)
    tick = Tick(robot.home, zero, zero, zero, zero, tip_matrix(robot, robot.home), np.zeros(6), np.zeros(6))
    return [tick] * ticks


def run(name: str, ticks: int = 1000, **options):
    robot = forearm.load("ur5e")
    drive = ActuatorKind.SERVO if name.startswith("servo") else ActuatorKind.MOTOR
    scene = build_scene(robot, drive)
    return scene, run_loop(scene, make_controller(name, scene.plant), resting(robot, ticks), **options)


@pytest.mark.parametrize(
    "sensing",
    [Sensing(noise_rad=1e-3), Sensing(bias_rad=1e-3), Sensing(delay_ticks=5), Sensing(dropout=0.3)],
    ids=["noise", "bias", "delay", "dropout"],
)
@pytest.mark.parametrize("gain", [0.0, 0.1])
def test_a_servo_acts_on_what_the_sensor_says_and_on_its_own_speed(sensing, gain):
    """τ = (1 + gain) (Kp (command - q seen) - Kd qd), to rounding; on the true q it would not hold."""
    scene, result = run("servo_gravity", sensing=sensing, disturbance=Disturbance(gain=gain, push_n=20.0))
    drives, rows = scene.plant.actuators, result.recording
    wanted = (1.0 + gain) * (drives.kp * (rows.command - rows.seen_q) - drives.kd * rows.qd)
    np.testing.assert_allclose(rows.torque, wanted, atol=1e-9)
    on_the_truth = (1.0 + gain) * (drives.kp * (rows.command - rows.q) - drives.kd * rows.qd)
    assert np.abs(rows.torque - on_the_truth).max() > 1e-3


def test_a_perfect_sensor_is_the_truth_and_every_row_is_of_its_own_tick():
    scene, result = run("servo_gravity", ticks=1200, disturbance=Disturbance(push_n=20.0))
    rows = result.recording
    np.testing.assert_array_equal(rows.seen_q, rows.q)
    np.testing.assert_array_equal(rows.reading, rows.q)
    np.testing.assert_array_equal(rows.seen_qd, rows.qd)
    assert rows.ticks_done == 1200
    data = mujoco.MjData(scene.model)
    data.qpos[:], data.qvel[:], data.ctrl[:] = rows.q[777], rows.qd[777], rows.command[777]
    data.xfrc_applied[scene.model.body("wrist_3_link").id, 1] = 20.0
    mujoco.mj_step(scene.model, data)
    np.testing.assert_allclose(data.qpos, rows.q[778], atol=1e-12)
    np.testing.assert_allclose(data.actuator_force, rows.torque[777], atol=1e-9)


def test_a_runaway_ends_with_its_last_sound_tick_and_leaves_no_word_and_no_file(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    told = []
    _, result = run(
        "computed_torque",
        ticks=3000,
        disturbance=Disturbance(push_n=1e9),
        on_chunk=lambda _, first, last: told.append((first, last)),
    )
    rows, done = result.recording, result.recording.ticks_done
    assert 1500 < done < 2000
    assert result.diverged_at_s == done * 0.002
    assert np.isfinite(rows.q[:done]).all()
    assert not np.abs(rows.q[done]).max() < 100.0
    assert told[-1] == (1500, done)
    assert any(
        "unstable" in text and abs(time_s - result.diverged_at_s) < 0.1 for time_s, text in result.warnings
    )
    assert list(tmp_path.iterdir()) == []
    assert capfd.readouterr() == ("", "")
    assert mujoco.get_mju_user_warning() is None


def test_no_ticks_are_refused():
    with pytest.raises(InvalidInput, match="one tick or more"):
        run("servo", ticks=0)


@pytest.mark.parametrize("drive", list(ActuatorKind))
def test_a_scene_takes_its_drive_by_name(drive):
    robot = forearm.load("ur5e")
    assert build_scene(robot, str(drive)).plant.actuators.kind is drive


@pytest.mark.parametrize("drive", ["Servo", "hydraulic", None, 3])
def test_a_drive_that_there_is_not_is_refused_by_name(drive):
    with pytest.raises(UnknownName, match="valid: motor, servo"):
        build_scene(forearm.load("ur5e"), drive)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Sensing(noise_rad=np.float64("nan")),
        lambda: Sensing(bias_rad=np.inf),
        lambda: Sensing(delay_ticks=-1),
        lambda: Sensing(dropout=1.0),
        lambda: Sensing(seed=-1),
        lambda: Disturbance(payload=np.nan),
        lambda: Disturbance(friction_nm=np.inf),
        lambda: Disturbance(gain=-1.0),
        lambda: Disturbance(push_n=np.inf),
    ],
)
def test_what_cannot_be_is_refused_by_its_name_and_value_alone(make):
    with pytest.raises(InvalidInput) as caught:
        make()
    text = str(caught.value)
    assert "np.float64" not in text
    assert "(" not in text.split("Give")[0]


def test_the_loop_keeps_no_row_of_a_chunk_it_was_not_asked_for():
    robot = forearm.load("two_link")
    scene = build_scene(robot, ActuatorKind.MOTOR)
    data = mujoco.MjData(scene.model)
    recording = Recording.empty(20, robot.dof, scene.dt_s)
    command = make_controller("computed_torque", scene.plant).command
    run_chunk(scene.model, data, PerfectSensor(), False, command, resting(robot, 20), recording, 5, 10)
    assert not recording.q[:5].any()
    assert not recording.q[10:].any()
    assert recording.torque[5:10].all()


def test_rows_of_bytes_become_the_numbers_that_they_were():
    rows = np.random.default_rng(0).normal(size=(7, 3))
    np.testing.assert_array_equal(numbers([row.tobytes() for row in rows]), rows)
