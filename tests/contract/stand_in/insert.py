"""A sweep and its task in one, with outcomes drawn from the seed instead of from a simulation.

It stands for ``forearm.sweep.insert``, whose parts it takes, and in ``sys.modules`` for
``forearm.tasks.insert``. Worker processes find it by this folder's parent in their path. Every trial begun
is noted in the file that STAND_IN_LOG names.
"""

from __future__ import annotations

import json
import math
import os
import signal
import sys
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np

from forearm.errors import InvalidInput
from forearm.sweep.insert import (
    TITLE,
    add_arguments,
    checked,
    checked_row,
    default_options,
    jobs,
    lost_row,
    name_of,
    options_from,
    record,
    settings,
)
from forearm.tasks._perturb import Kind

__all__ = [
    "TITLE",
    "add_arguments",
    "checked",
    "checked_row",
    "default_options",
    "jobs",
    "lost_row",
    "name_of",
    "options_from",
    "record",
    "settings",
]

PERTURBATIONS = {
    name: Kind(meaning, 0.0, 1e9, 1.0, "")
    for name, meaning in (
        ("noise", "nothing"),
        ("dies_at", "the worker dies in the trial of this seed"),
        ("dies_once_at", "the same, but not when it is begun again"),
        ("dies_once_after", "the same, once the trial's folder is there"),
        ("refuses_at", "the trial of this seed is bad input"),
        ("breaks_at", "the trial of this seed raises"),
        ("waits_once_at", "the trial of this seed never ends, but does when it is begun again"),
        ("waits_for_two", "a trial waits until two processes have begun one"),
        ("leaks", "a trial prints"),
    )
}
SKILL = {"baseline": 0.55, "direct": 0.92, "predictive": 1.0}
TIME_S = {"baseline": 7.5, "direct": 3.8, "predictive": 1.1}


def controller_names() -> tuple[str, ...]:
    return tuple(SKILL)


def arm_names() -> tuple[str, ...]:
    return ("mini_arm", "ur5e")


class Begun(NamedTuple):
    """A trial that was begun, and the process that it was begun in."""

    name: str
    process: int
    threads: str
    address: str
    """Where Ray's part of that process listens."""


def begun() -> list[Begun]:
    log = Path(os.environ["STAND_IN_LOG"])
    lines = log.read_text(encoding="utf-8").splitlines() if log.exists() else []
    return [Begun(*json.loads(line)) for line in lines]


def times_begun(name: str) -> int:
    return sum(each.name == name for each in begun())


def address() -> str:
    ray = sys.modules.get("ray")
    return ray.util.get_node_ip_address() if ray and ray.is_initialized() else ""


def run_job(job, folder):
    misbehave(job, folder.name)
    row = trial_row(job, folder)
    half = folder.with_name(folder.name + ".tmp")
    half.mkdir(parents=True)
    (half / "record.json").write_text("{}\n", encoding="utf-8")
    half.rename(folder)
    if job["perturb"].get("dies_once_after") == job["seed"] and times_begun(folder.name) == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    return row


def misbehave(job, name):
    before = times_begun(name)
    with Path(os.environ["STAND_IN_LOG"]).open("a", encoding="utf-8") as stream:
        this = Begun(name, os.getpid(), os.environ.get("OMP_NUM_THREADS", ""), address())
        stream.write(json.dumps(this) + "\n")
    at = {what: job["seed"] == seed for what, seed in job["perturb"].items()}
    if at.get("dies_at") or (at.get("dies_once_at") and not before):
        os.kill(os.getpid(), signal.SIGKILL)
    if at.get("refuses_at"):
        raise InvalidInput("difficulty", "is not to its taste", "Choose another.")
    if at.get("breaks_at"):
        raise ZeroDivisionError("no such thing")
    while at.get("waits_once_at") and not before:
        time.sleep(0.01)
    while "waits_for_two" in job["perturb"] and len({each.process for each in begun()}) < 2:
        time.sleep(0.01)
    if "leaks" in job["perturb"]:
        print("a trial prints")


def trial_row(job, _folder):
    controller, difficulty, seed = job["controller"], job["difficulty"], job["seed"]
    random = np.random.default_rng([round(1e6 * difficulty), seed, len(controller)])
    success = bool(random.uniform() < SKILL[controller] + 0.1 * math.cos(9.0 * difficulty))
    success = success or controller == "predictive"
    time_s = TIME_S[controller] * (0.8 + 0.5 * difficulty) + float(random.gamma(2.0, 0.1))
    share = float(random.uniform(0.2, 0.9))
    return {
        "controller": controller,
        "difficulty": difficulty,
        "seed": seed,
        "success": success,
        "time_s": time_s if success else None,
        "label": "" if success else ("control", "planning", "evaluation")[seed % 3],
        "failure": "" if success else "it did not come in within 30 s",
        "recoveries": int(random.poisson(0.3 * difficulty)),
        "peak_force_n": 20.0 + float(random.gamma(2.0, 8.0 * difficulty)),
        "peak_torque_nm": 60.0 * share,
        "peak_torque_share": share,
        "deepest_sink_m": float(random.uniform(0.0, 2e-4)),
        # Not by the seed: these are times.
        "step_p99_us": 20.0 + os.urandom(1)[0],
        "time_ratio": 1.1 + os.urandom(1)[0] / 1e3,
    }
