"""The scene of the insertion: an arm with motors, a square tool in its hand, and the vibrating box."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import mujoco
import numpy as np

from forearm.control.insertion.hole import TOOL_SIZE_M, Hole, tool_pose_in_box
from forearm.control.plant import ActuatorKind
from forearm.errors import unknown_unless_in
from forearm.ik.solve import solve
from forearm.robots.load import load
from forearm.robots.robot import Robot
from forearm.robots.tooled import with_square_tool
from forearm.sim.scene import Scene, read_plant, scene_spec
from forearm.sim.vibrating_box import BODY, PLATE, add_box
from forearm.spatial import Array, Pose

TICK_S = 0.0005
"""A controller's tick."""
SUBSTEPS = 8
"""Physics steps in a tick: blows at metres a second want short ones."""
READY_M = 0.15
"""The arm waits with the tool so far before the mouth."""
READINGS = 12
"""Numbers of the four position sensors, first in ``sensordata``."""
PLATE_SENSOR, TOOL_SENSOR, DEEPEST_SENSOR = "plate_force", "tool_force", "deepest"


@dataclass(frozen=True, eq=False, slots=True)
class Workplace:
    """Where the box stands for an arm, and how the arm stands before it."""

    robot: Callable[[], Robot]
    mouth_in_base: Pose
    seed_deg: tuple[float, ...]
    """A posture near the one in which the arm waits, before the trial, with the tool pointing at the box."""


WORKPLACES = {
    "mini_arm": Workplace(
        lambda: load("mini_arm"), Pose((0.53, 0.0, 0.355)), (0.0, -90.0, 60.0, 0.0, -60.0, -180.0)
    ),
    "ur5e": Workplace(
        lambda: with_square_tool(load("ur5e"), TOOL_SIZE_M),
        Pose((0.7, 0.1333, 0.4)),
        (180.0, -105.0, 110.0, -5.0, 90.0, -90.0),
    ),
}


@dataclass(frozen=True, eq=False, slots=True)
class InsertionScene:
    """``scene`` is the arm's: its robot, the whole model, and the plant that controllers believe in.

    The arm's joints come first in every vector, the box's four after them.
    """

    scene: Scene
    hole: Hole
    mouth: Pose
    ready: Array
    plate_force: slice
    """Where ``sensordata`` tells of the tool on the plate: contacts, force (3)."""
    tool_force: slice
    """The same of the tool on any part of the box."""
    deepest: int
    """Where it tells how near the tool's surface is to the box's; negative is inside."""


@lru_cache(maxsize=8)
def insertion_scene(arm: str, play_m: float = Hole().play_m) -> InsertionScene:
    """The scene as it is believed to be."""
    unknown_unless_in("arm for the insertion", arm, tuple(WORKPLACES))
    place, hole = WORKPLACES[arm], Hole(play_m)
    robot = place.robot()
    spec = scene_spec(robot, ActuatorKind.MOTOR, dt_s=TICK_S / SUBSTEPS)
    add_box(spec, place.mouth_in_base, hole)
    tool = tool_geom(robot)
    geom, body = mujoco.mjtObj.mjOBJ_GEOM, mujoco.mjtObj.mjOBJ_BODY
    add_contact_sensor(spec, PLATE_SENSOR, tool, (geom, PLATE), ("FOUND", "FORCE"), NET_FORCE)
    add_contact_sensor(spec, TOOL_SENSOR, tool, (body, BODY), ("FOUND", "FORCE"), NET_FORCE)
    add_contact_sensor(spec, DEEPEST_SENSOR, tool, (body, BODY), ("DIST",), NEAREST)
    model = spec.compile()
    addresses = {name: int(model.sensor(name).adr[0]) for name in (PLATE_SENSOR, TOOL_SENSOR, DEEPEST_SENSOR)}
    return InsertionScene(
        scene=Scene(robot, model, read_plant(robot, model), ()),
        hole=hole,
        mouth=place.mouth_in_base,
        ready=solve(robot, place.mouth_in_base @ tool_pose_in_box(-READY_M), seed=np.radians(place.seed_deg))
        .require()
        .q,
        plate_force=slice(addresses[PLATE_SENSOR], addresses[PLATE_SENSOR] + 4),
        tool_force=slice(addresses[TOOL_SENSOR], addresses[TOOL_SENSOR] + 4),
        deepest=addresses[DEEPEST_SENSOR],
    )


NEAREST, NET_FORCE = 1, 3
"""How MuJoCo's contact sensor makes one of many contacts."""


def add_contact_sensor(
    spec: mujoco.MjSpec,
    name: str,
    tool: str,
    other: tuple[mujoco.mjtObj, str],
    fields: tuple[str, ...],
    reduce: int,
) -> None:
    bits = sum(1 << int(getattr(mujoco.mjtConDataField, f"mjCONDATA_{field}")) for field in fields)
    spec.add_sensor(
        name=name,
        type=mujoco.mjtSensor.mjSENS_CONTACT,
        objtype=mujoco.mjtObj.mjOBJ_GEOM,
        objname=tool,
        reftype=other[0],
        refname=other[1],
        intprm=[bits, reduce, 1],
    )


def tool_geom(robot: Robot) -> str:
    """The tool is the last shape of the link that carries the tip."""
    link = robot.tip_frame.link
    shapes = next(each.shapes for each in robot.held_tree.links if each.name == link)
    return f"{link}_{len(shapes) - 1}"
