# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Convert any description to a URDF with <hrpsim> elements, to SDF or to MJCF, with all meshes."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from lxml import etree

from hrpsim.common.errors import ModelError, require_name
from hrpsim.common.file_names import resolved, writing
from hrpsim.common.resources import user_path
from hrpsim.common.stored_files import write_at_once
from hrpsim.common.typed_values import check_arguments
from hrpsim.model.convert_targets import WRITERS
from hrpsim.model.from_urdf import robot_of_urdf
from hrpsim.model.load import expand_xacro, load_model
from hrpsim.model.readers import robot_data, stored_meshes
from hrpsim.model.readers.check_robot import check_robot
from hrpsim.model.readers.urdf.document import Document
from hrpsim.model.readers.urdf.resolve_uris import PackagePaths, Resources, declared_name
from hrpsim.model.readers.urdf.xacro_text import UrdfText, read_source
from hrpsim.model.readers.urdf_writer import unwritten_in_urdf, write_urdf
from hrpsim.model.robot_formats import read_foreign, refuse_unread

_OF_URDF = (".urdf",)


class Converted(NamedTuple):
    """The result of a conversion: mesh files, and elements that are lost.

    not_simulated: elements of the source that hrpsim does not simulate. not_written: elements that
    the format of the target cannot express.
    """

    meshes: tuple[Path, ...]
    not_simulated: tuple[str, ...]
    not_written: tuple[str, ...] = ()


def convert(
    source: str | os.PathLike,
    target: str | os.PathLike,
    *,
    package_paths: PackagePaths | None = None,
    xacro_arguments: Mapping[str, object] | None = None,
    accept_nonphysical_inertia: bool = False,
) -> Converted:
    """Convert a robot description of any format to URDF, SDF or MJCF with the same dynamics.

    The suffix of the target is the format: `.sdf` is SDF, `.xml` is MJCF, `.urdf` is URDF. MJCF
    needs the package mujoco (`pip install hrpsim[mjcf]`). SDF and MJCF get copies of all meshes, in
    the folder TARGET_meshes next to the target.

    A URDF refers to the mesh files of the source where they are. Meshes embedded in the source are
    written to STL files in the folder TARGET_meshes. If the target is in a package (a folder above
    has a package.xml), URIs are package://NAME/... Otherwise URIs are file:// with the absolute
    path, which RViz can read too.

    Args:
        source: path or text of the description.
        target: path of the file to write.
        package_paths: as for `load_model`.
        xacro_arguments: as for `load_model`.
        accept_nonphysical_inertia: as for `load_model`.

    Raises:
        ModelError: the source is invalid, the target has another suffix, or the files cannot be
            written.
    """
    check_arguments(convert, locals(), ModelError)
    source, target = Path(source), user_path(target).absolute()
    suffixes = (*WRITERS, *_OF_URDF)
    require_name("suffix of a description", target.suffix.lower(), suffixes, ModelError)
    if resolved(source) == resolved(target):
        raise ModelError(f"{target}: is the description itself. Give another target file")
    refuse_unread(source)
    text, path = read_source(source)
    resources = Resources(source.absolute().parent, package_paths)
    robot = None if xacro_arguments else read_foreign(text, path, resources)
    files: dict[Path, bytes] = {}
    if target.suffix.lower() in WRITERS:
        if robot is None:
            urdf = expand_xacro(source, xacro_arguments, package_paths=package_paths)
            robot, _ = robot_of_urdf(UrdfText(urdf, source, True))
        check_robot(robot)
        made = WRITERS[target.suffix.lower()](robot, resources, target)
        _write(target, made.text, made.files)
        return Converted(tuple(made.files), tuple(robot.notes), tuple(made.not_written))
    if robot is not None:
        urdf, files = _with_meshes(robot, target)
    else:
        urdf = expand_xacro(source, xacro_arguments, package_paths=package_paths)
        urdf = _with_whole_uris(urdf, str(source), resources, target)
    _check(urdf, robot, source, package_paths, accept_nonphysical_inertia)
    _write(target, urdf, files)
    if robot is None:
        return Converted((), ())
    return Converted(tuple(files), tuple(robot.notes), tuple(unwritten_in_urdf(robot)))


def _write(target: Path, text: str, files: Mapping[Path, bytes]) -> None:
    """Write a description with all meshes. Raise ModelError on failure."""
    with writing(target, ModelError):
        for file, data in files.items():
            write_at_once(file, data)
        write_at_once(target, text.encode())


def _check(
    urdf: str,
    robot: robot_data.RobotData | None,
    source: Path,
    package_paths: PackagePaths | None,
    accept_nonphysical_inertia: bool,
) -> None:
    """Check URDF text by loading it. Raise ModelError, which names the source, if invalid."""
    base = "fixed" if robot is not None and robot.root == robot_data.WORLD_LINK else "free"
    try:
        load_model(
            urdf,
            base,
            package_paths=package_paths,
            meshes="none",
            accept_nonphysical_inertia=accept_nonphysical_inertia,
        )
    except ModelError as cause:
        label = r"^<text>" if robot is None else r"^<text>(:\d+)?"
        raise ModelError(re.sub(label, lambda _: str(source), str(cause))) from cause


def _with_meshes(robot: robot_data.RobotData, target: Path) -> tuple[str, dict[Path, bytes]]:
    """Write a robot as URDF text that refers to meshes in the folder of `target`.

    Returns:
        (URDF text, contents of the mesh files by path).
    """
    folder = target.with_name(f"{target.stem}_meshes")
    stored: dict[bytes, robot_data.MeshData] = {}  # one file for equal meshes
    for link in robot.links.values():
        for shape in (*link.visuals, *link.collisions):
            if isinstance(shape.mesh, robot_data.MeshData):
                stored.setdefault(stored_meshes.stl_of(shape.mesh), shape.mesh)
    names = stored_meshes.file_names(list(stored.values()))
    paths = {data: folder / name for data, name in zip(stored, names, strict=True)}

    def uri(mesh: robot_data.MeshData | robot_data.MeshFile) -> str:
        if isinstance(mesh, robot_data.MeshFile):
            return _uri(stored_meshes.path_of(mesh.uri), target)
        return _uri(paths[stored_meshes.stl_of(mesh)], target)

    text = write_urdf(robot, uri)
    return text, {file: data for data, file in paths.items()}


def _with_whole_uris(text: str, label: str, resources: Resources, target: Path) -> str:
    """Replace relative mesh paths in URDF text by URIs that do not depend on the folder."""
    document = Document(text, label)
    changed = False
    for element in document.root.iter("mesh"):
        uri = element.get("filename", "")
        if "://" in uri or element.getparent().tag != "geometry":
            continue
        try:
            element.set("filename", _uri(resources.locate(uri).absolute(), target))
        except FileNotFoundError as cause:
            document.fail(element, f"missing mesh: {cause}")
        changed = True
    return etree.tostring(document.root, encoding="unicode") + "\n" if changed else text


def _uri(file: Path, target: Path) -> str:
    """Return the package:// or file:// URI of a file, for a description at `target`."""
    for folder in target.parents:
        if file.is_relative_to(folder) and (name := declared_name(folder)):
            return f"package://{name}/{file.relative_to(folder).as_posix()}"
    return f"file://{quote(str(file))}"
