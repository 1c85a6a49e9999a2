# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Quintics between rests, and the centre of mass for a zero-moment point."""

import numpy as np
import pytest

from hrpsim.control.motion.motion_sequence import smooth_step, through_rests
from hrpsim.control.motion.stand_controller import center_of_mass_for


def test_smooth_step_rests_at_both_ends():
    s = np.array([-1.0, 0.0, 0.5, 1.0, 3.0])
    np.testing.assert_allclose(smooth_step(s), [0.0, 0.0, 0.5, 1.0, 1.0])
    h = 1e-4
    assert smooth_step(h) / h**2 < 1e-2  # velocity and acceleration vanish
    assert (1.0 - smooth_step(1.0 - h)) / h**2 < 1e-2


def test_through_rests_passes_each_value_and_holds_the_ends():
    values = np.array([[0.0, 1.0], [2.0, -1.0], [5.0, 0.0]])
    at = through_rests([0.0, 1.0, 3.0], values, [-1.0, 0.0, 1.0, 2.0, 3.0, 9.0])
    np.testing.assert_allclose(
        at, [values[0], values[0], values[1], [3.5, -0.5], values[2], values[2]]
    )


def test_center_of_mass_satisfies_the_cart_table_equation():
    period, height, gravity = 0.005, 0.8, 9.80665
    times = np.arange(1200) * period
    zmp = through_rests([0.0, 2.0, 2.5, 4.0, 5.0], [0.0, 0.0, 0.1, -0.1, 0.0], times)
    x = center_of_mass_for(zmp, period, height)
    acceleration = (x[2:] - 2.0 * x[1:-1] + x[:-2]) / period**2
    np.testing.assert_allclose(x[1:-1] - height / gravity * acceleration, zmp[1:-1], atol=1e-10)
    assert abs(x).max() < abs(zmp).max()


def test_center_of_mass_of_a_wave_is_the_analytic_one():
    period, height, gravity, w = 0.005, 0.8, 9.80665, 2.0 * np.pi
    times = np.arange(4000) * period
    x = center_of_mass_for(0.05 * np.cos(w * times), period, height)
    exact = 0.05 / (1.0 + height / gravity * w * w) * np.cos(w * times)
    np.testing.assert_allclose(x[800:-800], exact[800:-800], atol=1e-5)


@pytest.mark.parametrize("shape", [(50,), (50, 2)])
def test_rest_stays_rest(shape):
    np.testing.assert_allclose(center_of_mass_for(np.full(shape, 0.3), 0.02, 0.8), 0.3)
