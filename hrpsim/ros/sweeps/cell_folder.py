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
_LOOK = 0.005  # between two looks for the next cell [s, wall]


class CellRequest(NamedTuple):
    """What is to be run."""

    scenario: WorldScenario
    values: Mapping[str, Any]
    seed: int
    base: str  # of the robot, "free" or "fixed"
    patience: float  # for a command, after the first [s, wall]


class CellFolder:
    """Reads and writes the files; every one is there as a whole, or not at all."""

    def __init__(self, path: str | Path):
        self.path = Path(path)

    def ask(self, request: CellRequest) -> None:
        """Write what is to be run, and the folder for it."""
        self.path.mkdir()
        self._write("request", pickle.dumps(request))

    @property
    def is_asked(self) -> bool:
        """Whether it has been written what is to be run."""
        return (self.path / "request").exists()

    @property
    def namespace(self) -> str:
        """The cell's own, in which nothing of the cells before can be heard."""
        return f"cell_{self.path.name}"

    @property
    def request(self) -> CellRequest:
        """What is to be run."""
        return pickle.loads((self.path / "request").read_bytes())

    def leave(self, who: str, found: Mapping[str, Any]) -> None:
        """Write what a process found; numbers keep their bits."""
        self._write(f"{who}.json", json.dumps(found).encode())

    def found_by(self, who: str) -> dict[str, Any] | None:
        """Return what a process found, None before it has left anything."""
        text = self._read(f"{who}.json")
        return None if text is None else json.loads(text)

    def note_finish(self, ticks: int) -> None:
        """Say that the controller has nothing left to do after so many commands."""
        self._write("finished", str(ticks).encode())

    def finished_after(self) -> int | None:
        """Return after how many commands the controller has finished, None while it has not."""
        text = self._read("finished")
        return None if text is None else int(text)

    def note_absence(self) -> None:
        """Say that the controller has ended: no command will come."""
        self._write("absent", b"")

    @property
    def controller_is_absent(self) -> bool:
        """Whether the controller has ended."""
        return self._read("absent") is not None

    def note_end(self) -> None:
        """Say that the node has made its last step: the controller shall stop."""
        self._write("over", b"")

    @property
    def is_over(self) -> bool:
        """Whether the node has made its last step."""
        return (self.path / "over").exists()

    def _write(self, name: str, data: bytes) -> None:
        beside = self.path / f"{name}.new"
        beside.write_bytes(data)
        beside.replace(self.path / name)

    def _read(self, name: str) -> str | None:
        try:
            return (self.path / name).read_text()
        except FileNotFoundError:
            return None


def cell_folder(pair: str | Path, number: int) -> CellFolder:
    """Return the folder of a cell of a pair of processes, counted from 0."""
    return CellFolder(Path(pair, str(number)))


def cells_of(pair: str | Path, stopping: Callable[[], bool]) -> Iterator[CellFolder]:
    """Yield the cells of a pair one after another, as they are asked for, until `stopping()`."""
    for number in count():
        folder = cell_folder(pair, number)
        while not folder.is_asked:
            if stopping():
                return
            time.sleep(_LOOK)
        yield folder
