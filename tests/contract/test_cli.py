"""Every verb: its help, its exit codes, one JSON object on standard output and nothing else."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

import forearm
from forearm.cli import BAD_INPUT, FAILED, PASSED, main, verb_names
from forearm.errors import NoPicture
from forearm.evidence.record import read_record
from forearm.sim import still

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


AT_ZERO = ["solve", "ur5e", "--at", *"000000"]
REFUSED = [
    "bench planar --targets 0",
    "bench planar --many 0",
    "bench planar --seed -1",
    "bench planar --targets 1.5",
    "bench honesty --workers 0",
    "bench kernels --rounds 0",
    "bench planar --out ''",
    "sweep",
    "sweep inset",
    "sweep insert --difficulty 0.1:0.9",
    "sweep insert --difficulty 0.1:0.9:1e-9",
    "sweep insert --trials 0",
    "sweep insert --first-seed -1",
    "sweep insert --workers 0",
    "sweep insert --backend slurm",
    "sweep insert --resume nowhere",
    "sweep insert --out ''",
    "verify two_link --samples 0",
    "verify two_link --seed -1",
    "verify two_link --assets nowhere",
    "solve two_link --position 0.3 0.3 0 --max-iterations 0",
    "solve two_link --position 0.3 0.3 0 --out ''",
    "solve two_link --position 0.3 0.3 0 --png arm.jpg",
    "solve two_link --position 0.3 0.3 0 --assets nowhere",
    "solve ur5e --position 0 0 0.5 --quaternion 1 0 0 0 --rpy-deg 0 0 0",
    "solve ur5e --at 0 0 0 0 0 0 --rpy-deg 0 0 0",
    "solve ur5e --at 0 0 0 0 0 0 --quaternion 1 0 0 0",
    "solve ur5e --at 0 0 0 0 0 0 --frame world",
    "solve ur5e --at-posture home --rpy-deg 0 0 0",
    "robots two_link --workspace slice.xyz",
    "robots two_link --workspace slice",
    "robots two_link --png arm.gif",
    "robots two_link --posture home",
    "robots --tip flange",
    "robots --base world",
    "robots --tool 0.1",
    "robots --png arm.png",
]


@pytest.mark.parametrize("line", REFUSED)
def test_what_cannot_be_meant_is_refused_and_leaves_nothing(line, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    code, out, err = run(shlex.split(line), capsys)
    assert code == BAD_INPUT
    assert not out
    assert len(err.splitlines()) == 1
    assert not list(tmp_path.iterdir())
    code, out, _ = run([*shlex.split(line), "--json"], capsys)
    assert code == BAD_INPUT
    assert json.loads(out)["outcome"] == "bad_input"
    assert not list(tmp_path.iterdir())


def test_a_file_that_cannot_be_written_still_gives_one_object(tmp_path, capsys):
    (tmp_path / "blocked").write_text("not a folder", encoding="utf-8")
    picture = str(tmp_path / "blocked" / "arm.png")
    code, out, err = run([*SOLVED, "--png", picture, "--json"], capsys)
    assert code == BAD_INPUT
    assert json.loads(out)["error"] in ("NotADirectoryError", "FileExistsError")
    assert len(err.splitlines()) == 1


@pytest.mark.parametrize(("question", "expected"), [(SOLVED, PASSED), (UNREACHABLE, FAILED)])
def test_a_machine_that_cannot_draw_keeps_its_answers(question, expected, tmp_path, monkeypatch, capsys):
    def render(*_, **__):
        raise NoPicture("nothing can draw here")

    monkeypatch.setattr(still, "render", render)
    extra = ["--png", str(tmp_path / "arm.png"), "--out", str(tmp_path / "runs")]
    code, out, err = run([*question, *extra], capsys)
    assert code == expected
    assert "elbow" in out
    assert "nothing can draw here" in err
    (folder,) = (tmp_path / "runs").iterdir()
    assert (folder / "report.html").exists()
    code, out, _ = run([*question, *extra, "--json"], capsys)
    assert code == expected
    assert json.loads(out)["picture"] is None


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


def test_a_posture_past_its_limits_is_told_as_a_seed_is(capsys):
    past = ["9", *"00000"]
    _, out, _ = run(["solve", "ur5e", "--at", *past, "--seed", *past, "--json"], capsys)
    told = json.loads(out)["warnings"]
    assert [line.replace("--at: ", "") for line in told[:1]] == [
        line.replace("seed: ", "") for line in told[1:]
    ]
    assert "shoulder_pan" in told[0]
    _, out, _ = run([*AT_ZERO, "--json"], capsys)
    assert json.loads(out)["warnings"] == []


def kept(words: list[str], out: Path, capsys) -> tuple[Path, dict]:
    """The artifact of a solve, and its record."""
    _, text, _ = run([*words, "--out", str(out), "--json"], capsys)
    folder = Path(json.loads(text)["artifact"])
    return folder, json.loads((folder / "record.json").read_text(encoding="utf-8"))


def asked_again(record: dict, load_from: Path | None = None) -> forearm.IKResult:
    """The question of a record, asked by what the record says and nothing else."""
    loading = {name: value for name, value in record["inputs"]["load"].items() if name != "sha256"}
    if load_from is not None:
        loading["model"] = load_from / loading["model"]
    how = {name: value for name, value in record["configuration"].items() if name != "ran"}
    target, seed = record["inputs"]["target"], record["inputs"]["seed"]
    return forearm.load(loading.pop("model"), **loading).ik(
        forearm.Pose(target["position_m"], target["quaternion_wxyz"]),
        frame=target["frame"],
        seed=seed if record["inputs"]["seed_given"] else None,
        tolerance=forearm.Tolerance(**how.pop("tolerance")),
        **how,
    )


@pytest.mark.parametrize(
    "words",
    [
        "two_link(0.5,0.4) --position 0.34 0.28 0",
        "ur5e --position 0.3 0.2 0.5 --quaternion 0 1 0 0 --audit",
        "ur5e --position 0.3 0.2 0.5 --rpy-deg 180 5 3 --tool 0.1 --frame world --seed 0.1 -1 1 -1 -1 0",
        "ur5e --position 2 0 0.5 --task position --solver newton --max-iterations 7 --tolerance-m 1e-4",
    ],
)
def test_a_record_holds_all_that_it_takes_to_ask_again(words, tmp_path, capsys):
    folder, record = kept(["solve", *shlex.split(words)], tmp_path, capsys)
    then = json.loads((folder / "result.jsonl").read_text(encoding="utf-8"))
    now = asked_again(record).to_json()
    for result in (then, now):
        result["diagnostics"].pop("time_s")
    assert now == then


def test_a_record_names_a_file_and_what_it_held(tmp_path, capsys):
    model = tmp_path / "models" / "arm.urdf"
    model.parent.mkdir()
    model.write_text(SLIDER, encoding="utf-8")
    folder, record = kept(["solve", str(model), "--at", "0.3", "0.5"], tmp_path, capsys)
    assert record["inputs"]["load"]["model"] == "arm.urdf"
    assert len(record["inputs"]["load"]["sha256"]) == 64
    assert asked_again(record, model.parent).solutions
    assert str(tmp_path) not in (folder / "record.json").read_text(encoding="utf-8")
    model.write_text(SLIDER.replace("slider", "other"), encoding="utf-8")
    _, changed = kept(["solve", str(model), "--at", "0.3", "0.5"], tmp_path, capsys)
    assert changed["inputs"]["load"]["sha256"] != record["inputs"]["load"]["sha256"]


SLIDER = """<robot name="slider">
  <link name="base"/><link name="arm"/><link name="carriage"/>
  <joint name="swing" type="revolute"><parent link="base"/><child link="arm"/><axis xyz="0 0 1"/>
    <limit lower="-1" upper="1" velocity="1" effort="1"/></joint>
  <joint name="slide" type="prismatic"><parent link="arm"/><child link="carriage"/><axis xyz="1 0 0"/>
    <limit lower="0.1" upper="0.6" velocity="1" effort="1"/></joint>
</robot>"""


def test_the_report_shows_every_joint_with_its_limits_and_units(tmp_path, capsys):
    model = tmp_path / "arm.urdf"
    model.write_text(SLIDER, encoding="utf-8")
    folder, record = kept(["solve", str(model), "--at", "0.3", "0.55"], tmp_path, capsys)
    swing, slide = record["tables"]["The answer"]
    assert swing["value (rad or m)"] == pytest.approx(0.3, abs=1e-5)
    assert swing["degrees"] == pytest.approx(np.degrees(0.3), abs=1e-3)
    assert (slide["lower (rad or m)"], slide["upper (rad or m)"], slide["degrees"]) == (0.1, 0.6, None)
    assert slide["margin (rad or m)"] == pytest.approx(0.05, abs=1e-5)
    values = {metric["name"]: metric["value"] for metric in record["metrics"]}
    assert values["limit_joint"] == "slide"
    assert values["limit_margin_m"] == pytest.approx(0.05, abs=1e-5)
    assert values["limit_margin_rad"] == pytest.approx(0.7, abs=1e-5)
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "<h2>The answer</h2>" in page
    _, out, _ = run(["solve", str(model), "--at", "0.3", "0.55"], capsys)
    assert "0.7000 rad and 0.0500 m" in out
    _, out, _ = run(["robots", str(model)], capsys)
    lines = {line.split()[0]: line for line in out.splitlines() if line.strip()}
    assert "rad/s" in lines["swing"]
    assert lines["swing"].endswith("N·m")
    assert "m/s" in lines["slide"]
    assert lines["slide"].endswith(" N")


def test_a_failed_solve_shows_nothing_as_the_answer(tmp_path, capsys):
    folder, record = kept(UNREACHABLE, tmp_path, capsys)
    (failure,) = record["failures"]
    assert failure["label"] == "planning"
    assert "Proof: " in failure["text"]
    about_the_run = {"status", "reason", "solutions", "iterations"}
    for metric in record["metrics"]:
        best_effort = metric["name"].startswith("best_effort_") and "not a solution" in metric["meaning"]
        assert best_effort or metric["name"] in about_the_run
    assert list(record["tables"]) == ["Best effort, not a solution"]
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "nswer" not in page
    assert [path.stem.split(",")[0] for path in folder.glob("*.png")] == ["nearest_posture_found"]
    folder, _ = kept(SOLVED, tmp_path, capsys)
    assert "not a solution" not in (folder / "report.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("words", ["solve {} --at 0.3 0.5", "robots {}", "verify {} --samples 2"])
def test_names_from_files_cannot_forge_lines_of_the_terminal(words, tmp_path, capsys):
    model = tmp_path / "arm.urdf"
    # A line break, a control sequence introducer, and a mark that turns the writing's direction.
    forged = "swing&#10;FORGED: line&#155;2J&#x202e;"
    model.write_text(SLIDER.replace("swing", forged), encoding="utf-8")
    code, out, err = run(words.format(model).split(), capsys)
    assert code in (PASSED, FAILED)
    lines = (out + err).splitlines()
    assert any("FORGED" in line for line in lines) or words.startswith("verify")
    assert not any(line.startswith("FORGED") for line in lines)
    assert "\x9b" not in out + err
    assert "\u202e" not in out + err


def test_the_time_of_an_answer_is_not_that_of_loading_compiled_code(monkeypatch, capsys):
    calls = []
    ik = forearm.Arm.ik

    def counted(self, target, **question):
        calls.append((question["max_iterations"], question["audit"]))
        return ik(self, target, **question)

    monkeypatch.setattr(forearm.Arm, "ik", counted)
    assert main([*SOLVED, "--audit"]) == PASSED
    assert calls == [(1, False), (200, True)]


def test_main_leaves_the_interpreters_warnings_as_they_were(capsys):
    before, filters = warnings.showwarning, list(warnings.filters)
    main(["robots"])
    assert warnings.showwarning is before
    assert list(warnings.filters) == filters


def test_shares_are_percentages_and_the_command_can_be_pasted(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["/usr/bin/forearm", "bench", "ur5e", "--out=/home/me/a b"])
    code, out, _ = run(["bench", "ur5e", "--targets", "8", "--out", str(tmp_path)], capsys)
    assert code == PASSED
    assert " 54 %" in out
    (folder,) = tmp_path.iterdir()
    rate = read_record(folder).value("pinv_success_rate")
    assert f"{100 * rate:.4g} %" in out
    assert "forearm bench ur5e &#x27;--out=a b&#x27;" in (folder / "report.html").read_text(encoding="utf-8")


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
