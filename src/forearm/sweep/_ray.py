"""The Ray backend: a cluster of its own on this machine, or the one that RAY_ADDRESS names.

On a cluster of several machines the artifact's folder has to lie where all of them see it.
"""

from __future__ import annotations

import os
import sys
from collections import deque
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from typing import Any

from forearm.errors import MissingExtra
from forearm.sweep._calls import TRIES, Call, Done, JobError, one_thread_each, perform


def on_ray(calls: Sequence[Call], workers: int) -> Generator[tuple[int, Done], None, None]:
    """Work off the calls, so many at a time; Ray begins a call once more if its worker dies."""
    ray = require_ray()
    # Of workers that die Ray tells on standard output, which belongs to what the command prints.
    with redirect_stdout(sys.stderr), cluster(ray, workers):
        remote = ray.remote(num_cpus=1, max_retries=TRIES - 1)(perform)
        waiting = deque(enumerate(calls))
        running: dict[Any, int] = {}
        while waiting or running:
            while waiting and len(running) < workers:
                number, call = waiting.popleft()
                running[remote.remote(call)] = number
            for reference in ray.wait(list(running))[0]:
                number = running.pop(reference)
                yield number, outcome(ray, reference, calls[number])


def outcome(ray: Any, reference: Any, call: Call) -> Done:
    raised = ray.exceptions
    try:
        return ray.get(reference)
    except (raised.WorkerCrashedError, raised.NodeDiedError, raised.OutOfMemoryError) as error:
        return Done(died=f"Ray told a {type(error).__name__}")
    # Such as where forearm is not installed on a machine of the cluster.
    except raised.RayError as error:
        return Done(error=JobError(call, error))


def require_ray() -> Any:
    """The package, which reads these variables when it is first imported; raises ``MissingExtra``."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    if not os.environ.get("RAY_ADDRESS"):
        # Else it takes 127.0.0.1 for the address that other machines know, and listens to all of them.
        os.environ.setdefault("RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER", "0")
    try:
        import ray
    except ImportError as error:
        raise MissingExtra("ray", "the ray backend", "ray") from error
    return ray


@contextmanager
def cluster(ray: Any, workers: int) -> Iterator[None]:
    """A connection to a cluster. Only what was begun here is ended; a user's own stays as it is."""
    if ray.is_initialized():
        yield
        return
    quiet = {"log_to_driver": False, "logging_level": "ERROR", "configure_logging": True}
    if os.environ.get("RAY_ADDRESS"):
        ray.init(**quiet)
    else:
        with one_thread_each():
            ray.init(
                address="local",
                num_cpus=workers,
                num_gpus=0,
                include_dashboard=False,
                _node_ip_address="127.0.0.1",
                **quiet,
            )
    try:
        yield
    finally:
        ray.shutdown()
