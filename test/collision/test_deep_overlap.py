# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Convex solids that lie deep in each other have a contact along the shortest way out.

The truth is the distance of the origin from the surface of the Minkowski difference, of which scipy
(qhull) makes the convex hull from all differences of vertices, and what coal finds. For a cylinder
the hull is that of a prism, and the exact extent along a direction is minimised from there.
"""

import numpy as np
import pytest
from collision.posed import Posed, random_rotation, random_shape, turn
from collision.solids import are_of_wholes, ball_mesh, box_mesh, meet_solids
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.spatial import ConvexHull as Qhull

from hrpsim import Box, ConvexHull
from hrpsim.engine.collision.solids.collision_proxies import proxy
from hrpsim.model.shapes.geometry import BOX, CAPSULE, CYLINDER, SPHERE

PARTNERS = {"box": BOX, "sphere": SPHERE, "capsule": CAPSULE, "cylinder": CYLINDER}


def random_hull(rng, flat=1.0):
    """Return the hull of 6 to 30 points of some centimetres, `flat` times as thick as wide."""
    scale = rng.uniform(0.03, 0.12, 3) * [1.0, 1.0, flat]
    return ConvexHull(rng.normal(size=(rng.integers(6, 30), 3)) * scale)


def placed(rng, shape, reach=0.1):
    return Posed(shape, random_rotation(rng), rng.uniform(-reach, reach, 3))


def partner(rng, name):
    if name == "hull":
        return random_hull(rng)
    return random_hull(rng, 0.05) if name == "plate" else random_shape(rng, PARTNERS[name])


def core_of(posed):
    """Return the corners of a shape in the world (n, 3), and its rounding [m]."""
    solid = proxy(posed.shape)
    return solid.vertices["position"] @ posed.R.T + posed.p, float(solid.solids["rounding"][0])


def shortest_way_out(a, b):
    """Return how deep the cores are in each other (negative: apart), and all directions out."""
    (p, _), (q, _) = core_of(a), core_of(b)
    planes = Qhull((p[:, None] - q[None]).reshape(-1, 3)).equations
    return -planes[:, 3].max(), planes


def extent_along(posed, n):
    """Return the greatest n x over the points x of a shape [m]."""
    if posed.shape.kind == CYLINDER:
        cosine = posed.R[:, 2] @ n
        across = np.linalg.norm(n - cosine * posed.R[:, 2])
        radius, half = posed.shape.radius, 0.5 * posed.shape.length
        return np.asarray(posed.p) @ n + half * abs(cosine) + radius * across
    corners, rounding = core_of(posed)
    return (corners @ n).max() + rounding


def depth_along(a, b, n):
    """Return how far a must go along n to leave b [m]."""
    return extent_along(b, n) + extent_along(a, -n)


def least_depth(a, b, planes):
    """Return the least depth near those directions that are best for the polygons [m]."""
    best = planes[np.argsort(-planes[:, 3])[:8], :3]

    def depth(turn, n, u, v):
        way = n + turn[0] * u + turn[1] * v
        return depth_along(a, b, -way / np.linalg.norm(way))

    least = np.inf
    for n in best:
        u, v = np.linalg.svd(n[None])[2][1:]
        options = {"xatol": 1e-11, "fatol": 1e-15, "initial_simplex": 0.03 * np.eye(3, 2) - 0.01}
        least = min(least, minimize(depth, (0, 0), (n, u, v), "Nelder-Mead", options=options).fun)
    return least


def overlapping_pairs(name, seed, count):
    """Yield random pairs whose cores overlap by more than 0.1 mm, and how deep [m]."""
    rng = np.random.default_rng(seed)
    while count:
        a, b = placed(rng, random_hull(rng)), placed(rng, partner(rng, name))
        depth, planes = shortest_way_out(a, b)
        if depth > 1e-4:
            count -= 1
            round_side = b.shape.kind == CYLINDER
            yield a, b, least_depth(a, b, planes) if round_side else depth + core_of(b)[1]


@pytest.mark.parametrize("name", ["hull", "plate", *PARTNERS])
def test_what_overlaps_has_a_contact_as_deep_as_the_minkowski_difference_tells(name):
    """Contacts of features stay where they are as deep as the solids are along their normal."""
    whole, count = 0, 10 if name == "cylinder" else 30
    for a, b, depth in overlapping_pairs(name, seed=1, count=count):
        m = meet_solids(a, b)
        gap, n, point = m.nearest
        assert np.linalg.norm(n) == pytest.approx(1.0, abs=1e-12)
        assert -gap < depth_along(a, b, n) * 1.1 + 1e-3
        if not are_of_wholes(m.features):
            assert gap < 0.0
            continue
        whole += 1
        assert m.count == 1
        assert -gap == pytest.approx(depth, rel=2e-6)
        assert depth_along(a, b, n) == pytest.approx(-gap, rel=1e-9)
        middle = 0.5 * (extent_along(b, n) - extent_along(a, -n))
        assert point @ n == pytest.approx(middle, abs=1e-9)
    if name not in ("sphere", "capsule"):
        assert whole > count // 3


def test_hulls_are_as_deep_in_each_other_as_coal_finds():
    coal = pytest.importorskip("coal")

    def model(shape):
        points = coal.StdVec_Vec3s()
        for vertex in shape.vertices:
            points.append(vertex)
        made = coal.BVHModelOBBRSS()
        made.beginModel(0, len(shape.vertices))
        made.addVertices(shape.vertices)
        made.endModel()
        made.buildConvexHull(True, "Qt")
        return made.convex

    request = coal.DistanceRequest()
    request.enable_signed_distance = True
    request.gjk_tolerance = request.epa_tolerance = 1e-7
    request.gjk_max_iterations = request.epa_max_iterations = 1000
    agreed = seen = 0
    for a, b, _ in overlapping_pairs("hull", seed=2, count=100):
        m = meet_solids(a, b)
        if not are_of_wholes(m.features):
            continue
        seen += 1
        result = coal.DistanceResult()
        distance = coal.distance(
            model(a.shape), coal.Transform3s(a.R, a.p), model(b.shape), coal.Transform3s(b.R, b.p),
            request, result,
        )  # fmt: skip
        assert m.gaps[0] > distance - 1e-6  # coal's depth is never less than the least
        agreed += abs(m.gaps[0] - distance) < 1e-6 and -result.normal @ m.normals[0] > 0.999
    assert seen > 40
    assert agreed > 0.95 * seen


pairs = st.tuples(st.integers(0, 10**6), st.sampled_from(["hull", "plate", "box"]))


@settings(max_examples=15, deadline=None)
@given(pairs)
def test_swapped_solids_have_the_same_contact_with_the_normal_turned_round(pair):
    seed, name = pair
    for a, b, _ in overlapping_pairs(name, seed, 1):
        there, back = meet_solids(a, b), meet_solids(b, a)
        if are_of_wholes(there.features):
            assert are_of_wholes(back.features)
            assert back.gaps[0] == pytest.approx(there.gaps[0], rel=3e-6)
            _, planes = shortest_way_out(a, b)
            second = np.sort(-planes[:, 3])
            if second[1] > second[0] * (1.0 + 1e-4):  # one shortest way only
                assert back.normals[0] == pytest.approx(-there.normals[0], abs=1e-4)


@settings(max_examples=15, deadline=None)
@given(pairs)
def test_a_contact_moves_with_the_solids(pair):
    seed, name = pair
    rng = np.random.default_rng(seed)
    T, shift = random_rotation(rng), rng.uniform(-2.0, 2.0, 3)
    for a, b, _ in overlapping_pairs(name, seed, 1):
        here = meet_solids(a, b)
        there = meet_solids(
            Posed(a.shape, T @ a.R, T @ a.p + shift), Posed(b.shape, T @ b.R, T @ b.p + shift)
        )
        if are_of_wholes(here.features) and are_of_wholes(there.features):
            assert there.gaps[0] == pytest.approx(here.gaps[0], rel=3e-6)
            if there.normals[0] @ T @ here.normals[0] > 0.999:
                assert there.normals[0] == pytest.approx(T @ here.normals[0], abs=1e-4)


@settings(max_examples=15, deadline=None)
@given(pairs)
def test_the_depth_along_the_normal_separates_and_less_does_not(pair):
    seed, name = pair
    for a, b, _ in overlapping_pairs(name, seed, 1):
        m = meet_solids(a, b)
        if are_of_wholes(m.features):
            way = -m.gaps[0] * m.normals[0]
            left, _ = shortest_way_out(Posed(a.shape, a.R, a.p + 1.001 * way), b)
            assert left < 1e-9
            left, _ = shortest_way_out(Posed(a.shape, a.R, a.p + 0.99 * way), b)
            assert left > 0.0


@pytest.mark.parametrize("offset", [(0, 0, 0), (1e-15, 0, 0), (0.02, 0.02, 0.02), (0.05, 0, 0)])
@pytest.mark.parametrize("R", [np.eye(3), turn((1, 2, 3), 0.7), turn((0, 0, 1), np.pi / 4)])
def test_equal_cubes_at_one_place_leave_each_other_through_a_face(R, offset):
    """Where several ways are as short, one of them is taken."""
    a, b = Posed(box_mesh((0.2, 0.2, 0.2)), R, offset), Posed(box_mesh((0.2, 0.2, 0.2)))
    depth, _ = shortest_way_out(a, b)
    gap, n, _ = meet_solids(a, b).nearest
    assert -gap <= depth * (1.0 + 2e-6)
    assert depth_along(a, b, n) == pytest.approx(-gap, rel=0.11)


def test_a_small_hull_within_a_large_one_is_found():
    """By a way out through a face, which need not be the nearest one: its features know of it."""
    rng = np.random.default_rng(5)
    large = Posed(box_mesh((1.0, 0.8, 0.6)))
    for _ in range(50):
        points, place = 0.01 * rng.normal(size=(12, 3)), rng.uniform(-0.25, 0.25, 3)
        small = Posed(ConvexHull(points), np.eye(3), place)
        gap, n, _ = meet_solids(small, large).nearest
        assert abs(n).max() == pytest.approx(1.0, abs=1e-6)
        assert -gap == pytest.approx(depth_along(small, large, n), rel=0.1, abs=1e-4)


def test_round_hulls_around_one_centre_leave_by_a_way_that_is_nearly_the_shortest():
    """There are more facets as near than the polytope has room for."""
    a, b = Posed(ball_mesh(0.1, 3), turn((1, 2, 3), 0.3)), Posed(ball_mesh(0.08, 3))
    depth, _ = shortest_way_out(a, b)
    gap, n, _ = meet_solids(a, b).nearest
    assert depth * (1.0 - 1e-9) < -gap < 1.03 * depth
    assert depth_along(a, b, n) == pytest.approx(-gap, rel=1e-9)


def test_what_is_apart_has_no_contact():
    """Solids whose boxes overlap, and they do not."""
    rng = np.random.default_rng(6)
    seen = 0
    while seen < 100:
        a, b = placed(rng, random_hull(rng), 0.2), placed(rng, random_hull(rng), 0.2)
        depth, _ = shortest_way_out(a, b)
        if depth < -1e-2:
            seen += 1
            assert not (meet_solids(a, b, margin=1e-3).gaps < 0.0).any()


def test_shallow_contacts_stay_those_of_the_features():
    """A cube pressed 0.1 mm into a slab keeps its four corners."""
    cube = Posed(box_mesh((0.2, 0.2, 0.2)), np.eye(3), (0, 0, 0.2 - 1e-4))
    m = meet_solids(cube, Posed(Box((1.0, 1.0, 0.2))))
    assert m.count == 4
    assert not are_of_wholes(m.features)


def corners_of_overlap(n):
    """Return cubes of 0.2 m that leave each other along axis n, and corners of the overlap (4, 3).

    The shift is 0.08 m along the axis, and 0.03 m and 0.02 m across. The overlap is 0.12 m deep:
    more than half of a cube, up to which features have contacts.
    """
    shift = np.roll([0.08, 0.03, 0.02], n)
    corners = [np.roll([0.04, y, z], n) for y in (-0.07, 0.1) for z in (-0.08, 0.1)]
    return shift, np.array(corners)


@pytest.mark.parametrize("turned", [0.0, 1e-13])
@pytest.mark.parametrize("n", range(3))
def test_faces_deep_in_each_other_have_contacts_at_the_corners_of_their_overlap(n, turned):
    """Law: all corners are contacts, with one normal and one depth, and rounding moves none."""
    shift, corners = corners_of_overlap(n)
    R = turn((1, 2, 3), 0.7)  # of both cubes
    a = Posed(box_mesh((0.2, 0.2, 0.2)), R @ turn((3, -1, 2), turned), R @ shift)
    m = meet_solids(a, Posed(box_mesh((0.2, 0.2, 0.2)), R))
    assert are_of_wholes(m.features)
    assert len(set(m.features)) == m.count == 4
    found = m.points @ R
    distances = np.linalg.norm(found[:, None] - corners[None], axis=2)
    assert distances.min(axis=0) == pytest.approx(0.0, abs=1e-9)
    np.testing.assert_allclose(m.gaps, -0.12, atol=1e-9)
    np.testing.assert_allclose(m.normals @ R, np.tile(np.eye(3)[n], (4, 1)), atol=1e-9)


@pytest.mark.parametrize("name", ["hull", "plate", "cylinder"])
def test_contacts_of_wholes_are_between_both_surfaces(name):
    """Law: along the normal a begins below each contact, and b ends above, within the depth."""
    compared = 0
    for a, b, _ in overlapping_pairs(name, seed=4, count=20):
        m = meet_solids(a, b)
        if not are_of_wholes(m.features):
            continue
        depth = -m.gaps.min()
        for gap, n, point in zip(m.gaps, m.normals, m.points, strict=True):
            compared += 1
            assert gap <= 0.0
            np.testing.assert_allclose(n, m.normals[0], atol=1e-12)
            below, above = -extent_along(a, -n) - point @ n, extent_along(b, n) - point @ n
            assert below <= 0.5 * gap + 1e-9
            assert above >= -0.5 * gap - 1e-9
            assert above - below == pytest.approx(depth, rel=1e-6)
    assert compared > 5
