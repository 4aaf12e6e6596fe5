"""Figures of the square and the cube, from artifacts whose errors are made to measure."""

from __future__ import annotations

import io
import itertools
import json
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure

from forearm.evidence.figures import Figures, make_figures
from forearm.evidence.figures.drawing import drawing_figures
from forearm.evidence.figures.drawn import read_drawn
from forearm.evidence.figures.kernels import costs
from forearm.evidence.figures.labels import free_offsets
from forearm.evidence.figures.ladder import ladder_figure
from forearm.evidence.figures.planar import targets_figure
from forearm.evidence.figures.strokes import (
    drawn_title,
    is_magnified,
    magnification,
    magnified_title,
    repeats,
)
from forearm.evidence.figures.units import envelope, thin, tick_text
from forearm.evidence.readable import at_most, length_text, metres, three_digits
from forearm.evidence.record import Metric, Outcome, Record
from forearm.evidence.report import page
from forearm.evidence.trace import write_trace
from forearm.jsonable import plain
from forearm.motion.cube import corner_points, stroke

SQUARE = np.array([[0.25, 0.25, 0], [0.35, 0.25, 0], [0.35, 0.35, 0], [0.25, 0.35, 0], [0.25, 0.25, 0]])
CUBE = corner_points((0.3, 0.2, 0.55), 0.1, stroke())
JOINTS = {"run.square": ("shoulder", "elbow"), "run.cube": tuple(f"joint_{i}" for i in range(1, 7))}
LADDER = (
    ("bad centre, forced", "servo", 0.11, 0.31, "133 mm", "the forearm rests on the table"),
    ("plain servo", "servo", 0.0121, 0.0178, "13 mm", ""),
    ("+ gravity", "servo_gravity", 0.0098, 0.015, "", ""),
    ("+ velocity", "servo_velocity", 0.000088, 0.000231, "0.088 mm", ""),
    (
        "the source's own route",
        "servo_velocity",
        0.0061,
        0.0114,
        "0.088 mm",
        "against its own route: 0.086 mm",
    ),
    ("+ inverse dynamics", "servo_inverse", 1.2e-15, 1.0e-14, "", ""),
    ("wrong sign", "servo", None, None, "", "a planted fault"),
)


def columns(kind: str, deviation_m, seconds: float = 2.0, dt_s: float = 0.002) -> dict[str, np.ndarray]:
    """A trace whose tip is ``deviation_m(time_s)`` (n, 3) away from where it should be."""
    corners = SQUARE if kind == "run.square" else CUBE
    time_s = dt_s * np.arange(round(seconds * (len(corners) - 1) / dt_s) + 1)
    segment = np.minimum((time_s / seconds + 1e-9).astype(int), len(corners) - 2)
    u = time_s / seconds - segment
    share = u**3 * (10.0 - 15.0 * u + 6.0 * u**2)
    step = np.diff(corners, axis=0)[segment]
    target = corners[segment] + share[:, None] * step
    deviation = deviation_m(time_s)
    along = np.einsum("ij,ij->i", deviation, step) / np.einsum("ij,ij->i", step, step)
    made = {"time_s": time_s, "segment": segment, "contacts": np.zeros(len(time_s), dtype=int)}
    for index, axis in enumerate("xyz"):
        made[f"target_{axis}_m"] = target[:, index]
        made[f"tip_{axis}_m"] = target[:, index] + deviation[:, index]
    made["error_m"] = np.linalg.norm(deviation, axis=1)
    made["path_error_m"] = np.linalg.norm(deviation - along[:, None] * step, axis=1)
    made["manipulability"] = 0.08 + 0.01 * np.sin(time_s)
    made["saturated"] = np.zeros(len(time_s), dtype=int)
    for index, name in enumerate(JOINTS[kind]):
        made[f"torque_{name}"] = 3.0 * np.sin(time_s + index) / (index + 1.0)
    return made


def exact(time_s):
    return 1e-15 * np.random.default_rng(1).normal(size=(len(time_s), 3))


def shaken(time_s):
    """Millimetres, as with noise and delay."""
    random = np.random.default_rng(2)
    swing = np.sin(3.0 * np.multiply.outer(time_s, [1.0, 1.3, 0.7]))
    return 1e-3 * (swing + 0.4 * random.normal(size=(len(time_s), 3)))


def lagging(time_s):
    return 4e-6 * np.sin(np.pi * np.multiply.outer(time_s, [1.0, 1.0, 1.0]) + [0.0, 1.0, 2.0]) + 1e-7


def running_away(time_s):
    with np.errstate(over="ignore"):
        return 1e-4 * np.exp(np.multiply.outer(time_s, [9.0, 8.0, 7.0]))


def record_of(kind: str) -> Record:
    corners = SQUARE if kind == "run.square" else CUBE
    limits = (5.0, np.inf) if kind == "run.square" else (150.0, 150.0, 150.0, 28.0, 28.0, 28.0)
    return Record(
        kind=kind,
        title="A drawing",
        summary="Made for a test.",
        outcome=Outcome.PASSED,
        metrics=[Metric("max_error_m", 1e-6, "m", "error, largest", "0.234 mm", "<= 2.5e-05 m", True)],
        inputs=plain({"joints": JOINTS[kind], "max_effort": limits, "corners_m": corners}),
    )


def write(folder: Path, kind: str, made: dict[str, np.ndarray], events=(), ladder=()) -> tuple[Path, Record]:
    folder.mkdir(exist_ok=True)
    write_trace(folder, made)
    (folder / "events.jsonl").write_text("".join(json.dumps(event) + "\n" for event in events))
    names = ("label", "controller", "rms_error_m", "max_error_m", "source", "note")
    if ladder:
        rows = [json.dumps(dict(zip(names, row, strict=True))) + "\n" for row in ladder]
        (folder / "ladder.jsonl").write_text("".join(rows))
    return folder, record_of(kind)


def svg_sizes(figures: Figures) -> list[int]:
    sizes = []
    for _, figure in figures:
        if not isinstance(figure, Figure):
            continue
        buffer = io.BytesIO()
        figure.savefig(buffer, format="svg")
        sizes.append(len(buffer.getvalue()))
    return sizes


@pytest.mark.parametrize("kind", ["run.square", "run.cube"])
@pytest.mark.parametrize(("deviation", "panels"), [(exact, 1), (lagging, 2), (shaken, 1)])
def test_a_whole_run_gives_four_figures_of_bounded_size(
    tmp_path: Path, kind: str, deviation, panels: int
) -> None:
    folder, record = write(tmp_path, kind, columns(kind, deviation))
    figures = drawing_figures(folder, record)
    assert len(figures) == 4
    path, error, torque, manipulability = (made for _, made in figures)
    # A second panel only where it shows what the first one does not.
    assert (len(path.axes), len(error.axes), len(manipulability.axes)) == (panels, 1, 1)
    assert ("On the right" in figures[0][0]) is (panels == 2)
    titles = [axes.get_title(loc="left") for axes in torque.axes]
    assert sorted(title.partition(":")[0] for title in titles) == sorted(JOINTS[kind])
    assert max(svg_sizes(figures)) < 400_000
    assert sum(svg_sizes(figures)) < 1_200_000
    assert len(page(folder, record)) < 2_000_000


def test_rounding_is_called_rounding_and_drawn_tick_by_tick(tmp_path: Path) -> None:
    made = columns("run.cube", exact)
    for name in ("error_m", "path_error_m"):
        made[name] = np.where(np.arange(len(made[name])) % 7 == 0, 0.0, made[name])
        made[name][1] = 4.13e-13
        made[name][2] = 1e-25
    folder, record = write(tmp_path, "run.cube", made)
    path, error, *_ = (figure for _, figure in drawing_figures(folder, record))
    assert "no more than rounding" in path.axes[0].get_title(loc="left")
    axes = error.axes[0]
    assert axes.get_title(loc="left") == "Error: at most 413 fm, below rounding at every tick"
    low, high = axes.get_ylim()
    assert low >= 1e-19
    assert high <= 1e-11
    dots = [line for line in axes.lines if line.get_marker() == "."]
    assert [line.get_linestyle() for line in dots] == ["None"] * 2
    for line in dots:
        times, values = line.get_xdata(), line.get_ydata()
        # One tick of it is one dot, and a tick without any error has none.
        assert (values > 1e-13).sum() == 1
        assert times[np.argmax(values)] == made["time_s"][1]
        assert values.min() > 0.0
    texts = [text.get_text() for text in axes.texts]
    assert "413 fm at t = 0.002 s" in texts
    error.canvas.draw()
    boxes = [text.get_window_extent() for text in axes.texts]
    assert all(box.x0 > 0.0 and box.x1 < error.bbox.x1 and box.y1 < error.bbox.y1 for box in boxes)
    assert "far above:\nmust hold, largest\n0.025 mm\nthe source, largest\n0.234 mm" in texts


def test_levels_are_named_in_the_margin_where_no_curve_runs(tmp_path: Path) -> None:
    folder, record = write(tmp_path, "run.cube", columns("run.cube", shaken))
    error = drawing_figures(folder, record)[1][1]
    axes = error.axes[0]
    error.canvas.draw()
    right = axes.get_window_extent().x1
    names = [text for text in axes.texts if "largest" in text.get_text()]
    boxes = [text.get_window_extent() for text in names]
    assert [text.get_text() for text in names] == [
        "must hold, largest\n0.025 mm",
        "the source, largest\n0.234 mm",
    ]
    assert all(right < box.x0 and box.x1 < error.bbox.x1 for box in boxes)
    assert boxes[0].y1 < boxes[1].y0


@pytest.mark.parametrize(("kind", "limit"), [("run.cube", 150.0), ("run.square", 2500.0)])
def test_torques_and_their_shares_are_written_without_exponents(
    tmp_path: Path, kind: str, limit: float
) -> None:
    made = columns(kind, shaken)
    first = JOINTS[kind][0]
    made[f"torque_{first}"] = np.minimum(np.linspace(0.0, 2.0 * limit, len(made["time_s"])), limit)
    folder, record = write(tmp_path, kind, made)
    record.inputs["max_effort"][0] = limit
    torque = drawing_figures(folder, record)[2][1]
    titles = [axes.get_title(loc="left") for axes in torque.axes]
    assert f"{first}: {limit:.0f} N·m, 100 % of the limit" in titles


@pytest.mark.parametrize("deviation", [exact, lagging, shaken])
@pytest.mark.parametrize("kind", ["run.square", "run.cube"])
def test_the_corners_labels_lie_on_no_line(tmp_path: Path, kind: str, deviation) -> None:
    folder, record = write(tmp_path, kind, columns(kind, deviation))
    figure = drawing_figures(folder, record)[0][1]
    figure.canvas.draw()
    axes = figure.axes[0]
    labels = [
        text for text in axes.texts if text.get_text()[0].isdigit() and "segments" not in text.get_text()
    ]
    assert len(labels) == (4 if kind == "run.square" else 8)
    boxes = [text.get_window_extent() for text in labels]
    for line in axes.lines:
        points = line.get_transform().transform(np.column_stack(line.get_data()))
        fine = np.concatenate([np.linspace(a, b, 100) for a, b in itertools.pairwise(points)])
        for box in boxes:
            inside = (fine > [box.x0, box.y0]) & (fine < [box.x1, box.y1])
            assert not inside.all(axis=1).any()
    for one, other in itertools.combinations(boxes, 2):
        assert not one.overlaps(other)


def test_labels_go_outward_where_there_is_room_and_elsewhere_where_there_is_none() -> None:
    square = 100.0 * np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
    around = free_offsets(square, ["0", "1", "2", "3"], [square[[0, 1, 2, 3, 0]]])
    outward = square - square.mean(axis=0)
    assert all(
        np.dot(offset, way) > 0.9 * np.linalg.norm(offset) * 70.7
        for offset, way in zip(around, outward, strict=True)
    )
    # A line from the first corner outward takes that place.
    barred = free_offsets(square, ["0", "1", "2", "3"], [square, np.array([[0.0, 0.0], [-60.0, -60.0]])])
    assert abs(barred[0][0] - barred[0][1]) > 8.0


def test_the_magnification_is_the_power_of_ten_that_makes_the_deviation_visible(tmp_path: Path) -> None:
    for index, (deviation, factor) in enumerate([(lagging, 1000), (shaken, 1), (exact, 0)]):
        folder, record = write(tmp_path / str(index), "run.cube", columns("run.cube", deviation))
        drawn = read_drawn(folder, record)
        assert drawn is not None
        assert magnification(drawn) == factor
        np.testing.assert_allclose(
            np.linalg.norm(drawn.deviation_m, axis=1).max(), drawn.path_error_m.max(), rtol=0.5
        )
        assert is_magnified(drawn) is (factor > 1)
        titles = (drawn_title(drawn), magnified_title(drawn))
        assert (titles[0] == "As drawn", "× 1,000" in titles[1]) == (factor == 1000, factor == 1000)


def test_a_run_that_ran_away_is_cut_where_it_stops_being_finite(tmp_path: Path) -> None:
    made = columns("run.cube", running_away)
    made = {name: values[:4001] for name, values in made.items()}
    for name in ("tip_x_m", "error_m", "torque_joint_1"):
        made[name] = np.where(np.arange(4001) > 3000, np.nan, made[name])
    made["saturated"][200:900] = 0b000101
    made["contacts"][500:600] = 2
    events = [
        {"time_s": 0.0, "kind": "start", "text": "begins"},
        {"time_s": 1.0, "kind": "contact", "text": "contact begins"},
        {"time_s": 6.0, "kind": "diverged", "text": "joint_1 is not finite"},
    ]
    folder, record = write(tmp_path, "run.cube", made, events, LADDER)
    drawn = read_drawn(folder, record)
    assert drawn is not None
    assert len(drawn.time_s) == 3001
    assert drawn.cut_short == "ends in segment 4 of 15"
    assert drawn.saturated.sum(axis=0).tolist() == [700, 0, 700, 0, 0, 0]
    figures = drawing_figures(folder, record)
    assert len(figures) == 6
    error = figures[1][1].axes[0]
    assert [text.get_text() for text in error.texts].count("diverged") == 1
    labels = [text.get_text() for text in error.get_legend().get_texts()]
    assert {"in contact", "an actuator at its limit"} <= set(labels)
    assert max(svg_sizes(figures)) < 400_000


def test_a_refused_run_has_no_figures_and_a_torn_event_is_passed_over(tmp_path: Path) -> None:
    assert make_figures(tmp_path, record_of("run.cube")) == []
    one_tick = {name: values[:1] for name, values in columns("run.square", exact).items()}
    folder, record = write(tmp_path, "run.square", one_tick)
    assert drawing_figures(folder, record) == []
    folder, record = write(tmp_path, "run.square", columns("run.square", lagging))
    (folder / "events.jsonl").write_text('{"time_s": 1.0, "kind": "push", "text": "10 N"}\n{"time_s": 2.')
    drawn = read_drawn(folder, record)
    assert drawn is not None
    assert [event["kind"] for event in drawn.events] == ["push"]


def ladder_of(rows) -> list[dict]:
    names = ("label", "controller", "rms_error_m", "max_error_m", "source", "note")
    return [dict(zip(names, row, strict=True)) for row in rows]


def test_the_ladder_has_a_bar_a_row_and_the_sources_beside() -> None:
    figure = ladder_figure(ladder_of(LADDER))
    axes = figure.axes[0]
    with_source = sum(bool(row[4]) for row in LADDER)
    assert len(axes.patches) == len(LADDER) + with_source
    texts = [text.get_text() for text in axes.texts]
    assert "the source: 133 mm" in texts
    assert "ran away" in texts
    assert any(text.startswith("below rounding") for text in texts)
    assert "RMS 0.088 mm, at most 0.231 mm" in texts
    assert len(axes.get_yticklabels()) == len(LADDER)


def test_the_ladders_axis_tells_its_rungs_apart() -> None:
    axes = ladder_figure(ladder_of(LADDER[:6])).axes[0]
    assert axes.get_xlim() == (1e-5, 1.0)
    ends = [patch.get_x() + patch.get_width() for patch in axes.patches if patch.get_height() > 0.3]
    assert ends[:4] == pytest.approx([row[2] for row in LADDER[:4]])
    # What lies beyond an end is an arrow there, with its true value beside.
    assert ends[5] == 1e-5
    arrows = [(line.get_marker(), line.get_xdata()[0]) for line in axes.lines if line.get_marker() in "<>"]
    assert arrows == [("<", 1e-5)]
    assert "below rounding (at most 10 fm)" in [text.get_text() for text in axes.texts]
    far = ladder_figure(ladder_of([("a", "a", 1e3, 1e4, "", ""), ("b", "b", 1e-9, 2e-9, "", ""), LADDER[6]]))
    low, high = far.axes[0].get_xlim()
    assert 1e-6 <= low < high == 1.0
    arrows = [line.get_marker() for line in far.axes[0].lines if line.get_marker() in "<>"]
    assert arrows == [">", "<", ">"]


def test_the_ladders_rows_are_on_the_page_whole(tmp_path: Path) -> None:
    refusal = "refused first: link upper_arm_link hits table first (t = 0 s, 0 % of segment 1 of 15); " * 3
    rows = [("bad centre, forced", "servo", 0.11840, 0.18254, "133 mm", refusal), *LADDER[1:]]
    folder, record = write(tmp_path, "run.cube", columns("run.cube", exact), ladder=rows)
    html = page(folder, record)
    assert f">{refusal}<" in html
    for text in ("118.4 mm", "182.5 mm", "1.2 fm", "10 fm", "0.088 mm", "ran away", "a planted fault"):
        assert f">{text}<" in html


def test_three_edges_of_the_cube_are_marked_as_repeated() -> None:
    again = repeats(CUBE)
    assert (len(again), sum(again), again[0]) == (15, 3, False)
    assert sum(repeats(SQUARE)) == 0


@pytest.mark.parametrize(
    ("value_m", "text"),
    [
        (0.133, "133 mm"), (8.8e-5, "0.088 mm"), (8.8e-6, "8.8 µm"), (1e-14, "10 fm"),
        (2.5, "2.5 m"), (0.0, "0"), (1e-19, "under 1 fm"), (None, "diverged"), (np.inf, "diverged"),
    ],
)  # fmt: skip
def test_lengths_read_as_people_write_them(value_m: float | None, text: str) -> None:
    assert length_text(value_m) == text


def test_lengths_are_read_back_and_ticks_and_bounds_are_named() -> None:
    assert metres("<= 0.009 mm") == pytest.approx(9e-6)
    assert metres("133 mm, at the bad centre") == pytest.approx(0.133)
    assert metres("<= 2e-06 m") == pytest.approx(2e-6)
    assert (metres(""), metres(None), metres("12 edges")) == (None, None, None)
    assert [tick_text(10.0**power) for power in (0, -2, -5, -9, -16)] == [
        "1 m",
        "10 mm",
        "10 µm",
        "1 nm",
        "0.1 fm",
    ]
    assert [three_digits(value) for value in (0.02931, 99.96, 100.0, 1234.5)] == [
        "0.0293",
        "100",
        "100",
        "1234",
    ]
    assert (at_most(1e-16), at_most(1e-9), at_most(1e6)) == ("under 1 fm", "at most 1 nm", "over 1 km")


def test_thinning_keeps_the_ends_and_the_extremes() -> None:
    values = np.random.default_rng(4).normal(size=15_001)
    values[7654], values[321] = 50.0, -50.0
    kept = thin(values, 1500)
    assert len(kept) <= 1500
    assert {0, 321, 7654, 15_000} <= set(kept.tolist())
    assert (np.diff(kept) > 0).all()
    assert thin(values[:10]).tolist() == list(range(10))


def test_the_envelope_of_a_line_holds_every_value() -> None:
    values = np.random.default_rng(6).uniform(1.0, 2.0, 4001)
    middle, lowest, rms, largest = envelope(values, 100)
    assert len(middle) == 100
    assert (lowest.min(), largest.max()) == (values.min(), values.max())
    assert ((lowest <= rms) & (rms <= largest)).all()
    assert len(envelope(values[:3], 100)[0]) == 3


def test_iterations_are_bars_from_nothing_on_a_linear_axis() -> None:
    solvers = (("pinv", (8, 16)), ("dls", (16, 25)))
    rows = [
        {"panel": "targets", "solver": solver, "x_m": 0.1, "y_m": 0.2, "iterations": count}
        for solver, counts in solvers
        for count in counts
    ]
    axes = targets_figure(rows, 0.0, 0.6, 1e-5).axes[1]
    assert (axes.get_yscale(), axes.get_ylim()[0]) == ("linear", 0.0)
    assert [patch.get_height() for patch in axes.patches] == [8, 16, 16, 25]


def test_a_kernels_value_stands_in_its_bar_and_not_at_its_whisker() -> None:
    rows = [
        {"arm": "ur5e", "kernel": kernel, "us_per_call": cost}
        for kernel in ("forward", "jacobian", "replay")
        for cost in (0.10, 0.11, 0.50)
    ]
    figure = costs(rows)
    figure.canvas.draw()
    axes = figure.axes[0]
    for text, patch in zip(axes.texts, axes.patches, strict=True):
        label, bar = text.get_window_extent(), patch.get_window_extent()
        assert text.get_text() == "0.110"
        assert bar.x0 < label.x0 < label.x1 < bar.x1
        assert bar.y0 < label.y0 < label.y1 < bar.y1
