"""Everything the documents show runs, and the README's table is the artifact's."""

from __future__ import annotations

import importlib.util
import re
import runpy
import shlex
from pathlib import Path

import pytest

from forearm.cli import main
from forearm.ik import solver as solver_registry

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


def blocks(language: str) -> list[tuple[str, str]]:
    """(document, text) of every fenced block of a language."""
    found = []
    for document in DOCUMENTS:
        text = document.read_text(encoding="utf-8")
        fences = re.findall(r"^```(\w*)\n(.*?)^```$", text, re.S | re.M)
        found += [(document.name, block) for found_language, block in fences if found_language == language]
    return found


def command_lines() -> list[str]:
    """Every ``forearm`` line of the documents, its comment left out; benchmarks have tests of their own."""
    lines = [line for _, block in blocks("") for line in block.splitlines()]
    commands = [line.split("#")[0].strip() for line in lines if line.startswith("forearm ")]
    return [command for command in commands if not command.startswith("forearm bench")]


@pytest.fixture
def own_registry(monkeypatch):
    """Examples may register solvers; they must not stay for other tests."""
    solver_registry.SOLVERS.load()
    monkeypatch.setattr(solver_registry.SOLVERS, "plugins", dict(solver_registry.SOLVERS.plugins))


@pytest.mark.usefixtures("own_registry")
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_every_example_runs_and_prints(path, capsys):
    runpy.run_path(str(path), run_name="__main__")
    assert capsys.readouterr().out.strip()


def test_there_are_examples_and_snippets_to_run():
    assert len(EXAMPLES) >= 5
    assert len(blocks("python")) >= 1
    assert len(command_lines()) >= 5


@pytest.mark.parametrize(("document", "text"), blocks("python"))
def test_every_python_snippet_runs(document, text, capsys):
    exec(compile(text, document, "exec"), {"__name__": "snippet"})
    assert "UNREACHABLE" in capsys.readouterr().out


@pytest.mark.parametrize("command", command_lines())
def test_every_command_of_the_documents_passes(command, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(shlex.split(command)[1:]) == 0
    assert capsys.readouterr().out.strip()


def test_the_readme_fits_on_a_first_screen_and_shows_the_artifacts_table():
    specification = importlib.util.spec_from_file_location("readme_table", ROOT / "tools" / "readme_table.py")
    tool = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(tool)
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(readme.splitlines()) <= 80
    assert tool.with_table(readme, tool.KEPT) == readme
    table = readme.split(tool.BEGIN)[1].split(tool.END)[0]
    rows = [line for line in table.splitlines() if line.startswith("| `")]
    assert len(rows) >= 5, "a table without rows says nothing"
    changed = tool.with_table(readme, tool.KEPT).replace("| 0 |", "| 1 |", 1)
    assert tool.with_table(changed, tool.KEPT) != changed


def test_links_between_documents_lead_somewhere():
    for document in DOCUMENTS:
        for link in re.findall(r"\]\(([^)#:]+)\)", document.read_text(encoding="utf-8")):
            assert (document.parent / link).exists(), f"{document.name} links to {link}"
