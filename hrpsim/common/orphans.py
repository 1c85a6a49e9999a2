# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""End a process when its parent ends, by a signal from Linux."""

import ctypes
import os
import signal
import sys
from pathlib import Path

VARIABLE = "HRPSIM_END_WITH"  # in the environment: the id of the process to end with
_PR_SET_PDEATHSIG = 1


def signal_at_parent_end(number: int = signal.SIGTERM) -> None:
    """Send this process a signal when the starting thread ends, even by kill -9."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, int(number))


def end_with_parent() -> None:
    """Send this process SIGTERM at the end of the parent, if HRPSIM_END_WITH is set.

    Raise KeyboardInterrupt if the process with the id in HRPSIM_END_WITH has ended already. The
    variable is then removed from the environment, so that children are unaffected.
    """
    named = os.environ.pop(VARIABLE, "")
    if not named:
        return
    signal_at_parent_end()
    if sys.platform == "linux" and not Path("/proc", named).exists():
        raise KeyboardInterrupt
