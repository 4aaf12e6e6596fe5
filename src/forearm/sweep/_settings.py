"""From trials to settings: a row for each controller at each difficulty."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from forearm.sweep._calls import Row
from forearm.sweep._statistics import largest, mean, percentile, wilson
from forearm.sweep._trials import LABELS


def settings_of(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """In the order in which the settings come up."""
    return [
        setting_of(controller, difficulty, mine)
        for (controller, difficulty), mine in grouped(
            rows, lambda row: (row["controller"], row["difficulty"])
        ).items()
    ]


def setting_of(controller: str, difficulty: float, rows: Sequence[Row]) -> dict[str, Any]:
    successes = sum(row["success"] for row in rows)
    low, high = wilson(successes, len(rows))
    times, forces = there(rows, "time_s"), there(rows, "peak_force_n")
    return {
        "controller": controller,
        "difficulty": difficulty,
        "trials": len(rows),
        "successes": successes,
        "success_rate": successes / len(rows),
        "success_rate_low": low,
        "success_rate_high": high,
        "mean_time_s": mean(times),
        "median_time_s": percentile(times, 50.0),
        "p05_time_s": percentile(times, 5.0),
        "p95_time_s": percentile(times, 95.0),
        "recoveries": sum(row["recoveries"] for row in rows),
        "peak_force_p95_n": percentile(forces, 95.0),
        "peak_force_max_n": largest(forces),
        "peak_torque_share": largest(there(rows, "peak_torque_share")),
        "deepest_sink_m": largest(there(rows, "deepest_sink_m")),
        **{f"failed_{label}": sum(row["label"] == label for row in rows) for label in LABELS},
    }


def there(rows: Sequence[Row], column: str) -> list[float]:
    """The values that there are: a trial that failed has no time, one that died has nothing."""
    return [row[column] for row in rows if row[column] is not None]


def grouped(rows: Sequence[Row], key: Callable[[Row], Any]) -> dict[Any, list[Row]]:
    groups: dict[Any, list[Row]] = {}
    for row in rows:
        groups.setdefault(key(row), []).append(row)
    return groups


def shown_settings(settings: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The settings of one controller as a page shows them."""
    return [
        {
            "difficulty": setting["difficulty"],
            "inserted": f"{setting['successes']} of {setting['trials']}",
            "95 % interval": interval(setting),
            "mean (s)": digits(setting["mean_time_s"]),
            "median (s)": digits(setting["median_time_s"]),
            "p95 (s)": digits(setting["p95_time_s"]),
            "recoveries": setting["recoveries"],
            "force p95 (N)": digits(setting["peak_force_p95_n"]),
            "max (N)": digits(setting["peak_force_max_n"]),
            "torque": percent(setting["peak_torque_share"]),
            "failed": blamed(setting),
        }
        for setting in settings
    ]


def interval(setting: Mapping[str, Any]) -> str:
    return " to ".join(percent(setting[f"success_rate_{end}"]) or "" for end in ("low", "high"))


def blamed(setting: Mapping[str, Any]) -> str | None:
    counts = {label: setting[f"failed_{label}"] for label in LABELS}
    return ", ".join(f"{count} {label}" for label, count in counts.items() if count) or None


def digits(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.3g}")


def percent(share: float | None) -> str | None:
    return None if share is None else f"{100.0 * share:.0f} %"
