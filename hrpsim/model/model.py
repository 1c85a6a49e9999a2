# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The robot model: names, sizes, frames, shapes, sensors, and arrays for the kernels."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from hrpsim.common.errors import ModelError, unknown_name
from hrpsim.common.sealing import Sealed
from hrpsim.model.actuator import Actuator
from hrpsim.model.readers.robot_data import ConnectionData, MeshFile, RobotData, Transmission
from hrpsim.model.readers.urdf.joint_motions import MOTIONS, JointMotion
from hrpsim.model.sensors.sampled_sensor import SampledSensor
from hrpsim.model.shapes.geometry import Geometry, Mesh
from hrpsim.model.shapes.placement import Placement, quaternion_of
from hrpsim.model.system import FREE, JOINT_NQ, System
from hrpsim.model.transmission import Tendon

BASES = ("free", "fixed")
GREY = (190, 195, 205)  # of what has no colour
MESH_USES = ("hull", "exact", "none")  # uses of collision meshes


@dataclass(frozen=True)
class Joint:
    """A moving joint: the body in the kernels, and the indices in q and v."""

    name: str
    joint_type: int  # hrpsim.model.system REVOLUTE, PRISMATIC or FREE
    body: int
    q_index: int
    v_index: int

    @property
    def motion(self) -> JointMotion:
        """Coordinates of the joint, with unit and usual range."""
        return MOTIONS[self.joint_type]


@dataclass(frozen=True)
class Frame:
    """A link's frame, placed by R_body_frame and p_body [m] in the frame of `body` (-1: world)."""

    name: str
    body: int
    R: np.ndarray  # (3, 3)
    p: np.ndarray  # (3,)


@dataclass(frozen=True)
class CollisionShape:
    """One collision element: geometry placed in the frame of the body (-1: the world)."""

    name: str
    link: str
    body: int
    R: np.ndarray  # (3, 3)
    p: np.ndarray  # (3,)
    geometry: Geometry
    material: str = "default"

    def __post_init__(self) -> None:
        if type(self.geometry) is Mesh:  # hulls and height fields have none by construction
            self.geometry.require_areas()


class Visual(NamedTuple):
    """One drawn shape, placed in the frame of the link."""

    link: str
    placement: Placement
    geometry: Geometry | MeshFile
    color: tuple[int, int, int] = GREY


@dataclass(frozen=True)
class MeshUse:
    """The use of the mesh of one <collision>: "hull", "exact" or "none".

    "none" disables collisions of the mesh. `note` lists repairs of the mesh, and explains a use
    that differs from the requested use.
    """

    link: str
    uri: str
    file: str
    use: str
    vertices: int = 0
    triangles: int = 0
    note: str = ""


@dataclass(frozen=True)
class Sensor:
    """A sensor of the robot description, placed in the frame of the body (-1: the world).

    Kind "force_torque" measures the wrench that the child side of the joint above `body` exerts on
    the parent side, expressed in and about the sensor frame. If `tare` is set, the weight of the
    child side is subtracted. The result is the same as if a controller had zeroed the sensor with
    the foot in the air. At rest the sensor then reads the floor reaction. Kind "imu" measures
    angular velocity and specific force (+g at rest) in the sensor frame.

    In each step, the reading is the measurement at the time `latency` [s] before, interpolated
    between steps. The reading is 0 if this time is before the first step. `rate` is the rate at
    which readings are published. A published reading has noise and a bias with these standard
    deviations (6,). The bias has the mean `bias_mean` (6,). If given, `topic` and the link `frame`
    are the topic and the frame of the messages.
    """

    name: str
    kind: str
    link: str
    body: int
    R: np.ndarray  # (3, 3)
    p: np.ndarray  # (3,)
    tare: bool = False
    rate: float = 0.0  # [Hz], 0: same rate as the state
    noise: tuple[float, ...] = ()
    bias: tuple[float, ...] = ()
    topic: str = ""
    frame: str = ""
    latency: float = 0.0
    bias_mean: tuple[float, ...] = ()
    reversed: bool = False  # whether a force sensor reads the wrench of the parent on the child

    @property
    def own_noise(self) -> tuple[tuple[float, ...], tuple[float, ...], tuple[float, ...]]:
        """The standard deviations of the noise and of the bias, and the means of the bias.

        Each of the three arrays is (6,), or empty without noise or bias.
        """
        return self.noise, self.bias, self.bias_mean


class Lift(NamedTuple):
    """Gravity compensation of a link: a force at its centre of mass, against part of its weight."""

    body: int
    point: tuple[float, float, float]  # point where the force acts, in the frame of the body [m]
    mass: float  # compensated part of the mass [kg]


@dataclass(frozen=True, eq=False)
class Model(Sealed):
    """A robot: a tree of bodies on a free base or fixed to the world.

    q has the base x y z qx qy qz qw (free base only), then one number for each joint. v has the
    base linear velocity and base angular velocity, both in the base frame, then the joint rates.
    Joints are depth first, with siblings sorted by joint name (the order of Pinocchio). A
    continuous joint takes one angle. A floating joint on a fixed base takes seven numbers of q, the
    pose in the world, and six numbers of v.
    """

    _kind = "model"

    name: str  # name of the robot
    base: str  # "free" or "fixed"
    base_link: str  # name of the root link
    system: System  # arrays of the kernels: tree, inertias, joint properties
    joints: tuple[Joint, ...]  # moving joints, in the order of q and v
    frames: dict[str, Frame]  # frame by link, in the order of the description
    shapes: tuple[CollisionShape, ...] = ()  # collision elements
    visuals: tuple[Visual, ...] = ()  # visual elements
    sensors: tuple[Sensor, ...] = ()  # in the order of the description
    sampled_sensors: tuple[SampledSensor, ...] = ()  # sensors with their own rate
    gains: dict[str, tuple[float, float]] = field(default_factory=dict)  # (kp, kd) by joint
    actuators: dict[str, Actuator] = field(default_factory=dict)  # actuator by joint
    command_interfaces: dict[str, tuple[str, ...]] = field(default_factory=dict)  # by joint
    start: dict[str, float] = field(default_factory=dict)  # position at the start by joint
    transmissions: dict[str, Transmission] = field(default_factory=dict)  # transmissions by name
    tendons: dict[str, Tendon] = field(default_factory=dict)  # driven tendons by name
    lifts: tuple[Lift, ...] = ()  # compensations of gravity
    connections: tuple[ConnectionData, ...] = ()  # connections between links, such as closed loops
    meshes: tuple[MeshUse, ...] = ()  # uses of the mesh collision elements
    disabled_collisions: frozenset[tuple[str, str]] = frozenset()  # pairs of links, sorted
    keyframes: dict[str, np.ndarray] = field(default_factory=dict)  # q (nq,) by posture
    not_simulated: tuple[str, ...] = ()  # elements that have no effect
    text: str = ""  # text of the URDF, "" for other formats
    robot: RobotData | None = None  # description of another format, None for URDF
    source: str = "<text>"  # path of the description

    def __repr__(self) -> str:
        joints = f"{len(self.joint_names)} joints, {self.body_count} bodies, {self.mass:g} kg"
        return f"<Model {self.name!r}: {self.base} base, {joints}>"

    @cached_property
    def urdf(self) -> str:
        """URDF text of the robot: the text that was read, or a text written from another format.

        Raises ModelError for a name that XML cannot contain.
        """
        if self.robot is None:
            return self.text
        from hrpsim.model.readers.urdf_writer import write_urdf

        return write_urdf(self.robot)

    @cached_property
    def nq(self) -> int:
        """Length of q."""
        return sum(JOINT_NQ[t] for t in self.system.joint_type)

    @cached_property
    def nv(self) -> int:
        """Length of v."""
        return len(self.system.dof_body)

    @property
    def body_count(self) -> int:
        """Number of rigid bodies that joints move."""
        return len(self.system.parent)

    @cached_property
    def joint_names(self) -> tuple[str, ...]:
        """Names of the joints with one degree of freedom, in the order of q and v."""
        return tuple(j.name for j in self.joints if j.joint_type != FREE)

    @property
    def link_names(self) -> tuple[str, ...]:
        """Names of all links of the description, fixed ones included."""
        return tuple(self.frames)

    @cached_property
    def free_joints(self) -> tuple[Joint, ...]:
        """The joints with six degrees of freedom."""
        return tuple(j for j in self.joints if j.joint_type == FREE)

    @cached_property
    def mass(self) -> float:
        """Mass of everything that moves [kg]."""
        return float(self.system.mass.sum())

    def neutral(self) -> np.ndarray:
        """Return q with every joint at zero and a free base at the origin.

        A floating joint is at the <origin> of the joint in the description.
        """
        q = np.zeros(self.nq)
        for joint in self.joints:
            if joint.joint_type == FREE:
                at = joint.q_index
                q[at : at + 3] = self.system.placement_p[joint.body]
                q[at + 3 : at + 7] = quaternion_of(self.system.placement_R[joint.body])
        return q

    def starting(self) -> np.ndarray:
        """Return the initial q of robots: `neutral`, with the joint positions in `start`.

        Mimic joints follow their leaders.
        """
        q, system = self.neutral(), self.system
        for name, position in self.start.items():
            q[self.joint(name).q_index] = position
        if self.start:
            at = {joint.v_index: joint.q_index for joint in self.joints}
            for joint in self.joints:
                leader = int(system.mimic_dof[joint.v_index])
                if leader >= 0 and joint.name not in self.start:
                    ratio, offset = (
                        values[joint.v_index]
                        for values in (system.mimic_ratio, system.mimic_offset)
                    )
                    q[joint.q_index] = ratio * q[at[leader]] + offset
        return q

    def joint(self, name: str) -> Joint:
        """Return the joint called `name`. ModelError lists the existing joints."""
        for joint in self.joints:
            if joint.name == name:
                return joint
        raise ModelError(
            f"{self.source}: {unknown_name('joint', name, [j.name for j in self.joints])}"
        )

    def frame(self, link: str) -> Frame:
        """Return the frame of `link`. ModelError lists the existing links."""
        try:
            return self.frames[link]
        except (KeyError, TypeError):  # TypeError: a list
            raise ModelError(f"{self.source}: {unknown_name('link', link, self.frames)}") from None


def adjacent_bodies(model: Model) -> frozenset[tuple[int, int]]:
    """Return pairs of bodies (smaller first, -1 for the world) connected by one or more joints.

    Links that are fixed to each other are one body. A body without a shape, such as the body
    between an ankle and a sole on rubber bushes, is skipped. Each body is therefore adjacent to the
    nearest ancestor with a shape. A floating body has no adjacent body.
    """
    shaped = {shape.body for shape in model.shapes}
    pairs = set()
    for body in shaped:
        above = body
        while above >= 0 and model.system.joint_type[above] != FREE:
            above = int(model.system.parent[above])
            if above in shaped:
                pairs.add((above, body))
                break
    return frozenset(pairs)
