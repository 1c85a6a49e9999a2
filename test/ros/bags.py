# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Bags that are being written: who writes them, and what is in them by now."""

import shutil
import tempfile
from pathlib import Path

from ros.conftest import LIMIT
from ros.messages import nanoseconds
from ros.processes import until

from hrpsim import HrpsimError
from hrpsim.bag import messages


def stamps_so_far(bag, topic):
    """Return the stamps [ns] of what a bag has of a topic; of a copy, so that it can be written."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder, "bag")
        try:
            shutil.copytree(bag, copy)
            return [nanoseconds(message) for message in messages(copy, topic)]
        except (HrpsimError, OSError):  # nothing is in it yet, or a half of something
            return []


def wait_until_recorded(bag, stamps):
    """Return once a bag has messages with all these stamps [ns], by topic."""
    for topic, expected in stamps.items():
        assert until(lambda: expected <= set(stamps_so_far(bag, topic)), pause=0.2), topic  # noqa: B023


def record(simulations, bag, *arguments):
    """Start `hrpsim record`; return its process once it is ready."""
    recorder = simulations.start_program(
        "hrpsim.commands.cli", "record", "--output", bag, *arguments
    )
    assert recorder.wait_for_line("ready", LIMIT), recorder.lines
    return recorder
