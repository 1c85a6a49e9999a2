# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Do runs, here or in another process: their values and results."""

from __future__ import annotations

import hashlib
import math
import os
import pickle
import platform
import sys
import time
import traceback
from collections.abc import Mapping
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from hrpsim.errors import HrpsimError, shown_value
from hrpsim.sweeps.framework.scenario import Scenario, SweepError

DONE, FAILED, REFUSED = 1, 2, 3
ERROR_LENGTH = 240  # characters of an error's text that are stored
_REFUSAL_PAUSE = 0.5  # [s]: other processes take the runs that this one refuses
_PACKAGES = ("numpy", "scipy", "numba", "llvmlite")
_ABOVE = ("bag", "commands", "crane", "experiments", "ros", "viewer")  # no result needs


class Cell(NamedTuple):
    """One run of a design."""

    number: int
    values: dict[str, Any]
    seed: int


class Result(NamedTuple):
    """The result of a run. `seconds`, of this process, are not stored."""

    number: int
    status: int  # DONE, FAILED, or REFUSED: not run, as the bits would differ
    outcomes: dict[str, Any]
    error: str = ""
    seconds: float = 0.0


_seen: dict[int, dict[str, str]] = {}  # this process's fingerprint, by the one expected


def run_cells(
    scenario: Scenario, cells: tuple[Cell, ...], expected: Mapping[str, str] | None
) -> list[Result]:
    """Return the results of some runs; an error in one is its result.

    expected: the fingerprint of the process that began the sweep; one that differs does no
    run. None: any process does.
    """
    if expected is not None:
        try:
            problem = differences(_fingerprint(scenario, expected), dict(expected))
        except HrpsimError as error:  # for example, a file of the study is missing
            problem = f"{type(error).__name__}: {error}"
        if problem:
            time.sleep(_REFUSAL_PAUSE)
            return [Result(c.number, REFUSED, {}, f"{where()}: {problem}") for c in cells]
    return [run_cell(scenario, cell) for cell in cells]


def problem_of_scenario(data: bytes) -> str:
    """Return why this process cannot read a scenario sent to it, "" if it can."""
    try:
        pickle.loads(data)
    except Exception as error:  # of any of its parts
        return f"{type(error).__name__}: {error}"
    return ""


def run_cell(scenario: Scenario, cell: Cell) -> Result:
    """Return the result of one run."""
    begin = time.perf_counter()
    try:
        outcomes = checked_outcomes(scenario, scenario.run(cell.values, cell.seed))
    except KeyboardInterrupt:  # ends the whole sweep
        raise
    except BaseException as error:  # any error: the other runs do not depend on this one
        text = f"{type(error).__name__}: {' '.join(str(error).split())}"
        if not isinstance(error, HrpsimError):
            last = traceback.extract_tb(error.__traceback__)[-1]
            text += f" ({last.filename.rpartition('/')[2]}:{last.lineno})"
        took = time.perf_counter() - begin
        return Result(cell.number, FAILED, {}, cut(text), took)
    return Result(cell.number, DONE, outcomes, "", time.perf_counter() - begin)


def cut(text: str) -> str:
    """Return the part of an error's text that is stored."""
    return text if len(text) <= ERROR_LENGTH else f"{text[: ERROR_LENGTH - 4]} ..."


def checked_outcomes(scenario: Scenario, found: Any) -> dict[str, Any]:
    """Return a run's outcomes as plain numbers, or as lists where arrays are declared."""
    if not isinstance(found, Mapping):
        raise SweepError(f"a run ends with a mapping of outcomes, got {shown_value(found)}")
    missing = [name for name in scenario.outcomes if name not in found]
    more = [str(name) for name in found if name not in scenario.outcomes]
    if missing or more:
        raise SweepError(
            f"the run's outcomes lack {', '.join(missing) or 'none'} and have besides "
            f"{', '.join(more) or 'none'}"
        )
    plain = {}
    for name, outcome in scenario.outcomes.items():
        try:
            array = np.asarray(found[name], dtype=np.float64)
        except (TypeError, ValueError, OverflowError):
            raise SweepError(f"outcome {name!r} is no number: {shown_value(found[name])}") from None
        if array.shape != tuple(outcome.shape):
            raise SweepError(
                f"outcome {name!r} has shape {array.shape}, {tuple(outcome.shape)} was declared"
            )
        plain[name] = array.tolist()
    return plain


def _fingerprint(scenario: Scenario, expected: Mapping[str, str]) -> dict[str, str]:
    """Return this process's fingerprint, computed once per sweep."""
    key = hash(tuple(sorted(expected.items())))
    found = _seen.get(key)
    if found is None:
        found = fingerprint(scenario)
        _seen.clear()
        _seen[key] = found
    return found


def same_outcomes(a: Mapping[str, Any], b: Mapping[str, Any]) -> bool:
    """Return whether two runs ended alike, bit for bit; NaN equals NaN."""
    if a.keys() != b.keys():
        return False
    return all(
        np.asarray(a[k], np.float64).tobytes() == np.asarray(b[k], np.float64).tobytes()
        or (_is_nan(a[k]) and _is_nan(b[k]))
        for k in a
    )


def _is_nan(value: Any) -> bool:
    return isinstance(value, float) and math.isnan(value)


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
