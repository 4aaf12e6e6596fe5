"""What the controllers of the insertion are made of: sight, the observer, the ride, the approach, feeling."""

from __future__ import annotations

import itertools
import re

import mujoco
import numpy as np
import pinocchio as pin
import pytest

from forearm.control.insertion import newton, observer, phases
from forearm.control.insertion.approach import (
    SPEED_SHARE,
    TORQUE_SHARE,
    quintic_at,
    quintic_into,
    strain,
)
from forearm.control.insertion.controllers.predictive import BANDWIDTH_RAD_S, Predictive
from forearm.control.insertion.feel import (
    LAST_TORQUE,
    QUICK,
    QUICK_S,
    SLOW,
    SLOW_S,
    feel,
    force_along,
)
from forearm.control.insertion.feel import ROWS as FEELINGS
from forearm.control.insertion.hole import Hole, tool_in_box
from forearm.control.insertion.inserter import REASONS, Cell
from forearm.control.insertion.layout import RIDING
from forearm.control.insertion.linear import solve_in_place
from forearm.control.insertion.newton import ALPHA, ITERATIONS, newton_into, pseudo_inverse
from forearm.control.insertion.phases import PHASES, next_phase
from forearm.control.insertion.predictive_step import CONTACT_N, OVER
from forearm.control.insertion.ride import ACCELERATION, PLACE, TURN, TWIST, joints_into, ride_into
from forearm.control.insertion.ride import ROWS as RIDES
from forearm.control.insertion.seen import CHANNELS, ROLL, TILT, YAW, channels_into, rotation_into
from forearm.control.torque import CHAIN, computed_torque_into, model_sheets
from forearm.dynamics.pinocchio_engine import PinocchioDynamics
from forearm.ik.solve import solve
from forearm.kinematics.chain import chain_of
from forearm.kinematics.compiling import INLINED, PACKAGE
from forearm.kinematics.forward import jacobian, tip_pose
from forearm.robots.to_pinocchio import pinocchio_model
from forearm.sim.disturbance import Disturbance, disturbed
from forearm.sim.insertion import SUBSTEPS, TICK_S, insertion_scene
from forearm.sim.scene import tip_body
from forearm.sim.vibrating_box import Vibration
from forearm.spatial import (
    Pose,
    pose_error,
    rotation_exp,
    rotation_log,
    rotation_x,
    rotation_y,
    rotation_z,
)

ARMS = ("mini_arm", "ur5e")
MOUTH_M = np.array([0.5, -0.1, 0.4])
DIFFICULTIES = (0.1, 0.3, 0.5, 0.9, 1.2, 1.5)


def box_turn(yaw, tilt, roll):
    return rotation_z(yaw) @ rotation_y(tilt) @ rotation_x(roll)


def sensor_points(place, turn):
    """The four sensors in the order that ``Hole`` states."""
    s = Hole().sensor_m
    corners = np.array([[0.0, -s, -s], [0.0, s, -s], [0.0, s, s], [0.0, -s, s]])
    return (place + corners @ turn.T).ravel()


# Sight


def test_place_and_angles_come_from_the_four_points(random):
    for _ in range(200):
        place = random.uniform(-1.0, 1.0, 3)
        angles = random.uniform((-np.pi, -1.5, -np.pi), (np.pi, 1.5, np.pi))
        turn, frame, channels = box_turn(*angles), np.zeros(9), np.zeros(CHANNELS)
        channels_into(sensor_points(place, turn), frame, channels)
        np.testing.assert_allclose(frame, [*place, *turn[:, 0], *turn[:, 1]], atol=1e-12)
        np.testing.assert_allclose(channels, [*place, *angles], atol=1e-10)


def test_sensors_in_another_order_would_turn_the_box_over():
    """The same points with two of them swapped are another box: the order is what the angles hang on."""
    points = sensor_points(MOUTH_M, box_turn(0.1, 0.2, 0.3)).reshape(4, 3)
    frame, channels = np.zeros(9), np.zeros(CHANNELS)
    channels_into(points[[3, 2, 1, 0]].ravel(), frame, channels)
    assert abs(channels[YAW] - 0.1) > 1.0


def test_a_rotation_made_of_angles_is_spatials_and_gives_the_angles_back(random):
    for _ in range(200):
        angles = random.uniform((-np.pi, -1.5, -np.pi), (np.pi, 1.5, np.pi))
        rotation, frame, channels = np.zeros(9), np.zeros(9), np.zeros(CHANNELS)
        rotation_into(*angles, rotation)
        np.testing.assert_allclose(rotation.reshape(3, 3), box_turn(*angles), atol=1e-14)
        channels_into(sensor_points(MOUTH_M, rotation.reshape(3, 3)), frame, channels)
        np.testing.assert_allclose(channels[YAW:], angles, atol=1e-10)


# The observer

AHEAD_S = 0.02
KNOWN_S, WELL_KNOWN_S = 0.15, 0.3
SEEDS = range(8)


def true_channels(vibration, times_s):
    """The settled box, its mouth at rest at ``MOUTH_M``: the places and angles that it is to be found at."""
    joints = vibration.settled_waves() * np.exp(
        2j * np.pi * vibration.frequency_hz * np.atleast_1d(times_s)[:, None]
    )
    x, y, yaw, tilt = joints.imag.T
    still = np.zeros_like(x)
    return np.column_stack([MOUTH_M[0] + x, MOUTH_M[1] + y, still + MOUTH_M[2], yaw, tilt, still])


class Watching:
    """An observer, and what it is shown of a box: readings every tick, noisy, late and some of them lost."""

    def __init__(self, vibration, seed, *, noise_m=0.0, dropout=0.0, delay_s=0.0):
        self.vibration, self.noise_m, self.dropout, self.delay_s = vibration, noise_m, dropout, delay_s
        self.random = np.random.default_rng(seed)
        self.memory, self.tick = observer.observer_memory(), 0
        self.state = self.memory[observer.STATE]

    def watch(self, seconds, trusted=True, offset_m=(0.0, 0.0, 0.0)):
        """Rows, one each 10 ms: now, error of the place, of an angle, σ of the place; all ``AHEAD_S`` on."""
        ticks = round(seconds / TICK_S)
        stamps = TICK_S * np.arange(self.tick, self.tick + ticks)
        channels = true_channels(self.vibration, stamps)
        noise = self.noise_m * self.random.normal(size=(ticks, 12))
        lost = self.random.uniform(size=ticks) < self.dropout
        rows, motion = [], np.zeros((3, CHANNELS))
        for k in range(ticks):
            turn = box_turn(*channels[k, YAW:])
            points = sensor_points(channels[k, :YAW] + offset_m, turn) + noise[k]
            observer.observe(self.memory, stamps[k], np.full(12, np.nan) if lost[k] else points, trusted)
            if k % 20 == 19 and self.fitted:
                then = stamps[k] + self.delay_s + AHEAD_S
                observer.predict_into(self.memory, then, motion)
                off = motion[0] - true_channels(self.vibration, then)[0]
                place = np.linalg.norm(off[:YAW] - offset_m)
                sigma = observer.spread_at(self.state, then)
                rows.append((stamps[k] + self.delay_s, place, np.abs(off[YAW:]).max(), sigma))
        self.tick += ticks
        return np.array(rows).reshape(-1, 4)

    @property
    def fitted(self):
        return self.state[observer.FIT, observer.FITTED] != 0.0

    @property
    def resets(self):
        return self.state[observer.COUNTS, observer.RESETS]


def watched(difficulty, seed, seconds=0.6, **options):
    vibration = Vibration.drawn(difficulty, np.random.default_rng(seed))
    watching = Watching(vibration, seed, **options)
    return watching, watching.watch(seconds)


SHORT = {
    "perfect": ({}, 3e-4, 1e-4),
    "1 mm": ({"noise_m": 1e-3}, 2e-3, 1.2e-3),
    "2 mm": ({"noise_m": 2e-3}, 4e-3, 2e-3),
    "1 mm, 30 % lost": ({"noise_m": 1e-3, "dropout": 0.3}, 2.5e-3, 1.5e-3),
    "1 mm, 30 % lost, 20 ms late": ({"noise_m": 1e-3, "dropout": 0.3, "delay_s": 0.02}, 4e-3, 2e-3),
}
"""How readings fall short, and the error (m) that is allowed once the box is known, and well known."""


@pytest.mark.parametrize("difficulty", DIFFICULTIES)
@pytest.mark.parametrize(("options", "known_m", "well_known_m"), SHORT.values(), ids=SHORT)
def test_the_observer_locks_on_and_says_how_sure_it_is(difficulty, options, known_m, well_known_m):
    every = []
    for seed in SEEDS:
        watching, rows = watched(difficulty, seed, **options)
        assert watching.resets == 0
        assert rows[rows[:, 0] > KNOWN_S, 1].max() < known_m
        assert rows[rows[:, 0] > WELL_KNOWN_S, 1].max() < well_known_m
        every.append(rows[rows[:, 0] > KNOWN_S])
    _, place, _, sigma = np.concatenate(every).T
    # Without noise what is left of a fast swing is what a block's mean takes off it: see below.
    if options or difficulty < 1.0:
        assert np.mean(place <= 3.0 * sigma) >= 0.97
    # One that is never wrong because it claims nothing would be as useless.
    assert np.median(sigma) < (known_m if options else 1e-4)


@pytest.mark.parametrize("difficulty", DIFFICULTIES)
def test_a_perfect_reading_leaves_what_the_mean_of_a_block_takes_off_a_swing(difficulty):
    """The mean of a sine over T is short by (ωT)²/24 of it."""
    for seed in SEEDS:
        watching, rows = watched(difficulty, seed)
        omega = 2.0 * np.pi * watching.vibration.frequency_hz
        swing = np.linalg.norm(np.abs(watching.vibration.settled_waves()[:2]))
        short = swing * (omega * observer.BLOCK_S) ** 2 / 24.0
        assert rows[rows[:, 0] > WELL_KNOWN_S, 1].max() < 1.2 * short + 6e-5


@pytest.mark.parametrize("difficulty", [0.3, 0.5, 0.9, 1.5])
def test_rates_and_accelerations_are_the_predictions_own_and_the_boxs(difficulty):
    watching, _ = watched(difficulty, 3, seconds=0.8)
    now, h = TICK_S * watching.tick, 1e-4
    motions = np.zeros((3, 3, CHANNELS))
    for k, at in enumerate((now - h, now, now + h)):
        observer.predict_into(watching.memory, at, motions[k])
    before, here, after = motions
    np.testing.assert_allclose(here[1], (after[0] - before[0]) / (2.0 * h), atol=1e-5)
    np.testing.assert_allclose(here[2], (after[1] - before[1]) / (2.0 * h), atol=1e-3)
    true = true_channels(watching.vibration, [now - h, now, now + h])
    np.testing.assert_allclose(here[1], (true[2] - true[0]) / (2.0 * h), atol=2e-3)
    np.testing.assert_allclose(here[2], (true[2] - 2.0 * true[1] + true[0]) / h**2, atol=0.1)


@pytest.mark.parametrize("noise_m", [5e-4, 1e-3, 2e-3])
@pytest.mark.parametrize("difficulty", [0.1, 0.9, 1.5])
def test_how_noisy_readings_are_is_found_out(difficulty, noise_m):
    """The mean of four coordinates has half their noise; an angle that of the edges, over 4 of their arms."""
    watching, _ = watched(difficulty, 5, noise_m=noise_m)
    counted, place, angle = watching.state[observer.NOISE, :3]
    assert np.sqrt(place / counted) == pytest.approx(0.5 * noise_m, rel=0.1)
    assert np.sqrt(angle / counted) == pytest.approx(0.5 * noise_m / Hole().sensor_m, rel=0.1)


def test_before_anything_is_seen_nothing_is_known():
    memory = observer.observer_memory()
    assert observer.spread_at(memory[observer.STATE], 0.1) == np.inf
    watching = Watching(Vibration(0.5), 0, dropout=1.0)
    assert len(watching.watch(0.1)) == 0
    assert not watching.fitted


def test_little_is_claimed_of_what_lies_far_ahead():
    watching, _ = watched(0.5, 1, seconds=0.06, noise_m=1e-3)
    now = TICK_S * watching.tick
    sigmas = [observer.spread_at(watching.state, now + ahead) for ahead in (0.0, 0.05, 0.1, 0.2)]
    assert (np.diff(sigmas) > 0.0).all()
    assert sigmas[-1] > 10.0 * sigmas[0]


@pytest.mark.parametrize("noise_m", [0.0, 1e-3])
@pytest.mark.parametrize("difficulty", [0.3, 0.9, 1.5])
def test_a_box_that_jumps_is_forgotten_and_found_again(difficulty, noise_m):
    watching, _ = watched(difficulty, 2, noise_m=noise_m)
    assert watching.resets == 0
    noise = watching.state[observer.NOISE, 0]
    watching.vibration = Vibration(difficulty, watching.vibration.phase_rad + 2.0, -1.0, 0.5, 1.5)
    began = TICK_S * watching.tick
    rows = watching.watch(0.6)
    # The jump may look strange again while the first blocks after it are few.
    assert 1 <= watching.resets <= 2
    assert watching.state[observer.NOISE, 0] > noise, "how noisy readings are stays known"
    again = rows[rows[:, 0] > began + WELL_KNOWN_S + observer.MANY_STRANGE * observer.BLOCK_S]
    assert again[:, 1].max() < (2e-4 if noise_m == 0.0 else 1.5e-3)


@pytest.mark.parametrize("noise_m", [0.0, 1e-3])
@pytest.mark.parametrize("blocks", [1, 3])
def test_a_moment_of_strange_readings_is_got_over(blocks, noise_m):
    watching, _ = watched(0.5, 2, noise_m=noise_m)
    watching.watch(observer.BLOCK_S * blocks, offset_m=(0.02, 0.0, 0.0))
    began = TICK_S * watching.tick
    rows = watching.watch(0.6)
    assert watching.resets <= 1
    assert rows[rows[:, 0] > began + WELL_KNOWN_S, 1].max() < 1e-3


def test_nothing_is_learnt_while_readings_are_not_trusted():
    watching, _ = watched(0.5, 4, noise_m=1e-3)
    then = TICK_S * watching.tick + 0.05
    learnt = [observer.FIT, observer.MEAN, observer.SINE, observer.COSINE, observer.INVERSE, observer.COUNTS]
    before, motion = watching.memory.copy(), np.zeros((2, 3, CHANNELS))
    observer.predict_into(watching.memory, then, motion[0])
    watching.watch(0.3, trusted=False, offset_m=(0.05, 0.0, 0.0))
    observer.predict_into(watching.memory, then, motion[1])
    np.testing.assert_array_equal(motion[0], motion[1])
    for sheet in (observer.BLOCKS, observer.BANKS):
        np.testing.assert_array_equal(watching.memory[sheet], before[sheet])
    np.testing.assert_array_equal(watching.state[learnt], before[observer.STATE, learnt])


def test_the_memory_of_an_observer_ends_with_its_window():
    """A box that has slowly wandered away from where it swung long ago is predicted where it is."""
    watching, _ = watched(0.9, 6, seconds=0.3)
    for step in range(1, 25):
        rows = watching.watch(0.1, offset_m=(5e-5 * min(step, 10), 0.0, 0.0))
    assert watching.state[observer.COUNTS, observer.REMEMBERED] == observer.WINDOW
    assert watching.resets == 0
    assert rows[:, 1].max() < 2e-4


# The ride


def a_motion(times_s):
    """Channels (6) that move as nothing in particular, and never roll."""
    t = np.asarray(times_s)
    return np.stack(
        [
            0.5 + 0.1 * np.sin(7.0 * t) + 0.02 * t**2,
            0.08 * np.cos(5.0 * t + 0.3),
            0.4 + 0.03 * np.sin(3.0 * t + 1.0),
            0.4 + 0.3 * np.sin(6.0 * t + 0.7),
            -0.2 + 0.25 * np.sin(4.0 * t + 1.9),
            0.3 + 0.0 * t,
        ],
        axis=-1,
    )


def a_depth(t):
    return 0.03 * np.sin(8.0 * t) + 0.2 * t


def derivatives(function, t, h=1e-4):
    before, here, after = function(t - h), function(t), function(t + h)
    return here, (after - before) / (2.0 * h), (after - 2.0 * here + before) / h**2


def ride_at(t, turn_in_box):
    ride = np.zeros((RIDES, 9))
    depth = derivatives(a_depth, t)
    ride_into(np.array(derivatives(a_motion, t)), *depth, np.ascontiguousarray(turn_in_box).ravel(), ride)
    return ride


def tool_at(t, turn_in_box):
    """Where the tool is by the book: place, rotation."""
    channels = a_motion(t)
    turn = box_turn(*channels[YAW:])
    return channels[:YAW] + turn @ (a_depth(t), 0.0, 0.0), turn @ turn_in_box


@pytest.mark.parametrize("t", [0.0, 0.11, 0.37, 0.8])
def test_the_ride_is_the_tools_pose_and_what_it_does_from_moment_to_moment(t):
    turn_in_box, h = tool_in_box() @ rotation_z(0.7), 1e-4
    ride = ride_at(t, turn_in_box)
    place, turn = tool_at(t, turn_in_box)
    np.testing.assert_allclose(ride[PLACE, :3], place, atol=1e-12)
    np.testing.assert_allclose(ride[TURN].reshape(3, 3), turn, atol=1e-12)

    def spin(at):
        (_, before), (_, after) = tool_at(at - h, turn_in_box), tool_at(at + h, turn_in_box)
        return rotation_log(after @ before.T) / (2.0 * h)

    _, speed, push = derivatives(lambda at: tool_at(at, turn_in_box)[0], t)
    np.testing.assert_allclose(ride[TWIST, :3], speed, atol=1e-5)
    np.testing.assert_allclose(ride[TWIST, 3:6], spin(t), atol=1e-5)
    np.testing.assert_allclose(ride[ACCELERATION, :3], push, atol=1e-3)
    np.testing.assert_allclose(ride[ACCELERATION, 3:6], (spin(t + h) - spin(t - h)) / (2.0 * h), atol=1e-3)
    # The moment is one at which every part of the formula counts.
    assert np.abs(ride[ACCELERATION, :6]).min() > 1e-3


@pytest.fixture(scope="module")
def cells():
    return {arm: Cell(insertion_scene(arm).scene.plant, insertion_scene(arm).hole, TICK_S) for arm in ARMS}


def riding_at(cell, q, slack_m=0.0):
    """A controller that stands at ``q``, and what ``joints_into`` takes of it for an IK."""
    inserter = Predictive(cell)
    inserter.states[:, :6] = q
    tracker = inserter.tracker
    return inserter, (
        tracker._table, tracker.most, inserter.states, inserter.target, inserter.answers,
        inserter.iterations, inserter.crossed, inserter.room, slack_m,
    )  # fmt: skip


def a_ride(robot, q, random):
    """A ride near where the tool is at ``q``, with any twist and acceleration."""
    ride, tip = np.zeros((RIDES, 9)), tip_pose(robot, q)
    ride[PLACE, :3] = tip.position_m + random.uniform(-0.02, 0.02, 3)
    ride[TURN] = (rotation_exp(random.uniform(-0.05, 0.05, 3)) @ tip.rotation).ravel()
    ride[TWIST, :6], ride[ACCELERATION, :6] = random.normal(size=6), random.normal(scale=5.0, size=6)
    return ride


@pytest.mark.parametrize("arm", ARMS)
def test_joints_that_ride_along_do_so_by_pinocchio(arm, cells, random):
    robot, place = cells[arm].plant.robot, insertion_scene(arm)
    model = pinocchio_model(robot.held_tree)
    data, tip = model.createData(), model.getFrameId(robot.tip_frame.name)
    world, joints = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED, np.zeros((3, 6))
    base = Pose.from_matrix(PinocchioDynamics(robot).frames_in_world(place.ready, (robot.base,))[0])
    turned = np.kron(np.eye(2), base.rotation.T)
    inserter, ik = riding_at(cells[arm], place.ready)
    for _ in range(5):
        ride = a_ride(robot, place.ready, random)
        assert joints_into(inserter.sheets[CHAIN], ik, RIDING, ride, 6, joints)
        q, qd, qdd = joints
        pin.forwardKinematics(model, data, q, qd, qdd)
        pin.updateFramePlacements(model, data)
        reached = base.inverse() @ Pose.from_matrix(data.oMf[tip].homogeneous)
        wanted = Pose.from_rotation(ride[PLACE, :3], ride[TURN].reshape(3, 3))
        assert reached.is_close(wanted, 2e-7, 2e-7)
        speed = pin.getFrameVelocity(model, data, tip, world).vector
        push = pin.getFrameClassicalAcceleration(model, data, tip, world).vector
        np.testing.assert_allclose(turned @ speed, ride[TWIST, :6], atol=1e-9)
        np.testing.assert_allclose(turned @ push, ride[ACCELERATION, :6], atol=1e-7)
        np.testing.assert_array_equal(inserter.answers[0], q)


def test_out_of_reach_is_said(cells, random):
    place, joints = insertion_scene("mini_arm"), np.zeros((3, 6))
    inserter, ik = riding_at(cells["mini_arm"], place.ready)
    ride = a_ride(place.scene.robot, place.ready, random)
    ride[PLACE, :3] = 3.0, 0.0, 0.5
    assert not joints_into(inserter.sheets[CHAIN], ik, RIDING, ride, 6, joints)


def test_an_ik_that_stops_short_is_that_far_from_the_pose_and_calls_it_solved(cells, random):
    place, joints, slack_m = insertion_scene("mini_arm"), np.zeros((3, 6)), 0.005
    robot = place.scene.robot
    for _ in range(5):
        inserter, ik = riding_at(cells["mini_arm"], place.ready, slack_m)
        ride = a_ride(robot, place.ready, random)
        wanted = Pose.from_rotation(ride[PLACE, :3], ride[TURN].reshape(3, 3))
        way_m = pose_error(wanted, tip_pose(robot, place.ready)).distance_m
        assert joints_into(inserter.sheets[CHAIN], ik, RIDING, ride, 6, joints)
        left_m = pose_error(wanted, tip_pose(robot, joints[0])).distance_m
        # The way is measured along the joints' straight line, so not quite to the millimetre.
        assert left_m == pytest.approx(min(slack_m, way_m), rel=0.15)
        inserter, ik = riding_at(cells["mini_arm"], place.ready)
        assert joints_into(inserter.sheets[CHAIN], ik, RIDING, ride, 6, joints)
        assert pose_error(wanted, tip_pose(robot, joints[0])).distance_m < 2e-7


def test_an_ik_that_stops_short_of_what_is_nearer_stands_still(cells):
    place, joints = insertion_scene("mini_arm"), np.zeros((3, 6))
    inserter, ik = riding_at(cells["mini_arm"], place.ready, 0.05)
    tip, ride = tip_pose(place.scene.robot, place.ready), np.zeros((RIDES, 9))
    ride[PLACE, :3], ride[TURN] = tip.position_m + np.full(3, 0.01), tip.rotation.ravel()
    joints_into(inserter.sheets[CHAIN], ik, RIDING, ride, 6, joints)
    np.testing.assert_array_equal(joints[0], place.ready)


# The approach


def ends(random, robot, spread=1.0):
    """Two states of the joints: position, speed, acceleration."""
    middle = 0.5 * (np.maximum(robot.lower, -np.pi) + np.minimum(robot.upper, np.pi))
    states = random.uniform(-spread, spread, (2, 3, 6))
    states[:, 0] = middle + 0.5 * states[:, 0]
    states[:, 2] *= 5.0
    return np.ascontiguousarray(states[0]), np.ascontiguousarray(states[1])


def test_a_quintic_begins_and_ends_as_it_is_told_to(random, arms):
    begin, end = ends(random, arms["mini_arm"])
    coefficients, joints = np.zeros((6, 6)), np.zeros((3, 6))
    quintic_into(begin, end, 0.37, 6, coefficients)
    for elapsed, wanted in ((0.0, begin), (0.37, end), (0.5, end)):
        quintic_at(coefficients, 0.37, elapsed, 6, joints)
        np.testing.assert_allclose(joints, wanted, atol=1e-10)
    for i in range(6):
        path = np.polynomial.Polynomial(coefficients[:, i], domain=(0.0, 0.37), window=(0.0, 1.0))
        quintic_at(coefficients, 0.37, 0.21, 6, joints)
        expected = [path(0.21), path.deriv()(0.21), path.deriv(2)(0.21)]
        np.testing.assert_allclose(joints[:, i], expected, atol=1e-10)


@pytest.mark.parametrize("arm", ARMS)
def test_the_strain_of_an_approach_is_pinocchios_and_its_margins_hold_between_the_samples(arm, random, cells):
    plant = cells[arm].plant
    robot, sheets, engine = plant.robot, model_sheets(plant), PinocchioDynamics(plant.robot)
    limits = np.array([robot.max_speed, plant.actuators.max_effort])
    coefficients, joints, tau = np.zeros((6, 6)), np.zeros((3, 6)), np.zeros(6)
    tight = 0
    for _ in range(12):
        begin, end = ends(random, robot, 0.6)
        for duration in np.geomspace(0.1, 5.0, 60):
            quintic_into(begin, end, duration, 6, coefficients)
            strained = strain(sheets, limits, coefficients, duration, 6, joints, tau)
            if strained <= 1.0:
                break
        else:
            continue
        shares = []
        for elapsed in np.linspace(0.0, duration, 281):
            quintic_at(coefficients, duration, elapsed, 6, joints)
            torque = (
                engine.inverse_dynamics(*joints)
                + plant.damping * joints[1]
                + plant.dt_s * plant.lag * joints[2]
            )
            shares.append((np.abs(joints[1]) / limits[0], np.abs(torque) / limits[1]))
        speeds, torques = np.array(shares).max(axis=2).T
        # Every twentieth of the fine samples is one of its own.
        sampled = max(speeds[20::20].max() / SPEED_SHARE, torques[20::20].max() / TORQUE_SHARE)
        assert strained == pytest.approx(sampled, rel=1e-6)
        assert max(speeds.max(), torques[20:].max()) <= 1.0
        tight += strained > 0.9
    assert tight >= 6, "most of these approaches are as quick as they may be"


def test_what_a_renewed_plan_may_strain_is_within_the_torque_limits():
    assert OVER * TORQUE_SHARE < 1.0


# Feeling

WRENCH_N = 20.0


class Held:
    """An arm in MuJoCo under computed torque, which feels; ``believed`` differs from what is real."""

    def __init__(self, disturbance=None, compensate=True, arm="mini_arm"):
        self.place, self.compensate = insertion_scene(arm), compensate
        plant = self.place.scene.plant
        self.model = disturbed(self.place.scene, disturbance or Disturbance())
        self.data, self.sheets = mujoco.MjData(self.model), model_sheets(plant)
        self.data.qpos[:6] = self.place.ready
        # The box stands far away: it is not what is felt here.
        self.data.qpos[6] = self.data.ctrl[6] = 1.0
        self.feeling = np.zeros((FEELINGS, 16))
        self.feeling[LAST_TORQUE] = np.nan
        self.out, self.errors, self.tick = np.zeros(6), [], 0

    def run(self, seconds, reference, wrench=(0.0, 0.0, 0.0), in_contact=False):
        n, data = 6, self.data
        data.xfrc_applied[:] = 0.0
        for _ in range(round(seconds / TICK_S)):
            wanted = reference(TICK_S * self.tick)
            q, qd = data.qpos[:n].copy(), data.qvel[:n].copy()
            feel(self.sheets, TICK_S, q, qd, in_contact, self.feeling)
            computed_torque_into(
                self.sheets, BANDWIDTH_RAD_S**2, 2.0 * BANDWIDTH_RAD_S, q, qd, *wanted, self.out
            )
            if self.compensate:
                self.out -= self.feeling[SLOW, :n]
            self.feeling[LAST_TORQUE, :n] = self.out
            data.ctrl[:n] = self.out
            self.pull(wrench)
            mujoco.mj_step(self.model, data, SUBSTEPS)
            self.errors.append(np.abs(q - wanted[0]).max())
            self.tick += 1

    def pull(self, force):
        """A force (in the world) on the tool's end."""
        data, body = self.data, tip_body(self.place.scene)
        tip = (
            data.xpos[body] + data.xmat[body].reshape(3, 3) @ self.place.scene.robot.tip_frame.pose.position_m
        )
        data.xfrc_applied[body] = [*force, *np.cross(tip - data.xipos[body], force)]

    def felt(self):
        columns = np.ascontiguousarray(jacobian(self.place.scene.robot, self.data.qpos[:6]))
        return [
            force_along(self.feeling, columns, np.zeros((6, 6)), np.zeros((6, 1)), *axis)
            for axis in np.eye(3)
        ]


def standing(t):
    zero = np.zeros(6)
    return insertion_scene("mini_arm").ready, zero, zero


SWINGS_RAD, SWING_RATE = np.array([0.1, 0.08, -0.1, 0.15, 0.15, 0.2]), 9.0


def swinging(t):
    """To and fro beside where the arm waits, within its limits."""
    angle = SWING_RATE * t
    return (
        insertion_scene("mini_arm").ready + SWINGS_RAD * (1.0 - np.cos(angle)),
        SWINGS_RAD * SWING_RATE * np.sin(angle),
        SWINGS_RAD * SWING_RATE**2 * np.cos(angle),
    )


@pytest.mark.parametrize("direction", np.vstack([np.eye(3), [-0.6, 0.0, 0.8]]), ids=str)
def test_a_force_on_the_tools_end_is_felt_as_what_it_is(direction):
    held, force = Held(), WRENCH_N * direction
    held.run(0.05, standing)
    np.testing.assert_allclose(held.felt(), 0.0, atol=0.02 * WRENCH_N)
    held.run(8.0 * QUICK_S, standing, wrench=force, in_contact=True)
    np.testing.assert_allclose(held.felt(), force, atol=0.03 * WRENCH_N)


def test_what_stays_is_not_felt_unless_in_contact():
    pressed, loaded = Held(), Held()
    for held, in_contact in ((pressed, True), (loaded, False)):
        held.run(0.02, standing)
        held.run(6.0 * SLOW_S, standing, wrench=(-WRENCH_N, 0.0, 0.0), in_contact=in_contact)
    assert pressed.felt()[0] == pytest.approx(-WRENCH_N, rel=0.03)
    assert abs(loaded.felt()[0]) < 0.03 * WRENCH_N
    assert loaded.errors[-1] < 0.1 * pressed.errors[-1]


def test_nothing_is_felt_in_free_motion():
    held, felt = Held(), []
    for _ in range(40):
        held.run(0.01, swinging)
        felt.append(held.felt())
    assert np.abs(felt).max() < 0.01 * CONTACT_N
    assert np.abs(held.feeling[QUICK]).max() < 0.1


@pytest.mark.parametrize(
    "disturbance",
    [
        Disturbance(mass=0.2),
        Disturbance(friction_nm=1.0),
        Disturbance(gain=0.1),
        Disturbance(gain=-0.1),
    ],
    ids=["payload", "friction", "strong drives", "weak drives"],
)
def test_load_friction_and_gain_are_made_up_for(disturbance):
    with_it, without = Held(disturbance), Held(disturbance, compensate=False)
    for held in (with_it, without):
        held.run(0.7, swinging)
    made_up, left = (np.array(held.errors[200:]) for held in (with_it, without))
    assert np.sqrt(np.mean(made_up**2)) < 0.35 * np.sqrt(np.mean(left**2))
    assert made_up.max() < left.max()


# The phases

P = {name: index for index, name in enumerate(PHASES)}
DIAGRAM = {
    ("look", "approach"),
    ("look", "give up"),
    ("approach", "give up"),
    ("align", "give up"),
    ("approach", "align"),
    ("align", "push"),
    ("align", "look"),
    ("push", "seat"),
    ("push", "back out"),
    ("seat", "back out"),
    ("back out", "align"),
    ("back out", "give up"),
}
PLATE_M = Hole().depth_m
CALM = {
    "in_phase_s": 0.0,
    "planned": False,
    "sighted": True,
    "hopeless": False,
    "late": False,
    "arrived": False,
    "aligned": False,
    "strayed": False,
    "blocked": False,
    "depth_m": -0.01,
    "plate_m": PLATE_M,
    "at_gate": False,
    "attempts": 0.0,
}
DEEP, NEAR = 2.0 * phases.ENTERED_M, PLATE_M - 0.5 * phases.NEAR_PLATE_M


def following(phase, **arguments):
    found, reason = next_phase(P[phase], **{**CALM, **arguments})
    return PHASES[found], REASONS[reason]


@pytest.mark.parametrize(
    ("phase", "arguments", "follows", "why"),
    [
        ("look", {}, "look", ""),
        ("look", {"planned": True}, "approach", ""),
        ("look", {"hopeless": True}, "give up", "no way within the limits"),
        ("approach", {}, "approach", ""),
        ("approach", {"arrived": True}, "align", ""),
        ("approach", {"late": True}, "give up", "waited in vain"),
        ("align", {}, "align", ""),
        ("align", {"late": True}, "give up", "waited in vain"),
        ("align", {"aligned": True}, "push", ""),
        ("align", {"sighted": False, "aligned": True}, "look", "lost sight"),
        ("push", {}, "push", ""),
        ("push", {"depth_m": NEAR}, "seat", "in place"),
        ("push", {"depth_m": NEAR, "blocked": True}, "seat", "in place"),
        ("push", {"depth_m": DEEP, "blocked": True}, "back out", "jammed"),
        ("push", {"depth_m": 0.0, "blocked": True}, "back out", "missed the mouth"),
        ("push", {"depth_m": 0.0, "strayed": True}, "back out", "slipped off the line"),
        ("push", {"depth_m": DEEP, "strayed": True}, "push", ""),
        ("push", {"depth_m": DEEP, "in_phase_s": 1.01 * phases.SLOW_PUSH_S}, "back out", "jammed"),
        ("push", {"in_phase_s": 1.01 * phases.SLOW_PUSH_S}, "back out", "missed the mouth"),
        ("push", {"in_phase_s": 0.99 * phases.SLOW_PUSH_S}, "push", ""),
        ("seat", {"in_phase_s": 0.99 * phases.SEATED_S}, "seat", ""),
        ("seat", {"in_phase_s": 1.01 * phases.SEATED_S}, "back out", "no plate"),
        ("back out", {}, "back out", ""),
        ("back out", {"at_gate": True, "attempts": phases.MOST_ATTEMPTS - 1.0}, "align", ""),
        ("back out", {"attempts": phases.MOST_ATTEMPTS}, "back out", ""),
        (
            "back out",
            {"at_gate": True, "attempts": phases.MOST_ATTEMPTS},
            "give up",
            "tried often enough",
        ),
        ("give up", {"at_gate": False}, "give up", ""),
    ],
)
def test_every_step_from_one_phase_to_the_next(phase, arguments, follows, why):
    assert following(phase, **arguments) == (follows, why)


def reachable():
    """Every pair of phases, over all that the arguments can be on either side of each threshold."""
    either = (False, True)
    grid = itertools.product(
        (0.0, 1.01 * phases.SEATED_S, 1.01 * phases.SLOW_PUSH_S),
        either, either, either, either, either, either, either, either,
        (-0.01, DEEP, NEAR),
        (PLATE_M,),
        either,
        (0.0, float(phases.MOST_ATTEMPTS)),
    )  # fmt: skip
    for arguments in grid:
        for index, phase in enumerate(PHASES):
            if phase == "give up":
                # It is the last: the way back does not end it.
                arguments = (*arguments[:11], False, arguments[12])
            found = next_phase(index, *arguments)[0]
            if found != index:
                yield phase, PHASES[found]


def test_the_diagram_shows_what_can_happen_and_nothing_else():
    assert set(reachable()) == DIAGRAM
    top = phases.__doc__.splitlines()[2]
    shown = re.findall(r"([a-z]+) ─+[a-z ]+─*▶ (?=([a-z]+))", top)
    assert shown == [("look", "approach"), ("approach", "align"), ("align", "push"), ("push", "seat")]
    assert re.search(r"give up ◀─+ back out ◀─+", phases.__doc__)
    assert "look ──no way within the limits──▶ give up ◀──waited in vain── approach, align" in phases.__doc__
    for why in ("lost sight", "missed, jammed", "slipped", "no plate", "tried often enough"):
        assert why in phases.__doc__


# Small linear algebra, and the source's Newton steps


def test_six_equations_are_solved_as_numpy_solves_them(random):
    for _ in range(50):
        matrix, right = random.normal(size=(6, 6)), random.normal(size=(6, 3))
        # Zeros where pivots are looked for, so that rows have to be swapped.
        matrix[0, 0] = matrix[1, 1] = 0.0
        matrix[2, :2] = 0.0
        expected, untouched = np.linalg.solve(matrix, right[:, :2]), right[:, 2].copy()
        assert solve_in_place(matrix, right, 2)
        np.testing.assert_allclose(right[:, :2], expected, rtol=1e-8, atol=1e-10)
        np.testing.assert_array_equal(right[:, 2], untouched)


@pytest.mark.parametrize("rank", [0, 1, 5])
def test_a_singular_system_is_said_to_be_one(rank, random):
    matrix = random.normal(size=(6, rank)) @ random.normal(size=(rank, 6))
    assert not solve_in_place(matrix, random.normal(size=(6, 1)), 1)


def newtons(robot, pose, q):
    """Ten steps from ``q``: whether that was called solved, and where it led."""
    found = q.copy()
    said = newton_into(
        chain_of(robot), pose.position_m, pose.rotation.ravel(), found, np.zeros((4, 4)), np.zeros((6, 6)),
        np.zeros((6, 6)), np.zeros((6, 2)),
    )  # fmt: skip
    return said, found


@pytest.mark.parametrize("arm", ARMS)
def test_ten_newton_steps_come_to_what_is_near_as_the_certified_ik_does(arm, random):
    place = insertion_scene(arm)
    robot = place.scene.robot
    for _ in range(20):
        goal = np.clip(place.ready + random.uniform(-0.1, 0.1, 6), robot.lower, robot.upper)
        pose = tip_pose(robot, goal)
        said, found = newtons(robot, pose, place.ready)
        assert said
        assert tip_pose(robot, found).is_close(pose, 1e-6, 1e-6)
        certified = solve(robot, pose, seed=found).require()
        np.testing.assert_allclose(found, certified.q, atol=2e-5)


def test_a_newton_step_goes_its_share_of_the_way():
    place = insertion_scene("mini_arm")
    robot = place.scene.robot
    pose = tip_pose(robot, place.ready + 1e-3)
    left = pose_error(pose, tip_pose(robot, newtons(robot, pose, place.ready)[1])).distance_m
    whole = pose_error(pose, tip_pose(robot, place.ready)).distance_m
    # Each step leaves 1 - α of what is near.
    assert left == pytest.approx((1.0 - ALPHA) ** ITERATIONS * whole, rel=0.5)


def test_newton_says_that_it_did_not_come_to_what_is_out_of_reach():
    place = insertion_scene("mini_arm")
    far = Pose.from_rotation((3.0, 0.0, 0.5), np.eye(3))
    assert not newtons(place.scene.robot, far, place.ready)[0]


def singular_posture(robot):
    """A wrist stretched out, so that two of its axes are one: the elbow's bend is taken off the sum."""
    q = insertion_scene("mini_arm").ready.copy()
    q[4] = 0.0
    assert np.linalg.svd(jacobian(robot, q))[1][-1] < 1e-10
    return q


def test_where_the_jacobian_is_singular_the_pseudo_inverse_takes_its_place(monkeypatch):
    robot = insertion_scene("mini_arm").scene.robot
    q = singular_posture(robot)
    columns = jacobian(robot, q)
    here = tip_pose(robot, q)
    # A little way that the arm can go from there.
    pose = tip_pose(robot, q + 1e-3 * np.array([1.0, -1.0, 0.5, 0.0, 1.0, 0.0]))
    error = pose_error(pose, here)
    wanted = np.linalg.pinv(columns, rcond=1e-6) @ np.concatenate(error)
    transform, right = here.matrix(), np.zeros((6, 2))
    pseudo_inverse(6, columns, np.zeros((6, 6)), right, pose.position_m, pose.rotation.ravel(), transform)
    np.testing.assert_allclose(right[:, 0], wanted, atol=1e-6)
    said, found = newtons(robot, pose, q)
    assert said
    assert np.abs(found - q).max() < 0.01
    # One step of it in plain Python is that pseudo-inverse's and no other's.
    monkeypatch.setattr(newton, "ITERATIONS", 1)
    stepped = q.copy()
    newton_into.py_func(
        chain_of(robot), pose.position_m, pose.rotation.ravel(), stepped, np.zeros((4, 4)),
        np.zeros((6, 6)), np.zeros((6, 6)), np.zeros((6, 2)),
    )  # fmt: skip
    np.testing.assert_allclose(stepped - q, ALPHA * wanted, atol=1e-6)


def test_a_roll_is_an_angle_of_its_own():
    """ROLL, TILT and YAW are told apart, so that a box that nods is not said to roll."""
    frame, channels = np.zeros(9), np.zeros(CHANNELS)
    for channel, turn in ((YAW, (0.2, 0, 0)), (TILT, (0, 0.2, 0)), (ROLL, (0, 0, 0.2))):
        channels_into(sensor_points(MOUTH_M, box_turn(*turn)), frame, channels)
        expected = np.zeros(CHANNELS)
        expected[:YAW], expected[channel] = MOUTH_M, 0.2
        np.testing.assert_allclose(channels, expected, atol=1e-12)


def test_a_kernel_is_compiled_anew_when_one_that_it_calls_has_changed():
    """Kernels are kept on disk: every folder whose kernels others take in has to be looked at."""
    kernels = {}
    for path in PACKAGE.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        if re.search(r"^@(lean|compiled)$", text, re.MULTILINE):
            kernels[".".join(("forearm", *path.relative_to(PACKAGE).with_suffix("").parts))] = text
    taken_in = {
        module.split(".")[1]
        for module in kernels
        for other, text in kernels.items()
        if other != module and f"from {module} import" in text
    }
    assert {"kinematics", "control"} <= taken_in <= set(INLINED)
