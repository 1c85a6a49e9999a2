# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Fields of standard messages that hrpsim reads.

The definitions of the types are stored in the bag, and may differ from the standard.
"""

from __future__ import annotations

from hrpsim.bag.types import Types

_STAMP = {"header.stamp.sec": "i", "header.stamp.nanosec": "I"}
_NUMBER, _NUMBERS = "d", "d[]"


def _axes(*places: str, axes: str = "xyz") -> dict[str, str]:
    return {f"{place}.{axis}": _NUMBER for place in places for axis in axes}


_NEEDED = {
    "sensor_msgs/msg/JointState": {
        **_STAMP,
        "name": "string[]",
        **dict.fromkeys(("position", "velocity", "effort"), _NUMBERS),
    },
    "nav_msgs/msg/Odometry": {
        **_STAMP,
        **_axes("pose.pose.position", "twist.twist.linear", "twist.twist.angular"),
        **_axes("pose.pose.orientation", axes="xyzw"),
    },
    "geometry_msgs/msg/WrenchStamped": {**_STAMP, **_axes("wrench.force", "wrench.torque")},
    "geometry_msgs/msg/PointStamped": {**_STAMP, **_axes("point")},
}


def lacking_field(types: Types, name: str) -> str:
    """Return the first needed field that the definition of a type lacks, or "".

    Args:
        types: the message definitions of a bag.
        name: name of the type. No field is needed of types that are not in _NEEDED.
    """
    for path, kind in _NEEDED.get(name, {}).items():
        if _kind_of(types, name, path.split(".")) != kind:
            return path
    return ""


def _kind_of(types: Types, name: str, path: list[str]) -> str:
    """Return the kind of a field: "d" for a number, "d[]" for a sequence, "" for no field."""
    fields = {field.name: field for field in types.get(name, ())}
    if path[0] not in fields:
        return ""
    field = fields[path[0]]
    if len(path) > 1:
        return _kind_of(types, field.kind, path[1:]) if field.count is None else ""
    return field.kind + ("" if field.count is None else "[]")
