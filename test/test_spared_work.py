# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Compiling with less work: the same kernels, and numba afterwards as it was before."""

import numba
import numpy as np
import pytest
from numba.core import event, ir
from numba.core.base import BaseContext
from numba.core.types.functions import BaseFunction

from hrpsim.jit.compiled import inner_kernel, kernel
from hrpsim.jit.numba_compiler import dispatcher_of
from hrpsim.jit.spared_work import spared_work


def parts_of_numba() -> list:
    of_types = [BaseFunction.get_call_type, BaseContext.refresh]
    return [*of_types, ir.Inst._rec_list_vars, event.broadcast]


def test_numba_is_afterwards_as_before_whatever_happens():
    before = parts_of_numba()
    with pytest.raises(ZeroDivisionError), spared_work():
        with spared_work():  # as functions that are compiled for others are
            pass
        assert all(now is not then for now, then in zip(parts_of_numba(), before, strict=True))
        raise ZeroDivisionError
    assert parts_of_numba() == before


def test_whoever_listens_to_numba_hears_of_a_kernel():
    """Law: only numba's own stopwatches are not told."""

    @kernel
    def twice(x):
        return 2.0 * x

    with event.install_recorder("numba:compile") as heard:
        dispatcher_of(twice).compile((numba.float64,))
    assert len(heard.buffer) == 2  # its begin and its end


def test_variables_of_statements_are_those_that_numba_finds():
    program = numba.njit(lambda x, y: [(x[k], {"a": y}) for k in range(y)] if y else max(x, y))
    blocks = numba.core.compiler.run_frontend(program.py_func).blocks
    statements = [s for block in blocks.values() for s in block.body]
    plain = [[v.name for v in s.list_vars()] for s in statements]
    with spared_work():
        assert [[v.name for v in s.list_vars()] for s in statements] == plain
    assert any(plain)


@inner_kernel
def _leaf(x):
    return x + 1.0


@inner_kernel
def _left(x):
    return 2.0 * _leaf(x)


@inner_kernel
def _right(x):
    return 3.0 * _left(x) + _leaf(x)


@kernel
def _top(values, wanted):
    """Call kernels that call each other; one of them only where it is `wanted`."""
    total = 0.0
    for k in range(values.shape[0]):
        total += _right(values[k])
        if wanted:
            total += min(_left(values[k]), total, 1e3)
    return total


def test_kernels_that_several_call_are_linked_once_and_found_by_all():
    values = np.arange(5.0)
    expected = 0.0
    for x in values:
        expected += 6.0 * (x + 1.0) + x + 1.0
        expected += min(2.0 * (x + 1.0), expected, 1e3)
    assert _top(values, True) == expected
    assert _top(values, False) == sum(7.0 * (x + 1.0) for x in values)
