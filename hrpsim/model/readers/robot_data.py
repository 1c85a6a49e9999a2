# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A robot independent of the file format, with mesh files and notes on unsupported elements."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn

import numpy as np

from hrpsim.common.errors import ModelError
from hrpsim.model.readers.urdf.document import Document
from hrpsim.model.shapes.placement import IDENTITY, Placement

WORLD_LINK = "world"  # the root link of a robot that does not float
INITIAL = "initial"  # the keyframe with the pose that the file says

LONGEST_DELAY = 1.0  # of commands and of sensors [s]
SHOWN = 4  # names listed at most
BALL_AS_HINGES = "written as a hinge, equal at position 0 only"


@dataclass(frozen=True, eq=False)
class MeshData:
    """Triangles of a mesh: vertices (n, 3) [m], triangles (m, 3). `name` is for file names."""

    name: str
    vertices: np.ndarray
    triangles: np.ndarray


@dataclass(frozen=True)
class MeshFile:
    """A mesh file that hrpsim reads, by URI, scaled along the axes."""

    uri: str
    scale: tuple[float, float, float] = (1.0, 1.0, 1.0)


@dataclass(frozen=True)
class ShapeData:
    """One shape of a link. The kind determines `size`.

    Sizes [m] are edge lengths of a box, radius of a sphere, or radius and straight length of a
    cylinder or capsule. A mesh has no size, and `mesh` has the data.
    """

    kind: str
    size: tuple[float, ...] = ()
    placement: Placement = IDENTITY
    mesh: MeshData | MeshFile | None = None
    color: tuple[float, ...] | None = None  # red, green, blue, opacity, each from 0 to 1
    name: str = ""
    material: str | None = None  # contact material that replaces the link's material
    element: object = None  # element of a URDF, for error messages

    @property
    def is_void(self) -> bool:
        """Whether the shape is empty: a box with edges of 0, or a cylinder with radius 0."""
        if self.kind in ("cylinder", "capsule"):
            return self.size[0] == 0.0
        return self.kind == "box" and not any(self.size)


@dataclass
class LinkData:
    """A link with inertia in the link's frame.

    The inertia is mass [kg], centre (3,) [m], and inertia about the centre (3, 3).
    """

    name: str
    inertial: tuple[float, np.ndarray, np.ndarray] | None = None
    collisions: list[ShapeData] = field(default_factory=list)
    visuals: list[ShapeData] = field(default_factory=list)
    material: str | None = None
    gravity_compensation: float = 0.0  # compensated fraction of the weight
    mesh_use: str | None = None  # use of the collision meshes, one of MESH_USES
    element: object = None  # element of a URDF, for error messages


@dataclass
class JointData:
    """A joint above the link `child`. `type` is a joint type of URDF.

    All values are in SI units. A missing limit is inf.
    """

    name: str
    type: str
    parent: str
    child: str
    origin: Placement = IDENTITY
    axis: tuple[float, float, float] = (1.0, 0.0, 0.0)
    lower: float = -math.inf
    upper: float = math.inf
    velocity: float = math.inf
    effort: float = math.inf
    damping: float = 0.0
    friction: float = 0.0
    rotor_inertia: float = 0.0  # reflected through the gear
    stiffness: float = 0.0
    rest: float = 0.0
    gains: tuple[float, float] | None = None
    actuator: dict[str, Any] = field(default_factory=dict)  # properties of hrpsim.Actuator
    mimic: tuple[str, float, float] | None = None  # leader, ratio, offset
    start: float | None = None  # position when a robot is added to a world
    ball: int = 0  # part of a ball joint, see hrpsim.model.system.System
    element: object = None  # element of a URDF, for error messages


@dataclass
class TendonData:
    """A fixed tendon of two joints, and its actuator. The fields are as in `JointData`."""

    name: str
    joints: tuple[str, str]
    coefficients: tuple[float, float]
    effort: float = math.inf
    gains: tuple[float, float] | None = None
    damping: float = 0.0
    rotor_inertia: float = 0.0
    actuator: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Transmission:
    """A linear map from k joint positions to k actuator positions: a = ratios (q - offsets).

    Velocities have the same map. Virtual work gives the joint efforts: tau = ratios^T (efforts of
    actuators).
    """

    name: str
    joints: tuple[str, ...]
    actuators: tuple[str, ...]
    ratios: np.ndarray  # (k, k)
    offsets: np.ndarray  # of the joints (k,) [rad or m]

    def reflected(self, values: np.ndarray) -> np.ndarray:
        """Return inertias, gains or dampings of actuators (k,) reflected to the joints (k, k)."""
        return self.ratios.T @ np.diag(values) @ self.ratios

    def for_each_joint(self, what: str, values: np.ndarray) -> np.ndarray:
        """Return the diagonal of `reflected`, one number for each joint (k,).

        Raises ValueError if joints would be coupled.
        """
        reflected = self.reflected(values)
        alone = np.diagonal(reflected).copy()
        coupled = np.abs(reflected - np.diag(alone)).max()
        if coupled > 1e-12 * np.abs(reflected).max():
            raise ValueError(
                f"{what} of {' and '.join(map(repr, self.actuators))} couple the joints"
                f" {' and '.join(map(repr, self.joints))} by {coupled:.6g}, but {what}"
                f" of joints cannot be coupled. Set {what} of the joints, or of the actuators in"
                " inverse proportion to the squares of the reductions"
            )
        return alone


@dataclass(frozen=True)
class SensorData:
    """A sensor in a link, of kind "force_torque" (of the joint above the link) or "imu".

    `hrpsim.model.model.Sensor` describes the fields.
    """

    name: str
    kind: str
    link: str
    placement: Placement = IDENTITY
    latency: float = 0.0  # [s]
    tare: bool = False
    rate: float = 0.0  # rate of publication [Hz], 0: same rate as the state
    noise: tuple[float, ...] = ()
    bias: tuple[float, ...] = ()
    bias_mean: tuple[float, ...] = ()
    topic: str = ""
    frame: str = ""
    reversed: bool = False
    element: object = None  # element of a URDF, for error messages


@dataclass(frozen=True)
class SampledSensorData:
    """A sensor with its own sampling rate, such as a camera. Settings are texts."""

    name: str
    kind: str
    link: str
    placement: Placement
    settings: dict[str, str]
    topic: str = ""
    frame: str = ""
    element: object = None  # element of a URDF, for error messages


@dataclass(frozen=True)
class ConnectionData:
    """A connection of two links that closes a loop: a frame in each link, and constrained axes."""

    name: str
    kind: str | None
    axes: tuple[str, ...] | None
    links: tuple[str, str]
    frames: tuple[Placement, Placement]  # in the links' frames
    length: float | None = None
    settings: dict[str, float | str | bool] = field(default_factory=lambda: {"collide": False})


@dataclass(frozen=True)
class KeyframeData:
    """A named posture: the base's placement (None: as described) and the joints' positions."""

    name: str
    base: Placement | None
    joints: dict[str, tuple[float, ...]]  # by joint, x y z qx qy qz qw for a floating joint


Part = LinkData | JointData | SensorData | SampledSensorData | ShapeData
_KINDS = {
    LinkData: "link",
    JointData: "joint",
    SensorData: "sensor",
    SampledSensorData: "sensor",
    ShapeData: "shape",
}


@dataclass
class RobotData:
    """A robot with `joints` in any order.

    commanded: (joint, interfaces) in the actuators' order.
    joint_order: joints in the order of Choreonoid's lists of positions, "" for entries without a
    moving joint.
    notes: elements that hrpsim does not simulate, one line for each kind.
    label, document: name of the description for errors, and the XML of a URDF.
    """

    name: str
    root: str
    label: str = "<text>"
    document: Document | None = None
    links: dict[str, LinkData] = field(default_factory=dict)
    joints: dict[str, JointData] = field(default_factory=dict)
    sensors: list[SensorData] = field(default_factory=list)
    sampled_sensors: list[SampledSensorData] = field(default_factory=list)
    connections: list[ConnectionData] = field(default_factory=list)
    transmissions: dict[str, Transmission] = field(default_factory=dict)
    tendons: list[TendonData] = field(default_factory=list)
    apart: list[tuple[str, str]] = field(default_factory=list)  # pairs of links that never collide
    keyframes: list[KeyframeData] = field(default_factory=list)
    commanded: dict[str, tuple[str, ...]] = field(default_factory=dict)
    joint_order: tuple[str, ...] = ()
    notes: list[str] = field(default_factory=list)

    def add_link(self, name: str) -> LinkData:
        """Add a link and return the link. The name must be new."""
        self.links[name] = LinkData(name)
        return self.links[name]

    def add_joint(self, joint: JointData) -> JointData:
        """Add a joint and return the joint. The name must be new."""
        self.joints[joint.name] = joint
        return joint

    def add_start(self, base: Placement | None, joints: Mapping[str, float]) -> None:
        """Add the keyframe of the file's initial pose, unless the pose is empty."""
        if base is not None or joints:
            start = KeyframeData(INITIAL, base, {})
            start.joints.update((name, (position,)) for name, position in joints.items())
            self.keyframes.append(start)

    def all_sensors(self) -> list[SensorData | SampledSensorData]:
        """Return the sensors measured in each step, then the sensors with their own rate."""
        return [*self.sensors, *self.sampled_sensors]

    def joints_above(self) -> dict[str, JointData]:
        """Return the joint above each link. The root has none."""
        return {joint.child: joint for joint in self.joints.values()}

    def joints_beneath(self) -> dict[str, list[JointData]]:
        """Return the joints beneath each link, sorted by name."""
        result: dict[str, list[JointData]] = {link: [] for link in self.links}
        for name in sorted(self.joints):
            result[self.joints[name].parent].append(self.joints[name])
        return result

    def where(self, part: Part) -> str:
        """Return the location of an element for messages: "file:line: link 'name'"."""
        if self.document is not None:
            return self.document.where(part.element)
        return f"{self.label}: {_KINDS[type(part)]} {part.name!r}"

    def fail(self, part: Part, cause: str) -> NoReturn:
        """Raise ModelError with the location of an element and the cause."""
        raise ModelError(f"{self.where(part)}: {cause}")

    def free_joint_name(self, wanted: str) -> str:
        """Return `wanted`, or a similar name that no joint has."""
        return free_name(wanted, self.joints)


def free_name(wanted: str, taken: Iterable[str]) -> str:
    """Return `wanted`, with a number if the name is taken."""
    taken = taken if isinstance(taken, Mapping) else set(taken)
    name, number = wanted, 1
    while name in taken:
        number += 1
        name = f"{wanted}_{number}"
    return name


def counted(names: Iterable[str]) -> str:
    """Return "(number: 'name', 'name', ...)", with each name once."""
    unique = list(dict.fromkeys(names))
    listed = ", ".join(map(repr, unique[:SHOWN])) + (", ..." if len(unique) > SHOWN else "")
    return f"({len(unique)}: {listed})"


class Notes:
    """Notes on elements of a description, in order of appearance."""

    def __init__(self) -> None:
        self._names: dict[tuple[str, str], list[str]] = {}

    def add(self, element: str, why: str, name: str = "", times: int = 1) -> None:
        """Note that an element is not simulated as described.

        why: the reason. name: name of the element, or "" for `times` more elements without a name.
        """
        if times:
            self._names.setdefault((element, why), []).extend([name] * times)

    def lines(self) -> list[str]:
        """Return a line "element (count: names): why" for each note."""
        result = []
        for (element, why), names in self._names.items():
            named = [name for name in dict.fromkeys(names) if name]
            listed = ", ".join(named[:SHOWN]) + (", ..." if len(named) > SHOWN else "")
            count = str(len(names)) + (f": {listed}" if listed else "")
            result.append(f"{element} ({count}): {why}")
        return result


def note_unwritten(
    robot: RobotData, sensors: Iterable[SensorData | SampledSensorData], notes: Notes, why: str
) -> None:
    """Note the elements of a robot that are written neither to SDF nor to MJCF.

    why: reasons for elements that SDF lacks.
    """
    for sensor in sensors:
        notes.add(f"sensor {sensor.kind}", "not written", sensor.name)
    for tendon in robot.tendons:
        notes.add("tendon", why, tendon.name)
    for name in robot.transmissions:
        notes.add("transmission", why, name)
    for a, b in robot.apart:
        notes.add("pair that does not collide", "not written", f"{a} - {b}")
    for key in robot.keyframes:
        notes.add("keyframe", why, key.name)
