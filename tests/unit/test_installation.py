"""Installed where nothing may be written, on systems that lack what POSIX has, and with its types."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib import resources

NO_PLACE_TO_CACHE = """
import numba.core.caching as caching

class Nowhere:
    @classmethod
    def from_function(cls, function, path):
        return None

caching.CacheImpl._locator_classes = [Nowhere]
from numba import njit
try:
    njit(cache=True)(lambda x: x)
    raise SystemExit("Numba found a place after all")
except RuntimeError as error:
    assert "cannot cache" in str(error)
import forearm
arm = forearm.load("two_link")
print(arm.ik((0.3, 0.3, 0.0)).status)
"""

NOT_POSIX = """
import os
for name in ("O_NONBLOCK", "O_NOCTTY", "O_CLOEXEC"):
    delattr(os, name)
os.O_BINARY = 0
import sys
import forearm
from forearm.robots.safe_xml import READ_FLAGS, read_bytes
from pathlib import Path
assert READ_FLAGS == os.O_RDONLY
print(len(read_bytes(Path(sys.argv[1]), "file")))
"""


def output_of(script: str, *arguments: str, **environment: str) -> str:
    kept = {name: value for name, value in os.environ.items() if name not in ("HOME", "NUMBA_CACHE_DIR")}
    run = subprocess.run(
        [sys.executable, "-c", script, *arguments],
        capture_output=True,
        text=True,
        timeout=300,
        env={**kept, **environment},
        check=False,
    )
    assert run.returncode == 0, run.stderr
    return run.stdout.strip()


def test_without_a_place_for_compiled_kernels_they_are_compiled_each_time():
    assert output_of(NO_PLACE_TO_CACHE) == "SOLVED"


def test_model_files_are_read_where_the_flags_of_posix_are_missing(tmp_path):
    path = tmp_path / "model.urdf"
    path.write_bytes(b"\r\n" * 5)
    assert output_of(NOT_POSIX, str(path)) == "10"


def test_the_package_says_that_it_is_typed():
    assert resources.files("forearm").joinpath("py.typed").is_file()
