"""Put the table of an honesty artifact into the README, and keep the artifact's rows in docs/evidence.

usage: python tools/readme_table.py ARTIFACT
"""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
KEPT = ROOT / "docs" / "evidence" / "honesty"
BEGIN, END = "<!-- table: made by tools/readme_table.py -->", "<!-- end of table -->"


def table(folder: Path) -> str:
    """Solver by solver, summed over the arms; rows of the artifact, nothing else."""
    lines = (folder / "solvers.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    text = [
        "| solver | arms | problems | solved | false success | past a limit | wrongly called unreachable |"
    ]
    text.append("|---|---|---|---|---|---|---|")
    for solver in dict.fromkeys(row["solver"] for row in rows):
        mine = [row for row in rows if row["solver"] == solver]
        sums = {name: sum(row[name] for row in mine) for name in mine[0] if isinstance(mine[0][name], int)}
        text.append(
            f"| `{solver}` | {len(mine)} | {sums['problems']:,} | {sums['solved'] / sums['problems']:.0%} "
            f"| {sums['false_success']} | {sums['limit_violations']} | {sums['false_unreachable']} |"
        )
    return "\n".join(text)


def with_table(readme: str, folder: Path) -> str:
    """The README's text with the table of ``folder`` between the markers."""
    before, rest = readme.split(BEGIN)
    after = rest.split(END)[1]
    return f"{before}{BEGIN}\n{table(folder)}\n{END}{after}"


def main() -> None:
    source = Path(sys.argv[1])
    KEPT.mkdir(parents=True, exist_ok=True)
    for name in ("record.json", "solvers.jsonl"):
        shutil.copyfile(source / name, KEPT / name)
    readme = ROOT / "README.md"
    readme.write_text(with_table(readme.read_text(encoding="utf-8"), KEPT), encoding="utf-8")


if __name__ == "__main__":
    main()
