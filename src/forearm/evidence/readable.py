"""Numbers as people read them: one unit a row, and digits enough to tell a value from its bar."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from forearm.evidence.record import Metric

PREFIXES = ((1.0, "m"), (1e-3, "mm"), (1e-6, "µm"), (1e-9, "nm"), (1e-12, "pm"), (1e-15, "fm"))
SPELLINGS = {"cm": (1e-2, "cm"), "um": (1e-6, "µm"), **{unit: (scale, unit) for scale, unit in PREFIXES}}
NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
LENGTH = re.compile(rf"({NUMBER})\s*(mm|µm|um|nm|pm|fm|cm|m)\b")
DIGITS = 4
MOST_DIGITS = 17
"""So many tell any two numbers apart."""
LARGE = 1e3
"""A length of so many units reads better in a larger one."""


class Shown(NamedTuple):
    """What a metric is, what the source says of it and what must hold, as they are shown."""

    value: str
    source: str
    bar: str


def shown_rows(metrics: Sequence[Metric]) -> Iterator[Shown]:
    """The metrics' texts. The lengths of a row are in one unit, which the rows share if it fits them."""
    held_against = [length for metric in metrics for length in references(metric)]
    shared = unit_for(max(held_against)) if held_against else None
    for metric in metrics:
        texts = metric.source or "", metric.bar or ""
        if metric.unit != "m" or not isinstance(metric.value, float) or not math.isfinite(metric.value):
            yield Shown(metric.shown, *texts)
            continue
        scale, unit = shared if shared and fits(metric, shared[0]) else unit_for(typical(metric))
        source, bar = (in_unit(text, scale, unit) for text in texts)
        yield Shown(f"{digits(metric.value / scale, first_number(bar))} {unit}", source, bar)


def references(metric: Metric) -> list[float]:
    """The lengths (m) that a length is held against."""
    found = (metres(text) for text in (metric.source, metric.bar)) if metric.unit == "m" else ()
    return [length for length in found if length]


def typical(metric: Metric) -> float:
    """The length (m) that says in which unit a row reads well."""
    return max(references(metric), default=float(metric.value or 0.0))


def fits(metric: Metric, scale: float) -> bool:
    """Whether a row reads well in a unit: only a value that is held against nothing may be tiny in it."""
    least = 1.0 / LARGE if references(metric) else 0.0
    return least <= abs(typical(metric)) / scale < LARGE


def digits(value: float, held_against: float | None = None) -> str:
    """``value`` to four digits, to more if these would put it elsewhere than it is.

    That is on the other side of what it is held against, or upon it, or up to a power of ten, which most
    often is what somebody holds it against.
    """
    for count in range(DIGITS, MOST_DIGITS + 1):
        text = f"{value:.{count}g}"
        if held_against is not None and side(float(text), held_against) != side(value, held_against):
            continue
        if count < 2 * DIGITS and rounded_up_to_a_power(value, count):
            continue
        return text
    return repr(value)


def three_digits(value: float) -> str:
    """``value`` to three digits, large numbers whole and without an exponent."""
    return f"{value:.3g}" if abs(value) < 999.5 else f"{value:.0f}"


def side(value: float, of: float) -> int:
    return (value > of) - (value < of)


def rounded_up_to_a_power(value: float, count: int) -> bool:
    mantissa = f"{abs(value):.{count - 1}e}"
    return mantissa.partition("e")[0].strip("0.") == "1" and float(mantissa) > abs(value)


def first_number(text: str | None) -> float | None:
    """The first number in a text such as "<= 1 µs"."""
    found = re.search(NUMBER, text or "")
    return float(found[0]) if found else None


def unit_for(value_m: float) -> tuple[float, str]:
    """The unit in which a length reads well: millimetres down to 0.01 mm, as the trade writes them."""
    size = abs(value_m)
    fitting = (each for each in PREFIXES if size >= each[0] * (0.01 if each[1] == "mm" else 1.0))
    return next(fitting, PREFIXES[-1] if size else PREFIXES[0])


def in_unit(text: str, scale: float, unit: str) -> str:
    """``text`` with its lengths in ``unit``; what is in it already stays as it was written."""

    def converted(found: re.Match[str]) -> str:
        theirs, name = SPELLINGS[found[2]]
        return found[0] if name == unit else f"{float(found[1]) * theirs / scale:.6g} {unit}"

    return LENGTH.sub(converted, text)


def length_text(value_m: float | None) -> str:
    """A length to three digits."""
    if value_m is None or not math.isfinite(value_m):
        return "diverged"
    size = abs(value_m)
    if size == 0.0:
        return "0"
    if size >= 1e3:
        return "over 1 km"
    scale, unit = unit_for(value_m)
    return f"under 1 {unit}" if size < scale and unit == PREFIXES[-1][1] else f"{value_m / scale:.3g} {unit}"


def at_most(value_m: float) -> str:
    """``length_text`` as a bound."""
    text = length_text(value_m)
    return text if text.startswith(("under", "over", "diverged")) else f"at most {text}"


def metres(text: str | None) -> float | None:
    """The first length in a text such as "<= 0.009 mm"."""
    found = LENGTH.search(text or "")
    return float(found[1]) * SPELLINGS[found[2]][0] if found else None
