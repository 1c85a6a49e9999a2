# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A controller for test_sweep_over_ros.py that fails, or lets the node fail, in many ways."""

import os
import signal
import time
from pathlib import Path

from ros.feedback_controller import Feedback
from ros.processes import command_line, descendants

FAULTY_TICK = 5


def kill_node(number):
    """Send a signal to the node of the only cell that runs."""
    children = descendants(os.getppid())
    (node,) = [pid for pid in children if command_line(pid).endswith("\0node\0")]
    os.kill(node, number)


def never_answer():
    while True:
        time.sleep(0.01)


def raise_error():
    raise RuntimeError("no idea")


FAULTS = {
    "none": lambda: None,
    "raises": raise_error,
    "killed": lambda: os.kill(os.getpid(), signal.SIGKILL),
    "hangs": never_answer,
    "node killed": lambda: kill_node(signal.SIGKILL),
    "node stopped": lambda: kill_node(signal.SIGSTOP),
}


class Faulty(Feedback):
    """Does what `fault` says in its fifth tick, and finishes after 20; waits for a file `gate`."""

    def configure(self, model, parameters):
        super().configure(model, {"ticks": 20})
        self.fault, self.gate = FAULTS[parameters["fault"]], parameters.get("gate")

    def control(self, state):
        if self.tick == FAULTY_TICK:
            self.fault()
            if self.gate:
                Path(f"{self.gate}.reached").touch()
                while not Path(self.gate).exists():
                    time.sleep(0.01)
        return super().control(state)
