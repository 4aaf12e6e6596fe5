"""The local backend: worker processes of our own, none of which outlives the one that began it."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections import Counter, deque
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from multiprocessing import connection, resource_tracker
from multiprocessing.connection import Connection

from forearm.errors import ForearmError
from forearm.sweep._calls import TRIES, Call, Done, JobError, one_thread_each, perform

# A fresh interpreter each: a fork would copy locks that threads of the engines hold.
SPAWN = multiprocessing.get_context("spawn")
HERE = "here"


class WorkerError(ForearmError):
    """A worker process ended before it could take a call."""


def on_this_machine(calls: Sequence[Call], workers: int) -> Generator[tuple[int, Done], None, None]:
    """Work off the calls; a worker that dies is replaced, and its call begun once more."""
    waiting, tries, left = deque(enumerate(calls)), Counter[int](), len(calls)
    crew: list[Worker] = []
    try:
        while left:
            while len(crew) < min(workers, left):
                crew.append(Worker())
            for worker in crew:
                if waiting and worker.number is None:
                    worker.give(*waiting.popleft())
            for worker in wait_for(crew):
                done = worker.hear()
                if done is None:
                    continue
                number, worker.number = worker.number, None
                assert number is not None
                if done.died:
                    crew.remove(worker)
                    tries[number] += 1
                    if tries[number] < TRIES:
                        waiting.appendleft((number, calls[number]))
                        continue
                left -= 1
                yield number, done
    finally:
        for worker in crew:
            worker.end()


class Worker:
    """A process, our end of the one pipe to it, and the number of the call that it is at."""

    def __init__(self) -> None:
        self.connection, theirs = SPAWN.Pipe()
        self.process = SPAWN.Process(target=serve, args=(theirs,), daemon=True)
        with one_thread_each(), interrupts_held_back():
            self.process.start()
        # Held open here, it would hide that the worker is gone.
        theirs.close()
        self.number: int | None = None
        self.begun = False

    def give(self, number: int, call: Call) -> None:
        self.number = number
        try:
            self.connection.send(call)
        except OSError:
            # It is gone, which is found out when it is listened to.
            return

    def hear(self) -> Done | None:
        """The outcome of its call; None as long as it only says that it is there."""
        try:
            message = self.connection.recv()
        except (EOFError, OSError):
            self.end()
            died = how_it_ended(self.process.exitcode)
            if not self.begun:
                raise WorkerError(f"a worker could not be started: {died}.") from None
            return Done(died=died)
        if message == HERE:
            self.begun = True
            return None
        return message

    def end(self) -> None:
        self.process.kill()
        self.process.join()
        self.connection.close()


def wait_for(crew: Sequence[Worker]) -> list[Worker]:
    """Those that have something to say, once there is one."""
    busy = {worker.connection: worker for worker in crew if worker.number is not None}
    return [busy[heard] for heard in connection.wait(list(busy)) if isinstance(heard, Connection)]


def how_it_ended(exit_code: int | None) -> str:
    if exit_code is not None and exit_code < 0:
        return f"its process was ended by {signal.Signals(-exit_code).name}"
    return f"its process ended with code {exit_code}"


@contextmanager
def interrupts_held_back() -> Iterator[None]:
    """Ctrl-C goes to all that a terminal runs. Workers begun inside leave it to who began them."""
    # Begun later, within, it would let them through again.
    resource_tracker.ensure_running()
    kept = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, kept)


def serve(pipe: Connection) -> None:
    """What a worker does: one call after the other, until its pipe ends."""
    # Standard output belongs to what the command prints.
    os.dup2(2, 1)
    threading.Thread(target=end_with_parent, daemon=True).start()
    pipe.send(HERE)
    while True:
        try:
            call = pipe.recv()
        except (EOFError, OSError):
            return
        done = perform(call)
        try:
            pipe.send(done)
        except OSError:
            return
        except Exception as error:  # a row that cannot be sent
            pipe.send(Done(error=JobError(call, error)))


def end_with_parent() -> None:
    """End even in the middle of a call: a resumed sweep may be at the same one already."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    connection.wait([parent.sentinel])
    os._exit(1)
