# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Compiling with less work: the same types, and numba afterwards as it was before."""

import operator

import numba
import pytest
from numba.core import event
from numba.core.registry import cpu_target
from numba.core.types.functions import BaseFunction

from hrpsim.engine.compile.compiler import spared_work

REPLACED = ((BaseFunction, "get_call_type"), (event, "broadcast"))


def test_numba_is_afterwards_as_before_whatever_happens():
    before = [getattr(*place) for place in REPLACED]
    with pytest.raises(ZeroDivisionError), spared_work():
        with spared_work():  # as functions that are compiled for others are
            pass
        replaced = [getattr(*place) for place in REPLACED]
        assert all(new is not old for new, old in zip(replaced, before, strict=True))
        raise ZeroDivisionError
    assert [getattr(*place) for place in REPLACED] == before


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
