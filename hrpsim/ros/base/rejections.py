"""Messages that cannot be followed: counted, and named in the log without flooding it."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hrpsim.ros.base.faults import Faults


class RepeatFilter:
    """Lets a text pass once every `period` [s, wall], and `capacity` different ones at most."""

    def __init__(self, period: float, capacity: int = 16, clock=time.monotonic):
        self._period = period
        self._capacity = capacity
        self._clock = clock
        self._passed: dict[str, float] = {}

    def passes(self, text: str) -> bool:
        """Return whether `text` has not passed within the period, and may pass now."""
        now = self._clock()
        self._passed = {t: at for t, at in self._passed.items() if now - at < self._period}
        if text in self._passed or len(self._passed) >= self._capacity:
            return False
        self._passed[text] = now
        return True


class Rejections:
    """Counts what was rejected and warns: each cause once a second, 16 causes at most."""

    def __init__(self, logger, faults: Faults):
        self._logger = logger
        self._faults = faults
        self._filter = RepeatFilter(period=1.0)
        self.count = 0
        self.last = ""

    def follow(
        self, deed: Callable[[Any], None], message, topic: str, consequence: str = ""
    ) -> bool:
        """Do what a message asks, or reject it, whatever that raises; return whether it was done.

        consequence: what holds instead, such as "the base stays".
        """
        try:
            deed(message)
        except Exception as error:
            self.report(topic, consequence, self._faults.explain(error, topic))
            return False
        return True

    def report(self, topic: str, consequence: str, cause: str, kind: str | None = None) -> None:
        """Count one message on `topic`; `kind` is what counts as one cause, its text by default."""
        self.count += 1
        self.last = f"{topic} rejected{', ' if consequence else ''}{consequence}: {cause}"
        if self._filter.passes(f"{topic} {kind or cause}"):
            self._logger.warning(self.last)
