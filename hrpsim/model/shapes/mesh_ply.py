# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Rewrite a PLY so that all faces are triangles.

trimesh reads the result. Without the rewriting trimesh cuts every polygon as a fan, and cannot read
a binary file with polygons of different numbers of corners.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hrpsim.model.shapes.polygons import cut

_TYPES = {
    **{"char": "i1", "uchar": "u1", "short": "i2", "ushort": "u2", "int": "i4", "uint": "u4"},
    **{"float": "f4", "double": "f8", "int8": "i1", "uint8": "u1", "int16": "i2", "uint16": "u2"},
    **{"int32": "i4", "uint32": "u4", "float32": "f4", "float64": "f8"},
}
_ORDERS = {"ascii": "", "binary_little_endian": "<", "binary_big_endian": ">"}
_FACE = "property list uchar int vertex_indices"


class _Element(NamedTuple):
    length: int
    properties: dict[str, tuple[str, ...]]  # name: (type,) or, of a list, (type of count, type)


def plain_ply(data: bytes) -> bytes:
    """Return a PLY of vertices and triangles. A file of triangles alone is returned unchanged.

    In a file with other polygons, the faces keep the corners and lose other data, such as colours.

    Raises:
        ValueError: the file is shorter than the header declares, a property has an unknown type, or
            a face names a vertex that does not exist.
    """
    head, mark, content = data.partition(b"end_header")
    lines = head.decode("ascii", "replace").splitlines()
    kind = next((line.split()[1] for line in lines if line.startswith("format ")), "")
    elements = _elements(lines)
    if not mark or kind not in _ORDERS or not {"vertex", "face"} <= elements.keys():
        return data
    body = _Body(content.partition(b"\n")[2], _ORDERS[kind])
    columns = {name: body.columns(element) for name, element in elements.items()}
    polygons = next(c for name, c in columns["face"].items() if name.startswith("vertex_ind"))
    sizes = np.array(list(map(len, polygons)))
    if (sizes == 3).all():
        return data
    corners = np.concatenate(polygons).astype(np.int64)
    count = elements["vertex"].length
    wrong = corners[(corners < 0) | (corners >= count)]
    if wrong.size:
        raise ValueError(
            f"a face names vertex {wrong[0]}, but there are {count} vertices, counted from 0"
        )
    points = np.stack([columns["vertex"][axis] for axis in "xyz"], axis=1).astype(float)
    return _written(columns["vertex"], corners[cut(points[corners], sizes)])


def _elements(lines: list[str]) -> dict[str, _Element]:
    """Return the elements of a header by name, in order."""
    elements: dict[str, _Element] = {}
    for line in lines:
        words = line.split()
        if words[:1] == ["element"]:
            latest = elements[words[1]] = _Element(int(words[2]), {})
        elif words[:1] == ["property"]:
            types = words[2:-1] if words[1] == "list" else words[1:-1]
            unknown = next((word for word in types if word not in _TYPES), None)
            if unknown is not None:
                raise ValueError(f"property {words[-1]!r} is of the unknown type {unknown!r}")
            latest.properties[words[-1]] = tuple(_TYPES[word] for word in types)
    return elements


class _Body:
    """The data after the header of a PLY, read from start to end.

    `order` is the byte order of binary data, "" for text.
    """

    def __init__(self, data: bytes, order: str) -> None:
        self._order, self._at = order, 0
        self._data = data
        self._words = [] if order else data.split()

    def _table(self, element: _Element, names: list[str]) -> dict:
        """Return the columns of an element with one number for each property."""
        if not self._order:
            table = self._take("f8", element.length * len(names)).reshape(element.length, -1)
            return {name: table[:, k] for k, name in enumerate(names)}
        row = [(name, self._order + types[0]) for name, types in element.properties.items()]
        table = self._take(row, element.length)
        return {name: table[name] for name in names}

    def columns(self, element: _Element) -> dict:
        """Return each property of the next element: an array, or a list of arrays."""
        names = list(element.properties)
        if all(len(types) == 1 for types in element.properties.values()):
            return self._table(element, names)
        result: dict[str, list] = {name: [] for name in names}
        for _ in range(element.length):
            for name, types in element.properties.items():
                count = int(self._take(types[0], 1)[0]) if len(types) == 2 else 1
                result[name].append(self._take(types[-1], count))
        return result

    def _take(self, kind, count: int) -> np.ndarray:
        """Return the next values of a type."""
        if not self._order:
            words = self._words[self._at : self._at + count]
            self._at += count
            values = np.array(words, dtype="f8")
        else:
            dtype = np.dtype(kind if isinstance(kind, list) else self._order + kind)
            available = (len(self._data) - self._at) // dtype.itemsize
            values = np.frombuffer(self._data, dtype, min(count, available), self._at)
            self._at += count * dtype.itemsize
        if len(values) < count:
            raise ValueError("the file is shorter than its header states")
        return values


def _written(vertices: dict, triangles: np.ndarray) -> bytes:
    """Return a binary PLY of vertices and triangles (m, 3).

    vertices: column of each property, by name.
    """
    names = {code: word for word, code in _TYPES.items()}
    kinds = {name: column.dtype.str[1:] for name, column in vertices.items()}
    for color in {"red", "green", "blue", "alpha"} & kinds.keys():
        kinds[color] = kinds[color] if kinds[color][0] in "ui" else "u1"  # of a text
    table = np.empty(len(vertices["x"]), dtype=[(n, "<" + kind) for n, kind in kinds.items()])
    for name, column in vertices.items():
        table[name] = column
    faces = np.empty(len(triangles), dtype=[("count", "u1"), ("corners", "<i4", 3)])
    faces["count"], faces["corners"] = 3, triangles
    head = ["ply", "format binary_little_endian 1.0", f"element vertex {len(table)}"]
    head += [f"property {names[kind]} {name}" for name, kind in kinds.items()]
    head += [f"element face {len(faces)}", _FACE, "end_header\n"]
    return "\n".join(head).encode() + table.tobytes() + faces.tobytes()
