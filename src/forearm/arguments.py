"""Numbers on the command line, checked before anything is begun."""

from __future__ import annotations

import argparse


def positive(word: str) -> int:
    """A count: a whole number, 1 or more."""
    return whole_number(word, 1)


def seed_number(word: str) -> int:
    """A seed: a whole number, 0 or more."""
    return whole_number(word, 0)


def whole_number(word: str, least: int) -> int:
    try:
        number = int(word)
    except ValueError:
        number = least - 1
    if number < least:
        raise argparse.ArgumentTypeError(f"{word[:40]!r} is not a whole number, {least} or more")
    return number
