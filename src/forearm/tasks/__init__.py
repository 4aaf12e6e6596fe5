"""Tasks: what is wanted, and how it is judged. One task a file; a new file here is a new task.

A task file has a docstring whose first line is its help, ``add_arguments(parser)`` and
``perform(options, artifact) -> Record``; ``options`` is plain data, so that a replay can give it again.
``draw`` and ``draw_refused`` put pictures of a run, and of a plan that was refused, beside the record.
"""

from __future__ import annotations

import importlib
import pkgutil
from types import ModuleType

from forearm.errors import unknown_unless_in


def task_names() -> list[str]:
    """The task files; a leading underscore marks what they share."""
    found = sorted(module.name for module in pkgutil.iter_modules(__path__))
    return [name for name in found if not name.startswith("_")]


def task_module(name: str) -> ModuleType:
    unknown_unless_in("task", name, task_names())
    return importlib.import_module(f"{__name__}.{name}")
