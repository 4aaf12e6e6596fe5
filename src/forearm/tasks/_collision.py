"""A picture of the collision for which a plan was refused."""

from __future__ import annotations

from pathlib import Path

from forearm.errors import ForearmError
from forearm.motion.plan import PlanRefused
from forearm.sim.still import render, save_png
from forearm.tasks._drawing import Drawing

NAME = "the_refused_plan,_where_the_arm_is_deepest_inside_what_it_hits.png"


def draw_collision(drawing: Drawing, refused: ForearmError, folder: Path) -> None:
    """The arm where it is deepest inside something; nothing if the plan was refused for another reason."""
    nearest = refused.report.clearance if isinstance(refused, PlanRefused) else None
    if nearest is not None and nearest.first is not None:
        save_png(folder / NAME, render(drawing.robot, nearest.q, blocks=drawing.blocks))
