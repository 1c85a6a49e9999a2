# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Recordings from files: CSV, numpy's npz, and bags of ROS 2."""

import warnings
import zlib
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from hrpsim.bag.reader import BagError, full_name, seconds, timed_messages, topic_types
from hrpsim.common import limits
from hrpsim.common.errors import unknown_name
from hrpsim.common.text_file import read_text
from hrpsim.fitting.measured_motion import Recording
from hrpsim.fitting.recording_checks import check_times, repeats
from hrpsim.fitting.unknowns import FitError, FitWarning

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
_STATES, _ODOMETRY = "sensor_msgs/msg/JointState", "nav_msgs/msg/Odometry"
_DAMAGED = (ValueError, EOFError, TypeError, BadZipFile, zlib.error)
_OFFSET = 0.1  # [s] between stamp and reception, by which two topics may differ


def read_recording(path: str | Path, **options: Any) -> Recording:
    """Return the recording in a file.

    A .npz has the fields of `Recording` as arrays. A .csv has the columns `time`, `position.JOINT`,
    `velocity.JOINT`, `command.JOINT` (position), `command_velocity.JOINT`, `effort.JOINT`
    (commanded), `base.x y z qx qy qz qw`, `base_velocity.vx vy vz wx wy wz`. Any other path is a
    bag: see `read_bag_recording`.

    Args:
        path: file, or folder of a bag.
        **options: other fields of `Recording`, such as `held_out`; for a bag, topics too.

    Raises:
        FitError: for columns and values that make no recording.
        BagError: for a bag that cannot be read.
    """
    path = Path(path)
    options = {"name": path.stem, **options}
    if path.suffix == ".npz":
        return _read_arrays(path, options)
    if path.suffix == ".csv":
        return _read_csv(path, options)
    return read_bag_recording(path, **options)


def _read_arrays(path: Path, options: dict[str, Any]) -> Recording:
    known = [field.name for field in fields(Recording)]
    try:
        with np.load(path, allow_pickle=False) as stored:
            arrays = {key: stored[key] for key in stored.files}
    except _DAMAGED as error:
        raise FitError(f"{path}: not arrays of a recording: {error}") from error
    for key in arrays:
        if key not in known:
            raise FitError(f"{path}: {unknown_name('array', key, known)}")
    given = {k: tuple(v.tolist()) if k.endswith("joints") else v for k, v in arrays.items()}
    if "time" not in given:
        raise FitError(f"{path}: an array `time` is needed")
    return Recording(**(given | options))


def _read_csv(path: Path, options: dict[str, Any]) -> Recording:
    grouped: dict[str, dict[str, np.ndarray]] = {}
    columns = _csv_columns(path)
    given: dict[str, Any] = {"time": columns.pop("time")}
    for name, values in columns.items():
        kind, _, part = name.partition(".")
        if kind not in _JOINT_COLUMNS and part not in _BASE_COLUMNS.get(kind, ()):
            known = [*_JOINT_COLUMNS, *(f"{k}.{a}" for k, v in _BASE_COLUMNS.items() for a in v)]
            raise FitError(f"{path}: {unknown_name('column', name, known, 30)}")
        grouped.setdefault(kind, {})[part] = values
    for kind, parts in grouped.items():
        if kind in _BASE_COLUMNS:
            names, field = _BASE_COLUMNS[kind], kind
            if missing := [axis for axis in names if axis not in parts]:
                raise FitError(f"{path}: columns are missing: {kind}.{', '.join(missing)}")
        else:
            field = _JOINT_COLUMNS[kind]
            which = "command_joints" if field.startswith("command") else "joints"
            names = given.setdefault(which, tuple(parts))
            if set(names) != set(parts):
                raise FitError(f"{path}: {kind} has other joints than {', '.join(names)}")
        given[field] = np.transpose([parts[name] for name in names])
    if "command_joints" in given:
        given["command_time"] = given["time"]
    return Recording(**(given | options))


def _csv_columns(path: Path) -> dict[str, np.ndarray]:
    """Return the columns of a CSV by name, `time` among them. FitError for another text."""
    lines = read_text(path, FitError, limits.SEQUENCE_SIZE, "SEQUENCE_SIZE").splitlines()
    header = [name.strip() for name in lines[0].split(",")] if lines else []
    if "time" not in header or len(set(header)) < len(header):
        raise FitError(f"{path}: the first line must name columns, each once, `time` among them")
    try:
        table = np.loadtxt(lines[1:], delimiter=",", ndmin=2)
    except ValueError as error:
        raise FitError(f"{path}: {error}") from error
    if table.shape[1] != len(header):
        raise FitError(f"{path}: {table.shape[1]} values; the first line names {len(header)}")
    return dict(zip(header, table.T))


def read_bag_recording(
    bag: str | Path,
    states: str = "joint_states",
    commands: str | None = "joint_commands",
    base: str | None = None,
    joints: Sequence[str] | None = None,
    **options: Any,
) -> Recording:
    """Return the recording of a robot in a bag.

    Args:
        bag: folder or file.
        states: topic of sensor_msgs/JointState, measured.
        commands: topic of sensor_msgs/JointState, commanded. None: no commands.
        base: topic of nav_msgs/Odometry of a free base; by default `odom` if the bag has this
            topic.
        joints: names of the joints to use; by default all joints of the first state.
        **options: other fields of `Recording`.

    Raises:
        BagError: for a bag or topic that cannot be read.
        FitError: for messages that make no recording.
    """
    bag = Path(bag)
    options = {"name": bag.stem, **options}
    found = _joint_table(bag, states, joints)
    given: dict[str, Any] = {"time": found["time"], "joints": found["joints"]}
    given |= {key: found[key] for key in ("positions", "velocities") if key in found}
    lags = {states: found["lag"]}
    if commands is not None:
        own = _joint_table(bag, commands, None)
        given["command_time"], given["command_joints"] = own["time"], own["joints"]
        given |= {
            f"command_{key}": own[key]
            for key in ("positions", "velocities", "efforts")
            if key in own
        }
        lags[commands] = own["lag"]
    if base is None and any(kind == _ODOMETRY for kind in topic_types(bag).values()):
        base = "odom"
    if base is not None:
        lags[base] = _add_base(bag, base, given)
    for topic, lag in lags.items():
        if abs(lag - lags[states]) > _OFFSET:
            warnings.warn(
                f"{bag}: the clocks of {states} and {topic} disagree: stamps differ from reception "
                f"by {lags[states]:.3f} and {lag:.3f} s; fit a delay, or correct the stamps",
                FitWarning,
                stacklevel=2,
            )
    return Recording(**(given | options))


def _joint_table(bag: Path, topic: str, joints: Sequence[str] | None) -> dict[str, Any]:
    """Return times, joints, and the arrays that every message has."""
    topic = full_name(bag, topic, _STATES)
    names: tuple[str, ...] = ()
    rows: dict[str, list] = {"positions": [], "velocities": [], "efforts": []}
    time, lags = [], []
    for received, message in timed_messages(bag, topic):
        if not names:
            names = tuple(joints or message.name)
        lacking = [joint for joint in names if joint not in message.name]
        if lacking:
            raise BagError(f"{bag}: {topic}: a message has no joint {', '.join(lacking)}")
        at = [list(message.name).index(joint) for joint in names]
        time.append(seconds(message.header.stamp))
        lags.append(1e-9 * received - time[-1])
        for key, own in zip(rows, (message.position, message.velocity, message.effort)):
            if len(own) == len(message.name):
                rows[key].append(np.asarray(own)[at])
    if not time:
        raise BagError(f"{bag}: {topic} has no messages")
    whole = {key: np.array(own) for key, own in rows.items() if len(own) == len(time)}
    return {"time": np.array(time), "joints": names, "lag": float(np.median(lags)), **whole}


def _add_base(bag: Path, topic: str, given: dict[str, Any]) -> float:
    """Add poses and velocities at the times of the states. Return the lag of the stamps [s]."""
    from scipy.spatial.transform import Rotation, Slerp

    topic = full_name(bag, topic, _ODOMETRY)
    rows, lags = [], []
    for received, m in timed_messages(bag, topic):
        p, o, twist = m.pose.pose.position, m.pose.pose.orientation, m.twist.twist
        stamp = seconds(m.header.stamp)
        lags.append(1e-9 * received - stamp)
        linear, angular = twist.linear, twist.angular
        speeds = (linear.x, linear.y, linear.z, angular.x, angular.y, angular.z)
        rows.append((stamp, p.x, p.y, p.z, o.x, o.y, o.z, o.w, *speeds))
    if len(rows) < 2:
        raise BagError(f"{bag}: {topic} has {len(rows)} messages; two are needed")
    table = np.array(rows)
    table = table[~repeats(table[:, 0], [table])]
    check_times(f"{bag}: {topic}", table[:, 0])
    within = (given["time"] >= table[0, 0]) & (given["time"] <= table[-1, 0])
    if not within.any():
        raise FitError(
            f"{bag}: the clocks disagree: {topic} has {table[0, 0]:.9g} to {table[-1, 0]:.9g} s"
        )
    for key in ("time", "positions", "velocities"):
        if key in given:
            given[key] = given[key][within]
    time = given["time"]
    at = np.transpose([np.interp(time, table[:, 0], column) for column in table[:, 1:].T])
    turns = Slerp(table[:, 0], Rotation.from_quat(table[:, 4:8]))(time).as_quat()
    given["base"] = np.hstack([at[:, :3], turns])
    given["base_velocity"] = at[:, 7:]
    return float(np.median(lags))
