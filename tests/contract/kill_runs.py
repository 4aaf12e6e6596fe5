"""Kills runs at random moments until COUNT were cut short, and checks what each left.

test_tasks.py runs this in a process of its own, which can fork.

usage: python kill_runs.py FOLDER COUNT
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from pathlib import Path

import numpy as np

from forearm.evidence.record import Outcome, read_record
from forearm.evidence.report import build_report
from forearm.tasks import task_module
from forearm.tasks._runner import parsed_defaults, run_task

folder, count = Path(sys.argv[1]), int(sys.argv[2])
module = task_module("square")
# Pictures take most of a run's time and none of its risk: without them the moments fall on the rest.
module.draw = lambda *_: None
options = module.options_from(parsed_defaults(module))
run_task("square", options, folder / "warm")
began = time.perf_counter()
run_task("square", options, folder / "whole")
whole_s = time.perf_counter() - began

random = np.random.default_rng(0)
seen = {"interrupted": 0, "complete": 0, "nothing yet": 0}
for index in range(6 * count):
    if seen["interrupted"] == count:
        break
    place = folder / f"run{index}"
    child = os.fork()
    if child == 0:
        run_task("square", options, place)
        os._exit(0)
    time.sleep(random.uniform(0.0, whole_s))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    left = list(place.iterdir()) if place.exists() else []
    if not left or not (left[0] / "record.json").exists():
        # Killed before the first record was on the disk: an empty folder claims nothing.
        assert not left or not any(path.name == "record.json" for path in left[0].iterdir())
        seen["nothing yet"] += 1
        continue
    record = read_record(left[0])
    page = build_report(left[0]).read_text(encoding="utf-8")
    if left[0].name.endswith(".partial"):
        assert record.outcome is Outcome.INTERRUPTED
        assert "interrupted" in page
        seen["interrupted"] += 1
        events = left[0] / "events.jsonl"
        for line in events.read_text(encoding="utf-8").splitlines() if events.exists() else []:
            json.loads(line)
    else:
        assert record.outcome is Outcome.PASSED
        seen["complete"] += 1
print(json.dumps(seen))
