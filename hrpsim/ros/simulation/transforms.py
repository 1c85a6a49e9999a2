# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""tf and tf_static of all robots of a world."""

from __future__ import annotations

from collections.abc import Iterable

from rclpy.node import Node
from tf2_msgs.msg import TFMessage

from hrpsim.ros.base import qos
from hrpsim.ros.base.serialized_template import SerializedTemplate
from hrpsim.ros.base.stamps import Stamp
from hrpsim.ros.robot.robot_interface import RobotInterface
from hrpsim.ros.robot.robot_transforms import fill_pose, transform_of


class TransformPublisher:
    """Publishes moving transforms at every `publish`, fixed ones, latched, at every `show`."""

    def __init__(self, node: Node, *, odometry: bool, links: bool):
        self._what = {"odometry": odometry, "links": links}
        self._publisher = node.create_publisher(TFMessage, "tf", qos.STATE)
        self._static_publisher = node.create_publisher(TFMessage, "tf_static", qos.LATCHED)

    def show(self, robots: Iterable[RobotInterface]) -> None:
        """Switch to the transforms of these robots."""
        self._robots = [robot.transforms(**self._what) for robot in robots]
        names = [pair for robot in self._robots for pair in robot.names]
        self._template = SerializedTemplate(
            self._publisher,
            TFMessage(transforms=[transform_of(parent, child) for parent, child in names]),
            _fill_transforms,
            7 * len(names),
        )
        self._static_publisher.publish(
            TFMessage(transforms=[fixed for robot in self._robots for fixed in robot.fixed()])
        )

    def publish(self, stamp: Stamp) -> None:
        """Publish the present pose of every moving link relative to its parent."""
        if not self._template.is_heard:
            return
        rows = self._template.numbers.reshape(-1, 7)
        for robot in self._robots:
            robot.write(rows[: len(robot.names)])
            rows = rows[len(robot.names) :]
        self._template.publish(stamp)


def _fill_transforms(message: TFMessage, stamp, numbers) -> None:
    for index, transform in enumerate(message.transforms):
        transform.header.stamp = stamp
        fill_pose(transform, numbers[7 * index : 7 * index + 7])
