"""The door to robot descriptions: URDF or xacro, a file or text, in; a `Model` out."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from hrpsim.errors import ModelError, ModelWarning, unknown_name
from hrpsim.model.build import build_model
from hrpsim.model.extension import MESH_USES, read_extension
from hrpsim.model.link_shapes import read_shapes
from hrpsim.model.model import MeshUse, Model
from hrpsim.model.urdf.description import Description, read_description
from hrpsim.model.urdf.document import Document, read_source
from hrpsim.model.urdf.resources import PackagePaths, Resources
from hrpsim.model.urdf.srdf import read_disabled_collisions
from hrpsim.model.urdf.xacro_text import expand, is_xacro

BASES = ("free", "fixed")


def load_model(
    source: str | os.PathLike,
    base: str = "free",
    *,
    package_paths: PackagePaths | None = None,
    xacro_arguments: Mapping[str, object] | None = None,
    accept_nonphysical_inertia: bool = False,
    meshes: str = "hull",
    srdf: str | os.PathLike | None = None,
    allow_xacro: bool = True,
) -> Model:
    """Return the model of a robot description.

    source: a path, or XML text; xacro is recognised by its file name or its namespace.
    base: "free", or "fixed" to hold the root link in the world.
    package_paths: where package:// looks first: {package: folder}, or folders that are packages
    or hold packages; then AMENT_PREFIX_PATH, ROS_PACKAGE_PATH and the folders above the file.
    xacro_arguments: values of <xacro:arg>; True and False become "true" and "false".
    accept_nonphysical_inertia: take masses and inertias as they are, whether matter can have them
    or not; a ModelWarning names joints that no inertia resists. Otherwise each moving link together
    with what is fixed to it must have a mass and moments of inertia that are not negative and obey
    the triangle inequality, and something must resist each joint; a moving link without any
    <inertial> is a massless intermediate, and a ModelWarning names those whose moments are zero.
    meshes: how collision meshes collide: "hull" (each as its convex hull), "exact" (as its
    triangles, concave where they are; one that bounds no solid as its hull, with a ModelWarning) or
    "none" (not at all; the files are not read). <mesh as="..."/> of a link in <hrpsim> goes before.
    allow_xacro: False refuses what needs xacro, for descriptions that come from strangers.
    srdf: path or text of an SRDF, whose <disable_collisions> hold where the robot collides with
    itself; a ModelWarning names lines about links that the robot does not have.

    An effort or velocity limit of 0 means, as in most published descriptions, that none is
    stated: it becomes inf. <dynamics> of a planar joint counts for each of its three coordinates;
    damping in <dynamics> and in <spring> adds up. `Model.meshes` lists the collision meshes and
    what became of each. See `hrpsim.model.extension` for <hrpsim> elements.

    Raises ModelError, which names file, line, element and cause, for anything that is not sound.
    """
    if base not in BASES:
        raise ModelError(unknown_name("base", str(base), BASES))
    if meshes not in MESH_USES:
        raise ModelError(unknown_name("meshes", str(meshes), MESH_USES))
    text, path, has_lines, resources = _urdf_text(
        source, xacro_arguments or {}, package_paths, allow_xacro
    )
    label = "<text>" if path is None else str(path)
    document = Document(text, label, has_lines)
    description = read_description(document)
    extension = read_extension(description)
    model, odd = build_model(description, extension, base, accept_nonphysical_inertia)
    shapes, uses = read_shapes(description, extension, model.frames, resources, meshes)
    disabled, notes = frozenset(), ()
    if srdf is not None:
        disabled, notes = read_disabled_collisions(srdf, model.frames)
    for note in (*odd, *_surprises(uses), *notes, *_intangible(model, description, shapes, uses)):
        warnings.warn(note, ModelWarning, stacklevel=2)
    return replace(
        model, shapes=shapes, meshes=uses, disabled_collisions=disabled, urdf=text, source=label
    )


def _surprises(uses: tuple[MeshUse, ...]) -> list[str]:
    """Return what is to be said of meshes that were mended or are not what was asked for."""
    return list(dict.fromkeys(f"mesh {use.file}: {use.note}" for use in uses if use.note))


def _intangible(model: Model, description: Description, shapes, uses) -> list[str]:
    """Return what is to be said of a robot on a free base that is seen but never touches."""
    if shapes or uses or model.base != "free":
        return []
    elements = description.link_elements
    seen = [link for link, element in elements.items() if element.find("visual") is not None]
    if not seen:
        return []
    shown = ", ".join(map(repr, _ends(description, seen)[:4]))
    return [
        f"{description.where_is_link(model.base_link)}: no link has a <collision>, though"
        f" {len(seen)} have a <visual>: in a world the robot falls through everything; give the"
        f" links that it touches things with (its ends are {shown}) a <collision> each"
    ]


def _ends(description: Description, links: list[str]) -> list[str]:
    """Return those of some links that have none of the others beneath them."""
    above: set[str] = set()
    for link in links:
        while link in description.parent_joint:
            link = description.joints[description.parent_joint[link]].parent
            above.add(link)
    return [link for link in links if link not in above]


def expand_xacro(
    path: str | os.PathLike,
    arguments: Mapping[str, object] | None = None,
    *,
    package_paths: PackagePaths | None = None,
) -> str:
    """Return the URDF text of a description, xacro expanded: what robot_description carries.

    `path` may also be a plain URDF or XML text; ModelError as for `load_model`.
    """
    return _urdf_text(path, arguments or {}, package_paths)[0]


def _urdf_text(
    source: str | os.PathLike,
    arguments: Mapping[str, object],
    package_paths: PackagePaths | None,
    allow_xacro: bool = True,
) -> tuple[str, Path | None, bool, Resources]:
    """Return URDF text, its path, whether its lines are the file's, and where to find resources."""
    text, path = read_source(source)
    resources = Resources(None if path is None else path.parent, package_paths)
    if is_xacro(text, path):
        label = "<text>" if path is None else str(path)
        if not allow_xacro:
            raise ModelError(
                f"{label}: xacro is not allowed here (allow_xacro); expand it first and give the"
                " URDF"
            )
        return expand(text, path, arguments, resources, label), path, False, resources
    if arguments:
        listed = ", ".join(map(repr, arguments))
        raise ModelError(f"{path or '<text>'}: is not xacro, so it takes no arguments ({listed})")
    return text, path, True, resources
