"""Sweeps: one task run many times, over settings and seeds. One sweep a file; a new file here is a new sweep.

A sweep file has a docstring whose first line is its help, TITLE, and

- ``add_arguments(parser)``, and ``options_from(args)``: the options that were given, as plain data;
- ``default_options()``, and ``checked(options)``: all of them, valid, or an error;
- ``jobs(options)``: the plain options of every run, in a fixed order, and ``name_of(job)``, a folder's name;
- ``run_job(job, folder) -> row``, in a process of its own, and ``lost_row(job, why)`` if that died;
- ``checked_row(row)``: a row that was read from a file, or an error;
- ``settings(rows)``: a row for each setting, and ``record(options, rows)``, made from the rows alone.
"""

from __future__ import annotations

import importlib
import pkgutil
from types import ModuleType

from forearm.errors import unknown_unless_in


def sweep_names() -> list[str]:
    """The sweep files; a leading underscore marks what they share."""
    found = sorted(module.name for module in pkgutil.iter_modules(__path__))
    return [name for name in found if not name.startswith("_")]


def sweep_module(name: str) -> ModuleType:
    unknown_unless_in("sweep", name, sweep_names())
    return importlib.import_module(f"{__name__}.{name}")


def sweep_name(module: ModuleType) -> str:
    return module.__name__.rpartition(".")[2]
