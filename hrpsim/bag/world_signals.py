# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The table of a world's signals: names, shapes, units, frames, and functions to read values.

Names follow the topics of the ROS 2 node. The only robot of a world has no prefix. Each of several
robots, each robot that is added later, and each free body has its name as prefix.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

import numpy as np

from hrpsim.bag import signal_types as types
from hrpsim.bag.signal_types import SignalField, fields_of, named_fields
from hrpsim.control.estimation.zero_moment_point import FOOT_SENSORS, MeasuredZmp
from hrpsim.engine.dynamics.functions import center_of_mass
from hrpsim.engine.dynamics.joint_forces import EFFORTS, POSITIONS, VELOCITIES
from hrpsim.model.readers.robot_data import free_name
from hrpsim.model.sensor_names import sensor_frame, sensor_topic
from hrpsim.model.system import FREE
from hrpsim.world.objects.body import Body
from hrpsim.world.objects.contact_view import ContactView
from hrpsim.world.objects.entity import Entity
from hrpsim.world.objects.robot import Robot
from hrpsim.world.start import world_kinetic_energy
from hrpsim.world.world import World

WORLD_FRAME = "odom"
"""Name of the world's frame, as the node has it by default."""

_SOLVER = (
    *("iterations", "residual", "converged", "contact_count", "row_count"),
    *("max_penetration", "newton_islands", "asleep"),
)
OF_WORLD = ("solver", "energy")  # topics of the world as a whole
_FLOWS = ("work", "created", "dissipated", "corrected")
_CONTACTS = ("force_x", "force_y", "force_z", "points")


class Source(NamedTuple):
    """A topic of a world, with its fields and a function `read` that returns all its numbers."""

    topic: str
    type_name: str
    fields: tuple[SignalField, ...]
    frame: str  # frame of vectors and poses, "" for scalars
    meaning: str
    read: Callable[[], np.ndarray]  # returns the values of all fields in sequence
    entity: Entity | None = None  # entity of the signals

    @property
    def columns(self) -> list[str]:
        """Full names of the columns."""
        return [name for field in self.fields for name in field.columns(self.topic)]


def sources_of(world: World, prefixes: dict[str, str] | None = None) -> list[Source]:
    """Return all topics of a world.

    prefixes: prefix of the topics of each robot by name, such as "left/". The default is the
    prefixes that a new world has.
    """
    entity_prefixes = prefixes_of(world) if prefixes is None else prefixes
    result = sources_of_whole(world)
    for entity in world.entities.values():
        result += sources_of_entity(entity, entity_prefixes.get(entity.name, f"{entity.name}/"))
    return result


def sources_of_whole(world: World) -> list[Source]:
    """Return the topics `solver` and `energy`, which describe the whole world."""
    return [_solver(world), _energy(world)]


def prefixes_of(world: World) -> dict[str, str]:
    """Return the prefix of each robot: the only robot of a world has none."""
    return {name: "" if len(world.robots) == 1 else f"{name}/" for name in world.robots}


def sources_of_entity(entity: Entity, prefix: str) -> list[Source]:
    """Return the topics of a robot or body, each with the prefix."""
    made = [*_of_robot(entity)] if isinstance(entity, Robot) else []
    if moves_freely(entity):
        made.append(_odometry(entity))
    if entity.shapes:
        made.append(_link_contacts(entity))
    names: list[str] = []
    for source in made:  # a sensor may have the name of another topic
        names.append(free_name(source.topic, {*OF_WORLD, *names}))
    return [
        source._replace(topic=prefix + name, entity=entity) for name, source in zip(names, made)
    ]


def moves_freely(entity: Entity) -> bool:
    """Return whether an entity is a free body, or a robot on a free base."""
    return len(entity.system.joint_type) > 0 and entity.system.joint_type[0] == FREE


def read_joint_states(robot: Robot, numbers_out: np.ndarray) -> None:
    """Write positions, velocities and efforts of all joints, as encoders and sensors read them."""
    parts = numbers_out.reshape(3, -1)
    parts[0], parts[1] = robot.joint_positions, robot.joint_velocities
    parts[2] = robot.joint_efforts
    if robot.fitted_actuators:
        robot.measure(robot.joint_index.everywhere, *parts)


def _solver(world: World) -> Source:
    def read() -> np.ndarray:
        stats = world.stats
        return np.array([float(getattr(stats, name)) for name in _SOLVER])

    meaning = "`World.stats` of the last step"
    return Source("solver", types.NAMED_VALUES, named_fields(_SOLVER), "", meaning, read)


def _energy(world: World) -> Source:
    audited = world.stats.energy is not None
    names = ("kinetic", "potential", *(("elastic", *_FLOWS) if audited else ()))

    def read() -> np.ndarray:
        state = [world_kinetic_energy(world), _potential(world)]
        energy = world.stats.energy
        if energy is None:
            return np.array(state)
        elastic = energy.elastic if world.time > 0.0 else np.nan  # measured by a step
        flows = [getattr(energy.since_reset, name) for name in _FLOWS]
        return np.array([*state, elastic, *flows])

    meaning = "energy of everything" + (", flows since the reset" if audited else "")
    return Source("energy", types.NAMED_VALUES, named_fields(names), "", meaning, read)


def _potential(world: World) -> float:
    """Return the potential energy of gravity, zero at the world's origin [J]."""
    moment = np.zeros(3)
    for entity in world.entities.values():
        if isinstance(entity, Robot):
            moment += entity.model.mass * center_of_mass(entity.model, entity.q)
        elif isinstance(entity, Body):
            moment += entity.mass * entity.q[:3]
    return float(-world.gravity @ moment)


def _of_robot(robot: Robot) -> Iterator[Source]:
    joints = robot.joint_names
    if joints:
        yield _joint_states(robot, joints)
        yield _joint_commands(robot, joints)
    for sensor in robot.model.sensors:
        frame, view = sensor_frame(robot.model, sensor), robot.sensors[sensor.name]
        if sensor.kind == "force_torque":
            meaning = "wrench of the child side on the parent side, without noise"
            yield _wrench(sensor_topic(sensor), frame, meaning, partial(getattr, view, "reading"))
        else:
            yield _imu(sensor_topic(sensor), frame, view)
    for sampler in robot.samplers:
        if isinstance(sampler, ContactView):
            pad, read = sampler.description, partial(getattr, sampler, "wrench")
            meaning = "wrench of the contacts alone, latest sample"
            yield _wrench(pad.topic or pad.name, sensor_frame(robot.model, pad), meaning, read)
    kinds = {sensor.name: sensor.kind for sensor in robot.model.sensors}
    feet = [name for name in FOOT_SENSORS if kinds.get(name) == "force_torque"]
    if feet:
        yield _zmp(robot, feet)


def _wrench(topic: str, frame: str, meaning: str, read: Callable[[], np.ndarray]) -> Source:
    return Source(topic, types.WRENCH, fields_of(types.WRENCH), frame, meaning, read)


def _joint_states(robot: Robot, joints: tuple[str, ...]) -> Source:
    def read() -> np.ndarray:
        numbers = np.empty(3 * len(joints))
        read_joint_states(robot, numbers)
        return numbers

    meaning = "joints as their encoders read, efforts of the last step"
    fields = fields_of(types.JOINT_STATE, joints)
    return Source("joint_states", types.JOINT_STATE, fields, "", meaning, read)


def _joint_commands(robot: Robot, joints: tuple[str, ...]) -> Source:
    def read() -> np.ndarray:
        control = robot.world.scene.control[robot.first_v + robot.joint_index.v]
        flags, acts = control["given"], (control["kp"] != 0.0) | (control["kd"] != 0.0)
        end = control["target_position"] + control["ramp"] * control["ramp_steps"]
        rows = (
            np.where((flags & POSITIONS != 0) & acts, end, np.nan),
            np.where((flags & VELOCITIES != 0) & acts, control["target_velocity"], np.nan),
            np.where(flags & EFFORTS != 0, control["effort"], np.nan),
        )
        return np.concatenate(rows)

    meaning = "commands that act from this time on; NaN: not commanded"
    fields = fields_of(types.JOINT_STATE, joints)
    return Source("joint_commands", types.JOINT_STATE, fields, "", meaning, read)


def _imu(topic: str, frame: str, view) -> Source:
    def read() -> np.ndarray:
        return np.concatenate([view.orientation, view.reading])

    meaning = "rates and specific force, without noise; orientation in the world"
    return Source(topic, types.IMU, fields_of(types.IMU), frame, meaning, read)


def _zmp(robot: Robot, feet: list[str]) -> Source:
    zmp = MeasuredZmp(robot, feet, lambda name: robot.sensors[name].wrench)

    def read() -> np.ndarray:
        point = zmp.point()
        return np.full(3, np.nan) if point is None else np.array(point)

    meaning = f"zero-moment point of {', '.join(feet)}; nothing without load"
    return Source("zmp", types.POINT, fields_of(types.POINT), WORLD_FRAME, meaning, read)


def _odometry(entity: Entity) -> Source:
    def read() -> np.ndarray:
        return np.concatenate([entity.q[:7], entity.v[:6]])

    meaning = "true pose in the world; velocities along the axes of the base or body"
    return Source("odom", types.ODOMETRY, fields_of(types.ODOMETRY), WORLD_FRAME, meaning, read)


def _link_contacts(entity: Entity) -> Source:
    links = tuple(dict.fromkeys(shape.link for shape in entity.shapes))
    columns = {link: k for k, link in enumerate(links)}

    def read() -> np.ndarray:
        contacts, names = entity.contact_arrays(), entity.world.reader.table.names
        rows = np.zeros((len(_CONTACTS), len(links)))
        for link, force in zip(contacts.links.tolist(), contacts.forces):
            k = columns[names[link][1]]
            rows[:3, k] += force
            rows[3, k] += force.any()
        return rows.ravel()

    meaning = "sum of the contact forces on each link, number of points that press"
    fields = named_fields(_CONTACTS, links)
    return Source("link_contacts", types.NAMED_VALUES, fields, WORLD_FRAME, meaning, read)
