# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Collision elements of a description: primitive shapes, and meshes as hulls or as they are."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from hrpsim.errors import ModelError
from hrpsim.model.body_inertia import why_no_solid
from hrpsim.model.described import Extension
from hrpsim.model.model import CollisionShape, Frame, MeshUse
from hrpsim.model.shapes.compound import centered_shape
from hrpsim.model.shapes.geometry import Box, Capsule, Cylinder, Geometry, Mesh, Sphere
from hrpsim.model.shapes.mesh_files import read_mesh
from hrpsim.model.shapes.placement import Placement, from_origin
from hrpsim.model.urdf.description import Description, is_void
from hrpsim.model.urdf.resolve_uris import Resources

POINT_RADIUS = 1e-6  # [m], of a sphere that represents a point


def read_shapes(
    description: Description,
    extension: Extension,
    frames: dict[str, Frame],
    resources: Resources,
    meshes: str,
) -> tuple[tuple[CollisionShape, ...], tuple[MeshUse, ...]]:
    """Return the shapes, placed in their bodies, and the use of each mesh.

    An element without a name is named after its link and its index there. `meshes` is the use of
    meshes in links whose <hrpsim> has none. An exact mesh that bounds no solid becomes its hull.
    ModelError names file, line and element of a mesh that is neither.
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
            mesh, box = element.find("geometry/mesh"), element.find("geometry/box")
            if box is not None and is_void(box):
                continue
            if mesh is None:
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
    """Return the geometry of a <mesh>, None for no collision, and how it was made."""
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
    """Return a mesh as it is if it bounds a solid, else its hull, and a note."""
    mesh, notes = read_mesh(path, scale, hull=False)
    why = why_no_solid(mesh)
    if why is None:
        return mesh, "exact", notes
    hull, _ = read_mesh(path, scale, hull=True)
    return hull, "hull", (f"{why}; its convex hull is used",)


def _primitive(described, element, is_inside: bool) -> Geometry:
    """Return a shape; `is_inside`: in place of a cylinder the capsule inside it."""
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
