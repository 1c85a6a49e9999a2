# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Trees of boxes find what a search of everything finds, also where bodies move far and back."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hrpsim


def first_sphere(origins, directions, centers, radius):
    """Return the least distance of each ray to any of the spheres, from outside (k,)."""
    away = centers[None] - origins[:, None]
    near = np.einsum("kcr,kr->kc", away, directions)
    squared = radius**2 - (np.einsum("kcr,kcr->kc", away, away) - near**2)
    t = near - np.sqrt(np.maximum(squared, 0.0))
    return np.where((squared > 0.0) & (t > 0.0), t, np.inf).min(axis=1)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 40), st.floats(0.01, 100.0))
def test_the_tree_over_bodies_after_any_motion(seed, count, spread):
    """Law: the first of many spheres, wherever they went since the tree was built."""
    random = np.random.default_rng(seed)
    world = hrpsim.World(gravity=(0, 0, 0))
    balls = [world.add_body(hrpsim.Sphere(0.1), 1.0, random.normal(size=3)) for _ in range(count)]
    for scale in (1.0, spread, 1.0, 1.0 / spread):
        centers = scale * random.normal(size=(count, 3))
        for ball, center in zip(balls, centers, strict=True):
            ball.position = center
        directions = random.normal(size=(60, 3))
        directions /= np.linalg.norm(directions, axis=1)[:, None]
        origins = random.choice(centers, 60) - (1.0 + 3.0 * scale) * directions
        origins += 0.1 * random.uniform(-1, 1, (60, 3))
        apart = np.linalg.norm(origins[:, None] - centers[None], axis=2).min(axis=1) > 0.1001
        expected = first_sphere(origins, directions, centers, 0.1)
        found = world.cast_rays(origins, directions).distances
        same = np.isfinite(expected) == np.isfinite(found)
        assert same[apart].mean() > 0.97  # rays that graze a sphere differ by rounding
        both = apart & np.isfinite(expected) & np.isfinite(found)
        np.testing.assert_allclose(found[both], expected[both], rtol=1e-9, atol=1e-6)


@pytest.mark.parametrize("shift", [0.0, 50.0])
def test_the_tree_over_triangles(shift):
    """Law: the first of all triangles of an open mesh, by the plane equation and edge tests."""
    random = np.random.default_rng(5)
    vertices = random.uniform(-1, 1, (150, 3)) + (shift, 0, 0)
    triangles = np.array([random.choice(150, 3, replace=False) for _ in range(400)])
    world = hrpsim.World()
    world.add_static(hrpsim.Mesh(vertices, triangles))
    origins = random.uniform(-2, 2, (300, 3)) + (shift, 0, 0)
    directions = random.uniform(-1, 1, (300, 3)) + (shift, 0, 0) - origins
    directions /= np.linalg.norm(directions, axis=1)[:, None]
    a, b, c = vertices[triangles].swapaxes(0, 1)
    normals = np.cross(b - a, c - a)
    with np.errstate(divide="ignore"):
        t = np.einsum("kcr,cr->kc", a[None] - origins[:, None], normals) / (directions @ normals.T)
    points = origins[:, None] + t[..., None] * directions[:, None]
    inside = t >= 0.0
    for p, q in ((a, b), (b, c), (c, a)):
        inside &= np.einsum("kcr,cr->kc", np.cross((q - p)[None], points - p[None]), normals) >= 0.0
    expected = np.where(inside, t, np.inf).min(axis=1)
    found = world.cast_rays(origins, directions)
    np.testing.assert_allclose(found.distances, expected, atol=1e-9)
    hit = np.isfinite(expected)
    assert hit.mean() > 0.5
    np.testing.assert_allclose(np.linalg.norm(found.normals[hit], axis=1), 1.0, atol=1e-12)


def test_a_tree_of_equal_boxes():
    """Law: what cannot be split is halved; of shapes at one place the first counts."""
    world = hrpsim.World()
    for k in range(200):
        world.add_static(hrpsim.Box((1, 1, 1)), name=f"b{k}")
    hits = world.cast_rays([[5, 0, 0], [0, 5, 0.2]], [[-1, 0, 0], [0, -1, 0]])
    np.testing.assert_array_equal(hits.distances, 4.5)
    np.testing.assert_array_equal(hits.links, 0)
