"""Runs a task by name: what the command does, from Python."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from forearm.evidence.record import Record
from forearm.evidence.writer import ArtifactWriter
from forearm.tasks import task_module


def run_task(
    name: str, options: Mapping[str, Any], out: str | Path = "runs", video: bool = False
) -> tuple[Path, Record]:
    """Perform the task, keep its evidence under ``out``, and draw what was done."""
    module = task_module(name)
    with ArtifactWriter(out, f"run.{name}", module.TITLE) as artifact:
        record = module.perform(options, artifact)
        return artifact.finish(record), record
