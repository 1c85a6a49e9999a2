# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A user's own controller as a command line. Needs no ROS."""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Iterable
from pathlib import Path

from hrpsim.common.typed_values import Positive, check_arguments
from hrpsim.sweeps.framework.scenario import SweepError

VALUES, SEED = "HRPSIM_CELL_VALUES", "HRPSIM_CELL_SEED"


class UserCommand:
    """A command that starts a user's controller, in any language, once for each run.

    The process runs in the ROS domain of the run. The simulation node has no namespace. The
    environment variables HRPSIM_CELL_VALUES (JSON) and HRPSIM_CELL_SEED are the parameters and the
    seed of the run.

    Args:
        command: a command line, such as "ros2 run my_package my_node", or the words of a command
            line.
        period: control period [s], a whole multiple of the time step. At each tick simulated time
            waits for the command with the stamp of the state (lockstep). None: simulated time does
            not wait, and begins with the first command.
        real_time_factor: pace of simulated time if `period` is None.
        logs: folder of the output, a file `seed_SEED.log` for each run. None: the output is
            discarded.

    Raises:
        SweepError: the command is empty, or the program does not exist.
    """

    def __init__(
        self,
        command: str | Iterable[str],
        *,
        period: Positive | None = None,
        real_time_factor: Positive = 1.0,
        logs: str | Path | None = None,
    ) -> None:
        check_arguments(UserCommand.__init__, locals(), SweepError)
        self.words = _words(command)
        self.period, self.real_time_factor = period, real_time_factor
        self.logs = None if logs is None else Path(logs)
        self.python_path = os.environ.get("PYTHONPATH")  # hrpsim's processes have another value

    def identity(self) -> list[object]:
        """Return the settings that determine results: command line, period and real-time factor."""
        return [list(self.words), self.period, self.real_time_factor]


def _words(command: str | Iterable[str]) -> tuple[str, ...]:
    try:
        words = tuple(shlex.split(command) if isinstance(command, str) else map(str, command))
    except ValueError as error:
        raise SweepError(f"the controller's command {command!r}: {error}") from error
    if not words:
        raise SweepError("the controller's command is empty. Give a program and its arguments")
    if shutil.which(words[0]) is None:
        raise SweepError(
            f"the controller's command: the program {words[0]!r} does not exist. Give its path, or "
            "source the setup file of its workspace"
        )
    return words
