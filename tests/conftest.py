"""Shared by every test: a repeatable Hypothesis and the bundled arms."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

import forearm

settings.register_profile(
    "forearm",
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("forearm")


@pytest.fixture(scope="session")
def arms() -> dict[str, forearm.Arm]:
    """Every bundled arm, loaded once."""
    return {name: forearm.load(name) for name in forearm.robot_names()}


@pytest.fixture
def random() -> np.random.Generator:
    """A generator that starts the same in every test."""
    return np.random.default_rng(20_240_607)
