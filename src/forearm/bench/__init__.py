"""Benchmarks: one panel a file, measured by one command, kept in one artifact.

A panel file has ``add_arguments(parser)``, ``TITLE`` and ``measure(args) -> Measured``; its
docstring's first line is its help.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

from forearm.evidence.record import Record


@dataclass(frozen=True, slots=True)
class Measured:
    """What a panel found: its record, and the rows behind it, table by table."""

    record: Record
    tables: Mapping[str, Sequence[Mapping[str, Any]]] = field(default_factory=dict)


def panel_modules() -> dict[str, ModuleType]:
    """Every panel file, by name."""
    names = sorted(
        module.name
        for module in pkgutil.iter_modules(__path__)
        if not module.name.startswith("_") and not module.ispkg
    )
    return {name: importlib.import_module(f"{__name__}.{name}") for name in names}
