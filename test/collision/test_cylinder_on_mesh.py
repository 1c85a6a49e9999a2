# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A cylinder meets a mesh as the round solid that it is: as a box of the same size shows."""

import numpy as np
import pytest
from collision.posed import Posed, meet, random_rotation, turn
from collision.solids import box_mesh, grid_mesh, meet_solids

from hrpsim import Box, Cylinder


def poses(rng):
    """Return a random pose of a cylinder and of a box, or one with aligned faces or edges."""
    case = rng.integers(3)
    if case == 0:
        return random_rotation(rng), random_rotation(rng)
    lean = 0.5 * np.pi * rng.integers(3) if case == 1 else rng.uniform(0.0, 6.0)
    return turn((0, 0, 1), rng.uniform(0.0, 6.0)) @ turn((1, 0, 0), lean), np.eye(3)


def placed_at_gap(rng, gap):
    """Return a cylinder and a box that are apart by `gap`, and the gap that is reached."""
    cylinder = Cylinder(rng.uniform(0.03, 0.2), rng.uniform(0.02, 0.4))
    box = Box(tuple(rng.uniform(0.05, 0.4, 3)))
    R, R_box = poses(rng)
    way = rng.normal(size=3)
    way /= np.linalg.norm(way)
    near, far = 0.0, 2.0
    for _ in range(45):
        middle = 0.5 * (near + far)
        found = meet(Posed(cylinder, R, middle * way), Posed(box, R_box), margin=5.0).nearest[0]
        near, far = (near, middle) if found > gap else (middle, far)
    a, b = Posed(cylinder, R, far * way), Posed(box, R_box)
    return a, b, meet(a, b, margin=5.0).nearest[0]


@pytest.mark.parametrize("gap", [0.05, 1e-3, 1e-6, -1e-6, -1e-4])
def test_the_nearest_contact_with_a_mesh_is_that_with_the_same_box(gap):
    """The pair of primitives is solved in closed form; a mesh of 12 triangles is the same solid."""
    rng = np.random.default_rng(1)
    for _ in range(30):
        a, b, exact = placed_at_gap(rng, gap)
        mesh = Posed(box_mesh(b.shape.lengths), b.R)
        for m in (meet_solids(a, mesh, margin=0.1), meet_solids(mesh, a, margin=0.1)):
            assert m.gaps.min() == pytest.approx(exact, abs=1e-9 + 2e-6 * abs(exact))


@pytest.mark.parametrize("floor", [box_mesh((1.0, 1.0, 0.2)), grid_mesh(8, 1.0)])
def test_a_rotation_about_the_axis_changes_no_contact(floor):
    """Gaps, points, normals and names stay, in the air and in the floor."""
    height = 0.1 if len(floor.vertices) == 8 else 0.0
    lying, cylinder = turn((0, 0, 1), 0.3) @ turn((1, 0, 0), 0.5 * np.pi), Cylinder(0.1, 0.3)
    for gap in (1e-3, -1e-5):
        place = (0.03, 0.04, height + 0.1 + gap)
        first = meet_solids(Posed(cylinder, lying, place), Posed(floor))
        assert first.count == 2
        assert first.gaps == pytest.approx([gap, gap], abs=1e-12)
        for angle in np.linspace(0.0, 0.2, 9):
            rolled = lying @ turn((0, 0, 1), angle)
            m = meet_solids(Posed(cylinder, rolled, place), Posed(floor))
            assert m.features.tolist() == first.features.tolist()
            assert m.gaps == pytest.approx(first.gaps, abs=1e-12)
            assert m.points == pytest.approx(first.points, abs=1e-12)
            assert m.normals == pytest.approx(first.normals, abs=1e-12)


def test_a_cylinder_on_the_edge_of_a_step_has_a_contact_at_each_end():
    """Its axis is parallel to the edge, and the normal points from the edge to the axis."""
    step, cylinder = box_mesh((1.0, 1.0, 1.0)), Cylinder(0.1, 0.3)
    lying = turn((1, 0, 0), 0.5 * np.pi)
    for angle in (0.2, 0.8, 1.4):
        out = np.array([np.sin(angle), 0.0, np.cos(angle)])
        for gap in (1e-4, -1e-5):
            place = np.array([0.5, 0.0, 0.5]) + (0.1 + gap) * out
            m = meet_solids(Posed(cylinder, lying, place), Posed(step))
            assert m.count == 2
            assert m.gaps == pytest.approx([gap, gap], abs=1e-12)
            assert m.normals == pytest.approx(np.array([out, out]), abs=1e-9)
            assert np.sort(m.points[:, 1]) == pytest.approx([-0.15, 0.15], abs=1e-9)
