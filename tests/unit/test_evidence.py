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
from forearm.cli import BAD_INPUT, FAILED, PASSED, main
from forearm.errors import ArtifactError, InvalidInput
from forearm.evidence import report, writer
from forearm.evidence.compare import differences
from forearm.evidence.figures import _makers as figure_makers
from forearm.evidence.figures import load_makers, make_figures
from forearm.evidence.figures.style import dress, inline_svg, new_figure, plain_text
from forearm.evidence.figures.workspace import workspace_figure
from forearm.evidence.readable import shown_rows
from forearm.evidence.record import CUT_SHORT, PARTIAL, SCHEMA, Metric, Outcome, Record, read_record
from forearm.evidence.report import build_report
from forearm.evidence.trace import read_trace, write_trace
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


COLUMNS = {"time_s": np.array([0.0, 0.1, 0.2]), "q_elbow": np.array([0.0, np.nan, 0.5]), "n": np.arange(3)}
TIMED = Metric("loop_us_per_tick", 7.5, "µs", "the loop, a tick", None, "<= 9 µs", True)


def compared(out: Path) -> Path:
    """An artifact with everything in it that a comparison looks at."""
    record = Record(
        "run.square",
        "Title",
        "What was done.",
        Outcome.PASSED,
        (*METRICS, TIMED),
        inputs={"corners_m": [[0.1, 0.2, 0.0], [0.1, 0.3, 0.0]]},
        configuration={"task": "square", "seed": 1},
        seeds={"perturbation": 1},
        failures=[{"label": "control", "text": "it strayed"}],
        tables={"The plan": [{"what was checked": "jumps 0"}]},
    )
    with ArtifactWriter(out, "run.square", "Title") as artifact:
        artifact.event(0.0, "start", "begins")
        artifact.event(0.2, "end", "as planned")
        artifact.write_rows("ladder", [{"label": "plain servo", "rms_error_m": 0.0126}, {"label": "other"}])
        for name in ("trace.parquet", "rung-1.parquet"):
            write_trace(artifact.folder, COLUMNS, name)
        artifact.write_text("record.json", json.dumps(record.to_json()))
        os.replace(artifact.folder, artifact.final)
        return artifact.final


def change_record(way, value):
    def change(folder):
        path = folder / "record.json"
        data = json.loads(path.read_text(encoding="utf-8"))
        path.write_text(json.dumps(with_value(data, way, value)), encoding="utf-8")

    return change


def change_text(name, old, new):
    def change(folder):
        text = (folder / name).read_text(encoding="utf-8")
        assert old in text
        (folder / name).write_text(text.replace(old, new), encoding="utf-8")

    return change


def change_column(name, column, values):
    return lambda folder: write_trace(folder, {**COLUMNS, column: np.array(values)}, name)


CHANGES = {
    "kind": (change_record(("kind",), "run.cube"), "kind"),
    "title": (change_record(("title",), "Another"), "title"),
    "summary": (change_record(("summary",), "Another."), "summary"),
    "outcome": (change_record(("outcome",), "failed"), "outcome"),
    "task": (change_record(("configuration", "task"), "cube"), "configuration.task"),
    "seed": (change_record(("seeds", "perturbation"), 2), "seeds.perturbation"),
    "corner": (change_record(("inputs", "corners_m", 1, 2), -0.0), "inputs.corners_m[1][2]"),
    "corners": (change_record(("inputs", "corners_m"), [[0.1, 0.2, 0.0]]), "inputs.corners_m"),
    "failure": (change_record(("failures",), []), "failures"),
    "table": (
        change_record(("tables", "The plan", 0, "what was checked"), "jumps 1"),
        "tables.The plan[0].what was checked",
    ),
    "value": (change_record(("metrics", 0, "value"), 1.4e-7), "metrics.error_m.value"),
    "bar": (change_record(("metrics", 0, "bar"), "< 9 mm"), "metrics.error_m.bar"),
    "source": (change_record(("metrics", 0, "source"), "0.2 mm"), "metrics.error_m.source"),
    "verdict": (change_record(("metrics", 0, "passed"), False), "metrics.error_m.passed"),
    "bar of a timing": (change_record(("metrics", 1, "bar"), "<= 8 µs"), "metrics.loop_us_per_tick.bar"),
    "event": (change_text("events.jsonl", "as planned", "well"), "events.jsonl row 2.text"),
    "an event more": (
        change_text("events.jsonl", '{"time_s": 0.2', '{}\n{"time_s": 0.2'),
        "rows of events.jsonl",
    ),
    "rung": (change_text("ladder.jsonl", "0.0126", "0.0125"), "ladder.jsonl row 1.rms_error_m"),
    "no ladder": (lambda folder: (folder / "ladder.jsonl").unlink(), "ladder.jsonl"),
    "another table": (lambda folder: (folder / "more.jsonl").write_text("{}\n"), "more.jsonl"),
    "no trace": (lambda folder: (folder / "trace.parquet").unlink(), "trace.parquet"),
    "one bit": (
        change_column("trace.parquet", "q_elbow", [0.0, np.nan, np.nextafter(0.5, 1.0)]),
        "q_elbow at row 2",
    ),
    "a sign": (
        change_column("rung-1.parquet", "q_elbow", [-0.0, np.nan, 0.5]),
        "rung-1.parquet q_elbow at row 0",
    ),
    "a type": (change_column("trace.parquet", "n", [0.0, 1.0, 2.0]), "type of n"),
    "a column more": (change_column("trace.parquet", "more", [0.0] * 3), "columns of trace.parquet"),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_comparison_sees_every_change(tmp_path, name):
    first, second = compared(tmp_path / "first"), compared(tmp_path / "second")
    assert differences(first, second) == []
    change, what = CHANGES[name]
    change(second)
    for one, other in ((first, second), (second, first)):
        assert [difference.what for difference in differences(one, other)] == [what]


def test_timings_and_the_place_and_time_of_a_run_are_no_differences(tmp_path):
    first, second = compared(tmp_path / "first"), compared(tmp_path / "second")
    for way, value in (
        (("metrics", 1, "value"), 99.0),
        (("metrics", 1, "passed"), False),
        (("command",), ["forearm", "replay"]),
        (("started_utc",), "yesterday"),
        (("environment",), {"cpu": "another"}),
    ):
        change_record(way, value)(second)
    (second / "report.html").write_text("another page", encoding="utf-8")
    assert differences(first, second) == []


@pytest.mark.parametrize("content", ['{"time_s": 0', "[" * 900 + "]" * 900, "[" * 100_000])
def test_tables_that_cannot_be_compared_are_refused(tmp_path, content):
    first, second = compared(tmp_path / "first"), compared(tmp_path / "second")
    (second / "events.jsonl").write_text(content, encoding="utf-8")
    with pytest.raises(ArtifactError, match=r"events\.jsonl"):
        differences(first, second)


def test_a_trace_of_words_is_refused(tmp_path):
    write_trace(tmp_path, {"time_s": np.array(["early", "late"])})
    with pytest.raises(ArtifactError, match=r"trace\.parquet holds something else than numbers in 'time_s'"):
        read_trace(tmp_path)


def test_every_rung_of_the_ladder_can_be_worked_out_from_its_trace(tmp_path, capsys):
    quick = ["--edge-seconds", "0.5", "--compare", "--out", str(tmp_path / "runs"), "--json"]
    assert main(["run", "cube", *quick]) == PASSED
    folder = Path(json.loads(capsys.readouterr().out)["artifact"])
    rows = [json.loads(line) for line in (folder / "ladder.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [row["trace"] for row in rows] == [f"rung-{number}.parquet" for number in range(1, 7)]
    for row in rows:
        trace = read_trace(folder, row["trace"])
        tips, targets = (
            np.column_stack([trace[f"{of}_{axis}_m"] for axis in "xyz"]) for of in ("tip", "target")
        )
        error = np.linalg.norm(tips - targets, axis=1)
        np.testing.assert_array_equal(error, trace["error_m"])
        assert row["rms_error_m"] == np.sqrt(np.mean(error**2))
        assert row["max_error_m"] == error.max()
        assert row["contacts"] == np.count_nonzero(trace["contacts"])
    assert (len(rows), rows[0]["contacts"] > 0) == (6, True)
    changed = read_trace(folder, "rung-3.parquet")
    changed["tip_x_m"] = changed["tip_x_m"] + 1e-12 * (changed["time_s"] == changed["time_s"][7])
    write_trace(folder, changed, "rung-3.parquet")
    assert main(["replay", str(folder)]) == FAILED
    assert "rung-3.parquet tip_x_m at row 7" in capsys.readouterr().out


def test_a_replay_names_what_became_different(tmp_path, capsys):
    quick = ["--edge-seconds", "0.5", "--out", str(tmp_path / "runs"), "--json"]
    assert main(["run", "square", *quick]) == PASSED
    folder = Path(json.loads(capsys.readouterr().out)["artifact"])
    assert main(["replay", str(folder)]) == PASSED
    assert capsys.readouterr().out == "identical, bit for bit: record, tables and traces (timings aside)\n"
    change_text("events.jsonl", "as planned", "x" * 500)(folder)
    assert main(["replay", str(folder)]) == FAILED
    first, second = capsys.readouterr().out.splitlines()
    assert first == "1 difference:"
    assert second.startswith("  events.jsonl row 6.text: xxx")
    assert second.endswith("xxx became as planned")
    assert len(second) < 200


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
    assert ">0.00015 mm<" in page


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


@pytest.mark.parametrize(
    ("value", "bar", "shown"),
    [
        (9.99992e-7, "<= 1e-06 rad", "9.9999e-07"),
        (9.99992e-7, None, "9.9999e-07"),
        (1.00000001e-6, "<= 1e-06 rad", "1.00000001e-06"),
        (1e-6, "<= 1e-06 rad", "1e-06"),
        (1.23456, "<= 1.235 rad", "1.2346"),
        (1.23456, "<= 2 rad", "1.235"),
        (0.99999999999, None, "1"),
        (1.00001, None, "1"),
        (float("nan"), "<= 1 rad", "nan"),
    ],
)
def test_a_value_is_never_rounded_onto_or_past_what_it_is_held_against(value, bar, shown):
    assert Metric("name", value, "rad", "meaning", None, bar).shown == f"{shown} rad"


def lengths(*rows) -> list[tuple[str, str, str]]:
    return [tuple(row) for row in shown_rows([Metric("e", value, "m", "e", *held) for value, *held in rows])]


def test_the_lengths_of_a_row_are_in_one_unit_and_rows_share_it_where_it_fits():
    assert lengths(
        (7.238e-17, "0.008 mm", "<= 8e-07 m"),
        (2.001e-16, "0.013 mm", "<= 2e-06 m"),
        (4.959e-17,),
        (0.0,),
        (1.5,),
        (9.9999999e-10, "9.83e-10 m", "< 1e-9 m"),
    ) == [
        ("7.238e-14 mm", "0.008 mm", "<= 0.0008 mm"),
        ("2.001e-13 mm", "0.013 mm", "<= 0.002 mm"),
        ("4.959e-14 mm", "", ""),
        ("0 mm", "", ""),
        ("1.5 m", "", ""),
        ("0.99999999 nm", "0.983 nm", "< 1 nm"),
    ]
    assert lengths((2e-9,), (0.3,), (float("inf"),), (0.0,)) == [
        ("2 nm", "", ""), ("300 mm", "", ""), ("inf m", "", ""), ("0 m", "", ""),
    ]  # fmt: skip
    assert lengths((None, "1 mm"), (0.25,)) == [("-", "1 mm", ""), ("250 mm", "", "")]


def test_an_answers_errors_are_held_against_its_tolerance(tmp_path, capsys):
    at_zero = ["--at", *"000000"]
    assert main(["solve", "ur5e", *at_zero, "--out", str(tmp_path), "--json"]) == PASSED
    (folder,) = tmp_path.iterdir()
    bars = {metric.name: (metric.bar, metric.passed) for metric in read_record(folder).metrics}
    assert bars["position_error_m"] == ("<= 1e-06 m", True)
    assert bars["rotation_error_rad"] == ("<= 1e-06 rad", True)
    assert bars["limit_margin_rad"] == (None, None)


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
