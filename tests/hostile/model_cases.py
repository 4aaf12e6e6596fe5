"""Hostile models: how each is written into a folder, the error it must give, and whom that names."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from forearm.errors import ForearmError, ModelError, UnknownName, UnsafePath, UnsupportedJoint
from forearm.robots import load


@dataclass(frozen=True)
class Case:
    name: str
    content: str | bytes | Callable[[Path], object]
    """The model's text, or what makes the folder."""
    error: type[ForearmError]
    names: str
    """Part of the error's text."""
    file: str = "arm.urdf"
    tip: str | None = None

    def write(self, folder: Path) -> Path:
        """Make the model in ``folder``, beside a secret that no model may open."""
        home = folder / "model"
        home.mkdir()
        (folder / "secret.stl").write_bytes(b"solid secret")
        (folder / "secret.xml").write_text("<mujoco/>")
        path = home / self.file
        if callable(self.content):
            self.content(path)
        else:
            content = self.content.encode() if isinstance(self.content, str) else self.content
            path.write_bytes(content.replace(b"OUTSIDE", str(folder).encode()))
        return path

    def load(self, path: Path) -> None:
        load(path, tip=self.tip)


BODY = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
LIMIT = '<limit lower="-1" upper="1" effort="1" velocity="1"/>'


def joint(name: str, parent: str, child: str, inside: str = LIMIT, kind: str = "revolute") -> str:
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>{inside}</joint>'
    )


def link(name: str, inside: str = BODY) -> str:
    return f'<link name="{name}">{inside}</link>'


def urdf(*parts: str) -> str:
    return '<robot name="r">' + "".join(parts) + "</robot>"


def arm(inside_joint: str = LIMIT, inside_link: str = BODY) -> str:
    return urdf(link("base"), link("hand", inside_link), joint("elbow", "base", "hand", inside_joint))


def drawing(mesh: str) -> str:
    return arm(inside_link=f'<visual><geometry><mesh filename="{mesh}"/></geometry></visual>')


def mjcf(body: str = "", before: str = "", after: str = "", joint_: str = 'name="elbow"') -> str:
    return (
        f'<mujoco>{before}<worldbody><body name="hand"><joint {joint_}/><geom size=".1"/>{body}</body>'
        f"</worldbody>{after}</mujoco>"
    )


def long_urdf(links: int) -> str:
    names = [f"l{i}" for i in range(links)]
    return urdf(*map(link, names), *(joint(f"j{i}", *names[i : i + 2]) for i in range(links - 1)))


def nested_mjcf(depth: int) -> str:
    body = '<body><joint/><geom size=".1"/>'
    return "<mujoco><worldbody>" + body * depth + "</body>" * depth + "</worldbody></mujoco>"


def entity_bomb(root: str) -> str:
    lines = ['<!ENTITY a0 "ha">'] + [f'<!ENTITY a{i} "{f"&a{i - 1};" * 10}">' for i in range(1, 12)]
    return f'<?xml version="1.0"?><!DOCTYPE {root} [{"".join(lines)}]><{root} name="&a11;"/>'


def mesh_link(path: Path) -> None:
    path.write_text(drawing("mesh.stl"))
    (path.parent / "mesh.stl").symlink_to(path.parent.parent / "secret.stl")


def include_link(path: Path) -> None:
    path.write_text(mjcf(before='<include file="part.xml"/>'))
    (path.parent / "part.xml").symlink_to(path.parent.parent / "secret.xml")


def including_itself(path: Path) -> None:
    path.write_text(mjcf(before='<include file="part.xml"/>'))
    (path.parent / "part.xml").write_text('<mujoco><include file="part.xml"/></mujoco>')


def including_a_bomb(path: Path) -> None:
    path.write_text(mjcf(before='<include file="part.xml"/>'))
    (path.parent / "part.xml").write_text(entity_bomb("mujoco"))


def including_depth(path: Path) -> None:
    """Each file nests shallowly; together they are deeper than any recursion limit."""
    path.write_text(mjcf(before='<include file="p0.xml"/>'))
    for i in range(90):
        nested = "<default>" * 90 + f'<include file="p{i + 1}.xml"/>' + "</default>" * 90
        (path.parent / f"p{i}.xml").write_text(f"<mujoco>{nested}</mujoco>")
    (path.parent / "p90.xml").write_text("<mujoco><default/></mujoco>")


def sparse(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(10 * 2**30)


HFIELD = '<asset><hfield name="h" nrow="1000000000" ncol="1000000000" size="1 1 1 1"/></asset>'
EXPLICIT = '<inertial pos="0 0 0" mass="1" diaginertia="{}"/>'
OUT = '<asset><{} file="{}"/></asset>'
U = ModelError
X = "arm.xml"

CASES = [
    Case("entity bomb", entity_bomb("robot"), U, "DTD"),
    Case("external entity", '<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd">]><robot/>', U, "DTD"),
    Case("external DTD", '<!DOCTYPE robot SYSTEM "http://127.0.0.1:9/x.dtd"><robot/>', U, "DTD"),
    Case("parameter entity", '<!DOCTYPE r [<!ENTITY % x SYSTEM "secret"> %x;]><robot/>', U, "DTD"),
    Case("file URL mesh", drawing("file://OUTSIDE/secret.stl"), UnsafePath, "file 'file:///"),
    Case("encoded file URL", drawing("file://OUTSIDE/model/%2e%2e/secret.stl"), UnsafePath, "file 'file:///"),
    Case("parent mesh", drawing("../secret.stl"), UnsafePath, "../secret.stl"),
    Case("hidden parent mesh", drawing("a/../../secret.stl"), UnsafePath, "secret.stl"),
    Case("backslash parent mesh", drawing("..\\secret.stl"), UnsafePath, "secret.stl"),
    Case("absolute mesh", drawing("OUTSIDE/secret.stl"), UnsafePath, "lies outside"),
    Case("package parent mesh", drawing("package://../../secret.stl"), UnsafePath, "secret.stl"),
    Case("package deep parent", drawing("package://a/../../../secret.stl"), UnsafePath, "secret.stl"),
    Case("http mesh", drawing("http://127.0.0.1:9/x.stl"), UnsafePath, "http://127.0.0.1:9/x.stl"),
    Case("linked mesh", mesh_link, UnsafePath, "mesh.stl"),
    Case("device mesh", drawing("/dev/zero"), UnsafePath, "/dev/zero"),
    Case("collision mesh", drawing("../secret.stl").replace("visual", "collision"), UnsafePath, "secret"),
    Case(
        "material", urdf('<material name="m"><texture filename="../s.png"/></material>'), UnsafePath, "s.png"
    ),
    Case("NaN inertia", arm(inside_link=BODY.replace('ixx="1"', 'ixx="nan"')), U, "'hand'"),
    Case("infinite mass", arm(inside_link=BODY.replace('value="1"', 'value="inf"')), U, "mass value='inf'"),
    Case("overflowing mass", arm(inside_link=BODY.replace('value="1"', 'value="1e999"')), U, "1e999"),
    Case("negative mass", arm(inside_link=BODY.replace('value="1"', 'value="-1"')), U, "'hand'"),
    Case("negative inertia", arm(inside_link=BODY.replace('iyy="1"', 'iyy="-1"')), U, "negative inertia"),
    Case("indefinite inertia", arm(inside_link=BODY.replace('ixy="0"', 'ixy="9"')), U, "negative inertia"),
    Case("NaN origin", arm('<origin xyz="0 NaN 0"/>' + LIMIT), U, "0 NaN 0"),
    Case("short origin", arm('<origin xyz="0 1"/>' + LIMIT), U, "3 finite numbers"),
    Case("worded rpy", arm('<origin rpy="a b c"/>' + LIMIT), U, "rpy='a b c'"),
    Case("python number", arm('<origin xyz="1_0 0 0"/>' + LIMIT), U, "1_0 0 0"),
    Case("huge origin", arm('<origin xyz="1e200 0 0"/>' + LIMIT), U, "too large"),
    Case("NaN limit", arm(LIMIT.replace("-1", "nan")), U, "'elbow'"),
    Case("lower above upper", arm(LIMIT.replace("-1", "2")), U, "'elbow' has lower limit 2 above upper"),
    Case("no limit", arm(""), U, "'elbow' is revolute and has no <limit>"),
    Case("negative effort", arm(LIMIT.replace('effort="1"', 'effort="-1"')), U, "effort is -1"),
    Case("zero axis", arm('<axis xyz="0 0 0"/>' + LIMIT), U, "'elbow' has a zero axis"),
    Case("unknown type", urdf(link("a"), link("b"), joint("j", "a", "b", kind="screw")), U, "'screw'"),
    Case("unknown tip", arm(), UnknownName, "'nose'", tip="nose"),
    Case("duplicate links", urdf(link("a"), link("a")), U, "2 links are called 'a'"),
    Case(
        "duplicate joints", urdf(link("a"), link("b"), joint("j", "a", "b") * 2), U, "2 joints are called 'j'"
    ),
    Case("nameless link", urdf("<link/>"), U, "link number 1 has no name"),
    Case("unknown parent", urdf(link("a"), joint("j", "ghost", "a")), U, "unknown parent link 'ghost'"),
    Case("unknown child", urdf(link("a"), joint("j", "a", "ghost")), U, "unknown child link 'ghost'"),
    Case("no parent", urdf(link("a"), '<joint name="j" type="fixed"/>'), U, "'j' names no parent"),
    Case("two roots", urdf(link("a"), link("b")), U, "2 root links: 'a', 'b'"),
    Case("link without joints", urdf(link("a")), U, "no joint moves"),
    Case("no links", urdf(), U, "has no links"),
    Case("own parent", urdf(link("a"), joint("j", "a", "a")), U, "cycle: 'a'"),
    Case("cycle", urdf(link("a"), link("b"), joint("j", "a", "b"), joint("k", "b", "a")), U, "form a cycle"),
    Case(
        "cycle beside a tree",
        urdf(*map(link, "rab"), joint("j", "a", "b"), joint("k", "b", "a")),
        U,
        "form a cycle: 'b', 'a'",
    ),
    Case(
        "child of two",
        urdf(*map(link, "abc"), joint("j", "a", "c"), joint("k", "b", "c")),
        U,
        "'c' is the child of two joints, 'j' and 'k'",
    ),
    Case("4,000 links", long_urdf(4000), U, "3999 joints; the most is 500"),
    Case("400 links", long_urdf(400), U, "399 moving joints; the most is 30"),
    Case(
        "free joint",
        urdf(*map(link, "ab"), joint("j", "a", "b", kind="floating")),
        UnsupportedJoint,
        "'j'",
        tip="b",
    ),
    Case("empty file", "", U, "is empty"),
    Case("blank file", " \n ", U, "is empty"),
    Case("a directory", os.mkdir, U, "is a directory"),
    Case("no file", lambda path: None, U, "does not exist"),
    Case("pipe", os.mkfifo, U, "is not a regular file"),
    Case("link to a device", lambda path: path.symlink_to("/dev/zero"), U, "is not a regular file"),
    Case("binary junk", bytes(range(256)) * 64, U, "not well-formed XML"),
    Case("unreadable encoding", '<?xml version="1.0" encoding="ebcdic-nope"?><robot/>', U, "not well-formed"),
    Case("cut short", arm()[:-20], U, "not well-formed XML"),
    Case("other root", "<html/>", U, "root element 'html'"),
    Case("xacro", '<robot xmlns:xacro="x"><xacro:arm/></robot>', U, "<xacro:arm>"),
    Case("10 GiB file", sparse, U, "larger than 16 MiB"),
    Case("deep XML", "<robot>" + "<a>" * 200_000, U, "deeper than 200"),
    Case("a million elements", "<robot>" + "<a/>" * 1_000_000 + "</robot>", U, "XML elements"),
    Case(
        "a million attributes",
        lambda path: path.write_text("<robot " + " ".join(f'a{i}=""' for i in range(1_000_000)) + "/>"),
        U,
        "XML attributes",
    ),
    Case("long name", urdf(link("a" * 10**6) * 2), U, "..."),
    Case("line break in name", urdf(link("a&#10;b") * 2), U, r"'a\nb'"),
    # MJCF.
    Case("MJCF entity bomb", entity_bomb("mujoco"), U, "DTD", X),
    Case("MJCF bomb in include", including_a_bomb, U, "part.xml: declares a DTD", X),
    Case("MJCF mesh outside", mjcf(before=OUT.format("mesh", "../secret.stl")), UnsafePath, "secret.stl", X),
    Case(
        "MJCF absolute mesh", mjcf(before=OUT.format("mesh", "OUTSIDE/secret.stl")), UnsafePath, "secret", X
    ),
    Case(
        "MJCF mesh folder",
        mjcf(before='<compiler meshdir=".."/>' + OUT.format("mesh", "secret.stl")),
        UnsafePath,
        "secret.stl",
        X,
    ),
    Case(
        "MJCF asset folder",
        mjcf(before='<compiler assetdir="OUTSIDE"/>' + OUT.format("texture", "secret.png")),
        UnsafePath,
        "secret.png",
        X,
    ),
    Case(
        "MJCF cube texture",
        mjcf(before='<asset><texture type="cube" fileright="../r.png"/></asset>'),
        UnsafePath,
        "r.png",
        X,
    ),
    Case("MJCF height field", mjcf(before=OUT.format("hfield", "/dev/zero")), UnsafePath, "/dev/zero", X),
    Case("MJCF skin", mjcf(before=OUT.format("skin", "../s.skn")), UnsafePath, "s.skn", X),
    Case(
        "MJCF submodel outside",
        mjcf(before=OUT.format("model", "../secret.xml")),
        UnsafePath,
        "secret.xml",
        X,
    ),
    Case("MJCF submodel", mjcf('<attach model="m" prefix="a"/>'), U, "<attach> is not supported", X),
    Case(
        "MJCF flexcomp file",
        mjcf('<flexcomp name="f" type="gmsh" file="../f.msh"/>'),
        UnsafePath,
        "f.msh",
        X,
    ),
    Case("MJCF include outside", mjcf(before='<include file="../secret.xml"/>'), UnsafePath, "secret.xml", X),
    Case("MJCF include device", mjcf(before='<include file="/dev/zero"/>'), UnsafePath, "/dev/zero", X),
    Case("MJCF include link", include_link, UnsafePath, "part.xml", X),
    Case(
        "MJCF include missing", mjcf(before='<include file="part.xml"/>'), U, "'part.xml' does not exist", X
    ),
    Case("MJCF include cycle", including_itself, U, "'part.xml' is included twice", X),
    Case("MJCF include depth", including_depth, U, "deeper than 200", X),
    Case("MJCF plugin", mjcf(before='<extension><plugin plugin="x"/></extension>'), U, "<extension>", X),
    Case("MJCF geom plugin", mjcf('<geom type="sdf"><plugin instance="x"/></geom>'), U, "<plugin>", X),
    Case("MJCF flexcomp", mjcf('<flexcomp name="f" type="grid" count="9 9 9"/>'), U, "<flexcomp>", X),
    Case(
        "MJCF flexcomp count", mjcf('<flexcomp name="f" count="1000000 9 9"/>'), U, "count='1000000 9 9'", X
    ),
    Case("MJCF hfield rows", mjcf(before=HFIELD), U, "nrow='1000000000'", X),
    Case("MJCF texture size", mjcf(before='<asset><texture width="99999999"/></asset>'), U, "width", X),
    Case(
        "MJCF replicate",
        mjcf('<replicate count="1000000000"><geom size=".1"/></replicate>'),
        U,
        "count='1000000000'",
        X,
    ),
    Case(
        "MJCF nested replicates",
        mjcf('<replicate count="900">' * 3 + '<geom size=".1"/>' + "</replicate>" * 3),
        U,
        "bodies, geoms and sites",
        X,
    ),
    Case(
        "MJCF replicated joints",
        mjcf('<replicate count="600"><body><joint/><geom size=".1"/></body></replicate>'),
        U,
        "601 joints; the most is 500",
        X,
    ),
    Case(
        "MJCF default classes",
        mjcf(before="<default>" + "".join(f'<default class="c{i}"/>' for i in range(30_000)) + "</default>"),
        U,
        "<default> elements; the most is 1000",
        X,
    ),
    Case(
        "MJCF many mesh files",
        mjcf(before="".join(OUT.format("mesh", f"{i}.stl") for i in range(15_000))),
        U,
        "15000 <asset> elements",
        X,
    ),
    Case("MJCF endless attribute", mjcf(f'<body pos="{"1 " * 4_000_000}"/>'), U, "longer than", X),
    Case("MJCF NaN pose", mjcf('<body pos="0 nan 0"/>'), U, "pos='0 nan 0'", X),
    Case("MJCF NaN by another name", mjcf('<body pos="0 nan(7) 0"/>'), U, "nan(7)", X),
    Case("MJCF infinite range", mjcf(joint_='name="elbow" range="0 inf"'), U, "'elbow'", X),
    Case("MJCF overflow", mjcf('<body pos="0 1e999 0"/>'), U, "1e999", X),
    Case("MJCF lower above upper", mjcf(joint_='name="elbow" range="2 1"'), U, "elbow", X),
    Case("MJCF zero axis", mjcf(joint_='name="elbow" axis="0 0 0"'), U, "elbow", X),
    Case("MJCF negative mass", mjcf('<body name="b"><geom size=".1" mass="-1"/></body>'), U, "mass", X),
    Case(
        "MJCF negative inertia", mjcf(f'<body name="b"><joint/>{EXPLICIT.format("1 1 -1")}</body>'), U, "b", X
    ),
    Case("MJCF triangle", mjcf(f'<body name="b"><joint/>{EXPLICIT.format("1 1 9")}</body>'), U, "A + B", X),
    Case("MJCF duplicate bodies", mjcf('<body name="hand"/>'), U, "hand", X),
    Case("MJCF unknown element", mjcf("<nonsense/>"), U, "nonsense", X),
    Case("MJCF 4,000 bodies", nested_mjcf(4000), U, "deeper than 200", X),
    Case("MJCF flat bodies", mjcf('<body><joint/><geom size=".1"/></body>' * 4000), U, "4001 joints", X),
    Case("MJCF unknown tip", mjcf(), UnknownName, "'nose'", X, tip="nose"),
    Case("MJCF nothing moves", "<mujoco/>", U, "no joint moves", X),
    Case("MJCF free base", mjcf(joint_='name="elbow" type="free"'), UnsupportedJoint, "'elbow'", X),
    Case(
        "MJCF junk mesh",
        lambda path: (
            path.write_text(
                mjcf('<geom type="mesh" mesh="m"/>', '<asset><mesh name="m" file="m.stl"/></asset>')
            ),
            (path.parent / "m.stl").write_bytes(bytes(range(256)) * 99),
        ),
        U,
        "m.stl",
        X,
    ),
    Case("MJCF keyframe", mjcf(after='<keyframe><key qpos="1 2 3 4 5 6"/></keyframe>'), U, "key", X),
]
