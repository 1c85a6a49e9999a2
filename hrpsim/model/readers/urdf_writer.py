# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Write URDF text of a `RobotData` with <hrpsim> elements, and read URDF of any version.

Numbers are written exactly. Only the length of a capsule may change by rounding, because a capsule
is written as the cylinder around it. Versions 1.1 and 1.2 are read by the rules of urdfdom 6.
Version 1.1 adds <origin quat_xyzw>. In version 1.2 a limit may omit effort and velocity, but must
have lower and upper. <capsule> of these versions is accepted in any version.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable
from functools import partial
from operator import attrgetter

import numpy as np
from lxml import etree

from hrpsim.common.errors import ModelError
from hrpsim.model.readers import robot_data
from hrpsim.model.readers.urdf.document import Document
from hrpsim.model.readers.urdf.joint_types import JOINT_TYPES
from hrpsim.model.shapes.placement import Placement, rotation_matrix

# In place of the missing limit of a joint with one position limit, as other exporters write it.
_NO_LIMIT = sys.float_info.max

_MOMENTS = {"ixx": (0, 0), "ixy": (0, 1), "ixz": (0, 2)}
_MOMENTS |= {"iyy": (1, 1), "iyz": (1, 2), "izz": (2, 2)}
MeshUri = Callable[[robot_data.MeshData | robot_data.MeshFile], str]
VERSIONS = ("1.0", "1.1", "1.2")


def write_urdf(robot: robot_data.RobotData, mesh_uri: MeshUri | None = None) -> str:
    """Return URDF text. `mesh_uri` returns the URI of each mesh, by default the URI of the file.

    Raises ModelError for a name that XML cannot contain.
    """
    try:
        root = _robot(robot, mesh_uri or attrgetter("uri"))
    except ValueError as cause:
        raise ModelError(
            f"robot {robot.name!r}: a name cannot be written to URDF: {cause}"
        ) from cause
    return etree.tostring(root, pretty_print=True, encoding="unicode")


def rpy_of(R: np.ndarray) -> tuple[float, float, float]:
    """Return roll, pitch and yaw of a rotation (3, 3), accurate near pitch = 90 degrees too.

    Near 90 degrees the yaw is ill-determined. The roll is then computed from the rotation that
    remains after the yaw is removed.

    Returns:
        (roll, pitch, yaw) [rad].
    """
    yaw = math.atan2(R[1, 0], R[0, 0])
    c, s = math.cos(yaw), math.sin(yaw)
    pitch = math.atan2(-R[2, 0], c * R[0, 0] + s * R[1, 0])
    roll = math.atan2(s * R[0, 2] - c * R[1, 2], c * R[1, 1] - s * R[0, 1])
    return roll, pitch, yaw


def _robot(robot: robot_data.RobotData, mesh_uri: MeshUri):
    root = etree.Element("robot", name=robot.name)
    writers: tuple[tuple[Callable, Iterable], ...] = (
        (partial(_link, mesh_uri=mesh_uri), robot.links.values()),
        (_joint, robot.joints.values()),
        (_joint_extension, robot.joints.values()),
        (_tendon, robot.tendons),
        (_link_extension, robot.links.values()),
        (_sensor, robot.sensors),
        (_sampled_sensor, robot.sampled_sensors),
        (_connection, robot.connections),
    )
    for write, parts in writers:
        for part in parts:
            write(root, part)
    for a, b in robot.apart:
        _extension(root, a, "no_collision", to=b)
    for key in robot.keyframes:
        _keyframe(root, robot.root, key)
    if robot.commanded:
        control = etree.SubElement(root, "ros2_control", name=robot.name, type="system")
        for name, interfaces in robot.commanded.items():
            tag = etree.SubElement(control, "joint", name=name)
            for interface in interfaces:
                etree.SubElement(tag, "command_interface", name=interface)
    return root


def _sensor(root, sensor: robot_data.SensorData) -> None:
    tag = _extension(root, sensor.link, "sensor", name=sensor.name, type=sensor.kind)
    for key, value in (("latency", sensor.latency), ("rate", sensor.rate)):
        if value:
            tag.attrib.update(exact_texts(**{key: value}))
    if sensor.tare:
        tag.set("tare", "true")
    _origin(tag, sensor.placement)


def _sampled_sensor(root, sensor: robot_data.SampledSensorData) -> None:
    settings = {key: _plain(value) for key, value in sensor.settings.items()}
    attributes = {"name": sensor.name, "type": sensor.kind, **settings}
    _origin(_extension(root, sensor.link, "sensor", **attributes), sensor.placement)


def _plain(value: str | float | bool) -> str:
    """Return the text of a setting in an attribute."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else exact_text([value])


def unwritten_in_urdf(robot: robot_data.RobotData) -> list[str]:
    """Return lines on the elements of a robot that `write_urdf` does not write."""
    notes = robot_data.Notes()
    for sensor in robot.sensors:
        if any((*sensor.noise, *sensor.bias, *sensor.bias_mean)):
            notes.add("noise of a sensor", "not written", sensor.name)
        if sensor.reversed:
            notes.add("direction of a wrench", "that on the child", sensor.name)
    for sensor_data in robot.all_sensors():
        if sensor_data.topic or sensor_data.frame:
            notes.add("topic and frame of a sensor", "not written", sensor_data.name)
    for name in robot.transmissions:
        notes.add("transmission", "not written", name)
    for joint in robot.joints.values():
        if joint.start is not None:
            notes.add("initial position of a joint", "not written", joint.name)
        if joint.ball:
            notes.add("part of a ball joint", robot_data.BALL_AS_HINGES, joint.name)
    return notes.lines()


def _connection(root, connection: robot_data.ConnectionData) -> None:
    (xyz, rpy), (to_xyz, to_rpy) = (_pose(frame) for frame in connection.frames)
    first, second = connection.links
    tag = _extension(root, first, "connection", to=second, kind=str(connection.kind))
    poses = {"xyz": xyz, "rpy": rpy, "to_xyz": to_xyz, "to_rpy": to_rpy}
    tag.attrib.update({"name": connection.name, **poses})


def _keyframe(root, link: str, key: robot_data.KeyframeData) -> None:
    base = {} if key.base is None else dict(zip(("xyz", "rpy"), _pose(key.base), strict=True))
    tag = _extension(root, link, "keyframe", name=key.name, **base)
    for name, position in key.joints.items():
        etree.SubElement(tag, "joint", name=name, position=exact_text(position))


def _link(root, link: robot_data.LinkData, mesh_uri: MeshUri) -> None:
    element = etree.SubElement(root, "link", name=link.name)
    if link.inertial is not None:
        mass, com, inertia = link.inertial
        inertial = etree.SubElement(element, "inertial")
        etree.SubElement(inertial, "origin", xyz=exact_text(com), rpy="0 0 0")
        etree.SubElement(inertial, "mass", **exact_texts(value=mass))
        etree.SubElement(inertial, "inertia", **exact_texts(**moments_of(inertia)))
    for index, shape in enumerate(link.visuals):
        visual = _shape(element, "visual", f"{link.name}_visual_{index}", shape, mesh_uri)
        if shape.color is not None:
            color = [min(max(part, 0.0), 1.0) for part in shape.color]
            name = "rgba " + " ".join(f"{part:.4g}" for part in color)
            material = etree.SubElement(visual, "material", name=name)
            etree.SubElement(material, "color", rgba=exact_text(color))
    for index, shape in enumerate(link.collisions):
        _shape(element, "collision", _collision_name(link, index), shape, mesh_uri)


def _collision_name(link: robot_data.LinkData, index: int) -> str:
    return f"{link.name}_{index}"


def _shape(link, tag: str, name: str, shape: robot_data.ShapeData, mesh_uri: MeshUri):
    element = etree.SubElement(link, tag, name=name)
    _origin(element, shape.placement)
    geometry = etree.SubElement(element, "geometry")
    if shape.kind == "mesh":
        assert shape.mesh is not None
        mesh = etree.SubElement(geometry, "mesh", filename=mesh_uri(shape.mesh))
        if isinstance(shape.mesh, robot_data.MeshFile) and shape.mesh.scale != (1.0, 1.0, 1.0):
            mesh.set("scale", exact_text(shape.mesh.scale))
    elif shape.kind == "box":
        etree.SubElement(geometry, "box", size=exact_text(shape.size))
    elif shape.kind == "sphere":
        etree.SubElement(geometry, "sphere", radius=exact_text(shape.size))
    else:
        radius, length = shape.size
        if shape.kind == "capsule":
            length += 2.0 * radius
        etree.SubElement(geometry, "cylinder", **exact_texts(radius=radius, length=length))
    return element


def _joint(root, joint: robot_data.JointData) -> None:
    unlimited = joint.lower == -math.inf and joint.upper == math.inf
    kind = joint.type
    if unlimited:
        kind = JOINT_TYPES[kind].without_range or kind
    element = etree.SubElement(root, "joint", name=joint.name, type=kind)
    _origin(element, joint.origin)
    etree.SubElement(element, "parent", link=joint.parent)
    etree.SubElement(element, "child", link=joint.child)
    if not JOINT_TYPES[kind].is_single:
        return
    etree.SubElement(element, "axis", xyz=exact_text(joint.axis))
    numbers = {"effort": _finite(joint.effort), "velocity": _finite(joint.velocity)}
    has_range = JOINT_TYPES[kind].has_range
    if has_range:
        ends = {"lower": max(joint.lower, -_NO_LIMIT), "upper": min(joint.upper, _NO_LIMIT)}
        numbers = ends | numbers
    if has_range or any(numbers.values()):
        etree.SubElement(element, "limit", **exact_texts(**numbers))
    losses = {"damping": joint.damping, "friction": joint.friction}
    if any(losses.values()):
        etree.SubElement(element, "dynamics", **exact_texts(**losses))
    if joint.mimic is not None:
        leader, ratio, offset = joint.mimic
        settings = exact_texts(multiplier=ratio, offset=offset)
        etree.SubElement(element, "mimic", joint=leader, **settings)


def _finite(limit: float) -> float:
    """Return a limit, or 0 for none."""
    return limit if limit < math.inf else 0.0


def _joint_extension(root, joint: robot_data.JointData) -> None:
    if joint.stiffness:
        spring = exact_texts(stiffness=joint.stiffness, rest=joint.rest)
        _extension(root, joint.name, "spring", **spring, damping="0")
    if joint.ball:
        _extension(root, joint.name, "ball", part=str(joint.ball))
    if joint.rotor_inertia:
        _extension(root, joint.name, "rotor", **exact_texts(inertia=joint.rotor_inertia))
    if joint.gains is not None:
        kp, kd = joint.gains
        _extension(root, joint.name, "gains", **exact_texts(kp=kp, kd=kd))
    if joint.actuator:
        _extension(root, joint.name, "actuator", **exact_texts(**joint.actuator))


def _tendon(root, tendon: robot_data.TendonData) -> None:
    (first, second), (a, b) = tendon.joints, tendon.coefficients
    numbers = {"coefficient": a, "joint_coefficient": b}
    if tendon.gains is not None:
        numbers |= dict(zip(("kp", "kd"), tendon.gains, strict=True))
    if tendon.effort < math.inf:
        numbers["effort"] = tendon.effort
    _extension(root, first, "tendon", name=tendon.name, joint=second, **exact_texts(**numbers))


def _link_extension(root, link: robot_data.LinkData) -> None:
    if link.material is not None:
        _extension(root, link.name, "material", name=link.material)
    if link.gravity_compensation:
        texts = exact_texts(compensation=link.gravity_compensation)
        _extension(root, link.name, "gravity", **texts)
    for index, shape in enumerate(link.collisions):
        if shape.kind == "capsule":
            _extension(root, link.name, "capsule", collision=_collision_name(link, index))
        if shape.material is not None:
            names = {"collision": _collision_name(link, index), "material": shape.material}
            _extension(root, link.name, "surface", **names)


def _extension(root, reference: str, tag: str, **attributes: str):
    """Append a tag to the last <hrpsim> element with the same reference, else to a new element."""
    last = root[-1] if len(root) else None
    if last is None or last.tag != "hrpsim" or last.get("reference") != reference:
        last = etree.SubElement(root, "hrpsim", reference=reference)
    return etree.SubElement(last, tag, **attributes)


def _origin(element, placement: Placement) -> None:
    xyz, rpy = _pose(placement)
    etree.SubElement(element, "origin", xyz=xyz, rpy=rpy)


def _pose(placement: Placement) -> tuple[str, str]:
    is_turned = not np.array_equal(placement.R, np.eye(3))
    return exact_text(placement.p), exact_text(
        rpy_of(placement.R) if is_turned else (0.0, 0.0, 0.0)
    )


def exact_text(numbers: Iterable[float]) -> str:
    """Return numbers as text that can be read back exactly."""
    return " ".join(repr(float(number)) for number in numbers)


def exact_texts(**numbers: float) -> dict[str, str]:
    """Return {name: text} of numbers, with texts that can be read back exactly."""
    return {name: exact_text([number]) for name, number in numbers.items()}


def moments_of(inertia: np.ndarray) -> dict[str, float]:
    """Return the six moments of an inertia (3, 3) by the names in URDF and SDF."""
    return {name: inertia[at] for name, at in _MOMENTS.items()}


def read_urdf(text: str, label: str, has_lines: bool = True) -> Document:
    """Parse URDF text of any version. Origins and limits are converted to version 1.0.

    Raises ModelError for an unknown version, and for elements that the version does not have.
    """
    document = Document(text, label, has_lines)
    version = document.root.get("version", VERSIONS[0]).strip()
    document.require_name(document.root, "version of URDF", version, VERSIONS)
    for origin in document.root.iter("origin"):
        if origin.get("quat_xyzw") is not None:
            _write_angles(document, origin, version)
    if version == "1.2":
        for limit in document.root.iterfind("joint/limit"):
            _complete_limit(document, limit)
    return document


def _write_angles(document: Document, origin, version: str) -> None:
    """Replace the quaternion of an origin by rpy."""
    quaternion = np.array(document.numbers(origin, "quat_xyzw", 4))
    length = np.linalg.norm(quaternion)
    if version == "1.0":
        document.fail(origin, 'quat_xyzw needs <robot version="1.1">, or write rpy')
    if origin.get("rpy") is not None:
        document.fail(origin, "rpy and quat_xyzw are both given. Remove one")
    if length < 1e-6:
        document.fail(origin, f"quat_xyzw={origin.get('quat_xyzw')!r} has no direction")
    del origin.attrib["quat_xyzw"]
    origin.set("rpy", exact_text(rpy_of(rotation_matrix(quaternion / length))))


def _complete_limit(document: Document, limit) -> None:
    """Add missing efforts and velocities as unlimited."""
    for key in ("effort", "velocity"):
        if limit.get(key) is None:
            limit.set(key, "0")
    joint_type = JOINT_TYPES.get(limit.getparent().get("type"))
    if joint_type is not None and joint_type.has_range:
        for key in ("lower", "upper"):
            document.text(limit, key)
