# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Subscribes to every topic of a namespace and writes the raw messages to a bag."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from rclpy.expand_topic_name import expand_topic_name
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, HistoryPolicy, QoSProfile, ReliabilityPolicy

from hrpsim.common.errors import HrpsimError
from hrpsim.ros.base.polling import PolledSubscription
from hrpsim.ros.recording.bag_writer import BagWriter, message_type

_SHARED_TOPICS = ("/clock", "/rosout")  # recorded in any namespace
_LARGE = tuple(f"sensor_msgs/msg/{name}" for name in ("Image", "CompressedImage", "PointCloud2"))
_LATE = 1.0  # longest delay of a message [s, wall]
_DEPTH = 5000


@dataclass
class SequenceCounter:
    """Counts the gaps in the sequence numbers of a topic's publisher."""

    received: int = 0
    size: int = 0  # bytes of all messages
    lost: int | None = 0  # None: without sequence numbers, or with several publishers
    last: int | None = None
    publishers: set[bytes] = field(default_factory=set)

    def add_publishers(self, gids: Iterable[bytes]) -> None:
        """Record the publishers of a topic. A message does not name its publisher."""
        self.publishers.update(gids)
        if len(self.publishers) > 1:
            self.lost = None

    def add(self, number: int | None) -> None:
        """Count a message with sequence number `number`."""
        self.received += 1
        if number is None or (self.last is not None and number <= self.last):
            self.lost = None
        elif self.lost is not None and self.last is not None:
            self.lost += number - self.last - 1
        self.last = number


class TopicRecorder:
    """Records the topics in the namespace of `node`, including topics that appear later.

    Args:
        node: receives the messages.
        bag: stores the messages.
        excluded: patterns of topics that are not recorded.
        images: patterns of topics of images and point clouds to record.
    """

    def __init__(
        self, node: Node, bag: BagWriter, excluded: Sequence[str] = (), images: Sequence[str] = ()
    ) -> None:
        self._node = node
        self._bag = bag
        self._excluded, self._images = excluded, images
        self._waited, self._known_losses = 0.0, 0  # longest delay since the last log entry [s]
        self._subscriptions: dict[str, PolledSubscription] = {}
        self._counters: dict[str, SequenceCounter] = {}
        self._skipped: set[str] = set()

    @property
    def topics(self) -> list[str]:
        """Names of the topics that are being recorded."""
        return list(self._subscriptions)

    @property
    def namespace(self) -> str:
        """The prefix of the names of the topics to record."""
        return self._node.get_namespace().rstrip("/") + "/"

    def full_name(self, topic: str) -> str:
        """Return the absolute name of a topic of the node's namespace."""
        return expand_topic_name(topic, self._node.get_name(), self._node.get_namespace())

    def discover(self) -> None:
        """Subscribe to new topics, with a matching quality of service."""
        for topic, type_names in self._node.get_topic_names_and_types():
            if topic in self._skipped or not self._is_recorded(topic):
                continue
            publishers = self._node.get_publishers_info_by_topic(topic)
            qos = _matching_qos([info.qos_profile for info in publishers])
            known = self._subscriptions.get(topic)
            if known is None:
                self._begin(topic, type_names, qos)
            elif self._is_better(topic, qos, known):
                known.destroy()
                self._subscriptions[topic] = self._subscribe(topic, type_names[0], qos)
            if topic in self._counters:
                gids = (bytes(info.endpoint_gid) for info in publishers)
                self._counters[topic].add_publishers(gids)

    def take(self) -> int:
        """Write the messages that have arrived to the bag. Return the number of messages."""
        return sum(self._take_from(*item) for item in self._subscriptions.items())

    def has_heard(self, topic: str) -> bool:
        """Return whether a message of `topic` has arrived.

        The publisher has then discovered this subscriber.
        """
        return topic in self._counters and self._counters[topic].received > 0

    def has_heard_its_namespace(self) -> bool:
        """Return whether a message of any topic in the node's namespace has arrived."""
        return any(self.has_heard(t) for t in self._counters if t.startswith(self.namespace))

    def all_matched(self) -> bool:
        """Return whether every topic with a publisher has a matched subscription."""
        return all(
            subscription.publisher_count() > 0
            for topic, subscription in self._subscriptions.items()
            if self._node.count_publishers(topic)
        )

    def delay(self) -> str:
        """Return a text if messages have waited or got lost since the last text, or else ""."""
        lost = sum(counter.lost or 0 for counter in self._counters.values())
        more, self._known_losses = lost - self._known_losses, lost
        waited, self._waited = self._waited, 0.0
        if waited < _LATE and not more:
            return ""
        most = max(self._counters, key=lambda topic: self._counters[topic].size)
        return (
            f"the recorder cannot keep up. Messages waited up to {waited:.1f} s, and {more} more "
            f"are lost. Most bytes come from {most}. Leave topics out by --exclude"
        )

    def losses(self) -> dict[str, int | None]:
        """Return the number of lost messages of each topic. The number is None if unknown."""
        return {topic: counter.lost for topic, counter in sorted(self._counters.items())}

    @property
    def count(self) -> int:
        """Number of messages written to the bag."""
        return sum(counter.received for counter in self._counters.values())

    def summary(self) -> str:
        """Return a table of the topics with messages and losses."""
        width = max(map(len, self._counters), default=0)
        lines = [f"recorded {self.count} messages"]
        for topic, counter in sorted(self._counters.items()):
            lost = "loss unknown" if counter.lost is None else f"{counter.lost} lost"
            lines.append(f"  {topic:{width}} {counter.received:8d}  {lost}")
        return "\n".join(lines)

    def _is_recorded(self, topic: str) -> bool:
        hidden = "/_" in topic  # for example topics of actions, which ros2 bag also omits
        own = topic.startswith(self.namespace) or topic in _SHARED_TOPICS
        return own and not hidden and not self._fits(topic, self._excluded)

    def _fits(self, topic: str, patterns: Sequence[str]) -> bool:
        """Return whether a topic fits a pattern.

        Patterns are full names or relative to the namespace.
        """
        names = (topic, topic.removeprefix(self.namespace))
        return any(fnmatchcase(name, pattern) for name in names for pattern in patterns)

    def _is_better(self, topic: str, qos: QoSProfile, known: PolledSubscription) -> bool:
        """Return whether a new subscription with `qos` would receive more than the present one.

        Subscribers may make a topic known before a publisher exists. A latched publisher sends
        earlier messages only to a latched subscription.
        """
        if not self._node.count_publishers(topic):
            return False
        self._take_from(topic, known)
        present = known.subscription.qos_profile
        asks_for_more = _is_weaker(present, than=qos) and not self.has_heard(topic)
        return _is_weaker(qos, than=present) or asks_for_more

    def _begin(self, topic: str, type_names: list[str], qos: QoSProfile) -> None:
        logger = self._node.get_logger()
        if len(type_names) > 1:
            logger.warning(
                f"{topic} is not recorded. It has several types: {', '.join(type_names)}"
            )
            self._skipped.add(topic)
            return
        if type_names[0] in _LARGE and not self._fits(topic, self._images):
            logger.info(
                f"{topic} of type {type_names[0]} is not recorded. Name it by --images to record it"
            )
            self._skipped.add(topic)
            return
        try:
            subscription = self._subscribe(topic, type_names[0], qos)
            self._bag.add_topic(topic, type_names[0], qos)
        except (HrpsimError, ImportError, AttributeError) as error:
            logger.warning(f"{topic} of type {type_names[0]} is not recorded: {error}")
            self._skipped.add(topic)
            return
        self._subscriptions[topic] = subscription
        self._counters[topic] = SequenceCounter()

    def _subscribe(self, topic: str, type_name: str, qos: QoSProfile) -> PolledSubscription:
        return PolledSubscription(self._node, message_type(type_name), topic, qos, raw=True)

    def _take_from(self, topic: str, subscription: PolledSubscription) -> int:
        counter = self._counters[topic]
        before = counter.received
        for data, info in subscription.take_all():
            self._bag.write(topic, info["received_timestamp"], data)
            self._waited = max(self._waited, time.time() - 1e-9 * info["received_timestamp"])
            counter.size += len(data)
            counter.add(info.get("publication_sequence_number"))
        return counter.received - before


def _matching_qos(offers: list[QoSProfile]) -> QoSProfile:
    """Return the strongest quality of service that every present publisher offers."""
    reliable = all(o.reliability == ReliabilityPolicy.RELIABLE for o in offers)
    latched = offers and all(o.durability == DurabilityPolicy.TRANSIENT_LOCAL for o in offers)
    return QoSProfile(
        history=HistoryPolicy.KEEP_LAST,
        depth=_DEPTH,
        reliability=(ReliabilityPolicy.RELIABLE if reliable else ReliabilityPolicy.BEST_EFFORT),
        durability=(DurabilityPolicy.TRANSIENT_LOCAL if latched else DurabilityPolicy.VOLATILE),
    )


def _is_weaker(qos: QoSProfile, than: QoSProfile) -> bool:
    return (
        than.reliability == ReliabilityPolicy.RELIABLE != qos.reliability
        or than.durability == DurabilityPolicy.TRANSIENT_LOCAL != qos.durability
    )
