"""Short tables of a page: rows of numbers and words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

Rows = Sequence[Mapping[str, Any]]
SHORT = 16


def plain_table(rows: Rows) -> str:
    """The rows as they stand; numbers to seven digits."""
    columns = list(dict.fromkeys(name for row in rows for name in row))
    header = "".join(f"<th>{escape(name)}</th>" for name in columns)
    body = "".join("<tr>" + "".join(cell(row.get(name)) for name in columns) + "</tr>" for row in rows)
    return f"<table><tr>{header}</tr>{body}</table>"


def cell(value: Any) -> str:
    if value is None:
        return "<td>-</td>"
    text = f"{value:.7g}" if isinstance(value, float) else str(value)
    # Short words, among them a number and its unit, stay on one line.
    kind = ' class="number"' if isinstance(value, float) or len(text) <= SHORT else ""
    return f"<td{kind}>{escape(text)}</td>"
