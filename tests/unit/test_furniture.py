"""Blocks in the studio, and paths of many points."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from forearm.errors import NoPicture
from forearm.robots.bundled import ur5e
from forearm.robots.robot import Robot, chain_in
from forearm.sim.furniture import LEG, PREFIX, bevelled, boxes
from forearm.sim.marks import thinned
from forearm.sim.offscreen import open_context
from forearm.sim.scene import Block
from forearm.sim.still import open_studio, render
from forearm.sim.studio import FLOOR, PLINTH, posed, settle_floor, studio_spec

SMALL = {"width": 160, "height": 120}
TABLE = Block("table", (0.43, 0.0, 0.395), (0.40, 0.60, 0.015))
BENCH = Block("bench", (0.0, 0.0, -0.2), (0.5, 0.5, 0.2))


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


def settled(arm: Robot, *blocks: Block):
    model = studio_spec(arm, blocks).compile()
    settle_floor(model, arm, [posed(model, arm, arm.home)])
    return model


def test_a_bevelled_box_is_closed_and_faces_outwards() -> None:
    half = np.array([0.4, 0.6, 0.015])
    vertices, normals, faces = bevelled(half)
    assert (vertices.shape, normals.shape, faces.shape) == ((24, 3), (24, 3), (44, 3))
    np.testing.assert_allclose(np.abs(vertices).max(axis=0), half)
    a, b, c = vertices[faces].transpose(1, 0, 2)
    outward = np.cross(b - a, c - a)
    assert (np.einsum("ij,ij->i", outward, (a + b + c) / 3.0) > 0.0).all()
    volume = np.einsum("ij,ij->", a, np.cross(b, c)) / 6.0
    assert volume == pytest.approx(8.0 * half.prod(), rel=0.02)
    edges = {(int(u), int(v)) for face in faces for u, v in zip(face, np.roll(face, -1), strict=True)}
    assert edges == {(v, u) for u, v in edges}


def test_blocks_stand_where_they_are_in_the_scene(arm: Robot) -> None:
    for center, half in boxes(settled(arm, TABLE)).values():
        np.testing.assert_allclose(center, TABLE.center_m, atol=1e-9)
        np.testing.assert_allclose(half, TABLE.half_size_m, atol=1e-6)


def test_a_table_that_floats_gets_legs_and_one_on_the_floor_none(arm: Robot) -> None:
    model = settled(arm, TABLE)
    leg = model.geom(f"{PREFIX}0{LEG}0")
    assert leg.rgba[3] == 1.0
    assert leg.pos[2] - leg.size[1] == pytest.approx(model.geom(FLOOR).pos[2])
    assert leg.pos[2] + leg.size[1] == pytest.approx(0.38)
    assert model.geom(PLINTH).rgba[3] == 0.0
    assert settled(arm, BENCH).geom(f"{PREFIX}0{LEG}0").rgba[3] == 0.0


def test_the_floor_lies_under_a_bench_that_carries_the_arm(arm: Robot) -> None:
    model = settled(arm, BENCH)
    assert model.geom(FLOOR).pos[2] == pytest.approx(-0.4)
    assert model.geom(PLINTH).rgba[3] == 0.0


@drawn
def test_a_table_shows_and_the_camera_still_frames_the_arm(arm: Robot) -> None:
    path = np.array([[0.25, 0.15, 0.5], [0.35, 0.25, 0.6]])
    plain = render(arm, arm.home, paths=[path], **SMALL).astype(int)
    picture = render(arm, arm.home, paths=[path], blocks=[TABLE], **SMALL).astype(int)

    def brown(image: np.ndarray) -> int:
        return int(((image[..., 0] > image[..., 2] + 30) & (image[..., 0] < 190)).sum())

    assert brown(picture) > brown(plain) + 500
    assert ((picture[..., 0] > 190) & (picture[..., 1] < 110)).sum() > 5
    far = Block("far", (30.0, 0.0, 0.0), (0.5, 0.5, 0.5))
    with_far = render(arm, arm.home, blocks=[far], **SMALL)
    assert with_far.std() > 10.0


@drawn
def test_a_draft_has_the_size_of_a_picture_and_looks_alike(arm: Robot) -> None:
    with open_studio(arm, draft=True, **SMALL) as studio:
        draft = studio.picture(arm.home)
    fine = render(arm, arm.home, **SMALL)
    assert draft.shape == fine.shape
    assert np.abs(draft.astype(int) - fine).mean() < 6.0


def test_a_path_of_many_points_is_drawn_with_the_few_that_matter() -> None:
    corners = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [1.0, 1.0, 1.0]])
    many = np.concatenate([np.linspace(a, b, 5000) for a, b in itertools.pairwise(corners)])
    np.testing.assert_allclose(thinned(many, 1e-4), corners, atol=1e-12)
    angle = np.linspace(0.0, 2.0 * np.pi, 4000)
    circle = np.column_stack([np.cos(angle), np.sin(angle), 0.0 * angle])
    kept = thinned(circle, 1e-3)
    assert 40 < len(kept) < 200
    assert thinned(np.zeros((50, 3)), 1e-4).shape == (1, 3)
    assert thinned(np.zeros((0, 3)), 1e-4).shape == (0, 3)
