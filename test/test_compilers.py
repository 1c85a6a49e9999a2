# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Which compiler kernels get, and that both make the same kernels."""

import logging
import os
import subprocess
import sys
from types import ModuleType

import numba
import numpy as np
import pytest

from hrpsim.engine.compile.compiled import inner_kernel, kernel
from hrpsim.engine.compile.numba_compiler import fits_numba

FORWARD_DYNAMICS = """
import numpy as np
from hrpsim import load_model
from hrpsim import forward_dynamics
from hrpsim import share_path
crane = load_model(share_path("urdf/crane.urdf.xacro"), base="fixed")
n = np.arange(1.0, crane.nv + 1)
print(forward_dynamics(crane, 0.01 * n, n, n).tobytes().hex())
"""


@pytest.fixture
def fresh():
    """Look anew, before the test and after it, whether the compiler fits numba."""
    fits_numba.cache_clear()
    yield
    fits_numba.cache_clear()


def test_the_compiler_fits_the_installed_numba(fresh, caplog):
    with caplog.at_level(logging.WARNING, "hrpsim"):
        assert fits_numba()
    assert caplog.records == []


def test_where_it_does_not_fit_numbas_own_compiles_and_a_warning_says_so(
    fresh, monkeypatch, caplog
):
    @kernel
    def third(x):
        return x / 3.0

    monkeypatch.setitem(
        sys.modules, "hrpsim.engine.compile.compiler", ModuleType("hrpsim.engine.compile.compiler")
    )
    with caplog.at_level(logging.WARNING, "hrpsim"):
        assert third(0.7) == 0.7 / 3.0
    (record,) = caplog.records
    assert record.getMessage().startswith(f"numba {numba.__version__} does not fit")


def accelerations(plain: str, cache) -> str:
    """Return the bits of the crane's accelerations, by kernels that are compiled for it."""
    environment = {"HRPSIM_PLAIN_COMPILER": plain, "HRPSIM_CACHE_DIR": str(cache)}
    command = [sys.executable, "-c", FORWARD_DYNAMICS]
    done = subprocess.run(
        command, env={**os.environ, **environment}, capture_output=True, text=True, timeout=500
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.long
def test_both_make_the_same_bits(tmp_path):
    assert accelerations("0", tmp_path) == accelerations("1", tmp_path) != ""


@inner_kernel
def _leaf(x):
    return x + 1.0


@inner_kernel
def _left(x):
    return 2.0 * _leaf(x)


@inner_kernel
def _right(x):
    return 3.0 * _left(x) + _leaf(x)


@inner_kernel
def _calls_none(x):
    if x != x and x == x:  # never, which LLVM finds
        return _leaf(x)
    return x


@kernel
def _top(values, wanted):
    """Call kernels that call each other; one of them only where it is `wanted`."""
    total = 0.0
    for k in range(values.shape[0]):
        total += _calls_none(_right(values[k]))
        if wanted:
            total += min(_left(values[k]), total, 1e3)
    return total


def test_kernels_that_several_call_are_linked_once_and_found_by_all():
    """Law: also where the first to name a kernel does not call it."""
    values = np.arange(5.0)
    expected = 0.0
    for x in values:
        expected += 6.0 * (x + 1.0) + x + 1.0
        expected += min(2.0 * (x + 1.0), expected, 1e3)
    assert _top(values, True) == expected
    assert _top(values, False) == sum(7.0 * (x + 1.0) for x in values)


@kernel
def _reshaped(values):
    return values.reshape(2, values.shape[0] // 2)[0].sum()


def test_a_kernel_that_needs_numbas_runtime_is_refused_by_name():
    """Such code would end a process that loads it without numba."""
    with pytest.raises(TypeError, match=r"_reshaped calls numba_attempt_nocopy_reshape"):
        _reshaped(np.arange(4.0))
