# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Messages that are rejected: counted, and named in the log without flooding it. Needs no ROS."""

from __future__ import annotations

from hrpsim.ros.base.faults import Faults
from hrpsim.ros.base.repeat_filter import RepeatFilter


class Rejections:
    """Counts what was rejected and warns: each cause once a second, 16 a topic at most.

    A flood on one topic hides nothing that is wrong on another.
    """

    def __init__(self, logger, faults: Faults):
        self._logger = logger
        self._faults = faults
        self._filters: dict[str, RepeatFilter] = {}  # by topic
        self.count = 0
        self.last = ""

    def note(self, error: Exception, topic: str, consequence: str = "") -> None:
        """Count a message on `topic` that raised `error`, whatever that is.

        consequence: what holds instead, such as "the base stays".
        """
        self.report(topic, consequence, self._faults.explain(error, topic))

    def report(self, topic: str, consequence: str, cause: str, kind: str | None = None) -> None:
        """Count one message on `topic`; `kind` is what counts as one cause, its text by default."""
        self.count += 1
        self.last = f"{topic} rejected{', ' if consequence else ''}{consequence}: {cause}"
        if topic not in self._filters:
            self._filters[topic] = RepeatFilter(period=1.0)
        if self._filters[topic].passes(kind or cause):
            self._logger.warning(self.last)
