# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Errors in the ROS graph: nodes of one name, two clocks, incompatible publishers."""

from __future__ import annotations

from rclpy.node import Node
from rclpy.qos import ReliabilityPolicy

from hrpsim.ros.robot.robot_interface import RobotInterface


class GraphWatch:
    """Checks the graph on request; logs each new problem once."""

    def __init__(self, node: Node):
        self._node = node
        self._own = (node.get_name(), node.get_namespace())
        self._reported: set[tuple[str, str]] = set()  # of (owner, problem)

    def problems(self) -> list[str]:
        """Return the problems of the node itself."""
        node, found = self._node, []
        name = node.get_fully_qualified_name()
        # By a topic that every node has: the list of nodes may name one that has died.
        senders = [
            (info.node_name, info.node_namespace)
            for info in node.get_publishers_info_by_topic("/parameter_events")
        ]
        if senders.count(self._own) > 1:
            found.append(f"another node is called {name}, too: requests reach either of them")
        clocks = [_name_of(info) for info in node.get_publishers_info_by_topic("/clock")]
        if name in clocks:
            clocks.remove(name)
        for other in sorted(set(clocks)):
            found.append(f"{other} publishes /clock, too: time jumps for all its subscribers")
        return self._report(name, found)

    def problems_of(self, robot: RobotInterface) -> list[str]:
        """Return the problems of publishers to a robot's topics."""
        found = [text for one in robot.inputs for text in self._unheard(one.topic)]
        return self._report(robot.robot.name, found)

    def _unheard(self, topic: str) -> list[str]:
        """Return the publishers to a topic that its subscribers here cannot receive."""
        senders = self._node.get_publishers_info_by_topic(topic)
        heard = self._node.get_subscriptions_info_by_topic(topic) if senders else []
        kinds = {i.topic_type for i in heard if (i.node_name, i.node_namespace) == self._own}
        found = []
        for info in senders:
            sends = f"{_name_of(info)} sends {topic} as"
            if kinds and info.topic_type not in kinds:
                taken = " or ".join(sorted(kinds))
                found.append(
                    f"{sends} {info.topic_type}, which is not received here: the type is {taken}"
                )
            elif info.qos_profile.reliability == ReliabilityPolicy.BEST_EFFORT:
                found.append(
                    f"{sends} best effort, which is not received here: make its publisher reliable"
                )
        return found

    def _report(self, owner: str, found: list[str]) -> list[str]:
        """Log the new problems; return all."""
        before = {text for o, text in self._reported if o == owner}
        for text in found:
            if text not in before:
                self._node.get_logger().warning(text)
        others = {(o, text) for o, text in self._reported if o != owner}
        self._reported = others | {(owner, text) for text in found}
        return found


def _name_of(info) -> str:
    if info.node_name == "_NODE_NAME_UNKNOWN_":  # its endpoints are discovered before its name
        return "a node whose name is not known yet"
    return f"{info.node_namespace.rstrip('/')}/{info.node_name}"
