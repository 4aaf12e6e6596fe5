"""The vibrating box and what stands round it: drives, geometry, sensors, disturbances, the live loop."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

import forearm
from forearm.control.insertion.hole import TOOL_SIZE_M, Hole, tool_in_box, tool_pose_in_box
from forearm.control.insertion.inserter import PHASE, Cell, make_inserter, nothing_said
from forearm.errors import InvalidInput, UnknownName
from forearm.ik.solve import solve
from forearm.kinematics.forward import tip_pose
from forearm.robots.tooled import TOOL_KG, with_square_tool
from forearm.sim.disturbance import Disturbance, disturbed
from forearm.sim.hole_sensing import HoleSensing, HoleSensor
from forearm.sim.insertion import (
    READINGS,
    READY_M,
    SUBSTEPS,
    TICK_S,
    WORKPLACES,
    insertion_scene,
    tool_geom,
)
from forearm.sim.live import SETTLE_S, run_live
from forearm.sim.loop import CHUNK, RUNAWAY_RAD
from forearm.sim.vibrating_box import (
    AMPLITUDE_M,
    BACK,
    FREQUENCY_HZ,
    JOINTS,
    MOST_DIFFICULT,
    OUTER_M,
    PLATE,
    SENSORS,
    TILT_RAD,
    WALLS,
    YAW_RAD,
    Vibration,
    add_box,
)
from forearm.spatial import Pose, rotation_exp, rotation_x, rotation_y, rotation_z
from forearm.tasks._insertion_record import MOST_SINK_M

ARMS = tuple(WORKPLACES)
SOURCE_KP, SOURCE_KD = 750.0, 30.0
TOLD_MM, TOLD_PLAY_MM, TOLD_DEPTH_MM = 32.0, 1.0, 50.0


def rotation_of(yaw, tilt):
    return rotation_z(yaw) @ rotation_y(tilt)


def sensor_points(mouth, joints):
    """Where the four sensors are for the box's four joints."""
    s, (x, y, yaw, tilt) = Hole().sensor_m, joints
    corners = np.array([[0.0, -s, -s], [0.0, s, -s], [0.0, s, s], [0.0, -s, s]])
    in_mouth = np.array([x, y, 0.0]) + corners @ rotation_of(yaw, tilt).T
    return mouth.transform_points(in_mouth).ravel()


# The box's motion


def test_the_drives_are_told_the_laws_of_the_source():
    vibration = Vibration(0.7, 0.4, -1.0, 1.1, 2.2)
    times = np.linspace(0.0, 3.0, 101)
    angle = 2.0 * np.pi * (FREQUENCY_HZ * 0.7) * times + 0.4
    expected = np.column_stack(
        [
            -AMPLITUDE_M * 0.7 * np.sin(angle),
            AMPLITUDE_M * 0.7 * np.cos(angle),
            YAW_RAD * 0.7 * np.sin(angle + 1.1),
            TILT_RAD * 0.7 * np.sin(angle + 2.2),
        ]
    )
    np.testing.assert_allclose(vibration.told(times), expected, atol=1e-12)
    assert (AMPLITUDE_M, FREQUENCY_HZ) == (0.1, 2.0)
    np.testing.assert_allclose(np.degrees([YAW_RAD, TILT_RAD]), [10.0, 5.0])


def shaken(vibration, seconds, model=None):
    """The box's joints at every tick (n, 4), begun as settled, the arm standing where it waits."""
    place = insertion_scene("mini_arm")
    model = place.scene.model if model is None else model
    data, ticks = mujoco.MjData(model), round(seconds / TICK_S)
    # Nothing is touched: this is about the drives.
    disable = model.opt.disableflags
    model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONTACT)
    data.qpos[6:], data.qvel[6:] = vibration.settled()
    told, joints = vibration.told(TICK_S * np.arange(ticks)), np.empty((ticks, 4))
    for tick in range(ticks):
        joints[tick] = data.qpos[6:]
        data.qpos[:6], data.qvel[:6], data.ctrl[6:] = place.ready, 0.0, told[tick]
        mujoco.mj_step(model, data, SUBSTEPS)
    model.opt.disableflags = disable
    return joints


@pytest.mark.parametrize("difficulty", [0.1, 0.5, 0.9, 1.5])
def test_the_box_begins_as_it_goes_on(difficulty):
    vibration = Vibration.drawn(difficulty, np.random.default_rng(7))
    joints = shaken(vibration, 2.0)
    omega, waves = 2.0 * np.pi * vibration.frequency_hz, vibration.settled_waves()
    times = TICK_S * np.arange(len(joints))

    def off(late_s):
        settled = np.exp(1j * omega * (times - late_s))[:, None] * waves
        return np.abs(joints - settled.imag)

    # The drives hold what they are told for a tick, so that on the average they are half a tick late.
    held = 0.5 * TICK_S * omega * np.abs(waves)
    assert (off(0.0).max(axis=0) < 1.2 * held + [5e-5, 5e-5, 1e-4, 1e-4]).all()
    late = off(0.5 * TICK_S)[times > 0.5]
    assert late[:, :2].max() < 2e-4
    assert late[:, 2:].max() < np.radians(0.02)
    # Begun from rest it would not be: the start is what makes it so.
    assert np.linalg.norm(vibration.settled()[1][:2]) > 0.05 * difficulty


@pytest.mark.parametrize("seed", range(3))
def test_at_a_high_difficulty_the_box_really_turns(seed):
    joints = shaken(Vibration.drawn(0.9, np.random.default_rng(seed)), 1.2)
    assert np.degrees(np.ptp(joints[:, 2])) / 2.0 >= 8.0
    assert np.degrees(np.ptp(joints[:, 3])) / 2.0 >= 4.0
    # And swings at least as far as it is told to, at 1.8 Hz.
    assert (np.ptp(joints[:, :2], axis=0) / 2.0 >= 0.85 * AMPLITUDE_M * 0.9).all()
    crossings = np.flatnonzero(np.diff(np.sign(joints[:, 0])) > 0)
    assert np.diff(crossings).mean() * TICK_S == pytest.approx(1.0 / (FREQUENCY_HZ * 0.9), rel=0.01)


def test_the_slides_drives_are_the_sources():
    place = insertion_scene("mini_arm")
    model, data = place.scene.model, mujoco.MjData(place.scene.model)
    data.qpos[:6] = place.ready
    data.qpos[6:], data.qvel[6:], data.ctrl[6:] = (0.01, -0.02, 0.0, 0.0), (0.3, 0.4, 0.0, 0.0), 0.05
    mujoco.mj_forward(model, data)
    drives = [model.actuator(name).id for name in JOINTS[:2]]
    wanted = SOURCE_KP * (0.05 - np.array([0.01, -0.02])) - SOURCE_KD * np.array([0.3, 0.4])
    np.testing.assert_allclose(data.actuator_force[drives], wanted, rtol=1e-12)
    assert not model.actuator_forcelimited[drives].any()


def test_a_steady_push_moves_the_box_by_what_the_slides_stiffness_allows():
    place = insertion_scene("mini_arm")
    model, data = place.scene.model, mujoco.MjData(place.scene.model)
    data.xfrc_applied[model.body("box").id, :2] = 15.0, -7.5
    for _ in range(round(0.6 / TICK_S)):
        data.qpos[:6], data.qvel[:6] = place.ready, 0.0
        mujoco.mj_step(model, data, SUBSTEPS)
    np.testing.assert_allclose(data.qpos[6:8], [15.0 / SOURCE_KP, -7.5 / SOURCE_KP], rtol=0.01)


def test_motions_differ_by_seed_and_are_equal_for_equal_seeds():
    drawn = [Vibration.drawn(0.5, np.random.default_rng(seed)) for seed in (*range(12), *range(12))]
    assert drawn[:12] == drawn[12:]
    assert len({vibration.phase_rad for vibration in drawn}) == 12
    assert len({vibration.yaw_phase_rad for vibration in drawn}) == 12
    assert len({vibration.tilt_phase_rad for vibration in drawn}) == 12
    assert {vibration.direction for vibration in drawn} == {-1.0, 1.0}


@pytest.mark.parametrize("difficulty", [-1.0, -1e-9, MOST_DIFFICULT + 1e-9, np.nan, np.inf])
def test_a_difficulty_that_cannot_be_is_refused(difficulty):
    with pytest.raises(InvalidInput, match="difficulty"):
        Vibration(difficulty)


@pytest.mark.parametrize("play_m", [0.0, -1e-3, 0.02, np.nan])
def test_a_play_that_cannot_be_is_refused(play_m):
    with pytest.raises(InvalidInput, match="play"):
        Hole(play_m)


# Geometry


class Bench:
    """The box, and a tool of the arm's size that floats before it, both free of gravity."""

    def __init__(self):
        spec = mujoco.MjSpec()
        spec.option.timestep = TICK_S / SUBSTEPS
        spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
        spec.option.gravity = [0.0, 0.0, 0.0]
        add_box(spec, Pose.identity(), Hole())
        tool = spec.worldbody.add_body(name="tool")
        tool.add_freejoint()
        tool.add_geom(
            name="tool", type=mujoco.mjtGeom.mjGEOM_BOX, size=[0.5 * each for each in TOOL_SIZE_M], mass=0.2
        )
        self.model = spec.compile()
        self.data = mujoco.MjData(self.model)

    def put(self, end: Pose):
        """The tool with its end there, and all forces worked out."""
        middle = end @ Pose((0.0, 0.0, -0.5 * TOOL_SIZE_M[2]))
        self.data.qpos[4:7], self.data.qpos[7:] = middle.position_m, middle.quaternion_wxyz
        mujoco.mj_forward(self.model, self.data)

    @property
    def touched(self) -> set[str]:
        """The box's parts that are in contact."""
        names = {
            self.model.geom(int(geom)).name
            for contact in self.data.contact
            for geom in (contact.geom1, contact.geom2)
        }
        return names - {"tool"}

    @property
    def sunk_m(self) -> float:
        return -min((float(contact.dist) for contact in self.data.contact), default=0.0)

    def push(self, force, seconds=0.4):
        """Let the tool be pushed while the slides' drives push as hard against it; how deep it ever sank."""
        self.data.ctrl[:2] = -np.array(force[:2]) / SOURCE_KP
        self.data.xfrc_applied[self.model.body("tool").id, :3] = force
        sunk = 0.0
        for _ in range(round(seconds / self.model.opt.timestep)):
            # The tool is guided, as by an arm: it keeps its direction.
            self.data.qvel[7:] = 0.0
            mujoco.mj_step(self.model, self.data)
            sunk = max(sunk, self.sunk_m)
        return sunk


@pytest.fixture(scope="module")
def bench():
    return Bench()


def beside(depth_m, y_m, z_m, quarter=0):
    """The tool's end in the box: past the mouth and off the axis."""
    turn = tool_in_box() @ rotation_z(0.5 * np.pi * quarter)
    return Pose.from_rotation((depth_m, y_m, z_m), turn)


OFFSETS = [(1.0, 0.0), (-1.0, 0.0), (0.0, 1.0), (0.0, -1.0), (1.0, 1.0), (-1.0, 1.0)]


@pytest.mark.parametrize("quarter", range(4))
def test_the_hole_takes_the_tool_with_a_millimetre_of_play_and_no_more(bench, quarter):
    assert TOOL_SIZE_M[0] == TOOL_SIZE_M[1] == pytest.approx(1e-3 * (TOLD_MM - 2.0 * TOLD_PLAY_MM))
    for depth_mm in (0.0, 1.0, 10.0, 25.0, 40.0, TOLD_DEPTH_MM - 1.0):
        for y, z in OFFSETS:
            bench.put(beside(1e-3 * depth_mm, 0.95e-3 * y, 0.95e-3 * z, quarter))
            assert bench.touched == set(), (depth_mm, y, z)
            bench.put(beside(1e-3 * depth_mm + 1e-4, 1.1e-3 * y, 1.1e-3 * z, quarter))
            assert bench.touched
            assert bench.touched <= set(WALLS)
            assert bench.sunk_m == pytest.approx(1e-4, rel=0.1)


def test_the_plate_lies_where_the_drawing_says(bench):
    bench.put(beside(1e-3 * TOLD_DEPTH_MM - 1e-5, 0.0, 0.0))
    assert bench.touched == set()
    bench.put(beside(1e-3 * TOLD_DEPTH_MM + 1e-5, 0.0, 0.0))
    assert bench.touched == {PLATE}


def test_before_the_hole_the_face_is_solid(bench):
    for y in np.linspace(-OUTER_M, OUTER_M, 13):
        for z in np.linspace(-OUTER_M, OUTER_M, 13):
            bench.put(beside(1e-4, y, z))
            inside = max(abs(y), abs(z)) < 1e-3
            assert bool(bench.touched) is not inside
            assert PLATE not in bench.touched


def test_the_plate_cannot_be_touched_but_through_the_hole(bench, random):
    """Led straight to the plate from anywhere, the tool meets something else first."""
    plate, met = np.array([Hole().depth_m, 0.0, 0.0]), set()
    for _ in range(120):
        way = random.normal(size=3)
        way /= np.linalg.norm(way)
        turn = rotation_exp(random.uniform(-np.pi, np.pi, 3))
        for left_m in np.arange(0.2, 0.0, -1e-3):
            bench.put(Pose.from_rotation(plate + left_m * way, turn))
            if bench.touched:
                break
        assert bench.touched
        assert PLATE not in bench.touched
        met |= bench.touched
    assert met == {*WALLS, BACK}


@pytest.mark.parametrize("way", [rotation_y(np.pi), rotation_z(np.pi / 2), rotation_z(-np.pi / 2)], ids=str)
def test_pushed_from_behind_and_from_the_sides_the_plate_says_nothing(way):
    bench = Bench()
    # The tool's axis along the box's, turned about the plate.
    inwards, plate = way @ np.array([1.0, 0.0, 0.0]), np.array([Hole().depth_m, 0.0, 0.0])
    turn = way @ tool_in_box()
    for left_m in np.arange(0.2, 0.0, -1e-4):
        bench.put(Pose.from_rotation(plate - left_m * inwards, turn))
        if bench.touched:
            break
    assert bench.touched
    bench.push(200.0 * inwards, 0.05)
    assert bench.touched
    assert PLATE not in bench.touched


@pytest.mark.parametrize(
    ("depth_m", "force"),
    [(Hole().depth_m, (200.0, 0.0, 0.0)), (0.04, (0.0, 200.0, 0.0)), (0.04, (0.0, -200.0, 0.0))],
    ids=["plate", "right wall", "left wall"],
)
def test_a_steady_push_of_200_n_sinks_in_by_less_than_is_allowed(depth_m, force):
    bench = Bench()
    offset_m = 1e-3 * np.sign(force[1])
    bench.put(beside(depth_m, offset_m, 0.0))
    sunk = bench.push(force)
    assert sunk <= MOST_SINK_M
    assert bench.touched == {PLATE if force[0] else WALLS[3] if force[1] > 0.0 else WALLS[2]}
    # It was held there, and did push.
    pressed = sum(contact_force(bench, index)[0] for index in range(bench.data.ncon))
    assert pressed == pytest.approx(200.0, rel=0.05)


def contact_force(bench, index):
    force = np.zeros(6)
    mujoco.mj_contactForce(bench.model, bench.data, index, force)
    return force


# The scenes


@pytest.mark.parametrize("arm", ARMS)
def test_the_arm_waits_before_the_mouth_and_holds_the_tool(arm):
    place = insertion_scene(arm)
    robot, model = place.scene.robot, place.scene.model
    wanted = place.mouth @ tool_pose_in_box(-READY_M)
    assert tip_pose(robot, place.ready).is_close(wanted, 1e-6, 1e-6)
    tool = model.geom(tool_geom(robot))
    assert tool.type[0] == mujoco.mjtGeom.mjGEOM_BOX
    np.testing.assert_allclose(tool.size, 0.5 * np.array(TOOL_SIZE_M), atol=1e-12)
    data = mujoco.MjData(model)
    data.qpos[:6] = place.ready
    mujoco.mj_forward(model, data)
    # The tool's far end is the tip: half its length before the geom's middle, along its axis.
    end = (
        data.geom(tool_geom(robot)).xpos
        + 0.5 * TOOL_SIZE_M[2] * data.geom(tool_geom(robot)).xmat.reshape(3, 3)[:, 2]
    )
    base = robot.base_in_world
    np.testing.assert_allclose(end, base.transform_points(wanted.position_m), atol=1e-6)
    assert data.ncon == 0
    assert [model.joint(6 + index).name for index in range(4)] == list(JOINTS)
    assert place.scene.dt_s == TICK_S / SUBSTEPS


@pytest.mark.parametrize("arm", ARMS)
def test_the_scenes_own_sensors_tell_of_the_tool_in_the_hole(arm):
    place = insertion_scene(arm)
    robot, model, data = place.scene.robot, place.scene.model, mujoco.MjData(place.scene.model)
    joints = (0.02, -0.03, 0.1, -0.05)
    moved = place.mouth @ Pose.from_rotation((*joints[:2], 0.0), rotation_of(*joints[2:]))

    def told(in_box):
        data.qpos[:6] = solve(robot, moved @ in_box, seed=place.ready).require().q
        data.qpos[6:] = joints
        mujoco.mj_forward(model, data)
        sensed = data.sensordata
        return sensed[place.plate_force][0] > 0, sensed[place.tool_force][0] > 0, sensed[place.deepest]

    for depth_m in (0.0, 0.02, 0.049):
        assert told(beside(depth_m, 0.9e-3, -0.9e-3))[:2] == (False, False)
        plate, tool, deepest = told(beside(depth_m + 1e-4, 1.1e-3, 0.0))
        assert (plate, tool) == (False, True)
        assert deepest == pytest.approx(-1e-4, abs=2e-5)
    plate, tool, deepest = told(beside(Hole().depth_m + 5e-5, 0.0, 0.0))
    assert (plate, tool) == (True, True)
    assert deepest == pytest.approx(-5e-5, abs=1e-5)
    points = sensor_points(place.mouth, joints)
    np.testing.assert_allclose(data.sensordata[:READINGS], points, atol=1e-9)
    assert [model.sensor(index).name for index in range(4)] == list(SENSORS)


def test_play_makes_the_hole_wider_and_nothing_else():
    narrow, wide = insertion_scene("mini_arm"), insertion_scene("mini_arm", 2e-3)
    assert wide.hole.half_width_m - narrow.hole.half_width_m == pytest.approx(1e-3)
    for name in (*WALLS, PLATE, BACK):
        one, other = narrow.scene.model.geom(name), wide.scene.model.geom(name)
        assert np.array_equal(one.size, other.size) is (name == BACK)
    for field in ("body_mass", "actuator_gainprm", "actuator_forcerange", "dof_frictionloss"):
        one, other = getattr(narrow.scene.model, field), getattr(wide.scene.model, field)
        np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(narrow.ready, wide.ready)


def test_an_arm_that_has_no_place_is_refused_by_name():
    with pytest.raises(UnknownName, match="mini_arm"):
        insertion_scene("panda")


def test_a_square_tool_in_the_hand_weighs_and_reaches(arms):
    bare, size_m = arms["ur5e"], (0.02, 0.03, 0.1)
    held = with_square_tool(bare, size_m)
    q = bare.home
    moved = tip_pose(bare, q) @ Pose((0.0, 0.0, size_m[2]))
    assert tip_pose(held, q).is_close(moved, 1e-12, 1e-12)
    link = bare.tip_frame.link

    def of(robot):
        return next(each for each in robot.held_tree.links if each.name == link)

    before, after = of(bare).inertial, of(held).inertial
    assert after.mass_kg - before.mass_kg == pytest.approx(TOOL_KG)
    middle = (bare.tip_frame.pose @ Pose((0.0, 0.0, 0.5 * size_m[2]))).position_m
    center = (before.mass_kg * before.center_of_mass_m + TOOL_KG * middle) / after.mass_kg
    np.testing.assert_allclose(after.center_of_mass_m, center, atol=1e-12)
    assert len(of(held).shapes) == len(of(bare).shapes) + 1
    others = {each.name: each for each in bare.held_tree.links}
    assert all(each is others[each.name] for each in held.held_tree.links if each.name != link)


# Sensing


def sensed(ticks=4000, **options):
    """What arrives of four sensors that are at (tick, 0, 0, ...)."""
    sensor = HoleSensor(HoleSensing(**options))
    positions = np.zeros(READINGS)
    rows = []
    for tick in range(ticks):
        positions[0] = tick
        rows.append(sensor.observe(positions).copy())
    return np.array(rows)


def test_noise_is_as_wide_as_declared_in_every_coordinate_and_of_no_colour():
    rows = sensed(noise_m=2e-3, seed=1)
    noise = rows - np.outer(np.arange(len(rows)), np.eye(READINGS)[0])
    np.testing.assert_allclose(noise.std(axis=0), 2e-3, rtol=0.05)
    np.testing.assert_allclose(noise.mean(axis=0), 0.0, atol=1.5e-4)
    assert np.abs(np.corrcoef(noise.T) - np.eye(READINGS)).max() < 0.08
    assert abs(np.corrcoef(noise[1:, 3], noise[:-1, 3])[0, 1]) < 0.08


@pytest.mark.parametrize(("delay", "stale"), [(0, 0), (7, 0), (0, 5), (7, 5)])
def test_a_reading_arrives_as_late_as_it_does(delay, stale):
    rows = sensed(ticks=100, delay_ticks=delay, stale_ticks=stale)
    late = delay + stale
    assert np.isnan(rows[:late]).all()
    np.testing.assert_array_equal(rows[late:, 0], np.arange(100 - late))


def test_as_many_readings_are_lost_as_declared_and_wholly():
    lost = np.isnan(sensed(dropout=0.3, seed=2))
    assert lost.all(axis=1).mean() == pytest.approx(0.3, abs=0.03)
    assert (lost.all(axis=1) == lost.any(axis=1)).all()


def test_chance_is_the_seeds():
    options = {"noise_m": 1e-3, "dropout": 0.2, "ticks": 1200}
    np.testing.assert_array_equal(sensed(seed=3, **options), sensed(seed=3, **options))
    assert not np.array_equal(sensed(seed=3, **options), sensed(seed=4, **options), equal_nan=True)


@pytest.mark.parametrize(
    "options", [{"noise_m": np.nan}, {"noise_m": -1e-3}, {"dropout": 1.0}, {"dropout": np.nan}], ids=str
)
def test_sensing_that_cannot_be_is_refused(options):
    with pytest.raises(InvalidInput):
        HoleSensing(**options)


# Disturbances

FIELDS = (
    "body_mass",
    "body_inertia",
    "body_ipos",
    "dof_frictionloss",
    "dof_damping",
    "actuator_gainprm",
    "actuator_biasprm",
    "actuator_forcerange",
    "geom_size",
    "geom_friction",
    "geom_solref",
    "geom_solimp",
    "jnt_range",
    "jnt_stiffness",
)


@pytest.mark.parametrize("arm", ARMS)
@pytest.mark.parametrize(
    ("disturbance", "changed"),
    [
        (Disturbance(), set()),
        (Disturbance(mass=0.1), {"body_mass", "body_inertia"}),
        (Disturbance(friction_nm=0.5), {"dof_frictionloss"}),
        (Disturbance(gain=0.1), {"actuator_gainprm"}),
        (Disturbance(effort=0.2), {"actuator_forcerange"}),
        (Disturbance(payload=0.1), {"body_mass", "body_inertia", "body_ipos"}),
    ],
    ids=["nothing", "mass", "friction", "gain", "effort", "payload"],
)
def test_a_disturbance_changes_what_it_says_of_the_arm_and_nothing_of_the_box(arm, disturbance, changed):
    scene = insertion_scene(arm).scene
    real, believed = disturbed(scene, disturbance), scene.model
    differs = {name for name in FIELDS if not np.array_equal(getattr(real, name), getattr(believed, name))}
    assert differs == changed
    rows = {
        "body": [real.body("box").id],
        "dof": [real.joint(name).dofadr[0] for name in JOINTS],
        "actuator": [real.actuator(name).id for name in JOINTS],
    }
    for name in sorted(changed):
        box = rows[name.split("_")[0]]
        np.testing.assert_array_equal(getattr(real, name)[box], getattr(believed, name)[box])


def test_a_disturbance_is_as_large_as_it_says():
    scene = insertion_scene("mini_arm").scene
    links = [scene.model.body(link.name).id for link in scene.robot.held_tree.links[1:]]
    moving = [body for body in links if scene.model.body_mass[body] > 0.0 and scene.model.body_weldid[body]]
    heavy = disturbed(scene, Disturbance(mass=0.1))
    np.testing.assert_allclose(heavy.body_mass[moving], 1.1 * scene.model.body_mass[moving])
    np.testing.assert_allclose(heavy.body_inertia[moving], 1.1 * scene.model.body_inertia[moving])
    assert heavy.body_mass[moving].sum() > 1.0
    weak = disturbed(scene, Disturbance(effort=0.2, gain=-0.1, friction_nm=0.5))
    np.testing.assert_allclose(weak.actuator_forcerange[:6, 1], 0.2 * scene.robot.max_effort)
    np.testing.assert_allclose(weak.actuator_gainprm[:6, 0], 0.9)
    np.testing.assert_allclose(weak.dof_frictionloss[:6] - scene.model.dof_frictionloss[:6], 0.5)


# The live loop


class Listener:
    """A controller that holds the arm by a stiff spring, and keeps all that it is told."""

    phases = ("hold",)

    def __init__(self, place):
        self.place, self.said = place, nothing_said(6)
        self.told, self.calls = [], 0

    def step(self, now_s, stamp_s, q, qd, points, out):
        self.told.append((now_s, stamp_s, q.copy(), qd.copy(), points.copy()))
        out[:] = 400.0 * (self.place.ready - q) - 20.0 * qd
        self.said[-1] = self.calls
        self.calls += 1


def listened(difficulty=0.5, ticks=900, sensing=None, delay_ticks=0, inserter=None, drive=None, **options):
    place = insertion_scene("mini_arm")
    vibration = Vibration.drawn(difficulty, np.random.default_rng(3))
    inserter = inserter or Listener(place)
    recording = run_live(
        place,
        place.scene.model,
        inserter,
        place.ready,
        vibration.settled(),
        drive or vibration.told,
        most_ticks=ticks,
        sensor=None if sensing is None else HoleSensor(sensing),
        delay_s=delay_ticks * TICK_S,
        **options,
    )
    return inserter, recording


@pytest.mark.parametrize("delay", [0, 1, 40])
def test_a_reading_is_the_boxs_true_pose_at_its_stamp(delay):
    """The engine's step is q' = q + h q̇', so that the state a step ago is q' - h q̇'."""
    sensing = HoleSensing(delay_ticks=delay) if delay else None
    inserter, recording = listened(0.9, 700, sensing, delay)
    place = insertion_scene("mini_arm")
    old = place.scene.dt_s
    for tick in (delay + 1, delay + 13, 300, 699):
        now, stamp, q, qd, points = inserter.told[tick]
        then = round((stamp + old) / TICK_S)
        assert now == pytest.approx(tick * TICK_S)
        assert stamp == pytest.approx((tick - delay) * TICK_S - old, abs=1e-12)
        assert then == tick - delay
        joints = recording.qpos[then, 6:] - old * recording.qvel[then, 6:]
        np.testing.assert_allclose(points, sensor_points(place.mouth, joints), atol=1e-9)
        np.testing.assert_array_equal(points, recording.points[tick])
        np.testing.assert_array_equal(q, recording.qpos[tick, :6])
        np.testing.assert_array_equal(qd, recording.qvel[tick, :6])
        # Half a tick beside its stamp it would be elsewhere: the box moves.
        late = recording.qpos[then, 6:] - (old + 0.5 * TICK_S) * recording.qvel[then, 6:]
        assert np.abs(points - sensor_points(place.mouth, late)).max() > 1e-5
    for tick in range(delay):
        assert np.isnan(inserter.told[tick][4]).all()


def test_a_stale_reading_says_that_it_is_fresh():
    inserter, recording = listened(0.9, 300, HoleSensing(stale_ticks=100))
    place = insertion_scene("mini_arm")
    _, stamp, _, _, points = inserter.told[250]
    assert stamp == pytest.approx(250 * TICK_S - place.scene.dt_s)
    joints = recording.qpos[150, 6:] - place.scene.dt_s * recording.qvel[150, 6:]
    np.testing.assert_allclose(points, sensor_points(place.mouth, joints), atol=1e-9)


@pytest.mark.parametrize("ticks", [1, CHUNK, CHUNK + 1, 2 * CHUNK + 7])
def test_every_chunk_is_told_once_and_a_row_is_of_its_own_tick(ticks):
    chunks = []
    inserter, recording = listened(ticks=ticks, on_chunk=lambda first, said: chunks.append((first, said)))
    assert len(recording) == ticks == inserter.calls == len(recording.step_ns)
    assert [first for first, _ in chunks] == list(range(0, ticks, CHUNK))
    np.testing.assert_array_equal(np.concatenate([said for _, said in chunks]), recording.said)
    np.testing.assert_array_equal(recording.said[:, -1], np.arange(ticks))
    assert recording.touched is None
    assert not recording.diverged
    wanted = (
        400.0 * (insertion_scene("mini_arm").ready - recording.qpos[:, :6]) - 20.0 * recording.qvel[:, :6]
    )
    np.testing.assert_allclose(recording.command[:, :6], wanted, atol=1e-9)


def inserting(place):
    return make_inserter("predictive", Cell(place.scene.plant, place.hole, TICK_S))


@pytest.mark.parametrize("difficulty", [0.0, 0.5])
def test_the_loop_ends_a_little_after_the_touch(difficulty):
    chunks = []
    _, recording = listened(
        difficulty,
        6000,
        inserter=inserting(insertion_scene("mini_arm")),
        on_chunk=lambda first, said: chunks.append((first, len(said))),
    )
    plate = recording.sensors[:, insertion_scene("mini_arm").plate_force][:, 0] > 0.0
    # A row's sensors are of the tick before.
    assert recording.touched is not None
    assert np.argmax(plate) == recording.touched + 1
    assert not plate[: recording.touched + 1].any()
    assert len(recording) == recording.touched + round(SETTLE_S / TICK_S)
    ends = np.cumsum([length for _, length in chunks])
    assert [first for first, _ in chunks] == [0, *ends[:-1]]
    assert ends[-1] == len(recording)


def test_what_runs_away_is_caught_and_ends_the_loop(capfd):
    _, recording = listened(
        ticks=20 * CHUNK, drive=lambda times: np.full((len(times), 4), 1e9 * (times.max() > 0.3))
    )
    assert recording.diverged
    assert len(recording) < 20 * CHUNK
    assert len(recording) % CHUNK == 0
    assert (np.abs(recording.qpos[:-CHUNK]) < RUNAWAY_RAD).all()
    assert capfd.readouterr() == ("", "")


def test_the_loop_ends_with_the_chunk_in_which_the_controller_gives_up():
    class GivesUp(Listener):
        phases = ("hold", "give up")

        def step(self, *arguments):
            super().step(*arguments)
            self.said[PHASE] = 1.0 if self.calls > 650 else 0.0

    place = insertion_scene("mini_arm")
    assert len(listened(ticks=5 * CHUNK, inserter=GivesUp(place), last_phase=1)[1]) == 2 * CHUNK
    assert len(listened(ticks=5 * CHUNK, inserter=GivesUp(place))[1]) == 5 * CHUNK


class Blind:
    """Sensors from which nothing arrives."""

    points = np.full(READINGS, np.nan)

    def observe(self, positions):
        return self.points


class Elsewhere:
    """Sensors that tell of a box that stands still."""

    def __init__(self):
        self.points = sensor_points(insertion_scene("mini_arm").mouth, (0.03, 0.02, 0.1, 0.05))

    def observe(self, positions):
        return self.points


@pytest.mark.parametrize("name", ["predictive", "direct", "baseline"])
@pytest.mark.parametrize("sensor", [Blind, Elsewhere])
def test_what_a_controller_knows_of_the_box_is_what_the_sensors_say(name, sensor):
    """Two boxes that move differently are one to it, as long as neither is touched."""
    place = insertion_scene("mini_arm")
    rows = []
    for seed in (0, 1):
        vibration = Vibration.drawn(0.3, np.random.default_rng(seed))
        inserter = make_inserter(name, Cell(place.scene.plant, place.hole, TICK_S))
        recording = run_live(
            place, place.scene.model, inserter, place.ready, vibration.settled(), vibration.told,
            most_ticks=150, sensor=sensor(),
        )  # fmt: skip
        assert not recording.sensors[:, place.tool_force].any()
        rows.append(recording)
    assert not np.array_equal(rows[0].qpos[:, 6:], rows[1].qpos[:, 6:])
    np.testing.assert_array_equal(rows[0].command[:, :6], rows[1].command[:, :6])
    np.testing.assert_array_equal(rows[0].said[:, PHASE], rows[1].said[:, PHASE])
    assert np.isfinite(rows[0].command).all()


def test_a_cell_takes_six_joints():
    scene = insertion_scene("mini_arm").scene
    assert Cell(scene.plant, Hole(), TICK_S).ik_slack_m == 0.0
    from forearm.sim.scene import build_scene

    with pytest.raises(InvalidInput, match="six"):
        Cell(build_scene(forearm.load("two_link"), "motor").plant, Hole(), TICK_S)


def test_the_tools_axis_is_the_boxs(random):
    """The tool's z axis points into the hole, and a quarter turn about it leaves it in place."""
    np.testing.assert_allclose(tool_in_box()[:, 2], [1.0, 0.0, 0.0], atol=1e-12)
    np.testing.assert_allclose((tool_in_box() @ rotation_z(1.0))[:, 2], [1.0, 0.0, 0.0], atol=1e-12)
    assert not np.allclose((rotation_x(0.1) @ rotation_z(0.2))[:, 0], [1.0, 0.0, 0.0])
