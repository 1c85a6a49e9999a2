# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Transmissions of constant ratios between actuators and joints, from ros2_control or tendons."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from hrpsim.common.errors import require_name, unknown_name
from hrpsim.common.values import LARGEST, is_number
from hrpsim.model.readers.robot_data import Notes, Transmission
from hrpsim.model.readers.urdf.description import Description
from hrpsim.model.readers.urdf.joint_types import MOVING_TYPES

# Numbers of actuators and joints of each kind.
KINDS = {"SimpleTransmission": 1, "DifferentialTransmission": 2, "FourBarLinkageTransmission": 2}


@dataclass(frozen=True)
class Tendon:
    """A fixed tendon of two joints, pulled by an actuator. The length is the sum of c_i q_i.

    Gains and limit of the actuator apply along the length.
    """

    name: str
    joints: tuple[str, str]
    coefficients: tuple[float, float]
    gains: tuple[float, float]  # kp, kd; 0, 0: commanded by effort
    effort_limit: float


def read_transmissions(
    description: Description, rotors: Mapping[str, tuple[float, object]]
) -> tuple[dict[str, Transmission], dict[str, float], tuple[str, ...]]:
    """Read the transmissions of a robot description.

    An invalid transmission of <ros2_control> is an error. An invalid transmission beneath <robot>,
    as in ROS 1, is ignored with a note, as in Gazebo.

    Args:
        description: description of the robot.
        rotors: rotor inertia of each actuator [kg m^2 or kg], and the declaring element.

    Returns:
        (transmissions by name, reflected rotor inertias by joint [kg m^2 or kg], notes).

    Raises:
        ModelError: a transmission is ill-formed, or a rotor belongs to no transmission.
    """
    document, notes = description.document, Notes()
    transmissions: dict[str, Transmission] = {}
    for parent, element in _elements(description):
        kind = kind_of(element)
        cause = "" if kind in KINDS else unknown_name("type", kind, KINDS)
        try:
            if not cause:
                transmission = _transmission(description, element, kind)
                _refuse_shared(transmission, transmissions)
                transmissions[transmission.name] = transmission
        except _IllFormed as error:
            cause = str(error)
            if parent == "ros2_control":
                document.fail(element, cause)
        if cause:
            feature, name = f"<transmission> of <{parent}>", element.get("name", "")
            notes.add(feature, f"not simulated: {cause}", name)
    return transmissions, _reflected(description, transmissions, rotors), tuple(notes.lines())


def kind_of(element) -> str:
    """Return the name of the class of a <transmission>, without the package."""
    kind = element.findtext("plugin") or element.findtext("type") or element.get("type") or ""
    return kind.strip().rpartition("/")[2]


class _IllFormed(Exception):
    """The reason why an element is not a transmission."""


def _elements(description: Description) -> Iterator:
    """Yield (tag of the parent, element) of all transmissions."""
    document = description.document
    parents = document.root, *document.children(document.root, "ros2_control")
    for parent in parents:
        for element in document.children(parent, "transmission"):
            yield parent.tag, element


def _transmission(description: Description, element, kind: str) -> Transmission:
    joints, actuators = (_parts(description, element, tag, kind) for tag in ("joint", "actuator"))
    names, actuator_names = (
        tuple(str(part.get("name")) for part in group) for group in (joints, actuators)
    )
    for joint in names:
        require_name("joint", joint, description.joints, _IllFormed)
        if description.joints[joint].type not in MOVING_TYPES:
            raise _IllFormed(f"joint {joint!r} is {description.joints[joint].type}")
    n, m = ([_reduction(part) for part in group] for group in (joints, actuators))
    offsets = np.array([_number(part, ("offset",), 0.0) for part in joints])
    name = element.get("name") or names[0]
    return Transmission(name, names, actuator_names, _ratios(kind, n, m), offsets)


def _parts(description: Description, element, tag: str, kind: str) -> list:
    """Return the <joint> or <actuator> elements, in the order of roles if all have a role."""
    named = [part for part in description.document.children(element, tag) if part.get("name")]
    roles = [(part.get("role") or part.findtext("role") or "").strip() for part in named]
    count = KINDS[kind]
    if len(named) != count:
        raise _IllFormed(f"a {kind} needs {count} named <{tag}>, got {len(named)}")
    if len(set(roles)) == count and all(roles):
        named = [part for _, part in sorted(zip(roles, named), key=lambda pair: pair[0])]
    return named


def _ratios(kind: str, n: list[float], m: list[float]) -> np.ndarray:
    """Return the matrix (k, k) of reductions n of the joints and m of the actuators."""
    if kind == "SimpleTransmission":
        if 1.0 not in (n[0], m[0]):
            raise _IllFormed(
                "both <joint> and <actuator> have a reduction. ROS 2 reads the reduction of the"
                " joint, ROS 1 the reduction of the actuator. Remove one of the two"
            )
        return np.array([[n[0] * m[0]]])
    if kind == "DifferentialTransmission":
        return np.array([[m[0] * n[0], m[0] * n[1]], [m[1] * n[0], -m[1] * n[1]]])
    return np.array([[m[0] * n[0], 0.0], [m[1], m[1] * n[1]]])


def _reduction(part) -> float:
    value = _number(part, ("mechanical_reduction", "mechanicalReduction"), 1.0)
    if value == 0.0:
        raise _IllFormed(f"the reduction of {part.get('name')!r} is zero")
    return value


def _number(part, tags: tuple[str, ...], default: float) -> float:
    text = next((t for tag in tags if (t := part.findtext(tag)) is not None), None)
    if text is None:
        return default
    try:
        value = float(text)
    except ValueError:
        value = np.nan
    if not is_number(value) or not abs(value) <= LARGEST:
        raise _IllFormed(f"<{tags[0]}> of {part.get('name')!r} is {text.strip()!r}, not a number")
    return value


def _refuse_shared(transmission: Transmission, others: Mapping[str, Transmission]) -> None:
    """Refuse a name, joint or actuator that belongs to another transmission."""
    for other in others.values():
        if transmission.name == other.name:
            raise _IllFormed("a transmission with this name exists already")
        for kind in ("joints", "actuators"):
            shared = set(getattr(transmission, kind)) & set(getattr(other, kind))
            if shared:
                raise _IllFormed(f"{kind[:-1]} {min(shared)!r} belongs to {other.name!r} already")


def _reflected(
    description: Description,
    transmissions: Mapping[str, Transmission],
    rotors: Mapping[str, tuple[float, object]],
) -> dict[str, float]:
    """Return the rotor inertias of actuators reflected to the joints."""
    actuators = {name: t for t in transmissions.values() for name in t.actuators}
    document = description.document
    for name, (_, element) in rotors.items():
        document.require_name(element, "actuator of a transmission", name, actuators)
    result: dict[str, float] = {}
    for transmission in transmissions.values():
        entries = [rotors.get(name, (0.0, None)) for name in transmission.actuators]
        try:
            inertias = transmission.for_each_joint("rotors", np.array([i for i, _ in entries]))
        except ValueError as cause:
            document.fail(next(e for _, e in entries if e is not None), str(cause))
        result |= {j: float(i) for j, i in zip(transmission.joints, inertias) if i > 0.0}
    return result
