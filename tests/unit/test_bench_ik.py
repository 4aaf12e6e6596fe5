"""The inverse kinematics panel measures what it says, and its judge cannot be talked round."""

from __future__ import annotations

import argparse
import json
import sys

import numpy as np
import pytest

import forearm
from forearm.bench import _contestants, _ours, ik
from forearm.bench._contestants import Contestant, Field, enter, timed
from forearm.bench._floor import operations_per_iteration
from forearm.bench._ours import same_set
from forearm.bench._targets import HARD, SINGULAR, beyond_reach, near_singular, smooth_path
from forearm.bench.peers import Subject, Unfit
from forearm.evidence.figures import make_figures
from forearm.evidence.record import Outcome
from forearm.evidence.writer import ArtifactWriter
from forearm.ik.audit import PinocchioReplay
from forearm.ik.result import Status
from forearm.kinematics.forward import tip_matrix

SMALL = (
    "--arms", "ur5e", "panda", "--peers", "--targets", "40", "--shared", "10", "--hard", "3",
    "--refused", "2",
    "--reach", "200", "--branches", "5", "--batch", "500", "--path", "300", "--rounds", "2",
)  # fmt: skip
TIMES = {"contract_median_us", "branches_us", "refusal_us", "tracker_us", "first_answer_s"}
"""Bars that a busy machine may miss."""


def measured(*words: str):
    parser = argparse.ArgumentParser()
    ik.add_arguments(parser)
    return ik.measure(parser.parse_args((*SMALL, *words)))


@pytest.fixture(scope="module")
def panel():
    return measured()


@pytest.fixture
def ur5e(arms):
    return Field("ur5e", arms["ur5e"], PinocchioReplay(arms["ur5e"]))


def test_the_panel_holds_what_it_promises(panel):
    record = panel.record
    assert record.kind == "bench.ik"
    json.dumps(record.to_json(), allow_nan=False)
    failed = {metric.name for metric in record.metrics if metric.passed is False}
    assert failed <= TIMES
    assert record.value("solved_uniform") == 1.0
    assert record.value("false_success") == 0
    assert record.value("branches_complete") == 1.0
    assert record.value("unreachable_false") == record.value("unreachable_missed") == 0
    assert record.value("tracker_faults") == record.value("not_deterministic") == 0
    assert 0.05 < record.value("attained_share") < 1.0
    assert {"batch_per_s_ur5e", "direct_median_us"} <= {metric.name for metric in record.metrics}
    for name, rows in panel.tables.items():
        assert rows, name
        assert len({tuple(row) for row in rows}) == 1, name


def test_its_page_has_its_pictures(panel, tmp_path):
    with ArtifactWriter(tmp_path, "bench.ik", ik.TITLE) as artifact:
        for name, rows in panel.tables.items():
            artifact.write_rows(name, rows)
        folder = artifact.finish(panel.record)
    pictures = make_figures(folder, panel.record)
    assert len(pictures) == 4
    assert all("<svg" in svg for _, svg in pictures)
    assert "forearm, direct" in (folder / "report.html").read_text(encoding="utf-8")


def test_everyone_is_asked_the_same_and_summed_up_rightly(panel):
    rows = [row for row in panel.tables["solves"] if row["panel"] == ik.NEAR]
    counts = {who: sum(row["solver"] == who for row in rows) for who in {row["solver"] for row in rows}}
    assert set(counts.values()) == {20, 10}
    assert {who for who, count in counts.items() if count == 10} == {"forearm, analytic"}
    (direct,) = (
        row
        for row in panel.tables["summary"]
        if (row["panel"], row["solver"]) == (ik.NEAR, _contestants.DIRECT)
    )
    mine = [row for row in rows if row["solver"] == _contestants.DIRECT]
    assert direct["median_us"] == np.median([row["time_us"] for row in mine])
    assert direct["ratio_to_direct"] == 1.0
    assert direct["solved_percent"] == 100.0


def test_a_solver_that_lies_fails_the_panel(monkeypatch):
    """Planted: answers a thousandth of a radian off, called good."""
    honest = _ours.direct_answers
    monkeypatch.setattr(_ours, "direct_answers", lambda *question: honest(*question) + 1e-3)
    record = measured("--arms", "ur5e", "--shared", "2", "--branches", "1").record
    assert record.outcome is Outcome.FAILED
    assert record.value("false_success") > 0
    assert record.value("solved_uniform") == 0.0


def test_the_judge_counts_false_success_and_survives_a_panic(ur5e):
    arm = ur5e.arm
    target, seed = tip_matrix(arm, arm.home), arm.home + 0.1

    class Panic(BaseException):
        pass

    def panics(target, seed):
        raise Panic

    def claims(q):
        return timed(ur5e, Contestant("it", "best", lambda *_: q), [target], [seed])[0]

    assert (claims(arm.home)["claimed"], claims(arm.home)["solved"]) == (True, True)
    for wrong in (arm.home + 1e-5, arm.home + np.array([2 * np.pi, 0, 0, 0, 0, 0]) * 3, np.full(6, np.nan)):
        assert (claims(wrong)["claimed"], claims(wrong)["solved"]) == (True, False)
    nothing = timed(ur5e, Contestant("it", "best", panics), [target], [seed])[0]
    assert (nothing["claimed"], nothing["solved"]) == (False, False)


class Peer:
    name, package, settings = "planted", "planted-wheel", ("best",)

    def __init__(self, arm, shift=0.0, error=None):
        self.arm, self.shift, self.error = arm, shift, error

    def prepare(self, subject, setting):
        if self.error:
            raise self.error
        return self

    def fk(self, q):
        pose = tip_matrix(self.arm, q).copy()
        pose[0, 3] += self.shift
        return pose

    def solve(self, target, seed):
        return None


def test_peers_with_other_kinematics_or_none_are_left_out_with_the_reason(ur5e, tmp_path):
    subject = Subject(ur5e.arm, tmp_path / "none.urdf")
    assert enter(ur5e, Peer(ur5e.arm), "best", subject) == ""
    assert [who.name for who in ur5e.contestants] == ["planted"]
    assert "1e-06 off Pinocchio's" in enter(ur5e, Peer(ur5e.arm, 1e-6), "best", subject)
    assert "pip install 'forearm[peers]'" in enter(ur5e, Peer(ur5e.arm, error=ImportError()), "best", subject)
    assert enter(ur5e, Peer(ur5e.arm, error=Unfit("six joints only")), "best", subject) == "six joints only"
    assert len(ur5e.contestants) == 1


def test_without_the_closed_forms_the_rest_is_measured(arms, monkeypatch):
    from forearm.ik.enumeration import enumerator_of

    enumerator_of.cache_clear()
    monkeypatch.setitem(sys.modules, "eaik.IK_HP", None)
    monkeypatch.setitem(sys.modules, "ssik", None)
    names = [who.name for who in _contestants.ours(arms["ur5e"])]
    enumerator_of.cache_clear()
    assert names == [_contestants.DIRECT, _contestants.CONTRACT]


def test_targets_are_what_they_are_called(arms, random):
    for name in ("ur5e", "panda"):
        arm = arms[name]
        singular = [arm.dexterity(near_singular(arm, random)).min_singular_value for _ in range(20)]
        assert np.median(singular) <= SINGULAR
        for kind, least in (("a joint on its limit", 1), ("all joints on limits", arm.dof)):
            for _ in range(20):
                q = HARD[kind](arm, random)
                assert np.isclose(np.minimum(q - arm.lower, arm.upper - q), 0.0).sum() >= least
        assert arm.ik(beyond_reach(arm, random)).status is Status.UNREACHABLE
        start, poses = smooth_path(arm, random, 400)
        assert np.linalg.norm(np.diff(poses[:, :3, 3], axis=0), axis=1).max() < 0.05
        assert (start >= arm.lower).all()


def test_sets_of_branches_are_compared_as_sets():
    a, b = np.zeros(6), np.ones(6)
    assert same_set([a, b], [b, a + 2 * np.pi])
    assert not same_set([a, b], [a, a])
    assert not same_set([a], [a, b])
    assert not same_set([a], [a + 1e-3])


def test_operations_are_counted_from_the_source(arms, make_chain, random):
    """Each further joint adds the same number, and there is something to count."""
    six, seven = operations_per_iteration(arms["ur5e"]), operations_per_iteration(arms["panda"])
    assert 700 < six < 1100
    assert 100 < seven - six < 150
    assert operations_per_iteration(forearm.load("ur5e")) == six
