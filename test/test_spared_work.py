# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Compiling with less work: the same types, and numba afterwards as it was before."""

import operator

import numba
import pytest
from numba.core.registry import cpu_target
from numba.core.types.functions import BaseFunction, Dispatcher

from hrpsim.jit.compiler import spared_work


def test_numba_is_afterwards_as_before_whatever_happens():
    before = BaseFunction.get_call_type, Dispatcher.get_call_type
    with pytest.raises(ZeroDivisionError), spared_work():
        with spared_work():  # as functions that are compiled for others are
            pass
        assert BaseFunction.get_call_type is not before[0]
        assert Dispatcher.get_call_type is not before[1]
        raise ZeroDivisionError
    assert (BaseFunction.get_call_type, Dispatcher.get_call_type) == before


def test_a_kernel_is_compiled_once_for_all_numbers_that_calls_write_out():
    """Law: its signatures are those of types, not of values."""

    @numba.njit
    def times(x, n):
        return n * x

    @numba.njit
    def calls(x, n):
        return times(x, 0) + times(x, 1) + times(x, n=2) + times(x, n)

    with spared_work():
        assert calls(2.0, 3) == 12.0
    assert list(times.overloads) == [(numba.float64, numba.int64)]


def test_a_kernel_whose_number_must_be_known_is_still_compiled():
    """Law: what numba compiles compiles here too: an item of a tuple of several types, say."""

    @numba.njit
    def item(pair, n):
        return pair[n]

    @numba.njit
    def second(x):
        return item((1, (x, x)), 1)[0]

    with spared_work():
        assert second(2.5) == 2.5


def test_types_of_results_are_those_that_numba_finds():
    """Law: what is found once is found for each function and each kind of arguments."""
    typing = cpu_target.typing_context
    typing.refresh()
    kinds = [(a, b) for a in (numba.float64, numba.int64) for b in (numba.float64, numba.int64)]

    def results():
        found = []
        for function in (operator.add, operator.truediv, max):
            kind = typing.resolve_value_type(function)
            found += [str(kind.get_call_type(typing, pair, {})) for pair in kinds]
        return found

    plain = results()
    with spared_work():
        assert results() == plain and results() == plain
    assert len(set(plain)) > 4
