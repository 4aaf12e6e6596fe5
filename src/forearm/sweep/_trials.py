"""A row of an insertion sweep: the job that it is of, and what came of it. Rows may be read from any file."""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import NoneType
from typing import Any

from forearm.errors import InvalidInput, shown
from forearm.sweep._calls import Row

LABELS = ("perception", "state", "planning", "control", "evaluation")
"""Whom a failed trial is blamed on."""

NUMBER = (float, int)
MEASURED = (float, int, NoneType)
COLUMNS: dict[str, tuple[type, ...]] = {
    "trial": (str,),
    "controller": (str,),
    "difficulty": NUMBER,
    "seed": (int,),
    "success": (bool,),
    "time_s": MEASURED,
    "label": (str,),
    "failure": (str,),
    "recoveries": (int,),
    "peak_force_n": MEASURED,
    "peak_torque_nm": MEASURED,
    "peak_torque_share": MEASURED,
    "deepest_sink_m": MEASURED,
    "step_p99_us": MEASURED,
    "time_ratio": MEASURED,
}


def checked_row(row: object) -> dict[str, Any]:
    """The row if its columns are there and of their kinds; raises ``InvalidInput``."""
    if not isinstance(row, Mapping) or not COLUMNS.keys() <= row.keys():
        raise InvalidInput("a trial's row", f"is {shown(row)}", f"Its columns: {', '.join(COLUMNS)}.")
    for name, value in row.items():
        kinds = COLUMNS.get(name, (str, bool, *MEASURED))
        # A bool passes for an int, and is none.
        if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
            raise InvalidInput(f"{shown(name)} of a trial's row", f"is {shown(value)}")
        if isinstance(value, float) and not math.isfinite(value):
            raise InvalidInput(f"{shown(name)} of a trial's row", "is not finite")
    if row["success"] != (row["label"] == "") or row["success"] != (row["time_s"] is not None):
        raise InvalidInput("a trial's row", "must have a time if it succeeded, and a label if not")
    if row["label"] not in ("", *LABELS):
        raise InvalidInput("a failed trial's label", f"is {shown(row['label'])}")
    return dict(row)


def lost_row(job: Mapping[str, Any], why: str) -> Row:
    """The row of a trial of which nothing is known but that it did not come back."""
    nothing = {name: None for name, kinds in COLUMNS.items() if NoneType in kinds}
    asked = {name: job[name] for name in ("controller", "difficulty", "seed")}
    return {
        **asked,
        "success": False,
        "label": "evaluation",
        "failure": why,
        "recoveries": 0,
        **nothing,
    }
