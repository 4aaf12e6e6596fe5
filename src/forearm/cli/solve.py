"""Find joint vectors for a target, certified; or say why there are none.

forearm solve two_link --position 0.34 0.28 0
forearm solve ur5e --position 0.3 0.2 0.55 --rpy-deg 180 0 0 --audit --out runs
forearm solve arm.urdf --at 0.1 0.2 0.3 0.4 0.5 0.6        (the pose of a joint vector)
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from forearm.arguments import positive
from forearm.cli._model import add_model_arguments, load_model
from forearm.cli._output import say, warn
from forearm.cli._parsers import PICTURE_ENDINGS, file_ending, folder_to_write, held_joint

if TYPE_CHECKING:
    from forearm.arm import Arm
    from forearm.ik.result import IKResult, Posture
    from forearm.spatial import Pose


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_model_arguments(parser)
    target = parser.add_argument_group("target")
    target.add_argument("--position", type=float, nargs=3, metavar=("X", "Y", "Z"), help="in metres")
    target.add_argument("--quaternion", type=float, nargs=4, metavar=("W", "X", "Y", "Z"))
    target.add_argument(
        "--rpy-deg", type=float, nargs=3, metavar=("R", "P", "Y"), help="roll, pitch, yaw in degrees"
    )
    target.add_argument("--at", type=float, nargs="+", metavar="Q", help="the pose of this joint vector")
    target.add_argument("--at-posture", metavar="NAME", help="the pose of a named posture")
    target.add_argument("--frame", help="frame of the target (default: the base)")
    target.add_argument("--task", choices=("pose", "axis", "position"), help="what has to match")
    target.add_argument(
        "--axis", type=float, nargs=3, metavar=("X", "Y", "Z"), help="what has to point, in the tip's frame"
    )
    target.add_argument(
        "--hold", type=held_joint, action="append", metavar="JOINT=VALUE", help="a joint that stays there"
    )
    how = parser.add_argument_group("how")
    how.add_argument("--solver", help="which solver (default: the closed form, else the race)")
    how.add_argument("--mode", choices=("first", "nearest", "best"), help="which answer, of the race")
    how.add_argument("--objective", choices=("limit_margin", "manipulability"), help="what is best")
    how.add_argument("--seed", type=float, nargs="+", metavar="Q", help="joint vector to start from")
    how.add_argument("--tolerance-m", type=float, default=1e-6)
    how.add_argument("--tolerance-rad", type=float, default=1e-6)
    how.add_argument("--max-iterations", type=positive, default=200)
    how.add_argument("--audit", action="store_true", help="replay every answer in Pinocchio and MuJoCo")
    parser.add_argument("--png", type=file_ending(*PICTURE_ENDINGS), metavar="FILE", help="draw the answer")
    parser.add_argument(
        "--out", type=folder_to_write, metavar="DIR", help="keep an artifact with report and picture there"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object and nothing else")


def run(args: argparse.Namespace) -> int:
    from dataclasses import replace

    from forearm.cli import FAILED, PASSED, print_json
    from forearm.ik.problem import Tolerance

    refuse_contradictions(args)
    arm = load_model(args)
    target, target_warnings = target_of(arm, args)
    question: dict[str, Any] = {
        "seed": args.seed,
        "solver": args.solver,
        "frame": args.frame,
        "task": args.task,
        "axis": args.axis,
        "hold": dict(args.hold) if args.hold else None,
        "tolerance": Tolerance(args.tolerance_m, args.tolerance_rad),
        "max_iterations": args.max_iterations,
        "audit": args.audit,
    }
    options = {"mode": args.mode, "objective": args.objective}
    question |= {name: value for name, value in options.items() if value is not None}
    # Asked once in vain, so that the time of the answer is its own and not that of loading compiled code.
    arm.ik(target, **{**question, "max_iterations": 1, "audit": False})
    result = arm.ik(target, **question)
    problem = replace(result.problem, warnings=(*target_warnings, *result.warnings))
    result = replace(result, problem=problem)
    if not args.json:
        print_result(arm, result)
    drawn = drawn_to(args.png, arm, result, target) if args.png else None
    artifact = keep(arm, result, target, args, question) if args.out else None
    if args.json:
        pictures = {"picture": drawn} if args.png else {}
        print_json({"outcome": outcome(result), **result.to_json(), **pictures, "artifact": artifact})
    else:
        if drawn:
            say(f"picture: {drawn}")
        if artifact:
            say(f"Evidence: {artifact}", f"Report:   {Path(artifact) / 'report.html'}")
    return PASSED if result else FAILED


def outcome(result: IKResult) -> str:
    return "passed" if result else "failed"


def refuse_contradictions(args: argparse.Namespace) -> None:
    from forearm.errors import InvalidInput

    ways = [args.position, args.at, args.at_posture]
    if sum(way is not None for way in ways) != 1:
        raise InvalidInput("target", "is not clear", "Give one of --position, --at or --at-posture.")
    if args.quaternion is not None and args.rpy_deg is not None:
        raise InvalidInput("target", "has two rotations", "Give --quaternion or --rpy-deg, not both.")
    for name in ("quaternion", "rpy_deg", "frame"):
        if args.position is None and getattr(args, name) is not None:
            option = f"--{name.replace('_', '-')}"
            raise InvalidInput(
                option, "goes with --position only", "--at and --at-posture give a whole pose in the base."
            )


def target_of(arm: Arm, args: argparse.Namespace) -> tuple[Pose, tuple[str, ...]]:
    """The target pose that the arguments describe, with what is odd about it.

    For position tasks its rotation means nothing.
    """
    from math import radians

    from forearm.errors import InvalidInput
    from forearm.ik.problem import limit_warnings
    from forearm.spatial import Pose

    if args.at is not None:
        q = arm.joint_vector(args.at, "--at")
        return arm.fk(q), limit_warnings(arm, q, "--at")
    if args.at_posture is not None:
        return arm.fk(arm.posture(args.at_posture)), ()
    if args.quaternion is not None:
        return Pose(args.position, args.quaternion), ()
    if args.rpy_deg is not None:
        return Pose.from_rpy(args.position, [radians(angle) for angle in args.rpy_deg]), ()
    if (args.task or arm.task) != "position":
        raise InvalidInput(
            "target", "has no rotation", "Give --quaternion or --rpy-deg, or ask for --task position."
        )
    return Pose(args.position), ()


def print_result(arm: Arm, result: IKResult) -> None:
    import numpy as np

    from forearm.evidence.solving import NOT_A_SOLUTION

    say(f"{result.status}: {result.reason}" + (f" ({result.solver})" if result else ""))
    if result.proof:
        say(f"  proof: {result.proof}")
    for warning in result.warnings:
        say(f"  warning: {warning}")
    postures: list[tuple[str, Posture]] = [("solution", posture) for posture in result.solutions]
    if result.best_effort:
        postures.append((NOT_A_SOLUTION, result.best_effort))
    width = max(map(len, arm.joint_names))
    for title, posture in postures:
        say("", f"  {title}" + (f", {posture.branch}" if posture.branch else ""))
        for name, value, turns in zip(arm.joint_names, posture.q, arm.turns, strict=True):
            shown = f"{value:+.6f} rad  {np.degrees(value):+9.3f}°" if turns else f"{value:+.6f} m"
            say(f"    {name:<{width}}  {shown}")
        rotation = "free" if np.isnan(posture.rotation_error_rad) else f"{posture.rotation_error_rad:.2e} rad"
        say(f"    error         {posture.position_error_m:.2e} m, rotation {rotation}")
        if posture.limit_joint:
            margins = [(posture.limit_margin_rad, "rad"), (posture.limit_margin_m, "m")]
            finite = " and ".join(f"{margin:.4f} {unit}" for margin, unit in margins if np.isfinite(margin))
            say(f"    limit margin  {finite}, nearest: {posture.limit_joint}")
        say(
            f"    manipulability {posture.manipulability:.4g}, smallest singular value "
            f"{posture.min_singular_value:.4g}, condition {posture.condition_number:.4g}"
        )
    say("")
    for engine, (position, rotation_rad) in result.audit.items():
        say(f"  replayed in {engine}: {position:.2e} m, {rotation_rad:.2e} rad")
    took = result.diagnostics
    say(
        f"  {counted(took.iterations, 'iteration')}, {counted(took.candidates, 'candidate')}, "
        f"{took.time_s * 1e3:.2f} ms"
    )


def counted(number: int, noun: str) -> str:
    return f"{number} {noun}" + ("" if number == 1 else "s")


def drawn_to(path: Path, arm: Arm, result: IKResult, target: Pose) -> str | None:
    """Draw the best answer, with the start as a ghost; None, with a warning, where nothing can draw."""
    from forearm.errors import NoPicture
    from forearm.sim.still import render, save_png

    best = result.solutions[0] if result.solutions else result.best_effort
    q = best.q if best else result.seed
    in_base = arm.target_in_base(target, result.frame)
    try:
        image = render(arm, q, target=in_base, ghosts=[result.seed] if best else [])
    except NoPicture as error:
        warn(f"no picture: {error}")
        return None
    save_png(path, image)
    return str(path)


def picture_name(result: IKResult) -> str:
    """The file's name is the picture's caption in the report."""
    if result.solutions:
        return "answer_in_colour,_start_as_a_ghost.png"
    if result.best_effort:
        return "nearest_posture_found,_not_a_solution;_start_as_a_ghost.png"
    return "the_start;_no_posture_was_found.png"


def keep(arm: Arm, result: IKResult, target: Pose, args: argparse.Namespace, question: dict[str, Any]) -> str:
    """Write the artifact: the record, the result, and the picture where the machine can draw."""
    from forearm.evidence.solving import solve_record
    from forearm.evidence.writer import ArtifactWriter

    loading = {"model": args.robot, "base": args.base, "tip": args.tip, "tool": args.tool}
    with ArtifactWriter(args.out, "solve", f"Inverse kinematics of {arm.name}") as artifact:
        artifact.write_rows("result", [result.to_json()])
        drawn_to(artifact.folder / picture_name(result), arm, result, target)
        record = solve_record(arm, target, result, loading=loading, question=question)
        return str(artifact.finish(record))
