"""How fast the tool could be on the plate at best, the box standing still: a bound from below, and a run.

From below, whatever the controller: on the way to the plate the joints pass a posture q_m at the mouth, and
from there the walls leave one line of postures, q_0 = q_m to q_K. No joint is faster than v_i, so

    T >= max_i |q_m,i - start_i| / v_i + Σ_k max_i |q_k+1,i - q_k,i| / v_i,

and the least of it over all lines is a bound: the tool fits in four ways, each way on every branch that the
closed form has, each branch wound by full turns to where the limits let it. Assumed are the speed limits, a
tool that inside stands on the hole's axis (its play is neglected) and nothing else: torques, inertias and
obstacles only make it slower. Torques would not add much: where the arms wait, all motors helping one joint
have it at full speed within some 20 ms, and half of that is what it loses.

From above: a run along a smooth path that keeps all limits and that a search has made short.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from forearm.control.insertion.hole import QUARTER, TOOL_SIZE_M, tool_pose_in_box
from forearm.dynamics.pinocchio_engine import PinocchioDynamics
from forearm.errors import InvalidInput
from forearm.ik.closed_form import family_of
from forearm.kinematics.forward import tip_matrix
from forearm.motion.follow import follow
from forearm.motion.joint_path import JointPath
from forearm.motion.limits import ROUNDING, NoMotionPlan, require_within
from forearm.motion.pieces import Pieces
from forearm.motion.reference import JointReference, TipReference
from forearm.motion.time_optimal import (
    BEYOND,
    MAX_SLOWINGS,
    InfeasiblePath,
    MotionLimits,
    Usage,
    bounds_along,
    motion_limits,
    usage_of,
)
from forearm.motion.timing import fastest
from forearm.robots.robot import Robot
from forearm.sim.insertion import InsertionScene, insertion_scene
from forearm.spatial import Array, Pose, rotation_z

COARSE, FINE = (40, 10), (200, 60)
"""Steps of the grid before the mouth and behind it: while searching, and at last."""
TICKS = 1000
"""Points of the run at which the limits are checked."""
SHARP_RAD = 1e-3
"""A branch whose box is wider lies at a singularity, where the line of postures may fork."""
CLEAR_M = 1e-4
"""How far a corner of the tool may be past the mouth's plane before its end is there."""
AT_MOUTH_RAD = 1e-6
"""A start so near to the line stands on it."""
PACES = (0.5, 1.0, 2.0)
"""Straightness with which the search begins, by how fast the joints would be at the mouth."""
EVALUATIONS = 150
"""Paths that the search looks at."""


@dataclass(frozen=True, eq=False, slots=True)
class InsertionBounds:
    """``lower_s`` <= the least time to the plate <= ``fastest_s``, from rest at ``start``."""

    start: Array
    lower_s: float
    fastest_s: float
    """The run found, which meets the plate at speed: the clock stops when it is touched."""
    at_rest_s: float
    """The same path, at rest on the plate."""
    approach: Approach
    """The path of both runs, and of the first the timing and the largest shares of the limits."""
    profile: Pieces
    usage: dict[str, Usage]

    @property
    def mouth_s(self) -> float:
        """When the tool enters the hole in the first run."""
        return float(np.interp(self.approach.mouth, self.profile.s, self.profile.starts_s))

    def sampled(self, ticks: int) -> JointReference:
        """The first run at so many even ticks."""
        return sampled(self.approach, self.profile, ticks)


@dataclass(frozen=True, slots=True)
class MeanBounds:
    """Means over starts."""

    starts: int
    lower_s: float
    fastest_s: float
    at_rest_s: float


@dataclass(frozen=True, eq=False, slots=True)
class Line:
    """The postures of one branch from the mouth (share 0) to the plate (share 1), and their full turns."""

    robot: Robot
    mouth: Array
    """The tip there (4x4)."""
    inwards_m: Array
    """From the mouth to the plate, (3,)."""
    near: Array
    """A posture on the line, from which the others are found."""
    turns: Array
    """(n,) rad"""

    def at(self, shares: Array) -> tuple[Array, Array, Array]:
        """q at these shares, and its two derivatives by the share; (k, n) each."""
        poses = np.tile(self.mouth, (len(shares), 1, 1))
        poses[:, :3, 3] += np.multiply.outer(shares, self.inwards_m)
        twists = np.tile(np.concatenate([self.inwards_m, np.zeros(3)]), (len(shares), 1))
        # Steps need not be even: what follow makes of the last one is only where it begins.
        tip = TipReference(0.0, poses, twists, 0.0 * twists, np.zeros(len(shares), dtype=int))
        joints = follow(self.robot, tip, self.near)
        return joints.q + self.turns, joints.qd, joints.qdd


@dataclass(frozen=True, eq=False, slots=True)
class Approach:
    """A quintic from the start to the mouth that goes over into a line with its tangent and its curvature.

    With u from 0 to 1, q'(0) = ``leave``, q''(0) = ``bend``, q'(1) = pace t, q''(1) = pace² c + slide t,
    where t and c are the line's derivatives by the share; behind the mouth the share is pace (u - 1). Where
    the start is on the line already, the pace is infinite and there is the line alone.
    """

    line: Line
    start: Array
    pace: float
    slide: float
    leave: Array
    bend: Array

    @property
    def whole(self) -> float:
        """u on the plate."""
        return 1.0 + 1.0 / self.pace

    @property
    def mouth(self) -> float:
        """s at the mouth."""
        return 1.0 / self.whole if np.isfinite(self.pace) else 0.0

    def grid(self, cells: tuple[int, int]) -> Array:
        before, behind = (np.linspace(0.0, 1.0, count + 1) for count in cells)
        if self.mouth == 0.0:
            return behind
        return np.concatenate([before * self.mouth, self.mouth + behind[1:] * (1.0 - self.mouth)])

    def at(self, s: Array) -> JointPath:
        """The path at rising s, from 0 at the start to 1 on the plate."""
        if self.mouth == 0.0:
            return JointPath(s, *self.line.at(s))
        u = s * self.whole
        inside = u > 1.0
        shares = np.concatenate([[0.0], np.minimum(self.pace * (u[inside] - 1.0), 1.0)])
        q, tangent, curvature = self.line.at(shares)
        end = (q[0], self.pace * tangent[0], self.pace**2 * curvature[0] + self.slide * tangent[0])
        rows = quintic_at(u[~inside], (self.start, self.leave, self.bend), end)
        behind = (q[1:], self.pace * tangent[1:], self.pace**2 * curvature[1:])
        q, first, second = (np.vstack(pair) for pair in zip(rows, behind, strict=True))
        return JointPath(s, q, first * self.whole, second * self.whole**2)


def insertion_bounds(
    arm: str,
    start: ArrayLike | None = None,
    *,
    max_effort: ArrayLike | None = None,
    evaluations: int = EVALUATIONS,
    seed: int = 0,
) -> InsertionBounds:
    """How long ``arm`` needs at least, and the fastest run found, from rest at ``start`` (default: ready).

    Of the arm only the tool is kept clear of the box. Raises ``InvalidInput``, ``NoMotionPlan``,
    ``MissingExtra``.
    """
    scene = insertion_scene(arm)
    robot = scene.scene.robot
    begin = scene.ready if start is None else robot.joint_vector(start, "start")
    require_within(robot, begin, "start")
    if tool_past_mouth_m(scene, begin) > CLEAR_M:
        raise InvalidInput("start", "has the tool past the plane of the mouth", "Give a posture before it.")
    limits = motion_limits(robot, None, None, max_effort)
    engine = PinocchioDynamics(robot)
    lines = sorted(lines_to_plate(scene, begin), key=lambda line: least_s(line, begin, limits))
    if not lines:
        raise NoMotionPlan(f"no posture of {robot.name} within its limits has the tool on the plate.")

    def seconds(approach: Approach) -> float:
        path = approach.at(approach.grid(COARSE))
        past = max(tool_past_mouth_m(scene, q) for q in path.q[path.s <= approach.mouth])
        if past > CLEAR_M:
            return 1e3 + past  # Worse than any that is clear, and better the nearer to it.
        try:
            return timed(engine, path, limits, end_at_rest=False).duration_s
        except (InfeasiblePath, NoMotionPlan):
            return np.inf

    best, best_s = None, np.inf
    for line in lines:
        if least_s(line, begin, limits) >= best_s:
            break
        for approach in (straight(line, begin, pace, limits) for pace in PACES):
            if (found_s := seconds(approach)) < best_s:
                best, best_s = approach, found_s
    if best is None:
        raise NoMotionPlan(f"no way of {robot.name} to the mouth keeps its limits.")
    best = searched(best, seconds, evaluations, seed)
    if seconds(best) > 1e3 - 1.0:
        raise NoMotionPlan(f"no way of {robot.name} to the mouth is clear of the box.")
    profile, usage = run(engine, best, limits, end_at_rest=False)
    return InsertionBounds(
        start=begin,
        lower_s=least_s(lines[0], begin, limits),
        fastest_s=profile.duration_s,
        at_rest_s=run(engine, best, limits, end_at_rest=True)[0].duration_s,
        approach=best,
        profile=profile,
        usage=usage,
    )


def mean_bounds(arm: str, starts: Sequence[ArrayLike], *, evaluations: int = EVALUATIONS) -> MeanBounds:
    """The means of the bounds over ``starts``; the mean of the least times lies between the first two."""
    found = [insertion_bounds(arm, start, evaluations=evaluations) for start in starts]
    rows = np.array([(each.lower_s, each.fastest_s, each.at_rest_s) for each in found])
    return MeanBounds(len(found), *rows.mean(axis=0).tolist())


def lines_to_plate(scene: InsertionScene, start: Array) -> Iterator[Line]:
    """Every line of postures into the hole within the limits, each turned to where ``start`` is nearest."""
    robot = scene.scene.robot
    family = family_of(robot)
    if family is None:
        raise NoMotionPlan(f"the branches of {robot.name} cannot be enumerated: it has no closed form.")
    inwards_m = scene.hole.depth_m * scene.mouth.rotation[:, 0]
    for quarter in range(4):
        turned = Pose.from_rotation((0.0, 0.0, 0.0), rotation_z(quarter * QUARTER))
        mouth, plate = (
            (scene.mouth @ tool_pose_in_box(depth) @ turned).matrix() for depth in (0.0, scene.hole.depth_m)
        )
        for box in family.boxes(plate, 0.0, 0.0):
            if max(angle.width for angle in box) > SHARP_RAD:
                raise NoMotionPlan(f"{robot.name} is singular on the plate: its lines cannot be enumerated.")
            middle = np.array([angle.middle for angle in box])
            # Found from the plate outwards: only there is the branch known.
            backwards = Line(robot, plate, -inwards_m, middle, np.zeros(robot.dof))
            q = backwards.at(np.linspace(0.0, 1.0, FINE[1] + 1))[0]
            turns = nearest_turns(robot, q[::-1], start)
            if turns is not None:
                yield Line(robot, mouth, inwards_m, q[-1], turns)


def nearest_turns(robot: Robot, q: Array, start: Array) -> Array | None:
    """The full turns (rad) that keep ``q`` (k, n) in the limits and its first row nearest ``start``."""
    about = np.rint((start - q[0]) / (4.0 * QUARTER))
    turns = 4.0 * QUARTER * (about + np.arange(-2.0, 3.0)[:, None])
    inside = (q.min(axis=0) + turns >= robot.lower - ROUNDING) & (
        q.max(axis=0) + turns <= robot.upper + ROUNDING
    )
    if not inside.any(axis=0).all():
        return None
    away = np.where(inside, np.abs(q[0] + turns - start), np.inf)
    return turns[away.argmin(axis=0), np.arange(robot.dof)]


def least_s(line: Line, start: Array, limits: MotionLimits) -> float:
    """max |q_m - start| / v + Σ max |Δq| / v: a chord is no longer than what the joint moves."""
    q = line.at(np.linspace(0.0, 1.0, FINE[1] + 1))[0]
    to_mouth = np.max(np.abs(q[0] - start) / limits.speed)
    return float(to_mouth + (np.abs(np.diff(q, axis=0)) / limits.speed).max(axis=1).sum())


def straight(line: Line, start: Array, pace: float, limits: MotionLimits) -> Approach:
    """Off towards the mouth's posture; at pace 1 the joints enter as fast as they left, by their limits."""
    q, tangent, _ = line.at(np.zeros(1))
    step = q[0] - start
    far, deep = (np.max(np.abs(each) / limits.speed) for each in (step, tangent[0]))
    if np.abs(step).max() <= AT_MOUTH_RAD:
        pace, far = np.inf, deep
    return Approach(line, start, pace * far / deep, 0.0, step, 0.0 * step)


def searched(begin: Approach, seconds: Callable[[Approach], float], evaluations: int, seed: int) -> Approach:
    """The best of ``evaluations`` approaches on the same line, by an evolution strategy.

    A normal cloud moves to the weighted mean of its better half, and widens while its steps go one way.
    """
    random, n = np.random.default_rng(seed), len(begin.start)
    size = np.max(np.abs(begin.leave))
    scale = np.concatenate([[0.7, size], np.full(n, 0.6 * size), np.full(n, 2.5 * size)])
    count, half = 10, 5
    weights = np.log(half + 0.5) - np.log(np.arange(1, half + 1))
    weights /= weights.sum()
    many = 1.0 / (weights**2).sum()
    share = (many + 2.0) / (len(scale) + many + 5.0)

    def moved(z: Array) -> Approach:
        step = scale * z
        pace, slide = begin.pace * np.exp(step[0]), begin.slide + step[1]
        return Approach(
            begin.line, begin.start, pace, slide, begin.leave + step[2 : 2 + n], begin.bend + step[2 + n :]
        )

    middle, path, width = np.zeros(len(scale)), np.zeros(len(scale)), 0.3
    best, best_s = begin, seconds(begin)
    for _ in range(evaluations // count):
        steps = random.standard_normal((count, len(scale)))
        cloud = [moved(middle + width * step) for step in steps]
        times_s = np.array([seconds(each) for each in cloud])
        order = np.argsort(times_s)
        if times_s[order[0]] < best_s:
            best, best_s = cloud[order[0]], times_s[order[0]]
        step = weights @ steps[order[:half]]
        middle = middle + width * step
        path = (1.0 - share) * path + np.sqrt(share * (2.0 - share) * many) * step
        width *= np.exp(share / (1.0 + share) * (np.linalg.norm(path) / np.sqrt(len(scale)) - 1.0))
    return best


def run(
    engine: PinocchioDynamics, approach: Approach, limits: MotionLimits, end_at_rest: bool
) -> tuple[Pieces, dict[str, Usage]]:
    """The timing on the fine grid, slowed until the limits hold between its points too."""
    profile = timed(engine, approach.at(approach.grid(FINE)), limits, end_at_rest)
    for _ in range(MAX_SLOWINGS):
        usage, factors = usage_of(engine, sampled(approach, profile, TICKS), limits)
        if max(use.share for use in usage.values()) <= 1.0 + BEYOND:
            return profile, usage
        profile = profile.slowed(float(factors.max()))
    raise NoMotionPlan("the timing passes its limits between the points of the grid.")


def sampled(approach: Approach, profile: Pieces, ticks: int) -> JointReference:
    # The last tick is a little before the end, behind which a profile stands still.
    times_s = profile.duration_s * np.linspace(0.0, 1.0 - 1e-9, ticks)
    points = profile.at(times_s)
    path = approach.at(points.s)
    speed, rate = points.first[:, None], points.second[:, None]
    qdd = path.first * rate + path.second * speed**2
    return JointReference(float(times_s[1]), path.q, path.first * speed, qdd)


def timed(engine: PinocchioDynamics, path: JointPath, limits: MotionLimits, end_at_rest: bool) -> Pieces:
    return fastest(path, limits.speed, bounds_along(engine, path, limits, 0), 0, end_at_rest)


def tool_past_mouth_m(scene: InsertionScene, q: Array) -> float:
    """How far the tool's foremost corner is past the plane of the mouth; negative before it."""
    inwards = scene.mouth.rotation[:, 0]
    tip = tip_matrix(scene.scene.robot, q)
    across = 0.5 * (TOOL_SIZE_M[0] * abs(inwards @ tip[:3, 0]) + TOOL_SIZE_M[1] * abs(inwards @ tip[:3, 1]))
    behind = TOOL_SIZE_M[2] * max(0.0, -float(inwards @ tip[:3, 2]))
    return float(inwards @ (tip[:3, 3] - scene.mouth.position_m) + across + behind)


Ends = tuple[Array, Array, Array]


def quintic_at(u: Array, begin: Ends, end: Ends) -> Ends:
    """The polynomial of degree five with q, q', q'' given at u = 0 and 1, and its derivatives."""
    low = np.array([begin[0], begin[1], 0.5 * begin[2]])
    a, b, c = end[0] - low.sum(axis=0), end[1] - low[1] - 2.0 * low[2], end[2] - 2.0 * low[2]
    high = [10.0 * a - 4.0 * b + 0.5 * c, -15.0 * a + 7.0 * b - c, 6.0 * a - 3.0 * b + 0.5 * c]
    coefficients = np.vstack([low, high])
    found = []
    for _ in range(3):
        found.append(np.vander(u, len(coefficients), increasing=True) @ coefficients)
        coefficients = np.arange(1, len(coefficients))[:, None] * coefficients[1:]
    return found[0], found[1], found[2]
