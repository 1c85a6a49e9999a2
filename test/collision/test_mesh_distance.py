# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The distance of meshes is coal's, whatever they are, and 0 as soon as they overlap."""

import numpy as np
import pytest
from collision.posed import Posed, meet, random_pairs, random_rotation
from collision.solids import L_OUTLINE, U_OUTLINE, ball_mesh, box_mesh, grid_mesh, prism_mesh
from grouped import one_compiles

from hrpsim import Box, Capsule, Cylinder, Mesh, Plane, Sphere
from hrpsim.engine.collision.distance import distance
from hrpsim.engine.collision.mesh.solid_pair import SOLID_PAIR
from hrpsim.engine.collision.records import MANIFOLD
from hrpsim.engine.collision.solids.collision_proxies import solids_of

pytestmark = one_compiles("meshes")

coal = pytest.importorskip("coal")

MESHES = {
    "box": box_mesh((0.3, 0.2, 0.1)),
    "ball": ball_mesh(0.15),
    "L": prism_mesh(L_OUTLINE, 0.05),
    "U": prism_mesh(U_OUTLINE, 0.04),
}
OTHERS = {
    "sphere": Sphere(0.07),
    "capsule": Capsule(0.04, 0.2),
    "solid box": Box((0.1, 0.3, 0.2)),
    "floor": grid_mesh(12, 0.6),
}


def apart(a: Posed, b: Posed, at_most=10.0):
    pool, numbers = solids_of([a.shape, b.shape])
    solid_pair = np.zeros(1, SOLID_PAIR)
    return distance(
        pool, a.shape.kind, np.array(a.shape.size), numbers[0], np.array(a.R), np.array(a.p, float),
        b.shape.kind, np.array(b.shape.size), numbers[1], np.array(b.R), np.array(b.p, float),
        float(at_most), np.zeros(1, MANIFOLD), solid_pair,
    )  # fmt: skip


def coal_model(shape):
    if isinstance(shape, Mesh):
        model = coal.BVHModelOBBRSS()
        model.beginModel(len(shape.triangles), len(shape.vertices))
        points = coal.StdVec_Vec3s()
        for v in shape.vertices:
            points.append(v)
        triangles = coal.StdVec_Triangle()
        for t in shape.triangles:
            triangles.append(coal.Triangle(*map(int, t)))
        model.addSubModel(points, triangles)
        model.endModel()
        return model
    if isinstance(shape, Sphere):
        return coal.Sphere(shape.radius)
    if isinstance(shape, Capsule):
        return coal.Capsule(shape.radius, shape.length)
    return coal.Box(*shape.lengths)


def coal_distance(a, b, models):
    request, result = coal.DistanceRequest(), coal.DistanceResult()
    request.gjk_tolerance = 1e-10
    request.gjk_max_iterations = 1000
    return coal.distance(
        models[0], coal.Transform3s(a.R, np.asarray(a.p)),
        models[1], coal.Transform3s(b.R, np.asarray(b.p)), request, result,
    )  # fmt: skip


def beside_coal(first, second, seed):
    """Yield 60 random placements of two shapes, and the distance that coal finds."""
    rng = np.random.default_rng(seed)
    models = coal_model(first), coal_model(second)
    for _ in range(60):
        a = Posed(first, random_rotation(rng), rng.uniform(-0.3, 0.3, 3))
        b = Posed(second, random_rotation(rng), rng.uniform(-0.1, 0.1, 3))
        yield a, b, coal_distance(a, b, models)


@pytest.mark.quick_cases("floor-*", "box-*", "solid box-box")
@pytest.mark.parametrize("first", MESHES)
@pytest.mark.parametrize("second", [*MESHES, *OTHERS])
def test_meshes_are_as_far_apart_as_coal_finds(first, second):
    tolerance = 1e-9 if second in MESHES else 1e-7  # coal iterates with a primitive
    seen = 0
    for a, b, expected in beside_coal(MESHES[first], (MESHES | OTHERS)[second], seed=1):
        found = apart(a, b)
        if expected > 1e-6 and not is_within(a, b):
            seen += 1
            assert found == pytest.approx(expected, abs=tolerance)
            assert apart(b, a) == pytest.approx(expected, abs=tolerance)
            assert apart(a, b, 0.5 * expected) == 0.5 * expected
        elif expected < -1e-9:
            assert found == 0.0
    assert seen > 15


def is_within(a, b):
    """Return whether one may hold the other: coal sees their surfaces only."""
    return apart(a, b) == 0.0 and np.linalg.norm(np.subtract(a.p, b.p)) < 0.15


def test_one_solid_within_another_overlaps_it():
    for small in (box_mesh((0.1, 0.1, 0.1)), Sphere(0.05), Capsule(0.02, 0.1)):
        for big in (box_mesh((1.0, 1.0, 1.0)), ball_mesh(1.0)):
            assert apart(Posed(small, np.eye(3), (0.1, 0.2, 0.1)), Posed(big)) == 0.0
            assert apart(Posed(big), Posed(small, np.eye(3), (0.1, 0.2, 0.1))) == 0.0


def test_a_ball_in_the_bay_of_a_u_is_outside():
    u = Posed(prism_mesh(U_OUTLINE, 0.04))
    assert apart(Posed(Sphere(0.02), np.eye(3), (0.0, 0.05, 0.0)), u) == pytest.approx(0.03)


def test_a_mesh_over_a_plane_has_the_height_of_its_lowest_vertex():
    rng = np.random.default_rng(2)
    for mesh in MESHES.values():
        R, p = random_rotation(rng), np.array([0.1, 0.2, 0.5])
        lowest = (mesh.vertices @ R.T + p)[:, 2].min()
        assert apart(Posed(mesh, R, p), Posed(Plane())) == pytest.approx(lowest, abs=1e-12)
        assert apart(Posed(Plane()), Posed(mesh, R, p)) == pytest.approx(lowest, abs=1e-12)


def test_a_cylinder_is_off_by_no_more_than_its_prism():
    rng = np.random.default_rng(3)
    cylinder, box = Cylinder(0.1, 0.3), Box((0.2, 0.3, 0.1))
    for _ in range(50):
        a = Posed(cylinder, random_rotation(rng), rng.uniform(-0.4, 0.4, 3))
        b = Posed(box, random_rotation(rng))
        exact = meet(a, b, margin=2.0).nearest[0]
        if exact > 0.0:
            found = apart(a, Posed(box_mesh(box.lengths), b.R))
            assert found == pytest.approx(exact, abs=6.1e-4 * cylinder.radius)


@pytest.mark.parametrize("pair", ["box-box", "capsule-box", "sphere-sphere", "cylinder-box"])
def test_primitives_have_the_gap_of_their_contacts(pair):
    for a, b in random_pairs(pair, seed=4, count=50):
        assert apart(a, b) == pytest.approx(max(meet(a, b, margin=10.0).nearest[0], 0.0))
