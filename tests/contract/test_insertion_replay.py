"""A trial is the same bit for bit in every process, whatever that has compiled or loaded before."""

from __future__ import annotations

import os
import subprocess
import sys

SCRIPT = """
import hashlib, sys
import numpy as np
if "observer" in sys.argv:
    from forearm.control.insertion import observer
    memory = observer.observer_memory()
    observer.observe(memory, 0.0, np.sin(np.arange(12.0)), True)
    observer.predict_into(memory, 0.1, np.zeros((3, 6)))
    observer.spread_at(memory[observer.STATE], 0.1)
from forearm.tasks._insertion_options import InsertionOptions
from forearm.tasks._insertion_trial import run_trial
perturb = {"noise": 1e-3, "delay": 0.01, "dropout": 0.2}
recording = run_trial(InsertionOptions("predictive", 0.7, 5, perturb=perturb), lambda *_: None).recording
for rows in (recording.qpos, recording.command, recording.said):
    print(hashlib.sha256(rows.tobytes()).hexdigest())
"""


def digests(cache, *words):
    command, environment = (
        [sys.executable, "-c", SCRIPT, *words],
        {**os.environ, "NUMBA_CACHE_DIR": str(cache)},
    )
    done = subprocess.run(command, capture_output=True, text=True, timeout=3600, check=True, env=environment)
    return done.stdout.split()


def test_a_trial_is_the_same_whichever_kernels_were_compiled_or_loaded_before_it(tmp_path):
    """A kernel must not call another's code where that has been loaded on its own."""
    compiled = digests(tmp_path)
    assert compiled == digests(tmp_path) == digests(tmp_path, "observer")
