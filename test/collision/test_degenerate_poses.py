# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Poses that leave a direction open still give one finite, sensible contact."""

import numpy as np
import pytest
from collision.posed import KINDS, Posed, meet, random_shape, turn

from hrpsim import Box, Capsule, Cylinder, Sphere

ROUND_AND_FLAT = [name for name in KINDS if name != "plane"]
ALIGNED = [np.eye(3), turn((1, 0, 0), np.pi / 2), turn((0, 1, 0), np.pi / 2)]


@pytest.mark.parametrize("name_a", ROUND_AND_FLAT)
@pytest.mark.parametrize("name_b", ROUND_AND_FLAT)
@pytest.mark.parametrize("R", ALIGNED)
@pytest.mark.parametrize("offset", [0.0, 1e-300, 1e-17, 1e-12, 1e-6])
def test_coincident_centres_give_finite_contacts_in_overlap(name_a, name_b, R, offset):
    rng = np.random.default_rng(0)
    a, b = random_shape(rng, KINDS[name_a]), random_shape(rng, KINDS[name_b])
    m = meet(Posed(a, R, (offset, offset, 0.0)), Posed(b))
    assert m.count > 0
    for rows in m:
        assert np.isfinite(rows).all()
    assert m.nearest[0] < 0.0
    assert np.linalg.norm(m.nearest[1]) == pytest.approx(1.0, abs=1e-9)


def test_a_sphere_whose_centre_lies_on_a_face_is_pushed_out_of_that_face():
    m = meet(Posed(Sphere(0.1), np.eye(3), (0.0, 0.0, 0.2)), Posed(Box((0.4, 0.4, 0.4))))
    assert m.gaps == pytest.approx([-0.1])
    assert m.normals[0] == pytest.approx([0.0, 0.0, 1.0])


def test_crossing_capsules_part_across_both_axes():
    capsule = Capsule(0.05, 0.4)
    m = meet(Posed(capsule), Posed(capsule, turn((1, 0, 0), np.pi / 2)))
    assert m.nearest[0] == pytest.approx(-0.1)
    assert np.abs(m.nearest[1]) == pytest.approx([1.0, 0.0, 0.0])


def test_coaxial_capsules_end_to_end_touch_in_one_point():
    capsule = Capsule(0.05, 0.4)
    m = meet(Posed(capsule, np.eye(3), (0.0, 0.0, 0.5)), Posed(capsule))
    assert m.count == 1
    assert m.points[0] == pytest.approx([0.0, 0.0, 0.25])
    assert m.normals[0] == pytest.approx([0.0, 0.0, 1.0])


@pytest.mark.parametrize("size", [1e-4, 1e-2, 1.0, 1e3])
def test_the_result_scales_with_the_shapes(size):
    box = Box((2 * size, 2 * size, 2 * size))
    cylinder = Cylinder(size, 2 * size)
    R = turn((1, 2, 0), 0.4)
    expected = meet(Posed(Cylinder(1.0, 2.0), R, (0.3, 0.2, 2.2)), Posed(Box((2, 2, 2))), 1.0)
    m = meet(Posed(cylinder, R, (0.3 * size, 0.2 * size, 2.2 * size)), Posed(box), size)
    assert list(m.features) == list(expected.features)
    assert m.gaps / size == pytest.approx(expected.gaps, abs=1e-9)


def test_far_from_the_world_origin_the_contacts_are_as_exact_as_positions_allow():
    far = np.array([1e3, -2e3, 5e2])
    R = turn((1, 2, 3), 0.7)
    a, b = Cylinder(0.1, 0.2), Box((0.3, 0.2, 0.4))
    near = meet(Posed(a, R, (0.1, 0.05, 0.36)), Posed(b), 0.1)
    there = meet(Posed(a, R, far + (0.1, 0.05, 0.36)), Posed(b, np.eye(3), far), 0.1)
    assert there.gaps == pytest.approx(near.gaps, abs=1e-9)
