# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""What stays of a recording whose recorder is killed or finds no room.

Apart from the other tests of the recorder, whose paused node would be recorded, too.
"""

import os
import shutil
import signal
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from ros.bags import record, wait_until_recorded
from ros.conftest import LIMIT
from ros.messages import nanoseconds

from hrpsim.bag import messages
from hrpsim.ros.base.child_process import ChildProcess
from hrpsim.ros.recording import bag_writer


@pytest.fixture
def bag(tmp_path):
    return tmp_path / "bag"


def counted(bag):
    """Return the sequence of stamps of the joint states in a bag [ns]."""
    return [nanoseconds(message) for message in messages(bag, "joint_states")]


@pytest.mark.quick_cases("sqlite3")
@pytest.mark.parametrize("storage", ["mcap", "sqlite3"])
def test_a_killed_recorder_loses_a_second_at_most(simulations, listener, bag, storage):
    """Law: what it has handed over, as it does now and then, needs neither index nor its end."""
    simulations.start()
    recorder = record(simulations, bag, "--storage", storage)
    states = listener.collect("sensor_msgs/msg/JointState", "joint_states")
    assert listener.wait_for(lambda: states and states[-1].header.stamp.sec >= 3)
    assert listener.call("/hrpsim/pause").success
    last = nanoseconds(states[-1])
    wait_until_recorded(bag, {"/joint_states": {last}})
    recorder.send_signal(signal.SIGKILL)
    recorder.wait(LIMIT)
    assert not (bag / "metadata.yaml").exists()
    stamps = counted(bag)
    assert stamps[-1] >= last
    kept = np.unique([stamp for stamp in stamps if stamp % 5_000_000 == 0])
    assert np.all(np.diff(kept) == 5_000_000)  # and nothing is missing before the pause


def test_what_is_written_is_handed_over_every_half_second(monkeypatch, bag):
    """Law: so that a kill can take no more with it than what came within a second before."""
    clock, handed_over = iter(0.1 * k for k in range(101)), []
    monkeypatch.setattr(bag_writer, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    writer = bag_writer.BagWriter(bag)
    writer.keep = lambda: handed_over.append(None)
    for _ in range(101):
        writer.keep_if_due()
    assert len(handed_over) in (20, 21)  # in 10 s


LIMITED = """
import resource, sys
from hrpsim.commands.cli import main
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000_000, 20_000_000))
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.long
@pytest.mark.parametrize("storage", ["mcap", "sqlite3"])
def test_a_full_disk_is_named(simulations, listener, bag, storage, tmp_path):
    """Law: where the disk takes no more the recorder names the file and ends with code 1.

    What it wrote before can be read.
    """
    simulations.start(real_time_factor=0.0)
    program = tmp_path / "limited_recorder.py"
    program.write_text(LIMITED)
    command = [sys.executable, str(program), "record", "--output", str(bag), "--storage", storage]
    recorder = ChildProcess("limited", command, tmp_path / "limited.log", os.environ)
    simulations.children.append(recorder)
    assert recorder.wait(LIMIT) == 1, recorder.lines
    said = [line for line in recorder.lines if "what was recorded before can be read" in line]
    assert len(said) == 1 and f"{bag}/bag." in said[0]
    assert not any("Traceback" in line for line in recorder.lines)
    assert len(counted(bag)) > 100


@pytest.mark.quick_cases("mcap")
@pytest.mark.parametrize("storage", ["mcap", "sqlite3"])
def test_a_recorder_whose_bag_is_removed_says_what_is_left(simulations, listener, bag, storage):
    """Law: the recorder ends instead of writing to nowhere, and claims nothing."""
    simulations.start()
    recorder = record(simulations, bag, "--storage", storage)
    states = listener.collect("sensor_msgs/msg/JointState", "joint_states")
    assert listener.wait_for(lambda: states and states[-1].header.stamp.sec >= 1)
    shutil.rmtree(bag)
    assert recorder.wait(LIMIT) == 1, recorder.lines
    said = [line for line in recorder.lines if "removed or moved while recording" in line]
    assert len(said) == 1 and "nothing of the recording can be read there" in said[0]
    assert not any("Traceback" in line or "recorded before can" in line for line in recorder.lines)


def test_a_recorder_whose_bag_is_moved_ends_too(simulations, listener, bag):
    """Law: what was handed over before is in the moved folder."""
    simulations.start()
    recorder = record(simulations, bag)
    states = listener.collect("sensor_msgs/msg/JointState", "joint_states")
    assert listener.wait_for(lambda: states and states[-1].header.stamp.sec >= 1)
    bag.rename(bag.with_name("moved"))
    assert recorder.wait(LIMIT) == 1, recorder.lines
    assert any("removed or moved while recording" in line for line in recorder.lines)
    assert len(counted(bag.with_name("moved"))) > 10
