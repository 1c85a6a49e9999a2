# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Dask's scheduler and workers, as processes of their own: one is killed, one comes late."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from grouped import needs
from ros.processes import command_line, descendants
from sweeps.scenarios import SLOW, SOURCE, fall, named

from hrpsim import sweep
from hrpsim.commands.cli import main
from hrpsim.sweeps import SweepError
from hrpsim.sweeps.executors import SETTINGS, dask_executor, local_dask
from hrpsim.sweeps.store import open_store

pytestmark = [pytest.mark.timeout(1200), needs("xarray", "zarr", "distributed")]
ENVIRONMENT = {
    "DASK_DISTRIBUTED__DIAGNOSTICS__NVML": "False",
    "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "5",
    "OMP_NUM_THREADS": "1",
}
HELD = {"CELLS_BEFORE_THE_GATE": "30", "GATE": "/nonexistent"}  # of 64: see sweeps/scenarios.py


class Cluster:
    """A scheduler and workers on this machine's loopback."""

    def __init__(self, folder):
        self._folder, self.workers = folder, []
        self._environment = {
            **os.environ,
            **ENVIRONMENT,
            "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
        }
        file = folder / "scheduler.json"
        command = ["scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard"]
        self.scheduler = self._start(*command, "--scheduler-file", str(file))
        while not file.exists() or not file.read_text().endswith("}"):
            assert self.scheduler.poll() is None
            time.sleep(0.02)
        self.address = json.loads(file.read_text())["address"]

    def add_worker(self, **environment):
        command = ["worker", self.address, "--nthreads", "1", "--no-dashboard", "--no-nanny"]
        where = ["--host", "127.0.0.1", "--local-directory", str(self._folder)]
        self.workers.append(self._start(*command, *where, **environment))
        return self.workers[-1]

    def _start(self, *command, **environment):
        return subprocess.Popen(
            [sys.executable, "-m", "distributed.cli.dask_" + command[0], *command[1:]],
            env={**self._environment, **environment},
            stderr=subprocess.DEVNULL,
            cwd=self._folder,
        )

    def close(self):
        for process in (*self.workers, self.scheduler):
            process.kill()
            process.wait()


@pytest.fixture
def cluster(tmp_path):
    cluster = Cluster(tmp_path)
    yield cluster
    cluster.close()


def bytes_of(found):
    return {name: np.asarray(found[name].values).tobytes() for name in found.variables}


@pytest.mark.long
def test_a_worker_that_is_killed_and_one_that_comes_late_change_no_bit(cluster, tmp_path):
    whole = sweep(named(fall), SLOW, seed=5, processes=1)
    first = cluster.add_worker(**HELD)
    done = threading.Event()

    def tell(progress):
        if progress.here >= 10 and not done.is_set():
            done.set()
            cluster.add_worker()
            first.kill()

    store = tmp_path / "d.zarr"
    engine = dask_executor(cluster.address)
    sweep(named(fall), SLOW, store=store, seed=5, engine=engine, tell=tell)
    assert done.is_set() and first.wait() != 0
    assert bytes_of(open_store(store)) == bytes_of(whole)


@pytest.mark.long
def test_the_end_of_the_scheduler_is_an_error_and_nothing_is_lost(cluster, tmp_path):
    cluster.add_worker(**HELD)

    def tell(progress):
        if progress.here >= 10:
            cluster.scheduler.kill()

    store = tmp_path / "d.zarr"
    with pytest.raises(SweepError, match="scheduler"):
        sweep(
            named(fall), SLOW, store=store, seed=5, engine=dask_executor(cluster.address), tell=tell
        )
    assert store.with_name("d.zarr.journal").read_bytes().count(b"\n") > 10
    sweep(named(fall), SLOW, store=store, seed=5, processes=1)
    assert bytes_of(open_store(store)) == bytes_of(sweep(named(fall), SLOW, seed=5, processes=1))


def test_no_scheduler_is_an_error():
    with pytest.raises(SweepError, match=r"no Dask scheduler answers at 'tcp://127.0.0.1:9'"):
        with dask_executor("tcp://127.0.0.1:9", timeout=1.0):
            pass


def is_worker(pid):
    return "spawn_main" in command_line(pid)


@pytest.mark.long
@pytest.mark.skipif(sys.platform != "linux", reason="/proc")
def test_a_cluster_of_its_own_gives_the_same_bits_and_ends_with_the_sweep(tmp_path):
    """Law: the same though a worker is killed; no process and no setting is left behind."""
    import dask
    import distributed  # noqa: F401  brings its settings

    before, alone = dask.config.get("distributed.worker.profile.enabled"), descendants(os.getpid())
    killed = []

    def tell(progress):
        if progress.here >= 10 and not killed:
            killed.append(next(p for p in descendants(os.getpid()) if is_worker(p)))
            os.kill(killed[0], signal.SIGKILL)

    store = tmp_path / "d.zarr"
    sweep(named(fall), SLOW, store=store, seed=5, engine=local_dask(2), tell=tell)
    assert killed
    assert bytes_of(open_store(store)) == bytes_of(sweep(named(fall), SLOW, seed=5, processes=1))
    assert dask.config.get("distributed.worker.profile.enabled") == before
    left = set(descendants(os.getpid())) - set(alone)
    assert not [pid for pid in left if is_worker(pid)]


def test_the_command_makes_a_cluster_of_its_own(tmp_path, capsys):
    study = tmp_path / "falls.yaml"
    study.write_text(
        f"function: {SOURCE}:fall\ndesign: {{parameters: {{height: {{values: [1.0, 2.0]}}}}}}\n"
    )
    assert main(["sweep", str(study), "--scheduler", "local", "--processes", "1", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["cells"] == 2


def test_settings_are_variables_of_the_environment_as_dask_reads_them():
    """Law: Dask makes of the variables what SETTINGS says, and the guide names them all."""
    import dask

    names = {key: key.upper().replace(".", "__").replace("-", "_") for key in SETTINGS}
    variables = {f"DASK_{names[key]}": str(value) for key, value in SETTINGS.items()}
    read = dask.config.collect_env(variables)
    assert {key: dask.config.get(key, config=read) for key in SETTINGS} == SETTINGS
    guide = (Path(__file__).parents[2] / "docs" / "howto" / "sweep.md").read_text()
    assert all(f"{name}={value}" in guide for name, value in variables.items())
