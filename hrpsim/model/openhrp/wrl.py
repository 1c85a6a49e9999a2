# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""OpenHRP's robots: Humanoid, Joint, Segment and sensor nodes of a VRML97 file."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

from hrpsim import limits
from hrpsim.errors import ModelError, unknown_name
from hrpsim.model.formats.robot_data import Notes, RobotData, ShapeData
from hrpsim.model.openhrp.assembly import Part, affine, assembled, placed_mass, placement_of
from hrpsim.model.openhrp.vrml import Node, Vrml
from hrpsim.model.openhrp.vrml_shapes import GROUPS, parsed, transform_of, vrml_shapes

_TYPES = {"rotate": "revolute", "slide": "prismatic", "free": "free", "fixed": "fixed"}
_AXES = {"X": (1.0, 0.0, 0.0), "Y": (0.0, 1.0, 0.0), "Z": (0.0, 0.0, 1.0)}
_SENSORS = {"ForceSensor": "force_torque", "Gyro": "imu", "AccelerationSensor": "imu"}
_DEVICES = (
    *("VisionSensor", "RangeSensor", "PressureSensor", "PhotoInterrupter", "TorqueSensor"),
    *("SpotLight", "DirectionalLight", "PointLight"),
)
# Mouse handles of OpenHRP's prototypes: their bodies rotate their children there and back.
_HANDLES = ("CylinderSensorX", "CylinderSensorY", "CylinderSensorZ")


def read_wrl(text: str, path: Path) -> RobotData:
    """Return the robot of a VRML97 file; ModelError names file, line and node."""
    notes = Notes()
    file = parsed(text, path, notes)
    humanoids = [node for node in file.nodes if node.type == "Humanoid"]
    if len(humanoids) != 1:
        raise ModelError(
            f"{path}: one Humanoid node is needed, and there are {len(humanoids)}: a .wrl without"
            " one is a shape, not a robot"
        )
    reader = _Reader(file, notes)
    humanoid = humanoids[0]
    roots = [node for node in humanoid.nodes("humanoidBody") if node.type == "Joint"]
    if len(roots) != 1:
        file.fail(humanoid, f"humanoidBody must hold one Joint, and holds {len(roots)}")
    reader.joint(roots[0], None, 0)
    name = humanoid.name or path.stem
    return assembled(name, reader.parts, [], reader.notes, lambda cause: file.fail(humanoid, cause))


class _Reader:
    """Collects the parts of a robot."""

    def __init__(self, file: Vrml, notes: Notes):
        self.file, self.notes = file, notes
        self.parts: list[Part] = []
        self._segments: dict[str, Node] = {}

    def joint(self, node: Node, parent: str | None, depth: int) -> None:
        """Add the part of a Joint and those beneath it."""
        file = self.file
        if len(self.parts) >= limits.LINKS:
            file.fail(node, f"over {limits.LINKS} links (LINKS)")
        if depth > limits.VRML_DEPTH:
            file.fail(node, f"joints are more than {limits.VRML_DEPTH} deep (VRML_DEPTH)")
        kind = file.text(node, "jointType")
        if kind in ("crawler", "pseudoContinuousTrack"):
            self.notes.add(f"Joint of type {kind}", "fixed")
            kind = "fixed"
        if kind not in _TYPES:
            file.fail(node, unknown_name("jointType", kind, _TYPES))
        name = node.name or file.text(node, "name") or f"joint{len(self.parts)}"
        T = transform_of(file, node)
        part = Part(name, parent, _TYPES[kind], placement_of(T), self._axis(node, kind))
        self._describe(node, part)
        self.parts.append(part)
        self._content(node, part, np.eye(4), depth)

    def _axis(self, node: Node, kind: str) -> np.ndarray:
        given = node.fields.get("jointAxis", "Z")
        if isinstance(given, str):
            if given.upper() in _AXES:
                return np.array(_AXES[given.upper()])
            if kind in ("rotate", "slide"):
                self.file.fail(node, unknown_name("jointAxis", given, _AXES))
            return np.array(_AXES["Z"])
        axis = self.file.numbers(node, "jointAxis", 3)
        if axis is None or not axis.any():
            if kind in ("rotate", "slide"):
                self.file.fail(node, "jointAxis is zero")
            return np.array(_AXES["Z"])
        return axis

    def _describe(self, node: Node, part: Part) -> None:
        file = self.file
        part.joint_id = int(max(min(file.number(node, "jointId", -1.0), 1e6), -1.0))
        part.lower = file.number(node, "llimit", -math.inf)
        part.upper = file.number(node, "ulimit", math.inf)
        if part.lower > part.upper:
            file.fail(node, f"llimit {part.lower:g} is above ulimit {part.upper:g}")
        rates = [file.number(node, key, math.inf) for key in ("lvlimit", "uvlimit")]
        part.velocity = max(map(abs, rates))
        gear, rotor = file.number(node, "gearRatio", 1.0), file.number(node, "rotorInertia", 0.0)
        stated = file.number(node, "equivalentInertia", 0.0)
        part.rotor_inertia = stated or gear * gear * rotor
        if part.rotor_inertia < 0.0:
            file.fail(node, "rotorInertia is negative")
        current = file.numbers(node, "climit")
        if current is not None:
            torque = file.number(node, "torqueConst", 1.0)
            part.effort = float(np.abs(current).max()) * abs(torque * gear)

    def _content(self, node: Node, part: Part, T: np.ndarray, depth: int) -> None:
        """Read the children of a Joint, a Segment or a group in these, under a transform."""
        file = self.file
        if depth > limits.VRML_DEPTH:
            file.fail(node, f"nodes are more than {limits.VRML_DEPTH} deep (VRML_DEPTH)")
        for child in node.nodes("children", "humanoidBody"):
            if child.type == "Joint":
                if not np.array_equal(T, np.eye(4)):
                    file.fail(child, "a Joint must not be within a Transform: move that into it")
                self.joint(child, part.name, depth + 1)
            elif child.type == "Segment":
                self._segment(child, part, T, depth)
            elif child.type in _SENSORS:
                R = file.rotation(child, "rotation")
                p = _or(file.numbers(child, "translation", 3), (0.0, 0.0, 0.0))
                placement = placement_of(T @ affine(R, np.array(p)))
                label = child.name or f"{part.name}_{child.type}"
                part.sensors.append((label, _SENSORS[child.type], placement))
                self._content(child, part, T, depth + 1)
            elif child.type in _DEVICES:
                self.notes.add(child.type, "not simulated")
            elif child.type == "Surface":
                for key, shapes in (("visual", part.visuals), ("collision", part.collisions)):
                    shapes += self._shapes(child.nodes(key), T)
            elif child.type in _HANDLES:
                self._content(child, part, T, depth + 1)
            elif self._holds_parts(child):
                if child.type not in GROUPS:
                    file.fail(
                        child,
                        f"a {child.type} holds joints, segments or sensors, and what it does to "
                        f"them is not known; known are {', '.join((*GROUPS, *_HANDLES))}",
                    )
                self._content(child, part, T @ transform_of(file, child), depth + 1)
            else:
                part.shapes += self._shapes([child], T)

    def _segment(self, node: Node, part: Part, T: np.ndarray, depth: int) -> None:
        file = self.file
        mass = file.number(node, "mass", 0.0)
        if mass < 0.0:
            file.fail(node, f"the mass {mass:g} kg is negative")
        if node.name and self._segments.setdefault(node.name, node) is not node:
            self.notes.add(f"a second Segment {node.name!r}, line {node.line}", "both have mass")
        com = np.array(_or(file.numbers(node, "centerOfMass", 3), (0.0, 0.0, 0.0)))
        moments = np.array(_or(file.numbers(node, "momentsOfInertia", 9), np.zeros(9)))
        inertia = moments.reshape(3, 3)
        if mass or inertia.any():
            part.masses.append(placed_mass(mass, com, 0.5 * (inertia + inertia.T), T))
        self._content(node, part, T, depth + 1)

    def _holds_parts(self, node: Node, depth: int = 0) -> bool:
        """Return whether a node holds joints, segments or sensors, and not only shapes."""
        kinds = ("Joint", "Segment", "Surface", *_SENSORS, *_DEVICES, *_HANDLES)
        return depth < limits.VRML_DEPTH and any(
            child.type in kinds or self._holds_parts(child, depth + 1)
            for child in node.nodes("children")
        )

    def _shapes(self, nodes: list[Node], T: np.ndarray) -> list[ShapeData]:
        return vrml_shapes(self.file, nodes, T, self.notes)


def _or(value, default):
    return default if value is None else value
