"""How a service of simulation_interfaces says that it could not do what was asked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from simulation_interfaces.msg import Result

from hrpsim.errors import HrpsimError
from hrpsim.ros.entities import Refusal


def answering(action: Callable[[Any, Any], str | None]):
    """Return a service callback that calls `action(request, response)` and fills in the result.

    What `action` returns becomes the message of success. A Refusal becomes its code, any other
    HrpsimError an operation that failed.
    """

    def handle(request, response):
        try:
            message = action(request, response)
            response.result = Result(result=Result.RESULT_OK, error_message=message or "")
        except HrpsimError as error:
            response.result = failure(error, type(response))
        return response

    return handle


def failure(error: HrpsimError, *where: type) -> Result:
    """Return the result for an error; codes stand in a response type of `where` or in Result."""
    code = error.code if isinstance(error, Refusal) else "OPERATION_FAILED"
    number = getattr(Result, f"RESULT_{code}", Result.RESULT_OPERATION_FAILED)
    for kind in where:
        number = getattr(kind, code, number)
    return Result(result=number, error_message=str(error))
