# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Programs of hrpsim side by side in one ROS domain, and their end."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

from hrpsim.ros.base.child_process import (
    ChildProcess,
    mapped_shared_memory,
    remove_abandoned_memory,
)


class Processes:
    """Starts programs, whose logs are in a folder, and ends them all."""

    def __init__(self, folder: Path, environment: Mapping[str, str]):
        self.all: list[ChildProcess] = []
        self._folder, self._environment = folder, environment

    def start(self, name: str, *command: str) -> ChildProcess:
        """Start a program of any kind."""
        log = self._folder / f"{name}.log"
        self.all.append(ChildProcess(name, command, log, self._environment))
        return self.all[-1]

    def start_module(self, name: str, module: str, *arguments: str) -> ChildProcess:
        """Start a module in a Python of its own."""
        return self.start(name, sys.executable, "-m", module, *arguments)

    def stop(self, timeout: float) -> list[tuple[ChildProcess, int]]:
        """End them, the last one first, and return exit codes; see ChildProcess.stop."""
        used = set().union(*(mapped_shared_memory(child.pid) for child in self.all))
        ended = [(child, child.stop(timeout)) for child in reversed(self.all)]
        remove_abandoned_memory(used)  # of one that was killed
        return ended
