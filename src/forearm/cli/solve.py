"""Find joint vectors for a target, certified; or say why there are none.

forearm solve two_link --position 0.34 0.28 0
forearm solve ur5e --position 0.3 0.2 0.55 --rpy-deg 180 0 0 --audit --out runs
forearm solve arm.urdf --at 0.1 0.2 0.3 0.4 0.5 0.6        (the pose of a joint vector)
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from forearm.cli._model import add_model_arguments, load_model

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
    target.add_argument("--task", choices=("pose", "position"), help="what has to match")
    how = parser.add_argument_group("how")
    how.add_argument("--solver", help="which solver (default: the closed form if there is one)")
    how.add_argument("--seed", type=float, nargs="+", metavar="Q", help="joint vector to start from")
    how.add_argument("--tolerance-m", type=float, default=1e-6)
    how.add_argument("--tolerance-rad", type=float, default=1e-6)
    how.add_argument("--max-iterations", type=int, default=200)
    how.add_argument("--audit", action="store_true", help="replay every answer in Pinocchio and MuJoCo")
    parser.add_argument("--png", type=Path, metavar="FILE", help="draw the answer")
    parser.add_argument("--out", metavar="DIR", help="keep an artifact with report and picture there")
    parser.add_argument("--json", action="store_true", help="print one JSON object and nothing else")


def run(args: argparse.Namespace) -> int:
    from forearm.cli import FAILED, PASSED, print_json
    from forearm.ik.problem import Tolerance

    arm = load_model(args)
    target = target_of(arm, args)
    result = arm.ik(
        target,
        seed=args.seed,
        solver=args.solver,
        frame=args.frame,
        task=args.task,
        tolerance=Tolerance(args.tolerance_m, args.tolerance_rad),
        max_iterations=args.max_iterations,
        audit=args.audit,
    )
    in_base = arm.target_in_base(target, args.frame)
    pictures = {}
    if args.png:
        pictures["picture"] = picture(arm, result, in_base, args.png)
    artifact = keep(arm, result, in_base, args.out) if args.out else None
    if args.json:
        print_json({"outcome": outcome(result), **result.to_json(), **pictures, "artifact": artifact})
    else:
        print_result(arm, result)
        for name, path in pictures.items():
            print(f"{name}: {path}")
        if artifact:
            print(f"Evidence: {artifact}\nReport:   {Path(artifact) / 'report.html'}")
    return PASSED if result else FAILED


def outcome(result: IKResult) -> str:
    return "passed" if result else "failed"


def target_of(arm: Arm, args: argparse.Namespace) -> Pose:
    """The target pose that the arguments describe; for position tasks its rotation means nothing."""
    from math import radians

    from forearm.errors import InvalidInput
    from forearm.spatial import Pose

    ways = [args.position, args.at, args.at_posture]
    if sum(way is not None for way in ways) != 1:
        raise InvalidInput("target", "is not clear", "Give one of --position, --at or --at-posture.")
    if args.at is not None:
        return arm.fk(args.at)
    if args.at_posture is not None:
        return arm.fk(arm.posture(args.at_posture))
    if args.quaternion is not None:
        return Pose(args.position, args.quaternion)
    if args.rpy_deg is not None:
        return Pose.from_rpy(args.position, [radians(angle) for angle in args.rpy_deg])
    if (args.task or arm.task) == "pose":
        raise InvalidInput(
            "target", "has no rotation", "Give --quaternion or --rpy-deg, or ask for --task position."
        )
    return Pose(args.position)


def print_result(arm: Arm, result: IKResult) -> None:
    import numpy as np

    print(f"{result.status}: {result.reason}" + (f" ({result.solver})" if result else ""))
    if result.proof:
        print(f"  proof: {result.proof}")
    for warning in result.warnings:
        print(f"  warning: {warning}")
    postures: list[tuple[str, Posture]] = [("solution", posture) for posture in result.solutions]
    if result.best_effort:
        postures.append(("best effort, not a solution", result.best_effort))
    for title, posture in postures:
        branch = f", {posture.branch}" if posture.branch else ""
        print(f"\n  {title}{branch}")
        width = max(map(len, arm.joint_names))
        for name, value, turns in zip(arm.joint_names, posture.q, arm.turns, strict=True):
            shown = f"{value:+.6f} rad  {np.degrees(value):+9.3f}°" if turns else f"{value:+.6f} m"
            print(f"    {name:<{width}}  {shown}")
        rotation = "free" if np.isnan(posture.rotation_error_rad) else f"{posture.rotation_error_rad:.2e} rad"
        print(f"    error         {posture.position_error_m:.2e} m, rotation {rotation}")
        if posture.limit_joint:
            margin = min(posture.limit_margin_rad, posture.limit_margin_m)
            print(f"    limit margin  {margin:.4f} at {posture.limit_joint}")
        print(
            f"    manipulability {posture.manipulability:.4g}, smallest singular value "
            f"{posture.min_singular_value:.4g}, condition {posture.condition_number:.4g}"
        )
    for engine, (position, rotation_rad) in result.audit.items():
        print(f"\n  replayed in {engine}: {position:.2e} m, {rotation_rad:.2e} rad", end="")
    took = result.diagnostics
    print(f"\n  {took.iterations} iterations, {took.candidates} candidates, {took.time_s * 1e3:.2f} ms")


def picture(arm: Arm, result: IKResult, target: Pose, path: Path) -> str:
    """Draw the best answer, with the start as a ghost."""
    from forearm.sim.still import render, save_png

    best = result.solutions[0] if result.solutions else result.best_effort
    q = best.q if best else result.seed
    save_png(path, render(arm, q, target=target, ghosts=[result.seed] if best else []))
    return str(path)


def keep(arm: Arm, result: IKResult, target: Pose, out: str) -> str:
    """Write the artifact: the record, the result, and the picture where the machine can draw."""
    import sys

    from forearm.errors import NoPicture
    from forearm.evidence.solving import solve_record
    from forearm.evidence.writer import ArtifactWriter

    with ArtifactWriter(out, "solve", f"Inverse kinematics of {arm.name}") as artifact:
        artifact.write_rows("result", [result.to_json()])
        try:
            picture(arm, result, target, artifact.folder / "answer_in_colour,_start_as_a_ghost.png")
        except NoPicture as error:
            print(f"forearm: no picture: {error}", file=sys.stderr)
        return str(artifact.finish(solve_record(arm, target, result)))
