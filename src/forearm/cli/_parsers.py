"""What the verbs' parsers share: errors in one line, sub-verbs, arguments checked as they are read."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any, NoReturn

from forearm.errors import ForearmError

PICTURE_ENDINGS = (".png",)
FIGURE_ENDINGS = (".png", ".svg", ".pdf")


class WrongWords(ForearmError):
    """The command line cannot be read."""


class OneLineParser(argparse.ArgumentParser):
    """Raises what is wrong with the words instead of printing the usage; takes no shortened options."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **{"allow_abbrev": False, **options})

    def error(self, message: str) -> NoReturn:
        raise WrongWords(f"{self.prog}: {message} (see {self.prog} --help)")


def add_verbs(subparsers: Any, modules: Mapping[str, ModuleType]) -> dict[str, argparse.ArgumentParser]:
    """A sub-parser for every module: its docstring is the help, its ``add_arguments`` the arguments."""
    added = {}
    for name, module in modules.items():
        about = (module.__doc__ or "").strip()
        added[name] = subparsers.add_parser(
            name,
            help=about.splitlines()[0],
            description=about,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        module.add_arguments(added[name])
    return added


def file_ending(*endings: str) -> Callable[[str], Path]:
    """The type of an argument that names a file to write, by one of ``endings``."""

    def path_of(word: str) -> Path:
        path = Path(word)
        if path.suffix.lower() not in endings:
            raise argparse.ArgumentTypeError(f"{word!r} must end in {' or '.join(endings)}")
        return path

    return path_of


def held_joint(word: str) -> tuple[str, float]:
    """``JOINT=VALUE``."""
    name, _, value = word.partition("=")
    try:
        return name, float(value)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{word!r} is not JOINT=VALUE") from None


def folder_to_write(word: str) -> str:
    if not word.strip():
        raise argparse.ArgumentTypeError("is empty; name a folder")
    return word


def existing_folder(word: str) -> str:
    if "\0" in word or not Path(word).is_dir():
        raise argparse.ArgumentTypeError(f"{word!r} is not a folder")
    return word
