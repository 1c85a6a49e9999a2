# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Preview control of the cart-table model against its own optimum and the exact solution."""

import numpy as np
import pytest

from hrpsim.control.motion.motion_sequence import through_rests
from hrpsim.control.motion.stand_controller import center_of_mass_for
from hrpsim.control.pattern.preview_control import PreviewControl

PERIOD, HEIGHT, GRAVITY = 0.005, 0.8, 9.80665


@pytest.fixture(scope="module")
def preview():
    return PreviewControl(PERIOD, HEIGHT)


def walk_like(times):
    """A reference that rests under one foot, then under the other."""
    knots, points = [0.0, 2.0], [0.0, 0.0]
    for k in range(6):
        knots += [2.3 + 0.9 * k, 2.9 + 0.9 * k]
        points += [0.1 * (-1) ** k] * 2
    return through_rests([*knots, 8.0], [*points, 0.0], times)[:, None]


def test_zmp_is_that_of_the_cart_table(preview):
    """p = x - (z / g) a  for the jerk-driven cart (Kajita 2003, eq. 7)."""
    reference = walk_like(np.arange(2000) * PERIOD)
    com, zmp = preview.follow(reference)
    # A held jerk makes x a cubic in each period: its second differences give the accelerations.
    curvature = (com[2:] - 2.0 * com[1:-1] + com[:-2]) / PERIOD**2
    cart = com[1:-1] - HEIGHT / GRAVITY * curvature
    assert np.abs(cart - zmp[1:-1]).max() < 2e-3
    assert np.abs(zmp - reference)[400:].max() < 0.05


def test_command_is_the_optimum_of_the_finite_problem():
    """The gains give the first command of the least-squares problem that they are to solve."""
    period, count = 0.02, 250
    preview = PreviewControl(period, HEIGHT, horizon=4.0, jerk_weight=1e-4)
    reference = through_rests(
        [0.0, 0.4, 0.6, 1.2, 1.5], [0, 0, 0.1, 0.1, -0.1], np.arange(count) * period
    )
    # zmp(k) = sum_j response(k - j) jerk(j): the impulse response of the cart table.
    response, state = np.zeros(count), preview.B
    for k in range(1, count):
        response[k], state = preview.C @ state, preview.A @ state
    to_zmp = np.array(
        [[response[k - j] if k > j else 0.0 for j in range(count)] for k in range(count)]
    )
    to_change = np.eye(count) - np.eye(count, k=-1)
    weights = np.sqrt(1e-4)
    rows = np.concatenate([to_zmp, weights * to_change])
    jerks = np.linalg.lstsq(rows, np.concatenate([reference, np.zeros(count)]), rcond=None)[0]
    com, _ = preview.follow(reference[:, None])
    optimum, state = np.empty(count), np.zeros(3)
    for k in range(count):
        optimum[k] = state[0]
        state = preview.A @ state + preview.B * jerks[k]
    np.testing.assert_allclose(com[:120, 0], optimum[:120], atol=1e-6)


def test_follows_what_the_exact_solution_follows(preview):
    """Against the tridiagonal solution of the cart-table equation."""
    reference = walk_like(np.arange(2000) * PERIOD)
    com, _ = preview.follow(reference)
    exact = center_of_mass_for(reference, PERIOD, HEIGHT)
    assert np.abs(com - exact).max() < 2e-3
    assert np.abs(exact).max() > 0.05


def test_wave_is_followed_with_the_analytic_amplitude(preview):
    """x = p / (1 + z w^2 / g) for a wave of angular frequency w."""
    w = np.pi
    times = np.arange(4000) * PERIOD
    com, _ = preview.follow(0.05 * np.cos(w * times)[:, None])
    exact = 0.05 / (1.0 + HEIGHT / GRAVITY * w * w) * np.cos(w * times)
    np.testing.assert_allclose(com[1500:-1500, 0], exact[1500:-1500], atol=1e-4)


def test_it_does_not_matter_where_the_walk_is(preview):
    reference = walk_like(np.arange(1800) * PERIOD)
    here, _ = preview.follow(reference)
    there, _ = preview.follow(reference + 5.0, 5.0)
    np.testing.assert_allclose(there, here + 5.0, atol=1e-9)
    total = preview.preview_gains.sum()
    assert total == pytest.approx(preview.state_gain[0], rel=1e-12)


def test_rest_stays_rest(preview):
    com, zmp = preview.follow(np.full((500, 2), 0.3), 0.3)
    np.testing.assert_allclose(com, 0.3, atol=1e-12)
    np.testing.assert_allclose(zmp, 0.3, atol=1e-12)


def test_closed_loop_is_stable(preview):
    A = np.zeros((4, 4))
    A[0, 0], A[0, 1:], A[1:, 1:] = 1.0, preview.C @ preview.A, preview.A
    B = np.concatenate([[preview.C @ preview.B], preview.B])
    gains = np.concatenate([[preview.integral_gain], preview.state_gain])
    assert np.abs(np.linalg.eigvals(A - np.outer(B, gains))).max() < 1.0
