# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Which compilers kernels get, and that both make the same kernels."""

import logging
import os
import subprocess
import sys
from types import ModuleType

import numba

from hrpsim.jit import compiler_choice
from hrpsim.jit.compiler_choice import PLAIN, choose_compilers

FORWARD_DYNAMICS = """
import numpy as np
from hrpsim import load_model
from hrpsim import forward_dynamics
from hrpsim import share_path
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
        command, env={**os.environ, **environment}, capture_output=True, text=True, timeout=500
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_both_make_the_same_bits(tmp_path):
    assert accelerations("0", tmp_path) == accelerations("1", tmp_path) != ""
