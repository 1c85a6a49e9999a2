# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""What all topics have in common by which ROS asks something of a robot. Needs no ROS.

A message is polled, held until it is due (that is the queue's part), validated, accepted, and acts
in the steps to come.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from hrpsim.ros.base.faults import Rejections
from hrpsim.ros.base.stamped_queue import MessageQueue


class RobotInput(ABC):
    """One topic; `queue` says when its messages are due.

    `validate` finds whatever is wrong with a message before `accept` changes anything, so that a
    rejected message has done nothing.
    """

    consequence = ""  # what holds after a rejection, such as "the base stays"

    def __init__(self, queue: MessageQueue, rejections: Rejections):
        self._queue = queue
        self._rejections = rejections
        self.accepted_count = 0

    @property
    def topic(self) -> str:
        """The full topic name."""
        return self._queue.topic

    def publisher_count(self) -> int:
        """Return how many publishers send to the topic."""
        return self._queue.publisher_count()

    @property
    def lost_count(self) -> int:
        """How many messages the middleware's queue, or the network, dropped; 0 if not counted."""
        return self._queue.lost_count

    def poll(self) -> None:
        """Accept what is due by now, or reject it with a warning that says why."""
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
        """Return what a message asks for; raise HrpsimError, and change nothing, if it is wrong."""

    @abstractmethod
    def accept(self, request) -> None:
        """Take over what `validate` has returned, all of it or nothing."""

    def apply(self) -> None:  # noqa: B027  what acts by being accepted needs none
        """Do what is asked for during the step to come; nothing by default."""

    def steps_to_next(self, most: int) -> int:
        """Return how many steps, at most `most`, can be made before this is needed again."""
        return self._queue.steps_to_next(most)

    def reset(self) -> None:
        """Drop all that has arrived, is held or acts: it was meant for the time before a reset."""
        self._queue.discard()
