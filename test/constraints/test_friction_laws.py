# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Friction laws: projections onto what they permit, and the derivative of the cone's."""

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from interpreted import interpreted, records

from hrpsim.engine.constraints.friction_laws import (
    CONE,
    DIFFERENTIABLE,
    LAWS,
    PYRAMID,
    SLIP_DIRECTION,
    disk_derivative,
    disk_scale,
    friction_axes,
    friction_holds,
    has_derivative,
    law_in_step,
    project_friction,
    project_onto_cone,
    tangent_count,
)
from hrpsim.engine.constraints.rows import ROW

numbers = st.floats(-10.0, 10.0)
bounds = st.floats(1e-3, 10.0)
laws = st.sampled_from(list(LAWS.values()))


run_project, run_cone, run_derivative, run_scale, run_holds = map(
    interpreted, (project_friction, project_onto_cone, disk_derivative, disk_scale, friction_holds)
)
run_axes, run_in_step = map(interpreted, (friction_axes, law_in_step))
is_differentiable, tangents_of = map(interpreted, (has_derivative, tangent_count))


def permits(law, bound, x, y):
    """Return whether a law permits an impulse, by its definition, within rounding."""
    slack = 1e-12 * bound
    if law == CONE:
        return math.hypot(x, y) <= bound + slack
    if law == SLIP_DIRECTION:
        return -slack <= x <= bound + slack and y == 0.0
    return max(abs(x), abs(y)) <= bound + slack


@given(laws, bounds, numbers, numbers, st.floats(-1.0, 1.0), st.floats(-1.0, 1.0))
def test_a_projection_is_the_nearest_point_that_is_permitted(law, bound, x, y, other_x, other_y):
    """Law: of a convex set: permitted, its own projection, and at an obtuse angle to all others."""
    px, py = run_project(law, bound, x, y)
    assert permits(law, bound, px, py)
    np.testing.assert_allclose(run_project(law, bound, px, py), (px, py), rtol=1e-12, atol=1e-15)
    qx, qy = bound * other_x, bound * other_y
    if law == CONE:
        qx, qy = (q / max(1.0, math.hypot(other_x, other_y)) for q in (qx, qy))
    elif law == SLIP_DIRECTION:
        qx, qy = abs(qx), 0.0
    assert permits(law, bound, qx, qy)
    assert (x - px) * (qx - px) + (y - py) * (qy - py) <= 1e-9


@given(st.floats(0.05, 2.0), numbers, numbers, numbers, st.floats(0.0, 10.0), st.floats(0.0, 1.0))
def test_the_cone_s_projection_is_the_nearest_point(mu, n, x, y, qn, share):
    """Law: no other point of the cone |l_t| <= mu l_n is nearer; without an upper bound."""
    point = np.array([n, x, y])
    nearest = np.array(run_cone(mu, math.inf, n, x, y))
    assert np.hypot(*nearest[1:]) <= mu * nearest[0] + 1e-12
    other = np.array([qn, share * mu * qn, 0.0])
    assert (point - nearest) @ (other - nearest) <= 1e-9
    assert (point - nearest) @ -nearest <= 1e-9  # the tip of the cone


@given(bounds, numbers, numbers, st.floats(0.1, 10.0))
def test_the_derivative_is_that_of_the_projection(bound, x, y, rate):
    """Law: central differences of the projection, by the bound and by both components."""
    step, size = 1e-6, math.hypot(x, y)
    if abs(size - bound) < 1e-3 or 0.0 < size < 1e-2:
        return
    outside, by_x, by_y, xx, xy, yy = run_derivative(bound, x, y, rate)
    assert outside == (size > bound)
    scale = run_scale(bound, x, y)
    np.testing.assert_allclose((scale * x, scale * y), run_project(CONE, bound, x, y), rtol=1e-12)

    def difference(a, b):
        return (np.array(run_project(CONE, *a)) - run_project(CONE, *b)) / (2 * step)

    found = difference((bound + step, x, y), (bound - step, x, y))
    np.testing.assert_allclose(found, (by_x, by_y), atol=1e-5)
    found = difference((bound, x + step, y), (bound, x - step, y))
    np.testing.assert_allclose(rate * found, (xx, xy), atol=1e-4)
    found = difference((bound, x, y + step), (bound, x, y - step))
    np.testing.assert_allclose(rate * found, (xy, yy), atol=1e-4)


def test_what_solvers_know_of_each_law():
    """Law: the kernels and the table of solvers see the same laws as differentiable."""
    for law in LAWS.values():
        assert is_differentiable(law) == (law in DIFFERENTIABLE)
        assert tangents_of(law) == (1 if law == SLIP_DIRECTION else 2)


@given(laws, bounds, numbers, numbers, st.floats(0.05, 1.0))
def test_friction_holds_within_its_share_of_the_bound(law, normal, x, y, share):
    """Law: a point sticks if its friction, divided by sqrt(share), is within mu times the normal.

    Of a law for one direction only no point sticks, as nothing holds the other.
    """
    mu = 0.7
    rows = records(3, ROW)
    rows["friction_model"], rows["friction"] = law, mu
    rows["impulse"] = normal, x, y
    within = permits(law, mu * normal, x / math.sqrt(share), y / math.sqrt(share))
    size = math.hypot(x, y) if law == CONE else max(abs(x), abs(y))
    if not math.isclose(size, math.sqrt(share) * mu * normal, rel_tol=1e-9):
        assert run_holds(*rows, share) == (within and law != SLIP_DIRECTION)


@given(laws, st.floats(-4.0, 4.0), numbers, st.floats(0.1, 10.0))
def test_axes_of_a_law(law, angle, slip_x, slip_y):
    """Law: along a unit vector: against the slip, or turned by the angle of the contact."""
    x, y = run_axes(law, angle, slip_x, slip_y)
    size = math.hypot(slip_x, slip_y)
    against = (-slip_x / size, -slip_y / size)
    expected = against if law == SLIP_DIRECTION else (math.cos(angle), math.sin(angle))
    np.testing.assert_allclose((x, y), expected, atol=1e-12)


def test_a_point_that_sticks_has_a_pyramid_in_place_of_a_direction_of_slip():
    for law in LAWS.values():
        assert run_in_step(law, True) == law
        assert run_in_step(law, False) == (PYRAMID if law == SLIP_DIRECTION else law)
