# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Contacts of meshes: those of the boxes that they are, or what coal finds; named steadily."""

import numpy as np
import pytest
from collision.posed import (
    Posed,
    check_features_stay,
    meet,
    random_pair,
    random_rotation,
    separation,
    turn,
)
from collision.solids import (
    L_OUTLINE,
    U_OUTLINE,
    as_mesh,
    ball_mesh,
    box_mesh,
    grid_mesh,
    meet_solids,
    prism_mesh,
)
from collision.test_mesh_distance import apart, beside_coal, is_within
from grouped import one_compiles
from hypothesis import given, settings
from hypothesis import strategies as st

from hrpsim import Box, Capsule, Plane, Sphere

pytestmark = one_compiles("meshes")

CUBE = Box((0.2, 0.2, 0.2))
SLAB = Box((1.0, 1.0, 0.2))

# Two boxes; a is moved along its contact normal until it overlaps by a hair.
RESTING = {
    "on a slab": (Posed(CUBE, turn((0, 0, 1), 0.4), (0, 0, 0.2 - 1e-7)), Posed(SLAB)),
    "on an equal cube": (Posed(CUBE, np.eye(3), (0, 0, 0.2 - 1e-7)), Posed(CUBE)),
    "pressed on an equal cube": (Posed(CUBE, np.eye(3), (0, 0, 0.2 - 1e-4)), Posed(CUBE)),
    "pressed over a ledge": (Posed(CUBE, np.eye(3), (0.55, 0.03, 0.2 - 1e-4)), Posed(SLAB)),
    "on a cube, turned": (Posed(CUBE, turn((0, 0, 1), 0.7), (0, 0, 0.2 - 1e-7)), Posed(CUBE)),
    "over a ledge": (Posed(CUBE, np.eye(3), (0.55, 0.03, 0.2 - 1e-7)), Posed(SLAB)),
    "over a ledge, turned": (
        Posed(CUBE, turn((0, 0, 1), 0.3), (0.55, 0, 0.2 - 1e-7)), Posed(SLAB),
    ),
    "over a corner": (Posed(CUBE, turn((0, 0, 1), 0.3), (0.5, 0.5, 0.2 - 1e-7)), Posed(SLAB)),
    "tilted on an edge": (
        Posed(CUBE, turn((1, 0, 0), np.pi / 4), (0, 0, 0.1 + np.sqrt(0.02) - 1e-7)), Posed(SLAB),
    ),
    "edge across edge": (
        Posed(CUBE, turn((1, 0, 0), np.pi / 4), (0, 0, 2 * np.sqrt(0.02) - 1e-7)),
        Posed(CUBE, turn((0, 1, 0), np.pi / 4)),
    ),
}  # fmt: skip


def on_meshes(a, b, margin=1e-3):
    return meet_solids(Posed(as_mesh(a.shape), a.R, a.p), Posed(as_mesh(b.shape), b.R, b.p), margin)


@pytest.mark.parametrize("case", RESTING)
def test_boxes_as_meshes_touch_where_the_boxes_do(case):
    """Each point of the closed form is there, with its gap and normal, and no point beside them."""
    a, b = RESTING[case]
    boxes, meshes = meet(a, b, margin=1e-3), on_meshes(a, b)
    assert meshes.count == boxes.count
    for point, normal, gap in zip(boxes.points, boxes.normals, boxes.gaps):
        k = np.argmin(np.linalg.norm(meshes.points - point, axis=1))
        assert meshes.points[k] == pytest.approx(point, abs=2e-5)
        assert meshes.normals[k] == pytest.approx(normal, abs=1e-9)
        assert meshes.gaps[k] == pytest.approx(gap, abs=1e-12)


def test_boxes_apart_have_the_gap_and_normal_of_the_closed_form():
    rng = np.random.default_rng(1)
    for _ in range(300):
        a, b = random_pair(rng, "box-box")
        gap, normal, _ = meet(a, b, margin=2.0).nearest
        if gap > 0.0:
            found, n, _ = on_meshes(a, b, 2.0).nearest
            assert found == pytest.approx(gap, abs=1e-9)
            assert n == pytest.approx(normal, abs=2e-2)  # edges almost parallel leave it open
            assert separation(a, b, n) == pytest.approx(gap, abs=1e-9)


def test_shallow_overlap_is_as_deep_as_the_closed_form_finds():
    """A vertex that came through a face, or an edge across another: what boxes meet with."""
    rng = np.random.default_rng(2)
    agreed = seen = 0
    for _ in range(300):
        a, b = random_pair(rng, "box-box")
        gap, n, _ = meet(a, b, margin=2.0).nearest
        depth = rng.uniform(1e-6, 1e-4)
        a = Posed(a.shape, a.R, np.asarray(a.p) - (gap + depth) * n)
        expected, normal, _ = meet(a, b).nearest
        m = on_meshes(a, b)
        assert m.count > 0
        assert m.gaps.min() > -1.5 * depth - 1e-12
        if normal @ n > 1.0 - 1e-9:  # not a corner that met a corner
            seen += 1
            agreed += m.gaps.min() == pytest.approx(expected, rel=1e-3, abs=1e-12)
    assert seen > 100
    assert agreed == seen


MESHES = {
    "ball": ball_mesh(0.15),
    "L": prism_mesh(L_OUTLINE, 0.05),
    "U": prism_mesh(U_OUTLINE, 0.04),
}
OTHERS = {"sphere": Sphere(0.07), "capsule": Capsule(0.04, 0.2), "box": Box((0.1, 0.3, 0.2))}


@pytest.mark.quick_cases("sphere-*", "capsule-L", "box-U", "*U-ball")
@pytest.mark.parametrize("first", MESHES)
@pytest.mark.parametrize("second", [*MESHES, *OTHERS])
def test_apart_the_nearest_contact_has_the_distance_that_coal_finds(first, second):
    seen = 0
    for a, b, expected in beside_coal(MESHES[first], (MESHES | OTHERS)[second], seed=3):
        if expected > 1e-6 and not is_within(a, b):
            seen += 1
            found = meet_solids(a, b, margin=expected + 1e-3)
            # The 32 that are kept hold the nearest.
            assert found.gaps.min() == pytest.approx(expected, abs=1e-7)
    assert seen > 15


@pytest.mark.parametrize("shape", [Sphere(0.05), Capsule(0.04, 0.1)])
def test_round_shapes_press_into_a_mesh_as_into_the_box(shape):
    rng = np.random.default_rng(4)
    slab = box_mesh(SLAB.lengths)
    for _ in range(100):
        a = Posed(shape, random_rotation(rng), rng.uniform(-0.6, 0.6, 3))
        gap, n, _ = meet(a, Posed(SLAB), margin=2.0).nearest
        a = Posed(shape, a.R, np.asarray(a.p) - (gap + 1e-4) * n)
        expected, normal, _ = meet(a, Posed(SLAB)).nearest
        found = meet_solids(a, Posed(slab))
        k = np.argmin(found.gaps)
        assert found.gaps[k] == pytest.approx(expected, abs=1e-9)
        assert found.normals[k] == pytest.approx(normal, abs=1e-6)


@pytest.mark.quick_cases("*-0.3")
@pytest.mark.parametrize("yaw", [0.0, 0.3, 1.1])
@pytest.mark.parametrize("shape", [Box((0.4, 0.3, 0.1)), box_mesh((0.4, 0.3, 0.1))])
def test_a_box_on_ten_thousand_coplanar_triangles_touches_with_its_corners_only(yaw, shape):
    floor = Posed(grid_mesh(71, 4.0))
    rng = np.random.default_rng(5)
    for _ in range(5):
        p = [*rng.uniform(-1, 1, 2), 0.05 - 1e-6]
        m = meet_solids(Posed(shape, turn((0, 0, 1), yaw), p), floor)
        assert m.count == 4
        assert len(set(m.features)) == 4
        assert (m.normals == [0.0, 0.0, 1.0]).all()
        assert m.gaps == pytest.approx(-1e-6, abs=1e-15)


def test_a_ball_on_a_mesh_floor_has_one_contact_wherever_it_is():
    floor = Posed(grid_mesh(10, 1.0))
    for x in np.linspace(-0.3, 0.3, 61):  # over triangles, edges and vertices
        m = meet_solids(Posed(Sphere(0.05), np.eye(3), (x, x / 3, 0.05 - 1e-7)), floor)
        assert m.count == 1
        assert (m.normals == [[0.0, 0.0, 1.0]]).all()


def test_the_corner_of_a_room_holds_a_vertex_by_both_walls():
    """The wall goes on beneath the floor: a vertex inside both has both contacts."""
    room = prism_mesh([(0, 1), (-0.1, 1), (-0.1, -0.1), (1, -0.1), (1, 0), (0, 0)], 1.0)
    for depth in (-1e-4, 1e-7, 1e-4):
        box = Posed(CUBE, np.eye(3), (0.1 - depth, 0.1 - depth, 0.3))
        m = meet_solids(box, Posed(room), margin=1e-3)
        assert {tuple(n.round(9) + 0.0) for n in m.normals} == {(1, 0, 0), (0, 1, 0)}
        assert m.count == 8
        assert m.gaps == pytest.approx(-depth, abs=1e-12)


def test_a_vertex_in_a_thin_plate_leaves_it_on_one_side():
    plate = Posed(box_mesh((1.0, 1.0, 0.005)))
    spike = prism_mesh([(0, 0), (0.01, 0.2), (-0.01, 0.2)], 0.01)  # an edge downward
    for height in np.linspace(-0.0024, 0.002, 23):
        tip = Posed(spike, turn((1, 0, 0), np.pi / 2), (0.1, 0.05, height + 0.0025))
        m = meet_solids(tip, plate, margin=2.5e-3)
        assert m.count == 2
        assert (m.normals[:, 2] == 1.0).all()
        assert m.gaps == pytest.approx(height, abs=1e-9)


@pytest.mark.quick_cases(
    "on a slab", "over a ledge, turned", "pressed on an equal cube", "edge across edge"
)
@pytest.mark.parametrize("case", RESTING)
def test_a_mesh_that_jitters_keeps_its_features_and_points(case):
    check_features_stay(on_meshes, *RESTING[case], motion=1e-8, rounds=50)


def test_a_ball_with_many_vertices_near_the_floor_keeps_few_of_them_the_deepest_among_them():
    ball = ball_mesh(0.1, 4)
    rng = np.random.default_rng(7)
    for _ in range(20):
        R = random_rotation(rng)
        z = (ball.vertices @ R.T)[:, 2]
        a = Posed(ball, R, (0, 0, 1e-5 - z.min()))
        for floor in (Plane(), box_mesh((1, 1, 1))):
            b = Posed(floor, np.eye(3), (0, 0, 0 if isinstance(floor, Plane) else -0.5))
            m = meet_solids(a, b, margin=5e-3)
            assert 3 <= m.count <= 8
            assert len(set(m.features)) == m.count
            assert m.gaps.min() == pytest.approx(1e-5, abs=2e-8)


def test_a_cylinder_stands_on_few_points_that_span_its_cap():
    from hrpsim import Cylinder

    m = meet_solids(Posed(Cylinder(0.1, 0.2), np.eye(3), (0, 0, 0.2)), Posed(box_mesh((1, 1, 0.2))))
    assert m.count <= 8
    angles = np.sort(np.arctan2(m.points[:, 1], m.points[:, 0]))
    assert np.diff([*angles, angles[0] + 2 * np.pi]).max() < 1.1
    assert np.linalg.norm(m.points[:, :2], axis=1) == pytest.approx(0.1, abs=1e-4)


def test_what_flies_past_an_edge_is_not_held_by_it():
    """Over a step, whose side is ahead but lower: nothing is in the way; against it: a wall is."""
    step = Posed(box_mesh((1.0, 1.0, 1.0)), np.eye(3), (0.5, 0.0, -0.5))
    for yaw in (0.0, 0.5):
        box = box_mesh((0.2, 0.2, 0.2))
        for height, hits in ((0.004, False), (-0.02, True)):
            a = Posed(box, turn((0, 0, 1), yaw), (-0.2, 0.03, 0.1 + height))
            m = meet_solids(a, step, margin=2e-3, drift=(10.0, 0.0, 0.0), time_step=0.02)
            closing = m.normals @ [-10.0, 0.0, 0.0] * 0.02 > m.gaps
            assert closing.any() == hits


def random_solid(rng):
    kind = rng.integers(4)
    if kind == 0:
        return box_mesh(rng.uniform(0.05, 0.3, 3))
    return list(MESHES.values())[kind - 1]


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=60)
def test_who_is_first_and_where_the_origin_is_make_no_difference(seed):
    rng = np.random.default_rng(seed)
    a = Posed(random_solid(rng), random_rotation(rng), rng.uniform(-0.2, 0.2, 3))
    b = Posed(random_solid(rng), random_rotation(rng), rng.uniform(-0.05, 0.05, 3))
    at = apart(a, b)
    m = meet_solids(a, b, margin=at + 1e-3)
    swapped = meet_solids(b, a, margin=at + 1e-3)
    assert (swapped.count == 0) == (m.count == 0)
    if at > 1e-6:
        assert swapped.gaps.min() == pytest.approx(m.gaps.min(), abs=1e-9)
        assert swapped.nearest[1] == pytest.approx(-m.nearest[1], abs=1e-4)
        R, p = random_rotation(rng), rng.uniform(-100.0, 100.0, 3)
        moved = [Posed(x.shape, R @ x.R, R @ x.p + p) for x in (a, b)]
        far = meet_solids(*moved, margin=at + 1e-3)
        assert far.gaps.min() == pytest.approx(m.gaps.min(), abs=1e-9)
        assert far.nearest[1] == pytest.approx(R @ m.nearest[1], abs=1e-4)
    assert len(set(m.features)) == m.count


@pytest.mark.parametrize("yaw", [0.0, 0.2])
@pytest.mark.parametrize("slope", [3e-3, 1e-2])
def test_an_edge_that_ends_on_a_face_and_dips_meets_the_rim_where_it_leaves(slope, yaw):
    """One end touches the slab, the edge comes out over its rim: there it is deepest."""
    bar = Box((0.4, 0.1, 0.1))
    R = turn((0, 0, 1), yaw) @ turn((0, 1, 0), slope) @ turn((1, 0, 0), np.pi / 4)
    end = R @ (-0.2, -0.05, -0.05)
    a, b = Posed(bar, R, np.array([0.4, 0.03, 0.1]) - end), Posed(SLAB)
    expected = meet(a, b, margin=1e-3).gaps.min()
    assert expected < -2e-4
    assert on_meshes(a, b).gaps.min() == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("part", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("opening", [0.3, 1.0, 2.0])
def test_sharp_edges_that_cross_aslant_are_as_deep_as_their_lines(opening, part):
    """Half way between the lines is outside of a blade that leans, though it is cut into."""
    slant = part * (1.5 - opening / 2)
    w = 0.05 * np.tan(opening / 2)
    blade = prism_mesh([(0.0, 0.0), (w, 0.05), (-w, 0.05)], 0.1)
    R = turn((0, 0, 1), slant)
    for depth in (1e-5, 1e-4, 4e-4):
        a = Posed(blade, turn((0, 1, 0), 1.2) @ R, (0.01, -depth, 0.02))
        m = meet_solids(a, Posed(blade, turn((1, 0, 0), np.pi) @ R), margin=1e-3)
        assert m.count == 1
        assert m.gaps == pytest.approx(-depth, abs=1e-12)
        assert m.normals[0] == pytest.approx([0, 1, 0], abs=1e-9)


@pytest.mark.parametrize("depth", [3e-3, 1e-2, 3e-2])
def test_edges_that_cross_far_deeper_than_the_margin_find_each_other(depth):
    """What was pushed in so far comes out again: the closed form's gap and normal."""
    R = turn((0, 0, 1), 0.1) @ turn((1, 0, 0), np.pi / 4)
    a = Posed(CUBE, R, (0.01, 0.02, 2 * np.sqrt(0.02) - depth))
    b = Posed(CUBE, turn((0, 1, 0), np.pi / 4))
    gap, normal, _ = meet(a, b, margin=1e-3).nearest
    assert gap == pytest.approx(-depth, abs=1e-9)
    found = on_meshes(a, b).nearest
    assert found[0] == pytest.approx(gap, abs=1e-9)
    assert found[1] == pytest.approx(normal, abs=1e-9)
