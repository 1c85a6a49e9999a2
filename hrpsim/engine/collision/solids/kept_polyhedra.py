# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Store the solids of large meshes on disk, so that later processes need not build them."""

import contextlib
import os
from functools import cache
from pathlib import Path

import numpy as np

from hrpsim.common.stored_files import read_whole, remove_beyond, write_whole
from hrpsim.engine.collision.solids.features import polyhedron
from hrpsim.engine.collision.solids.polyhedra import POOLS, Polyhedra
from hrpsim.engine.compile.kernel_folders import cache_for
from hrpsim.model.shapes.geometry import Mesh

_LEAST = 300  # triangles; a smaller solid is made as quickly as it is read
_MOST = 500_000_000  # bytes of all files


def kept_polyhedron(mesh: Mesh) -> Polyhedra:
    """Return the solid of a mesh (`polyhedron`), from the disk cache if possible."""
    if len(mesh.triangles) < _LEAST:
        return polyhedron(mesh.vertices, mesh.triangles)
    path = folder() / f"{mesh.digest}-{np.__version__}.solid"
    content = read_whole(path)
    if content is not None:
        with contextlib.suppress(OSError):
            os.utime(path)
        return _unpacked(content)
    made = polyhedron(mesh.vertices, mesh.triangles)
    with contextlib.suppress(OSError):
        write_whole(path, _packed(made))
        remove_beyond(path.parent, "*.solid", _MOST)
    return made


@cache
def folder() -> Path:
    """Return the cache folder, which differs for each version of the code."""
    return cache_for(
        "engine/collision", "model/shapes/mesh_integrals.py", "model/shapes/mesh_topology.py"
    )


def _packed(solid: Polyhedra) -> bytes:
    lengths = np.array([len(array) for array in solid], dtype=np.int64)
    return b"".join([lengths, *solid])


def _unpacked(content: bytes) -> Polyhedra:
    lengths, at, arrays = np.frombuffer(content, np.int64, len(POOLS)), 8 * len(POOLS), {}
    for (name, kind), length in zip(POOLS.items(), lengths.tolist(), strict=True):
        arrays[name] = np.frombuffer(content, kind, length, at).copy()
        at += arrays[name].nbytes
    return Polyhedra(**arrays)
