# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Load robot descriptions: URDF, xacro, MJCF, .body or .wrl become a `Model`.

Models of URDF texts are stored on disk, because reading one takes longer than all else of a robot.
A text with the same settings gives the same model, as long as nothing else is read: one with meshes
or an SRDF, whose files may change, is not stored, nor one with warnings. The files are next to the
kernels, in a folder for these sources, with a checksum; damaged or missing files only cost time.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import pickle
import re
import warnings
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

import numpy as np

from hrpsim import limits
from hrpsim.errors import ModelError, ModelWarning, require_name, unknown_name
from hrpsim.jit.kernel_folders import cache_for
from hrpsim.model.model import BASES, MESH_USES, Model
from hrpsim.model.urdf.resolve_uris import PackagePaths, Resources
from hrpsim.model.urdf.xacro_text import UrdfText, expand, is_xacro, read_source
from hrpsim.stored_files import read_whole, remove_oldest, write_whole

if TYPE_CHECKING:
    from hrpsim.model.formats.robot_data import MeshData, MeshFile, RobotData
READ_FORMATS = "URDF, xacro, MJCF (.xml), Choreonoid .body and OpenHRP .wrl"
_SKIPPED = re.compile(r"\s+|<\?.*?\?>|<!--.*?-->|<!DOCTYPE[^<>\[]*>", re.DOTALL)
_ROOT = re.compile(r"<([A-Za-z_][\w.-]*)")
_NOT_READ = {
    ".mjb": "a compiled MuJoCo model holds no names of files and fits one version: give the .xml",
    ".sdf": "SDF is not read: convert it to URDF or MJCF first",
    ".usd": "USD is not read: export it as URDF or MJCF first",
}
_NOT_READ.update({suffix: _NOT_READ[".usd"] for suffix in (".usda", ".usdc", ".usdz")})
# Sources that make models: this package and the top of hrpsim (numbers, texts, limits).
_AT_TOP = sorted(path.name for path in Path(limits.__file__).parent.glob("*.py"))
_FOLDER = cache_for("model", *_AT_TOP)
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

    Xacro is recognised by its file name or its namespace, MJCF by its root element <mujoco> (the
    package mujoco reads it), .body and .wrl by their names. These are turned into a URDF first,
    which `Model.urdf` has, with their meshes in files of the cache folder. `Model.not_simulated`
    and a ModelWarning list the elements of any format that are not simulated or not known.

    An effort or velocity limit of 0 or -1 means, as in most published descriptions, no limit: it
    becomes inf. A sphere that collides and has no radius is a point. <dynamics> of a
    planar joint counts for each of its three coordinates; damping in <dynamics> and in <spring>
    adds up. `Model.meshes` lists the collision meshes and how each is used. The page of robot
    descriptions has the <hrpsim> elements.

    Args:
        source: a path, or XML text.
        base: "free", or "fixed" to hold the root link in the world; by default it is fixed if it
            is called "world" and more than a floating base hangs on it.
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
        allow_xacro: False refuses descriptions that need xacro, for untrusted descriptions.
        allow_mjcf: the same for MJCF, whose parser is MuJoCo's, in a process of its own.

    Raises:
        ModelError: with file, line, element and cause, for anything invalid.
    """
    if base is not None and base not in BASES:
        raise ModelError(unknown_name("base", str(base), BASES))
    require_name("meshes", meshes, MESH_USES, ModelError)
    urdf = _urdf_text(source, xacro_arguments or {}, package_paths, allow_xacro, allow_mjcf)
    return _model_of(urdf, base, accept_nonphysical_inertia, meshes, srdf)


def load_robot_data(robot: RobotData, path: Path) -> Model:
    """Return the model of a robot that was read from `path`, without warnings of what is left out.

    ModelError names what is invalid.
    """
    resources = Resources(path.parent)
    urdf = UrdfText(_urdf_of(robot), path, False, resources)
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
        key = key_of(urdf.text, base, accept_nonphysical_inertia, meshes)
    model = recall(key, urdf.resources)
    notes: list[str] = []
    if model is None:
        from hrpsim.model.from_urdf import read_model

        model, notes = read_model(urdf, base, accept_nonphysical_inertia, meshes, srdf)
        if not notes:
            model = keep(key, model)
    not_simulated = (*urdf.not_simulated, *model.not_simulated)
    if not_simulated:
        notes.insert(0, f"{urdf.label}: not simulated as it says: {'; '.join(not_simulated)}")
    for note in notes:
        warnings.warn(note, ModelWarning, stacklevel=3)
    return replace(model, not_simulated=not_simulated, urdf=urdf.text, source=urdf.label)


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
    if path is not None and format_of(text, path) == "mjcf":
        from hrpsim.model.mjcf.kept import converted

        urdf, notes = converted(text, path, lambda: _foreign_urdf(text, path, resources))
        return UrdfText(urdf, path, False, resources, notes)
    robot = read_foreign(text, path, resources)
    if robot is None:
        return UrdfText(text, path, True, resources)
    return UrdfText(_urdf_of(robot), path, False, resources, tuple(robot.notes))


def _foreign_urdf(text: str, path: Path, resources: Resources) -> tuple[str, tuple[str, ...]]:
    """Return the URDF text of an MJCF, and what it does not say."""
    robot = read_foreign(text, path, resources)
    assert robot is not None
    return _urdf_of(robot), tuple(robot.notes)


def _urdf_of(robot: RobotData) -> str:
    """Return the URDF text of a robot, its meshes in files of the cache folder."""
    from hrpsim.model.formats.robot_data import MeshFile, cached_mesh
    from hrpsim.model.formats.urdf_writer import write_urdf

    def uri(mesh: MeshData | MeshFile) -> str:
        path = mesh.path.absolute() if isinstance(mesh, MeshFile) else cached_mesh(mesh)
        return f"file://{quote(str(path))}"

    return write_urdf(robot, uri)


def key_of(text: str, *settings: object) -> str:
    """Return the key of a model: a hash of text, settings, limits, NumPy's version."""
    bounds = sorted((k, v) for k, v in vars(limits).items() if k.isupper())
    identity = repr((settings, bounds, np.__version__, text))
    return hashlib.sha256(identity.encode("utf-8", "surrogatepass")).hexdigest()[:40]


def recall(key: str, resources: Resources | None = None) -> Model | None:
    """Return a stored model; None where there is none, or the key is "".

    The files of its meshes are those that `resources` find for it, and have the same contents.
    """
    path = _FOLDER / f"{key}.pickle"
    content = read_whole(path) if key else None
    if content is None:
        return None
    hashes, pickled = pickle.loads(content)
    try:
        for (uri, file), known in hashes.items():
            there = Path(uri) if resources is None else resources.locate(uri)
            if str(there) != file or _hash_of(there) != known:
                return None
    except OSError:
        return None
    with contextlib.suppress(OSError):
        os.utime(path)
    return pickle.loads(pickled)


def keep(key: str, model: Model) -> Model:
    """Store a model for later processes, if possible, and return it as they will get it.

    Nothing is stored under the key "".
    """
    if not key:
        return model
    pickled = pickle.dumps(model)
    with contextlib.suppress(OSError):
        files = {(use.uri, use.file) for use in model.meshes if use.file}
        hashes = {(uri, file): _hash_of(Path(file)) for uri, file in files}
        write_whole(_FOLDER / f"{key}.pickle", pickle.dumps((hashes, pickled)))
        remove_oldest(_FOLDER, "*.pickle", _KEPT)
    return pickle.loads(pickled)


def _hash_of(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def refuse_unread(path: Path | None) -> None:
    """Raise the ModelError of a file whose name has the suffix of an unsupported format."""
    why = _NOT_READ.get("" if path is None else path.suffix.lower())
    if why:
        raise ModelError(f"{path}: {why}; what is read: {READ_FORMATS}")


def format_of(text: str, path: Path | None) -> str:
    """Return "mjcf", "sdf", "body", "vrml" or "urdf"; unknown ones count as URDF."""
    suffix = "" if path is None else path.suffix.lower()
    if suffix == ".body":
        return "body"
    if suffix == ".wrl" or text.startswith("#VRML"):
        return "vrml"
    at = 0
    while (skipped := _SKIPPED.match(text, at)) is not None:
        at = skipped.end()
    root = _ROOT.match(text, at)
    return {"mujoco": "mjcf", "sdf": "sdf"}.get(root[1] if root else "", "urdf")


def read_foreign(text: str, path: Path | None, resources: Resources) -> RobotData | None:
    """Return the robot of a description that is no URDF, None for one that is."""
    kind = format_of(text, path)
    if kind == "sdf":
        raise ModelError(f"{path or '<text>'}: {_NOT_READ['.sdf']}; what is read: {READ_FORMATS}")
    if kind == "mjcf":
        from hrpsim.model.mjcf.read import read_mjcf
        from hrpsim.model.mjcf.robot import whole_robot

        return whole_robot(read_mjcf(text, path))
    if kind == "vrml":
        from hrpsim.model.openhrp.wrl import read_wrl

        return read_wrl(text, _named(path))
    if kind == "body":
        from hrpsim.model.openhrp.body_file import read_body

        return read_body(text, _named(path), resources)
    return None


def _named(path: Path | None) -> Path:
    return Path("<text>") if path is None else path
