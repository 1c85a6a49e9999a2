"""The door to robot descriptions: URDF or xacro, a file or text, in; a `Model` out."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from hrpsim.errors import ModelError, unknown_name
from hrpsim.model.build import build_model
from hrpsim.model.description import read_description
from hrpsim.model.document import Document, read_source
from hrpsim.model.extension import read_extension
from hrpsim.model.model import Model
from hrpsim.model.resources import PackagePaths, Resources
from hrpsim.model.shapes import read_shapes
from hrpsim.model.xacro_text import expand, is_xacro

BASES = ("free", "fixed")


def load_model(
    source: str | os.PathLike,
    base: str = "free",
    *,
    package_paths: PackagePaths | None = None,
    xacro_arguments: Mapping[str, object] | None = None,
    accept_nonphysical_inertia: bool = False,
) -> Model:
    """Return the model of a robot description.

    source: a path, or XML text; xacro is recognised by its file name or its namespace.
    base: "free", or "fixed" to hold the root link in the world.
    package_paths: where package:// looks first: {package: folder}, or folders that are packages
    or hold packages; then AMENT_PREFIX_PATH, ROS_PACKAGE_PATH and the folders above the file.
    xacro_arguments: values of <xacro:arg>; True and False become "true" and "false".
    accept_nonphysical_inertia: take masses and inertias as they are, whether matter can have them
    or not. Otherwise each moving link together with what is fixed to it must have a positive mass
    and a positive definite inertia that obeys the triangle inequality; a moving link without any
    <inertial> is a massless intermediate.

    An effort or velocity limit of 0 means, as in most published descriptions, that none is
    stated: it becomes inf. <dynamics> of a planar joint counts for each of its three coordinates;
    damping in <dynamics> and in <spring> adds up. Mesh collision elements must exist; they are
    listed in `Model.skipped_meshes`. See `hrpsim.model.extension` for <hrpsim> elements.

    Raises ModelError, which names file, line, element and cause, for anything that is not sound.
    """
    if base not in BASES:
        raise ModelError(unknown_name("base", str(base), BASES))
    text, path, has_lines, resources = _urdf_text(source, xacro_arguments or {}, package_paths)
    label = "<text>" if path is None else str(path)
    document = Document(text, label, has_lines)
    description = read_description(document)
    extension = read_extension(description)
    model = build_model(description, extension, base, accept_nonphysical_inertia)
    shapes, meshes = read_shapes(description, extension, model.frames, resources)
    return replace(model, shapes=shapes, skipped_meshes=meshes, urdf=text, source=label)


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
) -> tuple[str, Path | None, bool, Resources]:
    """Return URDF text, its path, whether its lines are the file's, and where to find resources."""
    text, path = read_source(source)
    resources = Resources(None if path is None else path.parent, package_paths)
    if is_xacro(text, path):
        label = "<text>" if path is None else str(path)
        return expand(text, path, arguments, resources, label), path, False, resources
    if arguments:
        listed = ", ".join(map(repr, arguments))
        raise ModelError(f"{path or '<text>'}: is not xacro, so it takes no arguments ({listed})")
    return text, path, True, resources
