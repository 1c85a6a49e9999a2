# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Cache robots that were converted from MJCF files, for later processes.

MuJoCo takes half a second to compile an MJCF with large meshes. Reading the result takes some
milliseconds. A cached robot is valid as long as all files named in the MJCF are unchanged.
"""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Callable
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from hrpsim.common.errors import ModelError
from hrpsim.common.foreign.file_bytes import file_digest
from hrpsim.common.stored_files import keep_among, read_used
from hrpsim.engine.compile.kernel_folders import cache_for
from hrpsim.model.readers.mjcf.read import MjcfSource
from hrpsim.model.readers.robot_data import MeshFile, RobotData
from hrpsim.model.readers.stored_meshes import path_of

_KEPT = 200  # robots, the most recently used


def converted(text: str, path: Path, convert: Callable[[], RobotData]) -> RobotData:
    """Return the robot of an MJCF from the cache, or else from `convert`, and cache the result.

    All meshes of the robot must be files (`store_meshes`).
    """
    key = _key_of(text, path)
    stored = folder() / f"{key}.mjcf.pickle"
    content = read_used(stored) if key else None
    if content is not None:
        robot = pickle.loads(content)
        if _has_all_files(robot):
            return robot
    content = pickle.dumps(convert())
    if key:
        keep_among(stored, content, _KEPT)
    return pickle.loads(content)  # as in later processes: a model is stored by its pickle


def _has_all_files(robot: RobotData) -> bool:
    shapes = (shape for link in robot.links.values() for shape in link.visuals + link.collisions)
    uris = {shape.mesh.uri for shape in shapes if isinstance(shape.mesh, MeshFile)}
    return all(path_of(uri).is_file() for uri in uris)


@cache
def folder() -> Path:
    """Return the cache folder, which differs for each version of the code."""
    return cache_for("model", "common/limits.py")


def _key_of(text: str, path: Path) -> str:
    """Return a hash of everything that the conversion depends on, or "" if a file is absent."""
    try:
        files = MjcfSource(text, path).files()
        if files is None:
            return ""
        digest = hashlib.sha256(version("mujoco").encode())
        for file in [path.resolve(), *files]:
            digest.update(f"{file} {file.stat().st_size}\n".encode("utf-8", "surrogateescape"))
            digest.update(file_digest(file, ModelError, "MESH_SIZE"))
    except (OSError, ModelError, PackageNotFoundError):
        return ""
    return digest.hexdigest()[:40]
