"""tf and tf_static of all robots of a world."""

from __future__ import annotations

from collections.abc import Sequence

from rclpy.node import Node
from tf2_msgs.msg import TFMessage

from hrpsim.ros import qos
from hrpsim.ros.robot_transforms import RobotTransforms, fill_pose, transform_of
from hrpsim.ros.serialized_template import SerializedTemplate
from hrpsim.ros.stamps import Stamp


class TransformPublisher:
    """Publishes the moving transforms at every `publish` and the fixed ones once, latched."""

    def __init__(self, node: Node, robots: Sequence[RobotTransforms]):
        self._robots = robots
        names = [pair for robot in robots for pair in robot.names]
        self._template = SerializedTemplate(
            node.create_publisher(TFMessage, "tf", qos.STATE),
            TFMessage(transforms=[transform_of(parent, child) for parent, child in names]),
            _fill_transforms,
            7 * len(names),
        )
        self._static_publisher = node.create_publisher(TFMessage, "tf_static", qos.LATCHED)
        self._static_publisher.publish(
            TFMessage(transforms=[fixed for robot in robots for fixed in robot.fixed()])
        )

    def publish(self, stamp: Stamp) -> None:
        """Publish the present pose of every link that a joint moves, relative to its parent."""
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
