"""The plan check: what a planned motion asks of the arm and of its surroundings, before anything moves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from forearm.dynamics.pinocchio_engine import PinocchioDynamics
from forearm.errors import InvalidInput
from forearm.kinematics.chain import chain_of, forward_and_jacobian_into
from forearm.kinematics.measures import task_rows
from forearm.kinematics.singularity import SINGULAR_RATIO, singularities
from forearm.motion.efforts import required_efforts
from forearm.motion.follow import JUMP_RAD_PER_MM, Jump, jumps
from forearm.motion.limits import ROUNDING
from forearm.motion.places import Places
from forearm.motion.plan_report import Clearance, Obstructed, PlanRefused, PlanReport, Touch, Worst
from forearm.motion.reference import JointReference, TipReference
from forearm.robots.robot import Robot
from forearm.spatial import Array

__all__ = ["Clearance", "Obstructed", "PlanRefused", "PlanReport", "Touch", "Worst", "check_plan"]

STRIDE = 10
BEYOND = 1e-6
"""Share of a limit of speed or effort that may be passed: what time-optimal timings are held to."""
TINY = np.finfo(float).tiny
AT_REST = 1e-6
"""Speed (rad/s or m/s) up to which the arm counts as standing still."""


def check_plan(
    robot: Robot,
    joints: JointReference,
    *,
    tip: TipReference | None = None,
    clearance: Callable[[Array], Clearance] | None = None,
    min_clearance_m: float = 0.0,
    stride: int = STRIDE,
    task: str | None = None,
) -> PlanReport:
    """What the motion asks for at its worst, with every reason to refuse it.

    Positions and speeds are looked at on every tick. Efforts (inverse dynamics with the joints' damping
    and friction), singular values and clearance are looked at on every ``stride``-th, on the ticks where
    a joint is at an extreme, where segments begin, and on all ticks around the worst of these. With
    ``tip``, places are given along its path, and jumps of the joints are looked for. Raises
    ``InvalidInput`` for references that do not fit.
    """
    require_fitting(robot, joints, tip, stride)
    places = Places(joints, tip)
    look = Look(robot, joints, places, stride)
    problems = start_problems(robot, joints)
    margin = limit_margin(look, problems)
    speed = peak(look, joints.qd, np.arange(len(joints)), robot.max_speed, SPEED, problems)
    ticks, efforts = look.closely(efforts_of(robot, joints))
    effort = peak(look, efforts, ticks, robot.max_effort, EFFORT, problems)
    singular = singularity_margin(look, task or robot.task, problems)
    nearest = None if clearance is None else nearest_of(look, clearance, min_clearance_m, problems)
    found = tuple(jumps(robot, joints, tip)) if tip is not None else ()
    problems += jump_problems(robot, found, places)
    return PlanReport(
        duration_s=joints.dt_s * (len(joints) - 1),
        ticks=len(joints),
        limit_margin=margin,
        peak_speed=speed,
        peak_effort=effort,
        singularity=singular,
        clearance=nearest,
        jumps=found,
        problems=tuple(problems),
    )


@dataclass(frozen=True, eq=False, slots=True)
class Look:
    """Which ticks are looked at, and how closely."""

    robot: Robot
    joints: JointReference
    places: Places
    stride: int

    def closely(self, measure: Callable[[Array], Array]) -> tuple[Array, Array]:
        """Ticks and ``measure`` (k, m) on them: some everywhere, and all around each column's largest."""
        coarse = self.ticks()
        rows = measure(coarse)
        around = coarse[np.argmax(np.abs(rows), axis=0)][:, None] + np.arange(1 - self.stride, self.stride)
        fine = np.setdiff1d(np.clip(around, 0, len(self.joints) - 1), coarse)
        if not fine.size:
            return coarse, rows
        return np.concatenate([coarse, fine]), np.concatenate([rows, measure(fine)])

    def ticks(self) -> Array:
        joints = self.joints
        extremes = [
            pick(values, axis=0)
            for values in (joints.q, joints.qd, joints.qdd)
            for pick in (np.argmin, np.argmax)
        ]
        every = np.arange(0, len(joints), self.stride)
        return np.unique(np.concatenate([every, [len(joints) - 1], *extremes, self.places.begins]))


class Kind(NamedTuple):
    """How a joint's speed or effort is spoken of: a unit for joints that turn, and that slide."""

    does: str
    unit: str
    sliding_unit: str


SPEED = Kind("moves at", "rad/s", "m/s")
EFFORT = Kind("needs", "N·m", "N")


def start_problems(robot: Robot, joints: JointReference) -> list[str]:
    """Reasons why the arm cannot begin: it starts out of range, or not from rest."""
    problems = []
    past = np.maximum(robot.lower - joints.q[0], joints.q[0] - robot.upper)
    for i in map(int, np.flatnonzero(past > ROUNDING)):
        problems.append(
            f"the start puts joint {robot.joint_names[i]} at {joints.q[0, i]:.6g}, outside its limits "
            f"[{robot.lower[i]:.6g}, {robot.upper[i]:.6g}]"
        )
    fastest = int(np.argmax(np.abs(joints.qd[0])))
    if abs(joints.qd[0, fastest]) > AT_REST:
        speed = f"{joints.qd[0, fastest]:.4g} {unit_of(robot, fastest, SPEED)}"
        problems.append(f"the motion starts with joint {robot.joint_names[fastest]} at {speed}, not at rest")
    return problems


def limit_margin(look: Look, problems: list[str]) -> Worst | None:
    """The least distance to a limit over all ticks and joints."""
    robot = look.robot
    margins = np.minimum(look.joints.q - robot.lower, robot.upper - look.joints.q)
    if not np.isfinite(margins).any():
        return None
    worst_ticks = np.argmin(margins, axis=0)
    least = margins[worst_ticks, np.arange(robot.dof)]
    for i in map(int, np.flatnonzero(least < -ROUNDING)):
        tick = int(worst_ticks[i])
        problems.append(
            f"joint {robot.joint_names[i]} goes to {look.joints.q[tick, i]:.6g}, outside its limits "
            f"[{robot.lower[i]:.6g}, {robot.upper[i]:.6g}] ({look.places.at(tick)})"
        )
    i = int(np.argmin(least))
    unit = "rad" if robot.turns[i] else "m"
    return Worst(float(least[i]), unit, np.inf, robot.joint_names[i], look.places.at(int(worst_ticks[i])))


def peak(look: Look, values: Array, ticks: Array, limits: Array, kind: Kind, problems: list[str]) -> Worst:
    """The largest share of a limit, and a problem for every joint that passes its own.

    Without any limit it is the largest value.
    """
    robot, size = look.robot, np.abs(values)
    rows = np.argmax(size, axis=0)
    most = size[rows, np.arange(robot.dof)]

    def worst(i: int) -> Worst:
        place = look.places.at(int(ticks[rows[i]]))
        unit = unit_of(robot, i, kind)
        return Worst(float(most[i]), unit, float(limits[i]), robot.joint_names[i], place)

    for i in map(int, np.flatnonzero(most > limits * (1.0 + BEYOND))):
        passed = worst(i)
        problems.append(
            f"joint {passed.name} {kind.does} {passed.value:.4g} {passed.unit}, its limit is "
            f"{passed.limit:.4g} ({passed.place})"
        )
    bound = np.isfinite(limits)
    shares = np.where(bound, most / np.maximum(limits, TINY), 0.0) if bound.any() else most
    return worst(int(np.argmax(shares)))


def efforts_of(robot: Robot, joints: JointReference) -> Callable[[Array], Array]:
    engine = PinocchioDynamics(robot)
    return lambda ticks: required_efforts(engine, joints.q[ticks], joints.qd[ticks], joints.qdd[ticks])


def singularity_margin(look: Look, task: str, problems: list[str]) -> Worst:
    """The smallest singular value of the task's Jacobian over its largest, and which singularity it is."""
    robot, q = look.robot, look.joints.q

    def shortfall(ticks: Array) -> Array:
        columns = np.array([jacobian_at(robot, q[tick]) for tick in ticks])[:, task_rows(task)]
        singular = np.linalg.svd(columns, compute_uv=False)
        return 1.0 - singular[:, -1:] / singular[:, :1]

    ticks, short = look.closely(shortfall)
    row = int(np.argmax(short))
    ratio, place = 1.0 - float(short[row, 0]), look.places.at(int(ticks[row]))
    near = singularities(robot, q[ticks[row]])
    name = "no known singularity"
    if near:
        name = near[0].name + (f" ({', '.join(near[0].joints)})" if near[0].joints else "")
    if not ratio >= SINGULAR_RATIO:
        problems.append(
            f"the arm is nearly singular, {name}: smallest over largest singular value is {ratio:.3g}, "
            f"at least {SINGULAR_RATIO:g} is asked for ({place})"
        )
    return Worst(ratio, "", SINGULAR_RATIO, name, place)


def jacobian_at(robot: Robot, q: Array) -> Array:
    transform, columns = np.empty((4, 4)), np.empty((6, robot.dof))
    forward_and_jacobian_into(chain_of(robot), np.ascontiguousarray(q), transform, columns)
    return columns


def nearest_of(
    look: Look, clearance: Callable[[Array], Clearance], required_m: float, problems: list[str]
) -> Obstructed:
    """The nearest that any link comes to the scene, and where one first touches it."""
    found: dict[int, Clearance] = {}

    def closeness(ticks: Array) -> Array:
        for tick in ticks:
            found[int(tick)] = clearance(look.joints.q[tick])
        # The largest is looked for: nearness falls with distance, and stays positive.
        return np.array([[np.exp(-found[int(tick)].distance_m)] for tick in ticks])

    ticks, near = look.closely(closeness)
    tick = int(ticks[int(np.argmax(near))])
    distance, link, obstacle = found[tick]
    first = None if distance > 0.0 else first_touch(look, clearance, found)
    place, q = look.places.at(tick), tuple(look.joints.q[tick].tolist())
    nearest = Obstructed(float(distance), required_m, link, obstacle, place, q, first)
    if first is not None:
        problems.append(collision_text(nearest, first))
    elif distance < required_m:
        problems.append(
            f"link {link} comes within {1e3 * distance:.3g} mm of {obstacle}, "
            f"{1e3 * required_m:.3g} mm is asked for ({place})"
        )
    return nearest


def first_touch(look: Look, clearance: Callable[[Array], Clearance], found: dict[int, Clearance]) -> Touch:
    """The earliest touch on the ticks looked at and on those just before it."""
    touching = min(tick for tick, (distance, _, _) in found.items() if not distance > 0.0)
    free = max((tick for tick in found if tick < touching), default=touching)
    for tick in range(free + 1, touching):
        found[tick] = clearance(look.joints.q[tick])
        if not found[tick].distance_m > 0.0:
            touching = tick
            break
    _, link, obstacle = found[touching]
    return Touch(link, obstacle, look.places.at(touching))


def collision_text(nearest: Obstructed, first: Touch) -> str:
    """Where the arm first touches something, and where it is deepest inside."""
    if not nearest.distance_m < 0.0:
        return str(first)
    depth, place = f"{-1e3 * nearest.distance_m:.3g} mm", nearest.place
    if place.tick == first.place.tick:
        return f"link {nearest.link} hits {nearest.obstacle}, {depth} deep ({place})"
    return f"{first}; deepest is {nearest.link}, {depth} inside {nearest.obstacle} ({place})"


def jump_problems(robot: Robot, found: tuple[Jump, ...], places: Places) -> list[str]:
    """One line for all jumps: the largest, and how many there are."""
    if not found:
        return []
    largest = max(found, key=lambda jump: jump.rad_per_mm)
    unit = "rad" if robot.turns[robot.joint_names.index(largest.joint)] else "m"
    more = f", the largest of {len(found)} jumps" if len(found) > 1 else ""
    return [
        f"joint {largest.joint} jumps by {largest.rad_per_mm:.3g} {unit} a millimetre of the tip{more}; "
        f"at most {JUMP_RAD_PER_MM:g} is allowed ({places.at(largest.tick)})"
    ]


def unit_of(robot: Robot, joint: int, kind: Kind) -> str:
    return kind.unit if robot.turns[joint] else kind.sliding_unit


def require_fitting(robot: Robot, joints: JointReference, tip: TipReference | None, stride: int) -> None:
    """Raise ``InvalidInput`` unless the references have one finite row a tick and a column a joint."""
    for name in ("q", "qd", "qdd"):
        values = getattr(joints, name)
        if values.ndim != 2 or values.shape != (len(joints), robot.dof) or not len(values):
            raise InvalidInput(
                f"joint reference {name}", f"has shape {values.shape}", f"{robot.dof} columns."
            )
        if not np.isfinite(values).all():
            tick = int(np.argmin(np.isfinite(values).all(axis=1)))
            raise InvalidInput(f"joint reference {name}", f"is not finite at tick {tick}")
    if tip is not None and len(tip) != len(joints):
        raise InvalidInput("tip reference", f"has {len(tip)} ticks for {len(joints)} of the joints")
    if stride < 1:
        raise InvalidInput("stride", f"is {stride}", "Give a number of ticks, 1 or more.")
