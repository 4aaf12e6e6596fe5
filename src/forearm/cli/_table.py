"""A record's figures on the terminal."""

from __future__ import annotations

from pathlib import Path

from forearm.cli._output import say
from forearm.evidence.readable import shown_rows
from forearm.evidence.record import Record


def print_metrics(record: Record, folder: Path) -> None:
    """Every metric with what it is held against, then what failed, then where the evidence lies."""
    say(record.title, record.summary, "")
    width = max((len(metric.meaning) for metric in record.metrics), default=0)
    for metric, texts in zip(record.metrics, shown_rows(record.metrics), strict=True):
        notes = [f"source: {texts.source}" if texts.source else ""]
        notes.append(f"must hold: {texts.bar}" if texts.bar else "")
        verdict = {True: "ok", False: "FAILS", None: ""}[metric.passed]
        line = f"  {metric.meaning:<{width}}  {texts.value:<14} {verdict:<6}"
        say(f"{line}{'; '.join(note for note in notes if note)}".rstrip())
    for failure in record.failures:
        say("", f"  {failure['label']}: {failure['text']}")
    say("", f"{record.outcome}. Evidence: {folder}", f"Report:   {folder / 'report.html'}")
