# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Signals of messages: which numbers of a ROS message are signals, with names and units.

A signal is TOPIC.FIELD.LABEL, such as "joint_states.position.RLEG_JOINT3", "lfsensor.force.z" or
"solver.residual". Topics over ROS, npz files and mcap files have the same names.
"""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatchcase
from typing import NamedTuple

from hrpsim.common.errors import HrpsimError, unknown_name

XYZ, XYZW = ("x", "y", "z"), ("x", "y", "z", "w")
JOINT_STATE = "sensor_msgs/msg/JointState"
WRENCH = "geometry_msgs/msg/WrenchStamped"
IMU = "sensor_msgs/msg/Imu"
ODOMETRY = "nav_msgs/msg/Odometry"
POINT = "geometry_msgs/msg/PointStamped"
NAMED_VALUES = "control_msgs/msg/DynamicJointState"
"""Values by name and interface. For topics without a type of their own, such as `solver`."""

MESSAGE_PARTS: dict[str, dict[str, tuple[str, tuple[str, ...], str]]] = {
    JOINT_STATE: {
        "position": ("position", (), "rad or m"),
        "velocity": ("velocity", (), "rad/s or m/s"),
        "effort": ("effort", (), "Nm or N"),
    },
    WRENCH: {"force": ("wrench.force", XYZ, "N"), "torque": ("wrench.torque", XYZ, "Nm")},
    IMU: {
        "orientation": ("orientation", XYZW, ""),
        "angular_velocity": ("angular_velocity", XYZ, "rad/s"),
        "linear_acceleration": ("linear_acceleration", XYZ, "m/s^2"),
    },
    ODOMETRY: {
        "position": ("pose.pose.position", XYZ, "m"),
        "orientation": ("pose.pose.orientation", XYZW, ""),
        "linear_velocity": ("twist.twist.linear", XYZ, "m/s"),
        "angular_velocity": ("twist.twist.angular", XYZ, "rad/s"),
    },
    POINT: {"point": ("point", XYZ, "m")},
}
"""By type and field: the path in the message, the labels (of joints: none), and the unit."""

NAMED_UNITS = {
    **dict.fromkeys(("kinetic", "potential", "elastic"), "J"),
    **dict.fromkeys(("work", "created", "dissipated", "corrected"), "J"),
    **dict.fromkeys(("force_x", "force_y", "force_z"), "N"),
    "max_penetration": "m",
    "residual": "m/s",
}
"""Units of the fields of NAMED_VALUES. Others are numbers without a unit."""


class SignalField(NamedTuple):
    """A field of a topic: some columns with a common unit."""

    name: str
    labels: tuple[str, ...]  # labels of the columns, empty for a single number
    unit: str

    @property
    def width(self) -> int:
        """Number of columns."""
        return len(self.labels) or 1

    def columns(self, topic: str) -> list[str]:
        """Return the full names of the columns."""
        own = f"{topic}.{self.name}"
        return [f"{own}.{label}" for label in self.labels] or [own]


def fields_of(type_name: str, labels: tuple[str, ...] = ()) -> tuple[SignalField, ...]:
    """Return the fields of a message type. labels: names in the message, such as joint names."""
    parts = MESSAGE_PARTS[type_name].items()
    return tuple(SignalField(name, own or labels, unit) for name, (_, own, unit) in parts)


def named_fields(names: Iterable[str], labels: tuple[str, ...] = ()) -> tuple[SignalField, ...]:
    """Return the fields of a message of named values. labels: names of the elements."""
    return tuple(SignalField(name, labels, NAMED_UNITS.get(name, "")) for name in names)


def chosen_columns(wanted: Iterable[str] | None, columns: Iterable[str]) -> list[str]:
    """Return the columns that the names in `wanted` select, in the order of `columns`.

    A name is a topic, a field, a column, or a pattern such as "*.force.z". None selects all
    columns. A name that matches nothing raises HrpsimError with similar names.
    """
    known = list(columns)
    if wanted is None:
        return known
    chosen: set[str] = set()
    for name in wanted:
        fitting = [column for column in known if fits(name, column)]
        if not fitting:
            raise HrpsimError(unknown_name("signal", name, _names(known)))
        chosen.update(fitting)
    return [column for column in known if column in chosen]


def fits(name: str, column: str) -> bool:
    """Return whether a given name of a topic, field or column, or a pattern, selects a column."""
    return column == name or column.startswith(f"{name}.") or fnmatchcase(column, name)


def _names(columns: list[str]) -> list[str]:
    """Return topics, fields and columns, in this order, for the list of names in an error."""
    topics = dict.fromkeys(column.partition(".")[0] for column in columns)
    fields = dict.fromkeys(column.rpartition(".")[0] for column in columns)
    return list(dict.fromkeys([*topics, *fields, *columns]))
