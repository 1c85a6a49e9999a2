# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The folders in which two processes find the cells to run, and write the results.

The files pass data between processes that one program starts: states and commands go over ROS.
"""

from __future__ import annotations

import json
import pickle
import time
from collections.abc import Callable, Iterator, Mapping
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

from hrpsim.sweeps.worlds.world_scenario import WorldScenario

NODE, CONTROLLER = "node", "controller"
REQUEST, FINISHED, ABSENT, OVER = "request", "finished", "absent", "over"
_LOOK = 0.005  # between two checks for the next cell [s, wall]


class CellRequest(NamedTuple):
    """The cell to run."""

    scenario: WorldScenario
    values: Mapping[str, Any]
    seed: int
    base: str  # of the robot, "free" or "fixed"
    patience: float  # for a command, after the first [s, wall]


class CellFolder:
    """Messages about a cell, each in a file that is written atomically.

    The program writes the request (REQUEST), and reports when the controller has ended (ABSENT) and
    when the node has made its last step (OVER); the controller reports after how many commands it
    has finished (FINISHED); node and controller write their results (NODE, CONTROLLER).
    """

    def __init__(self, path: str | Path):
        self.path = Path(path)

    def ask(self, request: CellRequest) -> None:
        """Make the folder and write the request."""
        self.path.mkdir()
        self._write(REQUEST, pickle.dumps(request))

    @property
    def request(self) -> CellRequest:
        """The cell to run."""
        return pickle.loads((self.path / REQUEST).read_bytes())

    @property
    def namespace(self) -> str:
        """The cell's own namespace, in which no message of earlier cells arrives."""
        return f"cell_{self.path.name}"

    def say(self, what: str, value: Any = True) -> None:
        """Write a value as JSON; numbers keep their bits."""
        self._write(what, json.dumps(value).encode())

    def said(self, what: str) -> Any:
        """Return the written value, None before."""
        try:
            return json.loads((self.path / what).read_text())
        except FileNotFoundError:
            return None

    def has(self, what: str) -> bool:
        """Return whether a value was written."""
        return (self.path / what).exists()

    def _write(self, name: str, data: bytes) -> None:
        temporary = self.path / f"{name}.new"
        temporary.write_bytes(data)
        temporary.replace(self.path / name)


def cell_folder(pair: str | Path, number: int) -> CellFolder:
    """Return the folder of a cell of a pair of processes, counted from 0."""
    return CellFolder(Path(pair, str(number)))


def cells_of(pair: str | Path, stopping: Callable[[], bool]) -> Iterator[CellFolder]:
    """Yield the cells of a pair one after another, as they are requested, until `stopping()`."""
    for number in count():
        folder = cell_folder(pair, number)
        while not folder.has(REQUEST):
            if stopping():
                return
            time.sleep(_LOOK)
        yield folder
