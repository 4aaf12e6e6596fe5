"""Everything that the verbs print."""

from __future__ import annotations

import json
import sys
from typing import Any, TextIO


def say(*lines: str, to: TextIO | None = None) -> None:
    """Print each line as one line, whatever stands in it."""
    for line in lines:
        print(printable(line), file=to or sys.stdout)


def printable(text: str) -> str:
    """``text`` with line breaks, escape codes and all else that is not seen written out.

    Names come from files; in a terminal such characters could forge lines.
    """
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def print_json(data: Any) -> None:
    """Print one JSON object on standard output."""
    from forearm.jsonable import plain

    print(json.dumps(plain(data), allow_nan=False))


def warn(text: str) -> None:
    say(f"forearm: warning: {text}", to=sys.stderr)
