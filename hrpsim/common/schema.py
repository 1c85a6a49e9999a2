# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Kinds of values in files, by voluptuous. Errors name the allowed values.

A kind is a function that returns the value, or raises voluptuous.Invalid with the path to the
mistake. Bounds of numbers are in hrpsim.common.values. `world_schema` combines the kinds.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import voluptuous as vol

from hrpsim.common.errors import shown_value, unknown_name
from hrpsim.common.values import ANY, Range, is_number

Kind = Callable[[Any], Any]

_COUNTS = {2: "two", 3: "three", 4: "four"}


def needed(what: str, value: Any) -> vol.Invalid:
    """Return the error for a value of the wrong type. `what` describes the expected value."""
    return vol.Invalid(f"must be {what}, got {shown_value(value)}")


def numeric(bounds: Range = ANY) -> Kind:
    """Return a validator of numbers within bounds."""

    def check(value):
        if not is_number(value):
            raise needed("a number", value)
        if not bounds.holds(float(value)):
            raise vol.Invalid(f"must be {bounds}, got {shown_value(value)}")
        return value

    return check


def integer(low: int, high: int) -> Kind:
    """Return a validator of whole numbers from `low` to `high`."""

    def check(value):
        if not is_number(value) or not low <= value <= high or value != int(value):
            raise needed(f"a whole number from {low} to {high}", value)
        return int(value)

    return check


def flag(value: Any) -> bool:
    """Check that a value is a truth value, and return the value."""
    if not isinstance(value, bool):
        raise needed("true or false", value)
    return value


def name(value: Any) -> str:
    """Check that a value is a name, and return the name. A whole number becomes a text."""
    if isinstance(value, bool) or not isinstance(value, (str, int)) or value == "":
        raise needed("a name", value)
    return str(value)


def scalar(value: Any) -> Any:
    """Check that a value is a text, number or truth value, and return the value."""
    if not isinstance(value, (str, int, float, bool)):
        raise needed("a single value", value)
    return value


def scalar_or_list(value: Any) -> Any:
    """Check that a value is a scalar or a list of scalars, and return the value."""
    return [scalar(entry) for entry in value] if isinstance(value, list) else scalar(value)


def one_of(what: str, choices: Iterable[str]) -> Kind:
    """Return a validator of the names in `choices`."""
    choices = tuple(choices)

    def check(value):
        if not isinstance(value, str) or value not in choices:
            raise vol.Invalid(unknown_name(what, value, choices))
        return value

    return check


def listing(each: Kind, least: int = 0, most: int | None = None, what: str = "") -> Kind:
    """Return the kind of lists of `least` to `most` entries. null is an empty list."""
    items = vol.Schema([each])
    what = what or f"a list{_count(least, most)}"

    def check(value):
        if value is None and least == 0:
            return []
        if not isinstance(value, list) or len(value) < least:
            raise needed(what, value)
        if most is not None and len(value) > most:
            raise needed(what, value)
        return items(value)

    return check


def _count(least: int, most: int | None) -> str:
    """Return " of 1 to 6 entries", or "" for lists of any length."""
    if most is not None:
        return f" of {least if least == most else f'{least} to {most}'} entries"
    return f" of {least} or more entries" if least else ""


def vector(length: int, bounds: Range = ANY) -> Kind:
    """Return a validator of lists of `length` numbers."""
    count = _COUNTS.get(length, str(length))
    return listing(numeric(bounds), length, length, f"a list of {count} numbers")


def mapping(fields: Mapping[str, Kind], required: Mapping[str, Kind] | None = None) -> Kind:
    """Return a validator of mappings with exactly these keys."""
    required = required or {}
    schema = vol.Schema(
        {vol.Required(key): kind for key, kind in required.items()}
        | {vol.Optional(key): kind for key, kind in fields.items()}
    )
    known = [*required, *fields]

    def check(value):
        if not isinstance(value, Mapping):
            raise needed(f"a mapping with keys from {', '.join(known)}", value)
        missing = [key for key in required if key not in value]
        mistakes = []
        try:
            value = schema(value)
        except vol.MultipleInvalid as found:
            mistakes = [_translated(error, known) for error in found.errors if _is_content(error)]
        if missing:
            entry = "entry" if len(missing) == 1 else "entries"
            mistakes.append(vol.Invalid(f"missing {entry}: {', '.join(missing)}"))
        if mistakes:
            raise vol.MultipleInvalid(mistakes)
        return value

    return check


def _is_content(error: vol.Invalid) -> bool:
    return not isinstance(error, vol.RequiredFieldInvalid) or len(error.path) > 1


def _translated(error: vol.Invalid, known: list[str]) -> vol.Invalid:
    """Add similar known keys to an error about an unknown key. Return other errors unchanged."""
    if len(error.path) != 1:
        return error
    if error.error_message == "extra keys not allowed":
        return vol.Invalid(unknown_name("entry", error.path[0], known), error.path)
    return error


def table(each: Kind, what: str) -> Kind:
    """Return a validator of mappings from names to values. null is an empty mapping."""
    schema = vol.Schema({name: each})

    def check(value):
        if value is None:
            return {}
        if not isinstance(value, Mapping):
            raise needed(f"a mapping {what}", value)
        for key in value:
            try:
                name(key)
            except vol.Invalid as error:
                raise vol.Invalid(error.error_message, [key]) from None
        return schema(dict(value))

    return check


def either(what: str, *kinds: Kind) -> Kind:
    """Return a validator that accepts the values of any of several validators."""
    any_of = vol.Any(*kinds)

    def check(value):
        try:
            return any_of(value)
        except vol.Invalid as error:
            raise error if error.path else needed(what, value) from None

    return check


def null_or(kind: Kind) -> Kind:
    """Return a validator that also accepts null."""
    return lambda value: None if value is None else kind(value)


def first_mistake(kind: Kind, data: Any) -> tuple[Any, list[Any], str]:
    """Check data against a kind.

    Returns:
        (checked data, path to the first mistake, text of the mistake). Without a mistake the path
        and the text are empty.
    """
    try:
        return kind(data), [], ""
    except vol.MultipleInvalid as found:
        error = found.errors[0]
        more = len(found.errors) - 1
        text = f"{error.error_message}{f' (and {more} more mistakes)' if more else ''}"
        return None, list(error.path), text
    except vol.Invalid as error:
        return None, list(error.path), error.error_message
