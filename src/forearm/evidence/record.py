"""``record.json``: what was asked, with what, on what, and what came out. Versioned."""

from __future__ import annotations

import json
import os
import platform
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from importlib import metadata
from pathlib import Path
from typing import Any

from forearm.errors import ArtifactError
from forearm.jsonable import plain

SCHEMA = "forearm.record/1"
PACKAGES = ("forearm", "mujoco", "pin", "numba", "numpy")


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


def read_record(folder: Path) -> Record:
    """The record of an artifact folder; raises ``ArtifactError`` for anything else."""
    path = folder / "record.json"
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ArtifactError(folder, f"no readable record.json ({error.__class__.__name__})") from error
    if not isinstance(data, dict) or data.get("schema") != SCHEMA:
        found = data.get("schema") if isinstance(data, dict) else None
        raise ArtifactError(folder, f"record.json has schema {found!r}, this version reads {SCHEMA!r}")
    try:
        data["outcome"] = Outcome(data["outcome"])
        data["metrics"] = [Metric(**metric) for metric in data["metrics"]]
        return Record(**data)
    except (KeyError, TypeError, ValueError) as error:
        raise ArtifactError(folder, f"record.json is not a record: {error}") from error


def utc_now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def environment() -> dict[str, Any]:
    """The machine, the versions and the state of the source, without any name or path."""
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
