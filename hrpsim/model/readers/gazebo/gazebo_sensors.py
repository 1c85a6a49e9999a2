# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Sensors of Gazebo: <sensor> in <gazebo reference="link or joint"> of a URDF, and in SDF."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from lxml.etree import _Element

from hrpsim.model.readers.gazebo.poses import pose_of
from hrpsim.model.readers.robot_data import SampledSensorData, SensorData
from hrpsim.model.readers.urdf.description import Description
from hrpsim.model.readers.urdf.document import Document
from hrpsim.model.sensors.gazebo_values import text_of
from hrpsim.model.sensors.kinds import SAMPLED_KINDS, SENSOR_KINDS
from hrpsim.model.sensors.sensor_kind import SensorKind
from hrpsim.model.shapes.placement import IDENTITY, Placement, from_origin

_KIND_OF_TYPE = {name: kind for kind in SENSOR_KINDS.values() for name in kind.gazebo_types}
FRAME_TAGS = ("optical_frame_id", "gz_frame_id", "ignition_frame_id")
TOPIC = re.compile(r"(?!.*__)/?[A-Za-z]\w*(/[A-Za-z_]\w*)*", re.ASCII)  # what ROS allows


def kind_of(sensor: _Element) -> type[SensorKind] | None:
    """Return the hrpsim sensor kind of a <sensor>, or None if the sensor is not simulated."""
    kind = _KIND_OF_TYPE.get(sensor.get("type"))
    return kind if kind is not None and kind.is_read(sensor) else None


def is_read(sensor) -> bool:
    """Return whether a <sensor> of <gazebo> is simulated."""
    return kind_of(sensor) is not None and bool(_link_of(sensor))


def _link_of(sensor) -> str:
    """Return the link of a sensor, "" for none. A sensor at a joint is on the joint's child."""
    root, reference = sensor.getroottree().getroot(), sensor.getparent().get("reference")
    kind = _KIND_OF_TYPE.get(sensor.get("type"))
    if kind is None or not kind.at_joint:
        return reference if is_link(root, reference) else ""
    for joint in root.iterchildren("joint"):
        child = joint.find("child").get("link")
        if reference in (joint.get("name"), child):
            return child
    return ""


def is_link(root, name: str | None) -> bool:
    """Return whether the description has a link called `name`."""
    return any(link.get("name") == name for link in root.iterchildren("link"))


def _topic_of(sensor) -> str:
    """Return the topic of a sensor without the leading slash, or "" if missing or not valid in ROS.

    A contact sensor may have the topic in <contact>.
    """
    topic = text_of(sensor, "topic", "") or text_of(sensor, "contact/topic", "")
    return topic.lstrip("/") if TOPIC.fullmatch(topic) else ""


def _frame_of(sensor) -> str:
    """Return the link that a sensor names as the frame of messages, "" for none.

    A camera names the link of the optical frame within <camera>.
    """
    names = [text_of(sensor, tag, "") for tag in ("camera/" + FRAME_TAGS[0], *FRAME_TAGS[1:])]
    root = sensor.getroottree().getroot()
    return next((name for name in names if is_link(root, name)), "")


def is_its_frame(tag) -> bool:
    """Return whether a child of <sensor> or <camera> names the frame of the messages."""
    frame = _frame_of(next(tag.iterancestors("sensor")))
    return bool(frame) and frame == (tag.text or "").strip()


def gazebo_sensors(description: Description) -> Iterator[SensorData | SampledSensorData]:
    """Yield each simulated sensor. Raises ModelError for an invalid sensor."""
    document = description.document
    for gazebo in document.children(document.root, "gazebo"):
        for sensor in document.children(gazebo, "sensor"):
            if is_read(sensor):
                yield _sensor(document, sensor, _link_of(sensor))


def _placement(document: Document, sensor) -> Placement:
    """Return the placement of a sensor in its link, from <pose>, with all joints at zero."""
    pose, placement = sensor.find("pose"), pose_of(document, sensor)
    frame = "" if pose is None else frame_of_pose(pose)
    if frame:
        root = sensor.getroottree().getroot()
        from_link, from_frame = (_from_root(root, link) for link in (_link_of(sensor), frame))
        placement = from_link.inverse().then(from_frame).then(placement)
    return placement


def frame_of_pose(pose) -> str:
    """Return the reference link of a <pose>, "" for the sensor's own link or an unknown link.

    The attribute `relative_to` names a link, a joint or the model. The frame of a joint is the
    frame of its child link.
    """
    root, name = pose.getroottree().getroot(), pose.get("relative_to", "").strip()
    if is_link(root, name):
        return name
    for joint in root.iterchildren("joint"):
        if joint.get("name") == name:
            return joint.find("child").get("link")
    if name == "__model__":
        children = {joint.find("child").get("link") for joint in root.iterchildren("joint")}
        links = (link.get("name") for link in root.iterchildren("link"))
        return next(link for link in links if link not in children)
    return ""


def _from_root(root, link: str) -> Placement:
    """Return the placement of a link in the root link, with all joints at zero."""
    above = {joint.find("child").get("link"): joint for joint in root.iterchildren("joint")}
    placement = IDENTITY
    while link in above:
        origin = above[link].find("origin")
        attributes = (None, None) if origin is None else (origin.get("xyz"), origin.get("rpy"))
        numbers = ([float(word) for word in text.split()] if text else None for text in attributes)
        placement = from_origin(*numbers).then(placement)
        link = above[link].find("parent").get("link")
    return placement


def names_the_collisions(collision) -> bool:
    """Return whether the <collision> of a contact sensor is the only <collision> of the link."""
    sensor = collision.getparent().getparent()
    root, link = sensor.getroottree().getroot(), _link_of(sensor)
    element = next(e for e in root.iterchildren("link") if e.get("name") == link)
    shapes = element.findall("collision")
    if len(shapes) != 1:
        return False
    # Gazebo's names of collisions: NAME, NAME_collision, and those of links that it lumps together.
    name = re.escape(shapes[0].get("name") or link or "")
    text = (collision.text or "").strip()
    return re.fullmatch(rf"(.*__)?{name}(_collision)?(_\d+)?", text) is not None


def _sensor(document: Document, sensor, link: str) -> SensorData | SampledSensorData:
    placement = _placement(document, sensor)
    return sensor_data(document, sensor, link, placement, frame=_frame_of(sensor), element=sensor)


def sensor_data(  # many parameters: keyword arguments
    document: Document,
    sensor: _Element,
    link: str,
    pose: Placement,
    name: str = "",
    frame: str = "",
    element: object = None,
) -> SensorData | SampledSensorData:
    """Convert a <sensor> of a simulated kind. Raises ModelError for an invalid sensor.

    Args:
        document: document that contains the sensor.
        sensor: the element.
        link: link that carries the sensor.
        pose: pose of the sensor in the link.
        name: name of the sensor. The default is the name in the element.
        frame: link whose frame the messages use, "" for the sensor's own frame.
        element: element to name in errors.
    """
    kind = kind_of(sensor)
    assert kind is not None
    name = name or document.text(sensor, "name")
    placement = kind.gazebo_placement(sensor, pose)
    settings = kind.gazebo_settings(document, sensor)
    of_messages: dict[str, Any] = {"topic": _topic_of(sensor), "frame": frame, "element": element}
    if kind.kind in SAMPLED_KINDS:
        return SampledSensorData(name, kind.kind, link, placement, settings, **of_messages)
    return SensorData(name, kind.kind, link, placement, **settings, **of_messages)
