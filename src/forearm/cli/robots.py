"""List the bundled arms, or describe one: joints, limits, reach, masses, pictures."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from forearm.cli._model import add_model_arguments, load_model

if TYPE_CHECKING:
    from forearm.arm import Arm


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_model_arguments(parser, required=False)
    parser.add_argument("--png", type=Path, metavar="FILE", help="draw the arm")
    parser.add_argument("--posture", metavar="NAME", help="the posture to draw (default home)")
    parser.add_argument(
        "--workspace",
        type=Path,
        nargs="?",
        const=Path("workspace.png"),
        metavar="FILE",
        help="draw a slice of the workspace by manipulability (default workspace.png)",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object and nothing else")


def run(args: argparse.Namespace) -> int:
    from forearm.cli import PASSED, print_json

    if args.robot is None:
        if args.png or args.workspace:
            from forearm.errors import InvalidInput

            raise InvalidInput(
                "--png and --workspace", "need a robot", "Say which: forearm robots ur5e --png."
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
        print(f"  {name:<10} {summary(name)}")
    print("\nOr give a path to a .urdf or .xml, or menagerie:NAME with MENAGERIE_ROOT set.")


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
    print(f"{data['name']}: {len(data['joints'])} joints from {data['base']} to {data['tip']}")
    print(f"  targets are {data['task']}s; reach {reach['inner']:.3f} to {reach['outer']:.3f} m")
    print(f"  mass {data['mass_kg']:.2f} kg\n")
    names = [joint["name"] for joint in data["joints"]]
    width = max(5, *map(len, names))
    print(f"  {'joint':<{width}}  {'kind':<10} {'lower':>9} {'upper':>9}      {'speed':>9} {'effort':>9}")
    for joint in data["joints"]:
        unit = "m" if joint["kind"] == "prismatic" else "rad"
        print(
            f"  {joint['name']:<{width}}  {joint['kind']:<10} {joint['lower']:>9.4f} {joint['upper']:>9.4f} "
            f"{unit:<4} {joint['max_speed']:>9.3f} {joint['max_effort']:>9.1f}"
        )
    width = max(4, *map(len, data["links"]))
    print(f"\n  {'link':<{width}}  mass (kg)")
    for name, mass in data["links"].items():
        print(f"  {name:<{width}}  {mass:.3f}")
    print("\n  postures: " + ", ".join(data["postures"]))
    for key in ("picture", "workspace"):
        if key in data:
            print(f"  {key}: {data[key]}")


def draw(arm: Arm, posture: str | None, path: Path) -> str:
    from forearm.sim.still import render, save_png

    save_png(path, render(arm, arm.posture(posture) if posture else arm.home))
    return str(path)


def draw_workspace(arm: Arm, path: Path) -> str:
    from forearm.evidence.figures.workspace import workspace_figure
    from forearm.kinematics.workspace import workspace_slice

    path.parent.mkdir(parents=True, exist_ok=True)
    workspace_figure(arm, workspace_slice(arm)).savefig(path, dpi=130)
    return str(path)
