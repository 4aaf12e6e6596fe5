"""Put the table of an artifact of ``forearm bench ik`` into the README, and keep its rows in docs/evidence.

usage: python tools/readme_table.py ARTIFACT
"""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
KEPT = ROOT / "docs" / "evidence" / "ik"
FILES = ("record.json", "summary.jsonl", "wide.jsonl", "batches.jsonl", "paths.jsonl", "left_out.jsonl")
BEGIN, END = "<!-- table: made by tools/readme_table.py -->", "<!-- end of table -->"
HEAD = (
    "| solver, at its best setting | arms | solved | false success | median µs | p99 µs | direct is faster "
    "| false success at its defaults |"
)


def table(folder: Path) -> str:
    """Everyone but the textbook solvers, fastest first; rows of the artifact, nothing else."""
    lines = (folder / "summary.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [row for row in map(json.loads, lines) if row["panel"] == "uniform"]
    defaults = {row["solver"]: row for row in rows if row["setting"] == "default"}
    best = [row for row in rows if row["setting"] == "best" and not row["solver"].startswith("textbook")]
    text = [HEAD, "|---|---|---|---|---|---|---|---|"]
    for row in sorted(best, key=lambda row: row["median_us"]):
        text.append(line(row, defaults.get(row["solver"], row)))
    return "\n".join(text)


def line(row: dict[str, Any], default: dict[str, Any]) -> str:
    cells = [
        f"`{row['solver']}`",
        str(row["arms"]),
        percent(row["solved_percent"]),
        percent(row["false_success_percent"]),
        short(row["median_us"]),
        short(row["p99_us"]),
        f"{short(row['ratio_to_direct'])} x",
        percent(default["false_success_percent"]),
    ]
    return f"| {' | '.join(cells)} |"


def percent(value: float) -> str:
    return "0" if value == 0.0 else f"{value:.3g} %"


def short(value: float) -> str:
    return f"{value:.2g}" if value < 10.0 else f"{value:,.0f}"


def with_table(readme: str, folder: Path) -> str:
    """The README's text with the table of ``folder`` between the markers."""
    before, rest = readme.split(BEGIN)
    after = rest.split(END)[1]
    return f"{before}{BEGIN}\n{table(folder)}\n{END}{after}"


def main() -> None:
    source = Path(sys.argv[1])
    KEPT.mkdir(parents=True, exist_ok=True)
    for name in FILES:
        shutil.copyfile(source / name, KEPT / name)
    readme = ROOT / "README.md"
    readme.write_text(with_table(readme.read_text(encoding="utf-8"), KEPT), encoding="utf-8")


if __name__ == "__main__":
    main()
