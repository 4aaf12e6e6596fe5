"""What an unfinished sweep left: found, checked, made ready to go on. The folder may come from anybody."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

from forearm.errors import ArtifactError, InvalidInput, UnknownName, shown
from forearm.evidence.files import read_regular
from forearm.evidence.record import PARTIAL, read_record
from forearm.sweep import sweep_name
from forearm.sweep._calls import Row

ROWS = "rows.jsonl"
TRIALS = "trials"


def newest_unfinished(module: ModuleType, options: Mapping[str, Any], out: str | Path) -> Path:
    """The newest folder under ``out`` of an unfinished sweep with these options that nobody works on."""
    name = sweep_name(module)
    # The names tell when they were begun.
    for folder in sorted(Path(out).glob(f"sweep-{name}-*{PARTIAL}"), reverse=True):
        try:
            with alone_in(folder):
                if restored(module, folder) == options:
                    return folder
        except ArtifactError:
            continue
    raise InvalidInput(
        "--resume", f"finds no unfinished sweep with these options in {out}", "Name its folder: --resume DIR."
    )


@contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """Nobody else who asks can enter ``folder`` meanwhile; a process that is killed leaves it."""
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except OSError as error:
        raise ArtifactError(folder, f"cannot be opened ({error.strerror})") from error
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise ArtifactError(folder, "is being worked on", "Wait for that to end.") from error
        yield
    finally:
        os.close(descriptor)


def restored(module: ModuleType, folder: Path) -> dict[str, Any]:
    """The options in a folder's record, checked."""
    record = read_record(folder)
    name = sweep_name(module)
    if record.kind != f"sweep.{name}":
        raise ArtifactError(folder, f"is of kind {shown(record.kind)}, no sweep of {shown(name)}")
    options = {key: value for key, value in record.configuration.items() if key != "sweep"}
    odd = sorted(set(options) ^ set(module.default_options()))
    if odd:
        raise ArtifactError(folder, f"record.json's configuration does not fit the sweep: {shown(odd)}")
    try:
        return module.checked(options)
    except (InvalidInput, UnknownName) as error:
        raise ArtifactError(folder, f"record.json: {str(error).rstrip('.')}") from error


def rows_so_far(module: ModuleType, options: Mapping[str, Any], folder: Path) -> dict[str, Row]:
    """The rows that were written, by trial. A last line, torn when its writer was killed, is left out."""
    path = folder / ROWS
    if not os.path.lexists(path):
        return {}
    jobs = {module.name_of(job): job for job in module.jobs(options)}
    rows = {}
    try:
        for line in read_regular(path).split(b"\n")[:-1]:
            row = module.checked_row(json.loads(line))
            job = jobs[row["trial"]]
            if any(row[name] != value for name, value in job.items() if name in row):
                raise InvalidInput(row["trial"], "is not of its job")
            rows[row["trial"]] = row
    except (OSError, ValueError, KeyError, RecursionError) as error:
        raise ArtifactError(folder, f"{ROWS} holds something else than rows of this sweep") from error
    return rows


def sweep_up(folder: Path, rows: Mapping[str, Row]) -> None:
    """Remove what trials left that were cut short, or whose row was."""
    trials = folder / TRIALS
    if trials.is_symlink():
        raise ArtifactError(folder, f"{TRIALS} is a link")
    for path in trials.iterdir() if trials.exists() else ():
        if path.name in rows:
            continue
        if path.is_symlink() or not path.is_dir():
            path.unlink()
        else:
            shutil.rmtree(path)
