# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Collision shapes and visuals of a description: geometry, pose and colour."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from lxml import etree

from hrpsim.common.errors import ModelError
from hrpsim.model.body_inertia import why_no_solid
from hrpsim.model.described import Extension
from hrpsim.model.model import CollisionShape, Frame, MeshUse, Model
from hrpsim.model.readers.urdf.description import Description, is_void, shape_of
from hrpsim.model.readers.urdf.resolve_uris import Resources
from hrpsim.model.readers.urdf_writer import read_urdf
from hrpsim.model.shapes.compound import centered_shape
from hrpsim.model.shapes.geometry import Box, Capsule, Cylinder, Geometry, Mesh, Sphere
from hrpsim.model.shapes.mesh_files import paint_plain_parts, read_mesh, read_scene
from hrpsim.model.shapes.placement import IDENTITY, Placement, from_origin

GREY = (190, 195, 205)
BODY_COLORS = ((227, 139, 79), (86, 137, 185), (122, 166, 96), (178, 118, 170), (214, 185, 86))
STATIC_COLOR = (150, 155, 165)
POINT_RADIUS = 1e-6  # [m], of a sphere that represents a point
_SIZES = ("size", "radius", "length")


def read_shapes(
    description: Description,
    extension: Extension,
    frames: dict[str, Frame],
    resources: Resources,
    meshes: str,
) -> tuple[tuple[CollisionShape, ...], tuple[MeshUse, ...]]:
    """Return the shapes, placed in their bodies, and the use of each mesh.

    An element without a name gets the name of its link and its index in the link. `meshes` is the
    use of meshes in links without a use in <hrpsim>. An exact mesh that bounds no solid becomes its
    hull. ModelError names file, line and element of a mesh that is neither usable exactly nor as a
    hull.
    """
    shapes: list[CollisionShape] = []
    uses: list[MeshUse] = []
    for link_name, link in description.links.items():
        frame = frames[link_name]
        elements = description.link_elements[link_name].findall("collision")
        for index, (collision, element) in enumerate(zip(link.collisions, elements, strict=True)):
            origin = collision.origin
            placement = Placement(frame.R, frame.p)
            if origin is not None:
                placement = placement.then(from_origin(origin.xyz, origin.rpy))
            mesh = shape_of(element)
            if is_void(mesh):
                continue
            if mesh.tag != "mesh":
                is_inside = collision.name in extension.capsules.get(link_name, ())
                geometry = _primitive(collision.geometry, element, is_inside)
            else:
                wanted = extension.meshes.get(link_name, meshes)
                found, use = _mesh(description, resources, link_name, mesh, wanted)
                uses.append(use)
                if found is None:
                    continue
                geometry, placement = centered_shape(found, placement)
            shapes.append(
                CollisionShape(
                    name=collision.name or f"{link_name}_{index}",
                    link=link_name,
                    body=frame.body,
                    R=placement.R,
                    p=placement.p,
                    geometry=geometry,
                    material=extension.materials.get(link_name, "default"),
                )
            )
    return tuple(shapes), tuple(uses)


def _mesh(
    description: Description, resources: Resources, link: str, element, wanted: str
) -> tuple[Mesh | None, MeshUse]:
    """Return the geometry of a <mesh> and its use. The geometry is None without collision."""
    document, uri = description.document, element.get("filename")
    if wanted == "none":
        return None, MeshUse(link, uri, "", "none")
    scale: tuple[float, ...] = (1.0, 1.0, 1.0)
    if element.get("scale") is not None:
        scale = tuple(document.numbers(element, "scale", 3))
    try:
        path = resources.locate(uri)
    except FileNotFoundError as cause:
        document.fail(element, f"missing mesh: {cause}")
    try:
        if wanted == "hull":
            mesh, notes = read_mesh(path, scale, hull=True)
        else:
            mesh, wanted, notes = _exact_or_hull(path, scale)
    except ModelError as cause:
        document.fail(
            element,
            f'{cause}; mend the file, or let the link do without: <hrpsim reference="{link}">'
            '<mesh as="none"/></hrpsim>, or meshes="none" for all',
        )
    use = MeshUse(link, uri, str(path), wanted, len(mesh.vertices), len(mesh.triangles))
    return mesh, replace(use, note="; ".join(notes))


def _exact_or_hull(path: Path, scale: tuple[float, ...]) -> tuple[Mesh, str, tuple[str, ...]]:
    """Return a mesh unchanged if the mesh bounds a solid, else its hull, and a note."""
    mesh, notes = read_mesh(path, scale, hull=False)
    why = why_no_solid(mesh)
    if why is None:
        return mesh, "exact", notes
    hull, _ = read_mesh(path, scale, hull=True)
    return hull, "hull", (f"{why}; its convex hull is used",)


def _primitive(described, element, is_inside: bool) -> Geometry:
    """Return a shape. With `is_inside`, a cylinder is replaced by the capsule inside it."""
    kind = type(described).__name__
    if kind == "Box":
        return Box(tuple(described.size))
    if kind == "Sphere":
        return Sphere(described.radius or POINT_RADIUS)
    if element.find("geometry/capsule") is not None:
        return Capsule(described.radius, described.length)
    if is_inside:
        return Capsule(described.radius, described.length - 2.0 * described.radius)
    return Cylinder(described.radius, described.length)


class MeshFile(NamedTuple):
    """A mesh of a description: the file's URI and its scale along x, y, z."""

    uri: str
    scale: tuple[float, ...]


class Visual(NamedTuple):
    """One drawn element, placed in the frame of its link."""

    link: str
    placement: Placement
    geometry: Geometry | MeshFile
    color: tuple[int, int, int] = GREY


def visuals_of_model(model: Model) -> list[Visual]:
    """Return the <visual> elements, or the collision shapes if there are none."""
    root = read_urdf(model.urdf, model.source, False).root
    colors, found = material_colors(root), []
    for link in root.findall("link"):
        for element in link.findall("visual"):
            origin, material = element.find("origin"), element.find("material")
            placement = IDENTITY
            if origin is not None:
                xyz, rpy = (_numbers(origin.get(key, "0 0 0")) for key in ("xyz", "rpy"))
                placement = from_origin(xyz, rpy)
            shape = shape_of(element)
            if not all(_numbers(" ".join(shape.get(key, "1") for key in _SIZES))):
                continue  # a size of 0: nothing is visible
            geometry = _geometry(shape)
            color = GREY if material is None else colors.get(material.get("name"), GREY)
            if material is not None and material.find("color") is not None:
                color = _rgb(material.find("color"))  # names, also "", may stand for several
            found.append(Visual(link.get("name"), placement, geometry, color))
    return found or [
        Visual(shape.link, _in_link(model, shape), shape.geometry) for shape in model.shapes
    ]


def material_colors(root: etree._Element) -> dict[str, tuple[int, int, int]]:
    """Return the colours (r, g, b), each from 0 to 255, of a description's materials by name."""
    return {
        material.get("name"): _rgb(material.find("color"))
        for material in root.iter("material")
        if material.find("color") is not None
    }


def _in_link(model: Model, shape: CollisionShape) -> Placement:
    frame = model.frame(shape.link)
    return Placement(frame.R, frame.p).inverse().then(Placement(shape.R, shape.p))


def _geometry(element) -> Geometry | MeshFile:
    if element.tag == "box":
        x, y, z = _numbers(element.get("size"))
        return Box((x, y, z))
    if element.tag == "sphere":
        return Sphere(float(element.get("radius")))
    if element.tag in ("cylinder", "capsule"):
        kind = Cylinder if element.tag == "cylinder" else Capsule
        return kind(float(element.get("radius")), float(element.get("length")))
    return MeshFile(element.get("filename"), _numbers(element.get("scale", "1 1 1")))


def _numbers(text: str) -> tuple[float, ...]:
    return tuple(float(x) for x in text.split())


def _rgb(color) -> tuple[int, int, int]:
    r, g, b = (round(255 * min(max(x, 0.0), 1.0)) for x in _numbers(color.get("rgba"))[:3])
    return r, g, b


def load_mesh(model: Model, mesh: MeshFile, color: tuple[int, int, int] = GREY):
    """Return a mesh of a description as a trimesh.Scene [m], scaled, with its colours.

    Parts of the file without a colour of their own have `color`.

    Raises OSError, ValueError or ModelError if the file is missing or unreadable, or if trimesh or
    its reader of the format is not installed.
    """
    loaded = read_scene(_file_of(model, mesh), materials=True)
    loaded.apply_transform(np.diag([*mesh.scale, 1.0]))
    paint_plain_parts(loaded, color)
    return loaded


def colored_meshes(model: Model, visual: Visual) -> list[tuple[Mesh, tuple[int, int, int]]]:
    """Return the meshes of a visual's file in its frame, each with its colour.

    A mesh without a colour of its own has the visual's colour. Raises the same errors as
    `load_mesh`.
    """
    assert isinstance(visual.geometry, MeshFile)
    found = []
    for part in load_mesh(model, visual.geometry, visual.color).dump():
        plain = part.visual.kind == "texture" and part.visual.uv is None
        paint = part.visual.material if plain else part.visual.to_color()
        r, g, b, _ = np.asarray(paint.main_color).tolist()
        found.append((Mesh(np.asarray(part.vertices), np.asarray(part.faces)), (r, g, b)))
    return found


def visual_geometry(model: Model, visual: Visual) -> Geometry:
    """Return the drawn geometry: the triangles of a mesh file are in metres.

    Raises OSError, ValueError or ModelError if the file is missing or unreadable.
    """
    if not isinstance(visual.geometry, MeshFile):
        return visual.geometry
    x, y, z = visual.geometry.scale
    return read_mesh(_file_of(model, visual.geometry), (x, y, z), hull=False).mesh


def _file_of(model: Model, mesh: MeshFile) -> Path:
    folder = Path(model.source).parent if Path(model.source).is_file() else None
    return Resources(folder).locate(mesh.uri)
