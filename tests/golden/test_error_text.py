"""The messages that users meet most, byte for byte."""

from __future__ import annotations

import numpy as np
import pytest

import forearm
from forearm.errors import ForearmError, shown
from forearm.ik.solve import solve
from forearm.ik.solver import SOLVERS


def unreachable() -> object:
    return forearm.load("two_link(0.5, 0.4)").ik((1.5, 0.0, 0.0)).q


CASES = {
    "unknown robot": (
        lambda: forearm.load("ur6"),
        forearm.UnknownName,
        "unknown robot 'ur6'; valid: mini_arm, panda, two_link, ur5e. A path must end in .urdf, .xml or "
        ".mjcf; menagerie:NAME reads $MENAGERIE_ROOT/NAME.",
    ),
    "unknown solver": (
        lambda: forearm.load("two_link").ik((0.3, 0.3, 0.0), solver="magic"),
        forearm.UnknownName,
        "unknown solver 'magic'; valid: {solvers}.",
    ),
    "unknown frame": (
        lambda: forearm.load("two_link").ik((0.3, 0.3, 0.0), frame="table"),
        forearm.UnknownName,
        "unknown frame 'table'; valid: world, base, link1, link2, tool.",
    ),
    "moving frame": (
        lambda: forearm.load("two_link").ik((0.3, 0.3, 0.0), frame="link1"),
        forearm.InvalidInput,
        "frame 'link1' moves with joint 'shoulder'. Give a target in a frame that stands still.",
    ),
    "unknown task": (
        lambda: forearm.load("two_link").ik((0.3, 0.3, 0.0), task="force"),
        forearm.UnknownName,
        "unknown task 'force'; valid: pose, axis, position.",
    ),
    "unknown option": (
        lambda: forearm.load("two_link").ik((0.3, 0.3, 0.0), solver="dls", lamda=0.1),
        forearm.UnknownName,
        "unknown option of solver dls 'lamda'; valid: damping, max_step_rad, record.",
    ),
    "solver option out of range": (
        lambda: forearm.load("two_link").ik((0.3, 0.3, 0.0), solver="dls", damping=-1.0),
        forearm.InvalidInput,
        "damping is -1.0. Give a positive number of at most 1e+06.",
    ),
    "tool too long": (
        lambda: forearm.load("ur5e", tool=1e300),
        forearm.InvalidInput,
        "tool is 1e+300 m away. Give metres, 10000 at most.",
    ),
    "solver name taken": (
        lambda: SOLVERS.register(type("Impostor", (), {"name": "dls"})),
        forearm.InvalidInput,
        "solver 'dls' is registered already, by forearm.ik.solvers.dls.DampedLeastSquares. "
        "Choose another name.",
    ),
    "unknown posture": (
        lambda: forearm.load("ur5e").posture("rest"),
        forearm.UnknownName,
        "unknown posture of ur5e 'rest'; valid: zeros, home, elbow_up, shoulder_only.",
    ),
    "position for a pose": (
        lambda: forearm.load("ur5e").ik((0.3, 0.3, 0.3)),
        forearm.InvalidInput,
        'target is a position without a rotation. Give a pose, or task="position" (--task position).',
    ),
    "seed of the wrong length": (
        lambda: forearm.load("two_link").ik((0.3, 0.3, 0.0), seed=(0.1, 0.2, 0.3)),
        forearm.InvalidInput,
        "seed has shape (3,). Give 2 numbers: shoulder, elbow.",
    ),
    "scaled rotation": (
        lambda: forearm.Pose.from_matrix(np.diag([2.0, 2.0, 2.0, 1.0])),
        forearm.InvalidInput,
        "rotation is not orthonormal: RᵀR differs from the identity by 3. "
        "Give a rotation matrix without scale or shear.",
    ),
    "left-handed rotation": (
        lambda: forearm.Pose.from_matrix(np.diag([1.0, 1.0, -1.0, 1.0])),
        forearm.InvalidInput,
        "rotation is a reflection (determinant -1). Give a right-handed frame.",
    ),
    "quaternion of the wrong length": (
        lambda: forearm.Pose((0.0, 0.0, 0.0), (2.0, 0.0, 0.0, 0.0)),
        forearm.InvalidInput,
        "quaternion_wxyz has norm 2. Give a unit quaternion, scalar part first.",
    ),
    "not a number": (
        lambda: forearm.Pose((0.0, float("nan"), 0.0)),
        forearm.InvalidInput,
        "position_m holds a value that is not finite: [0.0, nan, 0.0].",
    ),
    "no tolerance": (
        lambda: forearm.Tolerance(0.0, 1e-6),
        forearm.InvalidInput,
        "tolerance.position_m is 0.0. Give a positive number.",
    ),
    "no solution": (
        unreachable,
        forearm.NoSolution,
        "UNREACHABLE: beyond reach (the target puts the tip 0.6 m outside what shoulder's axis can reach: "
        "0.100003 to 0.9 m).",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_the_text_is_what_it_was(case):
    provoke, kind, text = CASES[case]
    with pytest.raises(kind) as caught:
        provoke()
    assert str(caught.value) == text.replace("{solvers}", ", ".join(forearm.solver_names()))
    assert isinstance(caught.value, ForearmError)


def test_the_proof_of_blocked_branches_names_the_joint_and_by_how_much(make_two_hinges):
    robot = make_two_hinges((-0.5, -1.0), (0.5, 2.0))
    result = solve(robot, (-0.2, 0.6, 0.0))
    assert result.reason == "limits block every branch"
    assert result.proof == (
        "all 2 branches enumerated: elbow_down: joint shoulder is 0.708 rad past its limit; "
        "elbow_up: joint shoulder is 2.08 rad past its limit; "
        "inside the limits the tip comes no nearer than 0.341 m"
    )


def test_hostile_names_are_cut_and_escaped():
    text = shown("\x1b[2J\n" + "x" * 1000)
    assert "\x1b" not in text
    assert "\n" not in text
    assert len(text) == 80


def test_errors_are_also_the_builtin_kind_one_expects():
    assert issubclass(forearm.InvalidInput, ValueError)
    assert issubclass(forearm.UnknownName, LookupError)
    assert issubclass(forearm.MissingExtra, ImportError)
