# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Speed-up by two processes: python -m evidence.benchmarks.sweep_efficiency [CELLS [ROUNDS]]

The same walks of the push study are run in turn by one process, by two processes, and by a Dask
scheduler with two workers. The processes are started, and the walks are planned, before the
measurement. Parallel efficiency is the wall time of one process divided by twice the wall time of
two processes. On a busy machine, the efficiency depends more on other programs. The processor time
of a run then shows how much two processes slow each other down.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import Executor, wait
from contextlib import ExitStack
from typing import NamedTuple

import numpy as np

from evidence.benchmarks.sweep_overhead import dask_cluster, processor_time
from hrpsim import share_path, sweep
from hrpsim.sweeps import Design
from hrpsim.sweeps.executors import dask_executor, process_pool
from hrpsim.sweeps.study_file import read_study

ONE, TWO, DASK = "1 process", "2 processes", "Dask, 2 workers"


class Engine(NamedTuple):
    """Runs cells in the processes with these ids."""

    executor: Executor
    processes: tuple[int, ...]


def walks(count: int):
    """Return the push study's scenario, and a design with some cells of one kind of foot.

    With one kind of foot, each process plans only one walk before the measurement.
    """
    study = read_study(share_path("config/push_study.yaml"))
    points, _ = study.design.designs
    columns = points.columns(study.seed)
    rows = [{path: column[k] for path, column in columns.items()} for k in range(count)]
    return study.scenario, Design(method="table", rows=rows)


def pool(stack: ExitStack, processes: int) -> Engine:
    """Return a pool whose processes have started."""
    executor = stack.enter_context(process_pool(processes))()
    process_ids: set[int] = set()
    while len(process_ids) < processes:
        futures = [executor.submit(os.getpid) for _ in range(4 * processes)]
        wait(futures)
        process_ids.update(future.result() for future in futures)
    return Engine(executor, tuple(process_ids))


def engines(stack: ExitStack) -> dict[str, Engine]:
    """Return all engines, with started processes."""
    cluster = stack.enter_context(
        dask_cluster(2, stack.enter_context(tempfile.TemporaryDirectory()))
    )
    make: Callable[[], Executor] = stack.enter_context(dask_executor(cluster.address))
    return {ONE: pool(stack, 1), TWO: pool(stack, 2), DASK: Engine(make(), cluster.workers)}


def timed(engine: Engine, scenario, design: Design) -> tuple[float, float]:
    """Return wall time, and processor time of the processes, for all cells [s]."""
    before = sum(map(processor_time, engine.processes))
    begin = time.perf_counter()
    sweep(scenario, design, executor=engine.executor)
    return time.perf_counter() - begin, sum(map(processor_time, engine.processes)) - before


def main() -> None:
    """Print a table."""
    cells = int(sys.argv[1]) if len(sys.argv) > 1 else 60
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 3
    scenario, design = walks(cells)
    _, first = walks(8)
    with ExitStack() as stack:
        pools = engines(stack)
        for engine in pools.values():
            timed(engine, scenario, first)
        times = {name: [] for name in pools}
        for _ in range(rounds):
            for name, engine in pools.items():
                times[name].append(timed(engine, scenario, design))
    wall, busy = ({name: np.array(t)[:, k] for name, t in times.items()} for k in (0, 1))
    print(f"{cells} walks, medians of {rounds} rounds; load {os.getloadavg()[0]:.1f}\n")
    print("| engine | walks a second | efficiency | processor time a walk [ms] |")
    print("| --- | --- | --- | --- |")
    for name in pools:
        efficiency = np.median(wall[ONE] / wall[name]) / len(pools[name].processes)
        rate, spent = cells / np.median(wall[name]), 1e3 * np.median(busy[name]) / cells
        print(f"| {name} | {rate:.2f} | {efficiency:.3f} | {spent:.0f} |")


if __name__ == "__main__":
    main()
