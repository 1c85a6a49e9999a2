# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Choreonoid's robots: the links of a .body file (YAML)."""

from __future__ import annotations

import math
from pathlib import Path
from typing import NoReturn

import numpy as np

from hrpsim import limits
from hrpsim.errors import ModelError, shown_value, unknown_name
from hrpsim.model.formats.robot_data import LoopData, RobotData
from hrpsim.model.openhrp.assembly import NoteList, Part, assembled
from hrpsim.model.openhrp.body_elements import Elements, YamlFiles
from hrpsim.model.openhrp.geometry import affine
from hrpsim.model.openhrp.values import Values
from hrpsim.model.shapes.placement import Placement, rotation_with_z_along
from hrpsim.model.urdf.resources import Resources
from hrpsim.yaml_text import parse_yaml

_TYPES = {
    "revolute": "revolute",
    "prismatic": "prismatic",
    "slide": "prismatic",
    "free": "free",
    "fixed": "fixed",
}
_TRACKS = ("pseudo_continuous_track", "pseudoContinuousTrack")
_AXES = {"X": (1.0, 0.0, 0.0), "Y": (0.0, 1.0, 0.0), "Z": (0.0, 0.0, 1.0)}


def read_body(text: str, path: Path, resources: Resources) -> RobotData:
    """Return the robot of a .body file; ModelError names file, link and what is wrong."""
    yaml = parse_yaml(text, str(path), ModelError, repeated=True)
    content = yaml.data
    if not isinstance(content, dict) or not isinstance(content.get("links"), list):
        raise ModelError(f"{path}: a .body file needs `links`, a list; is it another YAML file?")
    return _Reader(content, path, resources, YamlFiles(yaml)).robot()


class _Reader:
    """Reads the links of one file."""

    def __init__(self, content: dict, path: Path, resources: Resources, files: YamlFiles):
        self.path, self.notes = path, NoteList()
        self.top = Values(content, self._fail_at(""))
        unit = self.top.text("angle_unit", default="degree")
        if unit not in ("degree", "radian"):
            self.top.fail(f"angle_unit {shown_value(unit)}: degree or radian")
        self.to_radian = math.pi / 180.0 if unit == "degree" else 1.0
        self.elements = Elements(resources, self.to_radian, self.notes, files)
        if len(content["links"]) > limits.LINKS:
            self.top.fail(f"over {limits.LINKS} links (LINKS)")
        self.links: dict[str, Values] = {}
        for k, entry in enumerate(content["links"]):
            if not isinstance(entry, dict):
                self.top.fail(f"links[{k}] must be a mapping")
            label = str(entry.get("name", f"links[{k}]"))
            if label in self.links:
                self.top.fail(f"two links are called {shown_value(label)}: rename one")
            if str(entry.get("type", "")) == "SubBody":
                self.top.fail(f"links[{k}] is a SubBody of another file, which is not read")
            self.links[label] = Values(entry, self._fail_at(f"link {shown_value(label)}: "))

    def robot(self) -> RobotData:
        """Return the robot of all links."""
        parents = self._parents()
        order = self._order(parents)
        parts = [self._part(name, parents.get(name)) for name in order]
        pose = self.top.numbers("standard_pose")
        angles = [] if pose is None else (pose * self.to_radian).tolist()
        name = self.top.text("name", default=self.path.stem) or self.path.stem
        robot = assembled(name, parts, angles, self.notes, self.top.fail)
        robot.loops = self._loops(robot)
        if self.top.given("collision_detection_rules", "collision_detection"):
            self.notes.add("collision_detection", "adjacent links alone are left out")
        robot.notes = self.notes.lines()
        return robot

    def _fail_at(self, where: str):
        def fail(cause: str) -> NoReturn:
            raise ModelError(f"{self.path}: {where}{cause}")

        return fail

    def _parents(self) -> dict[str, str]:
        """Return the link above each, which it or its parent's child_links name."""
        found: dict[str, str] = {}
        for name, link in self.links.items():
            parent = link.text("parent", default="")
            if parent:
                found[name] = parent
            for child in link.items("child_links"):
                found.setdefault(str(child), name)
        for name, parent in found.items():
            for other in (name, parent):
                if other not in self.links:
                    self.top.fail(unknown_name("link", other, self.links))
        return found

    def _order(self, parents: dict[str, str]) -> list[str]:
        """Return the links, each after its parent, the root first."""
        root = self.top.text("root_link", default="")
        roots = [name for name in self.links if name not in parents]
        if root and root not in self.links:
            self.top.fail(unknown_name("root_link", root, self.links))
        if len(roots) != 1 or (root and root != roots[0]):
            listed = ", ".join(map(repr, roots[:6])) or "none"
            self.top.fail(f"one link without a parent is needed, the root_link; there is {listed}")
        children: dict[str, list[str]] = {}
        for name, parent in parents.items():
            children.setdefault(parent, []).append(name)
        order = [roots[0]]
        for name in order:
            order += children.get(name, [])
        if len(order) < len(self.links):
            left = next(name for name in self.links if name not in order)
            self.top.fail(f"the parents of link {left!r} form a circle")
        return order

    def _part(self, name: str, parent: str | None) -> Part:
        link = self.links[name]
        kind = link.text("joint_type", default="fixed")
        if kind in _TRACKS:
            self.notes.add(f"joint_type {kind}", "fixed")
            kind = "fixed"
        if kind not in _TYPES:
            link.fail(unknown_name("joint_type", kind, _TYPES))
        if kind == "free" and parent is not None:
            link.fail("only the root link can be free")
        p, R = self._place(link)
        part = Part(name, parent, _TYPES[kind], Placement(R, p), self._axis(link))
        part.joint_id = int(max(min(link.number("joint_id", default=-1.0), 1e6), -1.0))
        if part.type in ("revolute", "prismatic"):
            self._limit(link, part)
        if self.links[name].given("joint_name"):
            self.notes.add("joint_name", "joints are called after their links")
        self._mass(link, part)
        self.elements.read(link, part)
        return part

    def _place(self, link: Values) -> tuple[np.ndarray, np.ndarray]:
        return link.translation("translation"), link.rotation("rotation", self.to_radian)

    def _axis(self, link: Values) -> np.ndarray:
        given = link.get("joint_axis")
        if isinstance(given, str):
            sign, letter = (-1.0 if given.startswith("-") else 1.0), given.lstrip("-").upper()
            if letter not in _AXES:
                link.fail(unknown_name("joint_axis", given, (*_AXES, "-X", "-Y", "-Z")))
            return sign * np.array(_AXES[letter])
        axis = link.numbers("joint_axis", count=3)
        if axis is not None and not axis.any():
            link.fail("joint_axis is zero")
        return np.array(_AXES["Z"]) if axis is None else axis

    def _limit(self, link: Values, part: Part) -> None:
        """Read ranges, the effort limit and the rotor."""
        scale = self.to_radian if part.type == "revolute" else 1.0
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
        for key in ("joint_spring", "joint_damper"):
            if link.given(key):
                self.notes.add(key, "not simulated")

    def _mass(self, link: Values, part: Part) -> None:
        mass = link.mass()
        if mass is not None:
            part.masses.append(mass)

    def _loops(self, robot: RobotData) -> list[LoopData]:
        """Return the extra joints that close loops."""
        found = []
        for k, entry in enumerate(self.top.items("extra_joints")):
            if not isinstance(entry, dict):
                self.top.fail(f"extra_joints[{k}] must be a mapping")
            loop = Values(entry, self._fail_at(f"extra_joints[{k}]: "))
            links = tuple(loop.text(key, default="") for key in ("link1_name", "link2_name"))
            for link in links:
                if link not in robot.links:
                    loop.fail(unknown_name("link", link, robot.links))
            kind = loop.text("joint_type", default="")
            if kind not in ("ball", "hinge", "fixed"):
                self.notes.add(f"extra joint {shown_value(kind)}", "not simulated")
                continue
            axis = loop.numbers("joint_axis", count=3)
            R = _frame_along(np.array(_AXES["Z"]) if axis is None else axis)
            frames = []
            for key in ("link1_local_pos", "link2_local_pos"):
                p = loop.numbers(key, count=3)
                T = affine(R, np.zeros(3) if p is None else p)
                frames.append(Placement(T[:3, :3], T[:3, 3]))
            label = loop.text("name", default="") or f"{links[0]}-{links[1]}"
            found.append(LoopData(label, kind, (links[0], links[1]), (frames[0], frames[1])))
        return found


def _frame_along(axis: np.ndarray) -> np.ndarray:
    """Return a rotation whose z axis is `axis`."""
    return rotation_with_z_along(axis) if axis.any() else np.eye(3)
