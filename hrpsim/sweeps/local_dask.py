# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A Dask cluster on this machine for one sweep, with scheduler and workers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from contextlib import contextmanager

from hrpsim.sweeps.executors import ONE_THREAD, dask_executor, processors
from hrpsim.sweeps.framework.scenario import needed_package

# Dask monitors its processes, which takes time from the runs. Here it samples no stacks, and rarely
# checks its loops, its memory and the machine.
SETTINGS = {
    "distributed.worker.profile.enabled": False,
    "distributed.admin.tick.interval": "1s",
    "distributed.worker.memory.monitor-interval": "5s",
    "distributed.admin.system-monitor.interval": "5s",
    "distributed.diagnostics.nvml": False,
}


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
