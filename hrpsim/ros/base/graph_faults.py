# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Find publishers whose messages do not arrive: another type, best effort, or another topic."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from difflib import get_close_matches

from rclpy.node import Node
from rclpy.qos import ReliabilityPolicy

_ALIKE = 0.9  # least similarity of names, from 0 to 1
_PERIOD = 2.0  # period of checks [s, wall]


class PublisherWatch:
    """Logs each text of `look` once. `look` examines the publishers every two seconds."""

    def __init__(self, node: Node, look: Callable[[], Sequence[str]]) -> None:
        self._logger, self._look = node.get_logger(), look
        self._logged: set[str] = set()
        self._next = 0.0  # [s, wall]

    def poll(self) -> None:
        """Examine the publishers, if the time has come."""
        if (now := time.monotonic()) < self._next:
            return
        self._next = now + _PERIOD
        for text in self._look():
            self.log_once(text, text)

    def log_once(self, kind: str, text: str) -> None:
        """Log the first text of a kind."""
        if kind not in self._logged:
            self._logged.add(kind)
            self._logger.warning(text)


def unheard(node: Node, topic: str) -> list[str]:
    """Return a text for each publisher of `topic` that the node's subscribers cannot receive."""
    senders = node.get_publishers_info_by_topic(topic)
    heard = node.get_subscriptions_info_by_topic(topic) if senders else []
    own = (node.get_name(), node.get_namespace())
    kinds = {info.topic_type for info in heard if (info.node_name, info.node_namespace) == own}
    result = []
    for info in senders:
        sends = f"{name_of(info)} sends {topic} as"
        if kinds and info.topic_type not in kinds:
            taken = " or ".join(sorted(kinds))
            result.append(f"{sends} {info.topic_type}, but this node receives {taken} only")
        elif info.qos_profile.reliability == ReliabilityPolicy.BEST_EFFORT:
            result.append(
                f"{sends} best effort, which this node does not receive. Make the publisher "
                "reliable"
            )
    return result


def astray(node: Node, topics: Sequence[str]) -> list[str]:
    """Return a text for each publisher of a topic with a name like `topics` but no subscribers."""
    own, problems = {topic.rpartition("/")[2]: topic for topic in topics}, []
    for topic, _ in node.get_topic_names_and_types():
        alike = get_close_matches(topic.rpartition("/")[2], own, 1, _ALIKE)
        if alike and topic not in topics and not node.count_subscribers(topic):
            problems += [
                f"{name_of(info)} publishes {topic}, which nobody receives. This node "
                f"receives {own[alike[0]]}"
                for info in node.get_publishers_info_by_topic(topic)
            ]
    return problems


def name_of(info) -> str:
    """Return the full name of the node of an endpoint."""
    if info.node_name == "_NODE_NAME_UNKNOWN_":  # endpoints are discovered before the name
        return "a node whose name is not known yet"
    return f"{info.node_namespace.rstrip('/')}/{info.node_name}"
