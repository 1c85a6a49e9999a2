# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Shapes that lie on faces have full support polygons, level and tilted by a microradian."""

import numpy as np
import pytest
from collision.posed import Posed, meet, turn

from hrpsim import Box, Capsule, Cylinder, Plane

CUBE = Box((0.2, 0.2, 0.2))
SLAB = Box((1.0, 1.0, 0.2))
TILTS = [np.eye(3), turn((1, 0, 0), 1e-6), turn((1, 2, 0.3), 1e-6), turn((0, 1, 0), -1e-3)]
DEPTH = 1e-4


def corners(half_x, half_y):
    return {(sx * half_x, sy * half_y) for sx in (-1, 1) for sy in (-1, 1)}


def footprint(manifold, digits=3):
    return {tuple(np.round(p[:2], digits) + 0.0) for p in manifold.points}


@pytest.mark.parametrize("R", TILTS)
@pytest.mark.parametrize("ground", [Plane(), SLAB])
def test_a_cube_stands_on_its_four_corners(R, ground):
    top = 0.0 if isinstance(ground, Plane) else 0.1
    a = Posed(CUBE, R, (0.0, 0.0, top + 0.1 - DEPTH))
    m = meet(a, Posed(ground))
    assert m.count == 4
    assert footprint(m) == corners(0.1, 0.1)
    lowest = [(R @ [x, y, -0.1])[2] + a.p[2] - top for x, y in corners(0.1, 0.1)]
    assert sorted(m.gaps) == pytest.approx(sorted(lowest), abs=1e-8)
    assert m.normals == pytest.approx(np.tile([0.0, 0.0, 1.0], (4, 1)), abs=2e-3)


@pytest.mark.parametrize("R", TILTS)
def test_a_slab_on_a_cube_is_borne_by_the_corners_of_the_cube(R):
    m = meet(Posed(SLAB, R, (0.0, 0.0, 0.2 - DEPTH)), Posed(CUBE))
    assert m.count == 4
    assert footprint(m) == corners(0.1, 0.1)


@pytest.mark.parametrize("R", TILTS)
def test_equal_cubes_on_one_another_share_four_corners(R):
    m = meet(Posed(CUBE, R, (0.0, 0.0, 0.2 - DEPTH)), Posed(CUBE))
    assert m.count == 4
    assert footprint(m) == corners(0.1, 0.1)


def test_equal_cubes_turned_by_45_degrees_share_an_octagon():
    m = meet(Posed(CUBE, turn((0, 0, 1), np.pi / 4), (0.0, 0.0, 0.2)), Posed(CUBE))
    near = 0.1 * (np.sqrt(2) - 1)
    assert m.count == 8
    assert np.sort(np.abs(m.points[:, :2]), axis=1) == pytest.approx(
        np.tile([near, 0.1], (8, 1)), abs=1e-12
    )
    assert m.gaps == pytest.approx(np.zeros(8), abs=1e-12)


@pytest.mark.parametrize("R", TILTS)
def test_crossed_beams_share_the_square_where_they_cross(R):
    beam = Box((1.0, 0.1, 0.1))
    m = meet(Posed(beam, R, (0.0, 0.0, 0.1 - DEPTH)), Posed(beam, turn((0, 0, 1), np.pi / 2)))
    assert m.count == 4
    assert footprint(m, 2) == corners(0.05, 0.05)


def test_a_cube_over_a_ledge_is_borne_by_the_overlap():
    m = meet(Posed(CUBE, np.eye(3), (0.55, 0.0, 0.2)), Posed(SLAB))
    assert footprint(m) == {(0.45, -0.1), (0.45, 0.1), (0.5, -0.1), (0.5, 0.1)}


def test_a_cube_on_its_edge_has_two_points_and_on_its_vertex_one():
    edge = Posed(CUBE, turn((1, 0, 0), np.pi / 4), (0.0, 0.0, 0.1 + 0.1 * np.sqrt(2)))
    for ground, sink in ((SLAB, 0.0), (Plane(), 0.1)):
        on = Posed(ground, np.eye(3), (0.0, 0.0, sink))
        assert footprint(meet(edge, on)) == {(-0.1, 0.0), (0.1, 0.0)}
        R = turn((1, -1, 0), np.arctan(np.sqrt(2)))
        vertex = meet(Posed(CUBE, R, (0.0, 0.0, 0.1 + 0.1 * np.sqrt(3))), on)
        assert vertex.count == 1
        assert vertex.points[0] == pytest.approx([0.0, 0.0, 0.1], abs=1e-9)


def test_crossing_edges_touch_in_one_point():
    R = turn((1, 0, 0), np.pi / 4)
    below = Posed(Box((1.0, 0.1, 0.1)), R)
    height = 0.1 * np.sqrt(2) - DEPTH
    above = Posed(Box((1.0, 0.1, 0.1)), turn((0, 0, 1), np.pi / 2) @ R, (0.0, 0.0, height))
    m = meet(above, below, margin=1e-3)
    assert m.count == 1
    assert m.points[0] == pytest.approx([0.0, 0.0, height / 2], abs=1e-12)
    assert m.normals[0] == pytest.approx([0.0, 0.0, 1.0], abs=1e-12)
    assert m.gaps[0] == pytest.approx(-DEPTH, abs=1e-12)


@pytest.mark.parametrize("ground", [Plane(), SLAB, Cylinder(0.5, 0.2)])
@pytest.mark.parametrize("tilt", [0.0, 1e-6, -1e-3])
@pytest.mark.parametrize("shape", [Capsule(0.05, 0.3), Cylinder(0.05, 0.3)])
def test_a_lying_capsule_or_cylinder_has_a_point_at_each_end(shape, tilt, ground):
    top = 0.0 if isinstance(ground, Plane) else 0.1
    R = turn((0, 1, 0), np.pi / 2 + tilt)
    m = meet(Posed(shape, R, (0.0, 0.0, top + 0.05 - DEPTH)), Posed(ground))
    assert footprint(m, 2) == {(-0.15, 0.0), (0.15, 0.0)}
    ends = top + 0.15 * np.sin(tilt) * np.array([-1, 1]) - DEPTH - top
    assert sorted(m.gaps) == pytest.approx(sorted(ends), abs=1e-7)


@pytest.mark.parametrize("first", [Capsule(0.05, 0.3), Cylinder(0.05, 0.3)])
@pytest.mark.parametrize("second", [Capsule(0.1, 0.3), Cylinder(0.1, 0.3)])
@pytest.mark.parametrize("tilt", [0.0, 1e-6])
def test_parallel_logs_share_two_points_at_the_ends_of_their_common_length(first, second, tilt):
    R = turn((0, 1, 0), np.pi / 2)
    a = Posed(first, turn((0, 1, 0), tilt) @ R, (0.1, 0.0, 0.15 - DEPTH))
    m = meet(a, Posed(second, R))
    assert footprint(m, 3) == {(-0.05, 0.0), (0.15, 0.0)}
    assert m.normals == pytest.approx(np.tile([0.0, 0.0, 1.0], (2, 1)), abs=1e-5)


@pytest.mark.parametrize("ground", [Plane(), SLAB, Cylinder(0.1, 0.2), Cylinder(0.3, 0.2)])
@pytest.mark.parametrize("R", TILTS[:3])
def test_a_standing_cylinder_has_four_points_across_its_rim(R, ground):
    top = 0.0 if isinstance(ground, Plane) else 0.1
    m = meet(Posed(Cylinder(0.1, 0.2), R, (0.0, 0.0, top + 0.1 - DEPTH)), Posed(ground))
    assert m.count == 4
    assert footprint(m) == {(0.1, 0.0), (-0.1, 0.0), (0.0, 0.1), (0.0, -0.1)}
    assert m.gaps == pytest.approx(np.full(4, -DEPTH), abs=2e-7)


def test_a_cylinder_over_a_ledge_is_borne_by_the_overlap():
    m = meet(Posed(Cylinder(0.1, 0.2), np.eye(3), (0.5, 0.0, 0.2)), Posed(SLAB))
    assert footprint(m) == {(0.4, 0.0), (0.5, 0.1), (0.5, -0.1)}
    m = meet(Posed(Cylinder(0.1, 0.2), np.eye(3), (0.56, 0.0, 0.2)), Posed(SLAB))
    assert footprint(m) == {(0.46, 0.0), (0.5, 0.08), (0.5, -0.08)}


def test_a_cylinder_on_a_smaller_box_is_borne_by_the_corners_of_the_box():
    m = meet(Posed(Cylinder(0.3, 0.2), np.eye(3), (0.0, 0.0, 0.2)), Posed(CUBE))
    assert footprint(m) == corners(0.1, 0.1)


def test_cylinders_stacked_off_centre_are_borne_by_the_lens_between_their_rims():
    a = Posed(Cylinder(0.1, 0.2), np.eye(3), (0.12, 0.0, 0.2))
    m = meet(a, Posed(Cylinder(0.1, 0.2)))
    assert footprint(m, 2) == {(0.02, 0.0), (0.1, 0.0), (0.06, 0.08), (0.06, -0.08)}


@pytest.mark.parametrize("tilt", [1e-4, 0.02, 0.3])
def test_a_tilted_cylinder_touches_with_the_lowest_point_of_its_rim(tilt):
    axis = np.array([np.cos(0.3), np.sin(0.3), 0.0])
    R = turn(axis, tilt)
    lowest = 0.1 * np.cos(tilt) + 0.1 * np.sin(tilt)
    for ground, top in ((Plane(), 0.0), (SLAB, 0.1), (Cylinder(0.3, 0.2), 0.1)):
        m = meet(Posed(Cylinder(0.1, 0.2), R, (0.0, 0.0, top + lowest - DEPTH)), Posed(ground))
        gap, n, point = m.nearest
        assert gap == pytest.approx(-DEPTH, abs=1e-12)
        assert n == pytest.approx([0.0, 0.0, 1.0], abs=1e-12)
        down = np.cross(axis, [0.0, 0.0, 1.0])  # the side that the tilt lowers
        sideways = point - (point @ [0, 0, 1]) * np.array([0, 0, 1])
        assert abs(sideways @ down) > 0.99 * np.linalg.norm(sideways)
