# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The folder in which the processes of a cell find what to run, and leave what came of it.

What is in it passes between processes that one program starts: states and commands go over ROS.
"""

from __future__ import annotations

import json
import pickle
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from hrpsim.sweeps.worlds.world_scenario import WorldScenario

NODE, CONTROLLER = "node", "controller"


class CellRequest(NamedTuple):
    """What is to be run."""

    scenario: WorldScenario
    values: Mapping[str, Any]
    seed: int
    patience: float  # for a command, after the first [s, wall]


class CellFolder:
    """Reads and writes the files; every one is there as a whole, or not at all."""

    def __init__(self, path: str | Path):
        self.path = Path(path)

    def ask(self, request: CellRequest) -> None:
        """Write what is to be run."""
        (self.path / "request").write_bytes(pickle.dumps(request))

    @property
    def request(self) -> CellRequest:
        """What is to be run."""
        return pickle.loads((self.path / "request").read_bytes())

    def leave(self, who: str, found: Mapping[str, Any]) -> None:
        """Write what a process found; numbers keep their bits."""
        self._write(f"{who}.json", json.dumps(found))

    def found_by(self, who: str) -> dict[str, Any] | None:
        """Return what a process found, None before it has left anything."""
        text = self._read(f"{who}.json")
        return None if text is None else json.loads(text)

    def note_finish(self, ticks: int) -> None:
        """Say that the controller has nothing left to do after so many commands."""
        self._write("finished", str(ticks))

    def finished_after(self) -> int | None:
        """Return after how many commands the controller has finished, None while it has not."""
        text = self._read("finished")
        return None if text is None else int(text)

    def note_absence(self) -> None:
        """Say that the controller has ended: no command will come."""
        self._write("absent", "")

    @property
    def controller_is_absent(self) -> bool:
        """Whether the controller has ended."""
        return self._read("absent") is not None

    def _write(self, name: str, text: str) -> None:
        beside = self.path / f"{name}.new"
        beside.write_text(text)
        beside.replace(self.path / name)

    def _read(self, name: str) -> str | None:
        try:
            return (self.path / name).read_text()
        except FileNotFoundError:
            return None
