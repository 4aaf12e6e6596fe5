"""The two-link arm draws a square, 0.10 m a side, by torque."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from forearm.errors import ForearmError
from forearm.evidence.record import Record
from forearm.evidence.writer import ArtifactWriter
from forearm.motion.route import square
from forearm.robots.load import load
from forearm.spatial import Pose
from forearm.tasks._collision import draw_collision
from forearm.tasks._drawing import Drawing, DrawingOptions, draw_drawing, perform_drawing
from forearm.tasks._options import add_drawing_arguments, drawing_options

TITLE = "A square drawn by the two-link arm"
CENTER_M = (0.30, 0.30, 0.0)
SIDE_M = 0.10
SIDE_SECONDS = 2.0
CONTROLLER = "computed_torque"
SOURCE_RMS, SOURCE_MAX = "0.008 mm", "0.013 mm"
SLOW_GOALS_M = (0.8e-6, 2e-6)
"""RMS and largest error of a square in 8 s or more."""
FAST_GOALS_M = (10e-6, 50e-6)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_drawing_arguments(parser, CONTROLLER, SIDE_SECONDS, SIDE_M, CENTER_M)


def options_from(args: argparse.Namespace) -> dict[str, Any]:
    return drawing_options(args)


def drawing_for(options: DrawingOptions) -> Drawing:
    robot = load("two_link")
    goals = SLOW_GOALS_M if options.edge_seconds >= SIDE_SECONDS else FAST_GOALS_M
    return Drawing(
        kind="run.square",
        title=TITLE,
        robot=robot,
        route=square(options.center_m, options.side_m, Pose.identity()),
        blocks=(),
        goal_rms_m=goals[0],
        goal_max_m=goals[1],
        seed_posture=robot.home,
        source_rms=SOURCE_RMS,
        source_max=SOURCE_MAX,
    )


def chosen_options(options: Mapping[str, Any]) -> DrawingOptions:
    return DrawingOptions(**options)


def perform(options: Mapping[str, Any], artifact: ArtifactWriter | None) -> Record:
    chosen = chosen_options(options)
    return perform_drawing(drawing_for(chosen), chosen, artifact)[0]


def draw(options: Mapping[str, Any], folder: Path, video: bool) -> None:
    draw_drawing(drawing_for(chosen_options(options)), folder, video)


def draw_refused(options: Mapping[str, Any], refused: ForearmError, folder: Path) -> None:
    draw_collision(drawing_for(chosen_options(options)), refused, folder)
