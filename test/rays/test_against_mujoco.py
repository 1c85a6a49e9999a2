# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Distances of rays agree with MuJoCo's to 1e-9 m: primitives, meshes, height fields, inside."""

import numpy as np
import pytest

pytest.importorskip("mujoco")

from rays.mujoco_scenes import field_scene, mujoco_hits, rays, scene

TOLERANCE = 1e-9  # [m]
FAR = 100.0  # beyond it the last bits of a direction count [m]

SOME_AND_ALL = [
    pytest.param(range(2), 500, id="short"),
    pytest.param(range(20), 10_000, id="long", marks=pytest.mark.long),
]


@pytest.mark.parametrize("seeds, count", SOME_AND_ALL)
def test_scenes_of_primitives_and_meshes(seeds, count):
    """Law: both find the same first surface, from outside and from inside."""
    for seed in seeds:
        world, model, data = scene(seed)
        origins, directions = rays(seed, count)
        hits = world.cast_rays(origins, directions)
        expected, geoms, normals = mujoco_hits(model, data, origins, directions)
        differs = _differ(hits.distances, expected)
        # On a surface, to rounding: MuJoCo takes some starts for inside, others for outside.
        assert (np.minimum(hits.distances, expected)[differs] <= 1e-12).all(), seed
        assert differs.sum() < 0.002 * count
        found = (hits.links >= 0) & ~differs & (hits.links != geoms)
        apart = hits.distances[found] - expected[found]
        assert (np.abs(apart) < TOLERANCE).all()  # two surfaces at one place
        _check_normals(hits, normals, ~differs & (hits.links >= 0))


@pytest.mark.parametrize("seeds, count", SOME_AND_ALL)
def test_height_fields_from_above(seeds, count):
    """Law: the same distances, but for walls, which fields of hrpsim have not.

    MuJoCo's rays that run along a line of the grid slip through between two triangles.
    """
    for seed in seeds:
        world, model, data = field_scene(seed)
        origins, directions = rays(seed, count)
        origins[:, 2] = np.abs(origins[:, 2]) + 0.7
        directions[:, 2] -= 0.5 * np.abs(directions).sum(axis=1)
        hits = world.cast_rays(origins, directions)
        expected, _, normals = mujoco_hits(model, data, origins, directions)
        unit = directions / np.linalg.norm(directions, axis=1)[:, None]
        ends = origins + np.where(np.isfinite(expected), expected, 0.0)[:, None] * unit
        on_wall = (np.abs(ends[:, :2]) > np.array([2.5, 1.5]) - 1e-9).any(axis=1)
        differs = _differ(hits.distances, expected) & ~(on_wall & np.isfinite(expected))
        assert differs.sum() < 0.002 * count
        assert (hits.distances[differs] < expected[differs]).all()
        _check_normals(hits, normals, ~differs & ~on_wall & np.isfinite(hits.distances))
        field = world.fixed_shapes[0]
        found = np.isfinite(hits.distances)
        points = (origins[found] + hits.distances[found, None] * unit[found]) - field.p
        assert np.abs(points[:, 2] - _height(field.geometry, points)).max() < TOLERANCE


def _check_normals(hits, normals, there) -> None:
    """Check that normals agree but at edges, where either side's is one; none is turned round."""
    ours, theirs = hits.normals[there], normals[there]
    assert (np.abs(ours - theirs).max(axis=1) < 1e-9).mean() > 0.95
    assert (np.abs(ours + theirs).max(axis=1) > 1e-9).all()


def _differ(distances, expected) -> np.ndarray:
    both = np.isfinite(distances) & np.isfinite(expected)
    apart = np.abs(np.where(both, distances, 0.0) - np.where(both, expected, 0.0))
    allowed = TOLERANCE * np.where(both & (expected > FAR), expected, 1.0)
    return (apart > allowed) | (np.isfinite(distances) != np.isfinite(expected))


def _height(field, points) -> np.ndarray:
    """Return the heights of a field (k,) by interpolation over its triangles."""
    nx, ny = field.heights.shape
    grid = field.vertices.reshape(nx, ny, 3)
    step = (grid[-1, -1, :2] - grid[0, 0, :2]) / (nx - 1, ny - 1)
    place = (points[:, :2] - grid[0, 0, :2]) / step
    i, j = np.clip(np.floor(place).astype(int), 0, [nx - 2, ny - 2]).T
    u, v = place[:, 0] - i, place[:, 1] - j
    z = grid[:, :, 2]
    a, c = z[i, j], z[i + 1, j + 1]
    return np.where(
        u >= v,
        a + u * (z[i + 1, j] - a) + v * (c - z[i + 1, j]),
        a + v * (z[i, j + 1] - a) + u * (c - z[i, j + 1]),
    )
