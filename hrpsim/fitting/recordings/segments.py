# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Divide recordings into segments with increasing stamps, by the same rules for all file formats.

A recording consists of tables of rows with stamps: samples, commands, poses of the base. The rules:

- A row that repeats the previous row is left out. A paused simulation sends such rows.
- Other rows with equal stamps are refused, except commands to different joints.
- A stamp that is earlier than the previous stamp begins another run of the clock. All tables must
  have the same number of runs.
- A gap of over a second between samples ends a segment. The commands of the run are used on both
  sides of the gap.
- A segment of a single sample is left out.

`Recording` refuses times that break the rules. A warning lists the omitted rows.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from hrpsim.common.errors import FitError, FitWarning
from hrpsim.fitting.recordings.measured_motion import SAMPLES, Recording
from hrpsim.fitting.recordings.recording_checks import gaps, repeats

_PAUSE = 1.0  # longest simulated time between samples [s], beyond it the clock may have jumped

Table = dict[str, np.ndarray]  # "time" (n,) and columns (n, ...) of the same rows


def runs_of_clock(source: str, tables: Mapping[str, Table]) -> list[dict[str, Table]]:
    """Split the tables where the clock steps back, and drop repeated rows.

    Args:
        source: name of the file, for errors.
        tables: tables by name.

    Returns:
        The tables of each run of the clock.

    Raises:
        FitError: the tables have different numbers of runs.
    """
    runs_of = {name: _runs_of(f"{source}: {name}", table) for name, table in tables.items()}
    if len({len(runs) for runs in runs_of.values()}) > 1:
        counts = ", ".join(f"{len(runs) - 1} times in {name}" for name, runs in runs_of.items())
        raise FitError(
            f"{source}: the clock steps back {counts}, so the runs of the clock cannot be "
            "separated. Record each run in a file of its own"
        )
    return [dict(zip(runs_of, parts)) for parts in zip(*runs_of.values())]


def _runs_of(what: str, table: Table) -> list[Table]:
    time = table["time"]
    if not np.isfinite(time).all():
        raise FitError(f"{what}: time in sample {np.isfinite(time).argmin()} is not finite")
    new = ~repeats(time, [column for name, column in table.items() if name != "time"])
    columns = {name: column[new] for name, column in table.items()}
    at = np.flatnonzero(np.diff(columns["time"]) < 0.0) + 1
    parts = {name: np.split(column, at) for name, column in columns.items()}
    return [dict(zip(parts, run)) for run in zip(*parts.values())]


def recordings_of(
    source: str, runs: Iterable[Mapping[str, Any]], options: Mapping[str, Any], left_out: str = ""
) -> tuple[Recording, ...]:
    """Return a recording for each segment. Warn about omitted parts.

    Args:
        source: name of the file, for errors and warnings.
        runs: fields of `Recording` for each run of the clock.
        options: other fields of `Recording`, such as the name.
        left_out: texts about data that a reader has already left out.

    Raises:
        FitError: no segment has two samples, or `Recording` raises the error.
    """
    listed = list(runs)
    pieces = [piece for run in listed for piece in _pieces(run)]
    if not pieces:
        raise FitError(
            f"{source}: every two successive samples are farther apart than the allowed gap"
        )
    name = options.get("name", source)
    made = tuple(
        Recording(**{**piece, **options, **_named(name, k, len(pieces))})
        for k, piece in enumerate(pieces, 1)
    )
    notes = [left_out, _division(made, len(listed))]
    single = sum(len(run["time"]) for run in listed) - sum(len(own["time"]) for own in pieces)
    if single:
        notes.append(f"{single} isolated samples are left out")
    if text := "; ".join(filter(None, notes)):
        warnings.warn(f"{source}: {text}", FitWarning, stacklevel=4)
    return made


def _division(made: Sequence[Recording], runs: int) -> str:
    """Describe the times of the segments and the number of backward clock steps.

    The text is empty if there is only one segment.
    """
    if len(made) < 2:
        return ""
    times = "; ".join(f"{part.time[0]:.9g} to {part.time[-1]:.9g} s" for part in made[:4])
    back = f"the clock steps back {runs - 1} times, and " if runs > 1 else ""
    return f"{back}there are {len(made)} segments: {times}" + "; ..." * (len(made) > 4)


def _pieces(run: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Split a run at its pauses. Yield the fields of each part with at least two samples."""
    ends = [0, *gaps(run["time"], _PAUSE), len(run["time"])]
    fields = [name for name in SAMPLES if run.get(name) is not None]
    for first, end in pairwise(ends):
        if end - first >= 2:
            yield {**run, **{name: run[name][first:end] for name in fields}}


def _named(name: str, number: int, count: int) -> dict[str, str]:
    return {"name": f"{name} ({number} of {count})"} if count > 1 else {}
