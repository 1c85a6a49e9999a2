# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Bins of parameters in figures and tables."""

import numpy as np
import pytest

from hrpsim.sweeps.statistics import levels


@pytest.mark.parametrize(
    ("low", "high", "first", "last"),
    [
        (0.0, 60.0, "0.0 to 7.5", "52.5 to 60.0"),
        (-1e-7, 1e-7, "-1e-07 to -7.5e-08", "7.5e-08 to 1e-07"),
    ],
)
def test_bins_hold_equal_counts_and_are_labelled_to_a_tenth_of_their_width(low, high, first, last):
    bins = levels(np.linspace(low, high, 801))
    assert (bins[0][0], bins[-1][0]) == (first, last)
    counts = [chosen.sum() for _, chosen in bins]
    assert sum(counts) == 801 and max(counts) - min(counts) <= 1
