"""The ``forearm`` command. One verb a file; a new file here is a new verb.

A verb file has a docstring whose first line is its help, ``add_arguments(parser)`` and
``run(args) -> exit code``: 0 passed, 1 ran and failed its goals, 2 bad input.
"""

from __future__ import annotations

import argparse
import importlib
import os
import pkgutil
import sys
import warnings
from collections.abc import Sequence
from importlib import metadata
from typing import Any

from forearm.cli._output import print_json, say, warn
from forearm.cli._parsers import OneLineParser, WrongWords, add_verbs
from forearm.errors import ForearmError

PASSED, FAILED, BAD_INPUT, INTERRUPTED = 0, 1, 2, 130


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; returns its exit code."""
    words = list(sys.argv[1:] if argv is None else argv)
    with warnings.catch_warnings():
        warnings.showwarning = show_warning
        return run_words(words)


def run_words(words: Sequence[str]) -> int:
    as_json = "--json" in words
    try:
        args = parser_for(words).parse_args(words)
    except WrongWords as error:
        return stopped(as_json, error, str(error))
    who = f"forearm {args.verb}"
    try:
        return args.run(args)
    except BrokenPipeError:
        # The reader has gone, which is its right; keep the interpreter from saying so at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return PASSED
    # An OSError is a file that the user named and that cannot be read or written.
    except (ForearmError, OSError) as error:
        return stopped(as_json, error, f"{who}: {error}")
    except KeyboardInterrupt as error:
        line = ": ".join((f"{who}: interrupted", *map(str, error.args)))
        return stopped(as_json, error, line, "interrupted", INTERRUPTED)


def stopped(
    as_json: bool, error: BaseException, line: str, outcome: str = "bad_input", code: int = BAD_INPUT
) -> int:
    """Say in one line, and with ``--json`` in one object, why there is no answer."""
    if as_json:
        print_json({"outcome": outcome, "error": type(error).__name__, "message": str(error)})
    say(line, to=sys.stderr)
    return code


def parser_for(words: Sequence[str]) -> argparse.ArgumentParser:
    """The parser; only the verb that is asked for gets imported and its arguments filled in."""
    parser = OneLineParser(
        prog="forearm", description="Inverse kinematics that says what it knows before the arm moves."
    )
    parser.add_argument("--version", action="version", version=f"forearm {metadata.version('forearm')}")
    verbs = parser.add_subparsers(title="verbs", dest="verb", metavar="VERB", required=True)
    names = verb_names()
    asked = [words[0]] if words and words[0] in names else names
    modules = {name: importlib.import_module(f"{__name__}.{name}") for name in asked}
    for name, added in add_verbs(verbs, modules).items():
        added.set_defaults(run=modules[name].run)
    return parser


def verb_names() -> list[str]:
    """The verb files; a leading underscore marks what they share."""
    found = sorted(module.name for module in pkgutil.iter_modules(__path__))
    return [name for name in found if not name.startswith("_")]


def show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    warn(str(message))
