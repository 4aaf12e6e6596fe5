"""``Arm``: a robot with its verbs, which is what ``forearm.load`` returns."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from numpy.typing import ArrayLike

from forearm.ik.batch import IKBatch, solve_batch
from forearm.ik.direct import SolveInto, direct_solver
from forearm.ik.result import IKResult
from forearm.ik.solve import solve
from forearm.ik.tracker import Tracker
from forearm.kinematics import forward, measures, reach
from forearm.kinematics.measures import Dexterity
from forearm.kinematics.singularity import Singularity, singularities
from forearm.robots.load import load as load_robot
from forearm.robots.robot import Robot
from forearm.spatial import Array, Pose


class Arm(Robot):
    """A ``Robot`` and everything that is usually asked of one."""

    def fk(self, q: ArrayLike) -> Pose:
        """The tip's pose in the base."""
        return forward.tip_pose(self, q)

    def jacobian(self, q: ArrayLike) -> Array:
        """The geometric Jacobian (6 x n) at the tip, in base axes: [v; w] = J(q) qd."""
        return forward.jacobian(self, q)

    def dexterity(self, q: ArrayLike) -> Dexterity:
        """Manipulability, smallest singular value and condition number at ``q``."""
        return measures.dexterity(self, q)

    def manipulability(self, q: ArrayLike) -> float:
        """Yoshikawa's index sqrt(det(J Jᵀ)) at ``q``."""
        return measures.manipulability(self, q)

    def singularities(self, q: ArrayLike) -> tuple[Singularity, ...]:
        """The named singularities that ``q`` is near."""
        return singularities(self, q)

    @property
    def reach_m(self) -> float:
        """An upper bound (m) on the distance of the tip from a point of the first joint's axis."""
        return reach.reach_m(self)

    def ik(self, target: Any, **question: Any) -> IKResult:
        """Joint vectors that put the tip on ``target``, certified; see ``forearm.ik.solve``."""
        return solve(self, target, **question)

    def ik_batch(self, targets: Any, seeds: ArrayLike | None = None, **question: Any) -> IKBatch:
        """Certified joint vectors for many targets at once, on all cores; see ``forearm.ik.batch``."""
        return solve_batch(self, targets, seeds, **question)

    def direct_solver(self, **question: Any) -> SolveInto:
        """``solve_into(target, seed, answer)``: the race alone, unchecked; see ``forearm.ik.direct``."""
        return direct_solver(self, **question)

    def tracker(self, start: ArrayLike | None = None, **question: Any) -> Tracker:
        """Joint vectors for a stream of poses, each from the one before; see ``forearm.ik.tracker``."""
        return Tracker(self, start, **question)


def load(
    model: str | Path,
    *,
    base: str | None = None,
    tip: str | None = None,
    joints: tuple[str, ...] | None = None,
    hold: Mapping[str, float] | None = None,
    tool: Pose | ArrayLike | float | None = None,
    assets: str | Path | None = None,
    root: Pose | ArrayLike | None = None,
    **options: Any,
) -> Arm:
    """An arm from a bundled name, a URDF or an MJCF file.

    Args:
        model: a bundled name (``forearm.robot_names()``), optionally with its lengths as in
            ``"two_link(0.5, 0.4)"``; a path to a ``.urdf`` or ``.xml``; or ``"menagerie:NAME"``.
        base: the frame that targets are given in; default: the model's root.
        tip: the link, body, site or frame to move; default: the end of the only chain.
        joints: the joints of the chain that move; the others are held.
        hold: joint name to the value it is held at; joints held without one rest at zero.
        tool: a pose in the tip's frame (a 4x4 matrix will do), or a length (m) along its z axis; it
            becomes the tip.
        assets: a folder that the model may read meshes from, besides its own.
        root: where the robot stands in the world; a 4x4 matrix will do.
        options: parameters of a bundled arm, such as ``tool_length_m`` of the ``ur5e``.

    Raises:
        ModelError, UnsupportedJoint, UnsafePath: the model cannot be used, and why.
        UnknownName: no such robot, link, joint or frame; the message lists the valid ones.
    """
    robot = load_robot(
        model, base=base, tip=tip, joints=joints, hold=hold, tool=tool, assets=assets, root=root, **options
    )
    return Arm(robot.tree, robot.base, robot.tip, robot.joints, robot.held)
