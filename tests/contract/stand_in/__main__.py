"""The command with the stand-in for its insertion sweep: ``python -m stand_in sweep insert ...``."""

from __future__ import annotations

import sys

from stand_in import insert

import forearm.sweep
from forearm.cli import main

if __name__ == "__main__":
    sys.modules["forearm.tasks.insert"] = insert
    forearm.sweep.sweep_module = lambda name: insert
    sys.exit(main())
