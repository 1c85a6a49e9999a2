# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Engines that run cells: every engine is a concurrent.futures.Executor.

This module makes a pool of processes. Dask's scheduler, mpi4py.futures, executorlib and submitit
offer the same interface for more than one machine.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import contextmanager

from hrpsim.common.orphans import signal_at_parent_end
from hrpsim.sweeps.framework.scenario import SweepError, function_called, needed_package

# One thread per process: runs are parallel, and BLAS threads would compete with the runs.
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
ONE_THREAD = dict.fromkeys(_THREADS, "1")
_DASK_RETRIES = 3  # retries of a run after the end of its worker
# Dask monitors its processes, which takes time from the runs. Here it samples no stacks, and rarely
# checks its loops, its memory and the machine.
SETTINGS = {
    "distributed.worker.profile.enabled": False,
    "distributed.admin.tick.interval": "1s",
    "distributed.worker.memory.monitor-interval": "5s",
    "distributed.admin.system-monitor.interval": "5s",
    "distributed.diagnostics.nvml": False,
}


def processors() -> int:
    """Return the number of processors that this process may use."""
    return len(os.sched_getaffinity(0))


@contextmanager
def process_pool(processes: int | None = None) -> Iterator[Callable[[], Executor]]:
    """Yield a function that makes a pool of processes, by default one for each processor.

    A pool is unusable after the death of a process. A new pool then replaces the old one. The
    processes end with this process, however this process ends.
    """
    count = processes or processors()
    made: list[Executor] = []
    before = {name: os.environ.get(name) for name in _THREADS}

    def make() -> Executor:
        """Return a new pool, after closing the previous pool."""
        close()
        pool = ProcessPoolExecutor(
            count,
            mp_context=multiprocessing.get_context("spawn"),
            initializer=_begin_worker,
            initargs=(os.getpid(),),
        )
        made.append(pool)
        return pool

    def close() -> None:
        """End the pool and cancel the pending tasks."""
        for pool in made:
            pool.shutdown(wait=True, cancel_futures=True)
        made.clear()

    os.environ.update({name: "1" for name, value in before.items() if value is None})
    try:
        yield make
    finally:
        close()
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)


def _begin_worker(driver: int) -> None:
    signal_at_parent_end(signal.SIGKILL)
    if os.getppid() != driver:  # the driver has ended before
        os._exit(1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the driver handles Ctrl-C


@contextmanager
def dask_executor(address: str, timeout: float = 30.0) -> Iterator[Callable[[], Executor]]:
    """Yield a function that makes an executor of the Dask scheduler at tcp://host:port."""
    distributed = needed_package("distributed", "--scheduler")
    try:
        client = distributed.Client(address, timeout=timeout, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as error:
        raise SweepError(f"no Dask scheduler answers at {address!r}: {error}") from error
    try:
        yield lambda: client.get_executor(pure=False, retries=_DASK_RETRIES)
    finally:
        client.close()


@contextmanager
def named_executor(name: str, processes: int | None) -> Iterator[Callable[[], Executor]]:
    """Yield a function that makes the executor named "module:callable" or "file.py:callable"."""
    try:
        make = function_called(name)
    except SweepError as error:
        raise SweepError(f"--engine {error}") from error
    try:
        executor = make(max_workers=processes) if processes else make()
    except Exception as error:  # raised by the user's code
        raise SweepError(f"--engine {name}: {type(error).__name__}: {error}") from error
    if not hasattr(executor, "submit"):
        raise SweepError(
            f"{name} must return an executor, but a {type(executor).__name__} has no method submit"
        )
    try:
        yield lambda: executor
    finally:
        if hasattr(executor, "shutdown"):  # submitit's executors lack it
            executor.shutdown()


@contextmanager
def local_dask(workers: int | None = None) -> Iterator[Callable[[], Executor]]:
    """Yield a function that makes an executor of a Dask cluster on this machine.

    workers: number of processes of one thread each, by default one per processor. A worker that
    ends is replaced. The workers end with this process, however this process ends.
    """
    distributed = needed_package("distributed", "--scheduler local")
    dask = needed_package("dask", "--scheduler local")
    with (
        dask.config.set(SETTINGS),
        distributed.LocalCluster(
            n_workers=workers or processors(),
            threads_per_worker=1,
            dashboard_address="127.0.0.1:0",
            scheduler_kwargs={"dashboard": False},
            env=ONE_THREAD,
        ) as cluster,
        dask_executor(cluster.scheduler_address) as make,
    ):
        yield make
