# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""What the expressions of xacro may hold, and how much they may cost: values, their sizes, work."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from hrpsim import limits

PLAIN = (bool, int, float, str, type(None))
CONTAINERS = (list, tuple, dict, set)


class ExpressionError(Exception):
    """An expression that is not allowed, not sound, or too large."""


@dataclass(frozen=True)
class Function:
    """Something that an expression may call."""

    name: str
    call: Callable[..., Any]


@dataclass(frozen=True)
class Namespace:
    """Names behind a dot, such as `math.`."""

    name: str
    find: Callable[[str], Any]  # KeyError for a name that it has not


class Budget:
    """What is left of the work that one description may cause."""

    def __init__(self):
        self.left = limits.XACRO_WORK

    def spend(self, amount: int = 1) -> None:
        """Pay for some operations; ExpressionError where nothing is left."""
        self.left -= amount
        if self.left < 0:
            raise ExpressionError(
                f"the description needs more than {limits.XACRO_WORK} operations (XACRO_WORK)"
            )

    def admit(self, value: Any) -> Any:
        """Return a value of the allowed kinds and sizes; ExpressionError for any other."""
        waiting = [value]
        while waiting:
            item = waiting.pop()
            self.spend()
            if isinstance(item, str):
                check_length(len(item))
                self.spend(len(item) // 64)
            elif isinstance(item, int):
                check_bits(item.bit_length())
            elif isinstance(item, dict):
                check_keys(item)
                waiting.extend(item)
                waiting.extend(item.values())
            elif isinstance(item, (list, tuple, set)):
                waiting.extend(item)
            elif not isinstance(item, (*PLAIN, Function, Namespace)):
                raise ExpressionError(f"a value of type {type(item).__name__} is not allowed")
        return value

    def text(self, value: Any) -> str:
        """Return a value as text, of limited length."""
        if isinstance(value, (Function, Namespace)):
            raise ExpressionError(f"{value.name!r} is no value")
        self.admit(value)
        text = str(value)
        check_length(len(text))
        self.spend(len(text) // 16)
        return text


def check_length(length: int) -> None:
    """Raise ExpressionError for a text that is too long."""
    if length > limits.XACRO_TEXT:
        raise ExpressionError(
            f"text of {length} characters, and {limits.XACRO_TEXT} are the limit (XACRO_TEXT)"
        )


def check_bits(bits: float) -> None:
    """Raise ExpressionError for an integer that is too long."""
    if bits > limits.XACRO_INTEGER_BITS:
        raise ExpressionError(
            f"an integer of more than {limits.XACRO_INTEGER_BITS} bits (XACRO_INTEGER_BITS)"
        )


def check_keys(values) -> None:
    """Raise ExpressionError for a mapping or set that is too large."""
    if len(values) > limits.XACRO_KEYS:
        raise ExpressionError(
            f"a mapping or set of {len(values)}, and {limits.XACRO_KEYS} are the limit (XACRO_KEYS)"
        )
