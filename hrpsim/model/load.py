# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The door to robot descriptions: URDF, xacro, MJCF, .body or .wrl in; a `Model` out."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from hrpsim.errors import ModelError, ModelWarning, unknown_name
from hrpsim.model.foreign import format_of, read_foreign, refuse_unread
from hrpsim.model.kept_models import keep, key_of, recall
from hrpsim.model.model import BASES, MESH_USES, Model
from hrpsim.model.urdf.resources import PackagePaths, Resources
from hrpsim.model.urdf.source import UrdfText, read_source
from hrpsim.model.urdf.xacro_text import expand, is_xacro

if TYPE_CHECKING:
    from hrpsim.model.formats.robot_data import MeshData, MeshFile, RobotData


def load_model(  # many parameters: keywords, told by name
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

    Xacro is recognised by its file name or its namespace, MJCF by its root element <mujoco> (the
    package mujoco reads it), .body and .wrl by their names. These are turned into a URDF first,
    which `Model.urdf` has, with their meshes in files of the cache folder; `Model.not_simulated`
    and a ModelWarning list their elements that are not simulated.

    An effort or velocity limit of 0 or -1 means, as in most published descriptions, that none is
    stated: it becomes inf. A sphere that collides and has no radius is a point. <dynamics> of a
    planar joint counts for each of its three coordinates; damping in <dynamics> and in <spring>
    adds up. `Model.meshes` lists the collision meshes and how each is used. The page of robot
    descriptions has the <hrpsim> elements.

    Args:
        source: a path, or XML text.
        base: "free", or "fixed" to hold the root link in the world; by default a URDF is free, and
            other formats are as the description says.
        package_paths: where package:// looks first: {package: folder}, or folders that are packages
            or hold packages; then AMENT_PREFIX_PATH, ROS_PACKAGE_PATH and the folders above the
            file.
        xacro_arguments: values of <xacro:arg>; True and False become "true" and "false".
        accept_nonphysical_inertia: take masses and inertias as they are, whether matter can have
            them or not; a ModelWarning names joints that no inertia resists. Otherwise each moving
            link together with all that is fixed to it must have a mass and moments of inertia that
            are not negative and obey the triangle inequality, and something must resist each joint;
            a moving link without any <inertial> is a massless intermediate, and a ModelWarning
            names those whose moments are zero.
        meshes: how collision meshes collide: "hull" (each as its convex hull), "exact" (as its
            triangles, concave where they are; one that bounds no solid as its hull, with a
            ModelWarning) or "none" (not at all; the files are not read). <mesh as="..."/> of a link
            in <hrpsim> has priority.
        srdf: path or text of an SRDF, whose <disable_collisions> hold where the robot collides with
            itself; a ModelWarning names lines about links that the robot does not have.
        allow_xacro: False refuses descriptions that need xacro, for those that come from strangers.
        allow_mjcf: the same for MJCF, whose parser is MuJoCo's, in a process of its own.

    Raises:
        ModelError: with file, line, element and cause, for anything that is not sound.
    """
    if base is not None and base not in BASES:
        raise ModelError(unknown_name("base", str(base), BASES))
    if meshes not in MESH_USES:
        raise ModelError(unknown_name("meshes", str(meshes), MESH_USES))
    urdf = _urdf_text(source, xacro_arguments or {}, package_paths, allow_xacro, allow_mjcf)
    return _model_of(urdf, base, accept_nonphysical_inertia, meshes, srdf)


def load_robot_data(robot: RobotData, path: Path) -> Model:
    """Return the model of a robot that was read from `path`, without saying what is left out.

    ModelError names what of it is not sound.
    """
    resources = Resources(path.parent)
    urdf = UrdfText(_urdf_of(robot), path, False, resources, states_base=True)
    return _model_of(urdf, None, False, "hull", None)


def _model_of(
    urdf: UrdfText,
    base: str | None,
    accept_nonphysical_inertia: bool,
    meshes: str,
    srdf: str | os.PathLike | None,
) -> Model:
    """Return the model of URDF text; arguments and errors are those of `load_model`."""
    key = ""
    if srdf is None:
        key = key_of(urdf.text, base, urdf.states_base, accept_nonphysical_inertia, meshes)
    model, notes = recall(key), list(urdf.notes)
    if model is None:
        from hrpsim.model.from_urdf import read_model

        model, more = read_model(urdf, base, accept_nonphysical_inertia, meshes, srdf)
        notes += more
        if not more and not model.meshes:
            model = keep(key, model)
    for note in notes:
        warnings.warn(note, ModelWarning, stacklevel=3)
    return replace(model, not_simulated=urdf.not_simulated, urdf=urdf.text, source=urdf.label)


def expand_xacro(
    path: str | os.PathLike,
    arguments: Mapping[str, object] | None = None,
    *,
    package_paths: PackagePaths | None = None,
) -> str:
    """Return the URDF text of a description, xacro expanded: what robot_description carries.

    `path` may also be a plain URDF or XML text; ModelError as for `load_model`.
    """
    return _urdf_text(path, arguments or {}, package_paths).text


def _urdf_text(
    source: str | os.PathLike,
    arguments: Mapping[str, object],
    package_paths: PackagePaths | None,
    allow_xacro: bool = True,
    allow_mjcf: bool = True,
) -> UrdfText:
    """Return URDF text of a description in any format."""
    refuse_unread(Path(source) if isinstance(source, os.PathLike) else None)
    text, path = read_source(source)
    refuse_unread(path)
    label = "<text>" if path is None else str(path)
    resources = Resources(None if path is None else path.parent, package_paths)
    if is_xacro(text, path):
        if not allow_xacro:
            raise ModelError(
                f"{label}: xacro is not allowed here (allow_xacro); expand it first and give the"
                " URDF"
            )
        return UrdfText(expand(text, path, arguments, resources, label), path, False, resources)
    if arguments:
        listed = ", ".join(map(repr, arguments))
        raise ModelError(f"{label}: is not xacro, so it takes no arguments ({listed})")
    if not allow_mjcf and format_of(text, path) == "mjcf":
        raise ModelError(
            f"{label}: MJCF is not allowed here (allow_mjcf); convert it first (hrpsim convert)"
        )
    robot = read_foreign(text, path, resources)
    if robot is None:
        return UrdfText(text, path, True, resources)
    return UrdfText(_urdf_of(robot), path, False, resources, tuple(robot.notes), True)


def _urdf_of(robot: RobotData) -> str:
    """Return the URDF text of a robot, its meshes in files of the cache folder."""
    from hrpsim.model.formats.mesh_store import cached_mesh
    from hrpsim.model.formats.robot_data import MeshFile
    from hrpsim.model.formats.urdf_writer import write_urdf

    def uri(mesh: MeshData | MeshFile) -> str:
        path = mesh.path.absolute() if isinstance(mesh, MeshFile) else cached_mesh(mesh)
        return f"file://{quote(str(path))}"

    return write_urdf(robot, uri)
