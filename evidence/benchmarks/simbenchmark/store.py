# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The measurements in docs/simbenchmark.json. A stored measurement is not repeated.

`errors` are stored by scene, step size in milliseconds and engine. `times` are stored by the name
of a TimeTask.
"""

from __future__ import annotations

import json
from pathlib import Path

from evidence.benchmarks.report import rounded

PATH = Path(__file__).resolve().parents[3] / "docs" / "simbenchmark.json"
_FORMAT = 1


class Store:
    """Records in a file, which is written after each record.

    With `path` None, nothing is written.
    """

    def __init__(self, path: Path | None = PATH) -> None:
        self.path, self.errors, self.times = path, {}, {}
        if path is not None and path.is_file():
            data = json.loads(path.read_text(encoding="utf-8"))
            if data.get("format") != _FORMAT:
                raise ValueError(f"{path} is of format {data.get('format')!r}, not {_FORMAT}")
            self.errors, self.times = data["errors"], data["times"]

    def error(self, scene: str, time_step: float, engine: str) -> dict | None:
        """Return the record of an error, or None if there is none."""
        return self.errors.get(scene, {}).get(_key(time_step), {}).get(engine)

    def add_error(self, scene: str, time_step: float, engine: str, record: dict) -> None:
        """Store an error."""
        by_step = self.errors.setdefault(scene, {})
        by_step.setdefault(_key(time_step), {})[engine] = record
        self._write()

    def add_time(self, name: str, record: dict) -> None:
        """Store the times of a task."""
        self.times[name] = record
        self._write()

    def _write(self) -> None:
        if self.path is None:
            return
        new = self.path.with_suffix(".new")  # an interrupted write leaves the old file unchanged
        new.write_text(self.text(), encoding="utf-8")
        new.replace(self.path)

    def text(self) -> str:
        """Return the records as JSON, one line for each record."""
        data = {"format": _FORMAT, "errors": self.errors, "times": self.times}
        return _lines(rounded(data), {"errors": 3, "times": 1}) + "\n"


def _key(time_step: float) -> str:
    return f"{1e3 * time_step:g}"


def _lines(data: dict, depths: dict[str, int]) -> str:
    parts = []
    for key, value in data.items():
        depth = depths.get(key, 0)
        text = json.dumps(value, ensure_ascii=False)
        if depth and value:
            text = _nested(value, depth, " ")
        parts.append(f"{json.dumps(key)}: {text}")
    return "{\n" + ",\n".join(parts) + "\n}"


def _nested(data: dict, depth: int, indent: str) -> str:
    parts = []
    for key, value in data.items():
        text = json.dumps(value, ensure_ascii=False)
        if depth > 1 and value:
            text = _nested(value, depth - 1, indent + " ")
        parts.append(f"{indent}{json.dumps(key, ensure_ascii=False)}: {text}")
    return "{\n" + ",\n".join(parts) + "}"
