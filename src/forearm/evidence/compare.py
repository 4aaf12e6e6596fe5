"""Whether two artifacts say the same: bit for bit, timings aside."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from forearm.errors import ArtifactError
from forearm.evidence.files import read_rows
from forearm.evidence.record import MAX_NESTING, Record, nested_deeper_than, read_record
from forearm.evidence.trace import TRACE, read_trace
from forearm.spatial import Array

TIMINGS = ("loop_time_ratio", "loop_us_per_tick", "step_p99_us", "time_ratio")
"""Metrics, and columns of rows, that measure the machine and not the run; also with what they are of behind
a further underscore."""
OF_ANOTHER_TIME = frozenset({"command", "started_utc", "finished_utc", "environment"})
"""Parts of a record that say when, where and by which words a run was made, not what it was."""
ABSENT = "absent"


class Difference(NamedTuple):
    what: str
    first: object
    second: object


def differences(first: Path, second: Path) -> list[Difference]:
    """All that two artifacts say differently: records, tables and traces, of these the first row each.

    Pictures and the page are made from what is compared, and are not.
    """
    found = list(unlike("", comparable(read_record(first)), comparable(read_record(second))))
    for pattern, look in (("*.jsonl", rows_unlike), ("*.parquet", traces_unlike)):
        names = [{path.name for path in folder.glob(pattern)} for folder in (first, second)]
        for name in sorted(names[0] | names[1]):
            there = [name in mine for mine in names]
            if all(there):
                found += look(first, second, name)
            else:
                found.append(Difference(name, *("there" if each else ABSENT for each in there)))
    return found


def comparable(record: Record) -> dict[str, Any]:
    """What a record says of the run, metrics by name; values that measure the machine are left out."""
    data = {name: part for name, part in record.to_json().items() if name not in OF_ANOTHER_TIME}
    data["order of metrics"] = [metric["name"] for metric in data["metrics"]]
    data["metrics"] = {metric["name"]: said_of(metric) for metric in data["metrics"]}
    return data


def is_timing(name: str) -> bool:
    return name in TIMINGS or name.startswith(tuple(f"{timing}_" for timing in TIMINGS))


def said_of(metric: Mapping[str, Any]) -> dict[str, Any]:
    hidden = {"value", "passed"} if is_timing(metric["name"]) else set()
    return {name: value for name, value in metric.items() if name not in hidden}


def unlike(what: str, first: Any, second: Any) -> Iterator[Difference]:
    """Every place at which nested plain data differ, by the way to it."""
    if isinstance(first, dict) and isinstance(second, dict):
        for name in dict.fromkeys([*first, *second]):
            way = f"{what}.{name}".removeprefix(".")
            if name in first and name in second:
                yield from unlike(way, first[name], second[name])
            else:
                yield Difference(way, first.get(name, ABSENT), second.get(name, ABSENT))
    elif isinstance(first, list) and isinstance(second, list) and len(first) == len(second):
        for index, (one, other) in enumerate(zip(first, second, strict=True)):
            yield from unlike(f"{what}[{index}]", one, other)
    # As text: 1 is not 1.0, 0.0 is not -0.0, and what is not a number equals itself.
    elif json.dumps(first) != json.dumps(second):
        yield Difference(what, first, second)


def rows_unlike(first: Path, second: Path, name: str) -> list[Difference]:
    """How many rows two tables have, or the first row in which they differ."""
    one, other = (rows_of(folder, name) for folder in (first, second))
    if len(one) != len(other):
        return [Difference(f"rows of {name}", len(one), len(other))]
    for number, (row, again) in enumerate(zip(one, other, strict=True), start=1):
        found = list(unlike(f"{name} row {number}", row, again))
        if found:
            return found
    return []


def rows_of(folder: Path, name: str) -> list[Any]:
    rows = read_rows(folder, name)
    if nested_deeper_than(MAX_NESTING, rows):
        raise ArtifactError(folder, f"{name} is nested deeper than {MAX_NESTING}")
    return [untimed(row) if isinstance(row, dict) else row for row in rows]


def untimed(row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if not is_timing(name)}


def traces_unlike(first: Path, second: Path, name: str) -> list[Difference]:
    """Every column in which two traces differ, at its first such row."""
    one, other = (read_trace(folder, name) for folder in (first, second))
    if list(one) != list(other):
        return [Difference(f"columns of {name}", sorted(one), sorted(other))]
    found = []
    for column, values in one.items():
        again, what = other[column], column if name == TRACE else f"{name} {column}"
        if values.dtype != again.dtype:
            found.append(Difference(f"type of {what}", str(values.dtype), str(again.dtype)))
        elif len(values) != len(again):
            found.append(Difference(f"rows of {what}", len(values), len(again)))
        elif (row := first_unequal(values, again)) is not None:
            found.append(Difference(f"{what} at row {row}", values[row], again[row]))
    return found


def first_unequal(values: Array, again: Array) -> int | None:
    """The first row whose bits differ: a NaN equals itself, and -0.0 is not 0.0."""
    bits = [np.ascontiguousarray(column).view(np.uint8) for column in (values, again)]
    unequal = np.flatnonzero(bits[0] != bits[1])
    return int(unequal[0]) // values.itemsize if len(unequal) else None
