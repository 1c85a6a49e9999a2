# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Starts of windows are eliminated as joint least squares would."""

from types import SimpleNamespace

import numpy as np
import pytest

from hrpsim.fitting.predict import ResidualRows
from hrpsim.fitting.starts import Starts

WINDOWS, SAMPLES, WIDTH = 3, 5, 2
NUMBERS = np.repeat(np.arange(WINDOWS), SAMPLES)


class LinearPredictor:
    """Differences r + A s of one recording with one joint; s are the starts."""

    def __init__(self, A, r):
        self.A, self.r = A, r
        self.windows = [[None] * WINDOWS]
        self.recordings = [SimpleNamespace(v=np.zeros((1, WIDTH // 2)))]

    def rows(self):
        one = np.zeros(len(NUMBERS), dtype=int)
        return ResidualRows(one, NUMBERS, one)

    def differences(self, values, offsets, together):
        assert together
        return np.array([self.r + np.einsum("ij,ij->i", self.A, s[NUMBERS]) for (s,) in offsets])


@pytest.mark.parametrize("without_effect", [False, True])
def test_starts_are_those_of_joint_least_squares(without_effect):
    """Law: what remains, its freedom and the best starts are those of all unknowns at once."""
    random = np.random.default_rng(0)
    A, r = random.normal(size=(len(NUMBERS), WIDTH)), random.normal(size=len(NUMBERS))
    if without_effect:
        A[:, 1] = 0.0
    weights = random.uniform(0.5, 2.0, len(NUMBERS))
    joint = np.zeros((len(NUMBERS), WINDOWS * WIDTH))
    for row, window in enumerate(NUMBERS):
        joint[row, WIDTH * window : WIDTH * (window + 1)] = A[row] * weights[row]
    best = np.linalg.lstsq(joint, -weights * r, rcond=1e-9)[0]
    starts = Starts(LinearPredictor(A, r))
    starts.weigh(starts.differentiate({}), weights)
    rest, free = starts.remainder(r, weights)
    assert rest * weights == pytest.approx(weights * r + joint @ best, abs=1e-9)
    assert starts.rank == np.linalg.matrix_rank(joint)
    assert free.sum() == pytest.approx(len(NUMBERS) - starts.rank)

    def squares():
        found = weights * (r + np.einsum("ij,ij->i", A, starts.offsets[0][NUMBERS]))
        return np.bincount(NUMBERS, found**2)

    starts.move(weights * r, squares)
    assert starts.offsets[0].ravel() == pytest.approx(best, abs=1e-9)


class StiffPredictor(LinearPredictor):
    """Differences that bend within the length `scale` of each start, with noise of a simulation."""

    def __init__(self, A, r, scale, noise):
        super().__init__(A, r)
        self.scale, self.noise, self.random = scale, noise, np.random.default_rng(1)

    def differences(self, values, offsets, together):
        bent = [[self.scale * np.expm1(own / self.scale) for own in given] for given in offsets]
        found = super().differences(values, bent, together)
        return found + self.noise * self.random.normal(size=found.shape)


@pytest.mark.parametrize("scale", [(1e-6, 1.0), (1e-5, 1e-3), (1.0, 1.0)])
@pytest.mark.parametrize("noise", [0.0, 1e-13])
def test_steps_by_starts_suit_the_response_and_the_noise(scale, noise):
    """Law: derivatives by starts hold for stiff and for soft responses, above the noise."""
    random = np.random.default_rng(0)
    A, r = random.normal(size=(len(NUMBERS), WIDTH)), random.normal(size=len(NUMBERS))
    found = Starts(StiffPredictor(A, r, np.array(scale), noise)).differentiate({})
    assert (np.abs(found - A).max(axis=0) < 0.01 * np.abs(A).max(axis=0)).all()
