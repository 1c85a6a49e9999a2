# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""`hrpsim verify` names one flipped bit anywhere in a store of a sweep or in a recorded bag."""

import shutil
import struct
import zlib
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from rclpy.serialization import serialize_message
from std_msgs.msg import String

import hrpsim
from hrpsim.commands.cli import main
from hrpsim.ros.base import qos
from hrpsim.ros.recording.bag_writer import BagWriter
from hrpsim.sweeps import Design, SweepError
from hrpsim.sweeps.framework.scenario import FunctionScenario
from hrpsim.sweeps.store import open_store

COUNT, SEED = 40, 58


def write_store(folder):
    """Write a store with done and failed cells; return its path."""
    pytest.importorskip("xarray"), pytest.importorskip("zarr")
    scenario = FunctionScenario(lambda height=1.0: {"size": 1.0 / (1.0 - height)}, {"size": "m"})
    heights = np.linspace(0.0, 1.0, 1100).tolist()
    with ThreadPoolExecutor(1) as thread:
        hrpsim.sweep(scenario, Design({"height": {"values": heights}}), thread, folder / "s.zarr")
    return folder / "s.zarr"


def write_bag(folder, storage):
    """Record texts as the recorder does; return the path of the bag."""
    with BagWriter(folder / storage, storage) as bag:
        bag.add_topic("/said", "std_msgs/msg/String", qos.STATE)
        for number in range(300):
            bag.write("/said", 10**18 + number, serialize_message(String(data=f"text {number}")))
            bag.keep_if_due()
    return folder / storage


def flips(path, folder, count, seed):
    """Yield copies of a store or bag with one flipped bit each, and where."""
    files = sorted(file for file in path.rglob("*") if file.is_file())
    sizes = np.array([file.stat().st_size for file in files], dtype=float)
    chance = np.random.default_rng(seed)
    for number in range(count):
        # Half of the flips hit any file alike: most bytes lie in a few large files.
        file = files[chance.choice(len(files), p=None if number % 2 else sizes / sizes.sum())]
        data = bytearray(file.read_bytes())
        at, bit = int(chance.integers(len(data))), int(chance.integers(8))
        data[at] ^= 1 << bit
        copy = folder / "copy" / path.name
        shutil.rmtree(folder / "copy", ignore_errors=True)
        shutil.copytree(path, copy)
        (copy / file.relative_to(path)).write_bytes(data)
        yield copy, f"{file.relative_to(path)}, byte {at}, bit {bit}"


def unnamed(path, folder, count=COUNT, seed=SEED):
    """Return the flips after which `hrpsim verify` finds nothing wrong."""
    return [
        where
        for copy, where in flips(path, folder, count, seed)
        if main(["verify", str(copy)]) != 1
    ]


def test_every_flip_in_a_store_is_named_and_refused(tmp_path):
    """Law: results and statuses of a damaged store are never read as if they were sound."""
    store = write_store(tmp_path)
    assert main(["verify", str(store)]) == 0
    for copy, where in flips(store, tmp_path, COUNT, SEED):
        assert main(["verify", str(copy)]) == 1, where
        with pytest.raises(SweepError, match=r"is damaged|cannot be read|no store"):
            open_store(copy)


@pytest.mark.parametrize("storage", ["mcap", "sqlite3"])
def test_every_flip_in_a_recorded_bag_is_named(tmp_path, storage):
    bag = write_bag(tmp_path, storage)
    assert main(["verify", str(bag)]) == 0
    assert unnamed(bag, tmp_path) == []


def test_a_line_of_a_journal_that_lost_a_bit_is_named(tmp_path):
    """Law: a damaged line is no unfinished line, after which all cells would be lost silently."""
    from hrpsim.sweeps.cells import Result
    from hrpsim.sweeps.journal import Journal, kept, read_journal

    journal = Journal(tmp_path / "j")
    journal.append([{"design": "d"}, *(kept(Result(k, 1, {"size": 1.0})) for k in range(5))])
    journal.close()
    whole = (tmp_path / "j").read_bytes()
    chance = np.random.default_rng(SEED)
    for _ in range(200):
        at = int(chance.integers(len(whole)))
        data = bytearray(whole)
        data[at] ^= 1 << int(chance.integers(8))
        (tmp_path / "j").write_bytes(data)
        with pytest.raises(SweepError):
            read_journal(tmp_path / "j")


def test_checksums_of_other_recorders_are_checked(tmp_path):
    """Law: a file with the checksum of its data section, as MCAP defines, hides no flip there."""
    file = write_bag(tmp_path, "mcap") / "mcap.mcap"
    whole = bytearray(file.read_bytes())
    at = whole.index(struct.pack("<BQI", 0x0F, 4, 0))  # the record DataEnd, without a checksum
    whole[at + 9 : at + 13] = struct.pack("<I", zlib.crc32(whole[:at]))
    alone = tmp_path / "alone.mcap"
    alone.write_bytes(whole)
    assert main(["verify", str(alone)]) == 0
    for place in (20, at // 2, at - 1):
        damaged = bytearray(whole)
        damaged[place] ^= 4
        alone.write_bytes(damaged)
        assert main(["verify", str(alone)]) == 1


def test_what_has_no_checksum_is_not_called_sound(tmp_path):
    """Law: `verify` ends with another status if nothing vouches for the contents."""
    bag = write_bag(tmp_path, "sqlite3")
    (bag / "metadata.yaml").unlink()
    assert main(["verify", str(bag / "sqlite3.db3")]) == 3
    assert main(["verify", str(tmp_path / "none")]) == 1
