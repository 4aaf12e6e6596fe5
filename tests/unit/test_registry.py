"""Plug-ins are found by looking; the same one may come again, a different one of its name may not."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from forearm.errors import InvalidInput, UnknownName
from forearm.ik.solver import SOLVERS
from forearm.registry import Registry


@pytest.fixture
def fruits(tmp_path, monkeypatch) -> Registry:
    """A registry over a package made for the test, with two files."""
    package = tmp_path / "fruit_shelf"
    package.mkdir()
    (package / "__init__.py").write_text(
        "from forearm.registry import Registry\nFRUITS = Registry('fruit', 'fruit_shelf')\n", encoding="utf-8"
    )
    for name in ("pear", "apple"):
        (package / f"{name}.py").write_text(
            "from fruit_shelf import FRUITS\n@FRUITS.register\nclass Fruit:\n"
            f"    name = '{name}'\n    def __init__(self, size=1): self.size = size\n",
            encoding="utf-8",
        )
    monkeypatch.syspath_prepend(str(tmp_path))
    import fruit_shelf

    yield fruit_shelf.FRUITS
    for name in [name for name in sys.modules if name.startswith("fruit_shelf")]:
        del sys.modules[name]


def defined_in(module: str, qualname: str, **parts: object) -> type:
    made = type(qualname.rpartition(".")[2], (), {"name": "apple", **parts})
    made.__module__, made.__qualname__ = module, qualname
    return made


def test_files_are_found_sorted_and_made_with_options(fruits):
    assert fruits.plugins == {}
    assert fruits.names() == ("apple", "pear")
    assert fruits.make("pear", size=3).size == 3
    with pytest.raises(UnknownName, match="unknown fruit 'plum'; valid: apple, pear"):
        fruits.find("plum")
    with pytest.raises(UnknownName, match="unknown option of fruit pear 'colour'; valid: size"):
        fruits.make("pear", colour="green")


def test_the_same_class_defined_again_takes_its_place(fruits):
    fruits.load()
    again = defined_in("fruit_shelf.apple", "Fruit")
    assert fruits.register(again) is again
    assert fruits.find("apple") is again


def test_a_different_class_of_the_same_name_is_refused(fruits):
    fruits.load()
    before = fruits.find("apple")
    for module, qualname in (("fruit_shelf.apple", "Other"), ("elsewhere", "Fruit"), ("__main__", "Fruit")):
        with pytest.raises(InvalidInput, match=r"registered already, by fruit_shelf\.apple\.Fruit"):
            fruits.register(defined_in(module, qualname))
    assert fruits.find("apple") is before


def test_a_notebook_may_change_its_mind(fruits):
    first, second = (defined_in("__main__", name, name="mine") for name in ("First", "Second"))
    fruits.register(first)
    fruits.register(second)
    assert fruits.find("mine") is second


def test_threads_that_ask_at_once_all_see_every_plugin(fruits):
    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(lambda _: fruits.names(), range(32))) == {("apple", "pear")}


def test_solvers_are_found_this_way():
    assert SOLVERS.kind == "solver"
    assert {"dls", "planar"} <= set(SOLVERS.names())
    assert SOLVERS.find("dls").name == "dls"
