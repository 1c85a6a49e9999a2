# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A sweep's results are those of its cells, on any engine, however often it is cut short."""

import errno
import os
import shutil
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from grouped import needs
from sweeps.scenarios import HEIGHTS, SLOW, SOURCE, deadly, fall, named

from hrpsim import sweep
from hrpsim.sweeps import Design, SweepError, replay
from hrpsim.sweeps import sweep as module
from hrpsim.sweeps.journal import Journal
from hrpsim.sweeps.store import open_store
from hrpsim.sweeps.sweep import worst_cells

# one worker kills the driver and keeps its store, which three would do in turn
pytestmark = [needs("xarray", "zarr"), pytest.mark.xdist_group("sweeps")]


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The uninterrupted sweep."""
    path = tmp_path_factory.mktemp("whole") / "fall.zarr"
    with ThreadPoolExecutor(2) as threads:
        sweep(named(fall), SLOW, threads, path, seed=5)
    return path


def bytes_of(found):
    return {name: np.asarray(found[name].values).tobytes() for name in found.variables}


def test_results_are_what_the_function_returns():
    with ThreadPoolExecutor(2) as threads:
        found = sweep(named(fall), HEIGHTS, threads, seed=1)
    for k in range(32):
        height = found["height"].values[k]
        if height > 3.0:
            assert found["status"].values[k] == 2 and np.isnan(found["time"].values[k])
            assert "is too high" in found["error"].values[k]
            continue
        expected = fall(height, seed=int(found["seed"].values[k]))
        assert {name: found[name].values[k] for name in expected} == expected
    assert found["speed"].attrs["units"] == "m/s"
    assert (found["status"] == 2).any() and (found["status"] == 1).any()


def test_processes_and_threads_give_the_same_bits(whole, tmp_path):
    sweep(named(fall), SLOW, store=tmp_path / "p.zarr", seed=5, processes=2, per_task=3)
    assert bytes_of(open_store(tmp_path / "p.zarr")) == bytes_of(open_store(whole))


def test_a_whole_store_is_not_run_again(whole):
    def refuse(*_):
        raise AssertionError

    with ThreadPoolExecutor(1) as threads:
        threads.submit = refuse
        found = sweep(named(fall), SLOW, threads, whole, seed=5)
    assert bytes_of(found) == bytes_of(open_store(whole))
    assert not whole.with_name("fall.zarr.journal").exists()


DRIVER = f"""
import resource, sys
from concurrent.futures import ThreadPoolExecutor
sys.path.insert(0, {str(SOURCE.parents[1])!r})
from sweeps.scenarios import SLOW, fall, named
from hrpsim import sweep
if __name__ == "__main__":
    store, processes, room = sys.argv[1:]
    if int(room):
        resource.setrlimit(resource.RLIMIT_FSIZE, (int(room), int(room)))
    threads = None if int(processes) else ThreadPoolExecutor(1)
    sweep(named(fall), SLOW, threads, store, seed=5, processes=int(processes) or None)
"""


def driver_beside(tmp_path, store, processes=0, room=0, before_gate=64, **options):
    """Start a driver; `room`: the largest size of a file that it can write [bytes].

    Each of its processes runs so many cells and waits then for the file "gate".
    """
    script = tmp_path / "driver.py"
    script.write_text(DRIVER)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    environment |= {"CELLS_BEFORE_THE_GATE": str(before_gate), "GATE": str(tmp_path / "gate")}
    command = [sys.executable, script, store, str(processes), str(room)]
    return subprocess.Popen(command, env=environment, **options)


@pytest.fixture(scope="module")
def cut_short(tmp_path_factory):
    """The store of a sweep whose driver was ended by kill -9."""
    folder = tmp_path_factory.mktemp("cut")
    with driver_beside(folder, folder / "cut.zarr", before_gate=30) as driver:
        wait_for_lines(folder / "cut.zarr.journal", 10, driver)
        driver.kill()
    return folder / "cut.zarr"


@pytest.fixture
def begun(cut_short, tmp_path):
    """A copy of it, which a test may go on with."""
    shutil.copytree(cut_short, tmp_path / "begun.zarr")
    shutil.copy(journal_of(cut_short), tmp_path / "begun.zarr.journal")
    return tmp_path / "begun.zarr"


def journal_of(store):
    return store.with_name(store.name + ".journal")


def go_on(store, tell=None):
    with ThreadPoolExecutor(2) as threads:
        sweep(named(fall), SLOW, threads, store, seed=5, tell=tell)


class Interrupted(Exception):
    """Ends a sweep."""


def interrupt_at(count):
    """Return what ends a sweep after so many cells."""

    def tell(progress):
        if progress.here >= count:
            raise Interrupted

    return tell


def wait_for_lines(journal, count, driver):
    while not (journal.exists() and journal.read_bytes().count(b"\n") > count):
        assert driver.poll() is None
        time.sleep(0.01)


def children_of(pid):
    with open(f"/proc/{pid}/task/{pid}/children") as file:
        return [int(child) for child in file.read().split()]


@pytest.mark.long
def test_a_killed_driver_loses_nothing(whole, begun):
    """Finished cells survive kill -9, the resumed dataset has the same bits."""
    kept = journal_of(begun).read_bytes().count(b"\n") - 1
    assert 10 <= kept <= 30
    seen = []
    go_on(begun, seen.append)
    assert seen[-1].here == 64 - kept
    assert bytes_of(open_store(begun)) == bytes_of(open_store(whole))


@pytest.mark.long
@pytest.mark.skipif(sys.platform != "linux", reason="/proc")
def test_killed_workers_are_replaced(whole, tmp_path):
    store = tmp_path / "w.zarr"
    with driver_beside(tmp_path, store, processes=2, before_gate=15) as driver:
        for lines in (5, 20):
            wait_for_lines(journal_of(store), lines, driver)
            for child in children_of(driver.pid):
                with open(f"/proc/{child}/cmdline", "rb") as file:
                    if b"spawn_main" in file.read():
                        os.kill(child, signal.SIGKILL)
                        break
        (tmp_path / "gate").touch()
        assert driver.wait() == 0
    assert bytes_of(open_store(store)) == bytes_of(open_store(whole))


def test_a_cell_that_ends_its_process_is_a_result():
    design = Design({"number": {"integers": [0, 9]}})
    found = sweep(named(deadly), design, processes=2)
    assert found["status"].values.tolist() == [1] * 5 + [2] + [1] * 4
    assert "its process ended" in found["error"].values[5]
    others = np.delete(np.arange(10), 5)
    np.testing.assert_array_equal(found["twice"].values[others], 2.0 * others)


@pytest.mark.long
def test_a_copy_without_its_journal_goes_on_from_its_arrays(whole, begun):
    """Law: the folder alone has what was written to it; the rest is run, the bits are the same."""
    with pytest.raises(Interrupted):
        go_on(begun, interrupt_at(5))
    table, identity = module.planned(named(fall), SLOW, 5)
    module.Store(begun, table, identity, "").abandon()  # which writes the arrays
    there = table.finished
    assert 10 < there < 64
    journal_of(begun).unlink()
    seen = []
    go_on(begun, seen.append)
    assert seen[-1].here == 64 - there
    assert bytes_of(open_store(begun)) == bytes_of(open_store(whole))


def test_what_the_journal_alone_has_is_seen(whole, begun):
    """As while a sweep runs, whose arrays come later, or where a full disk kept them away."""
    kept = journal_of(begun).read_bytes().count(b"\n") - 1
    found, there = open_store(begun), open_store(whole)
    done = found["status"].values > 0
    assert done.sum() == kept and not (begun / "status" / "0").exists()
    for name in ("status", "error", "time", "speed", "seed"):
        assert found[name].values[done].tobytes() == there[name].values[done].tobytes()
    cell = int(np.flatnonzero(found["status"].values == 1)[0])
    assert replay(named(fall), begun, cell).same


def test_a_store_that_lost_a_file_is_refused(whole, tmp_path):
    """Law: zarr reads a lost chunk as values that nobody computed; the lack is named instead."""
    damaged = tmp_path / "damaged.zarr"
    shutil.copytree(whole, damaged)
    (damaged / "speed" / "0").unlink()
    for use in (open_store, go_on):
        with pytest.raises(SweepError, match="damaged: speed has 2 files of 3"):
            use(damaged)


@pytest.mark.long
def test_a_torn_line_of_the_journal_is_cut_off(whole, begun):
    journal = journal_of(begun)
    data = journal.read_bytes()
    journal.write_bytes(data[: data.rindex(b"\n", 0, -1) - 7])  # in the line before the last
    go_on(begun)
    assert bytes_of(open_store(begun)) == bytes_of(open_store(whole))


@pytest.mark.long
def test_a_disk_without_room_loses_nothing(whole, tmp_path):
    """No file may grow beyond 4 kB: the journal stops at a whole line, and can be gone on with."""
    store = tmp_path / "full.zarr"
    with driver_beside(tmp_path, store, room=4096, stderr=subprocess.PIPE, text=True) as driver:
        _, said = driver.communicate()
    assert driver.returncode == 1
    assert "full.zarr.journal: File too large" in said and "start the sweep again" in said
    assert journal_of(store).read_bytes().endswith(b"\n")
    go_on(store)
    assert bytes_of(open_store(store)) == bytes_of(open_store(whole))


def test_an_unwritable_store_is_refused(tmp_path):
    file = tmp_path / "file"
    file.write_text("")
    with pytest.raises(SweepError, match="cannot make"):
        sweep(named(fall), HEIGHTS, store=file / "below" / "x.zarr")


def test_another_study_s_store_is_refused(whole):
    before = bytes_of(open_store(whole))
    with pytest.raises(SweepError, match="contains another sweep: seed: 5 there, 6 here"):
        sweep(named(fall), SLOW, store=whole, seed=6)
    with pytest.raises(SweepError, match="contains another sweep"):
        sweep(named(fall), HEIGHTS, store=whole, seed=5)
    assert bytes_of(open_store(whole)) == before


def test_other_versions_are_refused_on_resume(begun, monkeypatch):
    journal = journal_of(begun).read_bytes()
    honest = module.fingerprint
    monkeypatch.setattr(module, "fingerprint", lambda s: {**honest(s), "numba": "0.1"})
    with pytest.raises(SweepError, match=r"other versions .* numba: 0.1, not "):
        go_on(begun)
    assert journal_of(begun).read_bytes() == journal


def test_a_processor_that_computes_otherwise_runs_no_cell(monkeypatch):
    honest = module.fingerprint
    monkeypatch.setattr(module, "fingerprint", lambda s: {**honest(s), "kernels": "other"})
    monkeypatch.setattr("hrpsim.sweeps.cells._REFUSAL_PAUSE", 0.0)
    with ThreadPoolExecutor(1) as threads, pytest.raises(SweepError, match="kernels: , not other"):
        sweep(named(fall), HEIGHTS, threads)


def test_a_disk_that_knows_no_locks_is_told_as_such(begun, monkeypatch):
    def flock(*_):
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr("hrpsim.sweeps.journal.fcntl.flock", flock)
    with pytest.raises(SweepError, match=r"cannot be locked here \(No locks available\)"):
        go_on(begun)


def test_two_drivers_of_one_store_are_refused(begun):
    other = Journal(journal_of(begun))
    with pytest.raises(SweepError, match="another process is running this sweep"):
        go_on(begun)
    other.close()


@pytest.mark.parametrize(
    "parameters, message",
    [
        ({"heigth": 1.0}, "'heigth' does not exist. Did you mean 'height'.*Available: height"),
        ({"height": {"values": [1.0, "low"]}}, "cell 1: height = 'low': must be a number"),
    ],
)
def test_bad_values_are_refused_before_anything_runs(parameters, message):
    with pytest.raises(SweepError, match=message):
        sweep(named(fall), Design(parameters))


def test_a_cell_is_replayed_bit_for_bit(whole):
    found = open_store(whole)
    for cell in (0, 17, 63):
        again = replay(named(fall), found, cell)
        assert again.same and again.differs == ""
    assert found["status"].values[16] == 1
    found["speed"][16] = np.nextafter(found["speed"].values[16], 9.0)
    assert not replay(named(fall), found, 16).same
    with pytest.raises(SweepError, match="there is no cell 64: the sweep has cells 0 to 63"):
        replay(named(fall), found, 64)


def test_the_worst_cells_are_those_with_the_largest_outcome(whole):
    found = open_store(whole)
    worst = worst_cells(found, "speed", 3)
    speeds = found["speed"].values
    assert speeds[worst].tolist() == sorted(speeds[~np.isnan(speeds)], reverse=True)[:3]
    assert speeds[worst_cells(found, "-speed", 1)][0] == np.nanmin(speeds)


def test_the_engine_s_end_is_an_error_and_what_was_finished_stays(whole, tmp_path):
    store = tmp_path / "e.zarr"
    threads = ThreadPoolExecutor(1)
    told = []

    def tell(progress):
        told.append(progress)
        if progress.here == 5:
            threads.shutdown(wait=False)

    with pytest.raises(SweepError, match="accepts no more cells"):
        sweep(named(fall), Design(SLOW.parameters, "sobol", count=1024), threads, store, tell=tell)
    threads.shutdown(cancel_futures=True)
    assert (tmp_path / "e.zarr.journal").read_bytes().count(b"\n") >= 6
