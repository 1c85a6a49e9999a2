# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Shared by services: how they report failures, and names that differ between releases."""

from __future__ import annotations

from typing import Any

from hrpsim.ros.base.entities import Refusal

_FAILED = "OPERATION_FAILED"


def noted(found: Any, response):
    """Return the response of a service whose callback returned `found`.

    `found` is the response itself; or the message of a success, None for no message; or a Refusal,
    which is added to the filled response.
    """
    if isinstance(found, type(response)):
        return found
    if isinstance(found, Refusal):
        fill_result(response.result, found, str(found), type(response))
    elif hasattr(response, "success"):  # of std_srvs
        response.success, response.message = True, found or ""
    else:
        response.result.result = response.result.RESULT_OK
        response.result.error_message = found or ""
    return response


def failed_response(service_type: type, request, error: Exception, text: str):
    """Return a service's response that reports `text`; empty for a type without such fields."""
    response = service_type.Response()
    result = getattr(response, "result", None)
    if hasattr(response, "success"):  # of std_srvs
        response.success, response.message = False, text
    elif hasattr(result, "error_message"):  # of simulation_interfaces
        fill_result(result, error, text, type(response))
    elif hasattr(result, "successful"):  # parameters, all or none
        result.successful, result.reason = False, text
    elif hasattr(response, "results") and hasattr(request, "parameters"):
        refused = _refused_parameter(text)
        response.results = [refused for _ in request.parameters]
    return response


def fill_result(result, error: Exception, text: str, *where: type) -> None:
    """Fill in a simulation_interfaces Result; `where`, or else Result, defines the codes."""
    code = error.code if isinstance(error, Refusal) else _FAILED
    kind = type(result)
    number = getattr(kind, f"RESULT_{code}", kind.RESULT_OPERATION_FAILED)
    for place in where:
        number = getattr(place, code, number)
    result.result, result.error_message = number, text


def _refused_parameter(text: str):
    from rcl_interfaces.msg import SetParametersResult

    return SetParametersResult(successful=False, reason=text)


def resource_of(message: Any) -> Any:
    """Return the part of a message with `uri` and `resource_string`.

    Since release 2.1 of simulation_interfaces it is a field, before that the message itself.
    """
    for name in ("entity_resource", "world_resource", "level_resource"):
        if hasattr(message, name):
            return getattr(message, name)
    return message


def service_name(kind: str) -> str:
    """Return the name of the service of a type: spawn_entity for SpawnEntity."""
    return "".join(f"_{c.lower()}" if c.isupper() else c for c in kind).lstrip("_")
