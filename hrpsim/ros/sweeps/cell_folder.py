# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The folders in which two processes find the cells to run, and leave what came of them.

What is in them passes between processes that one program starts: states and commands go over ROS.
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
_LOOK = 0.005  # between two looks for the next cell [s, wall]


class CellRequest(NamedTuple):
    """What is to be run."""

    scenario: WorldScenario
    values: Mapping[str, Any]
    seed: int
    base: str  # of the robot, "free" or "fixed"
    patience: float  # for a command, after the first [s, wall]


class CellFolder:
    """What is said of a cell, each in a file that is there as a whole, or not at all.

    The program asks (REQUEST), and says when the controller has ended (ABSENT) and when the node
    has made its last step (OVER); the controller says after how many commands it has finished
    (FINISHED); node and controller leave what they found (NODE, CONTROLLER).
    """

    def __init__(self, path: str | Path):
        self.path = Path(path)

    def ask(self, request: CellRequest) -> None:
        """Write what is to be run, and the folder for it."""
        self.path.mkdir()
        self._write(REQUEST, pickle.dumps(request))

    @property
    def request(self) -> CellRequest:
        """What is to be run."""
        return pickle.loads((self.path / REQUEST).read_bytes())

    @property
    def namespace(self) -> str:
        """The cell's own, in which nothing of the cells before can be heard."""
        return f"cell_{self.path.name}"

    def say(self, what: str, value: Any = True) -> None:
        """Write a value as JSON; numbers keep their bits."""
        self._write(what, json.dumps(value).encode())

    def said(self, what: str) -> Any:
        """Return what was written, None before."""
        try:
            return json.loads((self.path / what).read_text())
        except FileNotFoundError:
            return None

    def has(self, what: str) -> bool:
        """Return whether something was written."""
        return (self.path / what).exists()

    def _write(self, name: str, data: bytes) -> None:
        beside = self.path / f"{name}.new"
        beside.write_bytes(data)
        beside.replace(self.path / name)


def cell_folder(pair: str | Path, number: int) -> CellFolder:
    """Return the folder of a cell of a pair of processes, counted from 0."""
    return CellFolder(Path(pair, str(number)))


def cells_of(pair: str | Path, stopping: Callable[[], bool]) -> Iterator[CellFolder]:
    """Yield the cells of a pair one after another, as they are asked for, until `stopping()`."""
    for number in count():
        folder = cell_folder(pair, number)
        while not folder.has(REQUEST):
            if stopping():
                return
            time.sleep(_LOOK)
        yield folder
