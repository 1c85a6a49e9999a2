# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Read Choreonoid's robots: the links of a .body file (YAML)."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import NoReturn

import numpy as np

from hrpsim.common import limits
from hrpsim.common.errors import ModelError, require_name, require_names, shown_value, unknown_name
from hrpsim.common.file_names import resolved
from hrpsim.common.foreign.text import read_text
from hrpsim.common.foreign.yaml_text import YamlText, parse_yaml
from hrpsim.model.readers.openhrp.assembly import LinkAssembly, affine, assembled, copied
from hrpsim.model.readers.openhrp.body_elements import Elements, YamlFiles
from hrpsim.model.readers.openhrp.body_values import Values
from hrpsim.model.readers.robot_data import ConnectionData, Notes, RobotData
from hrpsim.model.readers.urdf.joint_types import JOINT_TYPES, MOVING_TYPES
from hrpsim.model.readers.urdf.resolve_uris import Resources
from hrpsim.model.shapes.placement import IDENTITY, Placement, rotation_with_z_along

_TYPES = {name: kind for kind in JOINT_TYPES.values() for name in kind.body_names}
_TRACKS = ("pseudo_continuous_track", "pseudoContinuousTrack")
_AXES = {"X": (1.0, 0.0, 0.0), "Y": (0.0, 1.0, 0.0), "Z": (0.0, 0.0, 1.0)}
_LINKS = ("Link", "SubBody", "ContinuousTrack", "Skip")
_READ = {
    *("name", "type", "parent", "child_links", "translation", "rotation", "joint_id", "joint_type"),
    *("joint_axis", "joint_range", "joint_angle", "joint_displacement", "joint_velocity_range"),
    *("max_joint_velocity", "max_joint_effort", "joint_axis_inertia", "gear_ratio"),
    *("rotor_inertia", "mass", "center_of_mass", "inertia", "elements", "joint_name", "material"),
}
_READ_OF_SUB_BODY = {"uri", "prefix", "suffix", "device_prefix", "joint_id_offset"}
_MASS = ("mass", "center_of_mass", "inertia")


def read_body(text: str, path: Path, resources: Resources) -> RobotData:
    """Return the robot of a .body file. ModelError names file, link and cause."""
    yaml = parse_yaml(text, str(path), ModelError, repeated=True)
    return _Reader(yaml, path, resources, _Shared()).robot()


class _Shared:
    """State shared by the files of one robot: notes, and the files that are read or being read."""

    def __init__(self) -> None:
        self.notes = Notes()
        self.bodies: dict[Path, _Reader] = {}
        self.open: list[Path] = []


class _Reader:
    """Reads the links of one file, and the links of its part files (SubBody)."""

    def __init__(self, yaml: YamlText, path: Path, resources: Resources, shared: _Shared) -> None:
        content = yaml.data
        if not isinstance(content, dict) or not isinstance(content.get("links"), list):
            raise ModelError(
                f"{path}: is not a .body file, because it has no list `links`. Is it another YAML "
                "file?"
            )
        self.path, self.resources, self.shared = path, resources, shared
        self.notes = shared.notes
        self.top = Values(content, self._fail_at(""))
        unit = self.top.text("angle_unit", default="degree")
        if unit not in ("degree", "radian"):
            self.top.fail(f"angle_unit must be degree or radian, got {shown_value(unit)}")
        self.to_radian = math.pi / 180.0 if unit == "degree" else 1.0
        files = YamlFiles(yaml, self.notes)
        self.elements = Elements(resources, self.to_radian, self.notes, files)
        self.links: dict[str, LinkAssembly] = {}
        self.loops: list[ConnectionData] = []
        self._above: dict[str, str] = {}  # children, by the child_links of their parents
        shared.open.append(resolved(path))
        for k, entry in enumerate(content["links"]):
            if not isinstance(entry, dict):
                self.top.fail(f"links[{k}] must be a mapping")
            self._read(entry, f"links[{k}]")
        shared.open.pop()
        self._find_parents()
        self._read_loops()

    def robot(self) -> RobotData:
        """Return the robot of all links."""
        pose = self.top.numbers("standard_pose")
        angles = [] if pose is None else (pose * self.to_radian).tolist()
        name = self.top.text("name", default=self.path.stem) or self.path.stem
        if self.top.given("collision_detection_rules", "collision_detection"):
            self.notes.add("collision_detection", "adjacent links alone are left out")
        parts = self.parts()
        self._give_mass(parts)
        robot = assembled(name, parts, angles, self.notes, self.top.fail)
        robot.connections = self.loops
        return robot

    def parts(self) -> list[LinkAssembly]:
        """Return the links, each after its parent, beginning with the root."""
        root = self.top.text("root_link", default="")
        children: dict[str | None, list[str]] = {}
        for part in self.links.values():
            children.setdefault(part.parent, []).append(part.name)
        order = children.get(None, [])  # the root, and then the links below
        if root:
            require_name("root_link", root, self.links, self.top.fail)
        if len(order) != 1 or root not in ("", order[0]):
            listed = ", ".join(map(repr, order[:6])) or "none"
            self.top.fail(f"must have one link without a parent (the root_link), got {listed}")
        for name in order:
            order += children.get(name, [])
        if len(order) < len(self.links):
            left = next(name for name in self.links if name not in order)
            self.top.fail(f"the parents of link {left!r} form a circle")
        return [self.links[name] for name in order]

    def _give_mass(self, parts: list[LinkAssembly]) -> None:
        """Set the mass of moving links without a mass to Choreonoid's default."""
        still: set[str | None] = {None}
        for part in parts:
            if part.type == "fixed" and part.parent in still:
                still.add(part.name)
            elif not part.masses:
                part.masses = [(1.0, np.zeros(3), np.eye(3))]
                self.notes.add("link without mass", "1 kg and unit inertia, as in Choreonoid")

    def _fail_at(self, where: str):
        def fail(cause: str) -> NoReturn:
            raise ModelError(f"{self.path}: {where}{cause}")

        return fail

    def _read(self, entry: dict, label: str) -> None:
        label = str(entry.get("name", label))
        link = Values(entry, self._fail_at(f"link {shown_value(label)}: "))
        kind = link.text("type", default="Link")
        if kind == "Link":
            part = LinkAssembly(label, None, "fixed", IDENTITY, np.array(_AXES["Z"]))
            self._add(part)
            self._describe(link, part)
            mass = link.mass(of_all=not part.masses) if link.given(*_MASS) else None
            part.masses += [mass] if mass else []
        elif kind == "SubBody":
            self._take(link)
        elif kind == "ContinuousTrack":
            self.notes.add("ContinuousTrack", "left out")
        elif kind != "Skip":
            link.fail(unknown_name("type", kind, _LINKS))

    def _add(self, part: LinkAssembly) -> None:
        if part.name in self.links:
            self.top.fail(f"two links have the name {shown_value(part.name)}. Rename one")
        if len(self.links) >= limits.LINKS:
            self.top.fail(f"{limits.excess('LINKS', 'links')}")
        self.links[part.name] = part

    def _take(self, node: Values) -> None:
        """Add the links of another .body file.

        The node's other keys apply to the root of that file.
        """
        try:
            path = self.resources.locate(node.text("uri", default=""))
        except FileNotFoundError as cause:
            node.fail(f"uri: {cause}")
        known, where = self.shared.bodies, resolved(path)
        if where in self.shared.open:
            node.fail(f"uri: {path.name} is being read: files cannot include each other")
        if where not in known:
            text = read_text(path, ModelError, "YAML_SIZE")
            yaml = parse_yaml(text, str(path), ModelError, repeated=True)
            known[where] = _Reader(yaml, path, Resources(path.parent), self.shared)
        prefix, suffix = node.text("prefix", default=""), node.text("suffix", default="")
        device = node.text("device_prefix", default=prefix)
        offset = int(node.number("joint_id_offset", default=0.0))

        def named(name: str) -> str:
            return f"{prefix}{name}{suffix}"

        parts = [copied(part, named, device, offset) for part in known[where].parts()]
        for part in parts:
            self._add(part)
        self.loops += [
            replace(loop, name=named(loop.name), links=(named(loop.links[0]), named(loop.links[1])))
            for loop in known[where].loops
        ]
        masses = list(parts[0].masses)
        self._describe(node, parts[0])
        if node.given(*_MASS) or len(parts[0].masses) > len(masses):
            self.notes.add("mass of a SubBody", "the mass of the included file counts")
            parts[0].masses = masses

    def _describe(self, link: Values, part: LinkAssembly) -> None:
        """Read placement, joint and elements of a link. Missing values stay unchanged."""
        of_type = _READ_OF_SUB_BODY if link.given("uri") else set()
        link.note_unread(_READ | of_type, self.notes, "a link")
        part.parent = link.text("parent", default="") or part.parent
        for child in link.items("child_links"):
            self._above.setdefault(str(child), part.name)
        part.placement = self._placement(link, part.placement)
        readers = {
            "joint_type": ("type", self._joint_type),
            "joint_axis": ("axis", self._axis),
            "joint_id": ("joint_id", _joint_id),
            "material": ("material", _material),
        }
        for key, (name, read) in readers.items():
            if link.given(key):
                setattr(part, name, read(link))
        if part.type in MOVING_TYPES:
            self._limit(link, part)
        if link.given("joint_name"):
            self.notes.add("joint_name", "joints have the names of their links")
        self.elements.read(link, part)

    def _placement(self, link: Values, default: Placement) -> Placement:
        R, p = default
        if link.given("rotation"):
            R = link.rotation("rotation", self.to_radian)
        if link.given("translation"):
            p = link.translation("translation")
        return Placement(R, p)

    def _joint_type(self, link: Values) -> str:
        kind = link.text("joint_type", default="")
        if kind in _TRACKS:
            self.notes.add(f"joint_type {kind}", "fixed")
            kind = "fixed"
        require_name("joint_type", kind, _TYPES, link.fail)
        return _TYPES[kind].name

    def _find_parents(self) -> None:
        """Resolve the parents of links by name. Raise ModelError for unknown names."""
        for child, parent in self._above.items():
            require_name("link", child, self.links, self.top.fail)
            if self.links[child].parent is None:
                self.links[child].parent = parent
        for part in self.links.values():
            if part.parent is not None:
                require_name("link", part.parent, self.links, self.top.fail)

    def _axis(self, link: Values) -> np.ndarray:
        joint_axis = link.get("joint_axis")
        if isinstance(joint_axis, str):
            sign = -1.0 if joint_axis.startswith("-") else 1.0
            letter = joint_axis.lstrip("-").upper()
            if letter not in _AXES:
                link.fail(unknown_name("joint_axis", joint_axis, (*_AXES, "-X", "-Y", "-Z")))
            return sign * np.array(_AXES[letter])
        axis = link.numbers("joint_axis", count=3)
        if axis is not None and not axis.any():
            link.fail("joint_axis is zero")
        return np.array(_AXES["Z"]) if axis is None else axis

    def _limit(self, link: Values, part: LinkAssembly) -> None:
        """Read ranges, the effort limit, the rotor and the joint's initial position."""
        scale = self.to_radian if JOINT_TYPES[part.type].is_turn else 1.0
        part.lower, part.upper = (end * scale for end in link.bounds("joint_range"))
        if part.lower > part.upper:
            link.fail(f"joint_range: {part.lower:g} is above {part.upper:g}")
        rates = link.bounds("max_joint_velocity", "joint_velocity_range")
        part.velocity = max(abs(rate) for rate in rates) * scale
        part.effort = max(abs(effort) for effort in link.bounds("max_joint_effort"))
        stated = link.number("joint_axis_inertia", default=-1.0)
        gear = link.number("gear_ratio", default=1.0)
        rotor = link.number("rotor_inertia", default=0.0)
        part.rotor_inertia = stated if stated >= 0.0 else gear * gear * rotor
        if part.rotor_inertia < 0.0:
            link.fail("rotor_inertia is negative")
        part.start = self.to_radian * link.number("joint_angle", default=0.0)
        if link.given("joint_displacement"):
            part.start = scale * link.number("joint_displacement", default=0.0)

    def _read_loops(self) -> None:
        for k, entry in enumerate(self.top.items("extra_joints")):
            if not isinstance(entry, dict):
                self.top.fail(f"extra_joints[{k}] must be a mapping")
            loop = Values(entry, self._fail_at(f"extra_joints[{k}]: "))
            links = tuple(loop.text(key, default="") for key in ("link1_name", "link2_name"))
            require_names("link", links, self.links, loop.fail)
            kind = loop.text("joint_type", default="")
            if kind not in ("ball", "hinge", "fixed"):
                self.notes.add(f"extra joint {shown_value(kind)}", "not simulated")
                continue
            axis = loop.numbers("joint_axis", count=3)
            R = np.eye(3) if axis is None or not axis.any() else rotation_with_z_along(axis)
            frames = []
            for key in ("link1_local_pos", "link2_local_pos"):
                p = loop.numbers(key, count=3)
                T = affine(R, np.zeros(3) if p is None else p)
                frames.append(Placement(T[:3, :3], T[:3, 3]))
            label = loop.text("name", default="") or f"{links[0]}-{links[1]}"
            self.loops.append(
                ConnectionData(label, kind, None, (links[0], links[1]), (frames[0], frames[1]))
            )


def _joint_id(link: Values) -> int:
    return int(max(min(link.number("joint_id", default=-1.0), 1e6), -1.0))


def _material(link: Values) -> str | None:
    return link.text("material", default="") or None
