"""One job of a sweep, as it goes to another process and as its outcome comes back."""

from __future__ import annotations

import importlib
import os
import shutil
import traceback
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from forearm.errors import ForearmError

Row = Mapping[str, Any]

ONE_THREAD = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "NUMBA_NUM_THREADS",
)
TRIES = 2
"""A job whose worker died is begun so often before it is given up."""


class Call(NamedTuple):
    """``function``, by "module:name" so that it is found in any process, on ``job`` and its folder."""

    function: str
    job: Mapping[str, Any]
    folder: str

    @property
    def name(self) -> str:
        return Path(self.folder).name


class Done(NamedTuple):
    """What became of a call: its row, or why its worker died, or the error that ends the sweep."""

    row: Row | None = None
    died: str = ""
    error: ForearmError | None = None


Backend = Callable[[Sequence[Call], int], Generator[tuple[int, Done], None, None]]
"""Works off the calls with so many workers; gives each call's number and outcome as it is done."""


class JobError(ForearmError):
    """A job of a sweep raised what it should not have. ``trace`` tells where."""

    def __init__(self, call: Call, error: BaseException) -> None:
        self.call, self.trace = call, "".join(traceback.format_exception(error))
        (last,) = str(error).strip().splitlines()[-1:] or ["no more is known"]
        super().__init__(f"{call.name} cannot be run: {type(error).__name__}: {last}")


def perform(call: Call) -> Done:
    """Run a call in this process. An error of ours is about what was asked for; any other is a fault."""
    try:
        # What a worker that died left under this name.
        shutil.rmtree(call.folder, ignore_errors=True)
        return Done(row=function_of(call.function)(call.job, Path(call.folder)))
    except ForearmError as error:
        return Done(error=error)
    except Exception as error:
        return Done(error=JobError(call, error))


def function_of(reference: str) -> Callable[..., Row]:
    module, _, name = reference.partition(":")
    return getattr(importlib.import_module(module), name)


@contextmanager
def one_thread_each() -> Iterator[None]:
    """Processes begun inside have libraries that use one thread, so that workers do not fight for cores."""
    kept = {name: os.environ.get(name) for name in ONE_THREAD}
    os.environ.update(dict.fromkeys(ONE_THREAD, "1"))
    try:
        yield
    finally:
        for name, value in kept.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
