# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Read motions from comma-separated values: a line of names, then one sample a line.

time, RLEG_JOINT2, RLEG_JOINT3, ..., fixed_link
0.000, -0.4538, 0.8727, ..., r_sole
0.005, -0.4541, 0.8731, ..., r_sole+l_sole
"""

import csv
import math
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from hrpsim import limits
from hrpsim.analysis.motion import FixedFrom
from hrpsim.control.framework.controller import controlled_joints
from hrpsim.control.motion.motion_sequence import (
    COLUMNS,
    LARGEST_SAMPLE,
    Channel,
    MotionSequence,
    SequenceError,
    last_in_order,
)
from hrpsim.errors import unknown_name
from hrpsim.model.model import Model
from hrpsim.text_file import read_text

TIME, FIXED = "time", "fixed_link"
_PROGRESS_ROWS = 1000
WAIST = tuple(f"waist_{name}" for name in COLUMNS["waist"])


class CsvMotion(NamedTuple):
    """The contents of a file: the sequence, the fixed links, and the line of each sample."""

    sequence: MotionSequence
    fixed: tuple[FixedFrom, ...]
    lines: np.ndarray


def read_csv(
    path, model: Model, progress: Callable[[str, int, int], None] | None = None
) -> CsvMotion:
    """Return the motion in a CSV file.

    Columns, in any order: `time` [s]; each of `controlled_joints(model)` [rad or m], further
    joints where wanted; `waist_x` ... `waist_yaw`, all six, the base in the world; `fixed_link`,
    one link or several joined by +. An empty cell of fixed_link repeats the one above. progress:
    called with "reading", how many samples are read, and of how many at most.
    Raises SequenceError with file, line and column for anything else.
    """
    path = Path(path)
    texts, numbers, fixed_texts, lines = _read_samples(path, model, progress)
    times = numbers[:, texts.index(TIME)]
    if (k := last_in_order(times)) is not None:
        raise SequenceError(
            f"{path}:{lines[k + 1]}: column 'time': {times[k + 1]:g} s is not after {times[k]:g} s "
            f"in line {lines[k]}"
        )
    joints = tuple(name for name in texts if name != TIME and name not in WAIST)
    pos = Channel(times, numbers[:, [texts.index(name) for name in joints]])
    waist = None
    if WAIST[0] in texts:
        waist = Channel(times, numbers[:, [texts.index(name) for name in WAIST]])
    fixed = _fixed_links(path, fixed_texts, lines, times, model)
    return CsvMotion(MotionSequence(joints, pos, waist=waist), fixed, lines)


def _read_samples(
    path: Path, model: Model, progress: Callable[[str, int, int], None] | None
) -> tuple[list[str], np.ndarray, list[str] | None, np.ndarray]:
    """Return the names of the numbers, the numbers, the texts of fixed_link, and the lines.

    Cells are converted to numbers line by line: texts would take seven times the memory.
    """
    text = read_text(path, SequenceError, limits.SEQUENCE_SIZE, "SEQUENCE_SIZE")
    text_lines = text.splitlines(keepends=True)
    rows, most = _rows_of(path, text_lines), len(text_lines)
    header, line = next(rows, ([], 0))
    if header:
        _check_header(path, header, line, model)
    names = [column for column in header if column != FIXED]
    columns = [header.index(name) for name in names]
    numbers, lines = np.empty((most, len(names))), np.empty(most, dtype=np.int64)
    fixed: list[str] | None = [] if FIXED in header else None
    count = 0
    for row, line in rows:
        if len(row) != len(header):
            raise SequenceError(
                f"{path}:{line}: {len(row)} values; the first line names {len(header)} columns"
            )
        numbers[count] = _numbers_of(path, line, names, [row[column] for column in columns])
        lines[count] = line
        if fixed is not None:
            fixed.append(sys.intern(row[header.index(FIXED)]))
        if progress is not None and count % _PROGRESS_ROWS == 0:
            progress("reading", count, most - 1)
        count += 1
    if count == 0:
        raise SequenceError(f"{path}: a line of column names and at least one sample are needed")
    return names, numbers[:count], fixed, lines[:count]


def _rows_of(path: Path, text_lines: list[str]) -> Iterator[tuple[list[str], int]]:
    """Yield the cells and the line number of each line that is not blank nor a comment."""
    reader = csv.reader(text_lines, skipinitialspace=True)
    try:
        for row in reader:
            if any(cell.strip() for cell in row) and not row[0].lstrip().startswith("#"):
                yield [cell.strip() for cell in row], reader.line_num
    except csv.Error as cause:
        raise SequenceError(f"{path}:{reader.line_num}: not CSV: {cause}") from None


def _numbers_of(path: Path, line: int, names: list[str], cells: list[str]) -> np.ndarray:
    """Return the numbers of a line; SequenceError for the first cell that is no number."""
    try:
        numbers = np.array(cells, dtype=np.float64)
    except ValueError:
        numbers = np.array([_number(cell) for cell in cells])
    wrong = np.flatnonzero(~(np.abs(numbers) <= LARGEST_SAMPLE))
    if wrong.size:
        k = int(wrong[0])
        raise SequenceError(
            f"{path}:{line}: column {names[k]!r}: {cells[k][:24]!r} is no finite number "
            f"up to {LARGEST_SAMPLE:g}"
        )
    return numbers


def _number(cell: str) -> float:
    try:
        return float(cell)
    except ValueError:
        return math.nan


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


def _fixed_links(path, texts, lines, times, model: Model) -> tuple[FixedFrom, ...]:
    before, found = "", []
    for given, line, time in zip(texts or (), lines.tolist(), times):
        text = given or before
        if not text:
            raise SequenceError(f"{path}:{line}: column {FIXED!r}: the first sample names no link")
        if text != before:
            found.append(FixedFrom(float(time), link_names(f"{path}:{line}", text, model), line))
        before = text
    return tuple(found)


def link_names(label: str, text: str, model: Model) -> tuple[str, ...]:
    """Return the links in "r_sole+l_sole"; SequenceError at `label` for an unknown one."""
    links = tuple(name.strip() for name in text.split("+"))
    for link in links:
        if link not in model.frames:
            raise SequenceError(f"{label}: {unknown_name('link', link, model.frames, 60)}")
    return links
