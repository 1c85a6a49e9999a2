# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The program that starts a user's controller for one cell, and ends all started processes.

`ros2 run` and `ros2 launch` start further processes, which do not receive a signal to the parent.
The command therefore has a separate process group, and signals go to the group.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from contextlib import suppress

from hrpsim.common.orphans import end_with_parent
from hrpsim.ros.sweeps.cell_processes import CellFolder
from hrpsim.ros.sweeps.user_command import SEED, VALUES

_END = 3.0  # time from SIGINT to SIGKILL [s, wall]


def main() -> int:
    """Run the command of the cell in the folder, and return the exit code."""
    signal.signal(signal.SIGTERM, _interrupt)
    end_with_parent()
    request = CellFolder(sys.argv[1]).request
    environment = {
        **os.environ,
        VALUES: json.dumps(dict(request.values), default=str),
        SEED: str(request.seed),
    }
    environment.pop("PYTHONPATH", None)
    if request.command.python_path:
        environment["PYTHONPATH"] = request.command.python_path
    try:
        process = subprocess.Popen(request.command.words, env=environment, start_new_session=True)
    except OSError as error:
        print(f"[FATAL] {error}", flush=True)
        return 127
    code = 1
    with suppress(KeyboardInterrupt):
        code = process.wait()
    _end(process)
    return code if code >= 0 else 128 - code


def _interrupt(number, frame) -> None:
    raise KeyboardInterrupt


def _end(process: subprocess.Popen) -> None:
    """Interrupt the process group, as Ctrl-C in a terminal does. Kill remaining processes later."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    for number in (signal.SIGINT, signal.SIGKILL):
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, number)
        with suppress(subprocess.TimeoutExpired):
            process.wait(_END)


if __name__ == "__main__":
    sys.exit(main())
