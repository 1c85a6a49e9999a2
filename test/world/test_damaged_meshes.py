# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Damaged meshes as fixed shapes and as bodies: they step, or are refused, in a bounded time."""

import contextlib
import signal
import warnings

import numpy as np
import pytest

from hrpsim import Box, HrpsimError, Mesh, Sphere, World, load_mesh, share_path

LIMIT = 60.0  # of the processor, for one mesh [s]: it takes some 0.1 s


def damaged(seed):
    """Return vertices and triangles of the heart with a few faults."""
    heart, rng = load_mesh(share_path("config/heart.obj")), np.random.default_rng(seed)
    vertices, triangles = heart.vertices.copy(), heart.triangles.copy()
    for _ in range(rng.integers(1, 5)):
        some = rng.integers(0, len(triangles), rng.integers(1, 40))
        corners, point = triangles[some], rng.integers(len(vertices))
        fault = rng.integers(8)
        if fault == 0:
            triangles = np.concatenate([triangles, corners[:, ::-1]])
        elif fault == 1:
            triangles = np.concatenate([triangles, np.roll(corners, 1, axis=1)])
        elif fault == 2:
            triangles = np.delete(triangles, some, axis=0)
        elif fault == 3:
            triangles[some] = corners[:, ::-1]
        elif fault == 4:
            vertices[corners[:, 0]] += rng.normal(0.0, 10.0 ** rng.uniform(-9, 0), 3)
        elif fault == 5:
            triangles[some, rng.integers(3)] = point
        elif fault == 6:
            extra = rng.integers(0, len(vertices), (len(some), 3))
            triangles = np.concatenate([triangles, extra])
        elif rng.random() < 0.3:
            vertices[point, 0] = rng.choice([np.nan, np.inf, 1e300])
    return vertices, triangles


@pytest.mark.quick_cases("0", "30")
@pytest.mark.parametrize("first", range(0, 60, 10))
def test_any_mesh_steps_or_is_refused(first, tmp_path):
    """Law: a mesh is refused by an error of hrpsim, or its worlds step, in a bounded time."""

    def too_long(*_):
        raise TimeoutError

    previous = signal.signal(signal.SIGPROF, too_long)
    try:
        for seed in range(first, first + 10):
            signal.setitimer(signal.ITIMER_PROF, LIMIT)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                step_with(*damaged(seed), tmp_path / "heart.obj", seed % 3 > 0)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        signal.signal(signal.SIGPROF, previous)


def step_with(vertices, triangles, file, by_file):
    lines = [f"v {x} {y} {z}" for x, y, z in vertices]
    lines += [f"f {a} {b} {c}" for a, b, c in triangles + 1]
    file.write_text("\n".join(lines))
    try:
        mesh = load_mesh(file) if by_file else Mesh(vertices, triangles)
    except HrpsimError as error:
        assert str(file) in str(error) or str(error).startswith("Mesh")
        return
    low, high = mesh.vertices.min(axis=0), mesh.vertices.max(axis=0)
    size = 0.05 * np.ptp(mesh.vertices, axis=0).max()
    world = World()
    try:
        world.add_static(mesh)
    except HrpsimError as error:
        assert "has no area" in str(error) and not by_file
        return
    for k, shape in enumerate((Sphere(size), Box((2 * size, 2 * size, 2 * size)))):
        place = 0.5 * (low + high) + [4.0 * size * k, 0.0, 0.0]
        world.add_body(shape, 1.0, (place[0], place[1], high[2] + 0.8 * size))
    world.step(10)
    assert all(np.isfinite(body.position).all() for body in world.bodies.values())
    world = World()
    world.add_ground()
    with contextlib.suppress(HrpsimError):
        world.add_body(mesh, 1.0, (0.0, 0.0, -low[2]))
        world.step(10)


def test_a_triangle_without_area_is_named():
    world, mesh = World(), Mesh(np.eye(3), [(0, 1, 2), (0, 1, 1)])
    with pytest.raises(
        HrpsimError, match=r"Mesh: triangle 1 has no area.* load_mesh, which removes"
    ):
        world.add_static(mesh)
