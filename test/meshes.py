# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Small meshes for tests, and files of them."""

import struct
from pathlib import Path

import numpy as np

BOX_TRIANGLES = np.array(
    [(0, 2, 1), (0, 3, 2), (4, 5, 6), (4, 6, 7), (0, 1, 5), (0, 5, 4)]
    + [(1, 2, 6), (1, 6, 5), (2, 3, 7), (2, 7, 6), (3, 0, 4), (3, 4, 7)]
)


def box(lengths=(1.0, 1.0, 1.0), center=(0.0, 0.0, 0.0)):
    """Return vertices (8, 3) and outward triangles (12, 3)."""
    x, y, z = 0.5 * np.array(lengths, dtype=float)
    low = [(-x, -y, -z), (x, -y, -z), (x, y, -z), (-x, y, -z)]
    vertices = np.array(low + [(a, b, z) for a, b, _ in low]) + center
    return vertices, BOX_TRIANGLES.copy()


def angle_bracket(thickness=0.2):
    """Return a concave solid: an L in the plane of x and z, of unit legs, `thickness` along y."""
    t = thickness
    outline = [(0, 0), (1, 0), (1, t), (t, t), (t, 1), (0, 1)]
    n = len(outline)
    vertices = np.array([(x, y, z) for y in (0.0, t) for x, z in outline], dtype=float)
    front = [(0, 1, 2), (0, 2, 3), (0, 3, 4), (0, 4, 5)]
    back = [(c + n, b + n, a + n) for a, b, c in front]
    sides = [
        triangle
        for k in range(n)
        for a, b in [(k, (k + 1) % n)]
        for triangle in ((b, a, a + n), (b, a + n, b + n))
    ]
    return vertices, np.array(front + back + sides)


def joined(*meshes):
    """Return several meshes as one."""
    vertices, triangles, count = [], [], 0
    for points, corners in meshes:
        vertices.append(points)
        triangles.append(np.asarray(corners) + count)
        count += len(points)
    return np.concatenate(vertices), np.concatenate(triangles)


def write_stl(path: Path, vertices, triangles) -> Path:
    """Write a binary STL, which gives every triangle its own corners."""
    corners = np.asarray(vertices)[triangles].astype("<f4")
    records = b"".join(
        struct.pack("<3f", 0, 0, 0) + corner.tobytes() + b"\0\0" for corner in corners
    )
    path.write_bytes(b"\0" * 80 + struct.pack("<I", len(corners)) + records)
    return path


def write_obj(path: Path, vertices, triangles) -> Path:
    lines = [f"v {x!r} {y!r} {z!r}" for x, y, z in np.asarray(vertices, dtype=float).tolist()]
    lines += [f"f {a + 1} {b + 1} {c + 1}" for a, b, c in np.asarray(triangles).tolist()]
    path.write_text("\n".join(lines) + "\n")
    return path


def write_dae(
    path: Path, vertices, triangles, unit="1", up="Z_UP", matrix="1 0 0 0 0 1 0 0 0 0 1 0 0 0 0 1"
) -> Path:
    numbers = " ".join(map(repr, np.asarray(vertices, dtype=float).ravel().tolist()))
    corners = " ".join(map(str, np.asarray(triangles).ravel().tolist()))
    path.write_text(
        f"""<?xml version="1.0"?>
<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
<asset><created>2026-01-01T00:00:00</created><modified>2026-01-01T00:00:00</modified>
<unit name="u" meter="{unit}"/><up_axis>{up}</up_axis></asset>
<library_geometries><geometry id="g"><mesh><source id="p">
<float_array id="a" count="{3 * len(vertices)}">{numbers}</float_array><technique_common>
<accessor source="#a" count="{len(vertices)}" stride="3"><param name="X" type="float"/>
<param name="Y" type="float"/><param name="Z" type="float"/></accessor></technique_common></source>
<vertices id="v"><input semantic="POSITION" source="#p"/></vertices>
<triangles count="{len(triangles)}"><input semantic="VERTEX" source="#v" offset="0"/>
<p>{corners}</p></triangles></mesh></geometry></library_geometries>
<library_visual_scenes><visual_scene id="s"><node id="n"><matrix>{matrix}</matrix>
<instance_geometry url="#g"/></node></visual_scene></library_visual_scenes>
<scene><instance_visual_scene url="#s"/></scene></COLLADA>"""
    )
    return path
