"""The UR5e draws all twelve edges of a cube above a table, in one stroke of fifteen segments."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from forearm.errors import ForearmError
from forearm.evidence.record import Record
from forearm.evidence.writer import ArtifactWriter
from forearm.kinematics.forward import tip_pose
from forearm.motion.cube import cube
from forearm.robots.load import load
from forearm.sim.scene import Block
from forearm.tasks._collision import draw_collision
from forearm.tasks._drawing import Drawing, DrawingOptions, draw_drawing, perform_drawing
from forearm.tasks._ladder import ladder_rows
from forearm.tasks._options import add_drawing_arguments, drawing_options

TITLE = "All twelve edges of a cube drawn by the UR5e"
CENTER_M = (0.30, 0.20, 0.55)
BAD_CENTER_M = (0.40, 0.0, 0.50)
SIDE_M = 0.10
EDGE_SECONDS = 2.0
CONTROLLER = "servo_inverse"
TABLE = Block("table", (0.43, 0.0, 0.395), (0.40, 0.60, 0.015))
"""Its top is at z = 0.41 m, its near edge 3 cm in front of the base's axis: at the bad centre the upper
arm leans through it."""
SOURCE_RMS, SOURCE_MAX = "0.088 mm, on its own path", "0.234 mm"
SLOW_GOALS_M = (9e-6, 25e-6)
"""RMS and largest error at 2 s an edge or more."""
FAST_GOALS_M = (50e-6, 200e-6)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_drawing_arguments(parser, CONTROLLER, EDGE_SECONDS, SIDE_M, CENTER_M)
    parser.add_argument(
        "--compare", action="store_true", help="the whole ladder of controllers and the source's route too"
    )


def options_from(args: argparse.Namespace) -> dict[str, Any]:
    return {**drawing_options(args), "compare": args.compare}


def drawing_for(options: DrawingOptions) -> Drawing:
    """The cube keeps home's tool orientation."""
    robot = load("ur5e")
    goals = SLOW_GOALS_M if options.edge_seconds >= EDGE_SECONDS else FAST_GOALS_M
    return Drawing(
        kind="run.cube",
        title=TITLE,
        robot=robot,
        route=cube(options.center_m, options.side_m, tip_pose(robot, robot.home)),
        blocks=(TABLE,),
        goal_rms_m=goals[0],
        goal_max_m=goals[1],
        seed_posture=robot.home,
        source_rms=SOURCE_RMS,
        source_max=SOURCE_MAX,
    )


def chosen_options(options: Mapping[str, Any]) -> DrawingOptions:
    """The options of the run itself; ``compare`` adds other runs beside it."""
    return DrawingOptions(**{name: value for name, value in options.items() if name != "compare"})


def perform(options: Mapping[str, Any], artifact: ArtifactWriter | None) -> Record:
    compare = bool(options.get("compare"))
    chosen = chosen_options(options)
    record = perform_drawing(drawing_for(chosen), chosen, artifact)[0]
    configuration = {**record.configuration, "compare": compare}
    if compare and artifact:
        artifact.write_rows("ladder", ladder_rows(drawing_for, chosen, BAD_CENTER_M, artifact.folder))
    return replace(record, configuration=configuration)


def draw(options: Mapping[str, Any], folder: Path, video: bool) -> None:
    draw_drawing(drawing_for(chosen_options(options)), folder, video)


def draw_refused(options: Mapping[str, Any], refused: ForearmError, folder: Path) -> None:
    draw_collision(drawing_for(chosen_options(options)), refused, folder)
