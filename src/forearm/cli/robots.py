"""List the bundled arms, or describe one: joints, limits, reach, masses, pictures."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from forearm.cli._model import add_model_arguments, load_model
from forearm.cli._output import printable, say
from forearm.cli._parsers import FIGURE_ENDINGS, PICTURE_ENDINGS, file_ending
from forearm.errors import InvalidInput

if TYPE_CHECKING:
    from forearm.arm import Arm

WORKSPACE_CELLS = 80
"""Cells along the slice's longer side: few enough that no cell's best rests on one or two samples."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_model_arguments(parser, required=False)
    parser.add_argument("--png", type=file_ending(*PICTURE_ENDINGS), metavar="FILE", help="draw the arm")
    parser.add_argument("--posture", metavar="NAME", help="the posture to draw (default home)")
    parser.add_argument(
        "--workspace",
        type=file_ending(*FIGURE_ENDINGS),
        nargs="?",
        const=Path("workspace.png"),
        metavar="FILE",
        help="draw a slice of the workspace by manipulability (default workspace.png)",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object and nothing else")


def run(args: argparse.Namespace) -> int:
    from forearm.cli import PASSED, print_json

    if args.posture is not None and args.png is None:
        raise InvalidInput("--posture", "goes with --png only", "Say where: --png FILE.")
    if args.robot is None:
        for name in ("png", "workspace", "base", "tip", "tool", "assets"):
            if getattr(args, name) is not None:
                raise InvalidInput(
                    f"--{name}", "needs a robot", f"Say which: forearm robots ur5e --{name} ..."
                )
        list_robots(args.json)
        return PASSED
    arm = load_model(args)
    data = describe(arm)
    if args.png:
        data["picture"] = draw(arm, args.posture, args.png)
    if args.workspace:
        data["workspace"] = draw_workspace(arm, args.workspace)
    if args.json:
        print_json(data)
    else:
        print_description(data)
    return PASSED


def list_robots(as_json: bool) -> None:
    from forearm.cli import print_json
    from forearm.robots.catalog import bundled_names, summary

    if as_json:
        print_json({"robots": {name: summary(name) for name in bundled_names()}})
        return
    for name in bundled_names():
        say(f"  {name:<10} {summary(name)}")
    say("", "Or give a path to a .urdf or .xml, or menagerie:NAME with MENAGERIE_ROOT set.")


def describe(arm: Arm) -> dict[str, Any]:
    from forearm.kinematics.reach import bound_to

    bound = bound_to(arm, to_tip=True)
    masses = {link.name: link.inertial.mass_kg if link.inertial else 0.0 for link in arm.tree.links}
    return {
        "name": arm.name,
        "base": arm.base,
        "tip": arm.tip,
        "task": arm.task,
        "reach_m": {"inner": bound.inner_m, "outer": bound.outer_m},
        "mass_kg": sum(masses.values()),
        "joints": [
            {
                "name": joint.name,
                "kind": joint.kind,
                "lower": joint.lower,
                "upper": joint.upper,
                "max_speed": joint.max_speed,
                "max_effort": joint.max_effort,
                "damping": joint.damping,
                "armature": joint.armature,
            }
            for joint in arm.joints
        ],
        "links": masses,
        "postures": dict(arm.postures),
        "warnings": arm.tree.warnings,
    }


def print_description(data: dict[str, Any]) -> None:
    reach = data["reach_m"]
    say(
        f"{data['name']}: {len(data['joints'])} joints from {data['base']} to {data['tip']}",
        f"  targets are {data['task']}s; reach {reach['inner']:.3f} to {reach['outer']:.3f} m",
        f"  mass {data['mass_kg']:.2f} kg",
        "",
    )
    width = max(5, *(len(printable(joint["name"])) for joint in data["joints"]))
    say(
        f"  {'joint':<{width}}  {'kind':<10} {'lower':>9} {'upper':>9}     "
        f"{'speed':>9}         {'effort':>7}".rstrip()
    )
    for joint in data["joints"]:
        turns = joint["kind"] != "prismatic"
        unit, speed, effort = ("rad", "rad/s", "N·m") if turns else ("m", "m/s", "N")
        say(
            f"  {printable(joint['name']):<{width}}  {joint['kind']:<10} {joint['lower']:>9.4f} "
            f"{joint['upper']:>9.4f} {unit:<3} {joint['max_speed']:>10.3f} {speed:<5} "
            f"{joint['max_effort']:>9.1f} {effort}"
        )
    width = max(4, *(len(printable(name)) for name in data["links"]))
    say("", f"  {'link':<{width}}  mass (kg)")
    for name, mass in data["links"].items():
        say(f"  {printable(name):<{width}}  {mass:.3f}")
    say("", "  postures: " + ", ".join(data["postures"]))
    for key in ("picture", "workspace"):
        if key in data:
            say(f"  {key}: {data[key]}")


def draw(arm: Arm, posture: str | None, path: Path) -> str:
    from forearm.sim.still import render, save_png

    save_png(path, render(arm, arm.posture(posture) if posture else arm.home))
    return str(path)


def draw_workspace(arm: Arm, path: Path) -> str:
    from forearm.evidence.figures.workspace import workspace_figure
    from forearm.kinematics.workspace import workspace_slice

    path.parent.mkdir(parents=True, exist_ok=True)
    workspace_figure(arm, workspace_slice(arm, cells=WORKSPACE_CELLS)).savefig(path, dpi=130)
    return str(path)
