# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The results of a sweep as arrays, a row per run, and as an xarray.Dataset."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from hrpsim.sweeps.cells import DONE, ERROR_LENGTH, FAILED, Result
from hrpsim.sweeps.framework.scenario import Outcome, Parameter, SweepError, needed_package

STATUS = {0: "not run", DONE: "done", FAILED: "failed"}
_STATUS_FLAGS = {"flag_values": list(STATUS), "flag_meanings": "not_run done failed"}
_RESERVED = ("cell", "seed", "status", "error")


class Table:
    """Values, seeds and results of all runs.

    columns: the values of the parameters. Outcomes of runs that are not done are NaN. Names of
    arrays are those of parameters and outcomes, which must differ.
    """

    def __init__(
        self,
        columns: Mapping[str, Sequence[Any]],
        seeds: np.ndarray,
        parameters: Mapping[str, Parameter],
        outcomes: Mapping[str, Outcome],
    ):
        self.count = len(seeds)
        self.seeds = seeds
        self.columns = {name: _column(name, values) for name, values in columns.items()}
        self._units = {name: parameters[name].unit for name in columns}
        self._outcomes = outcomes
        for name in (*outcomes, *columns):
            if name in ("", *_RESERVED) or "/" in name or (name in outcomes and name in columns):
                raise SweepError(f"{name!r} cannot be the name of an outcome or parameter here")
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
        status, found = int(self.status[cell]), {}
        if status == DONE:
            found = {name: array[cell].tolist() for name, array in self.results.items()}
        return Result(cell, status, found, self.errors.get(cell, ""))

    @property
    def finished(self) -> int:
        """Number of runs that are done or failed."""
        return int(np.count_nonzero(self.status))

    def dataset(self, attributes: Mapping[str, Any]) -> Any:
        """Return an xarray.Dataset of all runs, with units; dimension `cell`."""
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
    """Return the values of a parameter; SweepError for those that an array cannot store."""
    try:
        column = column_array(values)
    except OverflowError:
        raise SweepError(f"parameter {name!r}: whole numbers end at 2^63 - 1 here") from None
    for k in range(len(values) if column.dtype.kind == "U" else 0):
        if values[k].endswith("\0"):
            raise SweepError(
                f"parameter {name!r}: cell {k}: a text cannot end with a null character"
            )
    return column


def column_array(values: Sequence[Any]) -> np.ndarray:
    """Return values of one parameter as an array of numbers, truth values or texts."""
    kinds = {type(value) for value in values}
    if kinds <= {bool}:
        return np.array(values, dtype=bool)
    if kinds <= {int}:
        return np.array(values, dtype=np.int64)
    if kinds <= {int, float}:
        return np.array(values, dtype=np.float64)
    if kinds <= {str}:
        return np.array(values, dtype=str)
    shown = ", ".join(sorted(kind.__name__ for kind in kinds))
    raise SweepError(f"values of one parameter are of several types: {shown}")


def _attributes(unit: str, about: str) -> dict[str, str]:
    given = {"units": unit, "long_name": about}
    return {name: text for name, text in given.items() if text}
