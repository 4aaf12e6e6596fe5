"""An MJCF document made safe: includes resolved, files checked, excess refused.

MuJoCo never opens a file for us. Includes are merged here, every file that the document names is
looked up here, and meshes reach the compiler as bytes under names of our own.
"""

from __future__ import annotations

import copy
import math
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree.ElementTree import Element

from forearm.errors import ModelError, shown
from forearm.robots.safe_xml import MAX_DEPTH, MAX_ELEMENTS, Folders, parse_xml, read_bytes

MAX_JOINTS = 500
MAX_PARTS = 5_000
"""Elements below worldbody, once every <replicate> is written out."""
MAX_OF_A_KIND = 1_000
"""Elements of one tag outside worldbody: the compiler's work grows with the square of some."""
MAX_WORDS = 2**16
"""Characters in an attribute, but for a mesh's own data."""
MESH_DATA = {"vertex", "normal", "texcoord", "face", "elevation"}
MAX_INCLUDES = 100
MAX_COUNT = 1000
"""Largest value of an attribute that sizes something."""
COUNTS = {"actdim", "count", "dim", "height", "maxhullvert", "ncol", "nrow", "nsample", "width"}
REFUSED = {
    "attach": "Flatten the model first: mujoco.MjSpec.from_file(FILE).to_file(FLAT).",
    "model": "Flatten the model first: mujoco.MjSpec.from_file(FILE).to_file(FLAT).",
    "composite": "Remove it; only rigid links are read.",
    "flexcomp": "Remove it; only rigid links are read.",
    "plugin": "Remove it; plugins run code of their own.",
    "extension": "Remove it; plugins run code of their own.",
}
SECTIONS = {"compiler", "default", "asset", "worldbody", "equality", "keyframe", "actuator"}
"""What kinematics and mass depend on. Everything else is left out before the model is compiled."""
EQUALITIES = {"connect", "weld", "joint"}
KEPT_ASSETS = {"mesh", "material"}
NAMES = {"name", "class", "childclass", "model", "prefix", "sep", "key", "value"}
MESH_ENDINGS = (".stl", ".obj", ".msh")


@dataclass
class Document:
    """A scanned ``<mujoco>`` element, and where its meshes lie (None: missing)."""

    root: Element
    source: str
    meshes: dict[str, Path | None] = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)
    """Files that the model names and that are not there."""


def scan(root: Element, folders: Folders) -> Document:
    """Resolve includes, refuse what is unsafe, look up every file. Changes ``root`` in place."""
    source = folders.source
    include_files(root, folders, set())
    document = Document(root, source)
    for element in root.iter():
        require_finite(element, source)
    check_size(root, source)
    look_up_files(document, folders)
    refused = next((element.tag for element in root.iter() if element.tag in REFUSED), None)
    if refused is not None:
        raise ModelError(source, f"<{refused}> is not supported", REFUSED[refused])
    strip(root)
    return document


def include_files(element: Element, folders: Folders, included: set[Path], depth: int = 1) -> None:
    """Put the children of each included file's root in the place of its <include>."""
    if depth > MAX_DEPTH:
        raise ModelError(folders.source, f"nests XML elements deeper than {MAX_DEPTH}")
    index = 0
    while index < len(element):
        child = element[index]
        if child.tag != "include":
            include_files(child, folders, included, depth + 1)
            index += 1
            continue
        path = folders.find(child.get("file", ""))
        name = shown(child.get("file", ""))
        if path is None:
            raise ModelError(folders.source, f"included file {name} does not exist")
        if path in included:
            raise ModelError(folders.source, f"file {name} is included twice, or includes itself")
        if len(included) >= MAX_INCLUDES:
            raise ModelError(folders.source, f"has more than {MAX_INCLUDES} includes")
        included.add(path)
        # Looked at again from here, so that includes inside the included file are resolved too.
        element[index : index + 1] = list(parse_xml(read_bytes(path, str(path)), str(path)))


def require_finite(element: Element, source: str) -> None:
    """MuJoCo itself takes NaN, with a line on stderr."""
    for attribute, text in element.items():
        where = f"<{element.tag} name={shown(element.get('name', ''))}>: {attribute}={shown(text, 40)}"
        if len(text) > MAX_WORDS and attribute not in MESH_DATA:
            raise ModelError(source, f"{where} is longer than {MAX_WORDS} characters")
        if attribute in NAMES:
            continue
        # Every spelling of NaN and infinity has an n; a number that overflows has an exponent.
        words = text.split() if set("nNeE") & set(text) else ()
        if not all(math.isfinite(value_of(word)) for word in words):
            raise ModelError(source, f"{where} is not finite")


def value_of(word: str) -> float:
    """The number that ``word`` is; NaN for every spelling of NaN that strtod takes; 0 for a word."""
    if word.lower().lstrip("+-").startswith("nan("):
        return math.nan
    try:
        return float(word)
    except ValueError:
        return 0.0


def check_size(root: Element, source: str) -> None:
    """Refuse counts that would make the compiler allocate without end."""
    for element in root.iter():
        for attribute, text in element.items():
            if attribute in COUNTS and any(abs(value_of(word)) > MAX_COUNT for word in text.split()):
                where = f"<{element.tag} {attribute}={shown(text, 40)}>"
                raise ModelError(source, f"{where} is too large; the most is {MAX_COUNT}")
    kinds = Counter(
        element.tag for part in root if part.tag in SECTIONS - {"worldbody"} for element in part.iter()
    )
    tag, times = max(kinds.items(), key=lambda kind: kind[1], default=("", 0))
    if times > MAX_OF_A_KIND:
        raise ModelError(source, f"has {times} <{tag}> elements; the most is {MAX_OF_A_KIND}")
    if sum(1 for _ in root.iter()) > MAX_ELEMENTS:
        raise ModelError(source, f"has more than {MAX_ELEMENTS} XML elements")
    bodies = root.findall("worldbody")
    joints = sum(expanded(body, {"joint", "freejoint"}) for body in bodies)
    if joints > MAX_JOINTS:
        raise ModelError(source, f"has {joints} joints; the most is {MAX_JOINTS}")
    parts = sum(expanded(body, None) for body in bodies)
    if parts > MAX_PARTS:
        raise ModelError(source, f"has {parts} bodies, geoms and sites; the most is {MAX_PARTS}")


def expanded(element: Element, tags: set[str] | None) -> int:
    """How many elements with one of ``tags`` (None: any) there are once replicates are written out."""
    below = sum(expanded(child, tags) for child in element)
    if element.tag == "replicate":
        below *= max(1, int(value_of(element.get("count", "1"))))
    return below + (tags is None or element.tag in tags)


def look_up_files(document: Document, folders: Folders) -> None:
    """Find every file attribute's file; give meshes names of ours in the place of their paths."""
    settings: dict[str, str] = {}
    for compiler in document.root.findall("compiler"):
        settings.update(compiler.items())
    asset_folder = settings.get("assetdir", "")
    subfolders = {
        "mesh": settings.get("meshdir", asset_folder),
        "texture": settings.get("texturedir", asset_folder),
        # MuJoCo looks for height fields and skins where meshes lie.
        "hfield": settings.get("meshdir", asset_folder),
        "skin": settings.get("meshdir", asset_folder),
    }
    for element in document.root.iter():
        for attribute in [name for name in element.attrib if name.startswith("file")]:
            given = element.get(attribute, "")
            if settings.get("strippath") == "true":
                given = given.replace("\\", "/").rpartition("/")[2]
            path = folders.find(given, subfolders.get(element.tag, ""))
            if path is None:
                document.missing.append(given)
            if element.tag == "mesh":
                name_mesh(document, element, given, path)


def name_mesh(document: Document, mesh: Element, given: str, path: Path | None) -> None:
    stem, _, ending = given.replace("\\", "/").rpartition("/")[2].rpartition(".")
    mesh.set("name", mesh.get("name") or stem)
    usable = path is not None and f".{ending.lower()}" in MESH_ENDINGS and "content_type" not in mesh.attrib
    own_name = f"forearm_mesh_{len(document.meshes)}.{ending.lower() if usable else 'stl'}"
    if path is not None and not usable:
        document.missing.append(given)
    document.meshes[own_name] = path if usable else None
    mesh.set("file", own_name)


def strip(root: Element) -> None:
    """Leave out what the compiler would open, allocate or run for, other than the robot itself."""
    for compiler in root.findall("compiler"):
        compiler[:] = []
        for attribute in ("assetdir", "meshdir", "texturedir", "strippath", "passthrough", "fusestatic"):
            compiler.attrib.pop(attribute, None)
    for asset in root.findall("asset"):
        # Built-in meshes are generated while parsing, to any size.
        asset[:] = [e for e in asset if e.tag in KEPT_ASSETS and "builtin" not in e.attrib]
        for element in asset:
            element.attrib.pop("texture", None)
            element[:] = []
    for default in root.iter("default"):
        default[:] = [element for element in default if element.tag not in ("texture", "camera", "light")]
        for material in default.findall("material"):
            material.attrib.pop("texture", None)
    for body in root.iter():
        if body.tag in ("worldbody", "body", "frame", "replicate"):
            body.attrib.pop("fuse", None)
            body[:] = [element for element in body if element.tag not in ("camera", "light")]
    for key in root.iter("key"):
        for attribute in set(key.keys()) - {"name", "qpos"}:
            del key.attrib[attribute]


def mechanism(root: Element) -> Element:
    """A copy with the sections that kinematics and mass depend on, and no others."""
    kept = Element("mujoco", {"model": root.get("model", "")} if root.get("model") else {})
    for section in root:
        if section.tag in SECTIONS:
            kept.append(copy.deepcopy(section))
    for equality in kept.findall("equality"):
        equality[:] = [element for element in equality if element.tag in EQUALITIES]
    return kept
