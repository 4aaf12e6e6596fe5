"""Numbers in XML attributes: finite, written in full, or an error that says where."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from xml.etree.ElementTree import Element

from forearm.errors import ModelError, shown

NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)
HUGE = 1e12
"""Lengths, masses and angles beyond this are refused: their products overflow."""


def numbers(
    element: Element | None,
    attribute: str,
    count: int,
    where: str,
    source: str,
    default: Sequence[float] | None = None,
    most: float = HUGE,
) -> list[float]:
    """``count`` numbers from an attribute; ``default`` stands in for a missing element or attribute."""
    text = None if element is None else element.get(attribute)
    if text is None:
        if default is None:
            raise ModelError(source, f"{where} has no {attribute!r} attribute")
        return list(default)
    tag = "" if element is None else element.tag
    words = text.split()
    values = [float(word) for word in words if len(word) < 64 and NUMBER.fullmatch(word)]
    if len(values) != count or len(words) != count:
        wanted = "a finite number" if count == 1 else f"{count} finite numbers"
        raise ModelError(source, f"{where}: <{tag} {attribute}={shown(text, 40)}> is not {wanted}")
    if not all(math.isfinite(value) and abs(value) <= most for value in values):
        raise ModelError(source, f"{where}: <{tag} {attribute}={shown(text, 40)}> is too large")
    return values


def number(
    element: Element | None,
    attribute: str,
    where: str,
    source: str,
    default: float | None = None,
    least: float = -math.inf,
    most: float = HUGE,
) -> float:
    """One number, not below ``least``."""
    fallback = None if default is None else (default,)
    (value,) = numbers(element, attribute, 1, where, source, fallback, most)
    if value < least:
        raise ModelError(source, f"{where}: {attribute} is {value:.6g}, below {least:.6g}")
    return value
