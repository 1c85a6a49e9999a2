# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Sine and cosine at once are those of long doubles, to one unit in the last place of 1."""

import math

import numpy as np
import pytest

from hrpsim.engine.compile.compiled import kernel
from hrpsim.engine.spatial.sine_cosine import sine_cosine

ULP = 2.0**-53  # of what lies between 0.5 and 1, half of it


@kernel
def both(angles, sines_out, cosines_out):
    for k in range(angles.shape[0]):
        sines_out[k], cosines_out[k] = sine_cosine(angles[k])


def of(angles):
    sines, cosines = np.empty(len(angles)), np.empty(len(angles))
    both(np.ascontiguousarray(angles, dtype=float), sines, cosines)
    return sines, cosines


@pytest.mark.skipif(np.finfo(np.longdouble).nmant < 60, reason="no longer doubles here")
@pytest.mark.parametrize("largest", [1e-9, 1.0, 10.0, 1e3, 9.9e4])
def test_they_are_those_of_long_doubles(largest):
    angles = np.random.default_rng(0).uniform(-largest, largest, 20_000)
    near = np.arange(-64, 65) * (0.25 * math.pi)
    angles = np.concatenate([angles, near[np.abs(near) <= largest]])
    sines, cosines = of(angles)
    exact = angles.astype(np.longdouble)
    # pi itself is what long doubles have of it: beyond 100 rad its error counts
    bound = 2.2 * ULP + 1e-19 * largest
    assert np.abs(sines - np.sin(exact)).max() <= bound
    assert np.abs(cosines - np.cos(exact)).max() <= bound
    assert np.abs(sines**2 + cosines**2 - 1.0).max() <= 8.0 * ULP


def test_small_angles_are_their_sines():
    """Law: sin x = x to the last bit for tiny x, cos 0 = 1, and both are odd and even."""
    angles = np.array([0.0, 1e-300, 1e-20, 3e-9, 0.3, 2.0, 7e3])
    sines, cosines = of(angles)
    assert sines[:3].tolist() == angles[:3].tolist()
    assert cosines[0] == 1.0
    mirrored, same = of(-angles)
    assert (mirrored == -sines).all()
    assert (same == cosines).all()


def test_what_is_no_angle_is_no_number():
    sines, cosines = of(np.array([math.nan, math.inf, -math.inf, 1e200]))
    assert np.isnan(sines[:3]).all()
    assert np.isnan(cosines[:3]).all()
    assert sines[3] == pytest.approx(math.sin(1e200), abs=1e-15)
