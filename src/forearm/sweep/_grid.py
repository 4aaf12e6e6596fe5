"""``0.1:0.9:0.1``: the numbers that a sweep goes over."""

from __future__ import annotations

import argparse
import math
from decimal import Decimal

MOST_VALUES = 1000
LARGEST = 1e9
SMALLEST = 1e-9


def grid(word: str) -> list[float]:
    """``start:stop:step``, stop included, or a number, or several of either with commas between them.

    Steps are counted in decimals, so that the third of 0.1, 0.2, ... is 0.3. A number that is named twice
    counts once.
    """
    values = [value for part in word.split(",") for value in stretch(part, word)]
    values = list(dict.fromkeys(values))
    if len(values) > MOST_VALUES:
        raise too_many(word)
    return values


def stretch(part: str, word: str) -> list[float]:
    texts = part.split(":")
    if len(texts) not in (1, 3):
        raise wrong(word, "is not START:STOP:STEP or a number")
    numbers = [decimal(text, word) for text in texts]
    if len(numbers) == 1:
        return [plus(numbers[0])]
    start, stop, step = numbers
    if step < Decimal(SMALLEST):
        raise wrong(word, f"has a step below {SMALLEST:g}")
    if stop < start:
        raise wrong(word, "ends before it starts")
    steps = (stop - start) / step
    if steps >= MOST_VALUES:
        raise too_many(word)
    return [plus(start + count * step) for count in range(int(steps) + 1)]


def plus(number: Decimal) -> float:
    """As a float; zero has one sign, since numbers become names."""
    return float(number) + 0.0


def decimal(text: str, word: str) -> Decimal:
    """The number, checked as a float first: a decimal's exponent may be larger than any memory."""
    try:
        if math.isfinite(float(text)) and abs(float(text)) <= LARGEST:
            return Decimal(text)
    except (ValueError, ArithmeticError):
        pass
    raise wrong(word, f"holds {text[:20]!r}, no number up to {LARGEST:g}")


def wrong(word: str, problem: str) -> argparse.ArgumentTypeError:
    return argparse.ArgumentTypeError(f"{word[:40]!r} {problem}")


def too_many(word: str) -> argparse.ArgumentTypeError:
    return wrong(word, f"has more than {MOST_VALUES} values")
