"""Still pictures of an arm, drawn off screen.

MuJoCo is imported when the first picture is asked for: a ``MUJOCO_GL`` that names a missing library
makes that import fail, and is then reported as ``NoPicture``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from forearm.errors import InvalidInput
from forearm.sim.offscreen import no_picture, open_context, require_mujoco
from forearm.spatial import Array, Pose

if TYPE_CHECKING:
    import mujoco

    from forearm.robots.robot import Robot
    from forearm.sim.framing import View
    from forearm.sim.props import Prop
    from forearm.sim.scene import Block

Image = NDArray[np.uint8]

SUPERSAMPLING = 2
"""Pictures are drawn this many times larger and averaged: few drivers smooth edges well."""
GHOST_OPACITY = 0.38
MAX_SIDE_PX = 2560
MAX_MARKS = 20_000
RAYS = 40
"""How many points of a path are looked at when the camera's side is chosen."""


def render(
    robot: Robot,
    q: ArrayLike,
    *,
    target: Pose | None = None,
    ghosts: Sequence[ArrayLike] = (),
    paths: Sequence[ArrayLike] = (),
    pale_paths: Sequence[ArrayLike] = (),
    blocks: Sequence[Block] = (),
    props: Sequence[Prop] = (),
    tick: int = 0,
    view: View | None = None,
    width: int = 960,
    height: int = 720,
) -> Image:
    """A picture of the arm at ``q``, (height, width, 3).

    ``target`` (in the base) is drawn as a frame, or as a ball for an arm whose targets are points;
    ``ghosts`` are other joint vectors, drawn translucent; ``paths`` are polylines (n, 3) in the base,
    m, and ``pale_paths`` too; ``blocks`` stand around the arm and may run out of the frame; ``props`` are
    as they are at their ``tick``. Without ``view`` the camera frames all the rest. Raises ``NoPicture``
    where nothing can draw.
    """
    with open_studio(robot, blocks=blocks, props=props, width=width, height=height) as studio:
        return studio.picture(
            q, target=target, ghosts=ghosts, paths=paths, pale_paths=pale_paths, tick=tick, view=view
        )


def save_png(path: str | Path, image: Image) -> Path:
    """Write a picture (height, width, 3) as a PNG file."""
    from PIL import Image as pillow

    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    pillow.fromarray(np.ascontiguousarray(image)).save(path, format="PNG", optimize=True)
    return path


@contextmanager
def open_studio(
    robot: Robot,
    *,
    blocks: Sequence[Block] = (),
    props: Sequence[Prop] = (),
    width: int = 960,
    height: int = 720,
    draft: bool = False,
) -> Iterator[Studio]:
    """A ``Studio`` that takes any number of pictures of one robot until the block ends.

    A ``draft`` is drawn seven times as fast: rounds are coarser, and edges are left to the driver.
    """
    for name, side in (("width", width), ("height", height)):
        if not 16 <= side <= MAX_SIDE_PX:
            raise InvalidInput(name, f"is {side} pixels", f"Give 16 to {MAX_SIDE_PX}.")
    require_mujoco()
    import mujoco

    from forearm.sim.studio import coarsen, studio_spec

    spec = studio_spec(robot, blocks, props)
    oversize = 1 if draft else SUPERSAMPLING
    spec.visual.global_.offwidth, spec.visual.global_.offheight = oversize * width, oversize * height
    if draft:
        coarsen(spec)
    model = spec.compile()
    with open_context(oversize * width, oversize * height):
        try:
            context = mujoco.MjrContext(model, mujoco.mjtFontScale.mjFONTSCALE_100.value)
        except mujoco.FatalError as error:
            raise no_picture({"OpenGL": error}) from error
        try:
            mujoco.mjr_setBuffer(mujoco.mjtFramebuffer.mjFB_OFFSCREEN.value, context)
            yield Studio(
                robot, model, context, (width, height), oversize, props, crowded=bool(blocks or props)
            )
        finally:
            context.free()


class Studio:
    """A robot's model, scene and drawing context; made by ``open_studio``, valid inside its block."""

    def __init__(
        self,
        robot: Robot,
        model: mujoco.MjModel,
        context: mujoco.MjrContext,
        size_px: tuple[int, int],
        oversize: int,
        props: Sequence[Prop] = (),
        crowded: bool = False,
    ) -> None:
        import mujoco

        self.robot, self.model, self.context = robot, model, context
        self.width, self.height = size_px
        self.oversize, self.crowded = oversize, crowded
        self.props, self.own_colors = props, model.mat_rgba.copy()
        self.caption = ""
        """Written in a corner of what is taken."""
        self.scene = mujoco.MjvScene(model, maxgeom=MAX_MARKS)
        self.option = mujoco.MjvOption()

    def picture(
        self,
        q: ArrayLike,
        *,
        target: Pose | None = None,
        ghosts: Sequence[ArrayLike] = (),
        paths: Sequence[ArrayLike] = (),
        pale_paths: Sequence[ArrayLike] = (),
        tick: int = 0,
        view: View | None = None,
    ) -> Image:
        """As ``render``; the camera is chosen anew for each picture unless ``view`` is given."""
        postures = [self.posed(each, tick) for each in (q, *ghosts)]
        in_world = self.robot.base_in_world
        target_in_world = None if target is None else in_world @ target
        paths_in_world = [in_world.transform_points(finite_points(path)) for path in paths]
        pale_in_world = [in_world.transform_points(finite_points(path)) for path in pale_paths]
        view = self.stage(postures, target_in_world, [*paths_in_world, *pale_in_world], view)
        # The floor and the lights were moved in the model; the state has to follow.
        arm = self.posed(q, tick)
        return self.taken(arm, postures[1:], view, target_in_world, paths_in_world, pale_in_world, tick)

    def posed(self, q: ArrayLike, tick: int = 0) -> mujoco.MjData:
        """The state with the arm at ``q``, and the props as they are at ``tick``."""
        from forearm.sim.studio import posed

        return posed(self.model, self.robot, q, self.props, tick)

    def stage(
        self,
        postures: Sequence[Any],
        target_in_world: Pose | None,
        paths_in_world: Sequence[Array],
        view: View | None = None,
    ) -> View:
        """Lay the floor for all postures, turn the lights to the camera, and say where that stands."""
        from forearm.sim.studio import aim_lights, settle_floor

        settle_floor(self.model, self.robot, postures)
        view = view or self.framing(postures[0], postures[1:], target_in_world, paths_in_world)
        aim_lights(self.model, view)
        return view

    def taken(
        self,
        arm: Any,
        others: Sequence[Any],
        view: View,
        target_in_world: Pose | None,
        paths_in_world: Sequence[Array],
        pale_in_world: Sequence[Array] = (),
        tick: int = 0,
    ) -> Image:
        """The picture of a stage that is set."""
        from forearm.sim import marks, props

        props.paint(self.props, self.model, self.own_colors, tick)
        shining = self.compose(arm, view, target_in_world, paths_in_world, pale_in_world)
        image: NDArray[Any] = self.shot(self.caption)
        # Overlapping shapes look blotchy when each is translucent, so the ghosts are drawn solid in
        # a second picture and the two are blended.
        for other in others:
            marks.add_ghost(self.scene, self.model, other, self.option)
        if others:
            image = (1.0 - GHOST_OPACITY) * image + GHOST_OPACITY * self.shot(self.caption)
        return self.shining(averaged(image, self.oversize), shining)

    def shining(self, image: Image, lines: Sequence[int]) -> Image:
        """``image`` with a glow around the scene's geoms ``lines``."""
        from forearm.sim import glow
        from forearm.sim.marks import PATH_RGBA

        if not lines:
            return image
        glow.only_these(self.scene, lines)
        mask = averaged(self.shot(), self.oversize)
        glow.everything(self.scene)
        return glow.with_glow(image, mask, PATH_RGBA[:3])

    def framing(
        self, arm: Any, others: Sequence[Any], target_in_world: Pose | None, paths_in_world: Sequence[Array]
    ) -> View:
        """The camera that frames the arm, its ghosts, the target and the paths."""
        from forearm.sim.framing import view_of
        from forearm.sim.studio import arm_points, hidden_share, skeleton_points

        points = [arm_points(self.model, data) for data in (arm, *others)]
        points += [np.reshape(path, (-1, 3)) for path in paths_in_world]
        if target_in_world is not None and self.is_near(target_in_world):
            points.append(
                target_in_world.position_m + self.mark_length_m * np.vstack([np.eye(3), -np.eye(3)])
            )
        skeleton = skeleton_points(self.robot, arm)
        lines = [path[:: max(len(path) // RAYS, 1)] for path in paths_in_world]
        inside_m = 0.08 * float(self.model.stat.extent)

        def hidden(view: View) -> float:
            """Of the arm's joints, which lie inside it and count double, and of the paths."""
            arm_hidden = hidden_share(self.model, arm, view.eye_m, skeleton, inside_m)
            return 2.0 * arm_hidden + sum(
                hidden_share(self.model, arm, view.eye_m, line, 0.02 * inside_m) for line in lines
            )

        aspect = self.width / self.height
        crowded = self.crowded or bool(lines)
        return view_of(np.concatenate(points), skeleton, aspect, hidden=hidden if crowded else None)

    def is_near(self, target_in_world: Pose) -> bool:
        """Whether a target deserves a place in the frame; one far out of reach would dwarf the arm."""
        away_m = np.linalg.norm(target_in_world.position_m - self.robot.base_in_world.position_m)
        return bool(away_m < 2.0 * self.model.stat.extent)

    @property
    def mark_length_m(self) -> float:
        """How long a target's arrows are: in proportion to the arm."""
        return 0.12 * float(self.model.stat.extent)

    def compose(
        self,
        arm: Any,
        view: View,
        target_in_world: Pose | None,
        paths_in_world: Sequence[Array],
        pale_in_world: Sequence[Array] = (),
    ) -> range:
        """Fill the scene; returns which of its geoms draw the paths that shine."""
        import mujoco

        from forearm.sim import marks

        everything = mujoco.mjtCatBit.mjCAT_ALL.value
        mujoco.mjv_updateScene(self.model, arm, self.option, None, view.camera(), everything, self.scene)
        self.scene.flags[mujoco.mjtRndFlag.mjRND_HAZE] = True
        self.scene.flags[mujoco.mjtRndFlag.mjRND_REFLECTION] = False
        length_m = self.mark_length_m
        for path in pale_in_world:
            marks.add_polyline(self.scene, path, 0.018 * length_m, marks.PALE_RGBA)
        first = self.scene.ngeom
        for path in paths_in_world:
            marks.add_polyline(self.scene, path, 0.025 * length_m)
        lines = range(first, self.scene.ngeom)
        if target_in_world is None:
            return lines
        if self.robot.task == "position":
            marks.add_point(self.scene, target_in_world.position_m, 0.16 * length_m, marks.TARGET_RGBA)
        else:
            marks.add_triad(self.scene, target_in_world, length_m)
        return lines

    def shot(self, caption: str = "") -> Image:
        """The scene as it stands, at the supersampled size, ``caption`` in a corner."""
        import mujoco

        size = self.oversize * self.width, self.oversize * self.height
        rectangle = mujoco.MjrRect(0, 0, *size)
        pixels = np.empty((size[1], size[0], 3), dtype=np.uint8)
        mujoco.mjr_render(rectangle, self.scene, self.context)
        if caption:
            corner, font = mujoco.mjtGridPos.mjGRID_BOTTOMRIGHT, mujoco.mjtFont.mjFONT_NORMAL
            mujoco.mjr_overlay(font, corner, rectangle, caption, "", self.context)
        mujoco.mjr_readPixels(pixels, None, rectangle, self.context)
        return np.flipud(pixels)


def averaged(image: NDArray[Any], factor: int) -> Image:
    """The picture ``factor`` times smaller: each pixel the mean of its supersampled ones."""
    height, width = (side // factor for side in image.shape[:2])
    blocks = image.reshape(height, factor, width, factor, 3).astype(np.float32)
    return np.rint(blocks.mean(axis=(1, 3))).astype(np.uint8)


def finite_points(path: ArrayLike) -> Array:
    points = np.asarray(path, dtype=np.float64)
    if points.ndim != 2 or points.shape[1] != 3 or not np.isfinite(points).all():
        raise InvalidInput("path", f"has shape {points.shape} or is not finite", "Give points (n, 3) in m.")
    return points
