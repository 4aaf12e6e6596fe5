"""The ``forearm`` command. One verb a file; a new file here is a new verb.

A verb file has a docstring whose first line is its help, ``add_arguments(parser)`` and
``run(args) -> exit code``: 0 passed, 1 ran and failed its goals, 2 bad input.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import pkgutil
import sys
import warnings
from collections.abc import Sequence
from importlib import metadata
from typing import Any, NoReturn

from forearm.errors import ForearmError

PASSED, FAILED, BAD_INPUT, INTERRUPTED = 0, 1, 2, 130


class OneLineParser(argparse.ArgumentParser):
    """Says what is wrong in one line, without the usage before it."""

    def error(self, message: str) -> NoReturn:
        self.exit(BAD_INPUT, f"{self.prog}: {message} (see {self.prog} --help)\n")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; returns its exit code."""
    warnings.showwarning = show_warning
    words = list(sys.argv[1:] if argv is None else argv)
    args = parser_for(words).parse_args(words)
    try:
        return args.run(args)
    except ForearmError as error:
        if getattr(args, "json", False):
            print_json({"outcome": "bad_input", "error": type(error).__name__, "message": str(error)})
        print(f"forearm {args.verb}: {error}", file=sys.stderr)
        return BAD_INPUT
    except BrokenPipeError:
        # The reader has gone, which is its right; keep the interpreter from saying so at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return PASSED
    except OSError as error:
        # A file that the user named cannot be read or written.
        print(f"forearm {args.verb}: {error}", file=sys.stderr)
        return BAD_INPUT
    except KeyboardInterrupt:
        print(f"forearm {args.verb}: interrupted", file=sys.stderr)
        return INTERRUPTED


def parser_for(words: Sequence[str]) -> argparse.ArgumentParser:
    """The parser; only the verb that is asked for gets imported and its arguments filled in."""
    parser = OneLineParser(
        prog="forearm", description="Inverse kinematics that says what it knows before the arm moves."
    )
    parser.add_argument("--version", action="version", version=f"forearm {metadata.version('forearm')}")
    verbs = parser.add_subparsers(title="verbs", dest="verb", metavar="VERB", required=True)
    names = verb_names()
    asked = [words[0]] if words and words[0] in names else names
    for name in asked:
        verb = importlib.import_module(f"{__name__}.{name}")
        about = (verb.__doc__ or "").strip()
        added = verbs.add_parser(
            name,
            help=about.splitlines()[0],
            description=about,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        verb.add_arguments(added)
        added.set_defaults(run=verb.run)
    return parser


def verb_names() -> list[str]:
    """The verb files; a leading underscore marks what they share."""
    found = sorted(module.name for module in pkgutil.iter_modules(__path__))
    return [name for name in found if not name.startswith("_")]


def print_json(data: Any) -> None:
    """Print one JSON object on standard output."""
    from forearm.jsonable import plain

    print(json.dumps(plain(data), allow_nan=False))


def show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    print(f"forearm: warning: {message}", file=sys.stderr)
