# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The heart's mesh: closed, outward, and of the volume of its curve."""

from collections import Counter

import numpy as np
import pytest

from evidence.experiments.scenes.crane_hooks import heart, outline
from hrpsim import load_mesh, share_path

UNIT, THICKNESS = 4e-3, 0.05

NOTCH, TIP = 5.0, -17.0  # heights on the curve [units]


def test_every_edge_has_two_faces_that_run_along_it_oppositely():
    triangles = heart(UNIT, THICKNESS).triangles
    edges = Counter((int(t[k]), int(t[k - 2])) for t in triangles for k in range(3))
    assert all(count == 1 and edges[b, a] == 1 for (a, b), count in edges.items())


@pytest.mark.parametrize("count", [24, 48, 400])
def test_volume_and_centre_of_mass(count):
    mesh = heart(UNIT, THICKNESS, count)
    a, b, c = mesh.vertices[mesh.triangles].transpose(1, 0, 2)
    volumes = np.einsum("ij,ij->i", a, np.cross(b, c)) / 6.0
    # The curve's area is 180 pi: Green's theorem, term by term of its Fourier series.
    error = 0.0 if count > 100 else 0.03
    assert volumes.sum() == pytest.approx(180.0 * np.pi * UNIT**2 * THICKNESS, rel=error + 1e-3)
    centre = (volumes[:, None] * (a + b + c) / 4.0).sum(axis=0) / volumes.sum()
    np.testing.assert_allclose(centre, 0.0, atol=1e-15)


def test_it_is_concave_and_its_fans_do_not_overlap():
    ring = outline(48)
    assert ring[0] == pytest.approx([0.0, NOTCH]) and ring[24] == pytest.approx([0.0, TIP])
    assert ring[:, 1].max() > NOTCH + 6.0
    mesh = heart(UNIT, THICKNESS)
    a, b, c = mesh.vertices[mesh.triangles].transpose(1, 0, 2)
    normals = np.cross(b - a, c - a)
    assert np.linalg.norm(normals, axis=1).min() > 0.0
    assert (normals[:48, 2] > 0.0).all() and (normals[48:96, 2] < 0.0).all()


def test_the_game_has_the_heart_that_the_generator_makes():
    made, read = heart(2.2e-3, 0.04), load_mesh(share_path("config/heart.obj"))
    assert read.is_closed and not read.is_convex
    assert read.volume == pytest.approx(made.volume, rel=1e-6)
    np.testing.assert_allclose(np.ptp(read.vertices, axis=0), np.ptp(made.vertices, axis=0), 1e-6)
