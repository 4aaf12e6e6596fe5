"""Films: as long and as large as asked, moving, and readable by any player."""

from __future__ import annotations

import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from forearm.errors import InvalidInput, MissingExtra, NoPicture
from forearm.robots.bundled import two_link, ur5e
from forearm.robots.robot import Robot, chain_in
from forearm.sim.film import film, frame_ticks
from forearm.sim.offscreen import open_context
from forearm.sim.scene import Block

av = pytest.importorskip("av")

TABLE = Block("table", (0.43, 0.0, 0.395), (0.40, 0.60, 0.015))
SMALL = {"width": 160, "height": 120}
DT_S = 0.002


@pytest.fixture(scope="module")
def _can_draw() -> None:
    try:
        with open_context(16, 16):
            pass
    except NoPicture as error:
        pytest.skip(str(error))


drawn = pytest.mark.usefixtures("_can_draw")


@pytest.fixture(scope="module")
def arm() -> Robot:
    return chain_in(ur5e.describe())


def motion(arm: Robot, seconds: float = 0.3) -> tuple[np.ndarray, np.ndarray]:
    share = np.linspace(0.0, 1.0, round(seconds / DT_S) + 1)[:, None]
    return arm.home + 0.8 * share, np.array([0.4, -0.3, 0.6]) + share * (0.0, 0.5, 0.1)


def decoded(path: Path) -> list[np.ndarray]:
    with av.open(str(path)) as container:
        return [frame.to_ndarray(format="rgb24") for frame in container.decode(video=0)]


@drawn
def test_a_film_has_a_frame_every_thirtieth_of_a_second_and_moves(arm: Robot, tmp_path: Path) -> None:
    rows, trail = motion(arm)
    path = film(arm, rows, DT_S, tmp_path / "new" / "run.mp4", blocks=[TABLE], trail=trail, **SMALL)
    with av.open(str(path)) as container:
        stream = container.streams.video[0]
        assert (stream.codec_context.name, stream.codec_context.pix_fmt) == ("h264", "yuv420p")
        assert stream.average_rate == 30
    frames = decoded(path)
    assert len(frames) == 10
    assert {frame.shape for frame in frames} == {(120, 160, 3)}
    for one, other in pairwise(frames):
        assert (np.abs(one.astype(int) - other).max(axis=2) > 20).sum() > 30
    content = path.read_bytes()
    assert content.index(b"moov") < content.index(b"mdat"), "a player must be able to start at once"


@drawn
def test_the_trail_grows(arm: Robot, tmp_path: Path) -> None:
    rows, trail = motion(arm)
    still = np.repeat(rows[:1], len(rows), axis=0)
    path = film(arm, still, DT_S, tmp_path / "run.mp4", trail=trail, **SMALL)
    pink = [int(((f[..., 0] > 170) & (f[..., 1].astype(int) < f[..., 0] - 60)).sum()) for f in decoded(path)]
    assert pink[0] < 5
    assert pink[4] > pink[1]
    assert pink[9] > 1.5 * pink[4]


@drawn
def test_what_is_not_finite_ends_the_film(arm: Robot, tmp_path: Path) -> None:
    rows, trail = motion(arm)
    rows[80:], trail[80:] = np.nan, np.nan
    assert len(decoded(film(arm, rows, DT_S, tmp_path / "run.mp4", trail=trail, **SMALL))) == 6


@drawn
def test_a_flat_arm_at_double_speed(tmp_path: Path) -> None:
    arm = chain_in(two_link.describe())
    rows, _ = motion(arm)
    path = film(arm, rows, DT_S, tmp_path / "run.mp4", fps=20, speed=2.0, **SMALL)
    assert len(decoded(path)) == 4


def test_frames_show_the_ticks_of_their_time() -> None:
    assert frame_ticks(151, 0.002, 30, 1.0) == [0, 17, 33, 50, 67, 83, 100, 117, 133, 150]
    assert frame_ticks(151, 0.002, 10, 3.0) == [0, 150]
    assert frame_ticks(1, 0.002, 30, 1.0) == [0]
    for fps, ticks in ((0, 100), (500, 100), (240, 10_000_000)):
        with pytest.raises(InvalidInput, match="frames at most"):
            frame_ticks(ticks, 0.002, fps, 1.0)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"q_rows": np.zeros((3, 2))}, "Give rows of 6 numbers"),
        ({"q_rows": np.full((3, 6), np.nan)}, "not finite from the first row"),
        ({"dt_s": 0.0}, "dt_s is 0.0"),
        ({"speed": np.nan}, "speed is nan"),
        ({"width": 161}, "even number"),
        ({"trail": np.zeros((2, 3))}, "has 2 points for 3 rows"),
        ({"trail": np.zeros((3, 2))}, "points"),
    ],
)
def test_what_cannot_be_filmed_is_refused(arm: Robot, tmp_path: Path, wrong: dict, said: str) -> None:
    given = {"q_rows": np.zeros((3, 6)), "dt_s": DT_S, "path": tmp_path / "run.mp4", **SMALL, **wrong}
    with pytest.raises(InvalidInput, match=said):
        film(arm, **given)
    assert not list(tmp_path.iterdir())


def test_without_the_extra_its_name_is_said(
    arm: Robot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "av", None)
    with pytest.raises(MissingExtra, match=r"a video needs av\. .*forearm\[video\]"):
        film(arm, np.zeros((3, 6)), DT_S, tmp_path / "run.mp4")


def test_where_nothing_can_draw_no_file_is_left(
    arm: Robot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MUJOCO_GL", "off")
    with pytest.raises(NoPicture, match="MUJOCO_GL"):
        film(arm, np.zeros((3, 6)), DT_S, tmp_path / "run.mp4", **SMALL)
    assert not list(tmp_path.iterdir())
