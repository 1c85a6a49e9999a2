# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The operators of xacro's expressions; those whose results may grow are bounded."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable
from typing import Any

from hrpsim.model.urdf.xacro_budget import ExpressionError, check_bits, check_length


def _add(a, b):
    if isinstance(a, (str, list, tuple)) and isinstance(b, (str, list, tuple)):
        check_length(len(a) + len(b))
    return a + b


def multiply(a, b):
    """Return a product that is not too long."""
    for many, times in ((a, b), (b, a)):
        if isinstance(many, (str, list, tuple)) and isinstance(times, int):
            check_length(len(many) * max(times, 0))
    return a * b


def _power(a, b, modulus=None):
    if modulus is not None:
        raise ExpressionError("pow takes two numbers")
    if isinstance(a, int) and isinstance(b, int):
        check_bits(a.bit_length() * abs(b))
    return a**b


def _shift_left(a, b):
    if isinstance(b, int) and b > 0:
        check_bits(b)
    return a << b


_PLAIN_FORMAT = re.compile(r"[^%]*(?:%[-+ 0#]*\d{0,3}(?:\.\d{1,3})?[sdifeEgGrxX%][^%]*)*")


def _modulo(a, b):
    if isinstance(a, str) and not _PLAIN_FORMAT.fullmatch(a):
        raise ExpressionError("this % format is not allowed")
    return a % b


BINARY = {
    ast.Add: _add,
    ast.Sub: operator.sub,
    ast.Mult: multiply,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: _modulo,
    ast.Pow: _power,
    ast.LShift: _shift_left,
    ast.RShift: operator.rshift,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
}
UNARY: dict[type[ast.unaryop], Callable[[Any], Any]] = {
    ast.UAdd: operator.pos,
    ast.USub: operator.neg,
    ast.Not: operator.not_,
    ast.Invert: operator.invert,
}
COMPARE = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
    ast.In: lambda a, b: a in b,
    ast.NotIn: lambda a, b: a not in b,
}
