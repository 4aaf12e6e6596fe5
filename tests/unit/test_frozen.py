"""Frozen means frozen: nothing that an arm holds can be changed, and it still pickles."""

from __future__ import annotations

import copy
import pickle
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np
import pytest

import forearm
from forearm.robots.frozen import FrozenMap


@pytest.mark.parametrize("name", forearm.robot_names())
def test_no_mapping_of_an_arm_can_be_changed(name, arms):
    tree = arms[name].tree
    for mapping in (
        tree.postures,
        tree.servos,
        arms[name].held,
        arms[name].postures,
        *tree.postures.values(),
    ):
        assert isinstance(mapping, FrozenMap)
        with pytest.raises(TypeError):
            mapping["home"] = 1.0
        with pytest.raises(TypeError):
            del mapping["home"]
        with pytest.raises(AttributeError):
            mapping._items = {}
        assert not hasattr(mapping, "update")


def test_what_is_held_is_a_copy_of_what_was_given():
    given = {"elbow": 0.5}
    arm = forearm.load("two_link", hold=given)
    given["elbow"] = 1.0
    assert arm.held == {"elbow": 0.5}
    assert dict(arm.held) == {"elbow": 0.5}


@pytest.mark.parametrize("name", forearm.robot_names())
def test_an_arm_pickles_and_copies(name, arms):
    arm = arms[name]
    arm.lower, arm.postures, arm.base_in_world  # noqa: B018 - what is cached must not go along
    for again in (pickle.loads(pickle.dumps(arm)), copy.deepcopy(arm)):
        assert type(again) is type(arm)
        assert not again.lower.flags.writeable
        assert again.held == arm.held
        assert again.tree.postures == arm.tree.postures
        assert np.array_equal(again.fk(again.home).matrix(), arm.fk(arm.home).matrix())


def reach_of(arm: forearm.Arm) -> float:
    return arm.reach_m


def test_an_arm_goes_to_a_worker(arms):
    with ProcessPoolExecutor(1, mp_context=get_context("fork")) as pool:
        assert pool.submit(reach_of, arms["ur5e"]).result() == arms["ur5e"].reach_m
