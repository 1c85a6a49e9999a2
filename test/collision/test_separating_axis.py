# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The axis of two convex solids: it limits where contacts are searched for, not which there are.

The truth is the search without an axis, which takes the solids for ones that are not convex.
"""

import itertools

import numpy as np
import pytest
from collision.posed import Posed, random_rotation
from collision.solids import are_of_wholes, ball_mesh, box_mesh, meet_solids
from collision.test_deep_overlap import random_hull
from scipy.spatial import ConvexHull
from scipy.spatial.transform import Rotation

from hrpsim import Capsule, Cylinder, Mesh, Plane, Sphere
from hrpsim.engine.collision.mesh.solid_pair import SEPARATION
from hrpsim.engine.collision.solids.collision_proxies import solids_of

MARGIN = 2e-3


def near_pairs(seed: int, count: int, make):
    """Yield so many pairs of shapes that are from 1 mm deep in each other to 4 mm apart."""
    rng = np.random.default_rng(seed)
    while count > 0:
        first, second = make(rng), make(rng)
        a, b = Posed(first, random_rotation(rng)), Posed(second, random_rotation(rng))
        way = rng.normal(size=3)
        way /= np.linalg.norm(way)
        low, high = 0.0, 1.0
        for _ in range(50):  # bisect for the distance at which they touch
            middle = 0.5 * (low + high)
            found = meet_solids(a._replace(p=tuple(middle * way)), b, margin=1e-3, as_convex=False)
            low, high = (middle, high) if found.count else (low, middle)
        place = (low - 1e-3 + rng.uniform(-1e-3, 3e-3)) * way
        yield a._replace(p=tuple(place)), b, rng
        count -= 1


def named(manifold):
    """Return the contacts by their names: gap, normal and point."""
    return {
        int(name): np.concatenate([[gap], n, p])
        for name, gap, n, p in zip(
            manifold.features, manifold.gaps, manifold.normals, manifold.points, strict=True
        )
    }


def box(rng):
    return box_mesh(tuple(rng.uniform(0.05, 0.2, 3)))


@pytest.mark.parametrize("make", [random_hull, box])
@pytest.mark.parametrize("speed", [0.0, 1.0])
def test_solids_with_few_faces_have_the_contacts_of_a_search_without_axis(make, speed):
    """Law: names, gaps, normals and points are the same, bit for bit."""
    compared = 0
    for a, b, rng in near_pairs(3, 60, make):
        drift = tuple(speed * rng.normal(size=3))
        truth = named(meet_solids(a, b, MARGIN, drift, as_convex=False))
        found = named(meet_solids(a, b, MARGIN, drift))
        if are_of_wholes(found):  # the features miss how deep they are
            continue
        compared += bool(truth)
        # what approaches too slowly along the axis to come near may be left out
        kept = {name: c for name, c in truth.items() if name in found or c[0] <= MARGIN}
        assert found.keys() == kept.keys()
        assert all((found[name] == kept[name]).all() for name in found)
    assert compared > 20


def test_dense_solids_have_the_deepest_contact_and_no_other_ones():
    """Law: of smooth hulls the deepest contact is that of the whole search, as are its partners."""
    ball, compared = ball_mesh(0.1, 3), 0
    for a, b, _ in near_pairs(5, 30, lambda rng: ball):
        truth, found = meet_solids(a, b, MARGIN, as_convex=False), meet_solids(a, b, MARGIN)
        if are_of_wholes(found.features):
            continue
        if truth.count == 0:
            assert found.count == 0
            continue
        compared += 1
        assert found.nearest[0] == pytest.approx(truth.nearest[0], abs=1e-8)
        assert (found.gaps >= truth.nearest[0]).all()
    assert compared > 10


@pytest.mark.parametrize("make", [random_hull, lambda rng: ball_mesh(0.1, 3)])
def test_a_kept_axis_changes_nothing(make):
    """Law: along a path past each other the contacts are those of a search without memory."""
    touched = 0
    for a, b, rng in near_pairs(7, 10, make):
        separation, way = np.zeros(1, SEPARATION), 2e-3 * rng.normal(size=3)
        for k in range(-20, 21):
            moved = a._replace(p=tuple(np.add(a.p, k * way)))
            fresh = named(meet_solids(moved, b, MARGIN))
            kept = named(meet_solids(moved, b, MARGIN, separation=separation))
            if are_of_wholes(fresh.keys() | kept.keys()):
                separation["known"] = 0
                continue
            touched += bool(fresh)
            assert list(fresh) == list(kept)
            assert all((fresh[name] == kept[name]).all() for name in fresh)
    assert touched > 20


def pebble(rng):
    """A hull of 100 to 300 points, dense and of three different widths."""
    points = rng.normal(size=(rng.integers(100, 300), 3))
    points *= rng.uniform(0.04, 0.1, 3) / np.linalg.norm(points, axis=1)[:, None]
    hull = ConvexHull(points)
    flip = np.einsum("ij,ij->i", hull.equations[:, :3], triangle_normals(points, hull.simplices))
    return Mesh(points, np.where(flip[:, None] > 0.0, hull.simplices, hull.simplices[:, ::-1]))


def least_under(slope, m, n, origin):
    """Return the least gap of contacts after a tilt by a slope (3,) across the normal n."""
    return (m.gaps + (m.points - origin) @ (slope - (slope @ n) * n)).min()


def test_dense_solids_keep_what_a_small_turn_brings_down():
    """Law: under slopes up to 0.05 no contact of the whole search is lower than those found.

    But for a quarter of what the slope moves the ends, as with every choice of contacts. The axis
    and the place of the deepest contact are kept along a path.
    """
    compared = 0
    for a, b, rng in near_pairs(11, 12, pebble):
        separation, way = np.zeros(1, SEPARATION), 2e-4 * rng.normal(size=3)
        for k in range(-5, 6):
            moved = a._replace(p=tuple(np.add(a.p, k * way)))
            truth = meet_solids(moved, b, MARGIN, as_convex=False)
            found = meet_solids(moved, b, MARGIN, separation=separation)
            if truth.count == 0 or are_of_wholes({*truth.features, *found.features}):
                continue
            _, n, origin = truth.nearest
            extent = np.linalg.norm(truth.points - origin, axis=1).max()
            alike = truth.normals @ n > 0.95
            truth = truth._replace(points=truth.points[alike], gaps=truth.gaps[alike])
            for slope in 10.0 ** rng.uniform(-4, np.log10(0.05), 10):
                t = rng.normal(size=3)
                t *= slope / np.linalg.norm(t)
                lower = least_under(t, found, n, origin) - least_under(t, truth, n, origin)
                assert lower < 1e-6 + 0.25 * slope * extent
            compared += 1
    assert compared > 60


def test_a_cylinder_beside_a_hull_has_the_contacts_of_a_search_without_axis():
    """Law: the axis shows that there are no contacts, or changes nothing, bit for bit."""
    kinds = itertools.cycle(
        [random_hull, lambda rng: Cylinder(rng.uniform(0.02, 0.1), rng.uniform(0.02, 0.2))]
    )
    touched = 0
    for a, b, rng in near_pairs(13, 60, lambda rng: next(kinds)(rng)):
        separation, way = np.zeros(1, SEPARATION), 1e-3 * rng.normal(size=3)
        for k in range(-3, 4):
            moved = a._replace(p=tuple(np.add(a.p, k * way)))
            truth = named(meet_solids(moved, b, MARGIN, as_convex=False))
            found = named(meet_solids(moved, b, MARGIN, separation=separation))
            if are_of_wholes(found):  # the features miss how deep they are
                continue
            touched += bool(truth)
            assert found.keys() == truth.keys()
            assert all((found[name] == truth[name]).all() for name in found)
    assert touched > 100


@pytest.mark.parametrize("partner", [Sphere(0.03), Capsule(0.02, 0.1)])
def test_a_round_shape_on_a_dense_hull_has_the_contacts_of_a_search_without_axis(partner):
    """Law: along a path of small turns and displacements, bit for bit."""
    kinds, touched = itertools.cycle([pebble, lambda rng: partner]), 0
    for a, b, rng in near_pairs(19, 20, lambda rng: next(kinds)(rng)):
        separation = np.zeros(1, SEPARATION)
        way, spin = 2e-4 * rng.normal(size=3), rng.normal(size=3)
        for k in range(20):
            R = Rotation.from_rotvec(0.01 * k * spin).as_matrix() @ a.R
            moved = a._replace(R=R, p=tuple(np.add(a.p, k * way)))
            truth = named(meet_solids(moved, b, MARGIN, as_convex=False))
            found = named(meet_solids(moved, b, MARGIN, separation=separation))
            if are_of_wholes(found):  # the features miss how deep they are
                separation["known"] = separation["clear"] = 0
                continue
            touched += bool(truth)
            assert found.keys() == truth.keys()
            assert all((found[name] == truth[name]).all() for name in found)
    assert touched > 100


def test_hulls_that_turn_after_they_were_apart_have_the_contacts_of_a_search_without_memory():
    """Law: hulls that are only displaced by less than their distance are the ones left out."""
    skipped = touched = 0
    for a, b, rng in near_pairs(23, 12, pebble):
        separation, spin = np.zeros(1, SEPARATION), rng.normal(size=3)
        away = np.asarray(a.p) / np.linalg.norm(a.p)
        for k in range(40):
            R = Rotation.from_rotvec(0.02 * k * spin).as_matrix() @ a.R
            moved = a._replace(R=R, p=tuple(a.p + 2e-3 * (1.0 - np.cos(0.3 * k)) * away))
            fresh = named(meet_solids(moved, b, MARGIN))
            before = separation["clear_R"].copy()
            kept = named(meet_solids(moved, b, MARGIN, separation=separation))
            skipped += separation["clear"][0] > 0.0 and (separation["clear_R"] == before).all()
            if are_of_wholes(fresh.keys() | kept.keys()):
                separation["known"] = separation["clear"] = 0
                continue
            touched += bool(fresh)
            assert list(fresh) == list(kept)
            assert all((fresh[name] == kept[name]).all() for name in fresh)
    assert skipped > 20
    assert touched > 50


def test_a_hull_over_a_plane_has_the_contacts_of_a_search_without_its_lowest_vertex():
    """Law: a hull that turns and sinks onto a plane has all its contacts, bit for bit."""
    rng, plane, touched = np.random.default_rng(17), Posed(Plane()), 0
    for _ in range(20):
        hull, separation = pebble(rng), np.zeros(1, SEPARATION)
        for height in np.linspace(0.12, 0.02, 20):
            a = Posed(hull, random_rotation(rng), (0.0, 0.0, height))
            truth = named(meet_solids(a, plane, MARGIN, as_convex=False))
            found = named(meet_solids(a, plane, MARGIN, separation=separation))
            touched += bool(truth)
            assert found.keys() == truth.keys()
            assert all((found[name] == truth[name]).all() for name in found)
    assert 100 < touched < 390


def prism(sides: int, radius: float, height: float) -> Mesh:
    """A prism over a regular polygon, about the z axis."""
    angle = 2.0 * np.pi * np.arange(sides) / sides
    ring = radius * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    corners = np.concatenate([np.c_[ring, np.full(sides, z)] for z in (-height / 2, height / 2)])
    hull = ConvexHull(corners)
    flip = np.einsum("ij,ij->i", hull.equations[:, :3], triangle_normals(corners, hull.simplices))
    return Mesh(corners, np.where(flip[:, None] > 0.0, hull.simplices, hull.simplices[:, ::-1]))


def triangle_normals(corners, triangles):
    a, b, c = corners[triangles].transpose(1, 0, 2)
    return np.cross(b - a, c - a)


def test_more_features_than_the_lists_hold_have_the_same_contacts():
    """Two prisms of 400 sides lie on each other: the 400 corners of one rest on the other."""
    below = Posed(prism(400, 0.2, 0.1))
    above = Posed(prism(400, 0.1, 0.1), p=(0.01, 0.0, 0.1))
    truth = named(meet_solids(above, below, MARGIN, as_convex=False))
    found = named(meet_solids(above, below, MARGIN))
    assert len(truth) >= 6
    assert found.keys() == truth.keys()
    assert all((found[name] == truth[name]).all() for name in found)


def test_a_hull_whose_sliver_is_dented_by_rounding_is_convex():
    """A box whose side has a corner 0.2 nm beneath it, 1e-7 m beside an edge: slopes of 2e-3."""
    box = box_mesh((0.1, 0.1, 0.1))
    v, t = np.array(box.vertices), np.array(box.triangles)
    a, b = v[t[0, :2]]
    normal = triangle_normals(v, t[:1])[0]
    normal /= np.linalg.norm(normal)
    across = np.cross(normal, (b - a) / np.linalg.norm(b - a))
    v = np.concatenate([v, [(a + b) / 2 + 1e-7 * across - 2e-10 * normal]])
    i, j, k = t[0]
    new = len(v) - 1
    dented = Mesh(v, np.concatenate([t[1:], [(i, j, new), (j, k, new), (k, i, new)]]))
    assert dented.is_convex
    pool, (solid,) = solids_of([dented])
    assert pool.solids[solid]["is_convex"]
    resting = Posed(dented, p=(0.0, 0.0, 0.1))
    assert meet_solids(resting, Posed(box_mesh((1.0, 1.0, 0.1))), MARGIN).count == 4


def test_a_gap_that_closes_within_the_step_has_contacts_and_another_one_none():
    """A bar 10 mm over a plate: at 4.5 m/s it comes within the margin in 2 ms, at 3.5 m/s not."""
    bar = Posed(box_mesh((1.0, 0.02, 0.02)), p=(0.0, 0.0, 0.03))
    plate = Posed(box_mesh((2.0, 2.0, 0.02)))
    counts = [
        meet_solids(bar, plate, MARGIN, drift=(0.0, 0.0, -speed), time_step=2e-3).count
        for speed in (4.5, 3.5)
    ]
    assert counts == [4, 0]
