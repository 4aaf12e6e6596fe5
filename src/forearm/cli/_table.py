"""A record's figures on the terminal."""

from __future__ import annotations

from pathlib import Path

from forearm.evidence.record import Record
from forearm.evidence.report import shown_value


def print_metrics(record: Record, folder: Path) -> None:
    """Every metric with what it is held against, then what failed, then where the evidence lies."""
    print(f"{record.title}\n{record.summary}\n")
    width = max(len(metric.meaning) for metric in record.metrics)
    for metric in record.metrics:
        notes = [f"source: {metric.source}" if metric.source else ""]
        notes.append(f"must hold: {metric.bar}" if metric.bar else "")
        verdict = {True: "ok", False: "FAILS", None: ""}[metric.passed]
        line = f"  {metric.meaning:<{width}}  {shown_value(metric):<14} {verdict:<6}"
        print(f"{line}{'; '.join(note for note in notes if note)}".rstrip())
    for failure in record.failures:
        print(f"\n  {failure['label']}: {failure['text']}")
    print(f"\n{record.outcome}. Evidence: {folder}\nReport:   {folder / 'report.html'}")
