"""Short tables of a page: rows of numbers and words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from pathlib import PurePosixPath
from typing import Any, NamedTuple
from urllib.parse import quote

Rows = Sequence[Mapping[str, Any]]
SHORT = 16
MANY = 40
"""A table of more rows is folded away."""


class Link(NamedTuple):
    """What a cell shows, and the file that it leads to, by its way from the page's folder."""

    text: str
    path: str


def plain_table(rows: Rows) -> str:
    """The rows as they stand; numbers to seven digits."""
    columns = list(dict.fromkeys(name for row in rows for name in row))
    header = "".join(f"<th>{escape(name)}</th>" for name in columns)
    body = "".join("<tr>" + "".join(cell(row.get(name)) for name in columns) + "</tr>" for row in rows)
    return f"<table><tr>{header}</tr>{body}</table>"


def folded_if_long(rows: Rows) -> str:
    table = plain_table(rows)
    return f"<details><summary>{len(rows)} rows</summary>{table}</details>" if len(rows) > MANY else table


def cell(value: Any) -> str:
    if value is None:
        return "<td>-</td>"
    if isinstance(value, Link):
        return f"<td>{anchor(value)}</td>"
    text = f"{value:.7g}" if isinstance(value, float) else str(value)
    # Short words, among them a number and its unit, stay on one line.
    kind = ' class="number"' if isinstance(value, float) or len(text) <= SHORT else ""
    return f"<td{kind}>{escape(text)}</td>"


def anchor(link: Link) -> str:
    """The link, if it leads to a place under the page's folder; else its text alone."""
    text = escape(link.text)
    if ".." in PurePosixPath(link.path).parts:
        return text
    # Led by "./" and with its colons quoted, no path is taken for another scheme or another host.
    return f'<a href="./{escape(quote(link.path, errors="replace"))}">{text}</a>'
