"""Reading model files that nobody vouches for: regular files, in known folders, plain small XML.

Everything here is decided before MuJoCo or Pinocchio sees a byte, and no file is opened before its
path has been found to lie inside the folders that a model may read.
"""

from __future__ import annotations

import os
import re
import stat
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote
from xml.etree.ElementTree import Element
from xml.parsers import expat

from forearm.errors import ModelError, UnsafePath, shown

MAX_FILE_BYTES = 16 * 2**20
MAX_ELEMENTS = 40_000
MAX_ATTRIBUTES = 300_000
MAX_DEPTH = 200

# Windows has only the last of these.
READ_FLAGS = os.O_RDONLY
for _name in ("O_NONBLOCK", "O_NOCTTY", "O_CLOEXEC", "O_BINARY"):
    READ_FLAGS |= getattr(os, _name, 0)


def read_bytes(path: Path, source: str, limit: int = MAX_FILE_BYTES) -> bytes:
    """The content of a regular file of at most ``limit`` bytes, or ``ModelError``."""
    try:
        require_regular(os.stat(path), source)
        # A pipe may have taken the file's place since; opened without O_NONBLOCK it would hang.
        descriptor = os.open(path, READ_FLAGS)
        with os.fdopen(descriptor, "rb") as file:
            require_regular(os.fstat(descriptor), source)
            content = file.read(limit + 1)
    except FileNotFoundError:
        raise ModelError(source, "does not exist") from None
    except (OSError, ValueError) as error:
        raise ModelError(source, f"cannot be read: {getattr(error, 'strerror', None) or error}") from None
    if len(content) > limit:
        raise ModelError(source, f"is larger than {limit / 2**20:.0f} MiB")
    return content


def require_regular(status: os.stat_result, source: str) -> None:
    if stat.S_ISDIR(status.st_mode):
        raise ModelError(source, "is a directory", "Give the model file inside it.")
    if not stat.S_ISREG(status.st_mode):
        raise ModelError(source, "is not a regular file")


def parse_xml(content: bytes, source: str) -> Element:
    """The element tree of ``content``, text left out.

    Any DTD is refused, and with it every entity; so are too many elements or attributes, and too deep
    nesting. Raises ``ModelError``.
    """
    if not content.strip():
        raise ModelError(source, "is empty")
    # Expat hands over an element with all its attributes at once, when it is too late to count them.
    if content.count(b"=") > MAX_ATTRIBUTES:
        raise ModelError(source, f"has more than {MAX_ATTRIBUTES} XML attributes")
    builder = TreeOfElements(source)
    parser = expat.ParserCreate()
    parser.StartDoctypeDeclHandler = builder.refuse_doctype
    parser.EntityDeclHandler = builder.refuse_doctype
    parser.StartElementHandler = builder.start
    parser.EndElementHandler = builder.end
    try:
        parser.Parse(content, True)
    except (expat.ExpatError, LookupError, ValueError) as error:
        raise ModelError(source, f"is not well-formed XML: {error}") from None
    assert builder.root is not None
    return builder.root


class TreeOfElements:
    """Expat's handlers: they build the tree and stop at the first excess."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.root: Element | None = None
        self.open: list[Element] = []
        self.elements = 0

    def refuse_doctype(self, *declaration: object) -> None:
        raise ModelError(
            self.source,
            f"declares a DTD or an entity ({shown(declaration[0], 40)})",
            "Robot models need none: remove the <!DOCTYPE> declaration.",
        )

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        self.elements += 1
        if self.elements > MAX_ELEMENTS:
            raise ModelError(self.source, f"has more than {MAX_ELEMENTS} XML elements")
        if len(self.open) >= MAX_DEPTH:
            raise ModelError(self.source, f"nests XML elements deeper than {MAX_DEPTH}")
        element = Element(tag, attributes)
        if self.open:
            self.open[-1].append(element)
        else:
            self.root = element
        self.open.append(element)

    def end(self, _tag: str) -> None:
        self.open.pop()


@dataclass(frozen=True)
class Folders:
    """Where a model's files may lie: its own folder, and ``assets`` if the user widened it."""

    source: str
    model: Path
    assets: Path | None = None

    @staticmethod
    def around(model_file: Path, assets: str | Path | None = None) -> Folders:
        source = str(model_file)
        if assets is not None and not Path(assets).is_dir():
            raise ModelError(source, f"assets folder {shown(assets)} is not a folder")
        widened = None if assets is None else Path(os.path.abspath(assets))
        return Folders(source, Path(os.path.abspath(model_file.parent)), widened)

    @property
    def roots(self) -> tuple[Path, ...]:
        return (self.model,) if self.assets is None else (self.model, self.assets)

    def find(self, given: str, subfolder: str = "") -> Path | None:
        """The regular file that ``given`` names, None if there is none.

        ``given`` is a path relative to the model, or in ``subfolder`` of it; a ``package://`` name; or
        an absolute path. Raises ``UnsafePath`` if it leads out of the folders, by itself or by a
        symbolic link.
        """
        candidates = self.candidates(given, subfolder)
        # Compared as text first, so that nothing outside is so much as looked at.
        inside = [path for path in candidates if self.holds(path)]
        if not inside:
            raise self.unsafe(given)
        for path in inside:
            real = Path(os.path.realpath(path))
            if not any(real.is_relative_to(os.path.realpath(root)) for root in self.roots):
                raise self.unsafe(given)
            if real.is_file():
                return real
        return None

    def unsafe(self, given: str) -> UnsafePath:
        return UnsafePath(self.source, given, self.assets or self.model)

    def holds(self, path: Path) -> bool:
        return any(path.is_relative_to(root) for root in self.roots)

    def candidates(self, given: str, subfolder: str) -> list[Path]:
        """Absolute paths without ``..`` that ``given`` may stand for; none for a foreign scheme."""
        text = given.replace("\\", "/")
        scheme, rest = re.fullmatch(r"(?:([A-Za-z][\w+.-]*)://)?(.*)", text, re.DOTALL).groups()  # type: ignore[union-attr]
        if "\0" in text or scheme not in (None, "package", "model", "file"):
            return []
        if scheme in ("package", "model"):
            name, _, below = rest.lstrip("/").partition("/")
            paths = [
                folder / part for folder in self.package_parents() for part in (below, f"{name}/{below}")
            ]
        elif scheme == "file":
            paths = [Path("/" + unquote(rest).lstrip("/"))]
        else:
            paths = [root / subfolder / text for root in self.roots]
        return [Path(os.path.normpath(path)) for path in paths]

    def package_parents(self) -> list[Path]:
        """Folders that may be, or may hold, a ROS package: the roots, and what lies between them."""
        parents = list(self.roots)
        if self.assets is not None:
            parents += [folder for folder in self.model.parents if folder.is_relative_to(self.assets)]
        return parents
