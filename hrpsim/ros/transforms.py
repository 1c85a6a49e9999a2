"""tf and tf_static of one robot, computed for all links at once from their poses in the world."""

from __future__ import annotations

import numpy as np
from geometry_msgs.msg import TransformStamped
from rclpy.node import Node
from tf2_msgs.msg import TFMessage

from hrpsim.ros import qos
from hrpsim.ros.frames import Edge, RobotFrames
from hrpsim.ros.serialized_template import SerializedTemplate
from hrpsim.ros.stamps import Stamp
from hrpsim.spatial.rotation import quaternion_from_rotation


class TransformPublisher:
    """Publishes the moving transforms at every `publish` and the fixed ones once, latched.

    With `odometry` the base is placed in the odom frame; without `links` that is all.
    """

    def __init__(self, node: Node, robot, frames: RobotFrames, *, odometry: bool, links: bool):
        self._robot = robot
        self._odometry = odometry
        link_index = {name: index for index, name in enumerate(robot.model.link_names)}
        edges = frames.edges() if links else []
        moving = [edge for edge in edges if edge.moves]
        self._parents = np.array([link_index[edge.parent] for edge in moving], dtype=int)
        self._children = np.array([link_index[edge.child] for edge in moving], dtype=int)
        self._base = link_index[robot.model.base_link]

        names = [(frames.of_link(edge.parent), frames.of_link(edge.child)) for edge in moving]
        if odometry:
            names.insert(0, (frames.odom, frames.base))
        self._template = SerializedTemplate(
            node.create_publisher(TFMessage, "tf", qos.STATE),
            TFMessage(transforms=[_transform(parent, child) for parent, child in names]),
            _fill_transforms,
            7 * len(names),
        )
        self._static_publisher = node.create_publisher(TFMessage, "tf_static", qos.LATCHED)
        self._static_publisher.publish(self._static_message(edges, link_index, frames))

    def publish(self, stamp: Stamp) -> None:
        """Publish the present pose of every link that a joint moves, relative to its parent."""
        positions, quaternions = self._robot.link_poses()
        rows = self._template.numbers.reshape(-1, 7)
        if self._odometry:
            rows[0, :3] = positions[self._base]
            rows[0, 3:] = quaternions[self._base]
            rows = rows[1:]
        rows[:, :3], rows[:, 3:] = relative_poses(
            positions, quaternions, self._parents, self._children
        )
        self._template.publish(stamp)

    def _static_message(
        self, edges: list[Edge], link_index: dict[str, int], frames: RobotFrames
    ) -> TFMessage:
        positions, quaternions = self._robot.link_poses()
        fixed = [edge for edge in edges if not edge.moves]
        offsets, turns = relative_poses(
            positions,
            quaternions,
            np.array([link_index[edge.parent] for edge in fixed], dtype=int),
            np.array([link_index[edge.child] for edge in fixed], dtype=int),
        )
        message = TFMessage()
        for edge, p, quaternion in zip(fixed, offsets, turns):
            parent, child = frames.of_link(edge.parent), frames.of_link(edge.child)
            message.transforms.append(_transform(parent, child, [*p, *quaternion]))
        for link, sensor, p, R in frames.sensor_offsets():
            quaternion = np.zeros(4)
            quaternion_from_rotation(np.ascontiguousarray(R), quaternion)
            message.transforms.append(
                _transform(frames.of_link(link), frames.of_sensor(sensor), [*p, *quaternion])
            )
        return message


def relative_poses(
    positions: np.ndarray, quaternions: np.ndarray, parents: np.ndarray, children: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the pose of each child in its parent's frame: p [m] (k, 3), quaternion xyzw (k, 4).

    `positions` and `quaternions` are the links' poses in the world, `parents` and `children`
    index them.
    """
    conjugate = quaternions[parents] * (-1.0, -1.0, -1.0, 1.0)
    vector, scalar = conjugate[:, :3], conjugate[:, 3:]
    offset = positions[children] - positions[parents]
    twice = 2.0 * np.cross(vector, offset)
    relative_positions = offset + scalar * twice + np.cross(vector, twice)

    child = quaternions[children]
    child_vector, child_scalar = child[:, :3], child[:, 3:]
    relative = np.empty_like(child)
    relative[:, :3] = scalar * child_vector + child_scalar * vector + np.cross(vector, child_vector)
    relative[:, 3:] = scalar * child_scalar - np.sum(vector * child_vector, axis=1, keepdims=True)
    return relative_positions, relative


def _transform(parent: str, child: str, pose=(0, 0, 0, 0, 0, 0, 1)) -> TransformStamped:
    transform = TransformStamped(child_frame_id=child)
    transform.header.frame_id = parent
    _fill_pose(transform, pose)
    return transform


def _fill_pose(transform: TransformStamped, pose) -> None:
    translation, rotation = transform.transform.translation, transform.transform.rotation
    translation.x, translation.y, translation.z = map(float, pose[:3])
    rotation.x, rotation.y, rotation.z, rotation.w = map(float, pose[3:])


def _fill_transforms(message: TFMessage, stamp, numbers) -> None:
    for index, transform in enumerate(message.transforms):
        transform.header.stamp = stamp
        _fill_pose(transform, numbers[7 * index : 7 * index + 7])
