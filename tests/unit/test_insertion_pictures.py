"""What one sees of a trial of the insertion: the box as it is, green only on success; and its figures."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import mujoco
import numpy as np
import pytest
from matplotlib.figure import Figure

from forearm.errors import ArtifactError, InvalidInput, NoPicture
from forearm.evidence.figures import make_figures
from forearm.evidence.figures.insertion import insertion_trial_figures
from forearm.evidence.figures.units import MOST_POINTS
from forearm.evidence.record import read_record
from forearm.evidence.report import page
from forearm.evidence.trace import read_trace, write_trace
from forearm.sim.box_on_slides import SCENERY
from forearm.sim.film import frame_ticks
from forearm.sim.framing import View
from forearm.sim.insertion import TICK_S, WORKPLACES, insertion_scene
from forearm.sim.offscreen import open_context
from forearm.sim.props import Prop
from forearm.sim.still import Image, open_studio
from forearm.sim.studio import arm_points, posed, studio_spec
from forearm.sim.vibrating_box import BACK, BODY, JOINTS, PLATE, SENSORS, WALLS
from forearm.tasks import insert
from forearm.tasks._insertion_options import LONGEST_S
from forearm.tasks._insertion_pictures import (
    FILM,
    HELD_S,
    LONGEST_FILM_S,
    MISSED,
    SEATED,
    START,
    Trail,
    film_of,
    film_speed,
    read_trail,
    seated_picture,
    speed_text,
    touch_in,
)

CHOSEN = {
    "inserted": {"controller": "predictive", "difficulty": 0.5, "seed": 3},
    "missed": {"controller": "direct", "difficulty": 0.5, "seed": 0},
    "slow": {"controller": "baseline", "difficulty": 0.1, "seed": 0},
}
BOX_GEOMS = (*WALLS, PLATE, BACK)


@pytest.fixture(scope="module")
def _can_draw() -> None:
    try:
        with open_context(16, 16):
            pass
    except NoPicture as error:
        pytest.skip(str(error))


drawn = pytest.mark.usefixtures("_can_draw")


@pytest.fixture(scope="module")
def trials(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """The artifact of a trial by its name, made when it is first asked for."""
    made: dict[str, Path] = {}

    def trial(name: str) -> Path:
        if name not in made:
            made[name] = tmp_path_factory.mktemp(name) / "trial"
            insert.trial_row(options(name), made[name])
        return made[name]

    return trial


def options(name: str) -> dict[str, object]:
    return {"arm": "mini_arm", "perturb": {}, "fault": "", **CHOSEN[name]}


def trail_of(folder: Path, arm: str = "mini_arm") -> Trail:
    return read_trail(insertion_scene(arm), read_trace(folder), touch_in(folder))


def small_picture(trail: Trail, tick: int, window: str | None = None) -> Image:
    mouth = trail.mouth[tick]
    view = View((float(mouth[0]), float(mouth[1]), float(mouth[2])), 0.7, -63.0, -14.0)
    with open_studio(trail.robot, props=[trail.prop(window)], width=160, height=120, draft=True) as studio:
        return studio.picture(trail.q[tick], tick=tick, view=view)


def green_pixels(image: Image) -> int:
    red, green, blue = image.astype(int).transpose(2, 0, 1)
    return int(((green > red + 40) & (green > blue + 40)).sum())


@pytest.mark.parametrize("arm", list(WORKPLACES))
def test_the_box_that_is_drawn_is_the_box_of_the_scene(arm: str) -> None:
    place = insertion_scene(arm)
    rows = np.array([[0.0, 0.0, 0.0, 0.0], [0.07, -0.05, 0.17, -0.08], [-0.2, 0.1, -0.3, 0.2]])
    trail = Trail(place, np.tile(place.ready, (3, 1)), rows, np.zeros((3, 3)), np.zeros((3, 3)), None)
    prop = trail.prop()
    model = studio_spec(trail.robot, props=[prop]).compile()
    scene, truth = place.scene.model, mujoco.MjData(place.scene.model)
    for tick, row in enumerate(rows):
        data = posed(model, trail.robot, place.ready, [prop], tick)
        truth.qpos[:] = [*place.ready, *row]
        mujoco.mj_kinematics(scene, truth)
        for name in BOX_GEOMS:
            np.testing.assert_allclose(data.geom(name).xpos, truth.geom(name).xpos, atol=1e-9)
            np.testing.assert_allclose(
                corners(model, data, name), corners(scene, truth, name), atol=1e-6, err_msg=name
            )
        rest = posed(model, trail.robot, place.ready, [prop])
        for name, along in (
            ("column", (0, 0)),
            ("carriage_x", (1, 0)),
            ("carriage_y", (1, 1)),
            ("post", (1, 1)),
        ):
            away = data.geom(f"{SCENERY}_{name}").xpos - rest.geom(f"{SCENERY}_{name}").xpos
            np.testing.assert_allclose(away, [*(row[:2] * along), 0.0], atol=1e-9)


def corners(model: mujoco.MjModel, data: mujoco.MjData, name: str) -> np.ndarray:
    """Of the box around a geom, in the world, sorted: the compiler may turn a mesh's own axes."""
    box = model.geom_aabb[model.geom(name).id]
    signs = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
    local = box[:3] + signs * box[3:]
    found = local @ data.geom(name).xmat.reshape(3, 3).T + data.geom(name).xpos
    return found[np.lexsort(np.round(found, 5).T)]


def test_the_mouth_in_the_studio_is_where_the_trace_says(trials: Callable[[str], Path]) -> None:
    trail = trail_of(trials("inserted"))
    columns = read_trace(trials("inserted"))
    prop = trail.prop()
    model = studio_spec(trail.robot, props=[prop]).compile()
    for tick in (0, 100, trail.touched or 0, len(trail.q) - 1):
        data = posed(model, trail.robot, trail.q[tick], [prop], tick)
        np.testing.assert_allclose(data.body(BODY).xpos, trail.mouth[tick], atol=1e-9)
        # The end of the tool in the box, from what is drawn.
        end = data.body(BODY).xmat.reshape(3, 3).T @ (trail.end[tick] - data.body(BODY).xpos)
        told = [columns[f"end_in_box_{name}_m"][tick] for name in ("depth", "y", "z")]
        np.testing.assert_allclose(end, told, atol=1e-9)
        for name in SENSORS:
            reading = [columns[f"reading_{name}_{axis}_m"][tick] for axis in "xyz"]
            # A reading is a physics step old, in which the box moves by a fraction of a millimetre.
            np.testing.assert_allclose(data.site(name).xpos, reading, atol=3e-4)


def test_what_carries_the_box_needs_no_place_in_the_frame_and_touches_nothing() -> None:
    place = insertion_scene("mini_arm")
    trail = Trail(
        place, place.ready[None], np.zeros((1, 4)), np.zeros((1, 3)), place.mouth.position_m[None], None
    )
    prop = trail.prop()
    model = studio_spec(trail.robot, props=[prop]).compile()
    data = posed(model, trail.robot, place.ready, [prop])
    assert arm_points(model, data)[:, 2].min() > -0.01
    for index in range(model.ngeom):
        name = model.geom(index).name
        if name.startswith(SCENERY) or name in BOX_GEOMS:
            assert model.geom(index).contype == 0
            assert model.geom(index).conaffinity == 0


@drawn
def test_the_box_is_green_from_the_touch_on_and_not_before(trials: Callable[[str], Path]) -> None:
    trail = trail_of(trials("inserted"))
    touched = trail.touched
    assert touched is not None
    assert green_pixels(small_picture(trail, touched)) > 1000
    assert green_pixels(small_picture(trail, len(trail.q) - 1)) > 1000
    assert green_pixels(small_picture(trail, touched - 1)) == 0
    assert green_pixels(small_picture(trail, 0)) == 0
    failed = replace(trail, touched=None)
    assert green_pixels(small_picture(failed, touched)) == 0
    assert green_pixels(small_picture(failed, len(trail.q) - 1)) == 0


@drawn
def test_one_studio_paints_back_and_forth(trials: Callable[[str], Path]) -> None:
    trail = trail_of(trials("inserted"))
    ticks = (0, len(trail.q) - 1, 0)
    view = View((0.5, 0.0, 0.35), 1.4, -42.0, -20.0)
    with open_studio(trail.robot, props=[trail.prop()], width=160, height=120, draft=True) as studio:
        first, last, again = (studio.picture(trail.q[tick], tick=tick, view=view) for tick in ticks)
    np.testing.assert_array_equal(first, again)
    assert green_pixels(first) == 0
    assert green_pixels(last) > 300


@drawn
def test_the_tool_is_seen_in_the_hole_through_the_wall_on_the_cameras_side(
    trials: Callable[[str], Path],
) -> None:
    trail = trail_of(trials("inserted"))
    assert trail.touched is not None
    through = seated_picture(trail)
    assert green_pixels(through) > 10_000

    def tool_pixels(image: Image) -> int:
        red, green, blue = image.astype(int).transpose(2, 0, 1)
        return int(((red > green + 20) & (green > blue)).sum())

    solid = small_picture(trail, trail.touched)
    glass = small_picture(trail, trail.touched, window=WALLS[3])
    assert tool_pixels(glass) > tool_pixels(solid) + 50


def test_a_touch_of_the_plate_beside_the_hole_does_not_count(trials: Callable[[str], Path]) -> None:
    folder = trials("inserted")
    columns, touched = read_trace(folder), touch_in(folder)
    place = insertion_scene("mini_arm")
    assert touched is not None
    assert read_trail(place, columns, touched).touched == touched
    for name, off in (("y", 0.004), ("z", -0.004), ("depth", 0.01)):
        column = f"end_in_box_{name}_m"
        assert read_trail(place, columns | {column: columns[column] + off}, touched).touched is None
    assert read_trail(place, columns, None).touched is None


@drawn
@pytest.mark.parametrize(("name", "end"), [("inserted", SEATED), ("missed", MISSED)])
def test_a_trial_leaves_two_pictures_and_they_stand_in_its_report(
    trials: Callable[[str], Path], name: str, end: str
) -> None:
    folder = trials(name)
    insert.draw(options(name), folder, video=False)
    pictures = {path.name: pixels(path) for path in folder.glob("*.png")}
    assert set(pictures) == {START, end}
    for picture in pictures.values():
        assert picture.std() > 10.0
    assert (green_pixels(pictures[end]) > 0) is (name == "inserted")
    assert green_pixels(pictures[START]) == 0
    assert page(folder, read_record(folder)).count("<img ") == 2


def pixels(path: Path) -> Image:
    from PIL import Image as pillow

    with pillow.open(path) as opened:
        return np.asarray(opened)


def test_a_prop_needs_a_value_for_every_joint() -> None:
    with pytest.raises(InvalidInput, match="Give rows of 2 numbers"):
        Prop(lambda _: None, ("a", "b"), np.zeros((5, 3)))
    with pytest.raises(InvalidInput, match="values"):
        Prop(lambda _: None, JOINTS, np.zeros((0, 4)))


@pytest.mark.parametrize("seconds", [TICK_S, 0.5, 3.0, 7.3, 15.0, LONGEST_S])
def test_a_film_is_slow_where_it_can_be_and_never_long(seconds: float) -> None:
    speed = film_speed(seconds)
    ticks = round((seconds + HELD_S * speed) / TICK_S)
    assert len(frame_ticks(ticks, TICK_S, 30, speed)) <= 30 * 20.0
    assert speed == 0.2 or seconds / 0.2 > LONGEST_FILM_S


def test_a_film_says_how_fast_it_is() -> None:
    assert [speed_text(speed) for speed in (0.2, 0.5, 1.0, 2.0)] == [
        "1/5 of real speed",
        "1/2 of real speed",
        "",
        "2 x real speed",
    ]


@drawn
def test_a_film_ends_green(trials: Callable[[str], Path], tmp_path: Path) -> None:
    av = pytest.importorskip("av")
    whole = trail_of(trials("inserted"))
    assert whole.touched is not None
    first, last = whole.touched - 60, whole.touched + 4
    some = slice(first, last)
    short = replace(
        whole,
        q=whole.q[some],
        box=whole.box[some],
        end=whole.end[some],
        mouth=whole.mouth[some],
        touched=60,
    )
    film_of(short, tmp_path / FILM)
    with av.open(str(tmp_path / FILM)) as container:
        frames = [frame.to_ndarray(format="rgb24") for frame in container.decode(video=0)]
    expected = ((last - first) * TICK_S / 0.2 + HELD_S) * 30
    assert len(frames) == pytest.approx(expected, abs=2)
    assert green_pixels(frames[0]) == 0
    assert green_pixels(frames[-1]) > 3000


@pytest.mark.parametrize(
    ("name", "count", "panels"),
    [("inserted", 5, [1, 2, 2, 1, 6]), ("missed", 5, None), ("slow", 4, [1, 2, 1, 6])],
)
def test_figures_of_every_kind_of_trial_are_small(
    trials: Callable[[str], Path], name: str, count: int, panels: list[int] | None
) -> None:
    folder = trials(name)
    record = read_record(folder)
    figures = [made for _, made in insertion_trial_figures(folder, record) if isinstance(made, Figure)]
    assert len(figures) == count
    assert panels is None or [len(figure.axes) for figure in figures] == panels
    title = figures[0].axes[0].get_title(loc="left")
    assert title.startswith("Not on the plate" if name == "missed" else "On the plate at t = ")
    assert max(len(svg(figure)) for figure in figures) < 400_000
    lines = [line for figure in figures for axes in figure.axes for line in axes.lines]
    assert max(len(line.get_xdata()) for line in lines) <= MOST_POINTS
    assert len(page(folder, record)) < 3_000_000


def svg(figure: Figure) -> bytes:
    buffer = io.BytesIO()
    figure.savefig(buffer, format="svg")
    return buffer.getvalue()


def test_phases_are_named_and_texts_lie_inside_the_figure(trials: Callable[[str], Path]) -> None:
    folder = trials("inserted")
    ((_, depth), *_) = insertion_trial_figures(folder, read_record(folder))
    assert isinstance(depth, Figure)
    depth.canvas.draw()
    axes = depth.axes[0]
    texts = [text.get_text() for text in axes.texts]
    assert {"mouth, 0 mm", "plate, 50 mm", "approach", "push"} <= set(texts)
    legend = axes.get_legend()
    assert legend is not None
    rest = [text.get_text().partition(",")[0] for text in legend.get_texts()]
    assert {"look", "align"} <= {*rest, *texts}
    for text in axes.texts:
        box = text.get_window_extent()
        assert box.x0 > 0.0
        assert box.x1 < depth.bbox.x1
        assert box.y1 < depth.bbox.y1


def test_a_trial_whose_trace_lacks_a_column_is_no_such_artifact(
    trials: Callable[[str], Path], tmp_path: Path
) -> None:
    folder = trials("inserted")
    record, columns = read_record(folder), read_trace(folder)
    for missing in ("end_in_box_y_m", "torque_elbow", "seen_z_m", "phase"):
        write_trace(tmp_path, {name: values for name, values in columns.items() if name != missing})
        with pytest.raises(ArtifactError, match="do not make the figures of"):
            make_figures(tmp_path, record)
    write_trace(tmp_path, columns)
    for broken in ({}, {**record.inputs, "box": {"difficulty": 0.5, "colour": 1.0}}):
        with pytest.raises(ArtifactError, match="do not make the figures of"):
            make_figures(tmp_path, replace(record, inputs=broken))


def test_what_has_no_trace_has_no_figures(trials: Callable[[str], Path], tmp_path: Path) -> None:
    record = read_record(trials("inserted"))
    assert insertion_trial_figures(tmp_path, record) == []
    columns = read_trace(trials("inserted"))
    write_trace(tmp_path, {name: values[:1] for name, values in columns.items()})
    assert insertion_trial_figures(tmp_path, record) == []


def test_an_arm_that_ran_away_and_odd_phases_still_make_figures(
    trials: Callable[[str], Path], tmp_path: Path
) -> None:
    folder = trials("inserted")
    record, columns = read_record(folder), read_trace(folder)
    columns = {name: values.copy() for name, values in columns.items()}
    columns["torque_elbow"][500:] = np.nan
    columns["phase"][100:200] = 99
    columns["phase"][200:400] = np.arange(200) % 5
    columns["tool_force_n"][:] = 0.0
    write_trace(tmp_path, columns)
    events = [{"time_s": 0.0, "kind": "start", "text": ""}]
    (tmp_path / "events.jsonl").write_text("".join(json.dumps(each) + "\n" for each in events))
    figures = insertion_trial_figures(tmp_path, record)
    # Without a contact there is no figure of the forces.
    assert len(figures) == 4
    assert len(make_figures(tmp_path, record)) == 4
    assert isinstance(figures[0][1], Figure)
    assert figures[0][1].axes[0].get_xlim()[1] == pytest.approx(499 * TICK_S)
