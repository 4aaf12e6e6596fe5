"""What a dynamics engine answers for one robot.

    M(q) qdd + C(q, qd) qd + g(q) = tau

Joint vectors are in the robot's order, base to tip. M and tau include the joints' armature; damping,
friction, limits and contacts are left out, since they belong to the actuators and the scene.
"""

from __future__ import annotations

from typing import Protocol

from numpy.typing import ArrayLike

from forearm.robots.robot import Robot
from forearm.robots.tree import resting_value
from forearm.spatial import Array


class Engine(Protocol):
    """The common interface of ``PinocchioDynamics`` and ``MujocoDynamics``."""

    robot: Robot
    name: str

    @property
    def frame_names(self) -> tuple[str, ...]:
        """The links and frames that ``frames_in_world`` can place."""

    def gravity(self, q: ArrayLike) -> Array:
        """g(q): the efforts (N·m or N) that hold the arm still."""

    def mass_matrix(self, q: ArrayLike) -> Array:
        """M(q), (dof, dof), symmetric, armature included."""

    def bias(self, q: ArrayLike, qd: ArrayLike) -> Array:
        """C(q, qd) qd + g(q)."""

    def coriolis_matrix(self, q: ArrayLike, qd: ArrayLike) -> Array:
        """C(q, qd), (dof, dof), with Ṁ - 2C skew-symmetric."""

    def inverse_dynamics(self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike) -> Array:
        """tau = M(q) qdd + C(q, qd) qd + g(q)."""

    def forward_dynamics(self, q: ArrayLike, qd: ArrayLike, tau: ArrayLike) -> Array:
        """qdd = M(q)⁻¹ (tau - C(q, qd) qd - g(q))."""

    def carried_masses(self) -> Array:
        """The mass (kg) that each joint carries: its link and everything beyond."""

    def limits(self) -> Array:
        """Lower and upper limits (rad or m), (2, dof), infinite where there is none."""

    def frames_in_world(self, q: ArrayLike, names: tuple[str, ...]) -> Array:
        """The poses of links or frames in the engine's world, (len(names), 4, 4)."""

    def axes_in_world(self, q: ArrayLike) -> Array:
        """A point on each joint's axis (m) and the axis' direction, in the world, (dof, 2, 3)."""

    def jacobian(self, q: ArrayLike, frame: str) -> Array:
        """The geometric Jacobian (linear, angular) at ``frame``'s origin, world axes, (6, dof)."""


def held_value(robot: Robot, joint: str) -> float | None:
    """Where a joint outside the chain stands, as in ``robot.held_tree``; None for one unknown to it."""
    if joint in robot.held:
        return robot.held[joint]
    return next((resting_value(known) for known in robot.tree.joints if known.name == joint), None)
