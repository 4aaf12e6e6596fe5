"""A tool into a hole that vibrates: one trial of each controller, and what became of it."""

import tempfile

import forearm

with tempfile.TemporaryDirectory() as out:
    for controller in ("direct", "predictive"):
        record = forearm.run("insert", controller=controller, difficulty=0.9, seed=4, out=out)
        time_s = record.value("time_s")
        print(f"{controller:<11}", f"in after {time_s:.3f} s" if time_s else record.failures[0]["text"])
