# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Compiling ahead: what takes long is begun first, and what is left is told."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hrpsim.commands import warm_up
from hrpsim.commands.warm_up import _WEIGHTS, _weight, in_order, parts, seconds_left

WALK = ["solve_by_newton_method", "step", "seek_grip", "keep_momentum"]


def test_parts_with_weights_exist():
    assert set(_WEIGHTS) <= set(parts())


@pytest.mark.parametrize("workers, ends", [(1, 22.5), (2, 11.5), (4, 11.0)])
def test_what_is_left_is_the_end_of_the_last_process(workers, ends):
    """Law: weights 11, 8.5, 2 and 1; two processes do 11, and 8.5 + 2 + 1."""
    took = {"step": 17.0}
    assert seconds_left(WALK, took, workers, 0.0) == pytest.approx(2.0 * ends)
    assert seconds_left(WALK, took, workers, 3.0) == pytest.approx(2.0 * ends - 3.0)


@given(unit=st.floats(0.1, 100.0), done=st.integers(1, 4))
def test_the_machines_speed_is_that_of_what_is_done(unit, done):
    took = {part: unit * _weight(part) for part in WALK[:done]}
    assert seconds_left(WALK, took, 2, 0.0) == pytest.approx(max(11.5 * unit, 1.0))


def test_it_never_says_that_no_time_is_left():
    assert seconds_left(WALK, {}, 2, 1e6) == 1.0


def test_the_longest_parts_are_begun_first():
    assert in_order(["keep_momentum", "solve_by_newton_method", "seek_grip", "step"]) == WALK


def test_one_process_takes_parts_in_the_order_given(monkeypatch):
    """Law: whoever waits for some of them names these first."""
    given, begun = ["find_contacts", "prepare_rows", "solve_by_newton_method"], []
    monkeypatch.setattr(warm_up, "compile_part", begun.append)
    warm_up._compile(given, 1)
    assert begun == given
