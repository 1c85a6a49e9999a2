# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Rewrite OBJ and STL files so that trimesh reads them correctly.

trimesh cuts every polygon as a fan, and counts all negative indices of an OBJ from the end of the
file. trimesh also misreads OBJ faces whose corners have different forms, and rejects STL files with
data after the triangles. The rewritten file has triangles only, with positive indices. A file
without these features is returned unchanged.
"""

from __future__ import annotations

import itertools
import re
import struct

import numpy as np

from hrpsim.model.shapes.polygons import cut

# Faces that are not triangles, count backwards, or have corners of several forms (1 2/2 3//3).
_NOT_PLAIN = re.compile(
    rb"^[ \t]*f(?:(?:[ \t]+[^\s#]+){4,}|[ \t][^\n#]*-|(?=[^\n]*/)(?=[^\n]*[ \t]\d+(?:\s|$))"
    rb"|(?=[^\n]*//)(?=[^\n]*\d/\d))",
    re.MULTILINE,
)
_COUNTED = {b"v": 0, b"vt": 1, b"vn": 2}
_STL_HEAD, _STL_FACET = 84, 50  # bytes


def _contents(lines: list[bytes]) -> tuple[list[list[bytes]], dict[int, list[bytes]]]:
    """Read the vertices and faces of an OBJ.

    Returns:
        (words of each vertex, corners of each face by the index of its line).
    """
    vertices: list[list[bytes]] = []
    faces: dict[int, list[bytes]] = {}
    counts = [0, 0, 0]
    for at, line in enumerate(lines):
        word, *fields = line.partition(b"#")[0].split() or [b""]
        if word in _COUNTED:
            counts[_COUNTED[word]] += 1
        if word == b"v":
            vertices.append(fields[:3])
        elif word == b"f":
            faces[at] = _alike([_corner(corner, counts, at) for corner in fields])
    return vertices, faces


def plain_obj(data: bytes) -> bytes:
    """Return an OBJ whose faces are triangles with positive indices.

    Raises:
        ValueError: a face names a vertex that does not exist. The message has the line.
    """
    text = data.replace(b"\r\n", b"\n").replace(b"\\\n", b" ")
    if not _NOT_PLAIN.search(text):
        return data
    lines = text.split(b"\n")
    vertices, faces = _contents(lines)
    corners = list(itertools.chain(*faces.values()))
    numbers = np.array([int(corner.partition(b"/")[0]) for corner in corners], dtype=np.int64) - 1
    wrong = np.flatnonzero((numbers < 0) | (numbers >= len(vertices)))
    if wrong.size:
        raise ValueError(
            f"a face names vertex {numbers[wrong[0]] + 1}, but there are {len(vertices)} vertices"
        )
    sizes = list(map(len, faces.values()))
    triangles = cut(np.array(vertices, dtype=float)[numbers], sizes)
    for at in faces:
        lines[at] = b""
    owner = np.repeat(list(faces), sizes)
    for a, b, c in triangles:
        lines[owner[a]] += b"f %b %b %b\n" % (corners[a], corners[b], corners[c])
    return b"\n".join(lines)


def _corner(corner: bytes, counts: list[int], at: int) -> bytes:
    """Return a corner of a face, v/vt/vn, with indices from the file's beginning."""
    numbers = []
    for text, count in zip(corner.split(b"/"), counts, strict=False):
        if text.startswith(b"-"):
            if int(text) + count < 0:
                raise ValueError(
                    f"line {at + 1}: a face names the vertex {-int(text)} before it, but only "
                    f"{count} precede it"
                )
            text = b"%d" % (count + 1 + int(text))
        numbers.append(text)
    return b"/".join(numbers)


def _alike(corners: list[bytes]) -> list[bytes]:
    """Return the corners of a face. If their forms differ, keep only the vertex of each corner."""
    forms = {tuple(map(bool, corner.split(b"/"))) for corner in corners}
    return corners if len(forms) == 1 else [corner.partition(b"/")[0] for corner in corners]


def plain_stl(data: bytes) -> tuple[bytes, str]:
    """Return a binary STL that ends after the triangles, and a note on removed data, or "".

    Raises:
        ValueError: the file has fewer triangles than declared.
    """
    is_text = data[:_STL_HEAD].lstrip()[:5].lower() == b"solid" and b"facet" in data[:4096].lower()
    if len(data) < _STL_HEAD or is_text:
        return data, ""
    (count,) = struct.unpack_from("<I", data, _STL_HEAD - 4)
    end = _STL_HEAD + _STL_FACET * count
    if end > len(data):
        facets = (len(data) - _STL_HEAD) // _STL_FACET
        raise ValueError(
            f"the header states {count} triangles, but the file has bytes for {facets}"
        )
    if end == len(data):
        return data, ""
    return data[:end], f"{len(data) - end} bytes after the {count} triangles are ignored"
