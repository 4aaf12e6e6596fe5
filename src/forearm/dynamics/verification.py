"""The outcome of a cross-check: one row a quantity, each with its worst case, where it is, and its bar."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from forearm.spatial import Array

TABLE_WIDTH = 100
OK, FAIL, SKIPPED = "ok", "FAIL", "skip"


@dataclass(frozen=True, slots=True)
class Row:
    """One quantity compared over many postures.

    ``where`` and ``posture`` tell where the disagreement starts, or, when there is none, where the
    worst value is; ``worst_at`` is always the joint or frame of the worst value.
    """

    quantity: str
    compared: str
    unit: str
    tolerance: float
    worst: float = math.nan
    where: str = ""
    posture: str = ""
    worst_at: str = ""
    cases: int = 0
    skipped: str = ""
    """Why the row was not checked; empty if it was."""

    @property
    def failed(self) -> bool:
        # Written so that a worst value that is not a number fails.
        return not self.skipped and not self.worst <= self.tolerance

    @property
    def status(self) -> str:
        return SKIPPED if self.skipped else FAIL if self.failed else OK

    @property
    def place(self) -> str:
        return self.skipped or ", ".join(part for part in (self.where, self.posture) if part)

    def to_dict(self) -> dict[str, Any]:
        """JSON has no number for infinity: an infinite or undefined worst value is null there."""
        return {
            "quantity": self.quantity,
            "compared": self.compared,
            "status": self.status,
            "worst": self.worst if math.isfinite(self.worst) else None,
            "unit": self.unit,
            "tolerance": self.tolerance,
            "where": self.where,
            "posture": self.posture,
            "worst_at": self.worst_at,
            "cases": self.cases,
            "skipped": self.skipped,
        }


def measured(
    quantity: str,
    compared: str,
    unit: str,
    tolerance: float,
    errors: Array,
    items: Sequence[str],
    postures: Sequence[str] = ("",),
    starts: Literal["first", "last"] = "first",
) -> Row:
    """The row of ``errors`` (postures, items), all non-negative.

    ``starts`` says which of several wrong items is the cause. A wrong joint moves every frame after
    it, so kinematics blames the first; a wrong mass loads every joint before it, so dynamics blames
    the last.
    """
    errors = np.asarray(errors, dtype=np.float64).reshape(len(postures), len(items))
    by_item = errors.max(axis=0)  # A NaN anywhere is a NaN here, and argmax finds it.
    worst = int(np.argmax(by_item))
    wrong = np.flatnonzero(~(by_item <= tolerance))
    item = worst if not wrong.size else int(wrong[0] if starts == "first" else wrong[-1])
    return Row(
        quantity=quantity,
        compared=compared,
        unit=unit,
        tolerance=tolerance,
        worst=float(by_item[worst]),
        where=items[item],
        posture=postures[int(np.argmax(errors[:, item]))],
        worst_at=items[worst],
        cases=errors.size,
    )


@dataclass(frozen=True)
class Verification:
    """Every row of one cross-check. ``passed`` if none failed; skipped rows say why."""

    robot: str
    sources: Mapping[str, str]
    """What each side was made from: chain, pinocchio, mujoco."""
    samples: int
    seed: int
    rows: tuple[Row, ...]
    versions: Mapping[str, str] = field(default_factory=dict)

    @property
    def passed(self) -> bool:
        return self.first_failure is None

    @property
    def first_failure(self) -> Row | None:
        return next((row for row in self.rows if row.failed), None)

    def row(self, quantity: str, compared: str = "") -> Row:
        """The first row of ``quantity``, and of the two sides ``compared`` if given."""
        return next(row for row in self.rows if row.quantity == quantity and compared in row.compared)

    def to_dict(self) -> dict[str, Any]:
        failure = self.first_failure
        return {
            "robot": self.robot,
            "sources": dict(self.sources),
            "passed": self.passed,
            "first_failure": failure.to_dict() if failure else None,
            "samples": self.samples,
            "seed": self.seed,
            "versions": dict(self.versions),
            "rows": [row.to_dict() for row in self.rows],
        }

    def to_json(self) -> str:
        return json.dumps(self.to_dict(), indent=2, allow_nan=False)

    def summary(self) -> str:
        """One sentence: passed, or which quantity disagrees first and where."""
        failure = self.first_failure
        reasons = [row.skipped for row in self.rows if row.skipped]
        note = f"; {len(reasons)} skipped: {reasons[0]}" if reasons else ""
        if failure is None:
            checked = len(self.rows) - len(reasons)
            return f"{self.robot}: chain, Pinocchio and MuJoCo agree in all {checked} rows checked{note}."
        failures = sum(row.failed for row in self.rows)
        return (
            f"{self.robot}: {failures} of {len(self.rows)} rows FAIL{note}. First: {failure.quantity} "
            f"({failure.compared}), starting at {failure.place}; worst {failure.worst:.3g} {failure.unit} "
            f"at {failure.worst_at}, bar {failure.tolerance:.0e}."
        )

    def table(self) -> str:
        """The rows as plain text, at most ``TABLE_WIDTH`` columns wide."""
        head = ("quantity", "compared", "worst", "unit", "bar", "", "where")
        lines = [head, *(cells(row) for row in self.rows)]
        widths = [max(len(line[i]) for line in lines) for i in range(len(head))]
        widths[-1] = max(12, TABLE_WIDTH - sum(widths[:-1]) - 2 * (len(head) - 1))
        return "\n".join("  ".join(aligned(line, widths)).rstrip() for line in lines)


def cells(row: Row) -> tuple[str, ...]:
    worst = "-" if row.skipped else f"{row.worst:.1e}"
    return row.quantity, row.compared, worst, row.unit, f"{row.tolerance:.0e}", row.status, row.place


def aligned(line: tuple[str, ...], widths: list[int]) -> list[str]:
    numbers = (2, 4)
    return [
        cell.rjust(width) if i in numbers else cut(cell, width).ljust(width)
        for i, (cell, width) in enumerate(zip(line, widths, strict=True))
    ]


def cut(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 3] + "..."
