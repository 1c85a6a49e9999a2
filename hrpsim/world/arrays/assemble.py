# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Arrange the data of all entities in the arrays of a scene."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from hrpsim.engine.actuators.fill import actuator_records, fill_delay, leave_to_actuators
from hrpsim.engine.actuators.records import ACTUATOR, Actuators
from hrpsim.engine.collision.body_bounds import new_body_bounds
from hrpsim.engine.collision.records import SHAPE, Collision
from hrpsim.engine.collision.solids.collision_proxies import solids_of
from hrpsim.engine.collision.solids.polyhedra import Polyhedra
from hrpsim.engine.compile.fields import Axis, allocate
from hrpsim.engine.compile.lazy_kernels import new_lazy_kernels
from hrpsim.engine.constraints.joint_rows import LIMIT_PARAMETERS, MIMIC_PARAMETERS
from hrpsim.engine.constraints.tendon_rows import TENDON_JOINTS, Tendons
from hrpsim.engine.dynamics.constraint_bodies import constrained_sizes
from hrpsim.engine.kinematics.forest import forest_of
from hrpsim.engine.sensors.sensing import SENSOR
from hrpsim.engine.solvers.direct_system import new_direct_system
from hrpsim.engine.solvers.newton.newton_problem import new_newton_system
from hrpsim.engine.step.arrays import Scene
from hrpsim.model.model import CollisionShape
from hrpsim.model.sensors.kinds import STEP_KINDS
from hrpsim.model.shapes.box_of_mesh import box_of
from hrpsim.model.shapes.geometry import Geometry, Mesh
from hrpsim.model.system import JOINT_NQ, System, new_system
from hrpsim.world.objects.body import Body
from hrpsim.world.objects.entity import Entity, shape_radius, shape_thickness
from hrpsim.world.objects.robot import Robot

_SHIFTED_BY_BODY = ("parent", "root", "dof_body")


def joined_system(entities: list[Entity]) -> System:
    """Return one System for all entities, with shifted indices."""
    first = {
        **{name: [entity.first_body for entity in entities] for name in _SHIFTED_BY_BODY},
        "q_index": [entity.first_q for entity in entities],
        "v_index": [entity.first_v for entity in entities],
        "mimic_dof": [entity.first_v for entity in entities],
    }
    joined = {}
    for name, arrays in zip(System._fields, zip(*(e.system for e in entities)), strict=False):
        joined[name] = np.concatenate(arrays)
        if name in first:
            shift = np.repeat(first[name], [len(array) for array in arrays])
            joined[name] += np.where(joined[name] >= 0, shift, 0)
    return new_system(joined)


class Shapes(NamedTuple):
    """Arrays of the shapes of a world, or of some entities.

    The solids of meshes are not yet included.
    """

    records: np.ndarray  # SHAPE
    group: np.ndarray
    owners: list[tuple[str, str]]  # (entity, link) of each shape
    geometries: list[Geometry]

    def give_solids(self, solids: np.ndarray, polyhedra: Polyhedra) -> None:
        """Write the indices of the shapes' solids, and enlarge the bounding radii.

        Args:
            solids: index of the solid of each shape among the polyhedra (n,), or -1.
            polyhedra: pools with these solids.
        """
        shapes, has_proxy = self.records, solids >= 0
        shapes["solid"] = solids
        balls = polyhedra.solids["ball"][solids[has_proxy]]
        shapes["radius"][has_proxy] = np.maximum(shapes["radius"][has_proxy], balls)


_OF_SHAPES: dict[str, Callable[[CollisionShape], Any]] = {  # fields of SHAPE
    "kind": lambda shape: shape.geometry.kind,
    "size": lambda shape: shape.geometry.size,
    "placement_R": lambda shape: shape.R,
    "placement_p": lambda shape: shape.p,
    "radius": shape_radius,
    "thickness": shape_thickness,
}


def joined_shapes(
    fixed: list[CollisionShape], entities: list[Entity], material_index: dict[str, int]
) -> Shapes:
    """Return the records of fixed shapes, followed by the shapes of entities."""
    rows = [("world", -1, -1, _as_box(shape)) for shape in fixed]
    for entity in entities:
        rows += [_row(entity, shape) for shape in entity.shapes]
    shapes = np.zeros(len(rows), dtype=SHAPE)
    if not rows:
        return Shapes(shapes, np.zeros(0, dtype=np.int64), [], [])
    names, groups, bodies, described = zip(*rows)
    shapes["body"] = bodies
    shapes["material"] = [material_index[shape.material] for shape in described]
    for name, read in _OF_SHAPES.items():
        shapes[name] = np.array([read(shape) for shape in described])
    owners = [(name, shape.link) for name, shape in zip(names, described)]
    geometries = [shape.geometry for shape in described]
    return Shapes(shapes, np.array(groups, dtype=np.int64), owners, geometries)


def _row(entity: Entity, shape: CollisionShape) -> tuple[str, int, int, CollisionShape]:
    """Return the data of a shape of an entity for `joined_shapes`.

    Returns:
        (name of the entity, collision group, body number in the scene, the shape after `_as_box`).
        Group and body are -1 for a shape that is fixed to the world.
    """
    if shape.body < 0:
        return entity.name, -1, -1, _as_box(shape)
    body = shape.body + entity.first_body
    group = body if entity.self_collision else entity.first_body
    return entity.name, group, body, _as_box(shape)


def joined_collision(
    fixed: list[CollisionShape], entities: list[Entity], material_index: dict[str, int]
) -> tuple[Collision, list[tuple[str, str]]]:
    """Assemble the collision arrays of a world.

    Returns:
        (arrays of the shapes, (entity, link) of each shape).
    """
    joined = joined_shapes(fixed, entities, material_index)
    polyhedra, solids = solids_of(joined.geometries)
    joined.give_solids(solids, polyhedra)
    shapes, n = joined.records, len(joined.records)
    collision = allocate(
        Collision,
        {Axis.SHAPE: n, Axis.PAIR: 64 + 4 * n, Axis.CONTACT: 32 + 8 * n, Axis.EXCLUDED: 0},
        shapes=shapes,
        group=joined.group,
        moving=np.flatnonzero(shapes["body"] >= 0),
        body_bounds=new_body_bounds(shapes),
        order=np.arange(n, dtype=np.int64),
        polyhedra=polyhedra,
    )
    return collision, joined.owners


def _as_box(shape: CollisionShape) -> CollisionShape:
    """Return a Box if the shape is a mesh of a box. Return any other shape unchanged."""
    box = box_of(shape.geometry) if isinstance(shape.geometry, Mesh) else None
    if box is None:
        return shape
    geometry, R, p = box
    return replace(shape, geometry=geometry, R=shape.R @ R, p=shape.p + shape.R @ p)


def joined_sensors(entities: list[Entity], time_step: float) -> np.ndarray:
    """Return the SENSOR records of all robots, in the order of the entities."""
    rows = [
        (entity, sensor)
        for entity in entities
        if isinstance(entity, Robot)
        for sensor in entity.model.sensors
    ]
    sensors = np.zeros(len(rows), dtype=SENSOR)
    for record, (entity, sensor) in zip(sensors, rows, strict=True):
        body = sensor.body + entity.first_body if sensor.body >= 0 else -1
        record["quantity"] = STEP_KINDS[sensor.kind].quantity
        record["body"] = body
        # Three axes in the opposite direction measure the opposite wrench.
        record["R"], record["p"] = -sensor.R if sensor.reversed else sensor.R, sensor.p
        record["tare"] = sensor.tare
        record["subtree_size"] = _subtree_size(entity.system, sensor.body)
        fill_delay(record, sensor.latency, time_step)
    return sensors


def joined_actuators(entities: list[Entity], time_step: float) -> np.ndarray:
    """Return the ACTUATOR records of all robots, in the order of the entities."""
    parts = [np.zeros(0, dtype=ACTUATOR)]
    for robot in entities:
        if isinstance(robot, Robot):
            acting = robot.acting_actuators.items()
            fitted = [(robot.model.joint(name).v_index, actuator) for name, actuator in acting]
            parts.append(actuator_records(fitted, robot.system, time_step))
            parts[-1]["dof"] += robot.first_v
    return np.concatenate(parts)


def joined_tendons(entities: list[Entity]) -> np.ndarray:
    """Return the TENDON_JOINTS records of all robots, in the order of the entities."""
    robots = [entity for entity in entities if isinstance(entity, Robot)]
    tendons = [(robot, tendon) for robot in robots for tendon in robot.model.tendons.values()]
    records = np.zeros(len(tendons), dtype=TENDON_JOINTS)
    for record, (robot, tendon) in zip(records, tendons, strict=True):
        for side, name, coefficient in zip("ab", tendon.joints, tendon.coefficients, strict=True):
            record[f"dof_{side}"] = robot.first_v + robot.model.joint(name).v_index
            record[f"coefficient_{side}"] = coefficient
        record["effort_limit"] = tendon.effort_limit
    return records


def _subtree_size(system: System, body: int) -> int:
    end = body + 1
    while end < len(system.parent) and system.parent[end] >= body >= 0:
        end += 1
    return end - body


def mark_free_bodies(entities: list[Entity], rests: np.ndarray) -> None:
    """Mark the bodies that may sleep, and write their radii to `rests`."""
    for entity in entities:
        if isinstance(entity, Body):
            record = rests[entity.first_body]
            reach = [math.hypot(*shape.p) + shape_radius(shape) for shape in entity.shapes]
            record["may_sleep"], record["radius"] = 1, max(reach)


def assemble(
    settings: np.ndarray,
    clock: np.ndarray,
    entities: list[Entity],
    fixed: list[CollisionShape],
    materials: np.ndarray,
    material_index: dict[str, int],
    connections: np.ndarray,
) -> tuple[Scene, list[tuple[str, str]]]:
    """Assemble the scene of a world with all entities, in zero state.

    Returns:
        (scene, (entity, link) of each shape).
    """
    system = joined_system(entities)
    collision, owners = joined_collision(fixed, entities, material_index)
    bodies, dofs = len(system.parent), len(system.dof_body)
    positions = sum(JOINT_NQ[t] for t in system.joint_type)
    rows = 3 * len(collision.contacts) + 4 * dofs
    time_step = float(settings["time_step"][0])
    sensors = joined_sensors(entities, time_step)
    units = joined_actuators(entities, time_step)
    tendons = joined_tendons(entities)
    sizes = {
        **constrained_sizes(bodies, dofs, 256 + 48 * bodies),
        Axis.RK4_BODY: bodies if settings["staged"][0] else 0,
        Axis.AUDITED_BODY: bodies if settings["audit"][0] else 0,
        Axis.POSITION: positions,
        Axis.ROW: rows,
        Axis.RESPONSE: 24 * rows,
        Axis.ISLAND: bodies + 1,
        Axis.WRENCH: 8,
        Axis.SOLVER_CLASS: 1,
        Axis.ACTUATOR: len(units),
        Axis.TENDON: len(tendons),
        Axis.COMMAND: int(units["slots"].max(initial=0)),
        Axis.SENSOR: len(sensors),
        Axis.READING: int(sensors["slots"].max(initial=0)),
    }
    scene = allocate(
        Scene,
        sizes,
        settings=settings,
        clock=clock,
        forest=forest_of(system),
        collision=collision,
        materials=materials,
        connections=connections,
        sensors=sensors,
        actuators=allocate(Actuators, sizes, units=units),
        tendons=allocate(Tendons, sizes, joints=tendons),
        direct=new_direct_system(rows, sizes[Axis.COLUMN], 0, bodies, 0, 0),
        newton=new_newton_system(bodies),
        newton_part=new_newton_system(bodies),
        lazy_kernels=new_lazy_kernels(),
    )
    scene.search["candidate_count"] = -1
    set_rigid(scene.joint_parameters, time_step)
    mark_free_bodies(entities, scene.rests)
    leave_to_actuators(units, scene.forest.dofs)
    return scene, owners


def set_rigid(parameters_out: np.ndarray, time_step: float) -> None:
    """Write the default parameters (nv, 5) of joint constraints: rigid, without a force limit."""
    parameters_out["force_limit"] = np.inf
    parameters_out["damping_time"] = 2.0 * time_step
    parameters_out["damping_time"][:, [LIMIT_PARAMETERS, MIMIC_PARAMETERS]] = -1.0
