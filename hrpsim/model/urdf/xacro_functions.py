# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The functions and names that every expression of xacro knows."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from hrpsim import limits
from hrpsim.model.urdf.xacro_budget import (
    Budget,
    ExpressionError,
    Function,
    Namespace,
    check_bits,
    check_keys,
)
from hrpsim.model.urdf.xacro_operators import multiply

_MATH = (
    *("acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "ceil", "copysign", "cos"),
    *("cosh", "degrees", "dist", "erf", "erfc", "exp", "expm1", "fabs", "floor", "fmod", "frexp"),
    *("fsum", "gamma", "gcd", "hypot", "isclose", "isfinite", "isinf", "isnan", "ldexp", "lgamma"),
    *("log", "log10", "log1p", "log2", "modf", "pow", "radians", "remainder", "sin"),
    *("sinh", "sqrt", "tan", "tanh", "trunc", "e", "inf", "nan", "pi", "tau"),
)


def mathematics() -> dict[str, Any]:
    """Return the names of `math` that expressions may use."""
    names = {}
    for name in _MATH:
        value = getattr(math, name)
        names[name] = Function(name, value) if callable(value) else value
    names["factorial"] = Function("factorial", _factorial)
    names["prod"] = Function("prod", _product)
    return names


def _factorial(n: int) -> int:
    if n > limits.XACRO_FACTORIAL:
        raise ExpressionError(
            f"factorial({n}): {limits.XACRO_FACTORIAL} is the limit (XACRO_FACTORIAL)"
        )
    return math.factorial(n)


def _sum(values, start=0):
    for value in values:
        if not isinstance(value, (int, float)):
            raise ExpressionError("sum takes numbers")
    return sum(values, start)


def _product(values, *, start=1):
    for value in values:
        start = multiply(start, value)
        if isinstance(start, int):
            check_bits(start.bit_length())
    return start


def _round(value, digits=None):
    if digits is not None and not -300 <= digits <= 300:
        raise ExpressionError(f"round to {digits} digits: 300 are the limit")
    return round(value, digits)


def _keyed(kind: type) -> Callable[..., Any]:
    """Return what makes a set or dict of values that are not too many."""

    def call(values=(), **named):
        values = dict(values) if kind is dict else list(values)
        check_keys(values)
        return kind(values, **named)

    return call


def _range(*arguments: int) -> list[int]:
    numbers = range(*arguments)
    if len(numbers) > limits.XACRO_RANGE:
        raise ExpressionError(f"a range of more than {limits.XACRO_RANGE} numbers (XACRO_RANGE)")
    return list(numbers)


def _integer(value=0, base=None) -> int:
    if isinstance(value, str) and len(value) > 1000:
        raise ExpressionError(f"int: text of {len(value)} characters is no number")
    return int(value) if base is None else int(value, base)


def known_names(budget: Budget) -> dict[str, Any]:
    """Return the functions and namespaces that every expression knows; `budget` pays for calls."""

    def callee(function) -> Callable[..., Any]:
        if not isinstance(function, Function):
            raise ExpressionError("a function is needed")
        return lambda *arguments: budget.admit(function.call(*arguments))

    def keyed(plain):
        def call(*arguments, key=None, **options):
            if key is not None:
                options["key"] = callee(key)
            return plain(*arguments, **options)

        return call

    simple = {
        **{f.__name__: f for f in (len, float, bool, abs, all, any, divmod, ord, list, tuple)},
        "set": _keyed(set),
        "dict": _keyed(dict),
        "sum": _sum,
        "round": _round,
        "str": lambda value="": budget.text(value),
        "repr": lambda value: budget.text(repr(budget.admit(value))),
        "int": _integer,
        "min": keyed(min),
        "max": keyed(max),
        "sorted": keyed(sorted),
        "range": _range,
        "reversed": lambda values: list(reversed(values)),
        "enumerate": lambda values, start=0: [list(pair) for pair in enumerate(values, start)],
        "zip": lambda *lists: [list(items) for items in zip(*lists)],
        "map": lambda f, *lists: [callee(f)(*items) for items in zip(*lists)],
        "filter": lambda f, values: [v for v in values if (callee(f)(v) if f else v)],
    }
    functions: dict[str, Any] = {name: Function(name, call) for name, call in simple.items()}
    math_names = mathematics()
    python = Namespace("python", functions.copy().__getitem__)
    return {
        **math_names,
        **functions,
        "math": Namespace("math", math_names.__getitem__),
        "python": python,
        "true": True,
        "false": False,
    }
