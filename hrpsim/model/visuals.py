# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Collision shapes and visuals of a description: geometry, pose and colour."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from hrpsim.common.errors import ModelError
from hrpsim.common.file_names import is_file
from hrpsim.model.model import GREY, CollisionShape, Frame, MeshUse, Model, Visual
from hrpsim.model.readers.robot_data import LinkData, MeshData, MeshFile, RobotData, ShapeData
from hrpsim.model.readers.urdf.resolve_uris import Resources
from hrpsim.model.shapes.compound import centered_shape
from hrpsim.model.shapes.geometry import Geometry, Mesh, primitive
from hrpsim.model.shapes.mesh_files import read_mesh, read_parts, read_scene
from hrpsim.model.shapes.placement import Placement
from hrpsim.model.shapes.solid_inertia import why_no_solid

BODY_COLORS = ((227, 139, 79), (86, 137, 185), (122, 166, 96), (178, 118, 170), (214, 185, 86))
STATIC_COLOR = (150, 155, 165)
POINT_RADIUS = 1e-6  # [m], of a sphere that represents a point


def read_shapes(
    robot: RobotData, frames: dict[str, Frame], resources: Resources, meshes: str
) -> tuple[tuple[CollisionShape, ...], tuple[MeshUse, ...]]:
    """Return the collision shapes, placed in the bodies, and the use of each mesh.

    A shape without a name gets the name of the link and the index in the link. `meshes` is the
    default use of meshes in a link. An exact mesh that bounds no solid is replaced by its hull. If
    this fails too, ModelError names the location of the mesh.
    """
    shapes: list[CollisionShape] = []
    uses: list[MeshUse] = []
    for link in robot.links.values():
        frame = frames[link.name]
        for index, shape in enumerate(link.collisions):
            if shape.is_void:
                continue
            placement = Placement(frame.R, frame.p).then(shape.placement)
            geometry: Geometry | None
            if shape.mesh is None:
                geometry = primitive(shape.kind, shape.size if any(shape.size) else (POINT_RADIUS,))
            else:
                geometry, use = _mesh(robot, resources, link, shape, link.mesh_use or meshes)
                uses.append(use)
                if geometry is None:
                    continue
                geometry, placement = centered_shape(geometry, placement)
            shapes.append(
                CollisionShape(
                    name=shape.name or f"{link.name}_{index}",
                    link=link.name,
                    body=frame.body,
                    R=placement.R,
                    p=placement.p,
                    geometry=geometry,
                    material=shape.material or link.material or "default",
                )
            )
    return tuple(shapes), tuple(uses)


def _mesh(
    robot: RobotData, resources: Resources, link: LinkData, shape: ShapeData, wanted: str
) -> tuple[Mesh | None, MeshUse]:
    """Return the geometry and the use of a mesh. The geometry is None without collision."""
    assert isinstance(shape.mesh, MeshFile)
    uri, scale = shape.mesh.uri, shape.mesh.scale
    if wanted == "none":
        return None, MeshUse(link.name, uri, "", "none")
    place = link if shape.element is None else shape
    try:
        path = resources.locate(uri)
    except FileNotFoundError as cause:
        robot.fail(place, f"missing mesh: {cause}")
    try:
        if wanted == "hull":
            mesh, notes = read_mesh(path, scale, hull=True)
        else:
            mesh, wanted, notes = _exact_or_hull(path, scale)
    except ModelError as cause:
        robot.fail(
            place,
            f'{cause}. Repair the file, or leave the mesh out: <hrpsim reference="{link.name}">'
            '<mesh as="none"/></hrpsim>, or meshes="none" for all',
        )
    use = MeshUse(link.name, uri, str(path), wanted, len(mesh.vertices), len(mesh.triangles))
    return mesh, replace(use, note="; ".join(notes))


def _exact_or_hull(path: Path, scale: tuple[float, ...]) -> tuple[Mesh, str, tuple[str, ...]]:
    """Read a mesh. If the mesh bounds no solid, use its convex hull instead.

    Returns:
        (mesh, "exact" or "hull", notes).
    """
    mesh, notes = read_mesh(path, scale, hull=False)
    why = why_no_solid(mesh)
    if why is None:
        return mesh, "exact", notes
    hull, _ = read_mesh(path, scale, hull=True)
    return hull, "hull", (f"{why}. Its convex hull is used",)


def drawn_shapes(robot: RobotData) -> tuple[Visual, ...]:
    """Return the visual shapes of a robot. A shape with a size of 0 is invisible."""
    return tuple(
        Visual(
            link.name,
            shape.placement,
            primitive(shape.kind, shape.size) if shape.mesh is None else _stored(shape.mesh),
            GREY if shape.color is None else _rgb(shape.color),
        )
        for link in robot.links.values()
        for shape in link.visuals
        if all(shape.size)
    )


def _stored(mesh: MeshData | MeshFile) -> MeshFile:
    assert isinstance(mesh, MeshFile)
    return mesh


def visuals_of_model(model: Model) -> list[Visual]:
    """Return the visual shapes of a model, or the collision shapes if there are none."""
    return list(model.visuals) or [
        Visual(shape.link, _in_link(model, shape), shape.geometry) for shape in model.shapes
    ]


def _in_link(model: Model, shape: CollisionShape) -> Placement:
    frame = model.frame(shape.link)
    return Placement(frame.R, frame.p).inverse().then(Placement(shape.R, shape.p))


def _rgb(color: tuple[float, ...]) -> tuple[int, int, int]:
    r, g, b = (round(255 * min(max(part, 0.0), 1.0)) for part in color[:3])
    return r, g, b


def load_mesh(model: Model, mesh: MeshFile, color: tuple[int, int, int] = GREY):
    """Return a mesh of a description as a trimesh.Scene [m], scaled, with colours.

    Parts of the file without a colour get `color`.

    Raises ModelError if the file is missing or unreadable, or if trimesh or the reader of the
    format is not installed.
    """
    return read_scene(_file_of(model, mesh), mesh.scale, color)


def colored_meshes(model: Model, visual: Visual) -> list[tuple[Mesh, tuple[int, int, int]]]:
    """Return the meshes of a visual's file in the visual's frame, each with a colour.

    A mesh without a colour gets the visual's colour. Raises the same errors as
    `load_mesh`.
    """
    assert isinstance(visual.geometry, MeshFile)
    mesh = visual.geometry
    return read_parts(_file_of(model, mesh), mesh.scale, visual.color)


def visual_geometry(model: Model, visual: Visual) -> Geometry:
    """Return the drawn geometry of a visual. The vertices of a mesh file are in metres.

    Raises ModelError if the file is missing or unreadable.
    """
    if not isinstance(visual.geometry, MeshFile):
        return visual.geometry
    x, y, z = visual.geometry.scale
    return read_mesh(_file_of(model, visual.geometry), (x, y, z), hull=False).mesh


def _file_of(model: Model, mesh: MeshFile) -> Path:
    folder = Path(model.source).parent if is_file(model.source) else None
    try:
        return Resources(folder).locate(mesh.uri)
    except FileNotFoundError as cause:
        raise ModelError(f"missing mesh: {cause}") from cause
