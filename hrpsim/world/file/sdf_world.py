# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Load SDF as a world: static models become fixed shapes, and every other model a robot."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from hrpsim.common.errors import WorldError
from hrpsim.model.load import load_robot_data
from hrpsim.model.readers.robot_data import (
    INITIAL,
    WORLD_LINK,
    MeshData,
    MeshFile,
    Notes,
    RobotData,
    ShapeData,
    free_name,
)
from hrpsim.model.readers.sdf.frames import WORLD_FRAME, Scope, SdfFrame
from hrpsim.model.readers.sdf.joints import SdfJoint, loop_of
from hrpsim.model.readers.sdf.links import collisions_of
from hrpsim.model.readers.sdf.parts import note_model, note_parts
from hrpsim.model.readers.sdf.robot import carrier, full_name, in_world, robot_of
from hrpsim.model.readers.sdf.scopes import SdfContents, read_sdf
from hrpsim.model.readers.sdf.shapes import PLANE
from hrpsim.model.readers.sdf.surfaces import Surface, pair_law
from hrpsim.model.readers.stored_meshes import path_of
from hrpsim.model.readers.urdf.resolve_uris import Resources
from hrpsim.model.readers.urdf.xacro_text import read_source
from hrpsim.model.shapes.convex_hull import ConvexHull
from hrpsim.model.shapes.geometry import Geometry, Plane, primitive
from hrpsim.model.shapes.mesh_files import read_mesh
from hrpsim.model.shapes.placement import IDENTITY, Placement, quaternion_of
from hrpsim.world.file.imported import connect, finish
from hrpsim.world.world import World

_TIME_STEP = 0.001  # time step of a file without one [s]
_GRAVITY = (0.0, 0.0, -9.8)  # gravity of a file without one [m/s^2]
_OUTSIDE = re.compile(r"[^\w.-]")  # characters that names of entities cannot have


def load_sdf_world(path: Path, time_step: float | None, integrator: str | None) -> World:
    """Return the world of an SDF. A file with only a <model> becomes a world with this model.

    A ModelWarning, and the model of each robot, list the elements that are not simulated. Raises
    ModelError or WorldError if the SDF is invalid.
    """
    text, _ = read_source(path)
    contents = read_sdf(text, path, Resources(path.absolute().parent))
    scope, notes = contents.scope, contents.notes
    world = _new_world(contents, time_step, integrator)
    builder = _Builder(world, contents, path)
    if scope.frame.kind == "world":
        models, joints = _with_links(scope.models.values(), notes), scope.of_kind("joint")
        note_parts(scope, notes)
    else:
        models, joints = _with_links([scope], notes), []
    builder.add_models(models)
    builder.set_laws()
    builder.keep_apart()
    for joint in joints:
        builder.connect(joint)
    return finish(world, path, notes.lines(), stacklevel=4)


def _new_world(contents: SdfContents, time_step: float | None, integrator: str | None) -> World:
    """Return an empty world with the settings of <physics>."""
    physics = _physics(contents)
    if time_step is None:
        time_step = _TIME_STEP
        if physics is not None:
            time_step = contents.file.value(physics, "max_step_size", _TIME_STEP)
    gravity = _gravity(contents, physics)
    return World(time_step, gravity=gravity, integrator=integrator or "semi_implicit")


def _physics(contents: SdfContents) -> Any:
    """Return the <physics> marked as default, the first <physics>, or None if there is none.

    The other <physics> elements become notes.
    """
    if contents.scope.frame.kind != "world":
        return None
    profiles = list(contents.file.children(contents.scope.element, "physics"))
    defaults = [
        element for element in profiles if element.get("default", "").strip() in ("true", "1")
    ]
    chosen = (defaults or profiles or [None])[0]
    for other in profiles:
        if other is not chosen:
            contents.notes.add("<physics>, several", "one holds", other.get("name", ""))
    return chosen


def _gravity(contents: SdfContents, physics: Any) -> tuple[float, ...]:
    """Return the gravity (3,) of a world [m/s^2].

    In SDF up to version 1.5, gravity is an element of <physics>.
    """
    file, scope = contents.file, contents.scope
    if scope.frame.kind != "world":
        return _GRAVITY
    old = _GRAVITY if physics is None else file.values(physics, "gravity", _GRAVITY)
    return file.values(scope.element, "gravity", old)


def _with_links(models: Iterable[Scope], notes: Notes) -> list[Scope]:
    """Return the models that have links. The other models become notes."""
    result = []
    for model in models:
        if model.has_links:
            result.append(model)
        else:
            notes.add("<model> without a link", "left out", model.name)
    return result


class _Builder:
    """Adds models to a world."""

    def __init__(self, world: World, contents: SdfContents, path: Path) -> None:
        self.world, self.contents, self.path = world, contents, path
        self.notes = contents.notes
        self._surfaces: dict[str, Surface] = {}  # by the name of the material
        self._bits: dict[str, int] = {}  # collision bits, by entity/link
        self._entities: dict[Scope, str] = {}  # entity of each model: its robot, or the world

    def add_models(self, models: list[Scope]) -> None:
        """Add static models as scenery, and then the other models as robots."""
        described = []
        for model in models:
            note_model(model, self.notes)
            if model.is_static:
                self.add_scenery(model)
            else:
                described.append((model, self.described(model)))
        for model, data in described:
            self.add_robot(model, data, tuple(self.notes.lines()))

    def add_scenery(self, model: Scope) -> None:
        """Add the collision shapes of a static model as fixed shapes."""
        self._entities[model] = WORLD_LINK
        at = in_world(model)
        for scope in model.all_scopes():
            for link in scope.of_kind("link"):
                placed = at.then(model.in_scope(link))
                for shape, surface in collisions_of(self.contents.files, link, self.notes):
                    self._add_static(f"{model.name}_{full_name(link)}", placed, shape, surface)

    def _add_static(self, owner: str, at: Placement, shape: ShapeData, surface: Surface) -> None:
        placed = at.then(shape.placement)
        names = {name for _, name in self.world.link_names}
        name = free_name(_OUTSIDE.sub("_", f"{owner}_{shape.name}"), names)
        geometry = _geometry(shape)
        if geometry is None:
            self.notes.add("<collision> without a size", "left out", name)
            return
        quaternion = quaternion_of(placed.R)
        self.world.add_static(geometry, placed.p, quaternion, surface.name, name)
        self._surfaces[surface.name] = surface
        self._bits[f"{WORLD_LINK}/{name}"] = surface.bits

    def described(self, model: Scope) -> tuple[RobotData, dict[str, list[Surface]]]:
        """Return the description of a model as a robot, and the surfaces of its links."""
        return robot_of(model, self.contents.files, in_world(model), self.notes)

    def add_robot(
        self,
        model: Scope,
        described: tuple[RobotData, dict[str, list[Surface]]],
        lines: tuple[str, ...],
    ) -> None:
        """Add the robot of a model, at the pose in the file."""
        data, surfaces = described
        name = free_name(_OUTSIDE.sub("_", model.name), self.world.entities)
        built = replace(load_robot_data(data, self.path), not_simulated=lines)
        q = built.keyframes.get(INITIAL)
        collides = model.file.flag(model.element, "self_collide")
        robot = self.world.add_robot(built, q=q, name=name, self_collision=collides)
        robot.keep_as_initial()
        self._entities[model] = name
        for link, of_link in surfaces.items():
            if of_link and data.links[link].collisions:
                self._surfaces[of_link[0].name] = of_link[0]
                self._bits[f"{name}/{link}"] = of_link[0].bits

    def set_laws(self) -> None:
        """Set friction, restitution and compliance of all pairs of surfaces."""
        for a, b in itertools.combinations_with_replacement(sorted(self._surfaces), 2):
            law = pair_law(self._surfaces[a], self._surfaces[b])
            self.world.set_friction(a, b, law.friction, restitution=law.restitution)
            if law.compliance:
                self.world.set_contact(a, b, law.compliance, law.damping_time)

    def keep_apart(self) -> None:
        """Exclude collisions of links without a common bit of <collide_bitmask>."""
        special = {name for name, bits in self._bits.items() if bits != Surface().bits}
        for a, b in itertools.combinations(self._bits, 2):
            if (a in special or b in special) and not self._bits[a] & self._bits[b]:
                self.world.disable_collisions(a, b)

    def connect(self, joint: SdfFrame) -> None:
        """Make a connection from a <joint> of the world between two models."""
        scope, ends = self.contents.scope, []
        for tag in ("parent", "child"):
            name = joint.file.content(joint.element, tag)
            ends.append(None if name == WORLD_FRAME else carrier(scope.find(name, joint)))
        names = [self._end(end) for end in ends]
        places = [
            IDENTITY if end is None or name == WORLD_LINK else scope.in_scope(end)
            for end, name in zip(ends, names, strict=True)
        ]
        edge = SdfJoint(joint, joint.name, names[0], names[1], scope.in_scope(joint))
        loop = loop_of(edge, dict(zip(names, places, strict=True)).__getitem__, self.notes)
        if loop is None:
            return
        try:
            connect(self.world, names, loop, joint.name)
        except WorldError as cause:
            joint.fail(str(cause))

    def _end(self, link: SdfFrame | None) -> str:
        """Return "entity/link" for a link of a model, or "world" for None."""
        if link is None:
            return WORLD_LINK
        model = link.scope
        while model.outer is not None and model.outer.frame.kind == "model":
            model = model.outer
        entity = self._entities[model]
        return entity if entity == WORLD_LINK else f"{entity}/{full_name(link)}"


def _geometry(shape: ShapeData) -> Geometry | None:
    """Return the geometry of a fixed shape, or None for a shape without a size."""
    if shape.kind == PLANE:
        return Plane()
    if isinstance(shape.mesh, MeshFile):
        return read_mesh(path_of(shape.mesh.uri), shape.mesh.scale, hull=False).mesh
    if isinstance(shape.mesh, MeshData):
        return ConvexHull(shape.mesh.vertices, shape.mesh.name)
    if not all(size > 0.0 for size in shape.size):
        return None
    return primitive(shape.kind, shape.size)
