"""The arguments with which every verb is told which robot is meant."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from forearm.cli._parsers import existing_folder

if TYPE_CHECKING:
    from forearm.arm import Arm


def add_model_arguments(parser: argparse.ArgumentParser, required: bool = True) -> None:
    parser.add_argument(
        "robot",
        nargs=None if required else "?",
        help='a bundled name, "two_link(0.5, 0.4)", a path to a .urdf or .xml, or menagerie:NAME',
    )
    parser.add_argument("--base", metavar="FRAME", help="frame that targets are given in")
    parser.add_argument("--tip", metavar="FRAME", help="frame that is moved")
    parser.add_argument("--tool", type=float, metavar="M", help="tool length along the tip's z axis")
    parser.add_argument(
        "--assets", type=existing_folder, metavar="DIR", help="folder that the model may read meshes from"
    )


def load_model(args: argparse.Namespace) -> Arm:
    """The arm that ``add_model_arguments`` describes."""
    from forearm.arm import load

    return load(args.robot, base=args.base, tip=args.tip, tool=args.tool, assets=args.assets)
