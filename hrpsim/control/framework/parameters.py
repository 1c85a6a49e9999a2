# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Parameters of controllers, checked by the same kinds of values as world files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hrpsim.control.framework.controller import ControllerError
from hrpsim.errors import HrpsimError, shown_value, unknown_name
from hrpsim.schema import Kind, first_mistake, mapping
from hrpsim.values import Range
from hrpsim.yaml_text import read_yaml

PERIOD = Range(1e-6, 10.0, "s")  # between two calls of a controller


def checked(
    who: str,
    kinds: Mapping[str, Kind],
    given: Mapping[str, Any],
    error: type[HrpsimError] = ControllerError,
) -> dict[str, Any]:
    """Return parameters converted by their kinds; `error` names `who` and what is wrong."""
    values, _, mistake = _checked(kinds, given)
    if mistake:
        raise error(f"{who}: {mistake}")
    return values


def read_parameters(path: str | Path, kinds: Mapping[str, Kind] | None = None) -> dict[str, Any]:
    """Return the parameters of a controller from a YAML file, a mapping of names to values.

    kinds: their kinds, where the controller declares them. Raises ControllerError that names the
    file, and the line that is no YAML or of another kind.
    """
    path = Path(path).expanduser()
    text = read_yaml(path, ControllerError, "parameters file")
    content = text.data
    if content is None:
        return {}
    if not isinstance(content, dict) or not all(isinstance(key, str) for key in content):
        shown = f"keys {shown_value(list(content))}" if isinstance(content, dict) else ""
        raise ControllerError(
            f"parameters file {str(path)!r}: expected a mapping of names to values, got "
            f"{shown or shown_value(content)}"
        )
    if kinds is not None:
        _, place, mistake = _checked(kinds, content)
        if mistake:
            raise ControllerError(f"{text.place(place)}: {mistake}")
    return content


def _checked(kinds: Mapping[str, Kind], given: Mapping[str, Any]) -> tuple[Any, list, str]:
    """Return the values, and the location and text of the first mistake ("" without)."""
    for name in given:
        if name not in kinds:
            return None, [name], unknown_name("parameter", name, kinds, limit=len(kinds))
    values, place, mistake = first_mistake(_kind_of(kinds), dict(given))
    return values, place, f"{'.'.join(map(str, place))}: {mistake}" if mistake else ""


_KEPT = 64  # kinds of mappings, of the controllers that were configured last
_known: dict[int, tuple[Mapping[str, Kind], Kind]] = {}


def _kind_of(kinds: Mapping[str, Kind]) -> Kind:
    """Return the kind of mappings of these, cached: controllers are configured many times."""
    if id(kinds) not in _known:
        while len(_known) >= _KEPT:
            del _known[next(iter(_known))]
        _known[id(kinds)] = kinds, mapping(kinds)
    return _known[id(kinds)][1]
