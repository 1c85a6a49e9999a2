# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Load a USD stage as a world.

Shapes without a body become fixed shapes, and connected bodies become a robot.
"""

from __future__ import annotations

import itertools
import re
from dataclasses import replace
from pathlib import Path

import numpy as np

from hrpsim.common.errors import HrpsimError, WorldError
from hrpsim.model.load import load_robot_data
from hrpsim.model.readers.robot_data import INITIAL, WORLD_LINK, MeshData, Notes, free_name
from hrpsim.model.readers.usd.parts import divide
from hrpsim.model.readers.usd.robot import body_names, missing_notes, open_stage, robot_of
from hrpsim.model.readers.usd.shapes import plane_of, shape_of
from hrpsim.model.readers.usd.stage_data import ShapePrim, StageData
from hrpsim.model.shapes.convex_hull import ConvexHull
from hrpsim.model.shapes.geometry import Geometry, Mesh, Plane, primitive
from hrpsim.model.shapes.placement import Placement, quaternion_of
from hrpsim.world.file.imported import finish
from hrpsim.world.world import World

_TIME_STEP = 0.001  # time step of a stage without one [s]
_OUTSIDE = re.compile(r"[^\w.-]")  # characters that names of entities cannot have
_FLAT = 1e-6  # thickness of a flat mesh, as a fraction of its width
_DEFAULT = "default"  # material of shapes without one


def load_usd_world(path: Path, time_step: float | None, integrator: str | None) -> World:
    """Return the world of a USD stage.

    A ModelWarning, and the model of each robot, list the elements that are not simulated. Raises
    ModelError or WorldError if the stage is invalid.
    """
    stage = open_stage(path)
    parts, notes = divide(stage), Notes()
    for note in [*stage.notes, *missing_notes(stage)]:
        notes.add(*note)
    if not parts.robots and not parts.scenery:
        raise WorldError(f"{path}: the stage has neither a rigid body nor a shape that collides")
    step = time_step or stage.time_step or _TIME_STEP
    try:
        world = World(step, gravity=stage.gravity, integrator=integrator or "semi_implicit")
    except HrpsimError as cause:
        raise WorldError(f"{path}: {cause}") from cause
    owners: dict[str, list[str]] = {}  # names in the world by owners in the stage
    for shape in parts.scenery:
        _add_scenery(world, shape, notes, owners)
    lines = notes.lines()
    note_lists = [_add_robot(world, part, path, lines, owners) for part in parts.robots]
    _set_laws(world, stage)
    for a, b in parts.apart:
        for pair in itertools.product(owners.get(a, ()), owners.get(b, ())):
            world.disable_collisions(*pair)
    return finish(world, path, [*lines, *itertools.chain(*note_lists)], stacklevel=4)


def _add_scenery(
    world: World, shape: ShapePrim, notes: Notes, owners: dict[str, list[str]]
) -> None:
    """Add a fixed shape, and the name of the shape in the world to `owners`."""
    placed = _geometry(shape, notes)
    if placed is not None:
        geometry, placement = placed
        taken = {name for _, name in world.link_names}
        name = free_name(_OUTSIDE.sub("_", shape.name), taken)
        quaternion = quaternion_of(placement.R)
        world.add_static(geometry, placement.p, quaternion, shape.material or _DEFAULT, name)
        owners.setdefault(shape.owner, []).append(f"{WORLD_LINK}/{name}")


def _geometry(shape: ShapePrim, notes: Notes) -> tuple[Geometry, Placement] | None:
    """Return the geometry of a fixed shape, and its placement in the world.

    If the shape has no size, return None and add a note.
    """
    if shape.kind == "Plane":
        return Plane(), plane_of(shape)
    data = shape_of(shape, notes)
    if data is None:
        return None
    if not isinstance(data.mesh, MeshData):
        return primitive(data.kind, data.size), data.placement
    if shape.kind == "Mesh" and (shape.approximation == "none" or _is_flat(data.mesh.vertices)):
        mesh: Geometry = Mesh(data.mesh.vertices, data.mesh.triangles, shape.name)
    else:
        mesh = ConvexHull(data.mesh.vertices, shape.name)
    return mesh, data.placement


def _is_flat(points: np.ndarray) -> bool:
    """Return whether points (n, 3) lie in a plane, so that no hull has a volume."""
    extents = np.linalg.svd(points - points.mean(axis=0), compute_uv=False)
    return bool(extents[-1] <= _FLAT * extents[0])


def _add_robot(
    world: World, part: StageData, path: Path, lines: list[str], owners: dict[str, list[str]]
) -> list[str]:
    """Add connected bodies as a robot, at their poses in the stage.

    The bodies collide with each other unless an articulation disables self-collision. Return the
    notes on elements of the robot that are not simulated. `lines` has the notes on all other
    elements of the stage. `owners` receives the names of the bodies in the world.
    """
    data = robot_of(path, part)
    name = free_name(_OUTSIDE.sub("_", part.name), world.entities)
    model = replace(load_robot_data(data, path), not_simulated=(*lines, *data.notes))
    meets = all(body.meets_itself for body in part.bodies)
    q = model.keyframes.get(INITIAL)
    robot = world.add_robot(model, q=q, name=name, self_collision=meets)
    robot.keep_as_initial()
    for link, body in zip(body_names(part), part.bodies, strict=True):
        owners[body.path] = [f"{name}/{link}"]
    return data.notes


def _set_laws(world: World, stage: StageData) -> None:
    """Set friction and restitution of all pairs of materials to the mean values, as in PhysX.

    A static friction below the dynamic friction is raised to the dynamic friction.
    """
    materials = {name or _DEFAULT: material for name, material in stage.materials.items()}
    for a, b in itertools.combinations_with_replacement(materials, 2):
        pairs = zip(materials[a], materials[b], strict=True)
        static, dynamic, restitution = (0.5 * (x + y) for x, y in pairs)
        world.set_friction(a, b, max(static, dynamic), dynamic, restitution=restitution)
