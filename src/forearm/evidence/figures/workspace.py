"""The workspace slice of an arm as a picture."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Circle

from forearm.evidence.figures.style import INK, MUTED, dress, new_figure, plain_text
from forearm.kinematics.forward import joint_frames
from forearm.kinematics.reach import bound_to
from forearm.kinematics.workspace import WorkspaceSlice, frame_about
from forearm.robots.robot import Robot
from forearm.spatial import Array

DASHED = (0, (4, 3))


def workspace_figure(robot: Robot, found: WorkspaceSlice) -> Figure:
    """The slice coloured by manipulability, the reach bound around it, the arm at home in it."""
    with plain_text():
        return drawn_slice(robot, found)


def drawn_slice(robot: Robot, found: WorkspaceSlice) -> Figure:
    plane = found.kind == "plane"
    figure = new_figure(7.2 if plane else 5.6, 6.7 if plane else 7.7)
    axes = dress(
        figure.subplots(),
        f"{robot.name}: best manipulability",
        "x (m)" if plane else "distance from the first axis (m)",
        "y (m)" if plane else "height above the first axis' origin (m)",
    )
    frames = joint_frames(robot, robot.home)
    origin, axis = frames[0][:3, 3], frames[0][:3, :3] @ robot.joints[0].axis
    bound = bound_to(robot, to_tip=True)
    local = (np.vstack([origin, frames[:, :3, 3]]) - origin) @ frame_about(axis)
    center = (bound.center_in_base_m - origin) @ frame_about(axis)
    if plane:
        arm, middle = local[:, :2], center[:2]
    else:
        arm = np.column_stack([np.hypot(local[:, 0], local[:, 1]), local[:, 2]])
        middle = np.array([np.hypot(center[0], center[1]), center[2]])

    away_m = np.linalg.norm(cell_centers(found) - middle, axis=-1)
    beyond = (away_m < bound.inner_m) | (away_m > bound.outer_m)
    image = axes.imshow(
        # The bound runs through the cells at the edge; those that lie mostly beyond it are left out.
        np.ma.masked_where(beyond | np.isnan(found.best), found.best),
        origin="lower",
        extent=found.extent_m,
        cmap="viridis",
        interpolation="nearest",
        zorder=1,
    )
    bar = figure.colorbar(image, ax=axes, shrink=0.72, pad=0.02)
    bar.set_label("largest sqrt(det(J Jᵀ)) found in the cell", fontsize=9, color=INK)
    bar.ax.tick_params(colors=MUTED, labelsize=8.5)
    bar.outline.set_visible(False)

    for radius in (bound.inner_m, bound.outer_m):
        axes.add_patch(
            Circle(middle, radius, fill=False, color=MUTED, linestyle=DASHED, linewidth=1.2, zorder=2)
        )
    axes.plot(*arm.T, color="white", linewidth=4.5, solid_capstyle="round", zorder=3)
    axes.plot(*arm.T, color=INK, linewidth=2.0, marker="o", markersize=3, zorder=4, label="arm at home")
    axes.plot([], [], color=MUTED, linestyle=DASHED, label=f"reach bound {bound.outer_m:.3f} m")
    axes.legend(frameon=False, fontsize=8.5, ncols=2, loc="upper center", bbox_to_anchor=(0.5, -0.08))
    left, right, bottom, top = found.extent_m
    # Room for the arm's own line, which in a half plane stands on the axis.
    axes.set_xlim(left if plane else -0.05 * right, right)
    axes.set_ylim(bottom, top)
    return figure


def cell_centers(found: WorkspaceSlice) -> Array:
    """The middle of every cell, (rows, columns, 2)."""
    left, right, bottom, top = found.extent_m
    rows, columns = found.best.shape
    across = left + (np.arange(columns) + 0.5) * (right - left) / columns
    up = bottom + (np.arange(rows) + 0.5) * (top - bottom) / rows
    return np.stack(np.meshgrid(across, up), axis=-1)
