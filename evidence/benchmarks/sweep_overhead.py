# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The overhead of a sweep: python -m evidence.benchmarks.sweep_overhead [CELLS]

The runs (cells) do nothing, in a pool of two processes and in Dask on this machine. The script
reports the processor time of the driver, of Dask's scheduler, and of the workers. Wall time would
depend on other programs. The processor times give the number of runs per second that one driver and
one scheduler can serve.

The script also reports the time of a run of the push study apart from the walk. This is the time of
a run of two periods, minus twice the mean time of the next fifty periods. The result is the median
over runs.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from hrpsim import share_path, sweep
from hrpsim.sweeps import Design
from hrpsim.sweeps.executors import ONE_THREAD, SETTINGS, dask_executor
from hrpsim.sweeps.framework.scenario import FunctionScenario
from hrpsim.sweeps.study_file import read_study
from hrpsim.sweeps.sweep import planned


def nothing(number: int = 0, seed: int = 0) -> dict[str, float]:
    """Return the outcomes of a walk, all equal to `number`."""
    return {name: float(number) for name in nothing.outcomes}


nothing.outcomes = {f"outcome{k}": "" for k in range(6)}


def scenario() -> FunctionScenario:
    """Return the scenario of `nothing`, identified by its file so that workers can import it."""
    return FunctionScenario(f"{Path(__file__).resolve()}:nothing")


def processor_time(pid: int) -> float:
    """Return the processor time that a process has used so far [s]."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def run(cells: int, per_task: int, folder: str, **options) -> float:
    """Run a sweep of empty cells. Return the driver's processor time per cell [ms]."""
    design = Design({"number": {"integers": [0, cells - 1]}})
    begin = time.process_time()
    store = Path(folder, f"{time.monotonic_ns()}.zarr")
    sweep(scenario(), design, store=store, per_task=per_task, **options)
    return 1e3 * (time.process_time() - begin) / cells


class Cluster(NamedTuple):
    """A Dask scheduler and workers, as processes on this machine."""

    address: str
    scheduler: int  # process ids
    workers: tuple[int, ...]


@contextmanager
def dask_cluster(workers: int, folder: str) -> Iterator[Cluster]:
    """Run a Dask scheduler and workers of one thread each, with the documented settings."""
    file = Path(folder, "scheduler.json")
    file.unlink(missing_ok=True)
    variables = {**os.environ, **ONE_THREAD}
    for key, value in SETTINGS.items():
        variables["DASK_" + key.upper().replace(".", "__").replace("-", "_")] = str(value)
    options: dict[str, Any] = {"cwd": folder, "env": variables}
    options |= dict.fromkeys(("stdout", "stderr"), subprocess.DEVNULL)
    python = [sys.executable, "-m"]
    command = [*python, "distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0"]
    begun = [
        subprocess.Popen([*command, "--no-dashboard", "--scheduler-file", str(file)], **options)
    ]
    try:
        while not file.exists() or not file.read_text().endswith("}"):
            time.sleep(0.05)
        address = json.loads(file.read_text())["address"]
        command = [*python, "distributed.cli.dask_worker", address, "--nthreads", "1", "--no-nanny"]
        command += ["--no-dashboard", "--host", "127.0.0.1"]
        begun += [subprocess.Popen(command, **options) for _ in range(workers)]
        yield Cluster(address, begun[0].pid, tuple(process.pid for process in begun[1:]))
    finally:
        for process in reversed(begun):
            process.kill()
            process.wait()


def by_dask(cells: int, per_task: int, folder: str) -> tuple[float, float]:
    """Return the driver's and the scheduler's processor time per cell [ms]."""
    with dask_cluster(2, folder) as cluster:
        run(10, 1, folder, engine=dask_executor(cluster.address))
        before = processor_time(cluster.scheduler)
        driver = run(cells, per_task, folder, engine=dask_executor(cluster.address))
        return driver, 1e3 * (processor_time(cluster.scheduler) - before) / cells


def beside_a_walk(cells: int = 60) -> float:
    """Return the processor time of a run of the push study apart from the walk [ms]."""
    study = read_study(share_path("config/push_study.yaml"))
    table, _ = planned(study.scenario, study.design, study.seed)
    overheads = []
    for k in range(-20, cells):  # the first cells plan and load kernels
        values = table.values(k % table.count)
        times = {}
        for duration in (0.01, 0.26):
            begin = time.process_time()
            study.scenario.run({**values, "duration": duration}, int(table.seeds[k]))
            times[duration] = time.process_time() - begin
        overheads.append(times[0.01] - (times[0.26] - times[0.01]) * 2 / 50)
    return 1e3 * float(np.median(overheads[20:]))


def main() -> None:
    """Print the overheads."""
    cells = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    with tempfile.TemporaryDirectory() as folder:
        print("| engine | cells a task | driver [ms a cell] | scheduler [ms a cell] |")
        print("| --- | --- | --- | --- |")
        run(10, 1, folder, processes=2)  # imports the modules
        for per_task in (1, 10):
            driver = run(cells, per_task, folder, processes=2)
            print(f"| processes | {per_task} | {driver:.3f} | |", flush=True)
        for per_task in (1, 10):
            driver, scheduler = by_dask(cells, per_task, folder)
            print(f"| Dask | {per_task} | {driver:.3f} | {scheduler:.3f} |", flush=True)
    print(f"\nbeside its walk a cell takes {beside_a_walk():.2f} ms of its worker")


if __name__ == "__main__":
    main()
