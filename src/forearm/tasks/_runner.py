"""Runs a task by name: what the command does, from Python."""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from forearm.errors import (
    ArtifactError,
    ForearmError,
    InvalidInput,
    NoPicture,
    NoSolution,
    UnknownName,
    shown,
)
from forearm.evidence.compare import Difference, differences
from forearm.evidence.record import Outcome, Record, read_record
from forearm.evidence.writer import ArtifactWriter
from forearm.motion.follow import LostTrack
from forearm.motion.plan import PlanRefused
from forearm.tasks import task_module
from forearm.tasks._options import checked_options
from forearm.tasks._perturb import PERTURBATIONS, Kinds


def run_task(
    name: str, options: Mapping[str, Any], out: str | Path = "runs", video: bool = False
) -> tuple[Path, Record]:
    """Perform the task and keep its evidence under ``out``: trace, events, report, a picture, a film.

    A refused plan is evidence too: nothing moved, and the record says why. Where the machine cannot
    draw, pictures are left out with a warning.
    """
    module = task_module(name)
    options = checked_options(name, options, default_options(module), perturbations_of(module))
    configuration, seeds = {"task": name, **options}, {seed_name(module): options.get("seed", 0)}
    with ArtifactWriter(
        out, f"run.{name}", module.TITLE, configuration=configuration, seeds=seeds
    ) as artifact:
        try:
            record = module.perform(options, artifact)
        except (PlanRefused, LostTrack, NoSolution) as refused:
            artifact.event(0.0, "refused", str(refused))
            draw_if_possible(module.draw_refused, options, refused, artifact.folder)
            record = refusal(name, module.TITLE, options, refused)
            return artifact.finish(record), record
        except ForearmError:
            # The question was wrong, so there is nothing to keep.
            artifact.discard()
            raise
        draw_if_possible(module.draw, options, artifact.folder, video)
        return artifact.finish(record), record


def draw_if_possible(draw: Callable[..., None], *arguments: Any) -> None:
    try:
        draw(*arguments)
    except NoPicture as error:
        warnings.warn(f"no picture: {error}", stacklevel=3)


def run(name: str, *, out: str | Path = "runs", video: bool = False, **options: Any) -> Record:
    """Run a task as the command does; ``options`` are the command's, in Python's spelling.

    ``forearm.run("cube", edge_seconds=0.5, perturb={"noise": 0.001})``. Returns the record; the artifact
    lies under ``out``. Raises ``UnknownName`` for an option that the task does not have, and
    ``InvalidInput`` for a value that is none of the option's.
    """
    return run_task(name, options, out, video)[1]


def refusal(name: str, title: str, options: Mapping[str, Any], refused: ForearmError) -> Record:
    """The record of a plan that was not run: it collides, exceeds a limit, or has no solution."""
    problems = refused.report.problems if isinstance(refused, PlanRefused) else [str(refused)]
    return Record(
        kind=f"run.{name}",
        title=title,
        summary="The plan was refused before anything moved.",
        outcome=Outcome.FAILED,
        metrics=(),
        configuration={"task": name, **options},
        failures=[{"label": "planning", "text": text} for text in problems],
    )


def replay_task(folder: Path, out: str | Path) -> tuple[Path, list[Difference]]:
    """Run what an artifact's record describes once more; the new folder, and how the two differ."""
    record = read_record(folder)
    if record.outcome is Outcome.INTERRUPTED:
        raise ArtifactError(folder, "was cut short", "There is nothing to hold a second run against.")
    options = dict(record.configuration)
    name = options.pop("task", None)
    if not record.kind.startswith("run.") or not isinstance(name, str):
        raise ArtifactError(folder, f"is of kind {shown(record.kind)}", "Only runs of tasks can be replayed.")
    if record.kind != f"run.{name}":
        raise ArtifactError(folder, f"is of kind {shown(record.kind)}, but its task is {shown(name)}")
    again, _ = run_task(name, restored(task_module(name), name, options, folder), out)
    return again, differences(folder, again)


def restored(module: ModuleType, name: str, options: dict[str, Any], folder: Path) -> dict[str, Any]:
    """The options of a record, checked: an artifact may come from anywhere."""
    defaults = default_options(module)
    if set(options) != set(defaults):
        odd = sorted(set(options) ^ set(defaults))
        raise ArtifactError(folder, f"record.json's configuration does not fit the task: {', '.join(odd)}")
    try:
        return checked_options(name, options, defaults, perturbations_of(module))
    except (InvalidInput, UnknownName) as error:
        raise ArtifactError(folder, f"record.json: {str(error).rstrip('.')}") from error


def perturbations_of(module: ModuleType) -> Kinds:
    """A task's own kinds of perturbation, or those of the drawing tasks."""
    return getattr(module, "PERTURBATIONS", PERTURBATIONS)


def seed_name(module: ModuleType) -> str:
    """What a task draws from its seed."""
    return getattr(module, "SEED_OF", "perturbation")


def default_options(module: ModuleType) -> dict[str, Any]:
    return module.options_from(parsed_defaults(module))


def parsed_defaults(module: ModuleType) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    module.add_arguments(parser)
    return parser.parse_args([])
