"""The workspace slice of an arm as a picture."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Circle

from forearm.evidence.figures.style import INK, MUTED, dress, new_figure
from forearm.kinematics.forward import joint_frames
from forearm.kinematics.reach import bound_to
from forearm.kinematics.workspace import WorkspaceSlice, frame_about
from forearm.robots.robot import Robot


def workspace_figure(robot: Robot, found: WorkspaceSlice) -> Figure:
    """The slice coloured by manipulability, the reach bound around it, the arm at home in it."""
    plane = found.kind == "plane"
    figure = new_figure(7.2 if plane else 6.0, 6.4 if plane else 7.4)
    axes = dress(
        figure.subplots(),
        f"{robot.name}: best manipulability",
        "x (m)" if plane else "distance from the first axis (m)",
        "y (m)" if plane else "height above the first axis' origin (m)",
    )
    image = axes.imshow(
        np.ma.masked_invalid(found.best),
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
    for radius in (bound.inner_m, bound.outer_m):
        axes.add_patch(Circle(middle, radius, fill=False, color=MUTED, linestyle=(0, (4, 3)), linewidth=1.2))
    axes.plot(*arm.T, color="white", linewidth=5.0, solid_capstyle="round", zorder=3)
    axes.plot(
        arm[:, 0],
        arm[:, 1],
        color=INK,
        linewidth=2.2,
        marker="o",
        markersize=5,
        zorder=4,
        label="arm at home",
    )
    axes.plot([], [], color=MUTED, linestyle=(0, (4, 3)), label=f"reach bound {bound.outer_m:.3f} m")
    axes.legend(frameon=True, framealpha=0.9, edgecolor="white", fontsize=8.5, loc="upper right")
    axes.set_xlim(found.extent_m[:2])
    axes.set_ylim(found.extent_m[2:])
    return figure
