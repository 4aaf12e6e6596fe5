"""Bad models: one clear typed error, soon, in little memory, and nothing outside the folder opened."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import mujoco
import pytest

sys.path.insert(0, str(Path(__file__).parent))
from model_cases import CASES, Case, drawing, mjcf
from run_cases import Watch

from forearm.errors import InvalidInput, ModelError, ModelWarning, UnknownName, UnsafePath
from forearm.robots import load, load_tree

MAX_SECONDS = 2.0
"""Of the processor's time."""
MAX_KIB = 500 * 1024


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_is_refused_by_name(case: Case, tmp_path):
    path = case.write(tmp_path)
    with pytest.raises(case.error) as caught:
        case.load(path)
    assert type(caught.value) is case.error
    text = str(caught.value)
    assert case.names in text
    assert "\n" not in text
    assert len(text) < 1000


@pytest.fixture(scope="module")
def measured() -> list[dict]:
    """What each case did in one process of its own, where a crash or a flood would show."""
    runner = Path(__file__).parent / "run_cases.py"
    done = subprocess.run([sys.executable, str(runner)], capture_output=True, text=True, timeout=3600)
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stderr == ""
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_every_case_ends_in_its_error_without_a_word_on_stderr(measured):
    assert [(row["case"], row["error"]) for row in measured] == [
        (case.name, case.error.__name__) for case in CASES
    ]


def test_every_case_is_soon_and_small(measured):
    assert not [row for row in measured if row["seconds"] > MAX_SECONDS]
    assert max(row["peak_kib"] for row in measured) < MAX_KIB


def test_nothing_outside_the_folder_is_opened(measured):
    assert not [row for row in measured if row["opened_by_python"] or row["opened_by_anyone"]]


def test_the_watch_on_the_folder_has_teeth(tmp_path):
    """MuJoCo by itself opens the mesh outside, and the watch sees it."""
    (case,) = [case for case in CASES if case.name == "MJCF absolute mesh"]
    path = case.write(tmp_path)
    watch = Watch(tmp_path)
    assert watch.opened() == []
    with pytest.raises(ValueError, match="secret"):
        mujoco.MjModel.from_xml_path(str(path))
    assert "secret.stl" in watch.opened()
    watch.close()


def test_nothing_outside_is_so_much_as_looked_at(tmp_path, monkeypatch):
    case = next(case for case in CASES if case.name == "parent mesh")
    path = case.write(tmp_path)
    seen: list[str] = []
    realpath = os.path.realpath
    monkeypatch.setattr(os.path, "realpath", lambda name, **options: seen.append(str(name)) or realpath(name))
    with pytest.raises(UnsafePath):
        case.load(path)
    assert not [name for name in seen if "secret" in name]


ALLOWED_MESH = "../secret.stl"


def test_assets_widens_the_folder(tmp_path):
    path = tmp_path / "model" / "arm.urdf"
    path.parent.mkdir()
    (tmp_path / "secret.stl").write_bytes(b"solid")
    path.write_text(drawing(ALLOWED_MESH))
    with pytest.raises(UnsafePath) as caught:
        load(path)
    assert caught.value.path == ALLOWED_MESH
    assert "assets=FOLDER" in str(caught.value)
    (shape,) = load(path, assets=tmp_path).tree.link("hand").shapes
    assert shape.mesh == tmp_path / "secret.stl"


def test_assets_is_a_limit_too(tmp_path):
    path = tmp_path / "model" / "arm.urdf"
    assets = tmp_path / "assets"
    path.parent.mkdir()
    assets.mkdir()
    path.write_text(drawing("/etc/passwd"))
    with pytest.raises(UnsafePath):
        load(path, assets=assets)
    (assets / "linked.stl").symlink_to("/etc/passwd")
    path.write_text(drawing("package://any/linked.stl"))
    with pytest.raises(UnsafePath):
        load(path, assets=assets)


def test_a_missing_mesh_is_a_warning_that_names_it(tmp_path):
    path = tmp_path / "arm.urdf"
    path.write_text(drawing("gone.stl"))
    with pytest.warns(ModelWarning, match=r"gone\.stl"):
        arm = load(path)
    assert arm.dof == 1
    assert "gone.stl" in arm.tree.warnings[0]


def test_missing_files_of_an_mjcf_are_a_warning_that_names_them(tmp_path):
    path = tmp_path / "arm.xml"
    assets = (
        '<asset><mesh name="m" file="gone.obj"/><texture name="t" type="2d" file="gone.png"/>'
        '<material name="s" texture="t"/></asset>'
    )
    path.write_text(mjcf('<body name="tool"><geom type="mesh" mesh="m" material="s"/></body>', assets))
    with pytest.warns(ModelWarning) as caught:
        arm = load(path)
    text = " ".join(str(warning.message) for warning in caught)
    assert "gone.obj" in text
    assert "gone.png" in text
    assert "masses are incomplete" in text
    assert "'tool'" in text
    assert arm.tree.link("tool").inertial is None
    assert arm.tree.link("hand").inertial is not None


def test_a_dtd_is_refused_before_its_content_is_read(tmp_path):
    """A well-formed, harmless DTD is refused as well: the rule is no DTD at all."""
    path = tmp_path / "arm.urdf"
    path.write_text("<!DOCTYPE robot>" + drawing("x.stl"))
    with pytest.raises(ModelError, match="DTD"):
        load(path)


@pytest.mark.parametrize(
    "name", ["", "nope", "ur5e()x", "two_link(__import__('os'))", "arm.txt", "\0.txt", "a/b"]
)
def test_an_unknown_name_lists_what_is_valid(name):
    with pytest.raises(UnknownName) as caught:
        load_tree(name)
    assert "two_link, ur5e" in str(caught.value)
    assert "must end in .urdf, .xml or .mjcf" in str(caught.value)


@pytest.mark.parametrize(
    "text", ["two_link(1, 2, 3)", "two_link(a)", "two_link(nan)", "two_link(0.3,)", "panda(1)"]
)
def test_bad_arguments_of_a_bundled_arm(text):
    with pytest.raises(InvalidInput):
        load(text)
