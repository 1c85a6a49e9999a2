# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Write a `RobotData` as SDF, and note elements that SDF cannot express."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np
from lxml import etree

from hrpsim.common.errors import ModelError
from hrpsim.model.readers import robot_data
from hrpsim.model.readers.robot_data import (
    WORLD_LINK,
    JointData,
    LinkData,
    Notes,
    ShapeData,
    free_name,
    note_unwritten,
)
from hrpsim.model.readers.urdf_writer import exact_text, exact_texts, moments_of, rpy_of
from hrpsim.model.shapes.placement import IDENTITY, Placement

MeshUri = Callable[[robot_data.MeshData | robot_data.MeshFile], str]
_VERSION, _WITH_MIMICS = "1.9", "1.11"
_TYPES = {
    "revolute": "revolute",
    "continuous": "continuous",
    "prismatic": "prismatic",
    "fixed": "fixed",
}
_LOOPS = {"fixed": "fixed", "ball": "ball", "hinge": "revolute", "slider": "prismatic"}
_NO_LIMIT = "1e16"
_FRICTION = re.compile(r"friction_([0-9.e+-]+)")


def write_sdf(robot: robot_data.RobotData, mesh_uri: MeshUri) -> tuple[str, list[str]]:
    """Return the text of an SDF with one model, and lines on elements that are not written.

    A link without mass that is fixed to another link becomes a <frame>, and the other link gets the
    shapes. In names, "::" becomes "__".

    Args:
        robot: the robot.
        mesh_uri: returns the URI of each mesh.

    Raises:
        ModelError: a joint has a type that SDF does not have.
    """
    writer = _Writer(robot, mesh_uri)
    try:
        root = writer.document()
    except ValueError as cause:
        raise ModelError(
            f"robot {robot.name!r}: a name cannot be written to SDF: {cause}"
        ) from cause
    return etree.tostring(root, pretty_print=True, encoding="unicode"), writer.notes.lines()


def _name(name: str) -> str:
    return name.replace("::", "__")


class _Writer:
    def __init__(self, robot: robot_data.RobotData, mesh_uri: MeshUri) -> None:
        self.robot, self.mesh_uri, self.notes = robot, mesh_uri, Notes()
        self.above = robot.joints_above()
        self.frames = {name for name in robot.links if self._is_frame(name)}
        self.joint_names = self._names_of_joints()

    def _names_of_joints(self) -> dict[str, str]:
        """Return the names of joints and connections. No link or frame may have the same name."""
        taken = {_name(name) for name in self.robot.links}
        result = {}
        for name in (*self.robot.joints, *(loop.name for loop in self.robot.connections)):
            result[name] = valid_name = _name(name)
            if valid_name in taken:
                result[name] = free_name(f"{valid_name}_joint", taken)
                why = "called NAME_joint: no joint of SDF has the name of a link"
                self.notes.add("joint with the name of a link", why, name)
            taken.add(result[name])
        return result

    def _is_frame(self, name: str) -> bool:
        joint = self.above.get(name)
        is_fixed = joint is not None and joint.type == "fixed" and joint.parent != WORLD_LINK
        return is_fixed and self.robot.links[name].inertial is None

    def document(self) -> Any:
        """Return the root element."""
        robot = self.robot
        has_mimics = any(joint.mimic is not None for joint in robot.joints.values())
        root = etree.Element("sdf", version=_WITH_MIMICS if has_mimics else _VERSION)
        model = etree.SubElement(root, "model", name=_name(robot.name))
        for link in robot.links.values():
            if link.name == WORLD_LINK == robot.root:
                continue
            if link.name in self.frames:
                parent = _name(self.above[link.name].parent)
                frame = etree.SubElement(model, "frame", name=_name(link.name), attached_to=parent)
                _pose(frame, self.above[link.name].origin)
            else:
                self._link(model, link)
        for joint in robot.joints.values():
            if joint.child not in self.frames and joint.type != "floating":
                self._joint(model, joint)
        for loop in robot.connections:
            self._loop(model, loop)
        note_unwritten(robot, robot.sampled_sensors, self.notes, "SDF has none")
        return root

    def _link(self, model: Any, link: LinkData) -> None:
        element = etree.SubElement(model, "link", name=_name(link.name))
        if joint := self.above.get(link.name):
            parent = "" if joint.parent == WORLD_LINK else _name(joint.parent)
            _pose(element, joint.origin, parent)
        self._inertial(element, link)
        if link.gravity_compensation == 1.0:
            _text(element, "gravity", "false")
        elif link.gravity_compensation:
            self.notes.add("gravity compensation, in part", "SDF has none or all", link.name)
        for name, placement in self._carried(link.name):
            carried = self.robot.links[name]
            for k, shape in enumerate(carried.visuals):
                label = f"{_name(name)}_visual_{k}"
                _color(self._shape(element, "visual", label, shape, placement), shape)
            for k, shape in enumerate(carried.collisions):
                label = f"{_name(name)}_{k}"
                solid = self._shape(element, "collision", label, shape, placement)
                self._surface(solid, shape.material or carried.material)
            for sensor in self._sensors_of(name, "imu"):
                _pose(self._sensor(element, sensor), placement.then(sensor.placement))
            for sensor in self._sensors_of(name, "force_torque"):
                if name in self.frames:
                    self.notes.add("force_torque at a fixed frame", "not written", sensor.name)

    def _sensors_of(self, link: str, kind: str) -> list[robot_data.SensorData]:
        return [
            sensor for sensor in self.robot.sensors if (sensor.link, sensor.kind) == (link, kind)
        ]

    def _carried(self, link: str) -> list[tuple[str, Placement]]:
        """Return a link and the massless links fixed to the link, with placements in the link."""
        result = [(link, IDENTITY)]
        for name, placement in result:
            for joint in self.robot.joints.values():
                if joint.parent == name and joint.child in self.frames:
                    result.append((joint.child, placement.then(joint.origin)))
        return result

    def _inertial(self, element: Any, link: LinkData) -> None:
        mass, center, moments = link.inertial or (0.0, np.zeros(3), np.zeros((3, 3)))
        if not mass:
            self.notes.add("link without mass", "written so. Gazebo wants a mass", link.name)
        inertial = etree.SubElement(element, "inertial")
        _pose(inertial, Placement(np.eye(3), center))
        _numbers(inertial, mass=mass)
        _numbers(etree.SubElement(inertial, "inertia"), **moments_of(moments))

    def _shape(self, link: Any, tag: str, name: str, shape: ShapeData, placement: Placement) -> Any:
        element = etree.SubElement(link, tag, name=name)
        _pose(element, placement.then(shape.placement))
        geometry = etree.SubElement(etree.SubElement(element, "geometry"), shape.kind)
        if shape.kind == "mesh":
            assert shape.mesh is not None
            _text(geometry, "uri", self.mesh_uri(shape.mesh))
            if isinstance(shape.mesh, robot_data.MeshFile) and shape.mesh.scale != (1.0, 1.0, 1.0):
                _text(geometry, "scale", exact_text(shape.mesh.scale))
        elif shape.kind == "box":
            _text(geometry, "size", exact_text(shape.size))
        else:
            _text(geometry, "radius", exact_text(shape.size[:1]))
            if shape.kind != "sphere":
                _text(geometry, "length", exact_text(shape.size[1:]))
        return element

    def _surface(self, collision: Any, material: str | None) -> None:
        if material is None:
            return
        match = _FRICTION.fullmatch(material)
        if match is None:
            self.notes.add("material", "SDF has friction, and materials have pairs", material)
            return
        friction = etree.SubElement(etree.SubElement(collision, "surface"), "friction")
        ode = etree.SubElement(friction, "ode")
        for tag in ("mu", "mu2"):
            _text(ode, tag, match[1])

    def _joint(self, model: Any, joint: JointData) -> None:
        if joint.type not in _TYPES:
            self.robot.fail(joint, f"SDF has no joint of the type {joint.type!r}")
        is_free = joint.lower == -math.inf and joint.upper == math.inf
        kind = "continuous" if joint.type == "revolute" and is_free else joint.type
        name = self.joint_names[joint.name]
        element = _joint_element(model, name, _TYPES[kind], joint.parent, joint.child)
        for sensor in self._sensors_of(joint.child, "force_torque"):
            self._wrench(element, sensor)
        if kind != "fixed":
            _axis(element, joint, self.joint_names)
            self._note_joint(joint)

    def _wrench(self, joint: Any, sensor: robot_data.SensorData) -> None:
        if np.any(sensor.placement.p):
            self.notes.add("place of a force_torque", "SDF has the joint's", sensor.name)
        tag = self._sensor(joint, sensor)
        _pose(tag, Placement(sensor.placement.R, np.zeros(3)))
        wrench = etree.SubElement(tag, "force_torque")
        _text(wrench, "frame", "sensor")
        ways = ("child_to_parent", "parent_to_child")
        _text(wrench, "measure_direction", ways[sensor.reversed])

    def _sensor(self, owner: Any, sensor: robot_data.SensorData) -> Any:
        element = etree.SubElement(owner, "sensor", name=_name(sensor.name), type=sensor.kind)
        if sensor.rate:
            _numbers(element, update_rate=sensor.rate)
        if any(sensor.noise) or any(sensor.bias) or any(sensor.bias_mean) or sensor.latency:
            self.notes.add("noise and latency of a sensor", "not written", sensor.name)
        return element

    def _loop(self, model: Any, loop: robot_data.ConnectionData) -> None:
        kind = _LOOPS.get(str(loop.kind))
        if kind is None:
            self.notes.add(f"connection {loop.kind}", "SDF has none", loop.name)
            return
        element = _joint_element(model, self.joint_names[loop.name], kind, *loop.links)
        _pose(element, loop.frames[1])
        if kind in ("revolute", "prismatic"):
            _text(etree.SubElement(element, "axis"), "xyz", "0 0 1")

    def _note_joint(self, joint: JointData) -> None:
        if joint.ball:
            self.notes.add("part of a ball joint", robot_data.BALL_AS_HINGES, joint.name)
        properties = {
            "rotor inertia of a joint": joint.rotor_inertia,
            "gains of a joint": joint.gains,
            "actuator of a joint": joint.actuator,
        }
        for property_name, value in properties.items():
            if value:
                self.notes.add(property_name, "SDF has none", joint.name)


def _joint_element(model: Any, name: str, kind: str, parent: str, child: str) -> Any:
    element = etree.SubElement(model, "joint", name=name, type=kind)
    _text(element, "parent", _name(parent))
    _text(element, "child", _name(child))
    return element


def _text(element: Any, tag: str, text: str) -> None:
    etree.SubElement(element, tag).text = text


def _numbers(element: Any, **numbers: float) -> None:
    """Add a child for each number."""
    for tag, text in exact_texts(**numbers).items():
        _text(element, tag, text)


def _color(visual: Any, shape: ShapeData) -> None:
    if shape.color is not None:
        material = etree.SubElement(visual, "material")
        for tag in ("ambient", "diffuse"):
            _text(material, tag, exact_text(shape.color))


def _pose(element: Any, placement: Placement, relative_to: str = "") -> None:
    is_turned = not np.array_equal(placement.R, np.eye(3))
    angles = rpy_of(placement.R) if is_turned else (0.0, 0.0, 0.0)
    pose = etree.SubElement(element, "pose")
    pose.text = exact_text((*placement.p, *angles))
    if relative_to:
        pose.set("relative_to", relative_to)


def _axis(element: Any, joint: JointData, names: dict[str, str]) -> None:
    """Add the <axis> of a joint with one coordinate, given the names of joints in the file."""
    axis = etree.SubElement(element, "axis")
    _text(axis, "xyz", exact_text(joint.axis))
    limit = etree.SubElement(axis, "limit")
    for tag, bound in (("lower", joint.lower), ("upper", joint.upper)):
        sign = "-" if bound < 0.0 else ""
        _text(limit, tag, sign + _NO_LIMIT if math.isinf(bound) else exact_text([bound]))
    stated = {"effort": joint.effort, "velocity": joint.velocity}
    _numbers(limit, **{tag: value for tag, value in stated.items() if 0.0 < value < math.inf})
    dynamics = {"damping": joint.damping, "friction": joint.friction}
    dynamics |= {"spring_stiffness": joint.stiffness, "spring_reference": joint.rest}
    element = etree.SubElement(axis, "dynamics")
    _numbers(element, **{tag: value for tag, value in dynamics.items() if value})
    if joint.mimic is not None:
        leader, ratio, offset = joint.mimic
        mimic = etree.SubElement(axis, "mimic", joint=names[leader])
        _numbers(mimic, multiplier=ratio, offset=offset, reference=0.0)
