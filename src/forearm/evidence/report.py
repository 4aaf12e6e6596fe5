"""``report.html``: one self-contained page, made from the files of an artifact alone."""

from __future__ import annotations

import base64
import json
import re
import shlex
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import Any

from forearm.evidence.figures import make_figures
from forearm.evidence.files import read_events, read_regular
from forearm.evidence.readable import shown_rows
from forearm.evidence.record import Metric, Outcome, Record, read_record
from forearm.evidence.tables import plain_table
from forearm.evidence.writer import write_whole

PNG_MAGIC = b"\x89PNG\r\n\x1a\n"
MAX_PNG_BYTES = 20 << 20
LAST_EVENTS = 5
STYLE = """
:root { --ink: #1f2933; --muted: #616e7c; --line: #e4e7eb; --good: #0b7a5b; --bad: #b42318; }
body { font: 15px/1.55 system-ui, sans-serif; color: var(--ink); background: #f6f7f9; margin: 0; }
main { max-width: 980px; margin: 0 auto; padding: 40px 24px 80px; }
h1 { font-size: 26px; margin: 0 0 4px; } h2 { font-size: 18px; margin: 36px 0 12px; }
.badge { display: inline-block; padding: 2px 12px; border-radius: 99px; color: white; font-weight: 600; }
.passed { background: var(--good); } .failed, .interrupted { background: var(--bad); }
.lead { color: var(--muted); margin: 6px 0 0; max-width: 75ch; }
section, figure { background: white; border: 1px solid var(--line); border-radius: 10px; padding: 18px 20px; }
figure { margin: 0 0 18px; } figure svg, figure img { width: 100%; height: auto; display: block; }
figcaption { color: var(--muted); font-size: 13.5px; margin-top: 8px; }
table { border-collapse: collapse; width: 100%; font-size: 14px; }
th { text-align: left; font-weight: 600; color: var(--muted); font-size: 12.5px; }
th, td { padding: 7px 10px 7px 0; border-bottom: 1px solid var(--line); vertical-align: top; }
tr:last-child td, tr:last-child th { border-bottom: 0; }
td.number { font-variant-numeric: tabular-nums; white-space: nowrap; }
td.value { font-weight: 600; }
.yes { color: var(--good); font-weight: 600; } .no { color: var(--bad); font-weight: 600; }
details { margin-top: 14px; } summary { cursor: pointer; color: var(--muted); }
pre { font-size: 12.5px; white-space: pre-wrap; word-break: break-word; margin: 8px 0 0; }
"""


def build_report(folder: Path, record: Record | None = None) -> Path:
    """Make ``report.html`` from the record, the tables and the pictures in ``folder``.

    ``record`` stands for the folder's own while its writer still gives it the last touches.
    """
    record = record or read_record(folder)
    path = folder / "report.html"
    # A lone surrogate can stand in JSON but not in a file.
    write_whole(path, page(folder, record).encode("utf-8", "backslashreplace"))
    return path


def page(folder: Path, record: Record) -> str:
    parts = [
        f"<h1>{escape(record.title)}</h1>",
        f'<span class="badge {record.outcome}">{record.outcome}</span>',
        f'<p class="lead">{escape(record.summary)}</p>',
    ]
    if record.failures:
        parts.append("<h2>What failed</h2><section>" + failure_table(record) + "</section>")
    if record.metrics:
        parts.append("<h2>Results</h2><section>" + metric_table(record.metrics) + "</section>")
    for title, rows in record.tables.items():
        parts.append(f"<h2>{escape(title)}</h2><section>{plain_table(rows)}</section>")
    if record.outcome is Outcome.INTERRUPTED:
        parts.append("<h2>How far it came</h2><section>" + how_far(folder) + "</section>")
    pictures = [(caption_of(path), picture(path, content)) for path, content in png_files(folder)]
    if record.outcome is not Outcome.INTERRUPTED:
        pictures += make_figures(folder, record)
    if pictures:
        parts.append("<h2>Pictures</h2>")
    parts += [
        f"<figure>{content}<figcaption>{escape(caption)}</figcaption></figure>"
        for caption, content in pictures
    ]
    parts.append("<h2>How it was made</h2><section>" + provenance(record) + "</section>")
    body = "\n".join(parts)
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(record.title)}</title><style>{STYLE}</style></head>\n"
        f"<body><main>\n{body}\n</main></body></html>\n"
    )


def metric_table(metrics: Any) -> str:
    """Name, value, what the source says, what must hold; columns without any entry are left out."""
    with_source = any(metric.source for metric in metrics)
    with_bar = any(metric.bar for metric in metrics)
    head = [
        "what",
        "here",
        *(["the source"] if with_source else []),
        *(["must hold", ""] if with_bar else []),
    ]
    rows = []
    for metric, texts in zip(metrics, shown_rows(metrics), strict=True):
        cells = [
            f"<td>{escape(metric.meaning)}</td>",
            f'<td class="number value">{escape(texts.value)}</td>',
        ]
        if with_source:
            cells.append(f"<td>{escape(texts.source)}</td>")
        if with_bar:
            cells += [f"<td>{escape(texts.bar)}</td>", verdict_cell(metric)]
        rows.append("<tr>" + "".join(cells) + "</tr>")
    header = "".join(f"<th>{title}</th>" for title in head)
    return f"<table><tr>{header}</tr>{''.join(rows)}</table>"


def verdict_cell(metric: Metric) -> str:
    if metric.passed is None:
        return "<td></td>"
    return '<td class="yes">holds</td>' if metric.passed else '<td class="no">fails</td>'


def failure_table(record: Record) -> str:
    rows = "".join(
        f"<tr><td>{escape(failure.get('label', ''))}</td><td>{escape(failure.get('text', ''))}</td></tr>"
        for failure in record.failures
    )
    return f"<table><tr><th>label</th><th>what happened</th></tr>{rows}</table>"


def how_far(folder: Path) -> str:
    """The last things that a run noted before it was cut short, or how many rows a sweep had by then."""
    try:
        if events := read_events(folder)[-LAST_EVENTS:]:
            return plain_table(events)
        if rows := read_regular(folder / "rows.jsonl").count(b"\n"):
            return f"<p>{rows} rows were written.</p>"
    except OSError:
        pass
    return "<p>Nothing was noted.</p>"


def provenance(record: Record) -> str:
    """The command first; the rest folded away."""
    environment = record.environment
    git = environment.get("git") or {}
    cpu, cores, system = (environment.get(name, "-") for name in ("cpu", "cores", "system"))
    lines = [
        ("command", shlex.join(record.command)),
        ("started", record.started_utc),
        ("finished", record.finished_utc or "never"),
        ("machine", f"{cpu}, {cores} cores, {system}"),
        ("source", f"{git.get('commit', '-')}{' with local changes' if git.get('dirty') else ''}"),
    ]
    table = "".join(f"<tr><th>{name}</th><td>{escape(value)}</td></tr>" for name, value in lines)
    folded = "".join(
        f"<details><summary>{title}</summary><pre>{escape(indented(data))}</pre></details>"
        for title, data in (
            ("Inputs", record.inputs),
            ("Configuration", record.configuration),
            ("Seeds", record.seeds),
            ("Versions", environment.get("versions")),
        )
        if data
    )
    return f"<table>{table}</table>{folded}"


def indented(data: Any) -> str:
    return json.dumps(data, indent=1, ensure_ascii=False)


def png_files(folder: Path) -> Iterator[tuple[Path, bytes]]:
    """The pictures in ``folder``; whatever else bears the name of one is passed over."""
    for path in sorted(folder.glob("*.png")):
        try:
            content = read_regular(path, MAX_PNG_BYTES)
        except OSError:
            continue
        if content.startswith(PNG_MAGIC):
            yield path, content


def picture(path: Path, content: bytes) -> str:
    encoded = base64.b64encode(content).decode("ascii")
    return f'<img alt="{escape(caption_of(path))}" src="data:image/png;base64,{encoded}">'


def caption_of(path: Path) -> str:
    """``the_arm-at-rest.png`` is captioned "The arm at rest"."""
    words = re.sub(r"[-_]+", " ", path.stem).strip()
    return words[:1].upper() + words[1:]
