# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Write a robot as SDF or MJCF, with copies of all meshes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np

from hrpsim.common.errors import ModelError
from hrpsim.common.foreign.file_bytes import read_bytes
from hrpsim.model.readers.mjcf_writer import write_mjcf
from hrpsim.model.readers.robot_data import MeshData, MeshFile, RobotData
from hrpsim.model.readers.sdf_writer import write_sdf
from hrpsim.model.readers.stored_meshes import safe_name, stl_of
from hrpsim.model.readers.urdf.resolve_uris import Resources
from hrpsim.model.shapes.mesh_files import read_mesh


class Written(NamedTuple):
    """A description in another format: text, mesh files, and elements that are not written."""

    text: str
    files: dict[Path, bytes]
    not_written: list[str]


class _Meshes:
    """Copies of a robot's meshes for a description at `target`. Equal meshes share a file."""

    def __init__(self, resources: Resources, target: Path) -> None:
        self._resources, self._target = resources, target
        self.folder = f"{target.stem}_meshes"
        self.names: dict[bytes, str] = {}

    def copy(self, mesh: MeshData | MeshFile) -> str:
        """Add a copy of a mesh file in its format. Return the path relative to the target."""
        if isinstance(mesh, MeshData):
            return self._file_name(stl_of(mesh), mesh.name, ".stl")
        path = self._path(mesh)
        return self._file_name(read_bytes(path, ModelError, "MESH_SIZE"), path.stem, path.suffix)

    def scaled_stl(self, mesh: MeshData | MeshFile) -> str:
        """Add an STL of the scaled mesh. Return the path relative to the target."""
        if isinstance(mesh, MeshFile):
            path = self._path(mesh)
            read = read_mesh(path, mesh.scale, hull=False).mesh
            mesh = MeshData(path.stem, np.array(read.vertices), np.array(read.triangles))
        return self._file_name(stl_of(mesh), mesh.name, ".stl")

    def files(self) -> dict[Path, bytes]:
        """Return {path: contents} of all copies."""
        return {self._target.parent / name: data for data, name in self.names.items()}

    def _path(self, mesh: MeshFile) -> Path:
        try:
            return self._resources.locate(mesh.uri)
        except FileNotFoundError as cause:
            raise ModelError(f"missing mesh: {cause}") from cause

    def _file_name(self, data: bytes, stem: str, suffix: str) -> str:
        if data not in self.names:
            taken = {name.lower() for name in self.names.values()}
            name, number = f"{self.folder}/{safe_name(stem)}{suffix}", 1
            while name.lower() in taken:
                number += 1
                name = f"{self.folder}/{safe_name(stem)}_{number}{suffix}"
            self.names[data] = name
        return self.names[data]


def _sdf(robot: RobotData, resources: Resources, target: Path) -> Written:
    meshes = _Meshes(resources, target)
    text, lost = write_sdf(robot, meshes.copy)
    return Written(text, meshes.files(), lost)


def _mjcf(robot: RobotData, resources: Resources, target: Path) -> Written:
    meshes = _Meshes(resources, target)
    for link in robot.links.values():
        for shape in (*link.visuals, *link.collisions):
            if shape.mesh is not None:
                meshes.scaled_stl(shape.mesh)
    assets = {name: data for data, name in meshes.names.items()}
    text, lost = write_mjcf(robot, meshes.scaled_stl, assets)
    return Written(text, meshes.files(), lost)


WRITERS: dict[str, Callable[[RobotData, Resources, Path], Written]] = {
    ".sdf": _sdf,
    ".xml": _mjcf,
    ".mjcf": _mjcf,
}
"""Writers by the suffix of the target."""
