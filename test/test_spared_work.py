# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Compiling with less work: the same kernels, and numba afterwards as it was before."""

import contextlib

import numba
import numpy as np
import pytest
from numba.core import base, compiler, event, interpreter, ir
from numba.core.base import BaseContext
from numba.core.postproc import PostProcessor
from numba.core.registry import cpu_target
from numba.core.types import Record
from numba.core.types.functions import BaseFunction

from hrpsim.jit.compiled import kernel
from hrpsim.jit.numba_compiler import dispatcher_of
from hrpsim.jit.spared_work import spared_work


def parts_of_numba() -> list:
    of_types = [BaseFunction.get_call_type, BaseContext.refresh, BaseContext.get_abi_sizeof]
    of_functions = [ir.Inst._rec_list_vars, PostProcessor.run, base._has_loc, Record.__repr__]
    of_functions.append(interpreter.peep_hole_delete_with_exit)
    return [*of_types, *of_functions, event.start_event, event.end_event]


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


def _within(count):
    for k in range(count):
        with numba.objmode():
            print(k + count)
    return count


def _counted(count):
    for k in range(count):
        yield k + count


@pytest.mark.parametrize("function", [_within, _counted, np.polynomial.polynomial.polyval])
def test_what_is_not_as_kernels_are_is_read_as_numba_does(function):
    """Law: `with`, generators and the like have the same statements, each variable let go once."""
    told = []
    for spare in (contextlib.nullcontext, spared_work):
        with spare():
            told.append(statements_of(compiler.run_frontend(function, emit_dels=True)))
    assert told[0] == told[1] and any("del" in line for line in told[0])


def statements_of(func_ir) -> list[str]:
    return [str(s) for _, block in sorted(func_ir.blocks.items()) for s in block.body]


def test_types_are_as_large_as_they_are():
    """Law: what is looked up once is looked up for each type."""
    context = cpu_target.target_context
    kinds = [numba.float64, numba.boolean, numba.types.Array(numba.float64, 2, "C")]
    kinds.append(numba.from_dtype(np.dtype([("place", "f8", 3), ("touches", "u1")], align=True)))
    types = [context.get_data_type(kind) for kind in kinds]
    sizes = [context.get_abi_sizeof(t) for t in types]
    with spared_work():
        assert [context.get_abi_sizeof(t) for t in [*types, *types]] == sizes * 2
        assert len({repr(kind) for kind in kinds}) == len(kinds)
    assert sizes == [8, 1, 9 * 8, 4 * 8]  # an array is nine words
