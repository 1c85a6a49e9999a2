# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Read motions from files: SequencePlayer sets, YAML keyframes, comma-separated values.

A keyframe file gives joint angles at some times, and the interpolation between them:

interpolation: quintic        # linear, cubic or quintic
keyframes:
- {time: 0.0, joints: {RLEG_JOINT3: 0.8727}, fixed_link: r_sole}
- {time: 1.0, joints: {RLEG_JOINT3: 1.2}}
- {time: 2.0, joints: {RLEG_JOINT3: 0.8727}, fixed_link: [l_sole, r_sole]}

A CSV file has a line of names, and then one line per sample:

time, RLEG_JOINT2, RLEG_JOINT3, ..., fixed_link
0.000, -0.4538, 0.8727, ..., r_sole
0.005, -0.4541, 0.8731, ..., r_sole+l_sole
"""

import math
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import accumulate
from operator import or_
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.interpolate import CubicSpline, PPoly

from hrpsim.analysis.motion import FixedFrom, Motion, even_times, motion_of, motion_of_sequence
from hrpsim.common import limits
from hrpsim.common.errors import shown_value, unknown_name
from hrpsim.common.foreign.csv_rows import csv_rows
from hrpsim.common.foreign.text import read_text
from hrpsim.common.foreign.yaml_text import read_yaml
from hrpsim.common.resources import user_path
from hrpsim.common.schema import Kind, listing, mapping, numeric, one_of
from hrpsim.common.values import Range
from hrpsim.control.framework.controller import controlled_joints
from hrpsim.control.motion.motion_sequence import (
    COLUMNS,
    LARGEST_SAMPLE,
    SHORTEST_STEP,
    Channel,
    MotionSequence,
    SequenceError,
    last_in_order,
)
from hrpsim.control.motion.sequence_files import read_sequence
from hrpsim.model.model import Model
from hrpsim.world.file.file_reader import checked_content

TIME, FIXED = "time", "fixed_link"
_PROGRESS_ROWS = 1000
WAIST = tuple(f"waist_{name}" for name in COLUMNS["waist"])
INTERPOLATIONS = ("linear", "cubic", "quintic")
_PERIOD = 0.005  # [s]


class CsvMotion(NamedTuple):
    """The contents of a CSV file: the sequence, the fixed links, and the line of each sample."""

    sequence: MotionSequence
    fixed: tuple[FixedFrom, ...]
    lines: np.ndarray


def read_csv(
    path, model: Model, progress: Callable[[str, int, int], None] | None = None
) -> CsvMotion:
    """Return the motion in a CSV file.

    | column, in any order | meaning |
    | --- | --- |
    | `time` | [s] |
    | each of `controlled_joints(model)` | [rad or m]; further joints are optional |
    | `waist_x` ... `waist_yaw`, all six | the base in the world; optional |
    | `fixed_link` | optional; a link or several joined by +; an empty cell repeats the previous |

    progress: called with "reading", the number of samples read, and an upper bound of the total.
    Raises SequenceError with file, line and column for any other content.
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
    """Return the names of the numeric columns, the numbers, the fixed_link texts, and the lines.

    Cells are converted to numbers line by line: texts would take seven times the memory.
    """
    text = read_text(path, SequenceError, "SEQUENCE_SIZE")
    text_lines = text.splitlines(keepends=True)
    rows, most = _rows_of(path, text_lines), len(text_lines)
    header, line = next(rows, ([], 0))
    if header:
        _check_header(path, header, line, model)
    at_fixed = header.index(FIXED) if FIXED in header else len(header)
    names = [column for column in header if column != FIXED]
    numbers, lines = np.empty((most, len(names))), np.empty(most, dtype=np.int64)
    fixed: list[str] = []
    count = 0
    for count, (row, line) in enumerate(rows, 1):
        if len(row) != len(header):
            raise SequenceError(
                f"{path}:{line}: has {len(row)} values, but the first line names {len(header)} "
                "columns"
            )
        fixed += map(sys.intern, row[at_fixed : at_fixed + 1])
        del row[at_fixed : at_fixed + 1]
        numbers[count - 1] = _numbers_of(path, line, names, row)
        lines[count - 1] = line
        if progress is not None and count % _PROGRESS_ROWS == 1:
            progress("reading", count - 1, most - 1)
    if count == 0:
        raise SequenceError(f"{path}: must have a line of column names and at least one sample")
    return names, numbers[:count], fixed or None, lines[:count]


def _rows_of(path: Path, text_lines: list[str]) -> Iterator[tuple[list[str], int]]:
    """Yield the cells and the line number of each line that is neither blank nor a comment."""
    most = limits.SEQUENCE_VALUES
    for row, line in csv_rows(text_lines, path, SequenceError, most, "SEQUENCE_VALUES"):
        if any(row) and not row[0].startswith("#"):
            yield row, line


def _numbers_of(path: Path, line: int, names: list[str], cells: list[str]) -> np.ndarray:
    """Convert the cells of a line. Raises SequenceError for the first cell without a number."""
    try:
        numbers = np.array(cells, dtype=np.float64)
    except ValueError:
        numbers = np.array([_number(cell) for cell in cells])
    wrong = np.flatnonzero(~(np.abs(numbers) <= LARGEST_SAMPLE))
    if wrong.size:
        k = int(wrong[0])
        raise SequenceError(
            f"{path}:{line}: column {names[k]!r}: {cells[k][:24]!r} is not a finite number "
            f"up to {LARGEST_SAMPLE:g}"
        )
    return numbers


def _number(cell: str) -> float:
    try:
        return float(cell)
    except ValueError:
        return math.nan


def _check_header(path: Path, header: list[str], line: int, model: Model) -> None:
    twice = sorted(name for name, count in Counter(header).items() if count > 1)
    if twice:
        column = shown_value(twice[0])
        raise SequenceError(f"{path}:{line}: column {column} appears more than once")
    known = {TIME, FIXED, *WAIST, *model.joint_names}
    for name in header:
        if name not in known:
            raise SequenceError(f"{path}:{line}: {unknown_name('column', name, sorted(known), 60)}")
    required = [TIME, *controlled_joints(model)]
    if set(header) & set(WAIST):
        required += WAIST
    missing = [name for name in required if name not in header]
    if missing:
        raise SequenceError(f"{path}:{line}: missing columns: {', '.join(missing)}")


def _fixed_links(path, texts, lines, times, model: Model) -> tuple[FixedFrom, ...]:
    before, entries = "", []
    for cell, line, time in zip(texts or (), lines.tolist(), times):
        text = cell or before
        if not text:
            raise SequenceError(f"{path}:{line}: column {FIXED!r}: must name a link")
        if text != before:
            entries.append(FixedFrom(float(time), link_names(f"{path}:{line}", text, model), line))
        before = text
    return tuple(entries)


def link_names(label: str, text: str, model: Model) -> tuple[str, ...]:
    """Split a text such as "r_sole+l_sole" into the names of links.

    Raises SequenceError for an unknown link. The message begins with `label`.
    """
    links = tuple(name.strip() for name in text.split("+"))
    for link in links:
        if link not in model.frames:
            raise SequenceError(f"{label}: {unknown_name('link', link, model.frames, 60)}")
    return links


def read_motion(
    path,
    model: Model,
    *,
    period: float | None = None,
    smoothing: float = 0.0,
    progress: Callable[[str, int, int], None] | None = None,
) -> Motion:
    """Return the motion in a CSV file, YAML keyframes, or a set of hrpsys's SequencePlayer.

    The suffix determines the format: .csv, .yaml or .yml. Any other path is a set, given by its
    basename or one of its files. period: resample at this period [s]. smoothing: window of the
    differentiation [s] (`differentiated`), 0 for keyframes. progress: called with the task, the
    number of samples done, and the total number. Raises SequenceError with file and line for
    invalid contents, OSError for files that cannot be read.
    """
    suffix = Path(path).suffix.lower()
    if suffix in (".yaml", ".yml"):
        if smoothing > 0.0:
            raise SequenceError(f"{path}: keyframes are interpolated. Give no smoothing")
        return read_keyframes(path, model, period=period)
    if suffix == ".csv":
        source = path
        sequence, fixed, lines = read_csv(path, model, progress)
    else:
        source = path if suffix == ".pos" else f"{path}.pos"
        sequence, fixed = read_sequence(path, model), ()
        lines = _sample_lines(source)
    motion = motion_of_sequence(model, str(source), sequence, period=period, smoothing=smoothing)
    return replace(motion, fixed=fixed, line_times=sequence.pos.times, lines=lines)


def _sample_lines(path) -> np.ndarray:
    """Return the line number of each sample in a file of a SequencePlayer set."""
    path = user_path(path)
    lines = read_text(path, SequenceError, "SEQUENCE_SIZE").split("\n")
    used = [k + 1 for k, line in enumerate(lines) if line.strip() and line.strip()[0] not in "#%"]
    return np.array(used)


def interpolated(times, values, interpolation: str) -> PPoly:
    """Return the curve through `values` (k, n) at ascending `times` (k,) [s], k >= 2.

    | method | curve |
    | --- | --- |
    | "linear" | constant rates between keyframes, with zero acceleration everywhere |
    | "cubic" | spline at rest at both ends; the acceleration is continuous, but jumps at the ends |
    | "quintic" | at rest in every keyframe, with the least jerk |
    """
    times, values = np.asarray(times, dtype=np.float64), np.asarray(values, dtype=np.float64)
    if interpolation == "cubic":
        return CubicSpline(times, values, bc_type="clamped")
    h, rise = np.diff(times)[:, None], np.diff(values, axis=0)
    if interpolation == "linear":
        return PPoly(np.array([rise / h, values[:-1]]), times)
    zero = np.zeros_like(rise)
    return PPoly(
        np.array([6 * rise / h**5, -15 * rise / h**4, 10 * rise / h**3, zero, zero, values[:-1]]),
        times,
    )


def _fixed_from(path, frames: list[dict], lines: np.ndarray) -> list[FixedFrom]:
    """Return the fixed links of keyframes with their starting times.

    Raises SequenceError if the first keyframe has no fixed link.
    """
    fixed = [
        FixedFrom(float(frame["time"]), frame["fixed_link"], int(line))
        for frame, line in zip(frames, lines)
        if "fixed_link" in frame
    ]
    if fixed and "fixed_link" not in frames[0]:
        raise SequenceError(
            f"{path}:{lines[0]}: the first keyframe has no fixed_link, but a later one has"
        )
    return fixed


def read_keyframes(path, model: Model, *, period: float | None = None) -> Motion:
    """Return the motion in a YAML file of keyframes, every `period` [s], by default 5 ms.

    A joint missing in a keyframe keeps its value from the previous keyframe, or zero in the first
    keyframe. A `fixed_link`, one name or a list, applies until the next `fixed_link`. Rates and
    accelerations are the derivatives of the interpolation (`interpolated`). Raises SequenceError
    with file, line and name for invalid contents.
    """
    text = read_yaml(Path(path), SequenceError)
    file = checked_content(text, _kind(model), SequenceError)
    interpolation, frames = file.get("interpolation", "quintic"), file["keyframes"]
    lines = np.array([text.line(["keyframes", k]) for k in range(len(frames))])
    times = np.array([frame["time"] for frame in frames], dtype=np.float64)
    late = np.flatnonzero(np.diff(times) < SHORTEST_STEP)
    if late.size:
        k = int(late[0]) + 1
        raise SequenceError(
            f"{path}:{lines[k]}: time {times[k]:g} s is not after {times[k - 1]:g} s of "
            "the keyframe before"
        )
    values = list(accumulate((frame.get("joints", {}) for frame in frames), or_))
    fixed = _fixed_from(path, frames, lines)
    names = tuple(values[-1])
    table = np.array([[at.get(name, 0.0) for name in names] for at in values])
    curve = interpolated(times, table, interpolation)
    at = even_times(str(path), times[0], times[-1], period or _PERIOD, model)
    accelerations = np.zeros((len(at), len(names))) if interpolation == "linear" else curve(at, 2)
    motion = motion_of(
        model, str(path), at, names, curve(at), rates=curve(at, 1), accelerations=accelerations
    )
    return replace(motion, fixed=tuple(fixed), line_times=times, lines=lines)


def _kind(model: Model) -> Kind:
    """Return the schema of keyframe files for this model."""
    number = numeric(Range(-LARGEST_SAMPLE, LARGEST_SAMPLE))
    link = one_of("link", model.frames)

    def links(value) -> tuple[str, ...]:
        if isinstance(value, list):
            return tuple(listing(link, 1, what="a link or a list of links")(value))
        return (link(value),)

    joints = mapping({name: number for name in model.joint_names})
    frame = mapping({"joints": joints, "fixed_link": links}, {"time": number})
    interpolation = one_of("interpolation", INTERPOLATIONS)
    frames = listing(frame, 2, what="a list of two or more keyframes")
    return mapping({"interpolation": interpolation}, {"keyframes": frames})
