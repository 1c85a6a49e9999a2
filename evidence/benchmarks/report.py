# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Store results in docs/benchmarks.json, and in the measured part of docs/benchmarks.md."""

from __future__ import annotations

import dataclasses
import datetime
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from evidence.benchmarks.machine import describe
from evidence.benchmarks.results import CaseResult
from evidence.benchmarks.tables import case_lines
from evidence.experiments.framework.engines import MUJOCO_FORM

FORMAT = 1
BEGIN = "<!-- measured: written by `make bench ARGS=--write` -->"
END = "<!-- end of what is measured -->"


def as_data(results: Sequence[CaseResult], *, quick: bool) -> dict:
    """Return a run as data for JSON, with times in seconds."""
    cases = {}
    for result in results:
        cases[result.name] = {
            "title": result.title,
            "seconds": round(result.seconds, 1),
            "failed": result.failed,
            "measurements": [dataclasses.asdict(item) for item in result.measurements],
            "fits": [dataclasses.asdict(item) for item in result.fits],
            "claims": [dataclasses.asdict(item) | {"met": item.met} for item in result.claims],
            "extra": [{"head": head, "rows": rows} for head, rows in result.extra],
            "notes": result.notes,
        }
    return {
        "format": FORMAT,
        "date": datetime.datetime.now().astimezone().isoformat(timespec="minutes"),
        "quick": quick,
        "machine": describe(),
        "cases": cases,
    }


def to_json(data: Mapping) -> str:
    """Return JSON text with one measurement per line. Numbers are rounded to six digits."""
    head = {key: value for key, value in data.items() if key != "cases"}
    cases = ",\n".join(f"{_line(name)}: {_case(case)}" for name, case in data["cases"].items())
    return f'{_line(head)[:-1]},\n"cases": {{\n{cases}\n}}}}\n'


def _case(case: Mapping) -> str:
    parts = []
    for key, value in case.items():
        if isinstance(value, (list, tuple)) and value:
            lines = ",\n  ".join(map(_line, value))
            parts.append(f"{_line(key)}: [\n  {lines}]")
        else:
            parts.append(f"{_line(key)}: {_line(value)}")
    return "{\n " + ",\n ".join(parts) + "}"


def _line(value) -> str:
    return json.dumps(rounded(value), allow_nan=False, ensure_ascii=False, default=_plain)


def _plain(value):
    return value.item()  # a NumPy scalar


def rounded(value):
    """Return a value with all floats rounded to six digits."""
    if isinstance(value, float):
        return float(f"{value:.6g}")
    if isinstance(value, Mapping):
        return {key: rounded(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [rounded(item) for item in value]
    return value


def load(path: Path) -> dict | None:
    """Return the stored run, or None if there is no run in this format."""
    if not path.is_file():
        return None
    data = json.loads(path.read_text(encoding="utf-8"))
    return data if data.get("format") == FORMAT else None


def head_lines(data: Mapping) -> list[str]:
    """Return lines with date and machine of the run."""
    machine = data["machine"]
    versions = ", ".join(f"{name} {number}" for name, number in machine["versions"].items())
    return [
        f"{data['date']}, {machine['processor']}, {machine['cores']} cores (load average "
        f"{machine['load_average']} at the end), Python {machine['python']}, {versions}. mujoco "
        f"has a {MUJOCO_FORM} (its own choice), except for the beam: sparse.",
        "",
    ]


def measured_lines(results: Sequence[CaseResult], data: Mapping, images: Mapping) -> list[str]:
    """Return the measured part of the page.

    images: paths by case, relative to the page.
    """
    lines = head_lines(data)
    for result in results:
        lines += case_lines(result)
        if result.name in images:
            lines += [f"![{result.title}]({images[result.name]})", ""]
    return lines


def replace_measured(page: str, lines: Sequence[str]) -> str:
    """Replace the text between the marks of a page. Raises ValueError if a mark is missing."""
    before, found_begin, following = page.partition(BEGIN)
    _, found_end, after = following.partition(END)
    if not (found_begin and found_end):
        raise ValueError(f"the page has no lines {BEGIN!r} and {END!r}")
    return before + BEGIN + "\n\n" + "\n".join(lines).rstrip() + "\n\n" + END + after
