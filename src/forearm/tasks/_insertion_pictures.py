"""What one sees of a trial: pictures of its start and of its end, and a film, from its files alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from forearm.evidence.files import read_events
from forearm.evidence.trace import read_trace
from forearm.robots.robot import Robot
from forearm.sim.box_on_slides import box_prop
from forearm.sim.framing import View, framed
from forearm.sim.insertion import TICK_S, InsertionScene
from forearm.sim.props import Prop
from forearm.sim.still import Image, open_studio, render, save_png
from forearm.sim.vibrating_box import JOINTS, OUTER_M, WALLS
from forearm.spatial import Array
from forearm.tasks._drawing import tip_path
from forearm.tasks._insertion_judge import is_seated

START = "at_the_start_with_the_way_of_the_tool_and_in_blue_that_of_the_hole.png"
SEATED = "the_tool_on_the_plate_seen_through_a_wall_of_the_box_that_turned_green.png"
MISSED = "the_end_without_success.png"
FILM = "run.mp4"
WIDTH_PX, HEIGHT_PX = 960, 720
FILM_WIDTH_PX, FILM_HEIGHT_PX = 640, 480
SHOWN_S = 3.0
"""So much of the way is drawn where it leads nowhere; more would be a tangle."""
ASIDE_DEG, DOWN_DEG = -42.0, -20.0
"""From where the camera sees the mouth, and the tool from its side: so far off the hole's axis."""
CLOSE_ASIDE_DEG, CLOSE_DOWN_DEG, CLOSE_M = -63.0, -14.0, 0.5
WINDOW = WALLS[3]
"""The wall on the camera's side."""
ROOM = 1.35
"""The film's camera stands so much further off than it would have to, to show the wrist as well."""
SPEEDS = (0.2, 0.5, 1.0, 2.0, 5.0)
LONGEST_FILM_S = 16.0
HELD_S = 1.5
"""The film ends with so much of a standstill, in its own time."""
FRAMED_TICKS = 60


@dataclass(frozen=True, eq=False, slots=True)
class Trail:
    """A trial as its trace tells it, a row a tick."""

    place: InsertionScene
    q: Array
    box: Array
    """(ticks, 4): the box's joints."""
    end: Array
    """(ticks, 3): the tool's end, in the base."""
    mouth: Array
    touched: int | None
    """The tick at which the tool came upon the plate, if it was in the hole then."""

    @property
    def robot(self) -> Robot:
        return self.place.scene.robot

    def prop(self, window: str | None = None) -> Prop:
        return box_prop(self.place.mouth, self.place.hole, self.box, green_from=self.touched, window=window)


def draw_insertion(place: InsertionScene, folder: Path, video: bool) -> None:
    """Two pictures, and a film if asked, of the trial whose trace lies in ``folder``."""
    columns = read_trace(folder)
    trail = read_trail(place, columns, touch_in(folder))
    if len(trail.q) < 2:
        return
    save_png(folder / START, start_picture(trail))
    if trail.touched is None:
        save_png(folder / MISSED, end_picture(trail))
    else:
        save_png(folder / SEATED, seated_picture(trail))
    if video:
        film_of(trail, folder / FILM)


def touch_in(folder: Path) -> int | None:
    """The tick at which the plate told of a contact."""
    times = [float(event["time_s"]) for event in read_events(folder) if event["kind"] == "touch"]
    return round(times[0] / TICK_S) if times else None


def read_trail(place: InsertionScene, columns: Mapping[str, Array], touched: int | None) -> Trail:
    robot = place.scene.robot
    q = np.column_stack([columns[f"q_{name}"] for name in robot.joint_names])
    if touched is not None:
        end_in_box = [columns[f"end_in_box_{name}_m"][touched] for name in ("depth", "y", "z")]
        if not is_seated(place.hole, end_in_box):
            touched = None
    return Trail(
        place=place,
        q=q,
        box=np.column_stack([columns[f"at_{name}"] for name in JOINTS]),
        end=tip_path(robot, q),
        mouth=np.column_stack([columns[f"true_{axis}_m"] for axis in "xyz"]),
        touched=touched,
    )


def start_picture(trail: Trail) -> Image:
    """The arm before the box, with the way that its tool will take, and, paler, that of the hole."""
    shown = slice(0, (trail.touched or round(SHOWN_S / TICK_S)) + 1)
    return whole_picture(trail, 0, shown)


def end_picture(trail: Trail) -> Image:
    return whole_picture(trail, len(trail.q) - 1)


def whole_picture(trail: Trail, tick: int, shown: slice = slice(0)) -> Image:
    """Arm and box at ``tick``, and the ways during the ticks ``shown``."""
    from forearm.sim.studio import arm_points

    ways, pale = [trail.end[shown]], [trail.mouth[shown]]
    drawn = bool(len(ways[0]))
    with open_studio(trail.robot, props=[trail.prop()], width=WIDTH_PX, height=HEIGHT_PX) as studio:
        points = np.concatenate([arm_points(studio.model, studio.posed(trail.q[tick], tick)), *ways, *pale])
        view = framed(camera(trail, ASIDE_DEG, DOWN_DEG), points, WIDTH_PX / HEIGHT_PX)
        return studio.picture(
            trail.q[tick],
            paths=ways if drawn else (),
            pale_paths=pale if drawn else (),
            tick=tick,
            view=view,
        )


def seated_picture(trail: Trail) -> Image:
    """The tool on the plate, through one of the hole's walls."""
    tick = trail.touched or 0
    inwards = trail.place.mouth.rotation[:, 0]
    look_at = trail.mouth[tick] + 0.2 * OUTER_M * inwards
    view = replace(
        camera(trail, CLOSE_ASIDE_DEG, CLOSE_DOWN_DEG),
        look_at_m=tuple(look_at.tolist()),
        distance_m=CLOSE_M,
    )
    return render(
        trail.robot,
        trail.q[tick],
        props=[trail.prop(WINDOW)],
        tick=tick,
        view=view,
        width=WIDTH_PX,
        height=HEIGHT_PX,
    )


def camera(trail: Trail, aside_deg: float, down_deg: float) -> View:
    """A camera that looks so far aside and down from the direction in which the tool goes in."""
    inwards = trail.place.mouth.rotation[:, 0]
    ahead_deg = float(np.degrees(np.arctan2(inwards[1], inwards[0])))
    return View((0.0, 0.0, 0.0), 1.0, ahead_deg + aside_deg, down_deg)


def film_speed(duration_s: float) -> float:
    """How fast a film shows a trial: slowly if it can, and never for longer than ``LONGEST_FILM_S``."""
    return next((each for each in SPEEDS if duration_s / each <= LONGEST_FILM_S), SPEEDS[-1])


def speed_text(speed: float) -> str:
    return (
        f"1/{1.0 / speed:g} of real speed"
        if speed < 1.0
        else f"{speed:g} x real speed"
        if speed > 1.0
        else ""
    )


def film_of(trail: Trail, path: Path) -> None:
    # Imported here: films need an optional part.
    from forearm.sim.film import film

    speed = film_speed(TICK_S * len(trail.q))
    standstill = round(HELD_S * speed / TICK_S)
    rows = np.concatenate([trail.q, np.repeat(trail.q[-1:], standstill, axis=0)])
    view = camera(trail, ASIDE_DEG, DOWN_DEG)
    view = framed(view, film_points(trail), FILM_WIDTH_PX / FILM_HEIGHT_PX)
    film(
        trail.robot,
        rows,
        TICK_S,
        path,
        props=[trail.prop()],
        view=replace(view, distance_m=ROOM * view.distance_m),
        speed=speed,
        caption=speed_text(speed),
        width=FILM_WIDTH_PX,
        height=FILM_HEIGHT_PX,
    )


def film_points(trail: Trail) -> Array:
    """Where the box's corners and the tool's end come during the trial."""
    ticks = np.linspace(0, len(trail.q) - 1, FRAMED_TICKS).astype(int)
    corners = OUTER_M * np.array([[x, y, z] for x in (0, 1) for y in (-1, 1) for z in (-1, 1)])
    around = corners @ trail.place.mouth.rotation.T
    boxes = trail.mouth[ticks][:, None, :] + around
    return np.concatenate([boxes.reshape(-1, 3), trail.end[ticks]])
