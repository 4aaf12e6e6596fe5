"""Records, the writer's promises, reports made of files alone."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

from forearm.errors import ArtifactError
from forearm.evidence.record import SCHEMA, Metric, Outcome, Record, read_record
from forearm.evidence.report import build_report
from forearm.evidence.writer import PARTIAL, ArtifactWriter

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
