"""Figures of the square and the cube, from artifacts whose errors are made to measure."""

from __future__ import annotations

import io
import json
from pathlib import Path

import numpy as np
import pytest

from forearm.evidence.figures import Figures, make_figures
from forearm.evidence.figures.drawing import drawing_figures
from forearm.evidence.figures.drawn import read_drawn
from forearm.evidence.figures.ladder import ladder_figure
from forearm.evidence.figures.strokes import magnification, magnified_title, repeats
from forearm.evidence.figures.units import envelope, thin, tick_text
from forearm.evidence.readable import at_most, length_text, metres
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
        buffer = io.BytesIO()
        figure.savefig(buffer, format="svg")
        sizes.append(len(buffer.getvalue()))
    return sizes


@pytest.mark.parametrize("kind", ["run.square", "run.cube"])
@pytest.mark.parametrize("deviation", [exact, lagging, shaken])
def test_a_whole_run_gives_four_figures_of_bounded_size(tmp_path: Path, kind: str, deviation) -> None:
    folder, record = write(tmp_path, kind, columns(kind, deviation))
    figures = drawing_figures(folder, record)
    assert len(figures) == 4
    path, error, torque, manipulability = (made for _, made in figures)
    assert (len(path.axes), len(error.axes), len(manipulability.axes)) == (2, 1, 1)
    titles = [axes.get_title(loc="left") for axes in torque.axes]
    assert sorted(title.partition(":")[0] for title in titles) == sorted(JOINTS[kind])
    assert max(svg_sizes(figures)) < 400_000
    assert sum(svg_sizes(figures)) < 1_200_000
    assert len(page(folder, record)) < 2_000_000


def test_rounding_is_called_rounding_and_not_drawn_as_error(tmp_path: Path) -> None:
    folder, record = write(tmp_path, "run.cube", columns("run.cube", exact))
    path, error, *_ = (made for _, made in drawing_figures(folder, record))
    assert "below rounding" in path.axes[1].get_title(loc="left")
    assert "below rounding" in error.axes[0].get_title(loc="left")
    # One level a segment, no curve.
    assert max(len(line.get_xdata()) for line in error.axes[0].lines) <= 17


def test_the_magnification_is_the_power_of_ten_that_makes_the_deviation_visible(tmp_path: Path) -> None:
    for index, (deviation, factor) in enumerate([(lagging, 1000), (shaken, 1), (exact, 0)]):
        folder, record = write(tmp_path / str(index), "run.cube", columns("run.cube", deviation))
        drawn = read_drawn(folder, record)
        assert drawn is not None
        assert magnification(drawn) == factor
        np.testing.assert_allclose(
            np.linalg.norm(drawn.deviation_m, axis=1).max(), drawn.path_error_m.max(), rtol=0.5
        )
        assert ("× 1,000" in magnified_title(drawn)) is (factor == 1000)


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
    assert len(figures) == 5
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


def test_the_ladder_has_a_bar_a_row_and_the_sources_beside() -> None:
    names = ("label", "controller", "rms_error_m", "max_error_m", "source", "note")
    figure = ladder_figure([dict(zip(names, row, strict=True)) for row in LADDER])
    axes = figure.axes[0]
    with_source = sum(bool(row[4]) for row in LADDER)
    assert len(axes.patches) == len(LADDER) + with_source
    texts = [text.get_text() for text in axes.texts]
    assert "the source: 133 mm" in texts
    assert "ran away" in texts
    assert any(text.startswith("below rounding") for text in texts)
    assert "RMS 0.088 mm, at most 0.231 mm" in texts
    assert len(axes.get_yticklabels()) == len(LADDER)


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
