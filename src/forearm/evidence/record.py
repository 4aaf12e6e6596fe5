"""``record.json``: what was asked, with what, on what, and what came out. Versioned."""

from __future__ import annotations

import json
import os
import platform
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from enum import StrEnum
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

from forearm.errors import ArtifactError, shown
from forearm.evidence.files import read_regular
from forearm.evidence.readable import digits, first_number
from forearm.jsonable import plain

SCHEMA = "forearm.record/1"
CUT_SHORT = "The run was cut short before it was finished."
PACKAGES = ("forearm", "mujoco", "pin", "numba", "numpy")
SHARE = "share"
"""The unit of a metric that is a share of a whole, from 0 to 1; shown as a percentage."""
MAX_NESTING = 50


class Outcome(StrEnum):
    PASSED = "passed"
    FAILED = "failed"
    INTERRUPTED = "interrupted"


@dataclass(frozen=True, slots=True)
class Metric:
    """A figure with its unit and meaning, and what it is held against."""

    name: str
    value: float | int | str | None
    unit: str
    meaning: str
    source: str | None = None
    """What the text that the system comes from reports, as it reports it."""
    bar: str | None = None
    """What has to hold."""
    passed: bool | None = None

    @property
    def shown(self) -> str:
        """The value with its unit, to four digits or to as many as tell it from its bar."""
        if self.value is None:
            return "-"
        bar = first_number(self.bar)
        if self.unit == SHARE and isinstance(self.value, float):
            return f"{digits(100.0 * self.value, bar)} %"
        text = digits(self.value, bar) if isinstance(self.value, float) else str(self.value)
        return f"{text} {self.unit}".strip()


@dataclass(frozen=True, slots=True)
class Record:
    """Everything needed to read, judge and repeat a run."""

    kind: str
    title: str
    summary: str
    outcome: Outcome
    metrics: Sequence[Metric]
    inputs: Mapping[str, Any] = field(default_factory=dict)
    configuration: Mapping[str, Any] = field(default_factory=dict)
    seeds: Mapping[str, int] = field(default_factory=dict)
    failures: Sequence[Mapping[str, str]] = ()
    """Each with a ``label`` (perception, state, planning, control, evaluation) and a ``text``."""
    tables: Mapping[str, Sequence[Mapping[str, Any]]] = field(default_factory=dict)
    """Short tables for the report, by title: rows of numbers and words, units in the columns' names."""
    command: Sequence[str] = ()
    started_utc: str = ""
    finished_utc: str = ""
    environment: Mapping[str, Any] = field(default_factory=dict)
    schema: str = SCHEMA

    def to_json(self) -> dict[str, Any]:
        return plain(asdict(self))

    def value(self, name: str) -> float | int | str | None:
        """The value of the metric called ``name``."""
        return next(metric.value for metric in self.metrics if metric.name == name)


PARTIAL = ".partial"
"""Ends the name of a folder that is still being written, or that its run never finished."""


def read_record(folder: Path) -> Record:
    """The record of an artifact folder; raises ``ArtifactError`` for anything else.

    A folder whose run was killed says so, whatever its record had come to say by then.
    """
    record = parse_record(folder)
    if Path(folder).name.endswith(PARTIAL) and record.outcome is not Outcome.INTERRUPTED:
        return replace(record, outcome=Outcome.INTERRUPTED, summary=CUT_SHORT)
    return record


def parse_record(folder: Path) -> Record:
    """What ``record.json`` says, finished or not."""
    try:
        data = json.loads(read_regular(folder / "record.json").decode("utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise ArtifactError(folder, f"no readable record.json ({error.__class__.__name__})") from error
    if not isinstance(data, dict) or data.get("schema") != SCHEMA:
        found = data.get("schema") if isinstance(data, dict) else None
        raise ArtifactError(folder, f"record.json has schema {shown(found)}, this version reads {SCHEMA!r}")
    try:
        require_types(data)
        data["outcome"] = Outcome(data["outcome"])
        data["metrics"] = [Metric(**metric) for metric in data["metrics"]]
        return Record(**data)
    except (KeyError, TypeError, ValueError) as error:
        raise ArtifactError(folder, f"record.json is not a record: {error}") from error


def require_types(data: dict[str, Any]) -> None:
    """Raise ``TypeError`` or ``ValueError`` unless every part of a record that is there has its type."""
    if nested_deeper_than(MAX_NESTING, data):
        raise ValueError(f"nested deeper than {MAX_NESTING}")
    require(data, str, "kind", "title", "summary", "outcome", "started_utc", "finished_utc")
    require(data, dict, "inputs", "configuration", "seeds", "environment", "tables")
    require(data, list, "metrics", "failures", "command")
    for metric in items(data, "metrics", dict):
        require(metric, str, "name", "unit", "meaning")
        require(metric, float | int | str | None, "value")
        require(metric, str | None, "source", "bar")
        require(metric, bool | None, "passed")
    for failure in items(data, "failures", dict):
        require(failure, str, *failure)
    items(data, "command", str)
    require(data.get("seeds", {}), int, *data.get("seeds", {}))
    require(data.get("environment", {}), dict | None, "git", "versions")
    tables = data.get("tables", {})
    for title in tables:
        for row in items(tables, title, dict):
            require(row, float | int | str | None, *row)


def require(data: Mapping[str, Any], kind: Any, *names: str) -> None:
    for name in names:
        if name in data and not isinstance(data[name], kind):
            raise TypeError(f"{shown(name)} is of type {type(data[name]).__name__}")


def items(data: Mapping[str, Any], name: str, kind: type) -> list[Any]:
    """The list ``name``, empty if it is missing, all of whose items are of ``kind``."""
    require(data, list, name)
    found = data.get(name, [])
    if not all(isinstance(item, kind) for item in found):
        raise TypeError(f"{shown(name)} holds an item that is not of type {kind.__name__}")
    return found


def nested_deeper_than(levels: int, data: Any) -> bool:
    layer = [data]
    for _ in range(levels):
        inside = (value.values() if isinstance(value, dict) else value for value in layer)
        layer = [item for values in inside for item in values if isinstance(item, dict | list)]
    return bool(layer)


def utc_now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


@cache
def environment() -> dict[str, Any]:
    """The machine, the versions and the state of the source as a process first asks, without any name or
    path."""
    return {
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "cpu": cpu_name(),
        "cores": os.cpu_count(),
        "versions": {name: version_of(name) for name in PACKAGES},
        "git": git_state(),
    }


def version_of(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def cpu_name() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), "")


def git_state() -> dict[str, Any] | None:
    """Commit and whether it is clean, if forearm runs from a checkout of its own."""
    root = Path(__file__).resolve().parents[3]
    if not (root / ".git").exists():
        return None

    def git(*arguments: str) -> str:
        return subprocess.run(
            ["git", "-C", str(root), *arguments], capture_output=True, text=True, timeout=10, check=True
        ).stdout.strip()

    try:
        return {"commit": git("rev-parse", "HEAD"), "dirty": bool(git("status", "--porcelain"))}
    except (OSError, subprocess.SubprocessError):
        return None
