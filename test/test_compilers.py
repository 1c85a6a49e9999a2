# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Which compilers kernels get, and that both make the same kernels."""

import logging
import math
import os
import subprocess
import sys
from types import ModuleType

import numba
import numpy as np
import pytest
from numba.core import codegen

from hrpsim.jit import compiled, compiler_choice
from hrpsim.jit.compiled import kernel
from hrpsim.jit.compiler_choice import PLAIN, choose_compilers

FORWARD_DYNAMICS = """
import numpy as np
from hrpsim import load_model
from hrpsim.dynamics.functions import forward_dynamics
from hrpsim.resources import share_path
crane = load_model(share_path("urdf/crane.urdf.xacro"), base="fixed")
n = np.arange(1.0, crane.nv + 1)
print(forward_dynamics(crane, 0.01 * n, n, n).tobytes().hex())
"""


def test_the_quick_compilers_fit_the_installed_numba(monkeypatch, caplog):
    monkeypatch.delenv("HRPSIM_PLAIN_COMPILER", raising=False)
    monkeypatch.setattr(compiler_choice, "_TESTED", ())  # so that they are tried
    with caplog.at_level(logging.WARNING, "hrpsim"):
        assert choose_compilers().name == "quick"
    assert caplog.records == []


def test_where_they_do_not_fit_numbas_own_compile_and_it_is_said(monkeypatch, caplog):
    monkeypatch.delenv("HRPSIM_PLAIN_COMPILER", raising=False)
    monkeypatch.setitem(sys.modules, "hrpsim.jit.compiler", ModuleType("hrpsim.jit.compiler"))
    with caplog.at_level(logging.WARNING, "hrpsim"):
        assert choose_compilers() is PLAIN
    (record,) = caplog.records
    assert record.getMessage().startswith(f"numba {numba.__version__} does not take quick")


def accelerations(plain: str, cache) -> str:
    """Return the bits of the crane's accelerations, by kernels that are compiled for it."""
    environment = {"HRPSIM_PLAIN_COMPILER": plain, "HRPSIM_CACHE_DIR": str(cache)}
    command = [sys.executable, "-c", FORWARD_DYNAMICS]
    done = subprocess.run(
        command, env={**os.environ, **environment}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.timeout(600)  # compiles twice, once as slowly as numba does by itself
def test_both_make_the_same_bits(tmp_path):
    assert accelerations("0", tmp_path) == accelerations("1", tmp_path) != ""


def test_machine_code_comes_from_llvm_s_text_where_numba_does_not_hand_it_out(monkeypatch):
    """Law: a kernel made of what numba documents gives the same bits as its object file."""
    monkeypatch.setattr(compiled, "load_kept", lambda path: None)
    monkeypatch.setattr(compiled, "keep", lambda path, kept: None)
    x = np.linspace(0.1, 2.0, 40).reshape(2, 20)
    usual, expected = kernel(write_waves), np.empty((2, 20))
    usual(x, 3, expected)
    monkeypatch.delattr(codegen.CodeLibrary, "_get_compiled_object")
    other, found = kernel(write_waves), np.empty((2, 20))
    assert other(x, 3, found) == (3, x.size * 0.5, True)
    assert usual.compiled == other.compiled == 1
    assert found.tobytes() == expected.tobytes() != b""


def write_waves(x, n, out):
    for k in range(x.shape[0]):
        for j in range(x.shape[1]):
            out[k, j] = math.sin(n * x[k, j]) + x[k, j] * x[k, j]
    return n, 0.5 * x.size, n > 2
