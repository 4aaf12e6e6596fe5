"""Load every hostile model in this process and print what happened, one JSON object a line."""

from __future__ import annotations

import ctypes
import json
import os
import struct
import sys
import tempfile
import time
import warnings
from pathlib import Path

IN_OPEN = 0x20
IN_NONBLOCK = 0o4000


class Watch:
    """Names of files in a folder that anyone opens, C libraries included, by the kernel's inotify."""

    def __init__(self, folder: Path) -> None:
        libc = ctypes.CDLL(None, use_errno=True)
        self.descriptor = libc.inotify_init1(IN_NONBLOCK)
        if self.descriptor < 0 or libc.inotify_add_watch(self.descriptor, os.fsencode(folder), IN_OPEN) < 0:
            raise OSError(ctypes.get_errno(), "inotify")

    def opened(self) -> list[str]:
        try:
            events = os.read(self.descriptor, 1 << 16)
        except BlockingIOError:
            return []
        names = []
        while events:
            length = struct.unpack_from("iIII", events)[3]
            names.append(events[16 : 16 + length].rstrip(b"\0").decode())
            events = events[16 + length :]
        # The model's own folder lies in the watched one.
        return [name for name in names if name not in ("", "model")]

    def close(self) -> None:
        os.close(self.descriptor)


def peak_kib() -> int:
    """This program's own peak; getrusage would count what the parent held before it started us."""
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0])


def main() -> None:
    import heapq  # noqa: F401  (Counter imports it late, which would look like an opened file)

    from model_cases import CASES

    import forearm.robots.mjcf  # noqa: F401

    opened: list[str] = []
    sys.addaudithook(lambda event, arguments: opened.append(arguments[0]) if event == "open" else None)
    warnings.simplefilter("ignore")
    for case in CASES:
        with tempfile.TemporaryDirectory() as folder:
            path = case.write(Path(folder))
            watch = Watch(Path(folder))
            opened.clear()
            started = time.process_time()
            try:
                case.load(path)
                error = None
            except Exception as raised:
                error = type(raised).__name__
            # The processor's time: a busy machine makes no model slow.
            seconds = time.process_time() - started
            # A descriptor that is already open is audited as a number.
            outside = [str(name) for name in opened if not isinstance(name, int)]
            outside = [name for name in outside if not name.startswith(str(path.parent))]
            row = {
                "case": case.name,
                "error": error,
                "seconds": seconds,
                "peak_kib": peak_kib(),
                "opened_by_python": outside,
                "opened_by_anyone": watch.opened(),
            }
            watch.close()
            print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
