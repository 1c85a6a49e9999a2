# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Do all runs of a design, store the results, and repeat single runs."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from hrpsim.common.errors import shown_value, unknown_name
from hrpsim.common.values import whole_count
from hrpsim.sweeps.cells import (
    DONE,
    FAILED,
    Cell,
    Result,
    Table,
    differences,
    fingerprint,
    run_cell,
    same_outcomes,
)
from hrpsim.sweeps.driver import Driver
from hrpsim.sweeps.executors import process_pool, processors
from hrpsim.sweeps.framework.design import Design, Product, seed_of
from hrpsim.sweeps.framework.scenario import (
    Scenario,
    SweepError,
    as_scenario,
    needed_package,
    unknown_parameter,
)
from hrpsim.sweeps.statistics import outcome_names
from hrpsim.sweeps.store import Store, first_difference, open_store

IN_FLIGHT = 512  # largest number of tasks at a time in an engine of unknown size
_AHEAD = 4  # number of tasks for each process of our pool
Make = Callable[[], Executor]


class SweepProgress(NamedTuple):
    """The progress of a sweep: numbers of runs, and times."""

    cells: int
    finished: int  # finished runs, done or failed, in this and earlier calls
    failed: int
    here: int  # runs finished in this call
    wall: float  # duration of this call [s]
    busy: float  # total duration of the runs of this call, over all processes [s]

    @property
    def left(self) -> float:
        """Wall time of the remaining runs at the present rate [s], or NaN before the first run."""
        return (self.cells - self.finished) * self.wall / self.here if self.here else float("nan")


class RepeatedRun(NamedTuple):
    """A repeated run."""

    values: dict[str, Any]
    outcomes: dict[str, Any]
    error: str
    same: bool  # whether the result equals the stored result bit for bit
    differs: str  # differences from the store: scenario, versions and arithmetic, or ""


def _workers(executor: Executor | None, processes: int | None) -> AbstractContextManager[Make]:
    """Return a context whose value makes executors: the given executor, or pools of processes."""
    return process_pool(processes) if executor is None else nullcontext(lambda: executor)


def sweep(  # many parameters: keywords, passed by name
    scenario: Any,
    design: Design | Product,
    executor: Executor | None = None,
    store: str | Path | None = None,
    *,
    seed: int = 0,
    title: str = "",
    processes: int | None = None,
    engine: AbstractContextManager[Make] | None = None,
    per_task: int = 1,
    tell: Callable[[SweepProgress], Any] | None = None,
) -> Any:
    """Run a scenario with all values of a design, and return the results as an xarray.Dataset.

    If a run raises an error, the error is the run's result.

    Args:
        scenario: a Scenario, a function with an attribute `outcomes`, or the name of one.
        design: the values of the parameters in each run.
        executor: any concurrent.futures.Executor. The default is a pool of processes.
        store: a folder for the results, saved run by run. A later call continues an interrupted
            sweep from this folder.
        seed: seed of the whole sweep. The seed of each run is derived from this seed.
        title: title of the results.
        processes: size of the pool. The default is one per processor.
        engine: a context manager that yields a function that makes executors, instead of
            `executor`.
        per_task: number of runs that are sent together.
        tell: function that is called with the progress.

    Raises:
        SweepError: a value is invalid. The error names run, parameter and value, and is raised
            before any run starts. Or the store or the engine fails. Finished runs are then in the
            store.
    """
    whole_count("per_task", per_task, error=SweepError)
    if processes is not None:
        whole_count("processes", processes, error=SweepError)
    scenario = as_scenario(scenario)
    table, identity = planned(scenario, design, seed)
    needed_package("xarray", "a sweep")
    result_store = None if store is None else Store(store, table, identity, title)
    try:
        if table.finished < table.count:
            mended = executor is None and engine is None
            with engine or _workers(executor, processes) as make:
                in_flight = _AHEAD * (processes or processors()) if mended else IN_FLIGHT
                expected = identity["versions"]
                driver = Driver(scenario, expected, make, mended, in_flight, per_task)
                _run(driver, table, result_store, tell)
        if result_store is not None:
            result_store.close()
    finally:
        if result_store is not None:
            result_store.abandon()
    return table.dataset({"title": title, **identity, "complete": "yes"})


def planned(
    scenario: Scenario, design: Design | Product, seed: int
) -> tuple[Table, dict[str, Any]]:
    """Plan the runs of a sweep.

    Returns:
        (table of all runs, without results; attributes that identify the sweep).
    """
    if not isinstance(seed, int) or isinstance(seed, bool) or not 0 <= seed < 2**63:
        raise SweepError(f"seed must be a whole number from 0 to 2^63 - 1, got {shown_value(seed)}")
    if not isinstance(design, (Design, Product)):
        raise SweepError(
            f"design must be a Design or a product of Designs, got {shown_value(design)}"
        )
    columns = design.columns(seed)
    count = len(next(iter(columns.values())))
    columns.pop("", None)
    _check_columns(scenario, columns)
    described = json.loads(json.dumps(scenario.identity()))
    _check_cells(scenario, columns, count)
    seeds = np.array([seed_of(seed, k) for k in range(count)], dtype=np.int64)
    table = Table(columns, seeds, scenario.parameters(), scenario.outcomes)
    digest = hashlib.sha256(seeds.tobytes())
    for name, column in table.columns.items():
        digest.update(name.encode() + column.tobytes())
    identity = {
        "scenario": described,
        "seed": seed,
        "cells": count,
        "parameters": list(table.columns),
        "design": digest.hexdigest(),
        "run": scenario.runs,
        "versions": fingerprint(scenario),
    }
    return table, identity


def _check_columns(scenario: Scenario, columns: dict[str, list[Any]]) -> None:
    """Raise SweepError, with the run, for unknown paths and impossible values."""
    known = scenario.parameters()
    for path, values in columns.items():
        if path not in known:
            raise SweepError(unknown_parameter(path, known))
        mistakes: dict[Any, str] = {}
        for cell, value in enumerate(values):
            if value not in mistakes:
                mistakes[value] = known[path].mistake(value)
            if mistakes[value]:
                raise SweepError(f"cell {cell}: {path} = {value!r}: {mistakes[value]}")


def _check_cells(scenario: Scenario, columns: dict[str, list[Any]], count: int) -> None:
    """Raise SweepError, with the run, for values that contradict each other."""
    for cell in range(count):
        values = {path: column[cell] for path, column in columns.items()}
        try:
            scenario.check(values)
        except ValueError as error:
            at = f"cell {cell}: {values}: " if values else ""
            raise SweepError(f"{at}{error}") from error


def _run(driver: Driver, table: Table, store: Store | None, tell) -> None:
    """Do the unfinished runs of a table."""
    begin, computed, busy = time.monotonic(), 0, 0.0

    def left() -> Iterator[Cell]:
        for k in np.flatnonzero(table.status == 0):
            yield Cell(int(k), table.values(int(k)), int(table.seeds[k]))

    def report() -> None:
        if tell is not None:
            failed = int(np.count_nonzero(table.status == FAILED))
            wall = time.monotonic() - begin
            tell(SweepProgress(table.count, table.finished, failed, computed, wall, busy))

    for results in driver.results(left(), report):
        computed += len(results)
        busy += sum(result.seconds for result in results)
        if store is not None:
            store.add(results)
        else:
            for result in results:
                table.add(result)
    report()


def replay(scenario: Any, results: Any, cell: int) -> RepeatedRun:
    """Repeat a run of a sweep in this process.

    Args:
        scenario: the scenario of the sweep.
        results: a store, or the dataset of a store.
        cell: number of the run.

    Raises:
        SweepError: for a run that does not exist.
    """
    scenario = as_scenario(scenario)
    dataset = open_store(results) if isinstance(results, (str, Path)) else results
    number, values, seed = cell_of(dataset, cell)
    if lacking := [name for name in scenario.outcomes if name not in dataset]:
        raise SweepError(
            f"the store has no outcome {lacking[0]!r}. The store is damaged, or belongs to "
            "another sweep"
        )
    result = run_cell(scenario, Cell(number, values, seed))
    stored = Result(
        number,
        int(dataset["status"].values[number]),
        {name: dataset[name].values[number].tolist() for name in scenario.outcomes},
        str(dataset["error"].values[number]),
    )
    same = result.status == stored.status and result.error == stored.error
    if result.status == DONE:
        same = same and same_outcomes(result.outcomes, stored.outcomes)
    return RepeatedRun(
        values, result.outcomes, result.error, same, _differing(scenario, dataset, stored)
    )


def _differing(scenario: Scenario, found: Any, stored: Result) -> str:
    """Return why a repeated run may differ from the store, "" if nothing does."""
    if not stored.status:
        return "the store has no result of this cell yet"
    there = json.loads(found.attrs["scenario"])
    other = first_difference(there, json.loads(json.dumps(scenario.identity())))
    versions = differences(fingerprint(scenario), json.loads(found.attrs["versions"]))
    return "; ".join(filter(None, (other, versions)))


def cell_of(found: Any, cell: int) -> Cell:
    """Return a run of a dataset. Raises SweepError if no run has this number."""
    count = found.sizes["cell"]
    if not 0 <= cell < count:
        raise SweepError(f"there is no cell {cell}: the sweep has cells 0 to {count - 1}")
    names = json.loads(found.attrs["parameters"])
    values = {name: found[name].values[cell].item() for name in names}
    return Cell(cell, values, int(found["seed"].values[cell]))


def worst_cells(found: Any, outcome: str, count: int) -> list[int]:
    """Return the numbers of the runs with the largest outcome, without NaN.

    outcome: name of the outcome. A minus sign in front selects the smallest outcome.
    """
    name = outcome.removeprefix("-")
    if name not in found or found[name].dims != ("cell",):
        raise SweepError(unknown_name("outcome", name, outcome_names(found), limit=30))
    values = found[name].values.astype(float) * (-1.0 if outcome.startswith("-") else 1.0)
    order = np.argsort(-values, kind="stable")
    return [int(k) for k in order[:count] if not np.isnan(values[k])]
