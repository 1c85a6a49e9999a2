# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Execution of the runs of a sweep, in this process or in another process.

The module has the values and the result of a run, the fingerprint of versions, and a table of all
runs.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import pickle
import platform
import sys
import time
import traceback
import warnings
from collections.abc import Mapping, Sequence
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from hrpsim.common.errors import HrpsimError, ModelWarning, shown_value
from hrpsim.sweeps.framework.scenario import (
    Outcome,
    Parameter,
    Scenario,
    SweepError,
    needed_package,
)

DONE, FAILED, REFUSED = 1, 2, 3
ERROR_LENGTH = 240  # largest length of a stored error text
_REFUSAL_PAUSE = 0.5  # [s], meanwhile other processes take the refused runs
_PACKAGES = ("numpy", "scipy", "numba", "llvmlite")
_ABOVE = ("bag", "commands", "ros", "viewer")  # packages that do not affect results
STATUS = {0: "not run", DONE: "done", FAILED: "failed"}
_STATUS_FLAGS = {"flag_values": list(STATUS), "flag_meanings": "not_run done failed"}
_RESERVED = ("cell", "seed", "status", "error")


class Cell(NamedTuple):
    """One run of a design, with its number, values and seed."""

    number: int
    values: dict[str, Any]
    seed: int


class Result(NamedTuple):
    """The result of a run. `seconds` is the measured duration and is not stored."""

    number: int
    status: int  # DONE, FAILED, or REFUSED: not run, because the result could differ
    outcomes: dict[str, Any]
    error: str = ""
    seconds: float = 0.0


_seen: dict[int, dict[str, str]] = {}  # fingerprints of this process, by expected fingerprint


def run_cells(
    scenario: Scenario, cells: tuple[Cell, ...], expected: Mapping[str, str] | None
) -> list[Result]:
    """Return the results of some runs. If a run raises an error, the error is the run's result.

    expected: the fingerprint of the process that began the sweep. A process with another
    fingerprint does no run. None: any process does the runs.
    """
    if expected is not None:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ModelWarning)  # the process that began has warned
                actual = _fingerprint(scenario, expected)
            problem = differences(actual, dict(expected))
        except HrpsimError as error:  # for example, a file of the study is missing
            problem = f"{type(error).__name__}: {error}"
        if problem:
            time.sleep(_REFUSAL_PAUSE)
            return [Result(c.number, REFUSED, {}, f"{where()}: {problem}") for c in cells]
    begin = time.perf_counter()
    together = scenario.run_together([(cell.values, cell.seed) for cell in cells])
    if together is None:
        return [run_cell(scenario, cell) for cell in cells]
    took = (time.perf_counter() - begin) / len(cells)
    return [
        _result(scenario, cell, outcomes, took)
        for cell, outcomes in zip(cells, together, strict=True)
    ]


def problem_of_scenario(data: bytes) -> str:
    """Return the reason why this process cannot unpickle a scenario, or ""."""
    try:
        pickle.loads(data)
    except Exception as error:  # from any part of the run
        return f"{type(error).__name__}: {error}"
    return ""


def run_cell(scenario: Scenario, cell: Cell) -> Result:
    """Return the result of one run."""
    begin = time.perf_counter()
    outcome: Any
    try:
        outcome = scenario.run(cell.values, cell.seed)
    except KeyboardInterrupt:  # this error ends the whole sweep
        raise
    except BaseException as error:  # any error, because the other runs do not depend on this run
        outcome = error
    return _result(scenario, cell, outcome, time.perf_counter() - begin)


def _result(scenario: Scenario, cell: Cell, found: Any, took: float) -> Result:
    """Return the result of a run that ended with these outcomes or this error."""
    try:
        if isinstance(found, BaseException):
            raise found
        outcomes = checked_outcomes(scenario, found)
    except BaseException as error:
        text = f"{type(error).__name__}: {' '.join(str(error).split())}"
        if not isinstance(error, HrpsimError):
            last = traceback.extract_tb(error.__traceback__)[-1]
            text += f" ({last.filename.rpartition('/')[2]}:{last.lineno})"
        return Result(cell.number, FAILED, {}, cut(text), took)
    return Result(cell.number, DONE, outcomes, "", took)


def cut(text: str) -> str:
    """Return the text of an error, shortened to the length that is stored."""
    return text if len(text) <= ERROR_LENGTH else f"{text[: ERROR_LENGTH - 4]} ..."


def checked_outcomes(scenario: Scenario, found: Any) -> dict[str, Any]:
    """Return a run's outcomes as plain numbers, or as lists if the scenario declares arrays."""
    if not isinstance(found, Mapping):
        raise SweepError(f"a run must return a mapping of outcomes, got {shown_value(found)}")
    missing = [name for name in scenario.outcomes if name not in found]
    more = [str(name) for name in found if name not in scenario.outcomes]
    if missing or more:
        raise SweepError(
            "the outcomes of the run differ from the declared ones. Missing: "
            f"{', '.join(missing) or 'none'}. Not declared: {', '.join(more) or 'none'}"
        )
    return {
        name: _plain(name, tuple(outcome.shape), found[name])
        for name, outcome in scenario.outcomes.items()
    }


def _plain(name: str, shape: tuple[int, ...], value: Any) -> Any:
    """Return an outcome as a number or a list. Raise SweepError for another shape."""
    try:
        array = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise SweepError(f"outcome {name!r} is not a number: {shown_value(value)}") from None
    if array.shape != shape:
        raise SweepError(
            f"outcome {name!r} must have the declared shape {shape}, got {array.shape}"
        )
    return array.tolist()


def _fingerprint(scenario: Scenario, expected: Mapping[str, str]) -> dict[str, str]:
    """Return this process's fingerprint, computed once per sweep."""
    key = hash(tuple(sorted(expected.items())))
    known = _seen.get(key)
    if known is None:
        known = fingerprint(scenario)
        _seen.clear()
        _seen[key] = known
    return known


def same_outcomes(a: Mapping[str, Any], b: Mapping[str, Any]) -> bool:
    """Return whether the outcomes of two runs are equal, bit for bit. NaN equals NaN."""
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
    """Return {name: text} of properties, such as versions, that must be equal in all processes."""
    return {**versions(), "arithmetic": _arithmetic(), "kernels": scenario.probe()}


@lru_cache
def versions() -> dict[str, str]:
    """Return the versions of packages that affect results. For hrpsim, a hash of the sources."""
    result = {"hrpsim": _sources(), "python": platform.python_version()}
    for name in _PACKAGES:
        try:
            result[name] = version(name)
        except PackageNotFoundError:
            result[name] = "absent"
    return result


def where() -> str:
    """Return the names of machine and process, for messages."""
    return f"process {os.getpid()} on {platform.node()}"


def differences(here: dict[str, str], there: dict[str, str]) -> str:
    """Return "name: HERE, not THERE" for each difference of two fingerprints, or ""."""
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
    """Return a hash of results of NumPy, BLAS and the C library for fixed arguments."""
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


class Table:
    """Values, seeds and results of all runs.

    columns: the values of the parameters, by name. A parameter must not have the name of an
    outcome. Outcomes of unfinished runs are NaN.
    """

    def __init__(
        self,
        columns: Mapping[str, Sequence[Any]],
        seeds: np.ndarray,
        parameters: Mapping[str, Parameter],
        outcomes: Mapping[str, Outcome],
    ) -> None:
        self.count = len(seeds)
        self.seeds = seeds
        self.columns = {name: _column(name, values) for name, values in columns.items()}
        self._units = {name: parameters[name].unit for name in columns}
        self._outcomes = outcomes
        for name in (*outcomes, *columns):
            if name in ("", *_RESERVED) or "/" in name or (name in outcomes and name in columns):
                raise SweepError(
                    f"{name!r} is a reserved name. Give the outcome or parameter another name"
                )
        self.status = np.zeros(self.count, dtype=np.int8)
        self.errors: dict[int, str] = {}
        self.results = {
            name: np.full((self.count, *outcome.shape), np.nan)
            for name, outcome in outcomes.items()
        }

    def add(self, result: Result) -> None:
        """Store the result of a run."""
        self.status[result.number] = result.status
        if result.error:
            self.errors[result.number] = result.error
        for name, value in result.outcomes.items():
            self.results[name][result.number] = value

    def values(self, cell: int) -> dict[str, Any]:
        """Return the values of a run's parameters."""
        return {name: column[cell].item() for name, column in self.columns.items()}

    def result(self, cell: int) -> Result:
        """Return the result of a finished run."""
        status, outcomes = int(self.status[cell]), {}
        if status == DONE:
            outcomes = {name: array[cell].tolist() for name, array in self.results.items()}
        return Result(cell, status, outcomes, self.errors.get(cell, ""))

    @property
    def finished(self) -> int:
        """Number of runs that are done or have failed."""
        return int(np.count_nonzero(self.status))

    def dataset(self, attributes: Mapping[str, Any]) -> Any:
        """Return an xarray.Dataset of all runs, with units and the dimension `cell`."""
        xarray = needed_package("xarray", "a dataset")
        numbers = np.arange(self.count)
        errors = np.array([self.errors.get(int(k), "") for k in numbers], dtype=f"U{ERROR_LENGTH}")
        coordinates = {"cell": numbers, "seed": ("cell", self.seeds)}
        for name, column in self.columns.items():
            coordinates[name] = ("cell", column, _attributes(self._units[name], ""))
        variables: dict[str, Any] = {
            "status": ("cell", self.status, _STATUS_FLAGS),
            "error": ("cell", errors),
        }
        for name, array in self.results.items():
            outcome = self._outcomes[name]
            axes = [f"{name}_{k}" for k in range(array.ndim - 1)]
            about = _attributes(outcome.unit, outcome.about)
            variables[name] = (["cell", *axes], array, about)
        texts = {k: v if isinstance(v, str) else json.dumps(v) for k, v in attributes.items()}
        return xarray.Dataset(variables, coordinates, texts)


def _column(name: str, values: Sequence[Any]) -> np.ndarray:
    """Return the values of a parameter. Raises SweepError for values that no array can store."""
    try:
        column = column_array(values)
    except OverflowError:
        raise SweepError(f"parameter {name!r}: whole numbers must be at most 2^63 - 1") from None
    for k in range(len(values) if column.dtype.kind == "U" else 0):
        if values[k].endswith("\0"):
            raise SweepError(
                f"parameter {name!r}: cell {k}: a text must not end with a null character"
            )
    return column


def column_array(values: Sequence[Any]) -> np.ndarray:
    """Return the values of one parameter as an array of numbers, truth values or texts."""
    kinds = {type(value) for value in values}
    if kinds <= {bool}:
        return np.array(values, dtype=bool)
    if kinds <= {int}:
        return np.array(values, dtype=np.int64)
    if kinds <= {int, float}:
        return np.array(values, dtype=np.float64)
    if kinds <= {str}:
        return np.array(values, dtype=str)
    names = ", ".join(sorted(kind.__name__ for kind in kinds))
    raise SweepError(f"the values of a parameter must have one type, got {names}")


def _attributes(unit: str, about: str) -> dict[str, str]:
    attributes = {"units": unit, "long_name": about}
    return {name: text for name, text in attributes.items() if text}
