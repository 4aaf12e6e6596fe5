"""Kernels that release Python's lock, run side by side."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait

from forearm.ik.options import count
from forearm.spatial import Array

WORTH_THREADS = 256
"""Problems below which threads cost more than they save."""
LOOK_EVERY_S = 0.1


def thread_count(workers: int | None, problems: int) -> int:
    """How many threads to use: what was asked for, else a core each; one for few problems."""
    wanted = available_cores() if workers is None else count("workers", workers)
    return wanted if problems >= WORTH_THREADS else 1


def available_cores() -> int:
    """The cores that this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on Linux
        return os.cpu_count() or 1


class Crew:
    """Threads for all that one batch has to do. With one thread the caller's own does it."""

    def __init__(self, threads: int) -> None:
        self.threads = threads
        self._pool = ThreadPoolExecutor(threads) if threads > 1 else None

    def __enter__(self) -> Crew:
        return self

    def __exit__(self, *_error: object) -> None:
        if self._pool:
            self._pool.shutdown()

    def share(
        self, work: Callable[[], object], counter: Array, total: int, look: Callable[[int], object] = int
    ) -> None:
        """Run ``work`` on every thread at once; it takes problems from ``counter`` until it passes ``total``.

        ``look`` is called now and then with how many have been taken. An interruption ends the others too.
        """
        if self._pool is None:
            work()
            return
        running = {self._pool.submit(work) for _ in range(self.threads)}
        try:
            while running:
                done, running = wait(running, timeout=LOOK_EVERY_S, return_when="FIRST_EXCEPTION")
                look(min(int(counter[0]), total))
                for finished in done:
                    finished.result()
        finally:
            counter[0] = total

    def parts(self, work: Callable[[int, int], int], total: int) -> list[int]:
        """What ``work(first, last)`` returns for as many equal parts of ``total`` as there are threads."""
        ends = [total * part // self.threads for part in range(self.threads + 1)]
        run = self._pool.map if self._pool else map
        return list(run(work, ends[:-1], ends[1:]))
