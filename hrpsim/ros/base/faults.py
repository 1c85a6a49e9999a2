# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""What goes wrong while a node answers somebody: told to who asked, and never the node's end.

Needs no ROS.
"""

from __future__ import annotations

import inspect
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from hrpsim.errors import HrpsimError
from hrpsim.ros.base.repeat_filter import RepeatFilter
from hrpsim.ros.base.service_results import failed_response

_REPEATED_AFTER = 10.0  # the same traceback again in the log [s, wall]
_LONGEST = 2000  # letters of a message that quotes what was sent


class Faults:
    """Explains errors; logs and counts those that are the node's own and nobody else's.

    A refusal (HrpsimError) and a request that memory or the interpreter's depth cannot hold are the
    asker's. Everything else is a fault of the node: `count` of them so far, `last` in one line.
    Errors of the classes `ending` end the node's loop: they are nobody's fault.
    """

    def __init__(
        self,
        logger: Callable[[], Any],
        ending: tuple[type[Exception], ...] = (),
        clock=time.monotonic,
    ):
        self._logger = logger
        self._ending = ending
        self._filter = RepeatFilter(_REPEATED_AFTER, clock=clock)
        self.count = 0
        self.last = ""

    def explain(self, error: Exception, where: str) -> str:
        """Return what to answer for an error that `where` raised, in a length that can be sent."""
        if isinstance(error, HrpsimError):
            return shortened(str(error))
        if isinstance(error, RecursionError):
            return f"{where}: refused, it is nested too deep"
        if isinstance(error, MemoryError):
            return f"{where}: refused, it needs more memory than there is"
        self._report(error, where)
        return f"{self.last}; the log has its traceback"

    @contextmanager
    def held(self, where: str) -> Iterator[None]:
        """Keep what is raised within from its caller, but for what is to end the loop."""
        try:
            yield
        except self._ending:
            raise
        except Exception as error:
            text = self.explain(error, where)
            if self._filter.passes(text):
                self._logger().error(text)

    def answering(self, service_type: type, name: str, callback: Callable) -> Callable:
        """Return a service's callback that answers whatever goes wrong in `callback`.

        It is a coroutine function where `callback` is one.
        """

        def failed(request, error: Exception):
            return failed_response(service_type, request, error, self.explain(error, name))

        def answer(request, response):
            try:
                return callback(request, response)
            except Exception as error:
                return failed(request, error)

        async def answer_in_turns(request, response):
            try:
                return await callback(request, response)
            except Exception as error:
                return failed(request, error)

        return answer_in_turns if inspect.iscoroutinefunction(callback) else answer

    def hearing(self, name: str, callback: Callable) -> Callable:
        """Return a callback, of a subscription or a timer, that raises nothing."""

        def hear(*arguments):
            with self.held(name):
                callback(*arguments)

        return hear

    def say(self, text: str) -> None:
        """Log an error that was explained already."""
        self._logger().error(text)

    def _report(self, error: Exception, where: str) -> None:
        self.count += 1
        self.last = shortened(f"{where}: internal error: {type(error).__name__}: {error}")
        if self._filter.passes(self.last):
            lines = traceback.format_exception(type(error), error, error.__traceback__, limit=-12)
            self._logger().error(f"{where}: {shortened(''.join(lines), 4 * _LONGEST)}")


def shortened(text: str, longest: int = _LONGEST) -> str:
    """Return a text without what stands in its middle, if it is longer than `longest`."""
    text = text.encode("utf-8", "backslashreplace").decode()  # what came may be no Unicode
    half = longest // 2
    return text if len(text) <= longest else f"{text[:half]} ... {text[-half:]}"
