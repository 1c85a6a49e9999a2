# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A scenario that other processes cannot read is an error of the sweep, not of its cells."""

import os
import subprocess
import sys
import warnings
from concurrent.futures import BrokenExecutor, Executor, Future, ThreadPoolExecutor

import pytest
from grouped import needs
from sweeps.scenarios import HEIGHTS, fall, named

from hrpsim import ModelWarning, WorldError, sweep
from hrpsim.sweeps import Design, SweepError
from hrpsim.sweeps.cells import DONE, Cell, fingerprint, run_cells
from hrpsim.sweeps.driver import Driver
from hrpsim.sweeps.framework.scenario import FunctionScenario

pytestmark = needs("xarray", "zarr")
CELLS = Design({"a": {"integers": [0, 19]}})
SCRIPT = """
import hrpsim
from hrpsim.sweeps import Design
def half(a=0.0):
    return {"b": 0.5 * a}
half.outcomes = {"b": ""}
"""
CALL = 'hrpsim.sweep(half, Design({"a": {"integers": [0, 19]}}), processes=1)\n'


def told_by(folder, *command):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    return subprocess.run(
        [sys.executable, *command], cwd=folder, env=environment, text=True,
        capture_output=True, timeout=300,
    )  # fmt: skip


def test_a_function_in_a_function_cannot_be_sent():
    def half(a=0.0):
        return {"b": 0.5 * a}

    with pytest.raises(SweepError, match=r"cannot be sent to other processes: .*local object"):
        sweep(FunctionScenario(half, {"b": ""}), CELLS, processes=1)


def test_a_function_typed_at_a_prompt_cannot_be_read_elsewhere(tmp_path):
    end = told_by(tmp_path, "-c", SCRIPT + CALL)
    assert end.returncode == 1
    assert "other processes cannot read the scenario: AttributeError" in end.stderr
    assert "has to be in a module or a file" in end.stderr


class Broken(Executor):
    """A pool whose processes end as they begin, as those of a script that begins a sweep anew."""

    def submit(self, function, *arguments):
        future = Future()
        future.set_exception(BrokenExecutor("a process ended"))
        return future


def test_a_pool_whose_processes_end_as_they_begin_marks_no_cell_as_failed():
    driver = Driver(named(fall), None, Broken, mended=True, in_flight=4, per_task=1)
    with pytest.raises(SweepError, match=r"end at their start\. .* under `if __name__ =="):
        list(driver.results([Cell(k, {}, k) for k in range(9)], lambda: None))


class Warns(FunctionScenario):
    """A scenario whose world has something that users should know."""

    def probe(self):
        warnings.warn("joints without gains", ModelWarning, stacklevel=1)
        return "as everywhere"


def test_only_the_process_that_begins_a_sweep_warns_of_the_world():
    scenario = Warns(fall, fall.outcomes)
    with pytest.warns(ModelWarning, match="joints without gains"):
        expected = fingerprint(scenario)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        (result,) = run_cells(scenario, (Cell(0, {}, 1),), expected)
    assert (result.status, result.error) == (DONE, "")


class Elsewhere(ThreadPoolExecutor):
    """Stands for machines on which something is not there that a cell needs."""

    def submit(self, function, *arguments):
        return super().submit(self.fail)

    def __init__(self, error):
        super().__init__(1)
        self.error = error

    def fail(self):
        raise self.error


@pytest.mark.parametrize(
    "error",
    [
        ModuleNotFoundError("No module named 'my_controllers'"),
        RuntimeError("Error during deserialization of the task graph.\nThis frequently occurs"),
    ],
)
def test_an_engine_that_lacks_a_module_marks_no_cell_as_failed(tmp_path, error):
    """The second is what Dask's scheduler says of its own lack."""
    store, said = tmp_path / "s.zarr", " ".join(str(error).split())
    with Elsewhere(error) as threads, pytest.raises(SweepError, match=f"cells .*: {said}"):
        sweep(named(fall), HEIGHTS, threads, store)
    with ThreadPoolExecutor(1) as threads:
        found = sweep(named(fall), HEIGHTS, threads, store)
    assert (found["status"].values == 1).any()


class Job:
    """A future without callbacks, as of submitit."""

    def __init__(self, work):
        self.work, self.wider_searches = work, 0

    def done(self):
        self.wider_searches += 1
        return self.wider_searches > 1

    def result(self):
        return self.work()


class Jobs:
    """An engine that hands out jobs."""

    def submit(self, function, *arguments):
        return Job(lambda: function(*arguments))


def test_jobs_that_tell_nothing_by_themselves_are_looked_at(monkeypatch):
    monkeypatch.setattr("hrpsim.sweeps.driver._LOOK", 0.01)
    found = sweep(named(fall), HEIGHTS, Jobs())
    assert (found["status"].values > 0).all()


class Away(FunctionScenario):
    """Its files are not where the cells run."""

    def probe(self):
        raise WorldError("world file /data/world.yaml: No such file or directory")


def test_a_file_that_a_worker_lacks_marks_no_cell_as_failed(monkeypatch):
    monkeypatch.setattr("hrpsim.sweeps.cells._REFUSAL_PAUSE", 0.0)
    monkeypatch.setattr("hrpsim.sweeps.sweep.fingerprint", lambda scenario: {"kernels": "some"})
    with (
        ThreadPoolExecutor(1) as threads,
        pytest.raises(SweepError, match=r"/data/world\.yaml: No"),
    ):
        sweep(Away(fall), HEIGHTS, threads)
