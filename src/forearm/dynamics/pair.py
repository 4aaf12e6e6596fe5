"""``verify_pair``: a user's own URDF and MJCF of one arm, each read by its own engine.

Our reading of the files makes the chain; Pinocchio reads the URDF and MuJoCo the MJCF, so that a
misreading by any of the three shows. Where a file is missing, that engine gets our tree.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from xml.etree.ElementTree import Element, tostring

import mujoco
import pinocchio as pin

from forearm.dynamics.bars import ONE_SOURCE, TWO_FILES
from forearm.dynamics.mujoco_engine import MujocoDynamics
from forearm.dynamics.pinocchio_engine import PinocchioDynamics
from forearm.dynamics.samples import SAMPLES, SEED
from forearm.dynamics.verification import Verification
from forearm.dynamics.verify import Side, compare
from forearm.errors import InvalidInput, ModelError, shown
from forearm.robots.load import load_tree
from forearm.robots.mjcf import settle_meshes
from forearm.robots.mjcf_scan import mechanism, scan
from forearm.robots.robot import Robot, chain_in
from forearm.robots.safe_xml import Folders, parse_xml, read_bytes
from forearm.robots.tree import Tree


def verify_pair(
    urdf: str | Path | None = None,
    mjcf: str | Path | None = None,
    *,
    base: str | None = None,
    tip: str | None = None,
    hold: Mapping[str, float] | None = None,
    assets: str | Path | None = None,
    samples: int = SAMPLES,
    seed: int = SEED,
) -> Verification:
    """Cross-check the chain from ``base`` to ``tip`` in the files given.

    Joints are matched by name; the files' other joints are held. The tip is compared in each engine's
    world, since a root pose in one file only is a disagreement. Link frames are compared only within
    a file: two files may place them differently on the same link, but not the joint axes.
    """
    if urdf is None and mjcf is None:
        raise InvalidInput("urdf and mjcf", "are both missing", "Give --urdf FILE, --mjcf FILE or both.")
    # Both files are read safely before an engine sees either: Pinocchio crashes on hostile ones.
    urdf_tree = None if urdf is None else load_tree(urdf, assets=assets)
    mjcf_tree = None if mjcf is None else load_tree(mjcf, assets=assets)
    tree = urdf_tree or mjcf_tree
    assert tree is not None
    robot = chain_in(tree, base=base, tip=tip, held=hold)
    return compare(
        robot,
        urdf_side(robot, urdf_tree) if urdf_tree else Side(PinocchioDynamics(robot), tree.source),
        mjcf_side(robot, mjcf_tree, assets) if mjcf_tree else Side(MujocoDynamics(robot), tree.source),
        samples,
        seed,
    )


def urdf_side(robot: Robot, tree: Tree) -> Side:
    """Pinocchio's own reading of the URDF that ``tree`` was read from."""
    root = element_of(tree, "robot", "a URDF")
    try:
        model = pin.buildModelFromXML(tostring(root, "unicode"))
    except (ValueError, RuntimeError) as error:
        raise ModelError(tree.source, f"is refused by Pinocchio: {shown(error)}") from None
    return Side(PinocchioDynamics(robot, model), tree.source)


def mjcf_side(robot: Robot, tree: Tree, assets: str | Path | None) -> Side:
    """MuJoCo's own reading of the MJCF that ``tree`` was read from.

    What kinematics and mass do not depend on is left out, and with it the file's own gravity.
    """
    root = element_of(tree, "mujoco", "an MJCF")
    document = scan(root, Folders.around(Path(tree.source), assets))
    spec = mujoco.MjSpec.from_string(tostring(mechanism(root), "unicode"))
    spec.compiler.fusestatic = False
    for actuator in list(spec.actuators):
        spec.delete(actuator)
    unknown = [body.name for body in settle_meshes(spec, document).without_mass]
    one_file = robot.tree is tree
    return Side(
        MujocoDynamics(robot, spec.compile()),
        tree.source,
        bars=ONE_SOURCE if one_file else TWO_FILES,
        shares_frames=one_file,
        without_masses=f"no mass for {unknown[0]}: its mesh is missing" if unknown else "",
    )


def element_of(tree: Tree, tag: str, kind: str) -> Element:
    """The root element of the file that ``tree`` was read from."""
    root = parse_xml(read_bytes(Path(tree.source), tree.source), tree.source)
    if root.tag != tag:
        raise ModelError(tree.source, f"is not {kind}: its root element is {shown(root.tag)}")
    return root
