"""Figures for reports: one kind of evidence a file, found by the kind in the record.

A figure file registers a function that is given the artifact's folder and its record, and returns
captions with matplotlib figures, or with the rows of a table. It reads files and nothing else.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from forearm.errors import ArtifactError, shown
from forearm.evidence import files
from forearm.evidence.record import Record
from forearm.evidence.tables import Rows, folded_if_long

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Figures = list[tuple[str, "Figure | Rows"]]
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


def make_figures(folder: Path, record: Record) -> list[tuple[str, str]]:
    """Captions and ``<svg>`` or ``<table>`` elements of a record's figures; none for kinds without any.

    Raises ``ArtifactError`` if the files are not such as records of that kind come with.
    """
    load_makers()
    maker = _makers.get(record.kind)
    if maker is None:
        return []
    # Imported here, since most of what reads a record draws nothing.
    from matplotlib.figure import Figure

    from forearm.evidence.figures.style import inline_svg, plain_text

    def element(caption: str, made: Figure | Rows) -> str:
        return inline_svg(made, caption) if isinstance(made, Figure) else folded_if_long(made)

    try:
        with plain_text():
            return [(caption, element(caption, made)) for caption, made in maker(folder, record)]
    except ArtifactError:
        raise
    # The files may hold anything, and there is no end of the ways in which a drawing can fail on it.
    except Exception as error:
        raise ArtifactError(
            folder, f"its files do not make the figures of {shown(record.kind)}: {error!r}"
        ) from error


def read_rows(folder: Path, name: str) -> list[dict[str, Any]]:
    """The rows of ``<name>.jsonl``; raises ``ArtifactError`` if it is missing or torn."""
    return files.read_rows(folder, f"{name}.jsonl")
