# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Rotations and spatial inertias in kernels obey their algebra."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from hrpsim.engine.compile.compiled import kernel
from hrpsim.engine.spatial.inertia import apply_inertia, bias_force, place_inertia
from hrpsim.engine.spatial.rotation import (
    quaternion_from_rotation,
    rotate_quaternion,
    rotated,
    rotation_from_quaternion,
)
from hrpsim.model.shapes.placement import quaternion_of


@kernel
def to_rotation(q, R_out):
    rotation_from_quaternion(q[0], q[1], q[2], q[3], R_out)


@kernel
def turn_vector(q, v, out):
    out[0], out[1], out[2] = rotated(q[0], q[1], q[2], q[3], v[0], v[1], v[2])


@kernel
def spin(q, w, scale):
    rotate_quaternion(q, 0, w[0], w[1], w[2], scale)


@kernel
def place(mass, com, inertia, R, p, placed_out):
    place_inertia(mass, com, inertia, R, p, placed_out)


@kernel
def momentum(placed, motion, force_out):
    apply_inertia(placed, motion, force_out)


@kernel
def needed_force(placed, v, a, external, force_out):
    bias_force(placed, v, a, external, force_out)


quick = settings(max_examples=100)
number = st.floats(-3.0, 3.0, allow_subnormal=False)
vectors = arrays(np.float64, 3, elements=number)
motions = arrays(np.float64, 6, elements=number)
seeds = st.integers(0, 2**32 - 1)


def skew(v):
    return np.array([[0.0, -v[2], v[1]], [v[2], 0.0, -v[0]], [-v[1], v[0], 0.0]])


def random_quaternion(seed):
    q = np.random.default_rng(seed).normal(size=4)
    return q / np.linalg.norm(q)


def rotation(q):
    R = np.empty((3, 3))
    to_rotation(q, R)
    return R


@quick
@given(seeds, st.floats(1e-3, 1e3))
def test_a_quaternion_of_any_length_gives_a_rotation(seed, length):
    q = random_quaternion(seed)
    R = rotation(length * q)
    assert R @ R.T == pytest.approx(np.eye(3), abs=1e-14)
    assert np.linalg.det(R) == pytest.approx(1.0)
    assert R == pytest.approx(rotation(q), abs=1e-14)
    assert rotation(-q) == pytest.approx(R, abs=1e-15)


@quick
@given(seeds, vectors)
def test_turning_a_vector_is_multiplying_by_the_rotation(seed, v):
    q, out = random_quaternion(seed), np.empty(3)
    turn_vector(q, v, out)
    assert out == pytest.approx(rotation(q) @ v, abs=1e-14)


@quick
@given(seeds)
def test_a_rotation_gives_its_quaternion_back(seed):
    q, out = random_quaternion(seed), np.empty(4)
    quaternion_from_rotation(rotation(q), out)
    assert out == pytest.approx(q if q[3] >= 0.0 else -q, abs=1e-14)
    assert quaternion_of(rotation(q)) == pytest.approx(out, abs=1e-13)


@pytest.mark.parametrize("axis", [*np.eye(3), [0.6, 0.8, 0.0], [0.0, -0.6, 0.8]])
@pytest.mark.parametrize("angle", [0.0, 1e-9, 1e-3, 3.1, np.pi - 1e-9, np.pi, np.pi + 1e-9, 6.0])
def test_quaternions_at_and_about_half_turns(axis, angle):
    q, out = np.array([*(np.sin(angle / 2) * np.array(axis)), np.cos(angle / 2)]), np.empty(4)
    quaternion_from_rotation(rotation(q), out)
    assert out[3] >= 0.0
    assert np.linalg.norm(out) == pytest.approx(1.0, abs=1e-15)
    assert rotation(out) == pytest.approx(rotation(q), abs=1e-14)


@quick
@given(seeds, vectors)
def test_spinning_about_a_fixed_axis_is_the_exponential_map(seed, w):
    """In one step or in many, and backwards to where it began."""
    q = random_quaternion(seed)
    once, many = q.copy(), q.copy()
    spin(once, w, 0.7)
    for _ in range(7):
        spin(many, w, 0.1)
    assert many == pytest.approx(once, abs=1e-14)
    angle = 0.7 * np.linalg.norm(w)
    K = skew(w / np.linalg.norm(w)) if angle > 1e-100 else np.zeros((3, 3))
    exponential = np.eye(3) + np.sin(angle) * K + (1.0 - np.cos(angle)) * K @ K
    assert rotation(once) == pytest.approx(exponential @ rotation(q), abs=1e-13)
    spin(once, w, -0.7)
    assert once == pytest.approx(q, abs=1e-14)


@pytest.mark.parametrize("angle", [1e-12, 1e-8, 0.99e-4, 1.01e-4, 1e-3])
def test_small_turns_are_as_exact_as_large_ones(angle):
    """The series and the sine meet at 1e-4 rad."""
    q = np.array([0.0, 0.0, 0.0, 1.0])
    spin(q, np.array([0.0, 0.0, angle]), 1.0)
    assert q[2] == pytest.approx(np.sin(angle / 2), rel=1e-15)
    assert q[3] == pytest.approx(np.cos(angle / 2), rel=1e-15)


def random_body(seed):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(3, 3))
    return rng.uniform(0.1, 5.0), rng.normal(size=3), A @ A.T + 0.1 * np.eye(3), rng.normal(size=3)


def spatial_matrix(mass, com, inertia, R, p):
    """RBDA eq. 2.63 about the origin of the frame that R and p lead to."""
    c = skew(R @ com + p)
    about_origin = R @ inertia @ R.T + mass * c @ c.T
    return np.block([[about_origin, mass * c], [mass * c.T, mass * np.eye(3)]])


@quick
@given(seeds, motions)
def test_a_placed_inertia_gives_the_spatial_momentum(seed, motion):
    mass, com, inertia, p = random_body(seed)
    R, placed, force = rotation(random_quaternion(seed)), np.empty(10), np.empty(6)
    place(mass, com, inertia, R, p, placed)
    momentum(placed, motion, force)
    expected = spatial_matrix(mass, com, inertia, R, p) @ motion
    assert force == pytest.approx(expected, abs=1e-11)


@quick
@given(seeds, motions, motions, motions)
def test_the_force_of_a_motion_is_that_of_the_book(seed, v, a, external):
    """RBDA eq. 2.32 and section 2.14; what velocity alone asks for does no work on it."""
    mass, com, inertia, p = random_body(seed)
    R, placed, force = rotation(random_quaternion(seed)), np.empty(10), np.empty(6)
    place(mass, com, inertia, R, p, placed)
    matrix = spatial_matrix(mass, com, inertia, R, p)
    cross = np.block([[skew(v[:3]), skew(v[3:])], [np.zeros((3, 3)), skew(v[:3])]])
    needed_force(placed, v, a, external, force)
    scale = 1.0 + np.abs(matrix).max()
    assert force == pytest.approx(matrix @ a + cross @ matrix @ v - external, abs=1e-12 * scale)
    needed_force(placed, v, np.zeros(6), np.zeros(6), force)
    assert force @ v == pytest.approx(0.0, abs=1e-11 * scale)
