# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Read recordings from ROS 2 bags. A message is valid if the simulation node would accept it."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from hrpsim.bag.reader import BagError, full_name, seconds, timed_messages, topic_types
from hrpsim.common.errors import FitError, FitWarning
from hrpsim.common.values import LARGEST
from hrpsim.fitting.recordings.measured_motion import SAMPLES, Recording, check_turns
from hrpsim.fitting.recordings.recording_checks import check_times
from hrpsim.fitting.recordings.segments import recordings_of, runs_of_clock
from hrpsim.fitting.recordings.signal_recordings import odometry_beside

_STATES, _ODOMETRY = "sensor_msgs/msg/JointState", "nav_msgs/msg/Odometry"
_FIELDS = ("positions", "velocities", "efforts")
_OFFSET = 0.1  # largest difference of two topics between stamp and reception [s]


class _Rows(NamedTuple):
    """The messages of one topic, in the order of reception."""

    received: np.ndarray  # (n,) [s]
    time: np.ndarray  # (n,) stamps [s]
    joints: tuple[str, ...]
    columns: dict[str, np.ndarray]  # (n, ...), NaN: without a value


def bag_recordings(
    bag: Path,
    states: str = "joint_states",
    commands: str | None = "joint_commands",
    base: str | None = None,
    joints: Sequence[str] | None = None,
    **options: Any,
) -> tuple[Recording, ...]:
    """Read the segments of a robot's recording from a bag.

    Args:
        bag: folder or file.
        states: topic of sensor_msgs/JointState, measured.
        commands: topic of sensor_msgs/JointState, commanded. None: no commands. A message may
            command some of the joints. NaN means no value. A command with a stamp of zero acts at
            its reception.
        base: topic of nav_msgs/Odometry of a free base. The default is `odom` in the namespace of
            `states`, if the bag has this topic.
        joints: names of the joints to use. The default is all joints of the first state.
        **options: other fields of `Recording`.

    Raises:
        BagError: the bag or a topic cannot be read.
        FitError: the messages do not form a valid recording.
    """
    options = {"name": bag.stem, **options}
    notes: list[str] = []
    measured = _states(bag, states, joints, notes)
    topics = {states: measured}
    if commands is not None:
        topics[commands] = _commands(bag, commands, measured, notes)
    if base is None:
        base = odometry_beside(full_name(bag, states, _STATES), topic_types(bag))
    if base is not None:
        topics[base] = _odometry(bag, base)
    _check_clocks(bag, states, topics)
    tables = {topic: {"time": own.time, **own.columns} for topic, own in topics.items()}
    runs = []
    for run in runs_of_clock(options["name"], tables):
        fields: dict[str, Any] = {"joints": measured.joints, **run[states]}
        if base is not None:
            fields |= _based(f"{bag}: {base}", fields, run[base])
        if commands is not None:
            own = {f"command_{name}": column for name, column in run[commands].items()}
            fields |= {"command_joints": topics[commands].joints, **own}
        runs.append(fields)
    return recordings_of(str(bag), runs, options, "; ".join(notes))


def _check_clocks(bag: Path, states: str, topics: Mapping[str, _Rows]) -> None:
    """Warn about topics whose delay from stamp to reception differs from the states' delay."""
    lags = {topic: float(np.median(own.received - own.time)) for topic, own in topics.items()}
    for topic, lag in lags.items():
        if abs(lag - lags[states]) > _OFFSET:
            warnings.warn(
                f"{bag}: the clocks of {states} and {topic} disagree. Stamps and times of "
                f"reception differ by {lags[states]:.3f} s and by {lag:.3f} s. Fit a delay, or "
                "correct the stamps",
                FitWarning,
                stacklevel=5,
            )


def _states(bag: Path, topic: str, joints: Sequence[str] | None, notes: list[str]) -> _Rows:
    """Return the states that contain all joints. Add notes about omitted states."""
    name = full_name(bag, topic, _STATES)
    names = list(joints or ())
    lacking: list[str] = []

    def values_of(message: Any) -> np.ndarray | None:
        names.extend(() if names else message.name)
        missing = [joint for joint in names if joint not in message.name]
        values = None if missing else _values(message, names)
        if values is not None and not np.isnan(values[0]).any():
            return values[:2]
        lacking.extend(() if lacking else missing)
        return None

    received, stamps, rows, others = _read(bag, name, values_of)
    if not rows:
        fault = f"no message has joint {', '.join(lacking)}" if lacking else "no positions"
        raise BagError(f"{bag}: {name} has {fault if others else 'no messages'}")
    if others:
        notes.append(f"{others} messages of {name} without positions of all joints are left out")
    values = np.array(rows)
    if not stamps.any():
        stamps = received
        notes.append(f"{name} has no time stamps, so times of reception are used")
    complete = ~np.isnan(values[:, 1]).any(axis=1)
    columns = {"positions": values[:, 0], "velocities": values[:, 1]}
    if 2 * complete.sum() <= len(complete):
        complete = np.ones(len(complete), dtype=bool)
        del columns["velocities"]
    if not complete.all():
        notes.append(f"{(~complete).sum()} messages of {name} without velocities are left out")
    columns = {key: column[complete] for key, column in columns.items()}
    return _Rows(received[complete], stamps[complete], tuple(names), columns)


def _read(
    bag: Path, topic: str, values_of: Callable[[Any], Any]
) -> tuple[np.ndarray, np.ndarray, list[Any], int]:
    """Read the messages of a topic. Skip a message if `values_of` returns None.

    Returns:
        Times of reception and stamps (n,) [s], the n values, and the number of skipped messages.
    """
    received, stamps, rows, others = [], [], [], 0
    for at, message in timed_messages(bag, topic):
        values = values_of(message)
        if values is None:
            others += 1
            continue
        received.append(1e-9 * at)
        stamps.append(seconds(message.header.stamp))
        rows.append(values)
    return np.array(received), np.array(stamps), rows, others


def _commands(bag: Path, topic: str, states: _Rows, notes: list[str]) -> _Rows:
    """Return the commands that the node would accept. Add a note about refused commands."""
    name = full_name(bag, topic, _STATES)

    def values_of(message: Any) -> dict[str, np.ndarray] | None:
        values = _values(message, message.name)
        if values is None or np.isinf(values).any() or np.isnan(values).all():
            return None
        return dict(zip(message.name, values.T))

    at, stamps, rows, refused = _read(bag, name, values_of)
    if not rows:
        raise BagError(f"{bag}: {name} has no {'valid command' if refused else 'messages'}")
    if refused:
        notes.append(f"{refused} messages of {name} that the node refuses are left out")
    joints = tuple(dict.fromkeys(joint for row in rows for joint in row))
    values = np.full((len(rows), len(joints), len(_FIELDS)), np.nan)
    for k, row in enumerate(rows):
        values[k, [joints.index(joint) for joint in row]] = list(row.values())
    order = np.argsort(states.received, kind="stable")
    lag = np.interp(at, states.received[order], (states.received - states.time)[order])
    stamps = np.where(stamps == 0.0, at - lag, stamps)
    columns = {key: values[:, :, k] for k, key in enumerate(_FIELDS)}
    columns = {key: own for key, own in columns.items() if not np.isnan(own).all()}
    return _Rows(at, stamps, joints, columns)


def _values(message, joints: Sequence[str]) -> np.ndarray | None:
    """Return positions, velocities and efforts (3, joints), with NaN for missing values.

    The result is None if the message is invalid.
    """
    names = list(message.name)
    if not names or len(set(names)) < len(names):
        return None
    table = np.full((len(_FIELDS), len(names)), np.nan)
    for row, own in zip(table, (message.position, message.velocity, message.effort)):
        if len(own) not in (0, len(names)):
            return None
        row[:] = own if len(own) else np.nan
    return table[:, [names.index(joint) for joint in joints]]


def _odometry(bag: Path, topic: str) -> _Rows:
    """Return poses and velocities of the base."""
    name = full_name(bag, topic, _ODOMETRY)
    received, stamps, rows, _ = _read(bag, name, _motion)
    if len(rows) < 2:
        raise BagError(f"{bag}: {name} must have at least two messages, got {len(rows)}")
    table = np.array(rows)
    if not (np.abs(table) <= LARGEST).all():
        raise FitError(f"{bag}: {name}: every number must be finite and at most {LARGEST:g}")
    check_turns(f"{bag}: {name}", table[:, 3:7])
    return _Rows(received, stamps, (), {"rows": table})


def _motion(message: Any) -> tuple[float, ...]:
    """Return position, quaternion, linear and angular velocity of an odometry message."""
    p, o = message.pose.pose.position, message.pose.pose.orientation
    linear, angular = message.twist.twist.linear, message.twist.twist.angular
    speeds = (linear.x, linear.y, linear.z, angular.x, angular.y, angular.z)
    return (p.x, p.y, p.z, o.x, o.y, o.z, o.w, *speeds)


def _based(what: str, samples: Mapping[str, Any], odometry: Mapping[str, np.ndarray]):
    """Add poses and velocities of the base to samples. Drop samples outside the odometry's time."""
    from scipy.spatial.transform import Rotation, Slerp

    stamps, rows = odometry["time"], odometry["rows"]
    check_times(what, stamps)
    within = (samples["time"] >= stamps[0]) & (samples["time"] <= stamps[-1])
    if len(stamps) < 2 or not within.any():
        raise FitError(
            f"{what}: the clocks do not overlap. The poses are from {stamps[0]:.9g} to "
            f"{stamps[-1]:.9g} s"
        )
    cut = {key: samples[key][within] for key in SAMPLES if key in samples}
    time = cut["time"]
    at = np.transpose([np.interp(time, stamps, column) for column in rows.T])
    turns = Slerp(stamps, Rotation.from_quat(rows[:, 3:7]))(time).as_quat()
    return {**cut, "base": np.hstack([at[:, :3], turns]), "base_velocity": at[:, 7:]}
