# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The topic contact_points: contact points and forces on one robot, in full precision."""

from __future__ import annotations

from array import array

import numpy as np
from rclpy.node import Node
from sensor_msgs.msg import PointCloud2, PointField

from hrpsim.control.framework.contact_points import ContactPoints, pressing_points
from hrpsim.errors import HrpsimError
from hrpsim.ros.base import qos
from hrpsim.ros.base.stamps import Stamp

TOPIC = "contact_points"
# x, y, z are for displays, which require float32; `position` has full precision.
POINT = np.dtype(
    [
        ("x", "<f4"),
        ("y", "<f4"),
        ("z", "<f4"),
        ("link", "<u4"),
        ("position", "<f8", 3),
        ("force", "<f8", 3),
        ("link_position", "<f8", 3),
        ("link_orientation", "<f8", 4),
    ]
)
_DATATYPES = {"f4": PointField.FLOAT32, "u4": PointField.UINT32, "f8": PointField.FLOAT64}


def _layout() -> list[PointField]:
    fields = []
    for name in POINT.names or ():
        kind, offset = POINT.fields[name][:2]
        count = kind.shape[0] if kind.shape else 1
        datatype = _DATATYPES[kind.base.str[1:]]
        fields.append(PointField(name=name, offset=offset, datatype=datatype, count=count))
    return fields


class ContactPointPublisher:
    """Publishes the contact points of one robot, in the odom frame, if there is a subscription."""

    def __init__(self, node: Node, robot, frame: str, topic: str):
        self._robot = robot
        self._message = PointCloud2(height=1, point_step=POINT.itemsize, is_dense=True)
        self._message.header.frame_id = frame
        self._message.fields = _layout()
        self._publisher = node.create_publisher(PointCloud2, topic, qos.STATE)

    def publish(self, stamp: Stamp) -> None:
        """Publish the points of the last step; no points without contact."""
        if not self._publisher.get_subscription_count():
            return
        pressing = pressing_points(self._robot)
        rows = np.zeros(len(pressing.links), dtype=POINT)
        for axis, values in zip("xyz", pressing.points.T):
            rows[axis] = values
        for name, values in zip((POINT.names or ())[3:], pressing):
            rows[name] = values
        message = self._message
        message.header.stamp = stamp.to_message()
        message.width, message.row_step = len(rows), rows.nbytes
        message.data = array("B", rows.tobytes())
        self._publisher.publish(message)


def points_of(message: PointCloud2, link_count: int) -> ContactPoints:
    """Return a message's points; HrpsimError for another layout, unknown links, infinite values."""
    if message.fields != _layout() or message.point_step != POINT.itemsize:
        fields = ", ".join(field.name for field in message.fields)
        raise HrpsimError(f"its fields are not those of {TOPIC}: {fields}")
    if message.is_bigendian or len(message.data) != message.width * POINT.itemsize:
        raise HrpsimError(f"{len(message.data)} bytes are not {message.width} little-endian points")
    rows = np.frombuffer(message.data, dtype=POINT)
    links = rows["link"].astype(np.int64)
    if links.size and links.max() >= link_count:
        raise HrpsimError(f"link {links.max()}: the robot has {link_count}")
    values = [rows[name].copy() for name in (POINT.names or ())[4:]]
    if not all(np.isfinite(one).all() for one in values):
        raise HrpsimError("it has values that are not finite")
    return ContactPoints(links, *values)
