# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Check values against annotations: fields of settings, and arguments of functions and terms.

A truth value or a text is not a number. `Annotated` with a `Range` bounds a number. An `Interval`
has two numbers, the lower bound first. A text is no list of texts.
"""

from __future__ import annotations

import builtins
import collections.abc
import dataclasses
import inspect
import os
import sys
import types
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Annotated, Any, ParamSpec, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from hrpsim.common.errors import StateError, shown_value
from hrpsim.common.values import ANY, NOT_NEGATIVE, POSITIVE, Range, is_number, numeric_array

Finite = Annotated[float, ANY]
Positive = Annotated[float, POSITIVE]
NotNegative = Annotated[float, NOT_NEGATIVE]
Share = Annotated[float, Range(0.0, 1.0)]
ASCENDING = "ascending"
Interval = Annotated[tuple[float, float], ASCENDING]
_Params = ParamSpec("_Params")
_Result = TypeVar("_Result")


class CheckedSettings:
    """Base class of settings. The constructor checks each field of the frozen dataclass.

    Raises:
        StateError: a field is not of the annotated kind. The error names class and field.
    """

    def __post_init__(self) -> None:
        check_fields(self)


def check_fields(one: Any, error: Callable[[str], Exception] = StateError) -> None:
    """Raise `error` for a field of a dataclass that is not of the annotated kind."""
    for name, hint in _hints_of(type(one)).items():
        require_fit(f"{type(one).__name__}.{name}", getattr(one, name), hint, error)


def require_fit(
    what: str, value: Any, hint: Any, error: Callable[[str], Exception] = StateError
) -> None:
    """Raise `error`, "WHAT must be a number, got VALUE", for a value that does not fit `hint`."""
    if needed := misfit(value, hint):
        place, kind = needed
        raise error(f"{what}{place} must be {kind}")


def check_arguments(
    function: Callable, given: Mapping[str, Any], error: Callable[[str], Exception] = StateError
) -> None:
    """Raise `error`, "FUNCTION: ARGUMENT must be a path, got VALUE", for a wrong argument.

    A public function calls this function first. Warnings still name the line of the caller.

    Args:
        function: the function, with annotations that exist at run time.
        given: `locals()` of the call.
        error: class of the error.
    """
    name = function.__qualname__.removesuffix(".__init__")
    for key, hint in _hints_of(function).items():
        if key in given:
            require_fit(f"{name}: {key}", given[key], hint, error)


def require_arguments(
    what: str,
    function: Callable,
    arguments: Mapping[str, Any],
    leading: int = 0,
    owner: str = "term",
) -> None:
    """Raise StateError for unknown or missing arguments of a function. The error lists the names.

    Args:
        what: begins the error.
        function: a function, or a class.
        arguments: keyword arguments by name.
        leading: number of positional arguments that the caller passes before the keyword arguments.
        owner: noun for the function in the error.
    """
    try:
        signature = inspect.signature(function)
        signature.bind(*[None] * leading, **arguments)
    except TypeError as error:
        named = ", ".join(list(signature.parameters)[leading:]) or "none"
        raise StateError(f"{what}: {error}. The {owner} has the arguments: {named}") from None


def require_fitting_arguments(what: str, function: Callable, arguments: Mapping[str, Any]) -> None:
    """Raise StateError for an argument that does not fit the annotation of a function.

    arguments: values by name.
    """
    hints = _hints_of(function.__init__ if inspect.isclass(function) else function)
    for name, value in arguments.items():
        if name in hints:
            require_fit(f"{what}: {name}", value, hints[name])


class _Names(dict[str, Any]):
    """The names in annotations. A name that exists for type checkers alone means any value."""

    def __missing__(self, name: str) -> Any:
        return Any


@lru_cache(maxsize=256)
def _hints_of(owner: Any) -> dict[str, Any]:
    """Return the annotations of a dataclass's fields or of a function's parameters."""
    names = _Names(vars(builtins))
    for scope in reversed(owner.__mro__) if inspect.isclass(owner) else (owner,):
        names.update(vars(sys.modules[scope.__module__]))
    result = typing.get_type_hints(owner, localns=names, include_extras=True)
    if not inspect.isclass(owner):
        return result
    return {field.name: result[field.name] for field in dataclasses.fields(owner)}


def misfit(value: Any, hint: Any) -> tuple[str, str] | None:
    """Check a value against a type hint.

    Returns:
        None if the value fits. Otherwise (position inside the value, such as "[2]"; text of the
        mistake).
    """
    origin, parts = typing.get_origin(hint), typing.get_args(hint)
    if origin is Annotated:
        return _bounded(value, *parts[:2])
    if hint == ArrayLike:
        return _numbers(value)
    if origin in (typing.Union, types.UnionType):
        return _of_several(value, _kinds_of(hint))
    if origin is tuple:
        return _tuple(value, parts)
    if origin in (collections.abc.Mapping, dict):
        return _mapping(value, parts)
    if origin in (collections.abc.Sequence, list):
        return _sequence(value, parts[0])
    if origin is collections.abc.Iterable:
        return None if _is_stream(value) else _sequence(value, parts[0])
    fits, needed = _plain(value, origin or hint)
    return None if fits else ("", f"{needed}, got {shown_value(value)}")


@lru_cache(maxsize=256)
def _kinds_of(union: Any) -> tuple[Any, ...]:
    """Return the types in a union. The types that form `ArrayLike` are replaced by `ArrayLike`."""
    parts, numeric = typing.get_args(union), set(typing.get_args(ArrayLike))
    if not numeric.issubset(parts):
        return parts
    return (ArrayLike, *(part for part in parts if part not in numeric))


def _numbers(value: Any) -> tuple[str, str] | None:
    try:
        numeric_array("", value)
    except StateError:
        return "", f"numbers, got {shown_value(value)}"
    return None


def _plain(value: Any, kind: Any) -> tuple[bool, str]:
    """Return whether a value is of a class, and the name of the class for messages."""
    if kind is float:
        return is_number(value), "a number"
    if kind is int:
        is_whole = isinstance(value, (int, np.integer)) and is_number(value)
        return is_whole, "a whole number"
    if kind is bool:
        return isinstance(value, (bool, np.bool_)), "true or false"
    if kind is str:
        return isinstance(value, str), "a text"
    if kind is collections.abc.Callable:
        return callable(value), "a function"
    if kind in (None, types.NoneType):
        return value is None, "None"
    if kind is Any or kind is object or getattr(kind, "_is_protocol", False):
        return True, ""
    if not inspect.isclass(kind):
        return True, ""
    if issubclass(kind, os.PathLike):
        return isinstance(value, os.PathLike), "a path"
    return isinstance(value, kind), f"a {kind.__name__}"


def _bounded(value: Any, hint: Any, bounds: Any) -> tuple[str, str] | None:
    if result := misfit(value, hint):
        return result
    if bounds == ASCENDING and value[0] > value[1]:
        return "", f"a range with the lower bound first, got {shown_value(value)}"
    if isinstance(bounds, Range) and not bounds.holds(float(value)):
        return "", f"{bounds}, got {shown_value(value)}"
    return None


def _of_several(value: Any, hints: Sequence[Any]) -> tuple[str, str] | None:
    """Check a value against the types of a union. Return None if one type fits.

    Otherwise return position and text of the mistake, as `misfit` does. A mistake inside the value,
    such as an item of a list, has priority over the whole value.
    """
    faults = []
    for hint in hints:
        if (fault := misfit(value, hint)) is None:
            return None
        faults.append(fault)
    inside = [fault for fault in faults if fault[0]]
    if inside:
        return inside[0]
    kinds = [fault[1].rsplit(", got ", 1)[0] for fault in faults]
    return "", f"{' or '.join(dict.fromkeys(kinds))}, got {shown_value(value)}"


def _tuple(value: Any, parts: Sequence[Any]) -> tuple[str, str] | None:
    if len(parts) == 2 and parts[1] is Ellipsis:
        return _sequence(value, parts[0])
    numeric = all(part is float for part in parts)
    count = {2: "two", 3: "three", 4: "four"}.get(len(parts), str(len(parts)))
    needed = f"{count} {'numbers' if numeric else 'values'}"
    if not _is_row(value) or len(value) != len(parts):
        return "", f"{needed}, got {shown_value(value)}"
    for k, (item, part) in enumerate(zip(value, parts)):
        if fault := misfit(item, part):
            return f"[{k}]{fault[0]}", fault[1]
    return None


def _sequence(value: Any, each: Any) -> tuple[str, str] | None:
    if not _is_collection(value):
        return "", f"a list, got {shown_value(value)}"
    if each is str and all(isinstance(item, str) for item in value):  # lists of names are long
        return None
    for k, item in enumerate(value):
        if fault := misfit(item, each):
            return f"[{k}]{fault[0]}", fault[1]
    return None


def _mapping(value: Any, parts: Sequence[Any]) -> tuple[str, str] | None:
    if not isinstance(value, Mapping):
        return "", f"a mapping with names as keys, got {shown_value(value)}"
    for key, item in value.items():
        if not isinstance(key, str):
            return "", f"a mapping with names as keys, got the key {shown_value(key)}"
        if fault := misfit(item, parts[1]):
            return f"[{shown_value(key)}]{fault[0]}", fault[1]
    return None


def _is_collection(value: Any) -> bool:
    """Return whether a value is a sequence, or a view such as the keys of a dictionary."""
    other = (str, bytes, Mapping, np.ndarray)
    return _is_row(value) or (
        isinstance(value, collections.abc.Collection) and not isinstance(value, other)
    )


def _is_stream(value: Any) -> bool:
    """Return whether a value yields items only once, such as a generator. No item is consumed."""
    return isinstance(value, Iterable) and not isinstance(value, collections.abc.Collection)


def _is_row(value: Any) -> bool:
    array = isinstance(value, np.ndarray) and value.ndim == 1
    return array or (isinstance(value, Sequence) and not isinstance(value, (str, bytes)))
