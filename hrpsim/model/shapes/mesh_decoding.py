# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Decode mesh files with trimesh. The functions run in the child process of `bounded_child.py`.

Only this module imports trimesh to read files. trimesh receives checked bytes, and can only open
files that the mesh names in the folder of the mesh.
"""

from __future__ import annotations

import io
import logging
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import numpy as np
import trimesh

from hrpsim.common import limits
from hrpsim.common.errors import ModelError, shown_value
from hrpsim.common.foreign.file_bytes import read_bytes
from hrpsim.model.shapes.mesh_dae import plain_dae
from hrpsim.model.shapes.mesh_gltf import check_gltf
from hrpsim.model.shapes.mesh_ply import plain_ply
from hrpsim.model.shapes.mesh_text import plain_obj, plain_stl

_Z_UP = np.array([[1.0, 0.0, 0.0, 0.0], [0.0, 0.0, -1.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0, 0, 0, 1]])
_PICTURES = ("texture", "image", "bumpmap", "material")  # words of trimesh's log
_NOTES = 5  # most that are returned


def decoded_triangles(path: str, kind: str) -> tuple[np.ndarray, np.ndarray, tuple[str, ...]]:
    """Decode the triangles of a mesh file, with all transforms applied.

    Returns:
        (vertices (n, 3) [m], triangles (m, 3), notes).

    Raises any error of the decoder.
    """
    scene, in_metres, notes = _scene(Path(path), kind, pictures=False)
    vertices, triangles, count, faces = [], [], 0, 0
    for node in scene.graph.nodes_geometry:
        transform, name = scene.graph[node]
        transform = in_metres @ transform
        part = scene.geometry[name]
        if not hasattr(part, "faces"):
            continue  # points and lines
        points = np.asarray(part.vertices, dtype=np.float64)
        corners = np.asarray(part.faces, dtype=np.int64)
        if points.shape[1:] != (3,) or corners.shape[1:] != (3,):
            raise ValueError(
                f"vertices and triangles must have three columns, got {points.shape} and "
                f"{corners.shape}"
            )
        if len(corners) and not 0 <= corners.min() <= corners.max() < len(points):
            raise ValueError(
                f"triangles name vertices {corners.min()} to {corners.max()}, but there are"
                f" {len(points)} vertices, counted from 0"
            )
        if np.linalg.det(transform[:3, :3]) < 0.0:
            corners = corners[:, ::-1]
        if not np.array_equal(transform, np.eye(4)):
            points = points @ transform[:3, :3].T + transform[:3, 3]
        vertices.append(points)
        triangles.append(corners + count)
        count, faces = count + len(points), faces + len(corners)
        _refuse_more(count, faces)
    if not triangles:
        return np.zeros((0, 3)), np.zeros((0, 3), dtype=np.int64), ()
    return np.concatenate(vertices), np.concatenate(triangles), notes


def decoded_scene(
    path: str, kind: str, scale: tuple[float, ...], color: tuple[int, int, int]
) -> trimesh.Scene:
    """Return a file as trimesh.Scene in metres, scaled, with colours and pictures.

    Parts without a colour get `color`. The scene's metadata has `notes` on parts that were ignored.
    Raises any error of the decoder.
    """
    parts, notes = _drawn(path, kind, scale, color)
    scene = trimesh.Scene(parts)
    scene.metadata["notes"] = notes
    return scene


def decoded_parts(
    path: str, kind: str, scale: tuple[float, ...], color: tuple[int, int, int]
) -> list[tuple[np.ndarray, np.ndarray, tuple[int, int, int]]]:
    """Return vertices (n, 3) [m], triangles (m, 3) and colour of each part of a file.

    Args and errors are as in `decoded_scene`.
    """
    result = []
    for part in _drawn(path, kind, scale, color)[0]:
        if not hasattr(part, "faces"):
            continue  # points and lines
        is_plain = part.visual.kind == "texture" and part.visual.uv is None
        paint = part.visual.material if is_plain else part.visual.to_color()
        r, g, b, _ = np.asarray(paint.main_color).tolist()
        result.append((np.asarray(part.vertices), np.asarray(part.faces), (r, g, b)))
    return result


def _drawn(
    path: str, kind: str, scale: tuple[float, ...], color: tuple[int, int, int]
) -> tuple[list[Any], tuple[str, ...]]:
    """Return the parts of a mesh file, with colours and textures, and notes on ignored parts."""
    scene, in_metres, notes = _scene(Path(path), kind, pictures=True)
    used: list[Any] = [scene.geometry[scene.graph[node][1]] for node in scene.graph.nodes_geometry]
    _refuse_more(
        sum(len(part.vertices) for part in used),
        sum(len(getattr(part, "faces", ())) for part in used),
    )
    for part in used:
        if not np.isfinite(part.vertices).all():
            raise ValueError("a vertex has a coordinate that is not finite")
    # In each part: a scene would compare its whole graph at every node that it turns.
    scaled = np.diag([*scale, 1.0]) @ in_metres
    parts: list[Any] = scene.dump()
    paint = {"baseColorFactor": [*color, 255], "metallicFactor": 0.0}
    for part in parts:
        part.apply_transform(scaled)
        if not part.visual.defined:
            material = trimesh.visual.material.PBRMaterial(**paint)
            part.visual = trimesh.visual.TextureVisuals(material=material)
    return parts, notes


def _refuse_more(vertices: int, triangles: int) -> None:
    if max(vertices, triangles) > limits.MESH_ELEMENTS:
        raise ValueError(f"it has {limits.excess('MESH_ELEMENTS', 'vertices or triangles')}")


def _scene(
    path: Path, kind: str, pictures: bool
) -> tuple[trimesh.Scene, np.ndarray, tuple[str, ...]]:
    """Load a mesh file as trimesh's scene.

    Returns:
        (scene, transform (4, 4) to metres with z up, notes).
    """
    data, notes = read_bytes(path, ModelError, "MESH_SIZE", "mesh"), []
    options: dict[str, Any] = {}
    unit = 1.0
    if kind in ("obj", "gltf", "glb"):
        options["skip_materials"] = not pictures
    if kind == "obj":
        data = plain_obj(data)
    elif kind == "dae":
        data, unit = plain_dae(data)
    elif kind == "ply":
        data = plain_ply(data)
    elif kind == "stl":
        data, note = plain_stl(data)
        notes += [note] if note else []
    else:
        check_gltf(data)
    log = _Log()
    folder = _Folder(path.parent, pictures or kind == "gltf")
    source = io.BytesIO(data)
    try:
        scene = trimesh.load_scene(
            source, file_type=kind, process=False, resolver=folder, **options
        )
    finally:
        log.end()
    in_metres = _Z_UP if kind in ("gltf", "glb") else np.diag([unit, unit, unit, 1.0])
    return scene, in_metres, (*notes, *(log.notes[:_NOTES] if pictures else ()))


class _Log(logging.Handler):
    """Collect trimesh's messages on unreadable textures, and keep its log off the terminal."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.notes: list[str] = []
        self._log = logging.getLogger("trimesh")
        self._log.addHandler(self)
        self._log.setLevel(logging.DEBUG)
        try:
            from PIL import Image

            Image.MAX_IMAGE_PIXELS = limits.IMAGE_PIXELS // 2  # twice as many are an error
        except ImportError:
            pass

    def emit(self, record: logging.LogRecord) -> None:
        """Keep one message."""
        text = record.getMessage()
        if record.exc_info and any(word in text for word in _PICTURES):
            self.notes.append(f"{text}: {record.exc_info[1]}"[:300])

    def end(self) -> None:
        """Remove the log handler."""
        self._log.removeHandler(self)


class _Folder(trimesh.resolvers.Resolver):
    """Reads the files of one folder, and of folders inside, for trimesh."""

    def __init__(self, folder: Path, is_open: bool) -> None:
        self._folder = folder.resolve()
        self._is_open = is_open
        self._left = limits.MESH_SIZE

    def get(self, name: str) -> bytes:
        """Return the content of a file.

        Raises ModelError for a name that leads out of the folder.
        """
        if not self._is_open:
            raise FileNotFoundError(name)
        name = unquote(str(name).strip())
        path = (self._folder / name).resolve()
        if not path.is_relative_to(self._folder):
            raise ModelError(f"{shown_value(name)} is outside the mesh's folder")
        data = read_bytes(path, ModelError, "MESH_SIZE")
        self._left -= len(data)
        if self._left < 0:
            raise ModelError(f"its files have {limits.excess('MESH_SIZE', 'bytes')}")
        return data

    def keys(self) -> list[str]:
        """Return an empty list. trimesh requests files by the names in the mesh."""
        return []

    def write(self, name: str, data: bytes) -> None:
        """Raise an error, because files are read only."""
        raise ModelError("a decoder of meshes may not write files")

    def namespaced(self, namespace: str) -> _Folder:
        """Return a reader of a folder inside this folder."""
        return _Folder(self._folder / namespace, self._is_open)
