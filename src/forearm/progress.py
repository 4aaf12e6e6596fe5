"""How far a long job has come, told to whoever sits at the terminal."""

from __future__ import annotations

import sys
import time

FIRST_AFTER_S = 1.0
EVERY_S = 0.2


class Progress:
    """A line on standard error that counts; silent for short jobs and where nobody watches."""

    def __init__(self, total: int, noun: str) -> None:
        self.total, self.noun = total, noun
        self.started = time.perf_counter()
        self.due = self.started + FIRST_AFTER_S
        self.shown = False
        self.watched = sys.stderr is not None and sys.stderr.isatty()

    def at(self, done: int) -> None:
        """Say that ``done`` are done, if it is time to say something."""
        now = time.perf_counter()
        if not self.watched or now < self.due:
            return
        self.due, self.shown = now + EVERY_S, True
        spent = now - self.started
        left = f", {spent * (self.total - done) / done:.0f} s to go" if done else ""
        sys.stderr.write(f"\r\x1b[K{done:,} of {self.total:,} {self.noun}, {spent:.0f} s{left}")
        sys.stderr.flush()

    def end(self) -> None:
        """Take the line away."""
        if self.shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
