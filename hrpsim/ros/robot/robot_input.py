# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The base class of the topics that command a robot. Needs no ROS.

A message is polled, waits in the queue until it is due, is validated and accepted, and acts in the
following steps.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from hrpsim.ros.base.faults import Rejections
from hrpsim.ros.base.stamps import MessageQueue


class RobotInput(ABC):
    """Base class of an input from one topic. `queue` defines when messages are due.

    `validate` checks a message before `accept` changes anything, so that a rejected message has no
    effect.
    """

    consequence = ""  # consequence of a rejection, such as "the base stays"

    def __init__(self, queue: MessageQueue, rejections: Rejections) -> None:
        self._queue = queue
        self._rejections = rejections
        self.accepted_count = 0

    @property
    def topic(self) -> str:
        """The full topic name."""
        return self._queue.topic

    def publisher_count(self) -> int:
        """Return the number of publishers that send to the topic."""
        return self._queue.publisher_count()

    @property
    def lost_count(self) -> int:
        """The number of messages lost in the middleware or the network, 0 if unknown."""
        return self._queue.lost_count

    def poll(self) -> None:
        """Accept the due messages, or reject them with a warning that states the reason."""
        for message in self._queue.take_due():
            try:
                self.accept(self.validate(message))
            except Exception as error:
                self._rejections.note(error, self.topic, self.consequence)
                continue
            self.accepted_count += 1
            self._queue.accepted()

    @abstractmethod
    def validate(self, message) -> Any:
        """Return the request of a message. Raise HrpsimError, without any change, if invalid."""

    @abstractmethod
    def accept(self, request) -> None:
        """Accept the request that `validate` returned, all of it or nothing."""

    def apply(self) -> None:  # noqa: B027  optional: accepting may be enough
        """Apply the request during the next step. The default does nothing."""

    def steps_to_next(self, most: int) -> int:
        """Return the number of steps, at most `most`, before this input must be polled again."""
        return self._queue.steps_to_next(most)

    def reset(self) -> None:
        """Drop all messages from before a reset: arrived, waiting and active."""
        self._queue.discard()
