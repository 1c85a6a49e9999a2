# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Extensions of URDF: <hrpsim reference="joint or link"> elements, <ros2_control> interfaces.

docs/reference/robot_descriptions.md lists the elements. A sensor on a joint is a sensor on the
joint's child link. A connection closes a loop and joins a frame in the referenced link (xyz, rpy)
to a frame in another link (to_xyz, to_rpy). The two frames coincide when the loop is closed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Container
from dataclasses import replace
from typing import Any, NamedTuple
from xml.sax.saxutils import quoteattr

from hrpsim.common.errors import ModelError, WorldError, unknown_name
from hrpsim.common.foreign.xml_text import xml_root
from hrpsim.model.actuator import FIELDS, LISTS, RANGES, Actuator
from hrpsim.model.described import CONNECTION_SOLVERS, held_axes
from hrpsim.model.model import MESH_USES
from hrpsim.model.readers.gazebo.gazebo_sensors import gazebo_sensors
from hrpsim.model.readers.robot_data import (
    LONGEST_DELAY,
    ConnectionData,
    KeyframeData,
    RobotData,
    SampledSensorData,
    SensorData,
    TendonData,
)
from hrpsim.model.readers.urdf.description import Description
from hrpsim.model.readers.urdf.document import Document
from hrpsim.model.readers.urdf.joint_motions import FREE_MOTION
from hrpsim.model.readers.urdf.joint_types import JOINT_TYPES, MOVING_TYPES
from hrpsim.model.ros2_control import read_ros2_control
from hrpsim.model.sensors.kinds import SAMPLED_KINDS, SENSOR_KINDS, settings_of_kind
from hrpsim.model.shapes.placement import IDENTITY, Placement, from_origin
from hrpsim.model.transmission import read_transmissions

ROBOT_NAME = "robot"  # attribute of the element that names the robot in its world
_TENDON_ATTRIBUTES = ("name", "coefficient", "joint", "joint_coefficient", "kp", "kd", "effort")
_CONNECTION_NUMBERS = ("compliance", "damping_time", "force_limit")
_CONNECTION_ATTRIBUTES = (
    *("to", "kind", "axes", "name", "xyz", "rpy", "to_xyz", "to_rpy", "length"),
    *(*_CONNECTION_NUMBERS, "solver", "collide"),
)


def with_robot_name(text: str, name: str) -> str:
    """Add an <hrpsim> element with the robot's name in the world to URDF text."""
    at = text.rfind("</robot>")
    return f"{text[:at]}<hrpsim {ROBOT_NAME}={quoteattr(name)}/>\n{text[at:]}" if at >= 0 else text


def robot_name(text: str) -> str:
    """Return the robot's name in the world from URDF text (see `with_robot_name`), or ""."""
    root = xml_root(text.strip(), "URDF", ModelError)
    elements = root.findall(f"hrpsim[@{ROBOT_NAME}]")
    return elements[-1].get(ROBOT_NAME, "") if elements else ""


def read_extension(description: Description, robot: RobotData) -> None:
    """Add the contents of all <hrpsim> and <ros2_control> elements to a robot.

    Raises ModelError for an unknown element.
    """
    document = description.document
    names = {**description.joints, **description.links}
    seen: set[tuple[str, str]] = set()
    rotors: dict[str, tuple[float, object]] = {}  # of actuators, with the elements
    for element in document.children(document.root, "hrpsim"):
        if ROBOT_NAME in element.attrib:
            document.require_content(element, (ROBOT_NAME,))
            continue
        document.require_content(element, ("reference",), _READERS)
        reference = document.text(element, "reference")
        document.require_name(element, "joint or link", reference, names)
        for tag in document.children(element):
            reader = _READERS[tag.tag]
            name = _referent(description, tag, reference, reader.owner)
            if tag.tag == "rotor" and tag.get("actuator") is not None:
                _read_actuator_rotor(description, rotors, tag)
                continue
            if reader.is_once:
                _refuse_second(description, seen, (tag.tag, name), tag)
                seen.add((tag.tag, name))
            if reader.attributes is not None:
                document.require_content(tag, reader.attributes, reader.children)
            reader.read(description, robot, name, tag)
    for element in document.children(document.root, "ros2_control"):
        read_ros2_control(description, robot, element)
    robot.transmissions, reflected, notes = read_transmissions(description, rotors)
    robot.notes += notes
    for joint, inertia in reflected.items():
        robot.joints[joint].rotor_inertia += inertia
    _add_gazebo_sensors(description, robot)


def _add_gazebo_sensors(description: Description, robot: RobotData) -> None:
    """Add the sensors of <gazebo>, unless <hrpsim> has a sensor of the same name."""
    taken = {sensor.name for sensor in robot.all_sensors()}
    for sensor in gazebo_sensors(description):
        if sensor.name in taken:
            continue
        taken.add(sensor.name)
        if isinstance(sensor, SampledSensorData):
            robot.sampled_sensors.append(sensor)
        else:
            robot.sensors.append(sensor)


def _referent(description: Description, tag, reference: str, kind: str) -> str:
    """Return the joint or link that a tag under `reference` describes.

    kind: "joint", "link" or "joint or link". The last returns the child link of a joint.
    """
    fail = description.document.fail
    if kind == "joint":
        if reference not in description.joints:
            fail(tag, f"applies to joints, but {reference!r} is a link")
        joint_type = description.joints[reference].type
        if joint_type not in MOVING_TYPES:
            fail(tag, f"needs a joint with one coordinate, but {reference!r} is {joint_type}")
        return reference
    if kind == "link":
        if reference not in description.links:
            fail(tag, f"applies to links, but {reference!r} is a joint")
        return reference
    joint = description.joints.get(reference)
    if joint is None:
        return reference
    if reference in description.links and joint.child != reference:
        fail(tag, f"{reference!r} is a link, and also a joint above another link. Rename one")
    return joint.child


def _read_spring(description: Description, robot: RobotData, joint: str, tag) -> None:
    document, sprung = description.document, robot.joints[joint]
    sprung.stiffness = document.not_negative(tag, "stiffness", 0.0)
    sprung.damping += document.not_negative(tag, "damping", 0.0)
    sprung.rest = document.number(tag, "rest", 0.0)


def _read_rotor(description: Description, robot: RobotData, joint: str, tag) -> None:
    document = description.document
    gear_ratio = document.number(tag, "gear_ratio", 1.0)
    if gear_ratio == 0.0:
        document.fail(tag, "gear_ratio is zero")
    robot.joints[joint].rotor_inertia = document.not_negative(tag, "inertia") * gear_ratio**2


def _read_ball(description: Description, robot: RobotData, joint: str, tag) -> None:
    robot.joints[joint].ball = int(description.document.number(tag, "part"))  # see check_balls


def _read_actuator_rotor(
    description: Description, rotors: dict[str, tuple[float, object]], tag
) -> None:
    """Read the rotor inertia of an actuator of a <transmission>."""
    document = description.document
    document.require_content(tag, ("inertia", "gear_ratio", "actuator"))
    name = document.text(tag, "actuator")
    _refuse_second(description, rotors, name, tag)
    rotors[name] = (document.not_negative(tag, "inertia"), tag)


def _read_gains(description: Description, robot: RobotData, joint: str, tag) -> None:
    document = description.document
    robot.joints[joint].gains = document.not_negative(tag, "kp"), document.not_negative(tag, "kd")


def _read_actuator(description: Description, robot: RobotData, joint: str, tag) -> None:
    document = description.document
    attributes: dict[str, Any] = dict(tag.attrib)
    for name in attributes:
        if name in LISTS:
            attributes[name] = document.numbers(tag, name, len(attributes[name].split()))
        elif name in RANGES or name == "noise_seed":
            attributes[name] = document.number(tag, name)
    try:
        Actuator(**attributes)
    except WorldError as error:
        document.fail(tag, str(error))
    robot.joints[joint].actuator = attributes


def _read_tendon(description: Description, robot: RobotData, joint: str, tag) -> None:
    document = description.document
    name, other = document.text(tag, "name"), document.text(tag, "joint")
    _refuse_second(description, {tendon.name for tendon in robot.tendons}, name, tag)
    document.require_name(tag, "joint", other, description.joints)
    other = _referent(description, tag, other, "joint")
    if other == joint:
        document.fail(tag, f"connects joint {joint!r} with itself")
    coefficients = document.number(tag, "coefficient"), document.number(tag, "joint_coefficient")
    if 0.0 in coefficients:
        document.fail(tag, "the coefficients of a tendon must not be zero")
    gains = document.not_negative(tag, "kp", 0.0), document.not_negative(tag, "kd", 0.0)
    effort = document.not_negative(tag, "effort", math.inf)
    robot.tendons.append(TendonData(name, (joint, other), coefficients, effort, gains))


def _read_material(description: Description, robot: RobotData, link: str, tag) -> None:
    robot.links[link].material = description.document.text(tag, "name")


def _read_gravity(description: Description, robot: RobotData, link: str, tag) -> None:
    inertial = description.links[link].inertial
    if inertial is None or inertial.mass == 0.0:
        description.document.fail(tag, f"link {link!r} has no weight. Give the link a mass")
    part = description.document.number(tag, "compensation")
    robot.links[link].gravity_compensation = part


def _read_surface(description: Description, robot: RobotData, link: str, tag) -> None:
    material, shapes = description.document.text(tag, "material"), robot.links[link].collisions
    for at in _named_collisions(description, link, tag):
        shapes[at] = replace(shapes[at], material=material)


def _named_collisions(description: Description, link: str, tag) -> list[int]:
    """Return the indices of a link's collisions with the name that a tag states."""
    document = description.document
    name = document.text(tag, "collision")
    collisions = list(document.children(description.link_elements[link], "collision"))
    named = [k for k, collision in enumerate(collisions) if collision.get("name") == name]
    if not named:
        names = [c.get("name") for c in collisions if c.get("name")]
        document.fail(tag, unknown_name(f"in link {link!r}, collision", name, names))
    return named


def _read_capsule(description: Description, robot: RobotData, link: str, tag) -> None:
    document = description.document
    name = document.text(tag, "collision")
    collisions = list(document.children(description.link_elements[link], "collision"))
    named = _named_collisions(description, link, tag)
    at, shapes = named[0], robot.links[link].collisions
    if len(named) > 1 or collisions[at].find("geometry/cylinder") is None:
        document.fail(tag, f"collision {name!r} must be one <cylinder>")
    if shapes[at].kind == "capsule":
        return
    radius, length = shapes[at].size
    if length <= 2.0 * radius:
        document.fail(
            tag,
            f"a capsule of total length {length:g} m needs a radius below half of the length, got "
            f"{radius:g} m",
        )
    shapes[at] = replace(shapes[at], kind="capsule", size=(radius, length - 2.0 * radius))


def _read_mesh(description: Description, robot: RobotData, link: str, tag) -> None:
    document = description.document
    use = document.text(tag, "as")
    document.require_name(tag, "as", use, MESH_USES)
    if description.link_elements[link].find("collision/geometry/mesh") is None:
        document.fail(tag, f"link {link!r} has no collision mesh")
    robot.links[link].mesh_use = use


def _read_sensor(description: Description, robot: RobotData, link: str, tag) -> None:
    document = description.document
    name, kind = document.text(tag, "name"), document.text(tag, "type")
    document.require_name(tag, "sensor type", kind, SENSOR_KINDS)
    own = settings_of_kind(kind) if kind in SAMPLED_KINDS else ("tare", "rate", "latency")
    document.require_content(tag, ("name", "type", *own), ("origin",))
    for first in robot.all_sensors():
        if first.name == name:
            where = document.where(first.element)
            document.fail(tag, f"a sensor with this name exists already ({where})")
    placement = IDENTITY
    origin = document.only(tag, "origin")
    if origin is not None:
        document.require_content(origin, ("xyz", "rpy"))
        placement = _placement(description, origin, "xyz", "rpy")
    if kind in SAMPLED_KINDS:
        settings = {key: str(tag.get(key)) for key in own if tag.get(key) is not None}
        sampled = SampledSensorData(name, kind, link, placement, settings, element=tag)
        robot.sampled_sensors.append(sampled)
    else:
        robot.sensors.append(_step_sensor(description, tag, name, kind, link, placement))


def _step_sensor(
    description: Description, tag, name: str, kind: str, link: str, placement: Placement
) -> SensorData:
    """Return a sensor that is measured in each step."""
    document = description.document
    if SENSOR_KINDS[kind].at_joint and link not in description.parent_joint:
        document.fail(
            tag, f"link {link!r} is the root link, so no joint above it transmits a wrench"
        )
    tare = tag.get("tare", "false")
    if tare not in ("true", "false"):
        document.fail(tag, f"tare={tare!r} must be true or false")
    if not SENSOR_KINDS[kind].at_joint and tag.get("tare") is not None:
        document.fail(tag, "only a force_torque sensor has a tare")
    rate, latency = document.not_negative(tag, "rate", 0.0), document.number(tag, "latency", 0.0)
    if not 0.0 <= latency <= LONGEST_DELAY:
        document.fail(tag, f"latency={latency:g} is not from 0 to {LONGEST_DELAY:g} s")
    return SensorData(name, kind, link, placement, latency, tare == "true", rate, element=tag)


def _read_connection(description: Description, robot: RobotData, link: str, tag) -> None:
    document = description.document
    other, kind, axes = document.text(tag, "to"), tag.get("kind"), tag.get("axes")
    document.require_name(tag, "link", other, description.links)
    if other == link:
        document.fail(tag, f"connects link {link!r} with itself")
    axes = None if axes is None else tuple(axes.split())
    try:
        held_axes(kind, axes)
    except ValueError as error:
        document.fail(tag, str(error))
    length = _length(document, tag, kind)
    name = tag.get("name", f"{link}-{other}")
    if any(connection.name == name for connection in robot.connections):
        document.fail(tag, f"a connection with the name {name!r} exists already. Give another name")
    settings: dict[str, float | str | bool] = {
        key: document.not_negative(tag, key)
        for key in _CONNECTION_NUMBERS
        if tag.get(key) is not None
    }
    if tag.get("solver") is not None:
        settings["solver"] = document.one_of(tag, "solver", CONNECTION_SOLVERS)
    settings["collide"] = document.one_of(tag, "collide", ("false", "true")) == "true"
    frames = (
        _placement(description, tag, "xyz", "rpy"),
        _placement(description, tag, "to_xyz", "to_rpy"),
    )
    robot.connections.append(
        ConnectionData(name, kind, axes, (link, other), frames, length, settings)
    )


def _length(document: Document, tag, kind: str | None) -> float | None:
    """Return the length [m] of a connection of kind "distance", or None for another kind."""
    if (kind == "distance") != (tag.get("length") is not None):
        why = "needs a length" if kind == "distance" else "has no length"
        document.fail(tag, f"a connection of kind {kind} {why}")
    if kind != "distance":
        return None
    length = document.number(tag, "length")
    if length <= 0.0:
        document.fail(tag, f"length={tag.get('length')!r} must be positive")
    return length


def _read_no_collision(description: Description, robot: RobotData, link: str, tag) -> None:
    document = description.document
    other = document.text(tag, "to")
    if other != "*":
        document.require_name(tag, "link", other, description.links)
    robot.apart.append((link, other))


def _read_keyframe(description: Description, robot: RobotData, link: str, tag) -> None:
    document = description.document
    name = document.text(tag, "name")
    if any(keyframe.name == name for keyframe in robot.keyframes):
        document.fail(tag, f"a keyframe with the name {name!r} exists already")
    joints: dict[str, tuple[float, ...]] = {}
    for element in document.children(tag, "joint"):
        document.require_content(element, ("name", "position"))
        joint = document.text(element, "name")
        document.require_name(element, "joint", joint, description.joints)
        kind = description.joints[joint].type
        count = JOINT_TYPES[kind].q_count
        if not count:
            document.fail(element, f"joint {joint!r} is {kind}, with no coordinate")
        joints[joint] = tuple(document.numbers(element, "position", count))
        if count == FREE_MOTION.q_count and not any(joints[joint][3:]):
            document.fail(element, "the quaternion is zero")
    is_placed = tag.get("xyz") is not None or tag.get("rpy") is not None
    base = _placement(description, tag, "xyz", "rpy") if is_placed else None
    robot.keyframes.append(KeyframeData(name, base, joints))


class _Reader(NamedTuple):
    """The rule for reading a tag of <hrpsim>: the described element and the allowed contents."""

    owner: str
    read: Callable[[Description, RobotData, str, Any], None]
    attributes: tuple[str, ...] | None  # None: the reader checks the contents
    children: tuple[str, ...] = ()
    is_once: bool = False  # whether a joint or link may have only one such element


_READERS = {
    "spring": _Reader("joint", _read_spring, ("stiffness", "damping", "rest"), is_once=True),
    "rotor": _Reader("joint", _read_rotor, ("inertia", "gear_ratio"), is_once=True),
    "ball": _Reader("joint", _read_ball, ("part",), is_once=True),
    "gains": _Reader("joint", _read_gains, ("kp", "kd"), is_once=True),
    "actuator": _Reader("joint", _read_actuator, FIELDS, is_once=True),
    "tendon": _Reader("joint", _read_tendon, _TENDON_ATTRIBUTES),
    "material": _Reader("link", _read_material, ("name",), is_once=True),
    "gravity": _Reader("link", _read_gravity, ("compensation",), is_once=True),
    "capsule": _Reader("link", _read_capsule, ("collision",)),
    "surface": _Reader("link", _read_surface, ("collision", "material")),
    "mesh": _Reader("link", _read_mesh, ("as",), is_once=True),
    "sensor": _Reader("joint or link", _read_sensor, None),
    "connection": _Reader("link", _read_connection, _CONNECTION_ATTRIBUTES),
    "no_collision": _Reader("link", _read_no_collision, ("to",)),
    "keyframe": _Reader("link", _read_keyframe, ("name", "xyz", "rpy"), ("joint",)),
}


def _refuse_second(description: Description, known: Container, key: Any, tag) -> None:
    """Raise ModelError if an element of this key is known. The key is a name, or tag and name."""
    if key in known:
        name = key[1] if isinstance(key, tuple) else key
        description.document.fail(tag, f"<{tag.tag}> is given twice for {name!r}")


def _placement(description: Description, element, xyz: str, rpy: str) -> Placement:
    """Return the placement given by the attributes `xyz` and `rpy`. Missing attributes are 0."""
    numbers = description.document.numbers
    origin = (
        numbers(element, key, 3) if element.get(key) is not None else None for key in (xyz, rpy)
    )
    return from_origin(*origin)
