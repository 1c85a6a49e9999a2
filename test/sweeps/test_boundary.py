# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A bisection ends, whatever it is given, and says where there is nothing to be found."""

import math

import numpy as np
import pytest

from hrpsim.sweeps import SweepError
from hrpsim.sweeps.boundary import BoundaryScenario
from hrpsim.sweeps.framework.scenario import FunctionScenario, Outcome

OUTCOMES = {"bad": "", "at": "s", "path": Outcome(shape=(2,))}


def border_at(border):
    def passes(a):
        bad = a > border
        return {"bad": float(bad), "at": a if bad else math.nan, "path": [a, a]}

    return FunctionScenario(passes, OUTCOMES)


def test_a_tolerance_finer_than_numbers_ends_at_neighbours():
    found = BoundaryScenario(border_at(math.pi), "a", (0.0, 10.0), 1e-30, bad="bad").run({}, 0)
    assert found["survived"] == math.pi and found["failed"] == np.nextafter(math.pi, 10.0)
    assert found["runs"] < 70


def test_the_widest_interval_is_halved():
    most = 1.7e308
    found = BoundaryScenario(border_at(1e308), "a", (-most, most), 1e300, bad="bad").run({}, 0)
    assert abs(found["border"] - 1e308) <= 1e300


def test_an_outcome_that_is_no_number_cannot_be_bad():
    """NaN is no truth: fell_at of a run without a fall is NaN."""
    search = BoundaryScenario(border_at(1.0), "a", (0.0, 10.0), 0.1, bad="at")
    with pytest.raises(SweepError, match=r"find: at is NaN at a = 0. `bad` needs .* such as fell"):
        search.run({}, 0)
    with pytest.raises(
        SweepError, match=r"'path' must be a single number, but has the shape \(2,\)"
    ):
        BoundaryScenario(border_at(1.0), "a", (0.0, 10.0), 0.1, bad="path")
