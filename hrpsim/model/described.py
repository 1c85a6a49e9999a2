# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The contents of <hrpsim> elements of a URDF, by joint or link name, and kinds of connections."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from hrpsim.common.errors import require_name
from hrpsim.model.actuator import Actuator
from hrpsim.model.readers.urdf.description import Description
from hrpsim.model.readers.urdf.srdf import Pair, pair_of
from hrpsim.model.shapes.placement import Placement
from hrpsim.model.transmission import Tendon, Transmission

AXES = ("x", "y", "z", "rx", "ry", "rz")  # along and about the axes of frame a

CONNECTION_SOLVERS = ("iterative", "direct")

# what a connection of each kind holds; `distance` holds the line between the points as axis "x"
KINDS = {
    "fixed": AXES,
    "ball": ("x", "y", "z"),
    "hinge": ("x", "y", "z", "rx", "ry"),
    "slider": ("x", "y", "rx", "ry", "rz"),
    "cylindrical": ("x", "y", "rx", "ry"),
    "universal": ("x", "y", "z", "rz"),
    "distance": ("x",),
}


@dataclass(frozen=True)
class DescribedConnection:
    """A <connection> of the robot description: two links, and a frame in each of them."""

    name: str
    kind: str | None
    axes: tuple[str, ...] | None
    links: tuple[str, str]
    frames: tuple[Placement, Placement]  # in the links' frames
    length: float | None
    settings: dict[str, float | str | bool]  # compliance, damping_time, force_limit, solver, ...


def held_axes(kind: str | None, axes: Iterable[str] | None) -> tuple[str, ...]:
    """Return the axes held by a kind, or else `axes`. The default kind is "fixed".

    ValueError lists the existing kinds and axes.
    """
    if axes is None:
        kind = "fixed" if kind is None else kind
        require_name("kind of connection", kind, KINDS, ValueError)
        return KINDS[kind]
    if kind is not None:
        raise ValueError(f"give a kind ({kind!r}) or axes ({axes!r}), not both")
    axes = tuple(axes)
    for axis in axes:
        require_name("axis", axis, AXES, ValueError)
    if not axes or len(set(axes)) != len(axes):
        raise ValueError(f"axes must name each axis that is held once, got {axes!r}")
    return axes


@dataclass(frozen=True)
class Spring:
    """A linear spring and damper on a joint's coordinate."""

    stiffness: float  # [Nm/rad] or [N/m]
    damping: float  # [Nms/rad] or [Ns/m]
    rest: float  # [rad] or [m]


@dataclass(frozen=True)
class DescribedSensor:
    """A <sensor>: its link, and its placement in the link's frame."""

    name: str
    kind: str
    link: str
    placement: Placement
    tare: bool
    rate: float  # at which it is published [Hz]; 0: as often as the state
    element: object
    latency: float = 0.0  # as in Sensor, and the next ones
    noise: tuple[float, ...] = ()
    bias: tuple[float, ...] = ()
    topic: str = ""
    frame: str = ""
    bias_mean: tuple[float, ...] = ()
    reversed: bool = False


@dataclass(frozen=True)
class DescribedSampled:
    """A <sensor> with a rate of its own. Its settings are texts."""

    name: str
    kind: str
    link: str
    placement: Placement
    settings: dict[str, str]
    element: object
    topic: str = ""
    frame: str = ""


@dataclass(frozen=True)
class DescribedKeyframe:
    """A <keyframe>: the pose of the base (None for the origin), and the joints' positions."""

    name: str
    base: Placement | None
    joints: dict[str, list[float]]


@dataclass
class Extension:
    """The contents of <hrpsim> and <ros2_control>, by joint or link name."""

    springs: dict[str, Spring] = field(default_factory=dict)
    rotor_inertia: dict[str, float] = field(default_factory=dict)  # reflected
    actuator_rotors: dict[str, tuple[float, object]] = field(default_factory=dict)  # with elements
    transmissions: dict[str, Transmission] = field(default_factory=dict)
    tendons: dict[str, Tendon] = field(default_factory=dict)
    unread_transmissions: tuple[str, ...] = ()  # notes
    gains: dict[str, tuple[float, float]] = field(default_factory=dict)
    actuators: dict[str, Actuator] = field(default_factory=dict)
    gravity_compensation: dict[str, float] = field(default_factory=dict)  # by link
    materials: dict[str, str] = field(default_factory=dict)
    capsules: dict[str, set[str]] = field(default_factory=dict)  # link -> collision names
    meshes: dict[str, str] = field(default_factory=dict)  # link -> one of MESH_USES
    sensors: dict[str, DescribedSensor] = field(default_factory=dict)
    sampled: dict[str, DescribedSampled] = field(default_factory=dict)
    connections: dict[str, DescribedConnection] = field(default_factory=dict)
    command_interfaces: dict[str, tuple[str, ...]] = field(default_factory=dict)
    start: dict[str, float] = field(default_factory=dict)  # joint -> position [rad or m]
    apart: set[tuple[str, str]] = field(default_factory=set)  # links, "*" for all others
    keyframes: dict[str, DescribedKeyframe] = field(default_factory=dict)

    def stay_apart(self, description: Description) -> frozenset[Pair]:
        """Return the pairs of links, in the order of their names, that never collide."""
        found: set[Pair] = set()
        for link, other in self.apart:
            others = description.links if other == "*" else (other,)
            found.update(pair_of(link, name) for name in others if name != link)
        return frozenset(found)
