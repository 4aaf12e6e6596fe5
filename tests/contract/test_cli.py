"""Every verb: its help, its exit codes, one JSON object on standard output and nothing else."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from forearm.cli import BAD_INPUT, FAILED, PASSED, main, verb_names

SOLVED = ["solve", "two_link", "--position", "0.34", "0.28", "0"]
UNREACHABLE = ["solve", "two_link", "--position", "1.5", "0", "0"]


def run(argv: list[str], capsys) -> tuple[int, str, str]:
    """Exit code, standard output, standard error."""
    try:
        code = main(argv)
    except SystemExit as stop:
        code = int(stop.code or 0)
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_the_verbs_are_found():
    assert {"robots", "solve", "verify", "bench", "report"} <= set(verb_names())


@pytest.mark.parametrize("verb", verb_names())
def test_every_verb_explains_itself(verb, capsys):
    code, out, err = run([verb, "--help"], capsys)
    assert code == PASSED
    assert f"usage: forearm {verb}" in out
    assert not err


@pytest.mark.parametrize(
    ("argv", "expected"),
    [
        (["robots"], PASSED),
        (["robots", "panda"], PASSED),
        (SOLVED, PASSED),
        (UNREACHABLE, FAILED),
        (["verify", "two_link", "--samples", "4"], PASSED),
        (["solve", "ur5x", "--position", "0", "0", "0"], BAD_INPUT),
        (["solve", "ur5e", "--position", "0.3", "0.2", "0.5"], BAD_INPUT),
        (["solve", "ur5e"], BAD_INPUT),
        (["report", "nowhere"], BAD_INPUT),
        (["verify", "nowhere.urdf"], BAD_INPUT),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else str(value),
)
def test_exit_codes_and_json(argv, expected, capsys):
    code, out, err = run(argv, capsys)
    assert code == expected
    assert bool(out.strip()) == (expected != BAD_INPUT)
    if expected == BAD_INPUT:
        assert len(err.strip().splitlines()) == 1
        assert "Traceback" not in err

    code, out, _ = run([*argv, "--json"], capsys)
    assert code == expected
    data = json.loads(out, parse_constant=lambda constant: pytest.fail(f"{constant} is not JSON"))
    assert isinstance(data, dict)
    assert (data.get("outcome") == "bad_input") == (expected == BAD_INPUT)


@pytest.mark.parametrize("argv", [[], ["dance"], ["solve", "ur5e", "--position", "a", "b", "c"], ["bench"]])
def test_wrong_words_are_bad_input_in_one_line(argv, capsys):
    code, out, err = run(argv, capsys)
    assert code == BAD_INPUT
    assert not out
    assert len(err.strip().splitlines()) == 1


def test_solve_prints_both_elbows_of_the_planar_arm(capsys):
    code, out, _ = run([*SOLVED, "--json"], capsys)
    data = json.loads(out)
    assert code == PASSED
    assert data["status"] == "SOLVED"
    angles = [np.degrees(solution["q"]) for solution in data["solutions"]]
    np.testing.assert_allclose(angles, [(-6.17, 88.55), (85.11, -88.55)], atol=0.01)


def test_solve_takes_a_target_in_every_way(capsys):
    arm = ["solve", "ur5e", "--json"]
    at = ["--at", "-1.5", "-1.5", "1.5", "-1.5", "-1.5", "0.1"]
    ways = [
        at,
        ["--at-posture", "home"],
        ["--position", "0.3", "0.2", "0.5", "--quaternion", "0", "1", "0", "0"],
    ]
    for way in ways:
        code, out, _ = run([*arm, *way], capsys)
        assert code == PASSED
        assert json.loads(out)["solutions"][0]["position_error_m"] <= 1e-6
    code, _, err = run([*arm, *at, "--position", "0", "0", "0"], capsys)
    assert code == BAD_INPUT
    assert "one of --position, --at or --at-posture" in err


def test_out_leaves_an_artifact_that_report_rebuilds(tmp_path, capsys):
    code, out, _ = run([*SOLVED, "--out", str(tmp_path), "--json"], capsys)
    assert code == PASSED
    folder = Path(json.loads(out)["artifact"])
    page = (folder / "report.html").read_text(encoding="utf-8")
    (folder / "report.html").unlink()
    code, out, _ = run(["report", str(folder)], capsys)
    assert code == PASSED
    assert Path(out.strip()).read_text(encoding="utf-8") == page
    assert "SOLVED" in page


def test_a_reader_that_leaves_early_is_no_error():
    command = f"{sys.executable} -m forearm verify ur5e --samples 2 | head -1"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=120, check=False)
    assert done.stdout
    assert not done.stderr
