# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Designs have the values that they say, the same for the same seed, and refuse nonsense."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from hrpsim.sweeps import Design, SweepError, product
from hrpsim.sweeps.framework.design import read_table, seed_of

SAMPLED = ("random", "latin_hypercube", "sobol", "halton")


def test_a_grid_has_every_combination_once():
    design = Design({"a": {"values": [1, 2]}, "b": {"steps": [0.0, 1.0, 3]}, "c": 7})
    columns = design.columns(0)
    cells = list(zip(columns["a"], columns["b"], columns["c"]))
    assert cells == list(itertools.product([1, 2], [0.0, 0.5, 1.0], [7]))


@pytest.mark.parametrize("method", SAMPLED)
@pytest.mark.parametrize(
    "given, exact",
    [
        ({"uniform": [2.0, 5.0]}, stats.uniform(2.0, 3.0)),
        ({"log_uniform": [1e-6, 1e-3]}, stats.loguniform(1e-6, 1e-3)),
        ({"normal": [1.0, 0.2]}, stats.norm(1.0, 0.2)),
        (
            {"normal": [1.0, 0.2], "within": [0.9, 1.5]},
            stats.truncnorm(-0.5, 2.5, loc=1.0, scale=0.2),
        ),
    ],
)
def test_samples_follow_their_distribution(method, given, exact):
    """Kolmogorov and Smirnov's distance stays below what one in a million samples exceeds."""
    values = Design({"a": given, "b": {"uniform": [0, 1]}}, method, count=512).columns(1)["a"]
    assert stats.kstest(values, exact.cdf).pvalue > 1e-6


@pytest.mark.parametrize("method", SAMPLED)
def test_the_same_seed_gives_the_same_cells(method):
    design = Design({"a": {"uniform": [0, 1]}, "b": {"values": ["x", "y"]}}, method, count=16)
    assert design.columns(3) == design.columns(3)
    assert design.columns(3) != design.columns(4)


def test_a_latin_hypercube_has_one_cell_in_each_stratum():
    values = Design({"a": {"uniform": [0, 1]}}, "latin_hypercube", count=50).columns(0)["a"]
    assert sorted(math.floor(50 * v) for v in values) == list(range(50))


def test_products_and_repeats_have_all_combinations():
    first = Design({"a": {"values": [1, 2]}}, repeat=2)
    both = product(first, Design({"b": {"values": ["x", "y", "z"]}})).columns(0)
    assert both == {"a": [1] * 6 + [2] * 6, "b": ["x", "y", "z"] * 4}


def test_a_table_is_read_as_numbers_and_texts(tmp_path):
    file = tmp_path / "cells.csv"
    file.write_text("a,b,c\n1,0.5,soft\n2,1e-3,stiff\n")
    rows = read_table(file)
    assert rows == [{"a": 1, "b": 0.5, "c": "soft"}, {"a": 2, "b": 1e-3, "c": "stiff"}]
    columns = Design({"d": 3}, "table", rows=rows).columns(0)
    assert columns == {"a": [1, 2], "b": [0.5, 1e-3], "c": ["soft", "stiff"], "d": [3, 3]}
    file.write_text("a,b\n1\n")
    with pytest.raises(SweepError, match=r"cells.csv:2: must have one value"):
        read_table(file)
    file.write_text("a,b\ntrue,1_0\n")
    assert read_table(file) == [{"a": "true", "b": "1_0"}]


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 2**63 - 1), st.integers(0, 10**6))
def test_seeds_of_cells_depend_on_seed_and_cell_alone(seed, cell):
    assert seed_of(seed, cell) == seed_of(seed, cell)
    assert 0 <= seed_of(seed, cell) < 2**63
    assert seed_of(seed, cell) != seed_of(seed, cell + 1)


@pytest.mark.parametrize(
    "arguments, message",
    [
        ({"parameters": {"a": {"uniform": [0, 1]}}}, "'a': a grid needs values"),
        ({"method": "sobl"}, "Did you mean 'sobol'"),
        ({"method": "sobol"}, "Give `count`"),
        ({"parameters": {"a": {"unifrm": [0, 1]}}}, "'a': distribution 'unifrm' does not exist"),
        ({"parameters": {"a": {"uniform": [1, 0]}}}, "low < high"),
        ({"parameters": {"a": {"log_uniform": [0, 1]}}}, "0 < low < high"),
        ({"parameters": {"a": {"normal": [0, -1]}}}, "standard deviation > 0"),
        ({"parameters": {"a": {"uniform": [0, np.nan]}}}, "2 finite numbers"),
        ({"parameters": {"a": {"values": []}}}, "at least one"),
        ({"parameters": {"a": [1]}}, "a value, or a mapping"),
        ({"repeat": 0}, "repeat must be a whole number >= 1, got 0"),
        ({"parameters": {"a": {"integers": [0, 999_999]}, "b": {"steps": [0, 1, 99]}}}, "cells"),
    ],
)
def test_what_is_no_design_is_refused(arguments, message):
    with pytest.raises(SweepError, match=message):
        Design(**arguments).columns(0)
