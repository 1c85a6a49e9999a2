# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The node's parameters: declared from their table, checked, watched."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from rcl_interfaces.msg import SetParametersResult
from rclpy.exceptions import InvalidParameterTypeException, ParameterException
from rclpy.node import Node
from rclpy.parameter import Parameter

from hrpsim.errors import HrpsimError, unknown_name
from hrpsim.limits import PARAMETER_TEXT
from hrpsim.ros.base.parameter_table import SPECIFICATIONS, Specification
from hrpsim.yaml_text import read_yaml

_SHOWN = 5  # nodes of a file of parameters, in a warning


class ParameterError(HrpsimError, ValueError):
    """An invalid parameter of a program; the message names it."""


def declare(node: Node, specifications: Iterable[Specification]) -> dict[str, Any]:
    """Declare parameters; return their values, including those of the command line and files.

    Raises ParameterError for one of another type, out of its range or not among its choices.
    """
    overrides = getattr(node, "_parameter_overrides", {})  # rclpy has no other way to change them
    overrides.update({name: _as_meant(parameter) for name, parameter in overrides.items()})
    values = {}
    for specification in specifications:
        name, default = specification.name, specification.default
        try:
            values[name] = node.declare_parameter(name, default, specification.descriptor()).value
        except ParameterException as error:
            is_type = isinstance(error, InvalidParameterTypeException)
            hint = "; write 2.0, not 2" if is_type and isinstance(default, float) else ""
            raise ParameterError(f"{error}{hint}") from error
        if problem := specification.problem(values[name]):
            raise ParameterError(problem)
    return values


def _as_meant(parameter: Parameter) -> Parameter:
    """Return the mode "off" for false: YAML, and so `ros2 param`, reads off as false."""
    if parameter.value is False and parameter.name.startswith("modes."):
        return Parameter(parameter.name, Parameter.Type.STRING, "off")
    return parameter


def given_to(node: Node) -> list[str]:
    """Return the names of the node's parameters in the command line and files."""
    return list(getattr(node, "_parameter_overrides", {}))  # rclpy has no other way to ask


def warn_of_foreign_files(node: Node) -> None:
    """Warn of parameter files on the command line that have no entry for the node."""
    own = node.get_fully_qualified_name()
    for option, file in zip(sys.argv, sys.argv[1:]):
        names = list(_nodes_of(file)) if option == "--params-file" else []
        if names and not any(_pattern(name).fullmatch(own) for name in names):
            listed = ", ".join(names[:_SHOWN]) + (", ..." if len(names) > _SHOWN else "")
            node.get_logger().warning(f"{file}: no entry for {own}, only for {listed}")


def _nodes_of(file: str) -> Iterator[str]:
    """Yield the node names, or patterns, in a parameter file; nothing if it cannot be read."""
    try:
        entries = [("", read_yaml(Path(file), HrpsimError).data)]
    except HrpsimError:  # rcl has read it and reports errors
        return
    while entries:
        path, values = entries.pop(0)
        for key, value in values.items() if isinstance(values, dict) else ():
            if key == "ros__parameters":
                yield path
            else:
                entries.append((f"{path}/{str(key).lstrip('/')}", value))


def _pattern(name: str) -> re.Pattern:
    """Return the pattern of a node name in a parameter file: "/**" matches any names, "/*" one."""
    parts = {"**": r"(/\w+)*", "*": r"/\w+"}
    return re.compile(
        "".join(parts.get(part, f"/{re.escape(part)}") for part in name[1:].split("/"))
    )


def warn_of_unknown(
    node: Node, declared: Iterable[str], later: Callable[[str], bool] = lambda name: False
) -> None:
    """Warn of given parameters that are not declared, with a similar name.

    later: returns whether a name may be declared later.
    """
    warn_of_foreign_files(node)
    for name in given_to(node):
        known = node.has_parameter(name) or name.startswith("qos_overrides.") or later(name)
        if not known and name != "use_sim_time":
            node.get_logger().warning(unknown_name("parameter", name, declared))


def refuse_unknown(node: Node) -> None:
    """Raise ParameterError for gains of an unknown joint; warn of other unknown names.

    Those of a robot that is spawned later, gains.<robot>.<joint>, modes. and rates., may be given
    in advance.
    """
    kinds = {"gains": "joint", "modes": "joint", "rates": "sensor"}
    for name in given_to(node):
        kind, _, part = name.partition(".")
        if kind in kinds and part and "." not in part and not node.has_parameter(name):
            known = list(node.get_parameters_by_prefix(kind))
            raise ParameterError(unknown_name(f"{kinds[kind]} with {kind}", part, known))
    declared = [specification.name for specification in SPECIFICATIONS]
    warn_of_unknown(node, declared, lambda n: n.count(".") > 1 and n.partition(".")[0] in kinds)


def value_of(node: Node, name: str) -> Any:
    """Return the present value of parameter `name`."""
    return node.get_parameter(name).value


def named_values(parameter: str, texts: list[str]) -> dict[str, str]:
    """Return {"bush": "true"} for ["bush:=true"]; ParameterError names a text without ':='."""
    values = {}
    for text in filter(None, texts):
        name, separator, value = text.partition(":=")
        if not separator or not name:
            raise ParameterError(f"{parameter}: expected 'name:=value', got {text!r}")
        values[name] = value
    return values


def on_change(
    node: Node, check: Callable[[str, Any], str], react: Callable[[str, Any], None]
) -> None:
    """Call `react(name, value)` after any declared parameter has been set at run time.

    Before that, `check(name, value)` returns what is wrong with a value that the table allows, or
    ""; the whole request is then refused with this reason.
    """
    specifications = {specification.name: specification for specification in SPECIFICATIONS}

    def checked(parameters: list[Parameter]) -> SetParametersResult:
        for parameter in parameters:
            known = specifications.get(parameter.name)
            name, value = parameter.name, parameter.value
            length = len(value) if isinstance(value, str) else 0
            if length > PARAMETER_TEXT:
                problem = f"{name}: {length} characters, {PARAMETER_TEXT} at most (PARAMETER_TEXT)"
            else:
                problem = known.problem(value) if known else check(name, value)
            if problem:
                return SetParametersResult(successful=False, reason=problem)
        return SetParametersResult(successful=True)

    def changed(parameters: list[Parameter]) -> None:
        for parameter in parameters:
            react(parameter.name, parameter.value)

    node.add_pre_set_parameters_callback(lambda parameters: list(map(_as_meant, parameters)))
    node.add_on_set_parameters_callback(checked)
    node.add_post_set_parameters_callback(changed)
