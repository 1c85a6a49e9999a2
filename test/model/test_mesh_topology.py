# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Edges of any triangles: which of them continue each other, as the solid between them says."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from meshes import box, joined
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from hrpsim.model.shapes.mesh_repair import repaired
from hrpsim.model.shapes.mesh_topology import (
    connected,
    directed_edges,
    edge_neighbours,
    joined_sides,
    parts_of,
)


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 2**32), st.integers(4, 9), st.integers(1, 40))
def test_each_side_continues_at_one_other_at_most(seed, points, count):
    """Law: joined sides are pairs on one edge, that run along it in opposite directions."""
    rng = np.random.default_rng(seed)
    triangles = rng.permuted(np.tile(np.arange(points), (count, 1)), axis=1)[:, :3]
    partner, edges = (
        joined_sides(rng.normal(size=(points, 3)), triangles),
        directed_edges(triangles),
    )
    sides = np.arange(3 * count)
    np.testing.assert_array_equal(partner[partner], sides)
    paired = partner != sides
    np.testing.assert_array_equal(edges[partner[paired]], edges[paired][:, ::-1])


def test_edges_of_two_triangles_are_joined_as_neighbours():
    vertices, triangles = box()
    pairs, partner = edge_neighbours(triangles), joined_sides(vertices, triangles)
    np.testing.assert_array_equal(partner[pairs[:, 0]], pairs[:, 1])
    assert len(pairs) == 18


def test_boxes_that_touch_along_an_edge_stay_apart():
    """Law: the surface continues round a solid: neither box continues at the other."""
    vertices, triangles = joined(box(), box(center=(1.0, 1.0, 0.0)))
    vertices, triangles, notes = repaired(vertices, triangles)
    assert len(vertices) == 14 and parts_of(triangles)[0] == 1 and not notes
    partner = joined_sides(vertices, triangles)
    assert (partner != np.arange(len(partner))).all()
    count, part = connected(np.arange(len(partner)) // 3, partner // 3, len(triangles))
    assert count == 2
    for k in range(2):
        assert len(np.unique(triangles[part == k])) == 8


def test_a_face_between_two_closed_halves_is_named():
    """Law: of three triangles on an edge two continue each other, and the rest is open."""
    vertices, triangles = box()
    wall = [(0, 2, 4), (2, 6, 4)]  # from edge to edge through the middle
    notes = repaired(vertices, np.concatenate([triangles, wall])).notes
    assert "edges that several triangles share" in notes[0]


def test_few_things_are_joined_as_scipy_joins_them():
    """Law: the same parts, numbered by their first thing."""
    random = np.random.default_rng(5)
    for count in (1, 2, 40, 900):
        a, b = random.integers(count, size=(2, count // 2))
        graph = coo_array((np.ones(len(a)), (a, b)), shape=(count, count))
        expected = connected_components(graph, directed=False)
        found = connected(a, b, count)
        assert found[0] == expected[0]
        np.testing.assert_array_equal(found[1], expected[1])
