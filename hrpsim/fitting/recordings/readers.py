# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Read recordings from CSV and numpy's npz files. `bag_recordings` reads bags of ROS 2."""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

from hrpsim.bag.signal_files import has_signals
from hrpsim.common.errors import FitError, unknown_name
from hrpsim.common.foreign.arrays import read_npz
from hrpsim.common.foreign.number_table import number_table
from hrpsim.common.foreign.text import read_text
from hrpsim.common.typed_values import check_arguments
from hrpsim.fitting.recordings.bag_recordings import bag_recordings
from hrpsim.fitting.recordings.measured_motion import SAMPLES, Recording
from hrpsim.fitting.recordings.segments import recordings_of, runs_of_clock
from hrpsim.fitting.recordings.signal_recordings import fields_of_signals
from hrpsim.fitting.recordings.signal_tables import signals_of_columns, signals_of_topics
from hrpsim.fitting.signals.signal_kinds import SIGNAL_KINDS

_JOINT_COLUMNS = {
    "position": "positions",
    "velocity": "velocities",
    "command": "command_positions",
    "command_velocity": "command_velocities",
    "effort": "command_efforts",
}
_BASE_COLUMNS = {
    "base": ("x", "y", "z", "qx", "qy", "qz", "qw"),
    "base_velocity": ("vx", "vy", "vz", "wx", "wy", "wz"),
}
_TOPICS = ("states", "commands", "base", "joints")


def read_recording(path: str | Path, **options: Any) -> Recording:
    """Read the recording in a file that has one segment.

    Args:
        path: as for `read_recordings`.
        **options: as for `read_recordings`.

    Raises:
        FitError: the file has several segments, or `read_recordings` raises the error.
        BagError: the bag cannot be read.
    """
    check_arguments(read_recording, locals(), FitError)
    return the_only(path, read_recordings(path, **options))


def read_bag_recording(bag: str | Path, **options: Any) -> Recording:
    """Read the recording of a robot in a bag that has one segment.

    Args:
        bag: folder or file.
        **options: as for `read_recordings`.

    Raises:
        FitError: the bag has several segments, or `read_recordings` raises the error.
        BagError: the bag or a topic cannot be read.
    """
    check_arguments(read_bag_recording, locals(), FitError)
    return the_only(bag, bag_recordings(Path(bag), **options))


def the_only(path: str | Path, segments: tuple[Recording, ...]) -> Recording:
    """Return the only segment of a file. Raises FitError for several segments."""
    if len(segments) > 1:
        first, second = segments[:2]
        raise FitError(
            f"{path}: time does not increase without gaps. The clock goes from {first.time[-1]:.9g}"
            f" to {second.time[0]:.9g} s. read_recordings returns the {len(segments)} segments"
        )
    return segments[0]


def read_recordings(path: str | Path, **options: Any) -> tuple[Recording, ...]:
    """Read the segments of the recording in a file. In each segment, stamps increase without gaps.

    A .npz has the fields of `Recording` as arrays, or is a recording of signals, which has topics
    like a bag. A .csv has the columns `time`, `position.JOINT`, `velocity.JOINT`, `command.JOINT`
    (position), `command_velocity.JOINT`, `effort.JOINT` (commanded), `base.x y z qx qy qz qw`,
    `base_velocity.vx vy vz wx wy wz`, and signals of sensors: `torque.JOINT`, `current.JOINT`,
    `motor_position.JOINT`, `wrench.SENSOR.fx` to `tz`, `imu.SENSOR.wx` to `az`, `contact.LINK`,
    `point.LINK.x` to `z`. Any other path is a bag. A FitWarning lists omitted data.

    Args:
        path: file, or folder of a bag.
        **options: other fields of `Recording`, such as `held_out`. Bags and signals have further
            options. `states` and `commands` are the topics of sensor_msgs/JointState, measured and
            commanded (None: no commands). `base` is the topic of nav_msgs/Odometry of a free base.
            `joints` are the joints to use. `signals` maps the names of sensor signals to topics, or
            to mappings with `topic`, `kind`, `of` and `known`. For a CSV file, the columns
            determine topic and kind.

    Raises:
        FitError: columns or values do not form a recording, or the file has several clocks that
            cannot be distinguished.
        BagError: the bag cannot be read.
    """
    check_arguments(read_recordings, locals(), FitError)
    path = Path(path)
    described = options.pop("signals", {})
    if described and path.suffix != ".csv":
        options["signals"] = signals_of_topics(path, described)
    if path.suffix not in (".npz", ".csv"):
        return bag_recordings(path, **options)
    options = {"name": path.stem, **options}
    if path.suffix == ".csv":
        fields = _read_csv(path, described)
    elif has_signals(path):
        fields = fields_of_signals(path, **{k: options.pop(k) for k in _TOPICS if k in options})
    else:
        fields = _read_arrays(path)
    return _segments(path, {**fields, **options}, options)


def _segments(path: Path, given: dict[str, Any], options: dict[str, Any]) -> tuple[Recording, ...]:
    """Divide a table of samples and a table of commands into segments."""
    commands = [name for name in given if name.startswith("command_") and name != "command_joints"]
    tables = {}
    for clock, names in {"time": SAMPLES, "command_time": commands}.items():
        table = _table({name: given[name] for name in names if name in given}, clock)
        if table is None:
            return (Recording(**given),)  # its error names the field
        if table:
            tables[clock] = table
    runs = []
    for run in runs_of_clock(options["name"], tables):
        own = run.get("command_time", {})
        times = {"command_time": own["time"]} if own else {}
        runs.append({**own, **run["time"], **times})
    other = {name: given[name] for name in given if name not in (*SAMPLES, *commands)}
    return recordings_of(str(path), runs, other)


def _table(given: Mapping[str, Any], clock: str) -> dict[str, np.ndarray] | None:
    """Return `time` (n,) and the columns (n, ...) of one clock, or None if shapes do not match."""
    try:
        columns = {name: np.asarray(column, float) for name, column in given.items()}
    except (TypeError, ValueError):
        return None
    if not columns:
        return {}
    time = columns.pop(clock, np.zeros(()))
    shapes = {column.shape[:1] if column.ndim == 2 else () for column in columns.values()}
    return {"time": time, **columns} if time.ndim == 1 and shapes == {time.shape} else None


def _read_arrays(path: Path) -> dict[str, Any]:
    known = [field.name for field in fields(Recording)]
    arrays = read_npz(path, FitError, "SEQUENCE_SIZE", known, "biufU")
    values = {key: _field(path, key, array) for key, array in arrays.items()}
    if "time" not in values:
        raise FitError(f"{path}: the array `time` is missing")
    return values


def _field(path: Path, key: str, array: np.ndarray) -> Any:
    """Convert an array of an .npz to a field of `Recording`: names, a text, a flag or numbers."""
    if key.endswith("joints"):
        if array.ndim != 1 or array.dtype.kind != "U":
            raise FitError(f"{path}: array {key!r} must be a row of names")
        return tuple(array.tolist())
    kinds = {"name": "U", "entity": "U", "interpolate": "b", "held_out": "b"}.get(key)
    if kinds is None:
        return array
    if array.size != 1 or array.dtype.kind != kinds:
        raise FitError(f"{path}: array {key!r} must hold one {'text' if kinds == 'U' else 'flag'}")
    return array.item()


def _columns_of(
    path: Path, kind: str, parts: Mapping[str, np.ndarray], given: dict[str, Any]
) -> Sequence[str]:
    """Return the axes or joints of the columns of one kind, in order.

    Store the joints in `given`.
    """
    if kind in _BASE_COLUMNS:
        if missing := [axis for axis in _BASE_COLUMNS[kind] if axis not in parts]:
            raise FitError(f"{path}: columns are missing: {kind}.{', '.join(missing)}")
        return _BASE_COLUMNS[kind]
    is_command = _JOINT_COLUMNS[kind].startswith("command")
    names = given.setdefault("command_joints" if is_command else "joints", tuple(parts))
    if set(names) != set(parts):
        raise FitError(f"{path}: {kind} must have the joints {', '.join(names)}")
    return names


def _read_csv(path: Path, described: Mapping[str, Any]) -> dict[str, Any]:
    grouped: dict[str, dict[str, np.ndarray]] = {}
    columns = _csv_columns(path)
    fields: dict[str, Any] = {"time": columns.pop("time")}
    fields["signals"], columns = signals_of_columns(fields["time"], columns, described)
    for name, values in columns.items():
        kind, _, part = name.partition(".")
        if kind not in _JOINT_COLUMNS and part not in _BASE_COLUMNS.get(kind, ()):
            known = [*_JOINT_COLUMNS, *(f"{k}.{a}" for k, v in _BASE_COLUMNS.items() for a in v)]
            known += SIGNAL_KINDS
            raise FitError(f"{path}: {unknown_name('column', name, known, 30)}")
        grouped.setdefault(kind, {})[part] = values
    for kind, parts in grouped.items():
        names = _columns_of(path, kind, parts, fields)
        fields[_JOINT_COLUMNS.get(kind, kind)] = np.transpose([parts[name] for name in names])
    if "command_joints" in fields:
        fields["command_time"] = fields["time"]
    return fields


def _csv_columns(path: Path) -> dict[str, np.ndarray]:
    """Return the columns of a CSV by name, including `time`. Raises FitError for invalid text."""
    lines = read_text(path, FitError, "SEQUENCE_SIZE").splitlines()
    header = [name.strip() for name in lines[0].split(",")] if lines else []
    if "time" not in header or len(set(header)) < len(header):
        raise FitError(
            f"{path}: the first line must name the columns, each once, and include `time`"
        )
    table = number_table(lines[1:], path, FitError)
    if table.shape[1] != len(header):
        raise FitError(
            f"{path}: has {table.shape[1]} values in a row, but the first line names {len(header)}"
            " columns"
        )
    return dict(zip(header, table.T))
