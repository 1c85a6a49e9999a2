"""Motions as tables of comma-separated values: a line of names, then one sample a line.

time, RLEG_JOINT2, RLEG_JOINT3, ..., fixed_link
0.000, -0.4538, 0.8727, ..., r_sole
0.005, -0.4541, 0.8731, ..., r_sole+l_sole
"""

from __future__ import annotations

import csv
import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

from hrpsim import limits
from hrpsim.analysis.motion import FixedFrom, Motion, motion_of_sequence
from hrpsim.control.framework.controller import controlled_joints
from hrpsim.control.motion.motion_sequence import (
    COLUMNS,
    LARGEST_SAMPLE,
    SHORTEST_STEP,
    Channel,
    MotionSequence,
    SequenceError,
)
from hrpsim.errors import unknown_name
from hrpsim.model.model import Model
from hrpsim.yaml_text import read_text

TIME, FIXED = "time", "fixed_link"
_PROGRESS_ROWS = 1000
WAIST = tuple(f"waist_{name}" for name in COLUMNS["waist"])


def read_csv_motion(
    path,
    model: Model,
    *,
    period: float | None = None,
    smoothing: float = 0.0,
    progress: Callable[[str, int, int], None] | None = None,
) -> Motion:
    """Return the motion in a CSV file, at its own samples or every `period` [s].

    Columns, in any order: `time` [s]; each of `controlled_joints(model)` [rad or m], further
    joints where wanted; `waist_x` ... `waist_yaw`, all six, the base in the world; `fixed_link`,
    one link or several joined by +. An empty cell of fixed_link repeats the one above. progress:
    called with "reading", how many samples are read, and of how many.
    Raises SequenceError with file, line and column for anything else.
    """
    path = Path(path)
    header, rows, lines = _read_table(path)
    _check_header(path, header, lines[0], model)
    texts = [column for column in header if column != FIXED]
    columns = [header.index(name) for name in texts]
    numbers = np.empty((len(rows), len(texts)))
    for k, (row, line) in enumerate(zip(rows, lines[1:])):
        if len(row) != len(header):
            raise SequenceError(
                f"{path}:{line}: {len(row)} values; the first line names {len(header)} columns"
            )
        try:
            numbers[k] = [row[column] for column in columns]
        except ValueError:
            numbers[k] = math.nan
        if not np.all(np.abs(numbers[k]) <= LARGEST_SAMPLE):
            _complain(path, line, texts, [row[column] for column in columns])
        if progress is not None and k % _PROGRESS_ROWS == 0:
            progress("reading", k, len(rows))
    times = numbers[:, texts.index(TIME)]
    late = np.flatnonzero(np.diff(times) < SHORTEST_STEP)
    if late.size:
        k = int(late[0])
        raise SequenceError(
            f"{path}:{lines[k + 2]}: column 'time': {times[k + 1]:g} s is not after {times[k]:g} s "
            f"in line {lines[k + 1]}"
        )
    joints = tuple(name for name in texts if name != TIME and name not in WAIST)
    pos = Channel(times, numbers[:, [texts.index(name) for name in joints]])
    waist = None
    if WAIST[0] in texts:
        waist = Channel(times, numbers[:, [texts.index(name) for name in WAIST]])
    motion = motion_of_sequence(
        model, str(path), MotionSequence(joints, pos, waist=waist), period=period,
        smoothing=smoothing,
    )  # fmt: skip
    fixed = _fixed_links(path, header, rows, lines[1:], times, model)
    return replace(motion, fixed=fixed, line_times=times, lines=np.array(lines[1:]))


def _read_table(path: Path) -> tuple[list[str], list[list[str]], list[int]]:
    """Return the names, the rows of cells, and the line numbers of all, without blank lines."""
    rows, lines = [], []
    text = read_text(path, SequenceError, limits.SEQUENCE_SIZE, "SEQUENCE_SIZE")
    reader = csv.reader(text.splitlines(keepends=True), skipinitialspace=True)
    try:
        for row in reader:
            if any(cell.strip() for cell in row) and not row[0].lstrip().startswith("#"):
                rows.append([cell.strip() for cell in row])
                lines.append(reader.line_num)
    except csv.Error as cause:
        raise SequenceError(f"{path}:{reader.line_num}: not CSV: {cause}") from None
    if len(rows) < 2:
        raise SequenceError(f"{path}: a line of column names and at least one sample are needed")
    return rows[0], rows[1:], lines


def _check_header(path: Path, header: list[str], line: int, model: Model) -> None:
    twice = sorted({name for name in header if header.count(name) > 1})
    if twice:
        raise SequenceError(f"{path}:{line}: column {twice[0]!r} appears more than once")
    known = {TIME, FIXED, *WAIST, *model.joint_names}
    for name in header:
        if name not in known:
            raise SequenceError(f"{path}:{line}: {unknown_name('column', name, sorted(known), 60)}")
    wanted = [TIME, *controlled_joints(model)]
    if set(header) & set(WAIST):
        wanted += WAIST
    missing = [name for name in wanted if name not in header]
    if missing:
        raise SequenceError(f"{path}:{line}: missing columns: {', '.join(missing)}")


def _complain(path: Path, line: int, names: list[str], cells: list[str]) -> None:
    """Raise SequenceError for the first cell that is no number or too large a one."""
    for name, text in zip(names, cells):
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not abs(value) <= LARGEST_SAMPLE:
            raise SequenceError(
                f"{path}:{line}: column {name!r}: {text[:24]!r} is no finite number "
                f"up to {LARGEST_SAMPLE:g}"
            )


def _fixed_links(path, header, rows, lines, times, model: Model) -> tuple[FixedFrom, ...]:
    if FIXED not in header:
        return ()
    column, before, found = header.index(FIXED), "", []
    for row, line, time in zip(rows, lines, times):
        text = row[column] or before
        if not text:
            raise SequenceError(f"{path}:{line}: column {FIXED!r}: the first sample names no link")
        if text != before:
            found.append(FixedFrom(float(time), link_names(f"{path}:{line}", text, model), line))
        before = text
    return tuple(found)


def link_names(place: str, text: str, model: Model) -> tuple[str, ...]:
    """Return the links in "r_sole+l_sole"; SequenceError at `place` for an unknown one."""
    links = tuple(name.strip() for name in text.split("+"))
    for link in links:
        if link not in model.frames:
            raise SequenceError(f"{place}: {unknown_name('link', link, model.frames, 60)}")
    return links
