"""The mini arm puts its square tool into a hole in a box that vibrates."""

from __future__ import annotations

import argparse
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from forearm.control.insertion.inserter import inserter_names
from forearm.errors import ForearmError, unknown_unless_in
from forearm.evidence.record import Record
from forearm.evidence.trace import write_trace
from forearm.evidence.writer import ArtifactWriter, Event, write_at_once
from forearm.sim.insertion import TICK_S, WORKPLACES, insertion_scene
from forearm.tasks._diagnosis import Failure
from forearm.tasks._insertion_judge import failures_of, truth_of
from forearm.tasks._insertion_options import (
    PERTURBATIONS,
    InsertionOptions,
    add_insertion_arguments,
    insertion_options,
)
from forearm.tasks._insertion_pictures import draw_insertion
from forearm.tasks._insertion_record import TITLE, inputs_of, measured, record_of, trace_columns
from forearm.tasks._insertion_trial import Trial, run_trial

__all__ = ["PERTURBATIONS", "TITLE"]

SEED_OF = "trial"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_insertion_arguments(parser)


def options_from(args: argparse.Namespace) -> dict[str, Any]:
    return insertion_options(args)


def controller_names() -> tuple[str, ...]:
    return inserter_names()


def arm_names() -> tuple[str, ...]:
    return tuple(WORKPLACES)


def chosen_options(options: Mapping[str, Any]) -> InsertionOptions:
    """The options, checked against what there is."""
    unknown_unless_in("controller", options["controller"], controller_names())
    unknown_unless_in("arm for the insertion", options["arm"], arm_names())
    return InsertionOptions(**options)


def perform(options: Mapping[str, Any], artifact: ArtifactWriter | None) -> Record:
    """One trial, its events written as they happen."""
    chosen = chosen_options(options)
    trial = run_trial(chosen, artifact.event if artifact else lambda *_: None)
    truth = truth_of(trial)
    failures = failures_of(trial, truth)
    if artifact:
        artifact.describe(inputs_of(trial))
        for time_s, kind, text in ending(trial, failures):
            artifact.event(time_s, kind, text)
        write_trace(artifact.folder, trace_columns(trial, truth))
    return record_of(trial, failures)


def ending(trial: Trial, failures: list[Failure]) -> list[Event]:
    """The last events of a trial."""
    touched, end_s = trial.recording.touched, len(trial.recording) * TICK_S
    found = [] if touched is None else [(touched * TICK_S, "touch", "the tool touches the plate")]
    if failures:
        return [*found, (end_s, "end", failures[0].text)]
    return [*found, (end_s, "end", "inserted: the box turns green")]


def plain_row(options: Mapping[str, Any]) -> dict[str, Any]:
    """One trial, of which nothing is kept but its row."""
    trial = run_trial(chosen_options(options), lambda *_: None)
    return measured(trial, failures_of(trial, truth_of(trial)))


def trial_row(options: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """One trial of a sweep: its artifact as ``folder``, written in one go, and its row."""
    began = time.process_time()
    events: list[Event] = []
    trial = run_trial(chosen_options(options), lambda *event: events.append(event))
    truth = truth_of(trial)
    failures = failures_of(trial, truth)
    write_at_once(
        folder, record_of(trial, failures), [*events, *ending(trial, failures)], trace_columns(trial, truth)
    )
    # The artifact belongs to what a trial takes.
    whole = replace(trial, took_s=time.process_time() - began - trial.recording.bare_s)
    return measured(whole, failures)


def draw(options: Mapping[str, Any], folder: Path, video: bool) -> None:
    """Pictures of the start and of the end, and a film if asked."""
    chosen = chosen_options(options)
    draw_insertion(insertion_scene(chosen.arm, chosen.play_m), folder, video)


def draw_refused(options: Mapping[str, Any], refused: ForearmError, folder: Path) -> None:
    """Nothing: no plan is made before the trial begins."""
