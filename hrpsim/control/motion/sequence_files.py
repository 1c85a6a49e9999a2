# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Read and write the file sets of hrpsys's SequencePlayer.

A set is `<basename>.pos` and any of .zmp .waist .hip .gsens .torque .wrenches .optionaldata. The
files are text, one sample per line, with the time [s] in column 0 and numbers separated by blanks.
docs/reference/sequence_files.md describes the columns.
"""

import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import numpy as np

from hrpsim.common.errors import unknown_name
from hrpsim.common.file_names import is_folder
from hrpsim.common.foreign.number_table import number_table
from hrpsim.common.foreign.text import read_text
from hrpsim.common.resources import user_path
from hrpsim.common.typed_values import check_arguments
from hrpsim.control.framework.controller import controlled_joints
from hrpsim.control.motion.motion_sequence import (
    CHANNELS,
    COLUMNS,
    Channel,
    MotionSequence,
    SequenceError,
)
from hrpsim.model.model import Model

_SPELLINGS = {"optionaldata": ("optionaldata", "optionalData")}
_COMMENT_SIGNS = ("#", "%")


def read_sequence(
    basename: str | os.PathLike, model: Model, joint_names: Sequence[str | None] | None = None
) -> MotionSequence:
    """Return the motion in the files `<basename>.pos`, `<basename>.zmp` and so on.

    Args:
        basename: with or without the extension of one of the files.
        model: model of the robot.
        joint_names: the joint of each column of .pos and .torque after the time. None leaves out a
            column, for example of a finger that the model does not have. The default is
            `controlled_joints(model)`.

    Raises:
        SequenceError: .pos is missing or a file is malformed. The message has file, line and column
            (the time is column 0).
    """
    check_arguments(read_sequence, locals(), SequenceError)
    base = _without_extension(basename)
    columns = tuple(controlled_joints(model) if joint_names is None else joint_names)
    _check_names(columns, model)
    files = _files(base)
    if "pos" not in files:
        raise SequenceError(_no_positions(base, files))
    names = tuple(name for name in columns if name is not None)
    indices = [k for k, name in enumerate(columns) if name is not None]
    channels = {}
    for kind, path in files.items():
        if kind in ("pos", "torque"):
            labels = tuple(name or "left out" for name in columns)
            channel = _read_channel(path, kind, labels)
            if len(indices) < len(columns):
                channel = Channel(channel.times, channel.values[:, indices])
        else:
            channel = _read_channel(path, kind, COLUMNS.get(kind))
        channels[kind] = channel
    return MotionSequence(names, **channels)


def write_sequence(sequence: MotionSequence, basename: str | os.PathLike) -> list[Path]:
    """Write the files of a sequence, and return the paths. Reading the files gives equal bits.

    If an older set with this name has files of channels that the sequence does not have, these
    files are removed. An old .hip would otherwise have priority over the new .waist.

    Args:
        sequence: the motion.
        basename: path without an extension.
    """
    check_arguments(write_sequence, locals(), SequenceError)
    base = _without_extension(basename)
    channels = dict(sequence.channels())
    for kind, path in _files(base).items():
        if kind not in channels:
            path.unlink()
    written = []
    for kind, channel in channels.items():
        path = Path(f"{base}.{kind}")
        rows = np.column_stack([channel.times, channel.values]).tolist()
        with path.open("w", encoding="ascii", newline="\n") as file:
            file.writelines(" ".join(map(repr, row)) + "\n" for row in rows)
        written.append(path)
    return written


def _without_extension(basename: str | os.PathLike) -> Path:
    path = user_path(basename)
    if path.suffix[1:] in (s for kind in CHANNELS for s in _SPELLINGS.get(kind, (kind,))):
        return path.with_suffix("")
    return path


def _files(base: Path) -> dict[str, Path]:
    """Return the existing files of a set, by channel."""
    result = {}
    for kind in CHANNELS:
        for spelling in _SPELLINGS.get(kind, (kind,)):
            path = Path(f"{base}.{spelling}")
            if kind not in result and os.path.exists(path):
                result[kind] = path
    return result


def _no_positions(base: Path, found: dict[str, Path]) -> str:
    message = f"{base}.pos does not exist. "
    if found:
        return message + f"Files of this set: {', '.join(p.name for p in found.values())}"
    if not is_folder(base.parent):
        return message + f"There is no folder {base.parent}"
    others = sorted(path.stem for path in base.parent.glob("*.pos"))
    return message + f"Sequences in {base.parent}: {', '.join(others[:12]) or 'none'}"


def _check_names(columns: tuple[str | None, ...], model: Model) -> None:
    names = [name for name in columns if name is not None]
    available = controlled_joints(model)
    unknown = [name for name in names if name not in available]
    if len(unknown) == 1:
        raise SequenceError(unknown_name("joint", unknown[0], available, limit=len(available)))
    if unknown:
        raise SequenceError(
            f"joints {', '.join(map(repr, unknown))} do not exist. Available: "
            f"{', '.join(available)}. Give None to leave a column out"
        )
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise SequenceError(f"joint_names has {', '.join(map(repr, twice))} more than once")


def _read_channel(path: Path, kind: str, labels: tuple[str, ...] | None) -> Channel:
    """Return the samples in a file.

    labels: names of the columns after the time, if known.
    """
    text = read_text(path, SequenceError, "SEQUENCE_SIZE")
    lines = text.split("\n")
    used = [k for k, line in enumerate(lines) if _has_sample(line)]
    if not used:
        raise SequenceError(f"{path}: the file contains no samples")
    width = len(lines[used[0]].split()) - 1 if labels is None else len(labels)
    table = np.full((1, 0), np.nan)
    with suppress(SequenceError):  # the later error names the line
        table = number_table([lines[k] for k in used], path, SequenceError, None, None)
    is_whole = table.shape[1] == 1 + width and np.isfinite(table).all()
    if not is_whole or _is_odd(kind, width):
        raise SequenceError(_complaint(path, kind, lines, used, labels, width))
    late = np.flatnonzero(np.diff(table[:, 0]) <= 0.0)
    if late.size:
        k = int(late[0])
        raise SequenceError(
            f"{path}:{used[k + 1] + 1}: column 0 (time): {table[k + 1, 0]!s} s is not after "
            f"{table[k, 0]!s} s in line {used[k] + 1}"
        )
    return Channel(table[:, 0], table[:, 1:])


def _has_sample(line: str) -> bool:
    content = line.strip()
    return bool(content) and not content.startswith(_COMMENT_SIGNS)


def _is_odd(kind: str, width: int) -> bool:
    """Return whether `width` is a wrong number of columns (without the time) for a kind of file."""
    return width < 1 or (kind == "wrenches" and width % 6 != 0)


def _complaint(path: Path, kind: str, lines, used, labels, width: int) -> str:
    """Return an error message about the first malformed line, with file, line and column."""
    for k in used:
        tokens = lines[k].split()
        if fault := _faulty_token(tokens, ("time", *(labels or ()))):
            return f"{path}:{k + 1}: {fault}"
        count = len(tokens) - 1
        if count != width or _is_odd(kind, width):
            is_cut = k == used[-1] and k != used[0] and count < width
            values = "1 value" if count == 1 else f"{count} values"
            return (
                f"{path}:{k + 1}: column {min(count, width) + 1}: {values} after the time, "
                f"{_expected(kind, labels, width, k == used[0])}"
                f"{'. The file seems to be cut off' if is_cut else ''}"
            )
    return f"{path}: not a table of numbers"


def _faulty_token(tokens: list[str], names: tuple[str, ...]) -> str:
    """Return a text about the first token that is not a number, with its column, or ""."""
    for column, token in enumerate(tokens):
        if fault := _fault(token):
            name = f" ({names[column]})" if column < len(names) else ""
            return f"column {column}{name}: {token[:24]!r} {fault}"
    return ""


def _fault(token: str) -> str | None:
    try:
        value = float(token)
    except ValueError:
        value = None
    if value is None or "_" in token or not token.isascii():
        return "is not a number" + (". Separate values by blanks" if "," in token else "")
    return None if np.isfinite(value) else "is not finite"


def _expected(kind: str, labels, width: int, first: bool) -> str:
    if kind in ("pos", "torque"):
        return (
            f"expected {width}, one for each of the joints {', '.join(labels)}. For other "
            "columns, pass joint_names, with None for each column to ignore"
        )
    if kind in COLUMNS:
        return f"expected {width}: {', '.join(labels)}"
    if kind == "wrenches" and width % 6:
        return "expected a multiple of 6: force and torque of each force sensor"
    return "expected at least 1" if first else f"expected {width} as in the lines before"
