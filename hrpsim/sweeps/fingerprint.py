# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Fingerprints of what the bits of a result depend on: versions and the processor's arithmetic.

Compiled kernels use the processor's instructions (fused multiply-add, wide registers), and so do
NumPy, BLAS and the C library. Two processes agree bit for bit if the same versions do
the same arithmetic; that is compared by hashes of some of it, not by the names of processors.
"""

from __future__ import annotations

import hashlib
import math
import os
import platform
import sys
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np

from hrpsim.sweeps.framework.scenario import Scenario

_PACKAGES = ("numpy", "scipy", "numba", "llvmlite")
_ABOVE = ("bag", "commands", "crane", "experiments", "ros", "viewer")  # no result needs


def fingerprint(scenario: Scenario) -> dict[str, str]:
    """Return what must be equal in all processes of a sweep, by name."""
    return {**versions(), "arithmetic": _arithmetic(), "kernels": scenario.probe()}


@lru_cache
def versions() -> dict[str, str]:
    """Return the versions of all packages that compute; hrpsim's is a hash of its sources."""
    found = {"hrpsim": _sources(), "python": platform.python_version()}
    for name in _PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "absent"
    return found


def where() -> str:
    """Return the machine and process, for messages."""
    return f"process {os.getpid()} on {platform.node()}"


def differences(here: dict[str, str], there: dict[str, str]) -> str:
    """Return "name: this, not that" of all that differs, "" for nothing."""
    names = [*there, *(name for name in here if name not in there)]
    return "; ".join(
        f"{name}: {_short(here.get(name, 'none'))}, not {_short(there.get(name, 'none'))}"
        for name in names
        if here.get(name) != there.get(name)
    )


def _short(text: str) -> str:
    return text[:12]


@lru_cache
def _sources() -> str:
    package = Path(__file__).resolve().parents[1]
    digest = hashlib.sha256()
    for path in sorted(package.rglob("*.py")):
        name = path.relative_to(package)
        if name.parts[0] not in _ABOVE:
            digest.update(str(name).encode() + path.read_bytes())
    return digest.hexdigest()


@lru_cache
def _arithmetic() -> str:
    """Return a hash of functions of NumPy, BLAS and the C library at fixed arguments."""
    x = np.linspace(-3.0, 3.0, 1001)
    square = np.sin(np.add.outer(np.arange(24.0), np.arange(24.0) ** 2)) + 24.0 * np.eye(24)
    results = [np.sin(x), np.cos(x), np.exp(x), np.tanh(x), np.arctan2(x, 1.7), np.sqrt(x + 4.0)]
    results += [square @ square, np.linalg.solve(square, square[0]), np.linalg.norm(square, axis=0)]
    results += [np.einsum("ij,kj->ik", square, square), np.cumsum(x), np.array(x.sum())]
    results += [np.array([f(v) for v in x[::50]]) for f in (math.sin, math.exp, math.atan)]
    digest = hashlib.sha256(sys.byteorder.encode())
    for result in results:
        digest.update(np.ascontiguousarray(result).tobytes())
    return digest.hexdigest()
