"""Collision elements of a description: primitive shapes to simulate, and meshes set aside."""

from __future__ import annotations

from hrpsim.model.description import Description
from hrpsim.model.extension import Extension
from hrpsim.model.geometry import Box, Capsule, Cylinder, Geometry, Sphere
from hrpsim.model.model import CollisionShape, Frame
from hrpsim.model.placement import Placement, from_origin
from hrpsim.model.resources import Resources


def read_shapes(
    description: Description,
    extension: Extension,
    frames: dict[str, Frame],
    resources: Resources,
) -> tuple[tuple[CollisionShape, ...], tuple[tuple[str, str], ...]]:
    """Return the shapes, placed in their bodies, and (link, URI) of each mesh.

    An element without a name is called after its link and its place there. ModelError names a
    mesh whose file does not exist.
    """
    shapes: list[CollisionShape] = []
    meshes: list[tuple[str, str]] = []
    for link_name, link in description.links.items():
        frame = frames[link_name]
        elements = description.link_elements[link_name].findall("collision")
        for index, (collision, element) in enumerate(zip(link.collisions, elements, strict=True)):
            mesh = element.find("geometry/mesh")
            if mesh is not None:
                try:
                    resources.locate(mesh.get("filename"))
                except FileNotFoundError as cause:
                    description.document.fail(mesh, f"missing mesh: {cause}")
                meshes.append((link_name, mesh.get("filename")))
                continue
            origin = collision.origin
            place = Placement(frame.R, frame.p)
            if origin is not None:
                place = place.then(from_origin(origin.xyz, origin.rpy))
            shapes.append(
                CollisionShape(
                    name=collision.name or f"{link_name}_{index}",
                    link=link_name,
                    body=frame.body,
                    R=place.R,
                    p=place.p,
                    geometry=_geometry(
                        collision.geometry,
                        collision.name in extension.capsules.get(link_name, ()),
                    ),
                    material=extension.materials.get(link_name, "default"),
                )
            )
    return tuple(shapes), tuple(meshes)


def _geometry(described, as_capsule: bool) -> Geometry:
    kind = type(described).__name__
    if kind == "Box":
        return Box(tuple(described.size))
    if kind == "Sphere":
        return Sphere(described.radius)
    if as_capsule:
        return Capsule(described.radius, described.length - 2.0 * described.radius)
    return Cylinder(described.radius, described.length)
