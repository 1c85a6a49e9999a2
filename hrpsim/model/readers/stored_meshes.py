# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Store the triangles of a robot as STL files, in the cache folder or next to a description."""

from __future__ import annotations

import atexit
import hashlib
import re
import shutil
import tempfile
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from urllib.parse import quote, unquote

import numpy as np

from hrpsim.common.errors import ModelError
from hrpsim.common.stored_files import cache_home, write_at_once
from hrpsim.model.readers.robot_data import MeshData, MeshFile, RobotData, ShapeData
from hrpsim.model.shapes.mesh_integrals import doubled_areas

_TRIANGLE = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])
_HEAD = b"hrpsim, metres".ljust(80, b" ")


def store_meshes(robot: RobotData) -> None:
    """Write the robot's embedded meshes to the cache folder, and refer to the files instead."""
    for link in robot.links.values():
        link.visuals = [_with_file(shape) for shape in link.visuals]
        link.collisions = [_with_file(shape) for shape in link.collisions]


def file_uri(path: Path) -> str:
    """Return the file:// URI of a path."""
    return f"file://{quote(str(path.absolute()))}"


def path_of(uri: str) -> Path:
    """Return the path of a file:// URI."""
    return Path(unquote(uri.removeprefix("file://")))


def _with_file(shape: ShapeData) -> ShapeData:
    if not isinstance(shape.mesh, MeshData):
        return shape
    return replace(shape, mesh=MeshFile(file_uri(cached_mesh(shape.mesh))))


def cached_mesh(mesh: MeshData) -> Path:
    """Write a mesh to the cache folder, under a hash of its content, and return the path.

    If the cache folder cannot be written, the file is in a folder that is deleted with this
    process. Raises ModelError if neither folder can be written.
    """
    data = stl_of(mesh)
    name = f"{safe_name(mesh.name)}-{hashlib.sha256(data).hexdigest()[:20]}.stl"
    failure: OSError | None = None
    for folder in (_lasting, _temporary):
        try:
            path = folder() / name
            if not path.is_file() or path.stat().st_size != len(data):
                write_at_once(path, data)
            return path
        except OSError as cause:
            failure = cause
    raise ModelError(f"mesh {mesh.name!r}: cannot be written: {failure}")


def stl_of(mesh: MeshData) -> bytes:
    """Return the mesh as a binary STL, single precision."""
    corners = np.asarray(mesh.vertices, dtype=np.float64)[np.asarray(mesh.triangles)]
    normals = doubled_areas(corners)
    lengths = np.linalg.norm(normals, axis=1, keepdims=True)
    table = np.zeros(len(corners), dtype=_TRIANGLE)
    table["normal"] = normals / np.where(lengths > 0.0, lengths, 1.0)
    table["corners"] = corners
    return _HEAD + np.uint32(len(table)).tobytes() + table.tobytes()


def file_names(meshes: list[MeshData]) -> list[str]:
    """Return a different file name for each mesh."""
    names: list[str] = []
    taken: set[str] = set()
    for mesh in meshes:
        stem, name, number = safe_name(mesh.name), "", 1
        while not name or name.lower() in taken:
            name = f"{stem}.stl" if number == 1 else f"{stem}_{number}.stl"
            number += 1
        taken.add(name.lower())
        names.append(name)
    return names


def safe_name(name: str) -> str:
    """Return a name that a file can have on any system."""
    return re.sub(r"[^\w.-]", "_", Path(name).name, flags=re.ASCII)[:60].strip(".") or "mesh"


def _lasting() -> Path:
    """Return the folder of meshes that outlive the process."""
    return cache_home() / "meshes"


@lru_cache(maxsize=1)
def _temporary() -> Path:
    """Return a new folder that is deleted with the process."""
    folder = tempfile.mkdtemp(prefix="hrpsim-meshes-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)
