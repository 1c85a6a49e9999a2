# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Load robot descriptions: URDF, xacro, MJCF, .body or .wrl become a `Model`.

Models of URDF texts are cached on disk, because reading a description takes longer than all other
work on a robot. Models with meshes or an SRDF are not cached, because these files may change.
Models with warnings are not cached either. The files are next to the compiled kernels, with a
checksum. A damaged or missing file only costs time.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import pickle
import warnings
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from hrpsim.common import limits
from hrpsim.common.errors import ModelError, ModelWarning, require_name
from hrpsim.common.foreign.file_bytes import file_digest
from hrpsim.common.stored_files import keep_among, read_used
from hrpsim.common.typed_values import check_arguments
from hrpsim.engine.compile.kernel_folders import cache_for
from hrpsim.model.model import BASES, MESH_USES, Model
from hrpsim.model.readers.urdf.resolve_uris import PackagePaths, Resources, source_path
from hrpsim.model.readers.urdf.xacro_text import UrdfText, expand, is_xacro, read_source
from hrpsim.model.robot_formats import URDF, format_of, read_foreign, refuse_unread

if TYPE_CHECKING:
    from hrpsim.model.readers.robot_data import RobotData

# Of the sources that make models; common/ has numbers, texts and limits.
_FOLDER = cache_for("model", "common")
_KEPT = 200  # models, the most recently used


def load_model(  # many parameters: keyword arguments
    source: str | os.PathLike,
    base: str | None = None,
    *,
    package_paths: PackagePaths | None = None,
    xacro_arguments: Mapping[str, object] | None = None,
    accept_nonphysical_inertia: bool = False,
    meshes: str = "hull",
    srdf: str | os.PathLike | None = None,
    allow_xacro: bool = True,
    allow_mjcf: bool = True,
) -> Model:
    """Return the model of a robot description.

    Xacro is recognised by file name or namespace, and MJCF by the root element <mujoco>. The
    package mujoco reads MJCF. .body and .wrl are recognised by file name. Meshes of these two
    formats are written to files of the cache folder. `Model.not_simulated` and a ModelWarning list
    elements of any format that are not simulated or not known.

    An effort or velocity limit of 0 or -1 means no limit, as in most published descriptions, and
    becomes inf. A collision sphere of radius 0 is a point. <dynamics> of a planar joint applies to
    each of its three coordinates. Damping in <dynamics> and damping in <spring> add up.
    `Model.meshes` lists the collision meshes and the use of each.
    docs/reference/robot_descriptions.md lists the <hrpsim> elements.

    Args:
        source: a path, a package:// or file:// URI, or XML text.
        base: "free", or "fixed" to hold the root link in the world. The default is "fixed" if the
            root link is called "world" and carries more than a floating base, otherwise "free".
        package_paths: first places to search for package://, as {package: folder}, or as folders
            that are packages or hold packages. Then AMENT_PREFIX_PATH, ROS_PACKAGE_PATH and the
            folders above the file are searched.
        xacro_arguments: values of <xacro:arg>. True and False become "true" and "false".
        accept_nonphysical_inertia: accept masses and inertias that no solid can have. A
            ModelWarning then names joints that move no inertia. By default each moving link,
            together with all links fixed to it, must have a mass and moments of inertia. The
            moments must not be negative and must obey the triangle inequality. Each joint must move
            a mass or a rotor inertia. A moving link without <inertial> has no mass. A ModelWarning
            names moving links with moments of zero.
        meshes: use of collision meshes. "hull" uses the convex hull of each mesh. "exact" uses the
            triangles, which may be concave. A mesh that bounds no solid is then replaced by the
            hull, with a ModelWarning. "none" disables mesh collisions, and the files are not read.
            <mesh as="..."/> of a link in <hrpsim> has priority.
        srdf: path or text of an SRDF. Its <disable_collisions> apply if the robot collides with
            itself. A ModelWarning names lines about links that the robot does not have.
        allow_xacro: False refuses descriptions that need xacro, for untrusted descriptions.
        allow_mjcf: False refuses MJCF and USD, for untrusted descriptions. The parsers of these
            formats belong to MuJoCo and Pixar, and run in separate processes.

    Raises:
        ModelError: the description is invalid. The message names file, line, element and cause.
    """
    check_arguments(load_model, locals(), ModelError)
    if base is not None:
        require_name("base", base, BASES, ModelError)
    require_name("meshes", meshes, MESH_USES, ModelError)
    description = _read(source, xacro_arguments or {}, package_paths, allow_xacro, allow_mjcf)
    return _model_of(description, base, accept_nonphysical_inertia, meshes, srdf)


def load_robot_data(robot: RobotData, path: Path) -> Model:
    """Return the model of a robot read from `path`, without warnings about unsupported elements.

    ModelError names an invalid element.
    """
    description = _Description(str(path), Resources(path.parent), robot=_complete(robot, path))
    return _model_of(description, None, False, "hull", None)


class _Description(NamedTuple):
    """A description: URDF text, or a robot of another format."""

    label: str
    resources: Resources
    urdf: UrdfText | None = None
    robot: RobotData | None = None


def _model_of(
    description: _Description,
    base: str | None,
    accept_nonphysical_inertia: bool,
    meshes: str,
    srdf: str | os.PathLike | None,
) -> Model:
    """Return the model of a description. Arguments and errors are the same as for `load_model`."""
    text = "" if description.urdf is None else description.urdf.text
    key = ""
    if srdf is None:
        identity = pickle.dumps(description.robot) if description.urdf is None else text
        key = key_of(identity, base, accept_nonphysical_inertia, meshes)
    model = recall(key, description.resources)
    notes: list[str] = []
    if model is None:
        from hrpsim.model.from_robot_data import model_of_robot

        robot, readings = _robot_of(description)
        model, notes = model_of_robot(
            robot, description.resources, base, accept_nonphysical_inertia, meshes, srdf
        )
        notes += readings
        if not notes:
            model = keep(key, model)
    if model.not_simulated:
        listed = "; ".join(model.not_simulated)
        notes.insert(0, f"{description.label}: not simulated as it says: {listed}")
    for note in notes:
        warnings.warn(note, ModelWarning, stacklevel=3)
    return replace(model, text=text, robot=description.robot, source=description.label)


def _robot_of(description: _Description) -> tuple[RobotData, list[str]]:
    """Return the robot of a description, and notes on suspicious elements."""
    if description.robot is not None:
        return description.robot, []
    from hrpsim.model.from_urdf import robot_of_urdf

    assert description.urdf is not None
    return robot_of_urdf(description.urdf)


def expand_xacro(
    path: str | os.PathLike,
    arguments: Mapping[str, object] | None = None,
    *,
    package_paths: PackagePaths | None = None,
) -> str:
    """Return the URDF text of a description after expansion of xacro, as in robot_description.

    `path` may also be a plain URDF or XML text. ModelError as for `load_model`.
    """
    description = _read(path, arguments or {}, package_paths)
    if description.urdf is not None:
        return description.urdf.text
    from hrpsim.model.readers.urdf_writer import write_urdf

    assert description.robot is not None
    return write_urdf(description.robot)


def _read(
    source: str | os.PathLike,
    arguments: Mapping[str, object],
    package_paths: PackagePaths | None,
    allow_xacro: bool = True,
    allow_mjcf: bool = True,
) -> _Description:
    try:
        source = source_path(source, package_paths)
    except FileNotFoundError as error:
        raise ModelError(str(error)) from error
    refuse_unread(Path(source) if isinstance(source, os.PathLike) else None)
    text, path = read_source(source)
    refuse_unread(path)
    label = "<text>" if path is None else str(path)
    resources = Resources(None if path is None else path.parent, package_paths)
    if is_xacro(text, path):
        if not allow_xacro:
            raise ModelError(
                f"{label}: xacro is not allowed here (allow_xacro is False). Expand the xacro "
                "first, and give the URDF"
            )
        urdf = UrdfText(expand(text, path, arguments, resources, label), path, False)
        return _Description(label, resources, urdf)
    if arguments:
        listed = ", ".join(map(repr, arguments))
        raise ModelError(f"{label}: is not a xacro file. Leave out the arguments ({listed})")
    form = format_of(text, path)
    if not allow_mjcf and form.name in ("mjcf", "usd"):
        raise ModelError(
            f"{label}: {form.name.upper()} is not allowed here (allow_mjcf). Convert it first"
            " (hrpsim convert)"
        )
    if form is URDF:
        return _Description(label, resources, UrdfText(text, path, True))
    robot = _converted(text, path, resources, is_mjcf=form.name == "mjcf")
    return _Description(label, resources, robot=robot)


def _converted(text: str, path: Path | None, resources: Resources, is_mjcf: bool) -> RobotData:
    """Return the robot of text in a format other than URDF. Robots of MJCF files are cached."""

    def foreign() -> RobotData:
        robot = read_foreign(text, path, resources)
        assert robot is not None
        return _complete(robot, path)

    if path is None or not is_mjcf:
        return foreign()
    from hrpsim.model.readers.mjcf.kept import converted

    return converted(text, path, foreign)


def _complete(robot: RobotData, path: Path | None) -> RobotData:
    """Check a robot of a format other than URDF, and write its meshes to files."""
    from hrpsim.model.readers.check_robot import check_robot
    from hrpsim.model.readers.stored_meshes import store_meshes

    robot.label = "<text>" if path is None else str(path)
    check_robot(robot)
    store_meshes(robot)
    return robot


def key_of(text: str | bytes, *settings: object) -> str:
    """Return the cache key of a model: a hash of text, settings, limits and NumPy's version.

    text: the description.
    """
    bounds = sorted((k, v) for k, v in vars(limits).items() if k.isupper())
    identity = repr((settings, bounds, np.__version__, text))
    return hashlib.sha256(identity.encode("utf-8", "surrogatepass")).hexdigest()[:40]


def recall(key: str, resources: Resources | None = None) -> Model | None:
    """Return the cached model of a key, or None if there is none or the key is "".

    The mesh files found by `resources` must have the same contents as for the stored model.
    """
    content = read_used(_FOLDER / f"{key}.pickle") if key else None
    if content is None:
        return None
    hashes, pickled = pickle.loads(content)
    try:
        for (uri, file), known in hashes.items():
            there = Path(uri) if resources is None else resources.locate(uri)
            if str(there) != file or _hash_of(there) != known:
                return None
    except (OSError, ModelError):
        return None
    return pickle.loads(pickled)


def keep(key: str, model: Model) -> Model:
    """Cache a model for later processes, if possible.

    Returns:
        An equal copy, as later processes will read it. The key "" caches nothing.
    """
    if not key:
        return model
    pickled = pickle.dumps(model)
    with contextlib.suppress(OSError, ModelError):
        files = {(use.uri, use.file) for use in model.meshes if use.file}
        hashes = {(uri, file): _hash_of(Path(file)) for uri, file in files}
        keep_among(_FOLDER / f"{key}.pickle", pickle.dumps((hashes, pickled)), _KEPT)
    return pickle.loads(pickled)


def _hash_of(file: Path) -> str:
    return file_digest(file, ModelError, "MESH_SIZE").hex()
