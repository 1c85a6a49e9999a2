# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A solid that was kept is the one that is made, to the last bit; equal meshes share one."""

import numpy as np
import pytest

from hrpsim import ConvexHull, Mesh, World
from hrpsim.engine.collision.solids import kept_polyhedra
from hrpsim.engine.collision.solids.features import polyhedron
from hrpsim.engine.collision.solids.kept_polyhedra import kept_polyhedron


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(kept_polyhedra, "folder", lambda: tmp_path)
    return tmp_path


def _round(seed: int) -> Mesh:
    points = np.random.default_rng(seed).normal(size=(300, 3))
    return ConvexHull(points / np.linalg.norm(points, axis=1, keepdims=True))


def _bits(solid):
    return [(array.dtype, array.tobytes(), array.flags.writeable) for array in solid]


def test_a_kept_solid_is_that_which_is_made(folder):
    mesh = _round(1)
    made = _bits(polyhedron(mesh.vertices, mesh.triangles))
    assert _bits(kept_polyhedron(mesh)) == made
    (kept,) = folder.glob("*.solid")
    assert _bits(kept_polyhedron(mesh)) == made
    kept.write_bytes(kept.read_bytes()[:-3])
    assert _bits(kept_polyhedron(mesh)) == made


def test_the_solids_used_last_stay(folder, monkeypatch):
    kept_polyhedron(_round(1))
    (first,) = folder.glob("*.solid")
    monkeypatch.setattr(kept_polyhedra, "_MOST", int(2.5 * first.stat().st_size))
    for seed in range(2, 6):
        kept_polyhedron(_round(seed))
    assert len(list(folder.glob("*.solid"))) == 2


def test_where_nothing_can_be_written_solids_are_made(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(kept_polyhedra, "folder", lambda: tmp_path / "file" / "solids")
    mesh = _round(1)
    assert _bits(kept_polyhedron(mesh)) == _bits(polyhedron(mesh.vertices, mesh.triangles))


def test_equal_meshes_share_a_solid():
    world = World()
    for k in range(3):
        world.add_body(_round(7), 1.0, (3.0 * k, 0, 0))
    assert len(world.scene.collision.polyhedra.solids) == 1
    assert set(world.scene.collision.shapes["solid"].tolist()) == {0}
