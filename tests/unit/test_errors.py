"""Errors cross process boundaries whole: a worker's error must not kill the pool."""

from __future__ import annotations

import copy
import importlib
import pickle
import pkgutil
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import pytest

import forearm
from forearm.errors import (
    ArtifactError,
    ForearmError,
    InvalidInput,
    MissingExtra,
    ModelError,
    NoPicture,
    NoSolution,
    SolverError,
    UnknownName,
    UnsafePath,
    UnsupportedJoint,
    restored,
)


def every_subclass() -> list[type[ForearmError]]:
    for module in pkgutil.walk_packages(forearm.__path__, "forearm."):
        if "__main__" not in module.name:
            importlib.import_module(module.name)
    found, queue = [], [ForearmError]
    while queue:
        kind = queue.pop()
        found.append(kind)
        queue += kind.__subclasses__()
    return [kind for kind in found if kind.__module__.startswith("forearm.")]


def test_every_kind_of_error_pickles():
    kinds = every_subclass()
    assert len(kinds) >= 11
    for kind in kinds:
        error = restored(kind, ("what went wrong",), {"joint": "elbow", "past": 0.2})
        for again in (pickle.loads(pickle.dumps(error)), copy.copy(error), copy.deepcopy(error)):
            assert type(again) is kind
            assert str(again) == str(error) == "what went wrong"
            assert again.__dict__ == {"joint": "elbow", "past": 0.2}


MADE = [
    InvalidInput("seed", "is short", "Give two."),
    UnknownName("robot", "ur6", ("ur5e",)),
    ModelError("arm.urdf", "is empty"),
    UnsupportedJoint("arm.urdf", "finger", "mimic joint"),
    UnsafePath("arm.urdf", "../mesh", "/models"),
    MissingExtra("toppra", "timing", "motion"),
    NoPicture("no EGL"),
    ArtifactError("runs/x", "is torn"),
    SolverError("mine", "raised"),
]


@pytest.mark.parametrize("error", MADE, ids=lambda error: type(error).__name__)
def test_an_error_keeps_its_text_and_its_data(error):
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), str(again), again.__dict__) == (type(error), str(error), error.__dict__)
    assert again.args == error.args


def test_no_solution_keeps_its_result():
    error = NoSolution(forearm.load("two_link").ik((2.0, 0.0, 0.0)))
    again = pickle.loads(pickle.dumps(error))
    assert str(again) == str(error)
    assert again.result.proof == error.result.proof
    assert again.result.best_effort.q.tolist() == error.result.best_effort.q.tolist()


def load_unknown(name: str) -> None:
    forearm.load(name)


def test_a_worker_can_raise_one():
    with ProcessPoolExecutor(1, mp_context=get_context("fork")) as pool:
        with pytest.raises(UnknownName, match="unknown robot 'ur6'"):
            pool.submit(load_unknown, "ur6").result()
        assert pool.submit(int, 3).result() == 3
