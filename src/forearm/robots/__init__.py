"""What an arm is: ``load`` makes a frozen ``Robot`` from a bundled name, a URDF or an MJCF file."""

from __future__ import annotations

from forearm.robots.catalog import bundled_names, summary
from forearm.robots.load import load, load_tree
from forearm.robots.robot import Robot
from forearm.robots.tree import Tree

__all__ = ["Robot", "Tree", "bundled_names", "load", "load_tree", "summary"]
