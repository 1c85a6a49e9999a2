# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Forked programs, with which most tests of ROS work, are those that users start."""

import signal
import sys

import pytest
from ros.conftest import LIMIT
from ros.forked import ForkedProcess

PROGRAM = "hrpsim.ros.simulation.node"


@pytest.mark.parametrize("arguments", [("--help",), ("-p", "duration:=1.0")])
def test_a_fork_says_and_returns_what_a_process_of_its_own_does(simulations, arguments):
    """Law: the same lines, of standard output and error, and the same exit code."""
    fork = simulations.start_program(PROGRAM, *arguments)
    own = simulations.start_child("own", sys.executable, "-m", PROGRAM, *arguments)
    assert isinstance(fork, ForkedProcess) and not isinstance(own, ForkedProcess)
    assert fork.wait(LIMIT) == own.wait(LIMIT) is not None
    assert fork.lines == own.lines != []


def test_a_fork_that_is_killed_tells_the_signal(simulations):
    """Law: as subprocess tells it: the exit code is minus its number."""
    fork = simulations.start(start_paused=True)
    assert fork.exit_code is None
    fork.send_signal(signal.SIGKILL)
    assert fork.wait(LIMIT) == -signal.SIGKILL
