# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Convex hulls hold all points, are closed and convex, and have no triangle too many."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from meshes import box
from scipy.spatial import ConvexHull as Qhull

from hrpsim import ConvexHull, HeightField, ModelError
from hrpsim.model.shapes.placement import rotation_from_rpy


@settings(max_examples=60)
@given(st.integers(0, 100_000), st.integers(4, 200), st.sampled_from([1e-4, 1.0, 100.0]))
def test_it_holds_every_point_and_is_convex(seed, count, size):
    random = np.random.default_rng(seed)
    points = size * random.normal(size=(count, 3)) * random.uniform(0.05, 1.0, 3)
    points += 10.0 * size
    hull = ConvexHull(points)
    assert hull.is_closed and hull.is_convex
    assert {tuple(v) for v in hull.vertices} <= {tuple(p) for p in points}
    a, b, c = (hull.vertices[hull.triangles[:, k]] for k in range(3))
    normals = np.cross(b - a, c - a)
    normals /= np.linalg.norm(normals, axis=1)[:, None]
    heights = points @ normals.T - np.einsum("ij,ij->i", a, normals)
    assert heights.max() < 1e-9 * size * 10
    assert hull.volume == pytest.approx(Qhull(points).volume, rel=1e-9)


@settings(max_examples=30)
@given(st.integers(0, 100_000), st.integers(2, 6))
def test_a_box_full_of_points_is_twelve_triangles(seed, steps):
    """Points on faces, edges and inside are left out; faces are one polygon each."""
    random = np.random.default_rng(seed)
    edges = random.uniform(0.1, 3.0, 3)
    axes = [np.linspace(-0.5, 0.5, steps) * length for length in edges]
    points = np.stack(np.meshgrid(*axes), axis=-1).reshape(-1, 3)
    R = rotation_from_rpy(random.uniform(-3.0, 3.0, 3))
    hull = ConvexHull(points @ R.T + random.uniform(-1.0, 1.0, 3))
    assert hull.vertices.shape == (8, 3) and hull.triangles.shape == (12, 3)
    assert hull.is_convex and hull.volume == pytest.approx(np.prod(edges), rel=1e-9)


@pytest.mark.parametrize("sides", [3, 8, 64])
def test_the_caps_of_a_prism_are_polygons(sides):
    turn = 2 * np.pi * np.arange(sides) / sides
    ring = np.stack([np.cos(turn), np.sin(turn)], axis=1)
    points = [np.append(p, z) for p in ring for z in (-1.0, 0.0, 1.0)] + [(0.0, 0.0, 1.0)]
    hull = ConvexHull(points)
    assert hull.vertices.shape == (2 * sides, 3)
    assert hull.triangles.shape == (2 * (sides - 2) + 2 * sides, 3)
    assert hull.is_convex
    assert hull.volume == pytest.approx(sides * np.sin(2 * np.pi / sides), rel=1e-12)


def test_the_same_points_give_the_same_hull():
    points = np.random.default_rng(3).normal(size=(50, 3))
    first, second = ConvexHull(points), ConvexHull(points)
    assert np.array_equal(first.triangles, second.triangles)
    assert np.array_equal(first.vertices, second.vertices)


@pytest.mark.parametrize(
    ("points", "cause"),
    [
        (np.zeros((3, 3)), "at least 4 points"),
        (np.zeros((5, 2)), "at least 4 points"),
        (np.ones((10, 3)), "in a plane, on a line or at one point"),
        (np.arange(30.0).reshape(10, 3), "in a plane, on a line"),
        (box()[0] * (1, 1, 1e-8), "in a plane"),
        (np.full((5, 3), np.nan), "point 0 is not finite"),
    ],
)
def test_points_without_a_hull_are_refused(points, cause):
    with pytest.raises(ModelError, match=cause):
        ConvexHull(points)


def test_a_height_field_goes_through_its_heights():
    heights = np.random.default_rng(0).uniform(0.0, 0.2, (4, 6))
    field = HeightField(heights, spacing=(0.5, 0.25), origin=(1.0, 2.0, 3.0))
    assert field.vertices[6 * 2 + 5] == pytest.approx([2.0, 3.25, 3.0 + heights[2, 5]])
    assert field.triangles.shape == (2 * 3 * 5, 3) and not field.is_closed
    a, b, c = (field.vertices[field.triangles[:, k]] for k in range(3))
    assert (np.cross(b - a, c - a)[:, 2] > 0.0).all()
    assert np.array_equal(field.heights, heights)


def test_a_height_field_is_centred_by_default():
    field = HeightField(np.zeros((3, 5)), size=(2.0, 8.0))
    assert field.vertices.min(axis=0) == pytest.approx([-1.0, -4.0, 0.0])
    assert field.vertices.max(axis=0) == pytest.approx([1.0, 4.0, 0.0])


@pytest.mark.parametrize(
    ("arguments", "cause"),
    [
        ({"heights": [[1.0, 2.0]], "spacing": 1.0}, r"shape \(nx, ny\)"),
        ({"heights": np.zeros((2, 2))}, "either spacing or size"),
        ({"heights": np.zeros((2, 2)), "spacing": 1, "size": 1}, "either spacing or size"),
        ({"heights": np.zeros((2, 2)), "spacing": (1.0, -1.0)}, "spacing must be positive"),
        ({"heights": [[0, np.nan], [0, 0]], "spacing": 1}, r"heights\[0, 1\] is nan"),
        ({"heights": np.zeros((2, 2)), "size": 1, "origin": (1, 2)}, "origin must be three"),
        ({"heights": np.zeros((4001, 4000)), "size": 1}, "are more than 16000000 heights"),
    ],
)
def test_bad_height_fields_are_refused(arguments, cause):
    with pytest.raises(ModelError, match=cause):
        HeightField(**arguments)


def test_a_field_for_pictures_has_the_area_and_the_heights_of_the_field():
    """Law: a thinned plane is the same plane."""
    x, y = np.meshgrid(np.arange(301.0), np.arange(201.0), indexing="ij")
    field = HeightField(0.25 * x - 0.5 * y, spacing=(1.0, 2.0), origin=(1, 2, 3))
    thin = field.thinned(700)
    assert 500 < thin.heights.size <= 700
    assert thin.bounds == pytest.approx(field.bounds)
    assert thin.vertices[:, 2] == pytest.approx(
        3.0 + 0.25 * (thin.vertices[:, 0] - 1.0) - 0.25 * (thin.vertices[:, 1] - 2.0)
    )
    assert field.thinned(301 * 201) is field
