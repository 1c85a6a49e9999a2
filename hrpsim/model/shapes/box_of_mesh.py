# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Find meshes that are boxes, so that a box has the same contacts as a mesh and as a primitive.

A mesh inside a cuboid equals the cuboid under two conditions. Both enclose the same volume. On each
side, the area of the mesh is at most the area of the cuboid's face.
"""

import math
import weakref

import numpy as np

from hrpsim.model.shapes.geometry import Box, Mesh
from hrpsim.model.shapes.mesh_integrals import doubled_areas, signed_volumes
from hrpsim.model.shapes.terrain import HeightField

# Relative error of volume, area and directions up to which a mesh is a box: that of float32.
_EXACT = 1e-6

# Difference from 1 of the cosine up to which an axis is one of the mesh's frame.
_OWN_AXES = 1e-14

_Placed = tuple[Box, np.ndarray, np.ndarray]

_known: weakref.WeakKeyDictionary[Mesh, tuple[_Placed | None]] = weakref.WeakKeyDictionary()


def box_of(mesh: Mesh) -> _Placed | None:
    """Return the box that equals a mesh, or None if the mesh is not a box.

    The box has axes R (3, 3) and centre p (3,) [m] in the mesh's frame. The result is cached for
    each mesh.
    """
    if mesh not in _known:
        _known[mesh] = (_find_box(mesh),)
    return _known[mesh][0]


def _find_box(mesh: Mesh) -> _Placed | None:
    """Return the box with axes along face normals of the mesh, if the mesh equals this box."""
    if isinstance(mesh, HeightField):
        return None
    triangles = mesh.triangles
    if len(triangles) < 12:
        return None
    normals = doubled_areas(mesh.vertices[triangles])
    lengths = np.linalg.norm(normals, axis=1)
    R = _axes(normals, lengths)
    if R is None:
        return None
    along = mesh.vertices @ R
    lower, upper = along.min(axis=0), along.max(axis=0)
    size = upper - lower
    volume = signed_volumes(mesh.vertices, triangles).sum()
    if not math.isclose(volume, size.prod(), rel_tol=_EXACT):
        return None
    cosines = normals @ R / lengths[:, None]
    for k in range(3):
        for sign in (-1.0, 1.0):
            area = 0.5 * lengths[sign * cosines[:, k] > 1.0 - _EXACT].sum()
            if not math.isclose(area, size.prod() / size[k], rel_tol=_EXACT):
                return None
    x, y, z = size.tolist()
    return Box((x, y, z)), R, R @ (0.5 * (lower + upper))


def _axes(normals: np.ndarray, lengths: np.ndarray) -> np.ndarray | None:
    """Return a rotation R (3, 3) from two perpendicular face normals, or None if there are none.

    Axes of the mesh's own frame are used unchanged.
    """
    if not lengths.min() > 0.0:
        return None
    first = normals[np.argmax(lengths)] / lengths.max()
    across = np.abs(normals @ first) < 0.5 * lengths
    if not across.any():
        return None
    second = normals[across][np.argmax(lengths[across])] / lengths[across].max()
    if abs(first @ second) > _EXACT:
        return None
    second = second - (second @ first) * first
    second /= np.linalg.norm(second)
    R = np.column_stack([first, second, np.cross(first, second)])
    return np.eye(3) if np.abs(R).max(axis=0).min() > 1.0 - _OWN_AXES else R
