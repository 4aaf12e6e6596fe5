"""Figures for reports: one kind of evidence a file, found by the kind in the record.

A figure file registers a function that is given the artifact's folder and its record, and returns
captions with matplotlib figures. It reads files and nothing else.
"""

from __future__ import annotations

import importlib
import json
import pkgutil
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from forearm.errors import ArtifactError
from forearm.evidence.record import Record

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Figures = list[tuple[str, "Figure"]]
FigureMaker = Callable[[Path, Record], Figures]
_makers: dict[str, FigureMaker] = {}


def figures_for(kind: str) -> Callable[[FigureMaker], FigureMaker]:
    """Decorator: this function draws the figures of records of ``kind``."""

    def add(maker: FigureMaker) -> FigureMaker:
        _makers[kind] = maker
        return maker

    return add


@cache
def load_makers() -> None:
    for module in pkgutil.iter_modules(__path__):
        importlib.import_module(f"{__name__}.{module.name}")


def make_figures(folder: Path, record: Record) -> Figures:
    """The figures that belong to a record; none for kinds without any."""
    load_makers()
    maker = _makers.get(record.kind)
    return maker(folder, record) if maker else []


def read_rows(folder: Path, name: str) -> list[dict[str, Any]]:
    """The rows of ``<name>.jsonl``; raises ``ArtifactError`` if it is missing or torn."""
    path = folder / f"{name}.jsonl"
    try:
        return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    except (OSError, ValueError) as error:
        raise ArtifactError(folder, f"no readable {path.name}") from error
