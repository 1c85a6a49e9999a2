# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Report elements and attributes of URDF and SDF that are not read, or have no effect.

Gazebo's sensor elements, which both formats can contain, are listed here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from lxml import etree

from hrpsim.common.errors import suggestion
from hrpsim.model.readers.gazebo.gazebo_sensors import TOPIC
from hrpsim.model.readers.robot_data import Notes
from hrpsim.model.readers.urdf.document import tag_of
from hrpsim.model.sensors.gazebo_values import NOISE_TYPES, noise_type
from hrpsim.model.sensors.kinds import SENSOR_KINDS

Check = Callable[[Any, str], bool]  # of an element and its text
_NOISE = "type stddev bias_mean bias_stddev"
# Attributes and children that are read, by element, or by an element within another.
SENSOR_PARTS = {
    "pose": ("degrees relative_to rotation_format", ""),
    "sensor": (
        "name type",
        "pose update_rate always_on visualize topic gz_frame_id ignition_frame_id "
        + " ".join(tag for kind in SENSOR_KINDS.values() for tag in kind.gazebo_tags),
    ),
    **{tag: read for kind in SENSOR_KINDS.values() for tag, read in kind.gazebo_elements.items()},
    **dict.fromkeys("xyz", ("", "noise")),
    **dict.fromkeys(("x/noise", "y/noise", "z/noise"), ("type", _NOISE)),
    **dict.fromkeys(("imu/noise", "force_torque/noise"), ("", "type rate accel force torque")),
    **dict.fromkeys(("rate", "accel", "noise/force", "noise/torque"), ("", _NOISE)),
}
# What an element that is read must be to have an effect, by its name, or that of its parent too.
SENSOR_CHECKS: dict[str, Check] = {
    "sensor/topic": lambda _, text: TOPIC.fullmatch(text) is not None,
    "contact/topic": lambda _, text: TOPIC.fullmatch(text) is not None,
    "noise": lambda noise, _: noise_type(noise) in NOISE_TYPES,
}
SENSOR_HARMLESS = {
    **dict.fromkeys(("mean", "bias_mean", "bias_stddev"), ("0", "0.0")),
    "topic": ("__default_topic__",),
    "resolution": ("1", "1.0"),
    "format": ("R8G8B8", "R_FLOAT32"),
}
SENSOR_WHY_VALUES = {
    "noise": f"of a type that is not simulated: {', '.join(NOISE_TYPES)} are",
    "collision": "all contacts of the link are felt",
    "topic": "not a name that ROS allows: the topic is the sensor's name",
}


@dataclass(frozen=True)
class KnownParts:
    """The elements and attributes that a reader supports, and reasons for the others."""

    read: Mapping[str, tuple[str, str]]  # attributes and children that are read
    checks: Mapping[str, Check]  # condition for the effect of an element that is read
    harmless: Mapping[str, tuple[str, ...]]  # texts for which an unread element needs no note
    why: Mapping[str, str]  # reason why an element has no effect, by name
    why_values: Mapping[str, str]  # reason why a value of a read element has no effect, by name
    why_within: Mapping[str, str] = field(default_factory=dict)  # the same by "parent/child"
    foreign: tuple[str, ...] = ()  # prefixes of tags that another reader lists
    is_entered: Callable[[Any], bool] = lambda _: True  # whether to read the parts of an element
    odd_values: Callable[[Any], Mapping[str, str]] = lambda _: {}  # attributes, and why each is odd

    def note(self, root: etree._Element, notes: Notes) -> None:
        """Add a note for each element and attribute without effect, in `root` and below."""
        pending = [(root, "")]
        while pending:
            element, owner = pending.pop()
            attributes, children = map(str.split, self._known(element) or ("", ""))
            owner = element.get("name") or element.get("reference") or owner
            self._note_attributes(element, attributes, owner, notes)
            entered = []
            for child in element.iterchildren(tag=etree.Element):
                if not self._is_read(child, children):
                    self._note_child(child, children, owner, notes)
                elif self._known(child) and self.is_entered(child):
                    entered.append((child, owner))
            pending += reversed(entered)

    def _note_attributes(self, element: Any, read: list[str], owner: str, notes: Notes) -> None:
        for key, why in self.odd_values(element).items():
            notes.add(f"{key}={element.get(key)!r} of <{element.tag}>", why, owner)
        for key in element.attrib:
            if key not in read and not key.startswith("{"):
                notes.add(f"attribute {key} of <{element.tag}>", self._why(key, read), owner)

    def _note_child(self, child: Any, read: list[str], owner: str, notes: Notes) -> None:
        """Note a child without effect, unless the child is foreign or has a harmless text."""
        if child.tag.startswith(self.foreign):
            return
        if (child.text or "").strip() in self.harmless.get(child.tag, ()):
            return
        tag, above = tag_of(child), child.getparent().tag
        why = self.why_within.get(f"{above}/{tag}") or self._why(tag, read)
        notes.add(f"<{tag}> of <{above}>", why, child.get("name", owner))

    def _known(self, element: etree._Element) -> tuple[str, str] | None:
        """Return the attributes and children of an element that are read, or None if unknown."""
        parent = element.getparent()
        within = "" if parent is None else f"{parent.tag}/{element.tag}"
        return self.read.get(within) or self.read.get(element.tag)

    def _is_read(self, child: etree._Element, children: list[str]) -> bool:
        """Return whether a child is read, and has an effect with its value."""
        if child.tag not in children and child.tag != "sensor":
            return False
        within = f"{child.getparent().tag}/{child.tag}"
        check = self.checks.get(within) or self.checks.get(child.tag)
        return check is None or check(child, (child.text or "").strip())

    def _why(self, name: str, known: list[str]) -> str:
        why = (self.why_values if name in known else self.why).get(name)
        return why or f"not read{suggestion(name, known)}"
