"""Films of an arm in motion, drawn off screen and encoded as they are drawn."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from forearm.errors import InvalidInput, MissingExtra
from forearm.sim.still import Image, Studio, finite_points, open_studio
from forearm.spatial import Array

if TYPE_CHECKING:
    from forearm.robots.robot import Robot
    from forearm.sim.framing import View
    from forearm.sim.props import Prop
    from forearm.sim.scene import Block

FRAMED_POSTURES = 24
"""How many postures of the motion, evenly picked, the camera makes room for."""
MOST_FRAMES = 36_000
QUALITY = "20"
"""x264's constant rate factor: lower is better and larger."""


def film(
    robot: Robot,
    q_rows: ArrayLike,
    dt_s: float,
    path: Path,
    *,
    blocks: Sequence[Block] = (),
    props: Sequence[Prop] = (),
    trail: ArrayLike | None = None,
    view: View | None = None,
    fps: int = 30,
    speed: float = 1.0,
    caption: str = "",
    width: int = 640,
    height: int = 480,
) -> Path:
    """Write the motion ``q_rows`` (ticks, dof), a row every ``dt_s`` seconds, as an MP4 file.

    ``trail`` (ticks, 3), points in the base, is drawn as far as the motion has come; ``props`` move along.
    ``speed`` 2 plays twice as fast; ``caption`` stands in a corner. The camera stands still. Only one frame
    is in memory at a time. Raises ``MissingExtra`` without PyAV, ``NoPicture`` where nothing can draw.
    """
    rows, line = checked(robot, q_rows, dt_s, trail, speed, width, height)
    av = require_av()
    ticks = frame_ticks(len(rows), dt_s, fps, speed)
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    with open_studio(robot, blocks=blocks, props=props, width=width, height=height, draft=True) as studio:
        studio.caption = caption
        encode(av, path, frames(studio, rows, line, ticks, view), fps, width, height)
    return path


def require_av() -> ModuleType:
    try:
        import av
    except ImportError as error:
        raise MissingExtra("av", "a video", "video") from error
    return av


def checked(
    robot: Robot,
    q_rows: ArrayLike,
    dt_s: float,
    trail: ArrayLike | None,
    speed: float,
    width: int,
    height: int,
) -> tuple[Array, Array | None]:
    """The motion up to the first row that is not finite, and the trail as far; raises ``InvalidInput``."""
    rows = np.asarray(q_rows, dtype=np.float64)
    if rows.ndim != 2 or rows.shape[1] != robot.dof or not len(rows):
        raise InvalidInput("q_rows", f"have shape {rows.shape}", f"Give rows of {robot.dof} numbers.")
    for name, value in (("dt_s", dt_s), ("speed", speed)):
        if not (np.isfinite(value) and value > 0.0):
            raise InvalidInput(name, f"is {value}", "Give a positive number.")
    for name, side in (("width", width), ("height", height)):
        if side % 2:
            raise InvalidInput(name, f"is {side} pixels", "A video needs an even number.")
    bad = ~np.isfinite(rows).all(axis=1)
    last = int(np.argmax(bad)) if bad.any() else len(rows)
    if not last:
        raise InvalidInput("q_rows", "are not finite from the first row on")
    if trail is None:
        return rows[:last], None
    points = np.asarray(trail, dtype=np.float64)
    if len(points) != len(rows):
        raise InvalidInput("trail", f"has {len(points)} points for {len(rows)} rows", "Give one a row.")
    return rows[:last], finite_points(points[:last])


def frame_ticks(ticks: int, dt_s: float, fps: int, speed: float) -> list[int]:
    """Which tick each frame shows: from the first to the last, at the film's pace."""
    count = round((ticks - 1) * dt_s / speed * fps) + 1
    if not (1 <= fps <= 240 and count <= MOST_FRAMES):
        raise InvalidInput(
            "fps", f"is {fps}, {count} frames", f"Give 1 to 240, {MOST_FRAMES} frames at most."
        )
    return [min(round(index * speed / fps / dt_s), ticks - 1) for index in range(count)]


def frames(
    studio: Studio, rows: Array, trail: Array | None, ticks: Sequence[int], view: View | None
) -> Iterator[Image]:
    """One picture a tick, all from where the camera sees the whole motion."""
    line = None if trail is None else studio.robot.base_in_world.transform_points(trail)
    whole = [] if line is None else [line]
    some = np.linspace(0, len(rows) - 1, min(FRAMED_POSTURES, len(rows))).astype(int)
    postures = [studio.posed(rows[tick], int(tick)) for tick in some]
    view = studio.stage(postures, None, whole, view)
    for tick in ticks:
        arm = studio.posed(rows[tick], tick)
        drawn = [] if line is None or tick == 0 else [line[: tick + 1]]
        yield studio.taken(arm, (), view, None, drawn, tick=tick)


def encode(av: ModuleType, path: Path, images: Iterator[Image], fps: int, width: int, height: int) -> None:
    """Write the images as H.264 that every player knows and that starts while it is still loading.

    The file has its name only once it is whole.
    """
    unfinished = path.with_name(path.name + ".tmp")
    try:
        write_video(av, unfinished, images, fps, width, height)
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)


def write_video(
    av: ModuleType, path: Path, images: Iterator[Image], fps: int, width: int, height: int
) -> None:
    with av.open(str(path), mode="w", format="mp4", options={"movflags": "+faststart"}) as container:
        stream = container.add_stream("libx264", rate=Fraction(fps), options={"crf": QUALITY})
        stream.width, stream.height, stream.pix_fmt = width, height, "yuv420p"
        for image in images:
            frame = av.VideoFrame.from_ndarray(np.ascontiguousarray(image), format="rgb24")
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
