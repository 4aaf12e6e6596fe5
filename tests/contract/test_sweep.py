"""Sweeps: the same rows however they are run, and what a kill, a dying worker or a stranger's folder does."""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import forearm.sweep
from forearm.cli import BAD_INPUT, FAILED, INTERRUPTED, PASSED, main
from forearm.errors import ArtifactError, InvalidInput, UnknownName
from forearm.evidence.compare import differences
from forearm.evidence.files import read_rows
from forearm.evidence.record import PARTIAL, Outcome, read_record
from forearm.evidence.report import build_report
from forearm.sweep import sweep_module, sweep_names
from forearm.sweep._calls import JobError
from forearm.sweep._goals import GOALS
from forearm.sweep._resume import alone_in, newest_unfinished
from forearm.sweep._run import all_options, resume_sweep, run_sweep

HERE = Path(__file__).parent
HANGS_S = 600
"""A process that takes longer has hung; less would fail a test on a busy machine."""

SMALL = {"difficulties": [0.3, 0.6], "trials": 3, "controllers": ["baseline", "predictive"]}
ONE_SETTING = {"difficulties": [0.3], "trials": 6, "controllers": ["direct"]}
WORDS = ["--difficulty", "0.3", "--trials", "6", "--controller", "direct"]


@pytest.fixture
def stand_in(monkeypatch, tmp_path):
    """The stand-in for the insertion sweep, in this process and for all that it begins."""
    monkeypatch.syspath_prepend(str(HERE))
    # Ray's workers have the environment, not this process's path.
    monkeypatch.setenv("PYTHONPATH", str(HERE))
    monkeypatch.setenv("STAND_IN_LOG", str(tmp_path / "begun"))
    module = importlib.import_module("stand_in.insert")
    monkeypatch.setitem(sys.modules, "forearm.tasks.insert", module)
    monkeypatch.setattr(forearm.sweep, "sweep_module", lambda name: module)
    return module


def command(*words: object, **options) -> subprocess.CompletedProcess:
    words = [sys.executable, "-m", "stand_in", "sweep", "insert", *map(str, words)]
    return subprocess.run(words, capture_output=True, text=True, timeout=HANGS_S, check=False, **options)


def until(holds, what: str) -> None:
    given_up = time.monotonic() + HANGS_S
    while not holds():
        assert time.monotonic() < given_up, f"never: {what}"
        time.sleep(0.01)


def begin_and_wait(out: Path, rows: int) -> tuple[subprocess.Popen, Path]:
    """A sweep of six whose trial of seed 4 never ends, once all others are done; and its folder."""
    words = ["--out", out, "--workers", 2, "--perturb", "waits_once_at=4", *WORDS]
    process = subprocess.Popen(
        [sys.executable, "-m", "stand_in", "sweep", "insert", *map(str, words)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # A process group of its own, as a terminal gives it.
        start_new_session=True,
    )

    def written() -> int:
        return sum(len(path.read_bytes().splitlines()) for path in out.glob("*/rows.jsonl"))

    until(lambda: written() == rows, f"{rows} rows")
    (folder,) = out.iterdir()
    return process, folder


def kill(process: subprocess.Popen) -> None:
    process.kill()
    process.wait(HANGS_S)
    # Not read to its end: that comes only when no worker is left.
    process.stdout.close()
    process.stderr.close()


def is_there(process: int) -> bool:
    try:
        return "\nState:\tZ" not in Path(f"/proc/{process}/status").read_text(encoding="utf-8")
    except OSError:
        return False


def test_the_sweeps_are_found_and_whole():
    assert "insert" in sweep_names()
    for name in sweep_names():
        module = sweep_module(name)
        assert (module.__doc__ or "").strip()
        assert module.TITLE
        for function in (
            *("add_arguments", "options_from", "default_options", "checked", "jobs", "name_of"),
            *("run_job", "lost_row", "checked_row", "settings", "record"),
        ):
            assert callable(getattr(module, function)), f"{name}.{function}"
    with pytest.raises(UnknownName, match="insert"):
        sweep_module("inset")


def test_one_worker_and_two_say_the_same(stand_in, tmp_path):
    one, two = (run_sweep(stand_in, SMALL, tmp_path / str(n), n).folder for n in (1, 2))
    assert differences(one, two) == []
    rows = read_rows(one, "rows.jsonl")
    assert [row["trial"] for row in rows] == [
        stand_in.name_of(job) for job in stand_in.jobs(all_options(stand_in, SMALL))
    ]
    # What is the same is more than nothing, and what is set aside is no more than the times.
    assert len({row["time_s"] for row in rows}) > 4
    again = read_rows(two, "rows.jsonl")
    assert rows != again
    for row in (*rows, *again):
        del row["step_p99_us"], row["time_ratio"]
    assert rows == again
    assert read_rows(one, "settings.jsonl") == stand_in.settings(rows_with_times(rows))
    assert {path.name for path in (one / "trials").iterdir()} == {row["trial"] for row in rows}


def rows_with_times(rows):
    return [{**row, "step_p99_us": 1.0, "time_ratio": 1.0} for row in rows]


def test_two_workers_are_two_processes_of_one_thread_each(stand_in, tmp_path, monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    run_sweep(stand_in, {**SMALL, "perturb": {"waits_for_two": 1.0}}, tmp_path, 2)
    processes = {trial.process for trial in stand_in.begun()}
    assert len(processes - {os.getpid()}) == 2
    assert {trial.threads for trial in stand_in.begun()} == {"1"}
    assert os.environ["OMP_NUM_THREADS"] == "7"


def test_a_killed_sweep_leaves_nobody_and_its_rest_is_done_later(stand_in, tmp_path):
    out = tmp_path / "out"
    process, partial = begin_and_wait(out, 5)
    workers = {trial.process for trial in stand_in.begun()}
    assert any(is_there(worker) for worker in workers)
    kill(process)
    until(lambda: not any(is_there(worker) for worker in workers), "the workers end")
    begun = read_record(partial)
    assert begun.outcome is Outcome.INTERRUPTED
    assert "5 rows" in build_report(partial).read_text(encoding="utf-8")
    # The kill may as well have fallen between a trial and its row, or into the middle of a line.
    with (partial / "rows.jsonl").open("a", encoding="utf-8") as stream:
        stream.write('{"trial": "direct-d0.3-s4", "contr')
    for left in ("direct-d0.3-s4", "direct-d0.3-s4.tmp"):
        (partial / "trials" / left).mkdir()
        (partial / "trials" / left / "trace.parquet").write_text("torn", encoding="utf-8")

    resumed = command("--resume", partial, "--json")
    assert resumed.returncode == PASSED, resumed.stderr
    folder = Path(json.loads(resumed.stdout)["artifact"])
    assert folder == partial.with_name(partial.name.removesuffix(PARTIAL))
    assert [path.name for path in out.iterdir()] == [folder.name]
    names = [f"direct-d0.3-s{seed}" for seed in range(6)]
    assert [stand_in.times_begun(name) for name in names] == [1, 1, 1, 1, 2, 1]
    assert sorted(path.name for path in (folder / "trials").iterdir()) == names
    assert not (folder / "trials" / names[4] / "trace.parquet").exists()

    given = {**ONE_SETTING, "perturb": {"waits_once_at": 4.0}}
    whole = run_sweep(stand_in, given, tmp_path / "whole", 2).folder
    assert differences(folder, whole) == []
    record = read_record(folder)
    assert "--resume" not in record.command
    assert record.started_utc == begun.started_utc < record.finished_utc


def test_an_interrupted_sweep_says_how_to_go_on(stand_in, tmp_path):
    process, partial = begin_and_wait(tmp_path / "out", 5)
    os.killpg(process.pid, signal.SIGINT)
    _, error = process.communicate(timeout=HANGS_S)
    assert process.returncode == INTERRUPTED
    (line,) = error.splitlines()
    said = re.fullmatch(r"forearm sweep: interrupted: go on with: forearm (sweep insert .*)", line)
    assert not any(is_there(trial.process) for trial in stand_in.begun())
    assert main([*shlex.split(said[1]), "--workers", "1"]) == PASSED
    assert not partial.exists()
    assert stand_in.times_begun("direct-d0.3-s4") == 2


def test_only_one_may_work_in_a_folder(stand_in, tmp_path):
    process, partial = begin_and_wait(tmp_path / "out", 5)
    try:
        with pytest.raises(ArtifactError, match="is being worked on"):
            resume_sweep(stand_in, partial, {})
        given = {**ONE_SETTING, "perturb": {"waits_once_at": 4.0}}
        with pytest.raises(InvalidInput, match="no unfinished sweep"):
            newest_unfinished(stand_in, all_options(stand_in, given), partial.parent)
    finally:
        kill(process)
    assert newest_unfinished(stand_in, all_options(stand_in, given), partial.parent) == partial


@pytest.mark.parametrize("when", ["dies_once_at", "dies_once_after"])
def test_a_worker_that_dies_is_replaced_and_its_job_begun_again(stand_in, tmp_path, when):
    done = run_sweep(stand_in, {**ONE_SETTING, "perturb": {when: 2.0}}, tmp_path, 2)
    assert stand_in.times_begun("direct-d0.3-s2") == 2
    well = run_sweep(stand_in, ONE_SETTING, tmp_path, 2)
    untimed = [
        [{**row, "step_p99_us": 0, "time_ratio": 0} for row in read_rows(each.folder, "rows.jsonl")]
        for each in (done, well)
    ]
    assert untimed[0] == untimed[1]


@pytest.mark.parametrize("workers", [1, 2])
def test_a_job_that_kills_its_workers_fails_and_the_sweep_goes_on(stand_in, tmp_path, workers):
    done = run_sweep(stand_in, {**ONE_SETTING, "perturb": {"dies_at": 2.0}}, tmp_path, workers)
    rows = read_rows(done.folder, "rows.jsonl")
    assert [stand_in.times_begun(row["trial"]) for row in rows] == [1, 1, 2, 1, 1, 1]
    assert rows[2]["success"] is False
    assert rows[2]["label"] == "evaluation"
    assert rows[2]["failure"] == "its worker died 2 times, and at last its process was ended by SIGKILL"
    assert rows[2]["time_s"] is None
    assert done.settings[0]["failed_evaluation"] >= 1
    page = (done.folder / "report.html").read_text(encoding="utf-8")
    assert "trials/direct-d0.3-s1/record.json" in page
    assert "trials/direct-d0.3-s2/record.json" not in page


def test_bad_input_of_a_job_ends_the_sweep_and_leaves_nothing(stand_in, tmp_path):
    with pytest.raises(InvalidInput, match="not to its taste"):
        run_sweep(stand_in, {**ONE_SETTING, "perturb": {"refuses_at": 0.0}}, tmp_path / "out", 1)
    assert not list((tmp_path / "out").iterdir())


def test_a_fault_in_a_job_ends_the_sweep_by_name_and_keeps_what_is_done(stand_in, tmp_path):
    out = tmp_path / "out"
    with pytest.raises(JobError, match=r"direct-d0\.3-s3 cannot be run: ZeroDivisionError: no such") as told:
        run_sweep(stand_in, {**ONE_SETTING, "perturb": {"breaks_at": 3.0}}, out, 1)
    assert "misbehave" in told.value.trace
    (partial,) = out.iterdir()
    assert len(read_rows(partial, "rows.jsonl")) == 3


def test_standard_output_is_one_object_whatever_trials_print(stand_in, tmp_path):
    done = command("--out", tmp_path, "--json", "--workers", 2, *WORDS, "--perturb", "leaks=1")
    assert done.returncode == PASSED, done.stderr
    data = json.loads(done.stdout)
    assert done.stderr.count("a trial prints") == 6
    assert {"outcome", "metrics", "rows", "artifact"} == set(data)
    assert data["metrics"]["success_rate"] == data["metrics"]["success_rate_direct"] > 0.0
    (row,) = data["rows"]
    assert (row["controller"], row["difficulty"], row["trials"]) == ("direct", 0.3, 6)


has_ray = pytest.mark.skipif(importlib.util.find_spec("ray") is None, reason="Ray is not installed")


@has_ray
def test_ray_says_the_same_and_listens_to_this_machine_alone(stand_in, tmp_path):
    here = run_sweep(stand_in, {**SMALL, "perturb": {"leaks": 1.0}}, tmp_path, 1).folder
    words = ["--difficulty", "0.3,0.6", "--trials", 3, "--controller", "baseline"]
    words += ["--controller", "predictive", "--perturb", "leaks=1", "--workers", 2]
    done = command(*words, "--backend", "ray", "--out", tmp_path, "--json")
    assert done.returncode == PASSED, done.stderr
    assert done.stderr == ""
    assert differences(here, Path(json.loads(done.stdout)["artifact"])) == []
    assert {trial.address for trial in stand_in.begun()} == {"", "127.0.0.1"}


@has_ray
def test_on_ray_a_job_that_kills_its_workers_fails_and_a_fault_ends_the_sweep(stand_in, tmp_path):
    words = ["--backend", "ray", "--workers", 2, *WORDS, "--out", tmp_path / "out", "--json"]
    done = command(*words, "--perturb", "dies_at=2")
    assert done.returncode == PASSED, done.stderr
    rows = read_rows(Path(json.loads(done.stdout)["artifact"]), "rows.jsonl")
    assert [stand_in.times_begun(row["trial"]) for row in rows] == [1, 1, 2, 1, 1, 1]
    assert "its worker died 2 times" in rows[2]["failure"]
    done = command(*words, "--perturb", "breaks_at=3")
    assert done.returncode == BAD_INPUT
    assert "direct-d0.3-s3 cannot be run: ZeroDivisionError" in json.loads(done.stdout)["message"]


def test_without_ray_the_line_that_installs_it_is_told(stand_in, tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "ray", None)
    out = tmp_path / "out"
    assert main(["sweep", "insert", *WORDS, "--backend", "ray", "--out", str(out)]) == BAD_INPUT
    assert capsys.readouterr().err.endswith("Install it: pip install 'forearm[ray]'\n")
    assert not out.exists()


@pytest.fixture
def unfinished(stand_in, tmp_path):
    """A folder with three of six rows."""
    with pytest.raises(JobError):
        run_sweep(stand_in, {**ONE_SETTING, "perturb": {"breaks_at": 3.0}}, tmp_path / "out", 1)
    (folder,) = (tmp_path / "out").iterdir()
    return folder


CONFIGURATIONS = {
    "no number": ("trials", "many"),
    "too many": ("trials", 10**9),
    "none": ("difficulties", []),
    "not a number": ("difficulties", [float("nan")]),
    "a bool": ("difficulties", [True]),
    "a path": ("controllers", ["../../../tmp/x"]),
    "twice": ("controllers", ["direct", "direct"]),
    "a word": ("controllers", "direct"),
    "nested": ("arm", {"a": [[]]}),
    "unknown": ("perturb", {"__class__": 1}),
    "too much": ("perturb", {"noise": 1e300}),
    "a negative seed": ("first_seed", -1),
    "one more": ("more", 1),
}


@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_a_strangers_configuration_is_refused(stand_in, unfinished, name, capsys):
    option, value = CONFIGURATIONS[name]
    change(unfinished, lambda data: data["configuration"].__setitem__(option, value))
    before = len(stand_in.begun())
    assert main(["sweep", "insert", "--resume", str(unfinished)]) == BAD_INPUT
    (line,) = capsys.readouterr().err.splitlines()
    assert "record.json" in line
    assert len(line) < 400
    assert len(stand_in.begun()) == before


def change(folder: Path, way) -> None:
    path = folder / "record.json"
    data = json.loads(path.read_text(encoding="utf-8"))
    way(data)
    path.write_text(json.dumps(data), encoding="utf-8")


ROWS = {
    "no object": lambda row: [row],
    "of another sweep": lambda row: {**row, "trial": "direct-d0.4-s0"},
    "of another trial": lambda row: {**row, "seed": 5},
    "no time": lambda row: {**row, "time_s": None},
    "not finite": lambda row: {**row, "peak_force_n": float("inf")},
    "nested": lambda row: {**row, "recoveries": [1]},
    "blamed on nobody known": lambda row: {**row, "success": False, "time_s": None, "label": "fate"},
    "short": lambda row: {"trial": row["trial"]},
}


@pytest.mark.parametrize("name", ROWS)
def test_a_strangers_rows_are_refused(stand_in, unfinished, name):
    path = unfinished / "rows.jsonl"
    first, *others = path.read_text(encoding="utf-8").splitlines()
    row = json.loads(first)
    assert row["success"]
    path.write_text("\n".join([json.dumps(ROWS[name](row)), *others, ""]), encoding="utf-8")
    with pytest.raises(ArtifactError, match=r"rows\.jsonl holds something else"):
        resume_sweep(stand_in, unfinished, {})


def test_a_link_for_trials_is_not_followed(stand_in, unfinished, tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "precious").write_text("keep", encoding="utf-8")
    (unfinished / "trials").rename(tmp_path / "aside")
    (unfinished / "trials").symlink_to(tmp_path / "mine")
    with pytest.raises(ArtifactError, match="is a link"):
        resume_sweep(stand_in, unfinished, {})
    assert (tmp_path / "mine" / "precious").exists()


def test_what_is_no_unfinished_sweep_is_not_resumed(stand_in, unfinished, tmp_path):
    whole = run_sweep(stand_in, ONE_SETTING, tmp_path / "out", 1).folder
    with pytest.raises(ArtifactError, match="is finished"):
        resume_sweep(stand_in, whole, {})
    change(unfinished, lambda data: data.__setitem__("kind", "run.cube"))
    with pytest.raises(ArtifactError, match="no sweep of 'insert'"):
        resume_sweep(stand_in, unfinished, {})
    with pytest.raises(ArtifactError, match="no readable record"):
        resume_sweep(stand_in, tmp_path, {})


def test_options_of_a_resumed_sweep_may_be_given_again_but_not_changed(stand_in, unfinished, capsys):
    there = ["sweep", "insert", "--resume", str(unfinished)]
    assert main([*there, "--trials", "5"]) == BAD_INPUT
    assert (
        capsys.readouterr().err
        == "forearm sweep: trials is 5, but the sweep was begun with 6. Leave it out.\n"
    )
    # The default is not what it was begun with either.
    assert main([*there, "--trials", "10"]) == BAD_INPUT
    capsys.readouterr()
    assert main([*there, "--trials", "6", "--difficulty", "0.3"]) == BAD_INPUT
    assert "ZeroDivisionError" in capsys.readouterr().err


def test_the_newest_with_the_same_options_is_resumed(stand_in, tmp_path, capsys):
    options = ["--out", str(tmp_path / "out"), "--workers", "1", "--json"]
    asked = ["sweep", "insert", *WORDS, *options]
    assert main([*asked, "--resume"]) == BAD_INPUT
    assert "no unfinished sweep" in json.loads(capsys.readouterr().out)["message"]
    for trials in (6, 4):
        whole = run_sweep(stand_in, {**ONE_SETTING, "trials": trials}, tmp_path / "out", 1).folder
        partial = whole.rename(whole.with_name(whole.name + PARTIAL))
        rows = (partial / "rows.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
        (partial / "rows.jsonl").write_text("".join(rows[:-1]), encoding="utf-8")
    before = len(stand_in.begun())
    assert main([*asked, "--resume"]) == PASSED
    folder = Path(json.loads(capsys.readouterr().out)["artifact"])
    assert len(read_rows(folder, "rows.jsonl")) == 6
    assert [trial.name for trial in stand_in.begun()[before:]] == ["direct-d0.3-s5"]
    assert main([*asked, "--resume"]) == BAD_INPUT


def test_goals_that_are_missed_fail_the_sweep(stand_in, tmp_path, capsys):
    hard = ["--difficulty", "0.9", "--trials", "2", "--controller", "predictive", "--perturb", "dies_at=0"]
    out = ["--out", str(tmp_path), "--workers", "2", "--json"]
    assert main(["sweep", "insert", *hard, *out]) == PASSED, "there are no goals where it is perturbed"
    capsys.readouterr()
    assert main(["sweep", "insert", *hard[:-2], *out]) in (PASSED, FAILED)
    record = read_record(Path(json.loads(capsys.readouterr().out)["artifact"]))
    assert {metric.name for metric in record.metrics if metric.bar} == {
        f"{name}_predictive" for name in GOALS
    }


def test_the_page_leads_to_every_trial(stand_in, tmp_path):
    folder = run_sweep(stand_in, SMALL, tmp_path, 2).folder
    page = (folder / "report.html").read_text(encoding="utf-8")
    links = re.findall(r'href="([^"]*)"', page.split("How it was made")[0])
    links = [link for link in links if not link.startswith("#")]
    assert len(links) == 12
    assert all((folder / link).is_file() for link in links)
    assert page.count("<svg") >= 4


def test_the_lock_goes_with_its_holder(tmp_path):
    with alone_in(tmp_path), pytest.raises(ArtifactError, match="is being worked on"), alone_in(tmp_path):
        pass
    with alone_in(tmp_path):
        pass
    with pytest.raises(ArtifactError, match="cannot be opened"), alone_in(tmp_path / "nowhere"):
        pass
