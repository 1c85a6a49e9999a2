# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Meshes that are boxes, and meshes that only resemble one."""

import itertools

import numpy as np
import pytest

from hrpsim import ConvexHull, Mesh
from hrpsim.model.shapes.box_of_mesh import box_of

SIZE, CENTER = np.array([0.1, 0.2, 0.3]), np.array([1.0, -2.0, 0.5])
CORNERS = np.array(list(itertools.product((-0.5, 0.5), repeat=3)))
SIDES = np.array(
    [
        *([0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1]),
        *([2, 3, 7], [2, 7, 6], [0, 2, 6], [0, 6, 4], [1, 5, 7], [1, 7, 3]),
    ]
)


def rotation(seed):
    """Return a random rotation (3, 3)."""
    Q, _ = np.linalg.qr(np.random.default_rng(seed).normal(size=(3, 3)))
    return Q * np.sign(np.linalg.det(Q))


def split(vertices, triangles):
    """Return vertices and triangles with each triangle split in three at its middle."""
    middles = len(vertices) + np.arange(len(triangles))
    a, b, c = triangles.T
    parts = [np.column_stack(t) for t in ((a, b, middles), (b, c, middles), (c, a, middles))]
    return np.concatenate([vertices, vertices[triangles].mean(axis=1)]), np.concatenate(parts)


@pytest.mark.parametrize("seed", range(5))
def test_a_box_is_found_in_its_hull_its_sides_and_finer_sides(seed):
    """Law: the box that is found has the mesh's corners, in any pose."""
    R = rotation(seed)
    vertices = (CORNERS * SIZE) @ R.T + CENTER
    meshes = (ConvexHull(vertices), Mesh(vertices, SIDES), Mesh(*split(vertices, SIDES)))
    for mesh in meshes:
        box, axes, center = box_of(mesh)
        assert np.linalg.det(axes) == pytest.approx(1.0)
        found = (CORNERS * box.lengths) @ axes.T + center
        apart = np.linalg.norm(found[:, None] - vertices[None], axis=2)
        np.testing.assert_allclose(apart.min(axis=0), 0.0, atol=1e-12)


def test_a_box_of_a_file_with_single_precision_is_found():
    """Law: the rounding of float32 does not hide a box."""
    vertices = ((CORNERS * SIZE) @ rotation(3).T).astype(np.float32)
    assert box_of(ConvexHull(vertices)) is not None


@pytest.mark.parametrize("change", ["a corner", "a side twice", "inside out", "a tetrahedron"])
def test_what_only_resembles_a_box_is_none(change):
    """Law: a mesh is a box only if its faces are the box's, each once and facing outward."""
    vertices, triangles = CORNERS.copy(), SIDES.copy()
    if change == "a corner":
        vertices[0] *= 1.001
    elif change == "a side twice":
        triangles[:2] = triangles[2:4]
    elif change == "inside out":
        triangles = triangles[:, ::-1]
    else:
        vertices, triangles = vertices[[0, 3, 5, 6]], SIDES[:0]
        assert box_of(ConvexHull(vertices)) is None
        return
    assert box_of(Mesh(vertices, triangles)) is None
