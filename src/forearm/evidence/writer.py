"""Writes an evidence folder: into a temporary name first, renamed when it is whole."""

from __future__ import annotations

import json
import os
import shutil
import sys
import uuid
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any

from forearm.errors import ArtifactError, InvalidInput
from forearm.evidence.files import EVENTS
from forearm.evidence.record import (
    CUT_SHORT,
    PARTIAL,
    Outcome,
    Record,
    environment,
    parse_record,
    read_record,
    utc_now,
)
from forearm.evidence.trace import write_trace
from forearm.jsonable import plain
from forearm.spatial import Array

Event = tuple[float, str, str]
"""Time (s), kind, text."""


class ArtifactWriter:
    """One evidence folder in the making: ``<out>/<kind>-<time>-<id>``.

    Until ``finish`` the folder carries ``.partial`` in its name and a record that says
    ``interrupted``, so that a killed run leaves a folder that opens, says it was cut short, and tells
    from ``configuration``, ``seeds`` and ``describe`` what it was.
    """

    def __init__(
        self,
        out: str | Path,
        kind: str,
        title: str,
        *,
        configuration: Mapping[str, Any] | None = None,
        seeds: Mapping[str, int] | None = None,
    ) -> None:
        if not str(out).strip():
            raise InvalidInput("out", "is empty", "Name a folder.")
        self.kind, self.title, self.started_utc = kind, title, utc_now()
        self.environment = environment()
        stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S")
        name = f"{kind.replace('.', '-')}-{stamp}-{uuid.uuid4().hex[:6]}"
        self.final = Path(out) / name
        self.folder = Path(out) / (name + PARTIAL)
        try:
            self.folder.mkdir(parents=True)
        except OSError as error:
            raise ArtifactError(out, f"cannot write there ({error.strerror})", "Choose --out.") from error
        self.begun = Record(
            kind,
            title,
            CUT_SHORT,
            Outcome.INTERRUPTED,
            (),
            configuration=configuration or {},
            seeds=seeds or {},
        )
        self._write_record(self.begun)

    @classmethod
    def resume(cls, folder: Path) -> ArtifactWriter:
        """Take up a folder that its run did not finish; it keeps its name, its command and its beginning."""
        found = read_record(folder)
        if not folder.name.endswith(PARTIAL):
            raise ArtifactError(folder, "is finished", "There is nothing left to do.")
        writer = cls.__new__(cls)
        writer.kind, writer.title, writer.started_utc = found.kind, found.title, found.started_utc
        writer.environment = environment()
        writer.folder, writer.final = folder, folder.with_name(folder.name.removesuffix(PARTIAL))
        # A run may have been killed after it had written all that it found.
        writer.begun = replace(
            found, summary=CUT_SHORT, outcome=Outcome.INTERRUPTED, metrics=(), failures=(), tables={}
        )
        writer._write_record(writer.begun)
        return writer

    def __enter__(self) -> ArtifactWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Nothing to undo: what was written stays, marked as interrupted."""

    def discard(self) -> None:
        """Leave nothing behind: there was no run."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def describe(self, inputs: Mapping[str, Any]) -> None:
        """Put down what the run works on, as soon as that is known."""
        self.begun = replace(self.begun, inputs=inputs)
        self._write_record(self.begun)

    def write_rows(self, name: str, rows: Iterable[Mapping[str, Any]]) -> None:
        """Write ``<name>.jsonl``, a row a line."""
        lines = (json.dumps(plain(row), allow_nan=False) for row in rows)
        self.write_text(f"{name}.jsonl", "".join(line + "\n" for line in lines))

    def event(self, time_s: float, kind: str, text: str) -> None:
        """Append to ``events.jsonl`` and have it on the disk before going on."""
        with (self.folder / EVENTS).open("a", encoding="utf-8") as stream:
            stream.write(event_line((time_s, kind, text)))
            stream.flush()
            os.fsync(stream.fileno())

    def write_text(self, name: str, text: str) -> None:
        write_whole(self.folder / name, text.encode("utf-8"))

    def finish(self, record: Record) -> Path:
        """Write the record, make the report from the files, and give the folder its final name.

        What the record leaves out of inputs, configuration, seeds and command is as it was put down before.
        """
        from forearm.evidence.report import build_report

        self._write_record(
            replace(
                record,
                inputs=record.inputs or self.begun.inputs,
                command=record.command or self.begun.command,
                configuration=record.configuration or self.begun.configuration,
                seeds=record.seeds or self.begun.seeds,
            )
        )
        build_report(self.folder, parse_record(self.folder))
        os.replace(self.folder, self.final)
        return self.final

    def _write_record(self, record: Record) -> None:
        whole = replace(
            record,
            command=record.command or command_line(),
            started_utc=self.started_utc,
            finished_utc="" if record.outcome is Outcome.INTERRUPTED else utc_now(),
            environment=self.environment,
        )
        self.write_text("record.json", record_text(whole))


def write_at_once(
    folder: Path, record: Record, events: Iterable[Event], trace: Mapping[str, Array] | None = None
) -> None:
    """A whole artifact of a run that is over, without a page: one of many, which ``forearm report`` can make.

    It appears whole or not at all; one that a power cut loses is run again.
    """
    unfinished = folder.with_name(folder.name + PARTIAL)
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir(parents=True)
    now = utc_now()
    whole = replace(
        record, command=command_line(), started_utc=now, finished_utc=now, environment=environment()
    )
    (unfinished / "record.json").write_text(record_text(whole), encoding="utf-8")
    (unfinished / EVENTS).write_text("".join(map(event_line, events)), encoding="utf-8")
    if trace is not None:
        write_trace(unfinished, trace)
    os.replace(unfinished, folder)


def record_text(record: Record) -> str:
    return json.dumps(record.to_json(), indent=1, allow_nan=False) + "\n"


def event_line(event: Event) -> str:
    time_s, kind, text = event
    return json.dumps({"time_s": plain(time_s), "kind": kind, "text": text}) + "\n"


def write_whole(path: Path, content: bytes) -> None:
    """Write a file so that it is either the old or the new one, never half of either."""
    temporary = path.with_name(path.name + ".tmp")
    # Made anew, so that a link somebody left under this name is not written through.
    temporary.unlink(missing_ok=True)
    with temporary.open("xb") as stream:
        stream.write(content)
        stream.flush()
        os.fsync(stream.fileno())
    os.replace(temporary, path)


def command_line() -> tuple[str, ...]:
    """The words of the command that runs; of every absolute path only the last name."""
    program, *words = sys.argv or ["python"]
    if Path(program).name == "__main__.py":
        start = ["python", "-m", Path(program).parent.name]
    else:
        start = [Path(program).name]
    return (*start, *map(without_folders, words))


def without_folders(word: str) -> str:
    """``--out=/home/me/runs`` becomes ``--out=runs``, and ``/home/me/arm.urdf`` becomes ``arm.urdf``."""
    option, equals, value = word.partition("=") if word.startswith("-") else ("", "", word)
    return option + equals + (Path(value).name if os.path.isabs(value) else value)
