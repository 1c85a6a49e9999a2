# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""What stays of a recording whose recorder is killed or finds no room.

Apart from the other tests of the recorder, whose paused node would be recorded, too.
"""

import os
import signal
import sys

import numpy as np
import pytest

from hrpsim.bag.reader import messages
from hrpsim.ros.base.child_process import ChildProcess


@pytest.fixture
def bag(tmp_path):
    return tmp_path / "bag"


def stamp_of(message):
    return message.header.stamp.sec * 1_000_000_000 + message.header.stamp.nanosec


def record(simulations, bag, *arguments):
    recorder = simulations.start_program("hrpsim.cli", "record", "--output", bag, *arguments)
    assert recorder.wait_for_line("ready", timeout=100.0), recorder.lines
    return recorder


def counted(bag):
    """Return the sequence of stamps of the joint states in a bag [ns]."""
    return [stamp_of(message) for message in messages(bag, "joint_states")]


@pytest.mark.parametrize("storage", ["mcap", "sqlite3"])
def test_a_killed_recorder_loses_a_second_at_most(simulations, listener, bag, storage):
    """Law: what came up to a second before the kill can be read without index or metadata.yaml."""
    simulations.start()
    recorder = record(simulations, bag, "--storage", storage)
    states = listener.collect("sensor_msgs/msg/JointState", "joint_states")
    assert listener.wait_for(lambda: states and states[-1].header.stamp.sec >= 3)
    listener.spin(0.5)
    last = stamp_of(states[-1])
    recorder.send_signal(signal.SIGKILL)
    recorder.wait(20.0)
    assert not (bag / "metadata.yaml").exists()
    stamps = counted(bag)
    assert stamps[-1] > last - 1_000_000_000 or time_went_slowly(states)
    kept = np.unique(stamps)
    assert np.all(np.diff(kept) == 5_000_000)  # and nothing is missing in between


def time_went_slowly(states):
    """Whether the machine was too busy for a second of wall time to be a second simulated."""
    return len(states) < 100


LIMITED = """
import resource, sys
from hrpsim.cli import main
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000_000, 20_000_000))
sys.exit(main(sys.argv[1:]))
"""


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
    assert recorder.wait(timeout=120.0) == 1, recorder.lines
    said = [line for line in recorder.lines if "what was recorded before can be read" in line]
    assert len(said) == 1 and f"{bag}/bag." in said[0]
    assert not any("Traceback" in line for line in recorder.lines)
    assert len(counted(bag)) > 100
