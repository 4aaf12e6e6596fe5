"""What a URDF draws: primitives, and meshes that may be read."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from xml.etree.ElementTree import Element

from forearm.errors import shown
from forearm.robots.safe_xml import Folders
from forearm.robots.tree import Shape
from forearm.robots.xml_numbers import number, numbers
from forearm.spatial import Pose

DRAWABLE = (".stl", ".obj")


class MeshFinder:
    """The mesh files of one model, looked up once each; it remembers those it cannot offer."""

    def __init__(self, folders: Folders) -> None:
        self.folders = folders
        self.found: dict[str, Path | None] = {}

    def check(self, robot: Element) -> None:
        """Look up every file that visuals, collisions and materials name. Raises ``UnsafePath``."""
        for element in robot.iter():
            if element.tag in ("mesh", "texture"):
                path = self.folders.find(element.get("filename", ""))
                if element.tag == "mesh":
                    self.found[element.get("filename", "")] = path

    def drawable(self, filename: str) -> Path | None:
        path = self.found.get(filename)
        return path if path is not None and path.suffix.lower() in DRAWABLE else None

    def warnings(self) -> list[str]:
        """One line about all the meshes that are left out."""
        absent = [name for name in self.found if self.drawable(name) is None]
        if not absent:
            return []
        count = f"{len(absent)} mesh file{'s' if len(absent) > 1 else ''}"
        return [
            f"{self.folders.source}: {count} not found in the model's folder, or neither .stl nor .obj, "
            f"such as {shown(absent[0])}: nothing is drawn for them. Kinematics and dynamics are complete; "
            "assets=FOLDER (--assets FOLDER) says where meshes lie."
        ]


def read_shapes(
    link: Element, source: str, materials: Mapping[str, Element], meshes: MeshFinder
) -> tuple[Shape, ...]:
    """A link's visuals. They collide if the link has any collision geometry."""
    where = f"visual of link {shown(link.get('name', ''))}"
    collides = link.find("collision") is not None
    shapes = []
    for visual in link.findall("visual"):
        solid = read_solid(visual.find("geometry"), where, source, meshes)
        if solid is None:
            continue
        kind, size_m, mesh = solid
        origin = visual.find("origin")
        position_m = numbers(origin, "xyz", 3, where, source, default=(0.0, 0.0, 0.0))
        rpy_rad = numbers(origin, "rpy", 3, where, source, default=(0.0, 0.0, 0.0))
        pose = Pose.from_rpy(position_m, rpy_rad)
        shapes.append(Shape(kind, size_m, pose, read_rgba(visual, where, source, materials), collides, mesh))
    return tuple(shapes)


def read_solid(
    geometry: Element | None, where: str, source: str, meshes: MeshFinder
) -> tuple[str, tuple[float, ...], Path | None] | None:
    """Kind, sizes as ``Shape`` has them, and the mesh; None for what cannot be drawn."""
    solid = geometry[0] if geometry is not None and len(geometry) else None
    if solid is None:
        return None
    if solid.tag == "box":
        x_m, y_m, z_m = numbers(solid, "size", 3, where, source)
        size_m: tuple[float, ...] = (0.5 * x_m, 0.5 * y_m, 0.5 * z_m)
    elif solid.tag in ("cylinder", "capsule"):
        size_m = (number(solid, "radius", where, source), 0.5 * number(solid, "length", where, source))
    elif solid.tag == "sphere":
        size_m = (number(solid, "radius", where, source),)
    elif solid.tag == "mesh":
        path = meshes.drawable(solid.get("filename", ""))
        scale = numbers(solid, "scale", 3, where, source, default=(1.0, 1.0, 1.0))
        return None if path is None else ("mesh", tuple(scale), path)
    else:
        return None
    # Exporters write empty boxes as placeholders; MuJoCo takes no size of zero.
    return (solid.tag, size_m, None) if min(size_m) > 0.0 else None


def read_rgba(
    visual: Element, where: str, source: str, materials: Mapping[str, Element]
) -> tuple[float, float, float, float]:
    """The visual's colour, else that of the material it names, else grey."""
    material = visual.find("material")
    if material is not None and material.find("color") is None:
        material = materials.get(material.get("name", ""))
    color = None if material is None else material.find("color")
    red, green, blue, alpha = numbers(color, "rgba", 4, where, source, default=(0.7, 0.7, 0.72, 1.0))
    return red, green, blue, alpha
