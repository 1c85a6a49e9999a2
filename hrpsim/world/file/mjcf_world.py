# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Load an MJCF as a world: the scenery becomes fixed, and each moving tree becomes a robot."""

from __future__ import annotations

import itertools
import re
import warnings
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from hrpsim.common.errors import ModelWarning, WorldError
from hrpsim.model.from_robot_data import keyframe_configurations
from hrpsim.model.load import load_robot_data
from hrpsim.model.readers.mjcf.geoms import (
    collides,
    contact_friction,
    is_flat,
    material_name,
    may_collide,
    pair_friction,
    shape_of,
    surface_of,
)
from hrpsim.model.readers.mjcf.read import MjcfModel, read_mjcf
from hrpsim.model.readers.mjcf.robot import (
    MjcfRobot,
    mocap_name,
    note_the_rest,
    robot_of,
    tied_trees,
)
from hrpsim.model.readers.mjcf.sensors import posture
from hrpsim.model.readers.mjcf.tree import rotation_of
from hrpsim.model.readers.robot_data import WORLD_LINK, MeshData, Notes, free_name
from hrpsim.model.readers.urdf.xacro_text import read_source
from hrpsim.model.shapes.convex_hull import ConvexHull
from hrpsim.model.shapes.geometry import Geometry, Plane, primitive
from hrpsim.model.shapes.placement import IDENTITY, Placement, quaternion_of
from hrpsim.model.shapes.terrain import HeightField
from hrpsim.world.file.imported import connect, finish
from hrpsim.world.objects.robot import Robot
from hrpsim.world.world import World

# Of MuJoCo's integrators. The others are semi_implicit.
_INTEGRATORS: Mapping[str, str] = {"RK4": "rk4"}

Owner = tuple[str, str]  # entity and link, as in World.link_names


def load_mjcf_world(path: Path, time_step: float | None, integrator: str | None) -> World:
    """Return the world of an MJCF. Trees that are connected by equalities form one robot.

    Robots start in MuJoCo's qpos0 and collide with themselves. A ModelWarning, and the model of
    each robot, list the elements that are not simulated. Raises ModelError or WorldError if the
    MJCF is invalid.
    """
    text, _ = read_source(path)
    world, _ = world_of_mjcf(read_mjcf(text, path), path, time_step, integrator, (), stacklevel=5)
    return world


def world_of_mjcf(  # many parameters: keyword arguments
    m: MjcfModel,
    path: Path,
    time_step: float | None = None,
    integrator: str | None = None,
    unlisted: tuple[str, ...] = (),
    stacklevel: int = 2,
    integrators: Mapping[str, str] = _INTEGRATORS,
) -> tuple[World, dict[str, MjcfRobot]]:
    """Return the world of a compiled MJCF, and the MJCF source of each robot by name.

    Args:
        m: the compiled MJCF.
        path: path of the MJCF, for messages and for relative file names.
        time_step: length of a step [s]. The default comes from the MJCF.
        integrator: integrator of the world. The default comes from the MJCF.
        unlisted: the ModelWarning omits lines with one of these prefixes.
        stacklevel: stack level of the ModelWarning.
        integrators: integrator of the world for each integrator of MuJoCo. The default is
            semi_implicit.
    """
    notes = Notes()
    robots = _described_robots(m, notes)
    world = World(
        time_step=m.option["timestep"] if time_step is None else time_step,
        integrator=integrator or _integrator_of(m, robots, notes, integrators),
        gravity=m.option["gravity"],
    )
    owners = _add_scenery(m, world, robots, notes)
    _add_frames(m, world, notes)
    note_the_rest(m, notes)
    lines = tuple(notes.lines())
    for name, described in robots.items():
        robot = _add_robot(m, world, name, described, path, lines)
        owners |= {
            (robot.name, described.tree.links[body]): geoms
            for body, geoms in _geoms_of(m, described).items()
        }
    _set_frictions(m, world)
    _keep_apart(m, world, owners)
    listed = [line for line in lines if not line.startswith(unlisted)]
    return finish(world, path, listed, stacklevel), robots


def _integrator_of(
    m: MjcfModel, robots: dict[str, MjcfRobot], notes: Notes, integrators: Mapping[str, str]
) -> str:
    """Return the integrator that an MJCF states, unless an actuator needs another."""
    kind = m.kind("mjtIntegrator", int(m.option["integrator"]))
    integrator = integrators.get(kind, "semi_implicit")
    joints = (joint for robot in robots.values() for joint in robot.data.joints.values())
    if integrator != "semi_implicit" and any(joint.actuator for joint in joints):
        notes.add(f"option integrator {kind}", "semi_implicit, for actuators with a state")
        return "semi_implicit"
    return integrator


def update_properties(m: MjcfModel, world: World, path: Path) -> None:
    """Copy masses, inertias and joint properties of an MJCF to the robots of its world.

    The properties of joints are damping, armature, dry friction and stiffness. The world comes from
    `world_of_mjcf`. The state of the world does not change.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)  # of the geoms that are left out
        for name, described in _described_robots(m.without_geoms(), Notes()).items():
            world.robots[name].use_properties_of(load_robot_data(described.data, path))


def _described_robots(m: MjcfModel, notes: Notes) -> dict[str, MjcfRobot]:
    """Return the descriptions of the moving trees, by valid entity names."""
    result: dict[str, MjcfRobot] = {}
    groups = tied_trees(m)
    for roots in groups:
        model_name = m.name if len(groups) == 1 and m.name else m.names["body"][roots[0]]
        name = re.sub(r"[^\w.-]", "_", model_name) or f"body{roots[0]}"
        result[name] = robot_of(m, roots, name, notes)
    return result


def _add_robot(
    m: MjcfModel, world: World, name: str, described: MjcfRobot, path: Path, lines: tuple[str, ...]
) -> Robot:
    model = replace(load_robot_data(described.data, path), not_simulated=lines)
    start = posture(m, described.tree, "qpos0", m.qpos0)
    q = keyframe_configurations(model, [start])["qpos0"]
    robot = world.add_robot(model, q=q, name=name, self_collision=True)
    for loop, mocap in described.to_world:
        there = mocap or "world"
        ends = (there if link == WORLD_LINK else f"{name}/{link}" for link in loop.links)
        connect(world, ends, loop, f"{name}/{loop.name}")
    robot.keep_as_initial()
    return robot


def _add_frames(m: MjcfModel, world: World, notes: Notes) -> None:
    """Add a frame for each mocap body.

    If a mocap body has colliding geoms, a note says that the geoms stay in place.
    """
    for body in np.flatnonzero(m.body_mocapid >= 0).tolist():
        name = mocap_name(m, body)
        world.add_frame(name, m.body_pos[body], quaternion_of(rotation_of(m.body_quat[body])))
        geoms = np.flatnonzero(m.body_weldid[m.geom_bodyid] == body).tolist()
        if any(collides(m, geom) for geom in geoms):
            notes.add("geom of a mocap body", "stands still", name)


def _geoms_of(m: MjcfModel, described: MjcfRobot) -> dict[int, list[int]]:
    """Return the colliding geoms of each body of a robot.

    Bodies that have no collision shape in the robot's description are left out.
    """
    groups: dict[int, list[int]] = {}
    for geom in range(m.ngeom):
        body = int(m.geom_bodyid[geom])
        if body and body in described.tree.links and collides(m, geom):
            groups.setdefault(body, []).append(geom)
    return {
        body: geoms
        for body, geoms in groups.items()
        if described.data.links[described.tree.links[body]].collisions
    }


def _add_scenery(
    m: MjcfModel, world: World, robots: dict[str, MjcfRobot], notes: Notes
) -> dict[Owner, list[int]]:
    """Add the scenery as fixed shapes. Return the names of the shapes with the geoms."""
    moving = {body for robot in robots.values() for body in robot.tree.links if body}
    owners: dict[Owner, list[int]] = {}
    for geom in range(m.ngeom):
        body = int(m.geom_bodyid[geom])
        if body in moving or not collides(m, geom):
            continue
        placed = _fixed_shape(m, geom, notes)
        if placed is None:
            continue
        geometry, placement = placed
        name = re.sub(r"[^\w.-]", "_", m.names["geom"][geom]) or f"geom{geom}"
        name = free_name(name, {shape.name for shape in world.fixed_shapes})
        placement = _body_placement(m, body).then(placement)
        material = material_name(surface_of(m, geom))
        world.add_static(geometry, placement.p, quaternion_of(placement.R), material, name)
        owners.setdefault(("world", name), []).append(geom)
    return owners


def _body_placement(m: MjcfModel, body: int) -> Placement:
    placement = IDENTITY
    while body:
        placement = Placement(rotation_of(m.body_quat[body]), m.body_pos[body]).then(placement)
        body = int(m.body_parentid[body])
    return placement


def _fixed_shape(m: MjcfModel, geom: int, notes: Notes) -> tuple[Geometry, Placement] | None:
    placement = Placement(rotation_of(m.geom_quat[geom]), m.geom_pos[geom])
    kind = m.kind("mjtGeom", m.geom_type[geom])
    if kind == "PLANE":
        return Plane(), placement
    if kind == "HFIELD":
        return _height_field(m, int(m.geom_dataid[geom])), placement
    shape = shape_of(m, geom, notes)
    if shape is None or is_flat(m, geom, shape, notes):
        return None
    if isinstance(shape.mesh, MeshData):
        return ConvexHull(shape.mesh.vertices, shape.mesh.name), shape.placement
    return primitive(shape.kind, shape.size), shape.placement


def _height_field(m: MjcfModel, field: int) -> HeightField:
    rows, columns = int(m.hfield_nrow[field]), int(m.hfield_ncol[field])
    at = int(m.hfield_adr[field])
    heights = np.array(m.hfield_data[at : at + rows * columns], dtype=np.float64)
    x, y, top, _ = (float(size) for size in m.hfield_size[field])
    return HeightField(top * heights.reshape(rows, columns).T, size=(2.0 * x, 2.0 * y))


def _set_frictions(m: MjcfModel, world: World) -> None:
    """Set the friction of each pair of geoms as in MuJoCo.

    A <pair> has its own friction. `contact_friction` gives the friction of all other contacts.
    """
    values = sorted({surface_of(m, geom) for geom in range(m.ngeom) if collides(m, geom)})
    for a, b in itertools.combinations_with_replacement(values, 2):
        friction = contact_friction(a, b)
        world.set_friction(material_name(a), material_name(b), **friction._asdict())
    for pair in range(m.count("npair")):
        ends = (int(m.pair_geom1[pair]), int(m.pair_geom2[pair]))
        a, b = (surface_of(m, end) for end in ends)
        if a.geom >= 0 and b.geom >= 0:
            friction = pair_friction(m, pair)
            world.set_friction(material_name(a), material_name(b), **friction._asdict())


def _keep_apart(m: MjcfModel, world: World, owners: dict[Owner, list[int]]) -> None:
    """Exclude collisions between entities according to contype, conaffinity and <exclude>."""
    for (a, geoms_a), (b, geoms_b) in itertools.combinations(owners.items(), 2):
        if a[0] == b[0]:
            continue
        if not may_collide(m, geoms_a, geoms_b).any():
            try:
                world.disable_collisions("/".join(a), "/".join(b))
            except WorldError as error:
                raise WorldError(f"{m.label}: {error}") from error
