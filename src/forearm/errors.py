"""Errors that a user can act on.

Every message says what was given, what is valid and what to do about it. Every error carries its
data as attributes, so that a program can react without reading the text.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path


class ForearmError(Exception):
    """Base of every error that forearm raises on purpose. Pickles whole, so that it crosses processes."""

    def __reduce__(self) -> tuple[Any, ...]:
        # By default an exception is rebuilt from its text, which is not what the constructors take.
        return restored, (type(self), self.args, self.__dict__)


def restored(kind: type[ForearmError], args: tuple[Any, ...], data: dict[str, Any]) -> ForearmError:
    """The error that was pickled, without running its constructor."""
    error = kind.__new__(kind, *args)
    Exception.__init__(error, *args)
    error.__dict__.update(data)
    return error


class ModelWarning(UserWarning):
    """A robot model is usable, but part of it is missing or was set aside."""


class InvalidInput(ForearmError, ValueError):
    """A value has the wrong shape, is not finite, or is not what its name says."""

    def __init__(self, what: str, problem: str, fix: str = "") -> None:
        self.what, self.problem, self.fix = what, problem, fix
        super().__init__(f"{what} {problem}." + (f" {fix}" if fix else ""))


class UnknownName(ForearmError, LookupError):
    """A name was given that is not among the valid ones."""

    def __init__(self, kind: str, given: object, valid: Iterable[str], fix: str = "") -> None:
        self.kind, self.given, self.valid = kind, given, tuple(valid)
        listed = ", ".join(self.valid[:30]) or "(none)"
        if len(self.valid) > 30:
            listed += f", ... ({len(self.valid)} in all)"
        text = f"unknown {kind} {shown(given)}; valid: {listed}."
        super().__init__(text + (f" {fix}" if fix else ""))


class ModelError(ForearmError):
    """A robot model cannot be used as it stands."""

    def __init__(self, source: str | Path, problem: str, fix: str = "") -> None:
        self.source, self.problem, self.fix = str(source), problem, fix
        super().__init__(f"{self.source}: {problem}." + (f" {fix}" if fix else ""))


class UnsupportedJoint(ModelError):
    """The chain from base to tip holds a joint, or a constraint, that forearm does not handle."""

    def __init__(self, source: str | Path, joint: str, kind: str, fix: str = "") -> None:
        self.joint, self.kind = joint, kind
        fix = fix or "Choose base= and tip= so that the chain does not pass through it."
        super().__init__(source, f"{kind} {shown(joint)} lies in the chain and is not supported", fix)


class UnsafePath(ModelError):
    """A model names a file outside the folder that it may read."""

    def __init__(self, source: str | Path, path: str, folder: str | Path) -> None:
        self.path, self.folder = path, str(folder)
        super().__init__(
            source,
            f"file {shown(path)} lies outside the model's folder",
            "Pass assets=FOLDER (--assets FOLDER) to allow a wider folder.",
        )


class MissingExtra(ForearmError, ImportError):
    """An optional part is needed but not installed."""

    def __init__(self, package: str, purpose: str, extra: str) -> None:
        self.package, self.purpose, self.extra = package, purpose, extra
        super().__init__(f"{purpose} needs {package}. Install it: pip install 'forearm[{extra}]'")


class NoPicture(ForearmError):
    """This machine offers MuJoCo no way to draw off screen."""


class ArtifactError(ForearmError):
    """An evidence folder cannot be read."""

    def __init__(self, path: str | Path, problem: str, fix: str = "") -> None:
        self.path, self.problem, self.fix = str(path), problem, fix
        super().__init__(f"{self.path}: {problem}." + (f" {fix}" if fix else ""))


class SolverError(ForearmError):
    """A solver raised, or gave back something that is not a proposal. The cause is kept."""

    def __init__(self, solver: str, problem: str) -> None:
        self.solver, self.problem = solver, problem
        super().__init__(f"solver {shown(solver)} {problem}.")


class NoSolution(ForearmError):
    """``IKResult.require()`` was called on a result that is not solved."""

    def __init__(self, result: Any) -> None:
        self.result = result
        proof = f" ({result.proof})" if result.proof else ""
        super().__init__(f"{result.status}: {result.reason}{proof}.")


def shown(given: object, limit: int = 80) -> str:
    """``given`` quoted for a message: escaped, on one line, its middle cut, since it may be hostile."""
    text = repr(str(given))
    return text if len(text) <= limit else f"{text[: limit // 2 - 2]}...{text[-limit // 2 + 1 :]}"


def unknown_unless_in(kind: str, given: object, valid: Sequence[str], fix: str = "") -> None:
    """Raise ``UnknownName`` unless ``given`` is one of ``valid``."""
    # An array compares element by element, which is no answer to whether it is a name.
    if not isinstance(given, str) or given not in valid:
        raise UnknownName(kind, given, valid, fix)
