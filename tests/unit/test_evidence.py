"""Records, the writer's promises, reports made of files alone."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.figure import Figure

import forearm
from forearm.cli import BAD_INPUT, FAILED, main
from forearm.errors import ArtifactError, InvalidInput
from forearm.evidence import report, writer
from forearm.evidence.figures import _makers as figure_makers
from forearm.evidence.figures import load_makers, make_figures
from forearm.evidence.figures.style import dress, inline_svg, new_figure, plain_text
from forearm.evidence.figures.workspace import workspace_figure
from forearm.evidence.record import CUT_SHORT, PARTIAL, SCHEMA, Metric, Outcome, Record, read_record
from forearm.evidence.report import build_report
from forearm.evidence.writer import ArtifactWriter
from forearm.kinematics.workspace import workspace_slice
from forearm.tasks import square
from forearm.tasks._runner import parsed_defaults

METRICS = (Metric("error_m", 1.5e-7, "m", "distance <to> the target", "0.1 mm", "< 1 mm", True),)


def finished(out: Path, **changes) -> Path:
    record = Record("test.kind", "A <title>", "What was done.", Outcome.PASSED, METRICS, **changes)
    with ArtifactWriter(out, "test.kind", record.title) as artifact:
        artifact.write_rows("rows", [{"a": 1, "b": float("inf")}, {"a": 2, "b": 0.5}])
        return artifact.finish(record)


def test_a_finished_artifact_reads_back(tmp_path):
    folder = finished(tmp_path, seeds={"targets": 3})
    record = read_record(folder)
    assert record.outcome is Outcome.PASSED
    assert record.metrics == list(METRICS)
    assert record.value("error_m") == 1.5e-7
    assert record.seeds == {"targets": 3}
    assert record.started_utc <= record.finished_utc
    assert record.environment["versions"]["mujoco"]
    assert [path.name for path in tmp_path.iterdir()] == [folder.name]
    lines = (folder / "rows.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line) for line in lines] == [{"a": 1, "b": None}, {"a": 2, "b": 0.5}]


def test_an_artifact_names_no_path_of_the_machine(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "argv", [str(tmp_path / "bin" / "forearm"), "solve", str(tmp_path / "arm.urdf")])
    folder = finished(tmp_path)
    assert read_record(folder).command == ["forearm", "solve", "arm.urdf"]
    for path in folder.iterdir():
        text = path.read_text(encoding="utf-8")
        assert str(tmp_path) not in text
        assert str(Path.home()) not in text


def test_an_artifact_that_fails_halfway_says_that_it_was_cut_short(tmp_path):
    def run() -> None:
        with ArtifactWriter(tmp_path, "test.kind", "Title") as artifact:
            artifact.write_rows("rows", [{"a": 1}])
            raise RuntimeError("the run broke")

    with pytest.raises(RuntimeError):
        run()
    (folder,) = tmp_path.iterdir()
    assert folder.name.endswith(PARTIAL)
    assert read_record(folder).outcome is Outcome.INTERRUPTED
    assert "interrupted" in build_report(folder).read_text(encoding="utf-8")


def test_a_killed_run_tells_what_it_was_and_how_far_it_came(tmp_path):
    told = {"configuration": {"task": "square", "side_m": 0.1}, "seeds": {"perturbation": 7}}
    with ArtifactWriter(tmp_path, "run.square", "Title", **told) as artifact:
        assert read_record(artifact.folder).configuration == told["configuration"]
        artifact.describe({"robot": "two_link"})
        for number in range(9):
            artifact.event(0.1 * number, "segment", f"segment {number}")
    with (artifact.folder / "events.jsonl").open("a", encoding="utf-8") as stream:
        stream.write('{"time_s": 3.0, "kind": "seg')
    record = read_record(artifact.folder)
    assert (record.outcome, record.summary) == (Outcome.INTERRUPTED, CUT_SHORT)
    assert {"configuration": record.configuration, "seeds": record.seeds} == told
    assert record.inputs == {"robot": "two_link"}
    assert record.finished_utc == ""
    page = build_report(artifact.folder).read_text(encoding="utf-8")
    assert "segment 8" in page
    assert "segment 1<" not in page
    assert "&quot;side_m&quot;: 0.1" in page


def test_what_was_told_at_the_start_stays_unless_the_record_says_otherwise(tmp_path):
    record = Record("test.kind", "Title", "Done.", Outcome.PASSED, METRICS, seeds={"targets": 1})
    with ArtifactWriter(tmp_path, "test.kind", "Title", configuration={"a": 1}, seeds={"x": 2}) as artifact:
        artifact.describe({"robot": "ur5e"})
        folder = artifact.finish(record)
    kept = read_record(folder)
    assert (kept.configuration, kept.inputs, kept.seeds) == ({"a": 1}, {"robot": "ur5e"}, {"targets": 1})


def test_report_and_replay_say_that_a_run_was_cut_short(tmp_path, capsys):
    configuration = square.options_from(parsed_defaults(square))
    with ArtifactWriter(
        tmp_path, "run.square", "T", configuration={"task": "square", **configuration}
    ) as cut:
        pass
    assert main(["report", str(cut.folder)]) == FAILED
    out, error = capsys.readouterr()
    assert out.strip().endswith("report.html")
    assert error == "forearm: warning: the run was cut short: the report shows how far it came\n"
    assert main(["report", str(cut.folder), "--json"]) == FAILED
    assert json.loads(capsys.readouterr().out)["configuration"]["task"] == "square"
    assert main(["replay", str(cut.folder)]) == BAD_INPUT
    (line,) = capsys.readouterr().err.splitlines()
    assert line.endswith(".partial: was cut short. There is nothing to hold a second run against.")


@pytest.mark.parametrize(
    ("kind", "task", "words"),
    [
        ("bench.planar", None, "Only runs of tasks can be replayed"),
        ("run.cube", "square", "is of kind 'run.cube', but its task is 'square'"),
    ],
)
def test_what_cannot_be_replayed_is_refused(tmp_path, capsys, kind, task, words):
    record = Record(kind, "Title", "Done.", Outcome.PASSED, (), configuration={"task": task} if task else {})
    with ArtifactWriter(tmp_path, "test.kind", "Title") as artifact:
        artifact._write_record(record)
        os.replace(artifact.folder, artifact.final)
    assert main(["replay", str(artifact.final)]) == BAD_INPUT
    assert words in capsys.readouterr().err


def test_a_killed_run_leaves_an_artifact_that_opens(tmp_path):
    script = (
        "import sys, time\n"
        "from forearm.evidence.writer import ArtifactWriter\n"
        "artifact = ArtifactWriter(sys.argv[1], 'test.kind', 'Title')\n"
        "print('ready', flush=True)\n"
        "while True:\n"
        "    artifact.write_rows('rows', [{'a': 1}] * 2000)\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", script, str(tmp_path)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout.readline().strip() == "ready"
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    process.stdout.close()
    (folder,) = tmp_path.iterdir()
    assert read_record(folder).outcome is Outcome.INTERRUPTED
    build_report(folder)
    rows = folder / "rows.jsonl"
    assert not rows.exists() or len(rows.read_text(encoding="utf-8").splitlines()) == 2000


@pytest.mark.parametrize(
    "content",
    ["", "[]", "{", '{"schema": "other/9"}', json.dumps({"schema": SCHEMA}), "\ud800"],
    ids=["empty", "list", "torn", "schema", "fields", "surrogate"],
)
def test_what_is_not_a_record_is_refused(tmp_path, content):
    (tmp_path / "record.json").write_bytes(content.encode("utf-8", "surrogatepass"))
    with pytest.raises(ArtifactError) as caught:
        read_record(tmp_path)
    assert "record.json" in str(caught.value)


def test_a_missing_folder_and_an_unwritable_place_are_refused(tmp_path):
    with pytest.raises(ArtifactError):
        read_record(tmp_path / "nowhere")
    blocked = tmp_path / "file"
    blocked.write_text("not a folder", encoding="utf-8")
    with pytest.raises(ArtifactError):
        ArtifactWriter(blocked, "test.kind", "Title")


class Balance(HTMLParser):
    """Counts the elements that stay open, and everything that would be fetched."""

    VOID = frozenset({"meta", "img", "br", "link", "path", "use", "rect", "stop"})

    def __init__(self):
        super().__init__()
        self.open, self.fetched, self.scripts = [], [], 0

    def handle_starttag(self, tag, attributes):
        if tag not in self.VOID:
            self.open.append(tag)
        self.scripts += tag == "script"
        for name, value in attributes:
            if name in ("src", "href", "xlink:href") and not value.startswith(("data:", "#")):
                self.fetched.append(value)

    def handle_endtag(self, tag):
        if tag not in self.VOID:
            assert self.open.pop() == tag


def test_the_report_is_whole_escaped_and_self_contained(tmp_path):
    folder = finished(tmp_path, failures=[{"label": "planning", "text": "<script>alert(1)</script>"}])
    page = (folder / "report.html").read_text(encoding="utf-8")
    parser = Balance()
    parser.feed(page)
    assert not parser.open
    assert not parser.fetched
    assert not parser.scripts
    assert "A &lt;title&gt;" in page
    assert "distance &lt;to&gt; the target" in page
    assert "1.5e-07 m" in page


WORDS = st.text(max_size=8)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | WORDS
ANYTHING = st.recursive(
    SCALARS,
    lambda inside: st.lists(inside, max_size=4) | st.dictionaries(WORDS, inside, max_size=4),
    max_leaves=8,
)
OBJECTS = st.dictionaries(WORDS, ANYTHING, max_size=3)


def a_record() -> dict:
    whole = Record(
        "test.kind",
        "Title",
        "Summary.",
        Outcome.FAILED,
        METRICS,
        failures=[{"label": "planning", "text": "why"}],
        command=("forearm", "solve"),
        seeds={"targets": 1},
        environment={"cpu": "x", "cores": 2, "system": "y", "git": {"commit": "z"}, "versions": {}},
        tables={"The answer": [{"joint": "elbow", "value (rad)": 0.5}]},
    )
    return whole.to_json()


def places(data, path=()):
    """The way to every value in nested data."""
    yield path
    inside = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, value in inside:
        yield from places(value, (*path, key))


def with_value(data, path, value):
    if not path:
        return value
    changed = data.copy()
    changed[path[0]] = with_value(data[path[0]], path[1:], value)
    return changed


def renders_or_is_refused(folder: Path, content: str) -> bool:
    """Whether the record rendered; anything but a page or an ``ArtifactError`` comes through."""
    (folder / "record.json").write_text(content, encoding="utf-8")
    try:
        read_record(folder)
        page = build_report(folder)
    except ArtifactError:
        return False
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")
    return True


@settings(max_examples=400)
@given(path=st.sampled_from(list(places(a_record()))), value=ANYTHING)
def test_a_record_with_anything_anywhere_renders_or_is_refused(tmp_path_factory, path, value):
    folder = tmp_path_factory.getbasetemp() / "anything"
    folder.mkdir(exist_ok=True)
    renders_or_is_refused(folder, json.dumps(with_value(a_record(), path, value)))


@settings(max_examples=60)
@given(
    kind=st.sampled_from(["bench.planar", "bench.ur5e", "bench.honesty", "bench.kernels", "run.square"]),
    inputs=OBJECTS,
    row=ANYTHING,
)
def test_tables_that_do_not_fit_a_kind_are_refused(tmp_path_factory, kind, inputs, row):
    folder = tmp_path_factory.getbasetemp() / "tables"
    folder.mkdir(exist_ok=True)
    for name in ("cases", "stress", "solvers", "rounds"):
        (folder / f"{name}.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
    renders_or_is_refused(folder, json.dumps({**a_record(), "kind": kind, "inputs": inputs}))


@pytest.mark.parametrize("opening", ["[", '{"a":'])
@pytest.mark.parametrize("depth", [60, 900, 100_000])
def test_a_record_nested_too_deeply_is_refused(tmp_path, opening, depth):
    closing = "]" if opening == "[" else "}"
    nested = opening * depth + "1" + closing * depth
    text = json.dumps({**a_record(), "inputs": {"here": "HERE"}}).replace('"HERE"', nested)
    assert not renders_or_is_refused(tmp_path, text)


def test_the_fuzzed_record_is_one_that_renders(tmp_path):
    assert renders_or_is_refused(tmp_path, json.dumps(a_record()))
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "<h2>The answer</h2>" in page
    assert "elbow" in page


PNG = report.PNG_MAGIC + b"a picture"


def test_only_real_pictures_are_embedded(tmp_path):
    folder = finished(tmp_path / "runs")
    secret = tmp_path / "secret.png"
    secret.write_bytes(PNG + b"SECRET")
    (folder / "good.png").write_bytes(PNG)
    (folder / "link.png").symlink_to(secret)
    (folder / "text.png").write_bytes(b"root:x:0:0")
    (folder / "folder.png").mkdir()
    os.mkfifo(folder / "pipe.png")
    with (folder / "large.png").open("wb") as stream:
        stream.write(PNG)
        stream.truncate(report.MAX_PNG_BYTES + 1)
    assert [path.name for path, _ in report.png_files(folder)] == ["good.png"]
    page = build_report(folder).read_text(encoding="utf-8")
    assert page.count("<img ") == 1


def test_links_are_neither_read_nor_written_through(tmp_path):
    folder = finished(tmp_path / "runs")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_text("keep me", encoding="utf-8")
    (folder / "report.html.tmp").symlink_to(elsewhere)
    (folder / "report.html").unlink()
    (folder / "report.html").symlink_to(elsewhere)
    build_report(folder)
    assert elsewhere.read_text(encoding="utf-8") == "keep me"
    assert not (folder / "report.html").is_symlink()
    record = folder / "record.json"
    record.rename(tmp_path / "record.json")
    record.symlink_to(tmp_path / "record.json")
    with pytest.raises(ArtifactError):
        read_record(folder)


def test_an_empty_place_is_refused_before_anything_is_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for out in ("", "  "):
        with pytest.raises(InvalidInput):
            ArtifactWriter(out, "test.kind", "Title")
    assert not list(tmp_path.iterdir())


def test_the_machine_is_asked_once_an_artifact(tmp_path, monkeypatch):
    asked = []
    monkeypatch.setattr(writer, "environment", lambda: asked.append(1) or {"cpu": "x"})
    folder = finished(tmp_path)
    assert len(asked) == 1
    assert read_record(folder).environment == {"cpu": "x"}


@pytest.mark.parametrize(
    ("argv", "command"),
    [
        (["/usr/bin/forearm", "report", "/home/me/a b"], ["forearm", "report", "a b"]),
        (["/x/forearm", "solve", "--out=/home/me/runs"], ["forearm", "solve", "--out=runs"]),
        (["/x/forearm/__main__.py", "robots"], ["python", "-m", "forearm", "robots"]),
        ([], ["python"]),
    ],
)
def test_the_command_is_kept_without_the_machines_folders(argv, command, monkeypatch):
    monkeypatch.setattr(sys, "argv", argv)
    assert list(writer.command_line()) == command


@pytest.mark.parametrize(
    ("value", "unit", "shown"),
    [
        (0.955, "share", "95.5 %"),
        (1.0, "share", "100 %"),
        (0.5, "m", "0.5 m"),
        (None, "share", "-"),
        (7, "", "7"),
        (float("nan"), "share", "nan %"),
    ],
)
def test_values_are_shown_with_their_units(value, unit, shown):
    assert Metric("name", value, unit, "meaning").shown == shown


HOSTILE_NAMES = [r"$\frac{$", "a$b$c", "$", r"\$x$", "$\\undefined$"]


@pytest.mark.parametrize("name", HOSTILE_NAMES)
def test_names_in_figures_are_no_formulas(name, make_two_hinges):
    with plain_text():
        figure = new_figure()
        axes = dress(figure.subplots(), name, name, name)
        axes.plot([1.0, 1e4], [1e-3, 10.0], label=name)
        axes.set_yscale("log")
        axes.legend()
        assert "<svg" in inline_svg(figure, name)
        labels = [label.get_text() for label in axes.get_yticklabels()]
    assert not any("$" in label for label in labels)
    assert "0.1" in labels
    robot = make_two_hinges()
    object.__setattr__(robot.tree, "name", name)
    workspace_figure(robot, workspace_slice(robot, samples=2000, cells=20)).canvas.draw()


def test_a_figure_that_fails_is_told_with_its_kind(tmp_path, monkeypatch):
    load_makers()

    def maker(folder: Path, record: Record) -> list[tuple[str, Figure]]:
        return [("caption", record.inputs["missing"])]

    monkeypatch.setitem(figure_makers, "test.kind", maker)
    with pytest.raises(ArtifactError, match=r"figures of 'test\.kind'.*missing"):
        make_figures(tmp_path, Record("test.kind", "Title", "Summary.", Outcome.PASSED, ()))


@pytest.mark.parametrize("name", ["two_link", "mini_arm"])
def test_the_workspace_picture_colours_nothing_beyond_the_bound(name):
    arm = forearm.load(name)
    found = workspace_slice(arm, samples=200_000, cells=40)
    axes = workspace_figure(arm, found).axes[0]
    image = axes.images[0].get_array()
    coloured = ~np.ma.getmaskarray(image)
    inner, outer = sorted(axes.patches, key=lambda circle: circle.radius)
    left, right, bottom, top = found.extent_m
    rows, columns = np.nonzero(coloured)
    x = left + (columns + 0.5) * (right - left) / coloured.shape[1]
    y = bottom + (rows + 0.5) * (top - bottom) / coloured.shape[0]
    away = np.hypot(x - outer.center[0], y - outer.center[1])
    assert away.max() <= outer.radius
    assert away.min() >= inner.radius
    assert not np.isnan(np.asarray(image)[coloured]).any()
    assert coloured.sum() > 0.8 * (~np.isnan(found.best)).sum()
