"""Reads the files of a folder that may come from anybody."""

from __future__ import annotations

import errno
import json
import os
import stat
from pathlib import Path
from typing import Any

from forearm.errors import ArtifactError

MAX_BYTES = 1 << 29
EVENTS = "events.jsonl"


def read_regular(path: Path, limit: int = MAX_BYTES) -> bytes:
    """The content of a regular file of at most ``limit`` bytes; raises ``OSError`` for anything else.

    A symbolic link is not followed, since it may lead to a file that was never meant to be shown, and
    a pipe or a device is not waited for.
    """
    # O_NONBLOCK lets a pipe be opened, and so be refused, without a writer.
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with open(descriptor, "rb") as stream:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, "not a regular file", str(path))
        if status.st_size > limit:
            raise OSError(errno.EFBIG, f"larger than {limit} bytes", str(path))
        return stream.read(limit)


def read_rows(folder: Path, file: str) -> list[Any]:
    """The rows of a file of JSON lines; raises ``ArtifactError`` if it is missing or torn."""
    try:
        return [json.loads(line) for line in read_regular(folder / file).decode("utf-8").splitlines()]
    except (OSError, ValueError, RecursionError) as error:
        raise ArtifactError(folder, f"no readable {file}") from error


def read_events(folder: Path) -> list[dict[str, Any]]:
    """The rows of ``events.jsonl`` that have a time and a kind; none if there is no such file.

    A line torn by a killed run is passed over.
    """
    path = folder / EVENTS
    text = read_regular(path).decode("utf-8", "replace") if path.exists() else ""
    events = []
    for line in text.splitlines():
        try:
            event = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(event, dict) and {"time_s", "kind"} <= event.keys():
            events.append(event)
    return events
