# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Handle errors in a node's callbacks: send them to the client, count and log them.

The rate of logging is limited. Such errors never end the node. Needs no ROS.
"""

from __future__ import annotations

import inspect
import time
import traceback
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from hrpsim.common.errors import HrpsimError, shortened
from hrpsim.ros.base.entities import Refusal

_FAILED = "OPERATION_FAILED"
_REPEATED_AFTER = 10.0  # time until the same traceback is logged again [s, wall]
_LAST_TYPE = 9  # rcl_interfaces/ParameterType: PARAMETER_STRING_ARRAY
_LONGEST = 2000  # longest message that quotes a request [characters]


def noted(found: Any, response):
    """Complete the response of a service from the result of the callback.

    Args:
        found: the complete response, or the message of a success, or None for no message, or a
            Refusal.
        response: response of the service. The fields of the result are filled in.

    Returns:
        The response to send.
    """
    if isinstance(found, type(response)):
        return found
    text = sendable(str(found or ""))
    if isinstance(found, Refusal):
        fill_result(response.result, found, text, type(response))
    elif hasattr(response, "success"):  # of std_srvs
        response.success, response.message = True, text
    else:
        response.result.result = response.result.RESULT_OK
        response.result.error_message = text
    return response


def failed_response(service_type: type, request, error: Exception, text: str):
    """Return a service response that reports `text`. A type without such fields stays empty."""
    response = service_type.Response()
    result = getattr(response, "result", None)
    if hasattr(response, "success"):  # of std_srvs
        response.success, response.message = False, text
    elif hasattr(result, "error_message"):  # of simulation_interfaces
        fill_result(result, error, text, type(response))
    elif hasattr(result, "successful"):  # parameters, all or none
        result.successful, result.reason = False, text
    elif hasattr(response, "results") and hasattr(request, "parameters"):
        from rcl_interfaces.msg import SetParametersResult

        refused = SetParametersResult(successful=False, reason=text)
        response.results = [refused for _ in request.parameters]
    return response


def _check_types(request) -> None:
    """Raise HrpsimError for a parameter with a type code that ROS does not have.

    rclpy fails on such a parameter.
    """
    for parameter in getattr(request, "parameters", ()):
        kind = parameter.value.type
        if not 0 <= kind <= _LAST_TYPE:
            raise HrpsimError(f"parameter {parameter.name!r}: has the unknown type {kind}")


def fill_result(result, error: Exception, text: str, *where: type) -> None:
    """Write an error to a simulation_interfaces Result."""
    code = error.code if isinstance(error, Refusal) else _FAILED
    kind = type(result)
    number = getattr(kind, f"RESULT_{code}", kind.RESULT_OPERATION_FAILED)
    for message in where:
        number = getattr(message, code, number)
    result.result, result.error_message = number, text


def resource_of(message: Any) -> Any:
    """Return the part of a message that has the fields `uri` and `resource_string`.

    The part is a field since release 2.1 of simulation_interfaces. In earlier releases the message
    itself has the two fields.
    """
    for name in ("entity_resource", "world_resource", "level_resource"):
        if hasattr(message, name):
            return getattr(message, name)
    return message


def service_name(kind: str) -> str:
    """Return the name of a service by type, for example spawn_entity for SpawnEntity."""
    return "".join(f"_{c.lower()}" if c.isupper() else c for c in kind).lstrip("_")


class RepeatFilter:
    """Filter of repeated texts, with limits on the rate and the number of different texts.

    A text passes once every `period` [s, wall]. At most `capacity` texts are remembered.
    """

    def __init__(self, period: float, capacity: int = 16, clock=time.monotonic) -> None:
        self._period = period
        self._capacity = capacity
        self._clock = clock
        self._passed: dict[str, float] = {}

    def passes(self, text: str) -> bool:
        """Return whether `text` may pass now and has not passed within the period."""
        now = self._clock()
        self._passed = {t: at for t, at in self._passed.items() if now - at < self._period}
        if text in self._passed or len(self._passed) >= self._capacity:
            return False
        self._passed[text] = now
        return True


class Faults:
    """Handler of errors, which logs and counts the errors of the node itself.

    A refusal (HrpsimError) is an error of the client. A request that exceeds memory or the
    recursion limit is also an error of the client. All other errors are faults of the node. `count`
    is the number of faults so far, `last` is the last fault in one line. Errors of the classes in
    `ending` end the node's loop and are not counted.
    """

    def __init__(
        self,
        logger: Callable[[], Any],
        ending: tuple[type[Exception], ...] = (),
        clock=time.monotonic,
    ) -> None:
        self._logger = logger
        self._ending = ending
        self._filter = RepeatFilter(_REPEATED_AFTER, clock=clock)
        self.count = 0
        self.last = ""

    def explain(self, error: Exception, where: str) -> str:
        """Return the text to send about an error raised in `where`.

        Log and count a fault of the node.
        """
        if isinstance(error, HrpsimError):
            return sendable(str(error))
        if isinstance(error, RecursionError):
            return f"{where}: rejected, because the input has too many nested levels"
        if isinstance(error, MemoryError):
            return f"{where}: rejected, because the input needs more memory than available"
        self._report(error, where)
        return f"{self.last}. See the traceback in the log"

    @contextmanager
    def held(self, where: str) -> Iterator[None]:
        """Catch errors in a `with` block, and log their explanation.

        Errors of the classes in `ending` are not caught.
        """
        try:
            yield
        except self._ending:
            raise
        except Exception as error:
            text = self.explain(error, where)
            if self._filter.passes(text):
                self._logger().error(text)

    def answering(self, service_type: type, name: str, callback: Callable) -> Callable:
        """Return a service callback that replies with the error when `callback` fails.

        Coroutine functions are accepted.
        """

        def failed(request, error: Exception):
            return failed_response(service_type, request, error, self.explain(error, name))

        def answer(request, response):
            try:
                _check_types(request)
                return noted(callback(request, response), response)
            except Exception as error:
                return failed(request, error)

        async def answer_cooperatively(request, response):
            try:
                return noted(await callback(request, response), response)
            except Exception as error:
                return failed(request, error)

        return answer_cooperatively if inspect.iscoroutinefunction(callback) else answer

    def hearing(self, name: str, callback: Callable) -> Callable:
        """Return a subscription or timer callback that catches errors, as `held` does."""

        def hear(*arguments) -> None:
            with self.held(name):
                callback(*arguments)

        return hear

    def say(self, text: str) -> None:
        """Log the text of an explained error."""
        self._logger().error(text)

    def _report(self, error: Exception, where: str) -> None:
        self.count += 1
        self.last = sendable(f"{where}: internal error: {type(error).__name__}: {error}")
        if self._filter.passes(self.last):
            lines = traceback.format_exception(type(error), error, error.__traceback__, limit=-12)
            self._logger().error(f"{where}: {sendable(''.join(lines), 4 * _LONGEST)}")


class Rejections:
    """Counts rejected messages.

    Warns of each cause at most once a second, and of at most 16 causes for each topic.
    """

    def __init__(self, logger, faults: Faults) -> None:
        self._logger = logger
        self._faults = faults
        self._filters = defaultdict(lambda: RepeatFilter(period=1.0))  # by topic
        self.count = 0
        self.last = ""

    def warn(self, topic: str, text: str) -> None:
        """Log a warning about an accepted message."""
        if self._filters[topic].passes(text):
            self._logger.warning(f"{topic}: {text}")

    def note(self, error: Exception, topic: str, consequence: str = "") -> None:
        """Count a message on `topic` that raised `error`.

        consequence: text of the effect, such as "the base stays".
        """
        self.report(topic, consequence, self._faults.explain(error, topic))

    def report(self, topic: str, consequence: str, cause: str, kind: str | None = None) -> None:
        """Count one rejected message on `topic`, and warn.

        `kind` identifies the cause, by default the text of the cause.
        """
        self.count += 1
        self.last = f"{topic} rejected{', ' if consequence else ''}{consequence}: {cause}"
        if self._filters[topic].passes(kind or cause):
            self._logger.warning(self.last)


def sendable(text: str, longest: int = _LONGEST) -> str:
    """Return a text as valid Unicode. The middle of a text longer than `longest` is cut out."""
    return shortened(text.encode("utf-8", "backslashreplace").decode(), longest)
