"""Still pictures: what is in them, and what is said where none can be drawn."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import forearm
from forearm.errors import InvalidInput, NoPicture
from forearm.robots.bundled import panda, two_link, ur5e
from forearm.robots.robot import Robot, chain_in
from forearm.sim.framing import FIELD_OF_VIEW_DEG, FILL, View, framed
from forearm.sim.offscreen import backends, open_context
from forearm.sim.still import open_studio, render, save_png
from forearm.sim.studio import FLOOR, PLINTH, posed, settle_floor, studio_spec
from forearm.spatial import Pose
from forearm.tasks._collision import NAME as COLLISION

SMALL = {"width": 160, "height": 120}


@pytest.fixture(scope="module")
def _can_draw() -> None:
    try:
        with open_context(16, 16):
            pass
    except NoPicture as error:
        pytest.skip(str(error))


drawn = pytest.mark.usefixtures("_can_draw")


@pytest.fixture
def arm() -> Robot:
    return chain_in(ur5e.describe())


@drawn
def test_a_picture_has_the_asked_size_and_is_the_same_twice(arm: Robot) -> None:
    first, second = render(arm, arm.home, **SMALL), render(arm, arm.home, **SMALL)
    assert first.shape == (120, 160, 3)
    assert first.dtype == np.uint8
    assert first.std() > 10.0
    np.testing.assert_array_equal(first, second)


@drawn
def test_target_ghost_and_path_show(arm: Robot) -> None:
    view = View((0.0, -0.2, 0.4), 2.8, 140.0, -16.0)
    other = arm.home + 0.4
    path = np.array([[0.3, 0.3, 0.2], [0.3, -0.3, 0.8]])
    with open_studio(arm, **SMALL) as studio:
        plain = studio.picture(arm.home, view=view)
        with_target = studio.picture(arm.home, view=view, target=Pose((0.3, 0.2, 0.5)))
        with_ghost = studio.picture(arm.home, view=view, ghosts=[other])
        with_path = studio.picture(arm.home, view=view, paths=[path])
        again = studio.picture(arm.home, view=view)
    np.testing.assert_array_equal(plain, again)
    for picture in (with_target, with_ghost, with_path):
        assert (np.abs(picture.astype(int) - plain).max(axis=2) > 20).sum() > 30
    red, green, blue = with_target.astype(int).transpose(2, 0, 1)
    assert (red > green + blue).any()
    assert (green > red + 60).any()
    assert (blue > red + 80).any()


@drawn
def test_an_arm_without_shapes_shows_as_a_skeleton() -> None:
    tree = ur5e.describe()
    bare = chain_in(replace(tree, links=tuple(replace(link, shapes=()) for link in tree.links)))
    view = View((0.0, -0.2, 0.4), 2.8, 140.0, -16.0)
    one = render(bare, bare.home, view=view, **SMALL)
    other = render(bare, bare.home + 0.5, view=view, **SMALL)
    assert (np.abs(one.astype(int) - other).max(axis=2) > 20).sum() > 300


@drawn
def test_a_hung_panda_and_a_point_target_can_be_drawn() -> None:
    hung = chain_in(panda.describe().with_root(Pose.from_rpy((1.0, 2.0, 1.5), (np.pi, 0.0, 0.3))))
    assert render(hung, hung.home, target=Pose((0.5, 0.1, 0.4)), **SMALL).std() > 10.0
    planar = chain_in(two_link.describe())
    picture = render(planar, planar.home, target=Pose((0.1, 0.1, 0.0)), **SMALL).astype(int)
    assert ((picture[..., 0] > 180) & (picture[..., 2] < 90)).any()


@drawn
def test_a_target_far_out_of_reach_leaves_the_arm_in_the_frame(arm: Robot) -> None:
    near = render(arm, arm.home, **SMALL)
    far = render(arm, arm.home, target=Pose((80.0, 0.0, 0.0)), **SMALL)
    assert (np.abs(near.astype(int) - far).max(axis=2) > 40).mean() < 0.05


@drawn
def test_drawing_leaves_the_users_choice_of_backend_alone(arm: Robot) -> None:
    before = os.environ.get("MUJOCO_GL")
    render(arm, arm.home, **SMALL)
    assert os.environ.get("MUJOCO_GL") == before


@drawn
@pytest.mark.parametrize(
    ("options", "pictures"),
    [({"center_m": (0.4, 0.0, 0.5)}, 1), ({"center_m": (3.0, 0.0, 0.5)}, 0), ({"edge_seconds": 0.02}, 0)],
    ids=["collides", "out of reach", "too fast"],
)
def test_a_plan_that_is_refused_for_a_collision_is_pictured_there(
    tmp_path: Path, options: dict[str, object], pictures: int
) -> None:
    record = forearm.run("cube", out=tmp_path, **{"edge_seconds": 0.5, **options})
    (folder,) = tmp_path.iterdir()
    assert record.failures[0]["label"] == "planning"
    found = [path.name for path in folder.glob("*.png")]
    assert found == [COLLISION][:pictures]
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert page.count("where the arm is deepest inside what it hits</figcaption>") == pictures


def test_png_holds_the_same_pixels(tmp_path: Path) -> None:
    from PIL import Image

    image = np.random.default_rng(1).integers(0, 256, (20, 30, 3), dtype=np.uint8)
    path = save_png(tmp_path / "picture.png", image)
    with Image.open(path) as opened:
        np.testing.assert_array_equal(np.asarray(opened), image)


@pytest.mark.parametrize("size", [{"width": 0}, {"height": 100_000}])
def test_a_size_that_cannot_be_drawn_is_refused(arm: Robot, size: dict[str, int]) -> None:
    with pytest.raises(InvalidInput, match=r"pixels\. Give 16 to 2560"):
        render(arm, arm.home, **size)


@drawn
def test_bad_joint_vectors_and_paths_are_refused(arm: Robot) -> None:
    with pytest.raises(InvalidInput, match="Give 6 numbers"):
        render(arm, [0.0, 1.0], **SMALL)
    with pytest.raises(InvalidInput, match="points"):
        render(arm, arm.home, paths=[[[np.nan, 0.0, 0.0]]], **SMALL)


@pytest.mark.parametrize("aspect", [0.5, 1.0, 2.0])
@pytest.mark.parametrize("azimuth_deg", [0.0, 77.0, 200.0])
def test_framed_points_fill_the_tighter_side_and_are_centred(aspect: float, azimuth_deg: float) -> None:
    points = np.random.default_rng(3).uniform((-0.2, 1.0, 0.0), (0.9, 1.4, 0.7), (60, 3))
    view = framed(View((0.0, 0.0, 0.0), 1.0, azimuth_deg, -20.0), points, aspect)
    eye = np.array(view.look_at_m) - view.distance_m * view.axes[2]
    across, up, depth = view.axes @ (points - eye).T
    tangent = np.tan(np.radians(0.5 * FIELD_OF_VIEW_DEG))
    horizontal, vertical = across / (depth * tangent * aspect), up / (depth * tangent)
    assert max(np.ptp(horizontal), np.ptp(vertical)) / 2.0 == pytest.approx(FILL, abs=1e-3)
    for image_axis in (horizontal, vertical):
        assert image_axis.max() + image_axis.min() == pytest.approx(0.0, abs=1e-3)


def test_the_floor_lies_under_the_base_or_under_a_posture_that_reaches_lower(arm: Robot) -> None:
    model = studio_spec(arm).compile()
    settle_floor(model, arm, [posed(model, arm, arm.home)])
    assert model.geom(FLOOR).pos[2] == pytest.approx(0.0, abs=1e-9)
    assert model.geom(PLINTH).rgba[3] == 0.0
    settle_floor(model, arm, [posed(model, arm, np.radians([0.0, 30.0, 0.0, 0.0, 0.0, 0.0]))])
    assert model.geom(FLOOR).pos[2] < -0.2
    assert model.geom(PLINTH).rgba[3] == 1.0
    below = posed(model, arm, arm.home)
    assert below.geom_xpos[model.geom(FLOOR).id][2] == pytest.approx(model.geom(FLOOR).pos[2])


@pytest.mark.skipif(sys.platform != "linux", reason="the backends of Linux")
def test_backends_follow_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("MUJOCO_GL", "DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    assert backends() == ("egl",)
    monkeypatch.setenv("DISPLAY", ":0")
    assert backends() == ("glfw", "egl")
    monkeypatch.setenv("MUJOCO_GL", "OSMesa")
    assert backends() == ("osmesa",)
    monkeypatch.setenv("MUJOCO_GL", "off")
    with pytest.raises(NoPicture, match="MUJOCO_GL is 'off'"):
        backends()


SCRIPT = """
from forearm.errors import NoPicture
from forearm.sim.still import render
import sys
assert "mujoco" not in sys.modules, "a picture module was imported, not used"
try:
    from forearm.robots.bundled import two_link
    from forearm.robots.robot import chain_in
    arm = chain_in(two_link.describe())
    print("picture", render(arm, arm.home, width=64, height=48).shape)
except NoPicture as error:
    print("NoPicture", error)
"""


def run_with(folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    kept = {k: v for k, v in os.environ.items() if k not in ("MUJOCO_GL", "DISPLAY", "WAYLAND_DISPLAY")}
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", SCRIPT],
        env=kept | environment,
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.mark.skipif(sys.platform != "linux", reason="the backends of Linux")
@pytest.mark.parametrize(
    ("environment", "said"),
    [
        ({"MUJOCO_GL": "egl", "__EGL_VENDOR_LIBRARY_FILENAMES": "/nothing.json"}, "apt install libegl1"),
        ({"__EGL_VENDOR_LIBRARY_FILENAMES": "/nothing.json", "DISPLAY": ":77"}, "tried glfw: "),
        ({"MUJOCO_GL": "glfw"}, "MUJOCO_GL=egl"),
        ({"MUJOCO_GL": "crayons"}, "MUJOCO_GL must be egl, osmesa or glfw"),
        ({"MUJOCO_GL": "disable"}, "Pictures are off"),
    ],
)
def test_without_a_backend_one_sentence_says_what_to_do(
    tmp_path: Path, environment: dict[str, str], said: str
) -> None:
    done = run_with(tmp_path, **environment)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("NoPicture")
    assert said in done.stdout
    assert done.stdout.count("\n") == 1
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(sys.platform != "linux", reason="the backends of Linux")
@pytest.mark.parametrize("environment", [{}, {"MUJOCO_GL": "osmesa"}])
def test_a_picture_or_a_sentence_and_then_a_quiet_exit(tmp_path: Path, environment: dict[str, str]) -> None:
    done = run_with(tmp_path, **environment)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(("picture (48, 64, 3)", "NoPicture"))
