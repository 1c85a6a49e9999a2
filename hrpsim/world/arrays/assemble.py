"""Laying entities one after another into the arrays of a scene."""

from __future__ import annotations

import numpy as np

from hrpsim.collision.carriers import new_carriers
from hrpsim.collision.contacts import CONTACT, MANIFOLD, SHAPE, Collision
from hrpsim.collision.mesh.meeting import new_meeting
from hrpsim.collision.mesh.twins import solids_of
from hrpsim.collision.time_of_impact import MOTION, PASSAGE
from hrpsim.constraints.joint_rows import (
    JOINT_HOLD,
    JOINT_IMPULSE,
    JOINT_LAW,
    LIMIT_LAW,
    MIMIC_LAW,
)
from hrpsim.constraints.rows import new_rows
from hrpsim.constraints.spring_rows import SPRING_HINGE
from hrpsim.dynamics.articulated import new_articulated
from hrpsim.dynamics.joint_forces import CONTROL
from hrpsim.dynamics.response import new_ports
from hrpsim.jit.late import LATE_COUNT
from hrpsim.kinematics.forest import forest_of
from hrpsim.kinematics.forward import new_kinematics
from hrpsim.model.model import CollisionShape
from hrpsim.model.system import JOINT_NQ, System
from hrpsim.sensors.sensing import SENSOR
from hrpsim.solvers.direct_system import new_direct_system
from hrpsim.step.motion.midpoint import MEMORY
from hrpsim.step.scene.islands import Islands, new_islands
from hrpsim.step.scene.scene import TALLY, WRENCH, Scene, new_work
from hrpsim.world.objects.body import Body
from hrpsim.world.objects.entity import Entity, shape_radius, shape_thickness
from hrpsim.world.objects.robot import Robot

_SHIFTED_BY_BODY = ("parent", "root", "dof_body")


def joined_system(entities: list[Entity]) -> System:
    """Return one System for all entities, indices shifted."""
    parts = {name: [] for name in System._fields}
    for entity in entities:
        for name, array in zip(System._fields, entity.system, strict=True):
            if name in _SHIFTED_BY_BODY:
                array = np.where(array >= 0, array + entity.first_body, array)
            elif name == "q_index":
                array = array + entity.first_q
            elif name == "v_index":
                array = array + entity.first_v
            elif name == "mimic_dof":
                array = np.where(array >= 0, array + entity.first_v, array)
            parts[name].append(array)
    empty = {"placement_R": (0, 3, 3), "inertia": (0, 3, 3), "placement_p": (0, 3), "com": (0, 3)}
    integers = {"parent", "root", "joint_type", "q_index", "v_index", "dof_body", "mimic_dof"}
    joined = {}
    for name, arrays in parts.items():
        kind = np.int64 if name in integers else np.float64
        nothing = np.zeros(empty.get(name, (0,)), dtype=kind)
        joined[name] = np.ascontiguousarray(np.concatenate([nothing, *arrays]), dtype=kind)
    return System(**joined)


def joined_collision(
    fixed: list[CollisionShape], entities: list[Entity], material_index: dict[str, int]
) -> tuple[Collision, list[tuple[str, str]]]:
    """Return the shapes' arrays, and (entity, link) of each shape."""
    rows = [("world", -1, -1, shape) for shape in fixed]
    for entity in entities:
        for shape in entity.shapes:
            body = shape.body + entity.first_body if shape.body >= 0 else -1
            group = body if entity.self_collision else entity.first_body
            rows.append((entity.name, group if body >= 0 else -1, body, shape))
    n = len(rows)
    shapes = np.zeros(n, dtype=SHAPE)
    polyhedra, solids = solids_of([shape.geometry for _, _, _, shape in rows])
    meeting, candidates = new_meeting()
    for record, (_, _, body, shape) in zip(shapes, rows, strict=True):
        record["kind"] = shape.geometry.kind
        record["size"] = shape.geometry.size
        record["body"] = body
        record["placement_R"], record["placement_p"] = shape.R, shape.p
        record["radius"] = shape_radius(shape)
        record["thickness"] = shape_thickness(shape)
        record["material"] = material_index[shape.material]
    shapes["solid"] = solids
    has_twin = solids >= 0
    balls = polyhedra.solids["ball"][solids[has_twin]]
    shapes["radius"][has_twin] = np.maximum(shapes["radius"][has_twin], balls)
    capacity = 32 + 8 * n
    collision = Collision(
        shapes=shapes,
        group=np.array([group for _, group, _, _ in rows], dtype=np.int64),
        lower=np.zeros((n, 3)),
        upper=np.zeros((n, 3)),
        moving=np.flatnonzero(shapes["body"] >= 0),
        carriers=new_carriers(shapes),
        order=np.arange(n, dtype=np.int64),
        pairs=np.zeros((64 + 4 * n, 2), dtype=np.int64),
        manifold=np.zeros(1, dtype=MANIFOLD),
        polyhedra=polyhedra,
        meeting=meeting,
        meeting_candidates=candidates,
        contacts=np.zeros(capacity, dtype=CONTACT),
        previous=np.zeros(capacity, dtype=CONTACT),
        motions=np.zeros(n, dtype=MOTION),
        passages=np.zeros(capacity, dtype=PASSAGE),
        excluded=np.zeros((0, 2), dtype=np.int64),
    )
    return collision, [(owner, shape.link) for owner, _, _, shape in rows]


def joined_sensors(entities: list[Entity], system: System) -> np.ndarray:
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
        record["is_imu"] = sensor.kind == "imu"
        record["body"] = body
        record["R"], record["p"] = sensor.R, sensor.p
        record["tare"] = sensor.tare
        record["subtree_end"] = _subtree_end(system, body)
    return sensors


def joined_islands(entities: list[Entity], body_count: int) -> Islands:
    """Return room for the islands of all entities, and which bodies may sleep."""
    islands = new_islands(body_count)
    for entity in entities:
        if isinstance(entity, Body):
            tree = islands.trees[entity.first_body]
            reach = [np.linalg.norm(shape.p) + shape_radius(shape) for shape in entity.shapes]
            tree["may_sleep"], tree["radius"] = 1, max(reach)
    return islands


def _subtree_end(system: System, body: int) -> int:
    end = body + 1
    while end < len(system.parent) and system.parent[end] >= body >= 0:
        end += 1
    return end


def assemble(
    settings: np.ndarray,
    clock: np.ndarray,
    entities: list[Entity],
    fixed: list[CollisionShape],
    materials: np.ndarray,
    material_index: dict[str, int],
    connections: np.ndarray,
) -> tuple[Scene, list[tuple[str, str]]]:
    """Return a scene with every entity in it, its state zero, and (entity, link) of each shape."""
    system = joined_system(entities)
    collision, owners = joined_collision(fixed, entities, material_index)
    bodies, dofs = len(system.parent), len(system.dof_body)
    positions = sum(JOINT_NQ[t] for t in system.joint_type)
    rows = 3 * len(collision.contacts) + 4 * dofs
    ports = new_ports(bodies, dofs, 256 + 48 * bodies)
    tally = np.zeros(1, dtype=TALLY)
    tally["candidate_count"] = -1
    scene = Scene(
        settings=settings,
        clock=clock,
        tally=tally,
        forest=forest_of(system),
        q=np.zeros(positions),
        velocity=np.zeros(dofs),
        past_accelerations=np.zeros((dofs, MEMORY)),
        control=np.zeros(dofs, dtype=CONTROL),
        joint_laws=_rigid_laws(dofs, float(settings["time_step"][0])),
        joint_holds=np.zeros(dofs, dtype=JOINT_HOLD),
        joint_impulses=np.zeros(dofs, dtype=JOINT_IMPULSE),
        joint_struck=np.zeros((dofs, 6)),
        kinematics=new_kinematics(bodies),
        articulated=new_articulated(bodies),
        collision=collision,
        materials=materials,
        solver_choice=np.zeros((1, 1), dtype=np.int64),
        connections=connections,
        spring_hinges=np.zeros(0, dtype=SPRING_HINGE),  # the world puts its own here
        ports=ports,
        rows=new_rows(rows, 24 * rows),
        islands=joined_islands(entities, bodies),
        direct=new_direct_system(rows, len(ports.velocity), 0, bodies, 0, 0),
        wrenches=np.zeros(8, dtype=WRENCH),
        sensors=joined_sensors(entities, system),
        late=np.zeros(LATE_COUNT, dtype=np.int64),
        work=new_work(bodies, positions, dofs),
    )
    return scene, owners


def _rigid_laws(dof_count: int, time_step: float) -> np.ndarray:
    """Return the laws (nv, 5) that joints' constraints start with."""
    laws = np.zeros((dof_count, 5), dtype=JOINT_LAW)
    laws["force_limit"] = np.inf
    laws["damping_time"] = 2.0 * time_step
    laws["damping_time"][:, [LIMIT_LAW, MIMIC_LAW]] = -1.0
    return laws
