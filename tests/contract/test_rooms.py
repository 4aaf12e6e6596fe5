"""The rooms stand in one order; a module imports only from rooms above its own."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

import forearm

SOURCE = Path(forearm.__file__).parent

ROOMS = (
    "errors",
    "registry",
    "jsonable",
    "progress",
    "arguments",
    "spatial",
    "robots",
    "kinematics",
    "dynamics",
    "ik",
    "arm",
    "motion",
    "control",
    "sim",
    "evidence",
    "tasks",
    "sweep",
    "bench",
    "view",
    "cli",
)
"""In the order data walks through them. ``__init__`` and ``__main__`` stand below all."""

FRONT = ("__init__", "__main__")

# ``import forearm`` must do without these; whoever needs one imports it where it is used.
HEAVY = (
    "mujoco",
    "mujoco.viewer",
    "mujoco.renderer",
    "OpenGL",
    "glfw",
    "matplotlib",
    "pinocchio",
    "coal",
    "example_robot_data",
    "ray",
    "viser",
    "torch",
    # Where SciPy is installed, Numba imports its linear algebra by itself.
    "scipy.optimize",
    "scipy.interpolate",
    "toppra",
    "ruckig",
    "pandas",
    "pyarrow",
)
PEERS = (
    "mink",
    "pink",
    "placo",
    "ikpy",
    "roboticstoolbox",
    "pydrake",
    "optik",
    "eaik",
    "ssik",
    "jaxlie",
    "jax",
)


@cache
def modules() -> dict[str, tuple[str, ast.Module]]:
    """Every module's dotted name: its room and its syntax tree."""
    found = {}
    for path in sorted(SOURCE.rglob("*.py")):
        parts = path.relative_to(SOURCE).with_suffix("").parts
        found[".".join(("forearm", *parts))] = (parts[0], ast.parse(path.read_text(encoding="utf-8")))
    return found


def rooms_imported(tree: ast.Module) -> set[tuple[str, int]]:
    """(room, line) of every import of our own, at the top, inside functions and for type checking."""
    rooms = set()
    for node in ast.walk(tree):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"line {node.lineno}: imports are absolute"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        for name in names:
            package, _, rest = name.partition(".")
            if package == "forearm":
                rooms.add((rest.partition(".")[0], node.lineno))
    return rooms


def test_every_module_stands_in_a_known_room():
    rooms = {room for room, _ in modules().values()}
    assert rooms - set(FRONT) <= set(ROOMS), "give a new room its place in ROOMS"
    assert {"spatial", "robots", "kinematics", "ik", "cli"} <= rooms


@pytest.mark.parametrize("name", modules())
def test_a_module_imports_only_from_rooms_above(name):
    room, tree = modules()[name]
    imported = rooms_imported(tree)
    if room in FRONT:
        return
    allowed = ROOMS[: ROOMS.index(room) + 1]
    wrong = [(other, line) for other, line in imported if other not in allowed]
    assert wrong == []


def test_the_check_itself_sees_every_kind_of_import():
    text = (
        "import forearm.sim\nfrom forearm import cli\nfrom forearm.bench.x import y\n"
        "def f():\n    from forearm.view import z\n"
    )
    assert {room for room, _ in rooms_imported(ast.parse(text))} == {"sim", "cli", "bench", "view"}


def loaded_after(statement: str) -> set[str]:
    """The modules that a fresh interpreter has after ``statement``."""
    script = f"{statement}\nimport json, sys\nprint(json.dumps(sorted(sys.modules)))"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(json.loads(run.stdout.splitlines()[-1]))


@pytest.fixture(scope="module")
def after_import() -> set[str]:
    return loaded_after("import forearm")


def test_importing_forearm_loads_no_engine_no_pictures_and_no_peer(after_import):
    assert "forearm.arm" in after_import
    assert after_import.isdisjoint(HEAVY)
    assert after_import.isdisjoint(PEERS)


def test_importing_forearm_enters_no_room_below_the_arm(after_import):
    below = {f"forearm.{room}" for room in ROOMS[ROOMS.index("arm") + 1 :]}
    assert not [name for name in after_import if ".".join(name.split(".")[:2]) in below]


def test_solving_needs_no_engine_and_an_audit_loads_both():
    solving = "import forearm; arm = forearm.load('two_link'); r = arm.ik((0.3, 0.3, 0.0){})"
    assert loaded_after(solving.format("")).isdisjoint(HEAVY)
    audited = loaded_after(solving.format(", audit=True"))
    assert {"mujoco", "pinocchio"} <= audited
    assert audited.isdisjoint({"mujoco.viewer", "matplotlib", "OpenGL"})


def test_everything_public_is_there_and_nothing_private():
    assert len(set(forearm.__all__)) == len(forearm.__all__)
    for name in forearm.__all__:
        assert getattr(forearm, name) is not None
        assert not name.startswith("_")
