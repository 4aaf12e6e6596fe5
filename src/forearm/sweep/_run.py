"""Runs a sweep, or what is left of one: its folder, its rows, its record."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from forearm.errors import ForearmError, InvalidInput, unknown_unless_in
from forearm.evidence.record import Record
from forearm.evidence.writer import ArtifactWriter
from forearm.jsonable import plain
from forearm.progress import Progress
from forearm.sweep import sweep_name
from forearm.sweep._calls import TRIES, Backend, Call, Done, Row
from forearm.sweep._resume import ROWS, TRIALS, alone_in, restored, rows_so_far, sweep_up

BACKENDS = ("local", "ray")


class Finished(NamedTuple):
    folder: Path
    record: Record
    settings: list[Row]


class Interrupted(KeyboardInterrupt):
    """Ctrl-C ended the sweep; ``folder`` can be resumed."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.folder = folder


def run_sweep(
    module: ModuleType,
    given: Mapping[str, Any],
    out: str | Path = "runs",
    workers: int = 1,
    backend: str = "local",
) -> Finished:
    """Run all jobs of the sweep; options that are not given are as ``default_options`` has them."""
    options, work = all_options(module, given), backend_named(backend)
    artifact = ArtifactWriter(
        out,
        f"sweep.{sweep_name(module)}",
        module.TITLE,
        configuration={"sweep": sweep_name(module), **options},
        seeds={name: value for name, value in options.items() if name.endswith("seed")},
    )
    with artifact, alone_in(artifact.folder):
        try:
            return work_off(module, options, artifact, {}, work, workers)
        except ForearmError:
            # The question was wrong. What was answered before that came out is kept.
            if not (artifact.folder / ROWS).exists():
                artifact.discard()
            raise


def resume_sweep(
    module: ModuleType,
    folder: str | Path,
    given: Mapping[str, Any],
    workers: int = 1,
    backend: str = "local",
) -> Finished:
    """Run the jobs that have no row in ``folder`` yet, and finish it.

    What is ``given`` must be as the folder has it.
    """
    folder, work = Path(folder).resolve(), backend_named(backend)
    with alone_in(folder):
        options = restored(module, folder)
        for name, value in given.items():
            if options[name] != value:
                raise InvalidInput(
                    name, f"is {value}, but the sweep was begun with {options[name]}", "Leave it out."
                )
        with ArtifactWriter.resume(folder) as artifact:
            if artifact.environment != artifact.begun.environment:
                warnings.warn("the sweep was begun by another version, or on another machine", stacklevel=2)
            rows = rows_so_far(module, options, folder)
            artifact.write_rows(ROWS.removesuffix(".jsonl"), rows.values())
            sweep_up(folder, rows)
            return work_off(module, options, artifact, rows, work, workers)


def all_options(module: ModuleType, given: Mapping[str, Any]) -> dict[str, Any]:
    defaults = module.default_options()
    for name in given:
        unknown_unless_in(f"option of {sweep_name(module)}", name, tuple(defaults))
    return module.checked({**defaults, **given})


def backend_named(name: str) -> Backend:
    unknown_unless_in("backend", name, BACKENDS)
    if name == "ray":
        from forearm.sweep._ray import on_ray, require_ray

        require_ray()
        return on_ray
    from forearm.sweep._pool import on_this_machine

    return on_this_machine


def work_off(
    module: ModuleType,
    options: Mapping[str, Any],
    artifact: ArtifactWriter,
    rows: dict[str, Row],
    work: Backend,
    workers: int,
) -> Finished:
    """Do the jobs without a row; then put the rows into the jobs' order, and make the record of them."""
    jobs = {module.name_of(job): job for job in module.jobs(options)}
    missing = [name for name in jobs if name not in rows]
    trials = artifact.folder.absolute() / TRIALS
    trials.mkdir(exist_ok=True)
    calls = [Call(f"{module.__name__}:run_job", jobs[name], str(trials / name)) for name in missing]
    progress = Progress(len(calls), "trials")
    try:
        with closing(work(calls, workers)) as outcomes:
            for count, (number, done) in enumerate(outcomes, start=1):
                name = missing[number]
                rows[name] = row_of(module, name, jobs[name], done)
                append_row(artifact.folder, rows[name])
                progress.at(count)
        progress.end()
        ordered = [rows[name] for name in jobs]
        settings = module.settings(ordered)
        artifact.write_rows(ROWS.removesuffix(".jsonl"), ordered)
        artifact.write_rows("settings", settings)
        record = module.record(options, ordered)
        return Finished(artifact.finish(record), record, settings)
    except KeyboardInterrupt as stop:
        raise Interrupted(artifact.folder) from stop
    finally:
        progress.end()


def row_of(module: ModuleType, name: str, job: Mapping[str, Any], done: Done) -> Row:
    """The row as it is kept: the name of the trial's folder first."""
    if done.error:
        raise done.error
    row = done.row
    if row is None:
        row = module.lost_row(job, f"its worker died {TRIES} times, and at last {done.died}")
    return module.checked_row(plain({"trial": name, **row}))


def append_row(folder: Path, row: Row) -> None:
    """Put a row down, and have it on the disk before going on."""
    with (folder / ROWS).open("a", encoding="utf-8") as stream:
        stream.write(json.dumps(row, allow_nan=False) + "\n")
        stream.flush()
        os.fsync(stream.fileno())
