# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Load meshes from STL, OBJ, DAE, PLY and glTF files, in metres, welded, facing outwards.

Transforms in a file are applied, and scene graphs are flattened. As in the tools of ROS, the unit
of a DAE is applied, and the up_axis is ignored. All other formats are read as metres. glTF is
turned from y up to z up, as in RViz and Drake. Polygons are cut in `polygons.py`.
"""

from __future__ import annotations

import importlib.util
import os
import re
import warnings
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from hrpsim.common import limits
from hrpsim.common.errors import ModelError, ModelWarning, require_name
from hrpsim.common.foreign.bounded_child import call_bounded
from hrpsim.common.foreign.file_bytes import open_file, refuse_pointer
from hrpsim.common.resources import user_path
from hrpsim.common.typed_values import check_arguments
from hrpsim.model.shapes.convex_hull import ConvexHull
from hrpsim.model.shapes.geometry import Capsule, Mesh
from hrpsim.model.shapes.mesh_repair import repaired

FORMATS = ("stl", "obj", "dae", "ply", "gltf", "glb")
_DECODING = "hrpsim.model.shapes.mesh_decoding"
# Repair takes 4 to 6 microseconds a triangle, and contact searches visit all of them.
TRIANGLE_LIMIT = 200_000
LARGEST, SMALLEST = 1e3, 1e-6  # extents beyond which a mesh is in another unit [m]
_HEAD = 1 << 16  # bytes in which the header of a PLY ends
_ASKEW = np.array(
    [0.5403023058681398, 0.8414709848078965, 0.9092974268256817]
)  # not along any symmetry
_ELEMENT = re.compile(rb"element\s+(\w{1,40})\s+(\d+)")


class ReadMesh(NamedTuple):
    """A mesh, and notes on its repairs."""

    mesh: Mesh
    notes: tuple[str, ...]


def load_mesh(
    path: str | os.PathLike, scale: ArrayLike = (1.0, 1.0, 1.0), hull: bool = False
) -> Mesh:
    """Return the mesh of an STL, OBJ, DAE, PLY or glTF file.

    Vertices at one position are merged, and triangles without area are removed. Closed parts face
    outwards, also with a negative (mirroring) scale. A ModelWarning lists the parts whose
    orientation was reversed. The mesh may be open. `Mesh.why_open` then returns the reason.
    Unchanged files are read only once.

    Args:
        path: path of the file.
        scale: factors of the vertices along x, y and z.
        hull: return the convex hull of the file's vertices.

    Raises:
        ModelError: with the file and the cause. The file is missing, unreadable, empty, not finite
            or without area. Or the mesh is larger than 1 km or smaller than 1 um. Or the file has
            more than 200 000 triangles (for a hull, different vertices).
    """
    check_arguments(load_mesh, locals(), ModelError)
    path = user_path(path)
    if not os.path.isfile(path):  # False for a name that is too long, too
        raise ModelError(f"mesh {path}: there is no such file")
    read = read_mesh(path, tuple(float(s) for s in np.broadcast_to(scale, (3,))), bool(hull))
    for note in read.notes:
        warnings.warn(f"mesh {path}: {note}", ModelWarning, stacklevel=2)
    return read.mesh


def read_mesh(path: Path, scale: tuple[float, ...], hull: bool) -> ReadMesh:
    """Return the mesh of an existing file, and the repairs. ModelError as for `load_mesh`."""
    try:
        status = path.stat()
    except OSError as cause:
        raise ModelError(f"mesh {path}: cannot be read: {cause.strerror or cause}") from cause
    return _read(str(path), status.st_mtime_ns, status.st_size, scale, hull)


@lru_cache(maxsize=512)
def _read(path: str, changed: int, size: int, scale: tuple[float, ...], hull: bool) -> ReadMesh:
    vertices, triangles, notes = _scaled(path, scale)
    if hull:
        points = vertices[np.unique(triangles)]
        _check_hull(path, points)
        return ReadMesh(ConvexHull(points, path), notes)
    if len(triangles) > TRIANGLE_LIMIT:
        raise _error(
            path,
            f"it has {len(triangles)} triangles, more than the limit of {TRIANGLE_LIMIT}. Simplify"
            " the mesh, or use the convex hull (hull=True, in a description meshes=hull)",
        )
    try:
        mended = repaired(vertices, triangles)
    except ModelError as cause:
        raise _error(path, str(cause)) from None
    if len(mended.triangles) == 0:
        raise _error(path, f"none of its {len(triangles)} triangles has an area")
    return ReadMesh(Mesh(mended.vertices, mended.triangles, path), notes + mended.notes)


def _error(path: str, why: str) -> ModelError:
    return ModelError(f"mesh {path}: {why}")


def _check_hull(path: str, points: np.ndarray) -> None:
    """Refuse points (n, 3) with too many different points for a hull."""
    if len(points) <= limits.HULL_POINTS:
        return
    count = len(np.unique(points @ _ASKEW))  # STL repeats each vertex some six times
    if count > limits.HULL_POINTS:
        raise _error(
            path,
            f"it has {count} different vertices. A hull has too many with "
            f"{limits.excess('HULL_POINTS', 'vertices')}. Simplify the mesh",
        )


def _scaled(path: str, scale: tuple[float, ...]) -> tuple[np.ndarray, np.ndarray, tuple[str, ...]]:
    """Read, check and scale the triangles of a mesh file.

    Returns:
        (vertices (n, 3) [m], triangles (m, 3), notes).
    """
    fail = partial(_error, path)
    if not (np.isfinite(scale).all() and all(scale)):
        raise fail(f"scale {scale} must be finite and not zero")
    vertices, triangles, notes = _triangles(Path(path))
    if len(triangles) == 0:
        raise fail("it is empty: it has no triangles")
    if max(len(vertices), len(triangles)) > limits.MESH_ELEMENTS:
        raise fail(f"it has {limits.excess('MESH_ELEMENTS', 'vertices or triangles')}")
    bad = np.flatnonzero(~np.isfinite(vertices).all(axis=1))
    if bad.size:
        raise fail(f"vertex {bad[0]} is {vertices[bad[0]].tolist()}: every number must be finite")
    vertices = vertices * scale
    if np.prod(np.sign(scale)) < 0.0:
        triangles = triangles[:, ::-1]
    extent = float(np.ptp(vertices[np.unique(triangles)], axis=0).max())
    if not SMALLEST <= extent <= LARGEST:
        raise fail(
            f"it extends over {extent:.3g} m (with scale {' '.join(f'{s:g}' for s in scale)}),"
            f" not between {SMALLEST:g} and {LARGEST:g} m. Probably the mesh is in another unit."
            " Give scale 0.001 for millimetres"
        )
    return vertices, triangles, notes


def _triangles(path: Path) -> tuple[np.ndarray, np.ndarray, tuple[str, ...]]:
    """Read the triangles of a mesh file, with all transforms applied.

    Returns:
        (vertices (n, 3) [m], triangles (m, 3), notes).
    """
    return _decoded("decoded_triangles", path)


def read_scene(
    path: Path,
    scale: tuple[float, ...] = (1.0, 1.0, 1.0),
    color: tuple[int, int, int] = (128, 128, 128),
):
    """Return a file as trimesh.Scene in metres, scaled, with colours and pictures.

    Parts without a colour get `color`, from 0 to 255. The scene's metadata has `notes` on parts
    that were ignored. Raises ModelError as `load_mesh` does, and if trimesh or a package that
    trimesh needs is missing.
    """
    return _decoded("decoded_scene", path, tuple(scale), color)


def read_parts(
    path: Path, scale: tuple[float, ...], color: tuple[int, int, int]
) -> list[tuple[Mesh, tuple[int, int, int]]]:
    """Return the parts of a file in metres, scaled, each with a colour.

    Args and errors are as in `read_scene`.
    """
    parts = _decoded("decoded_parts", path, tuple(scale), color)
    return [(Mesh(vertices, triangles), paint) for vertices, triangles, paint in parts]


def _decoded(function: str, path: Path, *given: Any) -> Any:
    """Return the result of a function of `mesh_decoding`, which a child process calls."""
    kind = path.suffix[1:].lower()
    require_name("format", kind, FORMATS, ModelError, where=f"mesh {path}")
    with open_file(path, ModelError, "MESH_SIZE", "mesh") as file:
        head, size = file.read(_HEAD), os.fstat(file.fileno()).st_size
    if size == 0:
        raise ModelError(f"mesh {path}: it is empty: the file has no bytes")
    refuse_pointer(path, head, ModelError)
    if kind == "ply":
        for name, count in _ELEMENT.findall(head.partition(b"end_header")[0]):
            if int(count[:20]) > size:
                raise ModelError(
                    f"mesh {path}: the header states {count[:20].decode()} of {name.decode()!r}, "
                    f"but the file has {size} bytes"
                )
    _require_decoder(path, kind)
    return call_bounded(
        f"{_DECODING}:{function}",
        str(path.absolute()),  # the child may have another working directory
        kind,
        *given,
        label=f"mesh {path}: cannot be read as {kind.upper()}",
        size=size,
        error=ModelError,
    )


def _require_decoder(path: Path, kind: str) -> None:
    for name in ("trimesh", "collada") if kind == "dae" else ("trimesh",):
        try:
            is_there = importlib.util.find_spec(name) is not None
        except (ImportError, ValueError):
            is_there = False
        if not is_there:
            raise ModelError(
                f"mesh {path}: reading {kind.upper()} needs {name}: pip install"
                f" {'pycollada' if name == 'collada' else name}"
            )


@lru_cache(maxsize=1)
def capsule_mesh(capsule: Capsule) -> tuple[np.ndarray, np.ndarray]:
    """Return vertices (n, 3) [m] about the middle and triangles (m, 3) of a capsule along z."""
    import trimesh

    mesh = trimesh.creation.capsule(capsule.length, capsule.radius)
    vertices = mesh.vertices - mesh.bounds.mean(axis=0)
    return vertices.astype(np.float32), mesh.faces.astype(np.uint32)
