# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Evaluates the expressions of xacro without Python's `eval`.

An expression is parsed by `ast` and walked. Only what is listed here, in xacro_operators and in
xacro_functions is computed: numbers, text, lists and mappings, arithmetic, comparisons, conditions,
comprehensions, functions, and those methods of text, lists and mappings that read. Lambdas,
assignments, f-strings and every attribute that is not listed are refused. Each operation is paid
for out of a `Budget`, and no value grows beyond hrpsim.limits, so that every expression ends soon.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from hrpsim import limits
from hrpsim.errors import unknown_name
from hrpsim.model.urdf.xacro_budget import (
    Budget,
    ExpressionError,
    Function,
    Namespace,
    check_keys,
    check_length,
)
from hrpsim.model.urdf.xacro_operators import BINARY, COMPARE, UNARY

_READING_METHODS: dict[type, tuple[str, ...]] = {
    str: (
        *("capitalize", "count", "endswith", "find", "index", "isalpha", "isdigit", "isnumeric"),
        *("isspace", "join", "lower", "lstrip", "replace", "rfind", "rsplit", "rstrip", "split"),
        *("splitlines", "startswith", "strip", "title", "upper"),
    ),
    list: ("index", "count", "copy"),
    tuple: ("index", "count"),
    dict: ("get", "keys", "values", "items", "copy"),
    set: (),
}


class Evaluator:
    """Evaluates expressions whose names `find` knows, else `known`, such as `known_names` makes.

    find: returns the value of a name, KeyError where there is none.
    """

    def __init__(self, budget: Budget, find: Callable[[str], Any], known: Mapping[str, Any]):
        self._budget = budget
        self._find = find
        self._known = known
        self._local: list[dict[str, Any]] = []
        self._depth = 0

    def evaluate(self, expression: str) -> Any:
        """Return the value of an expression; ExpressionError if it has none."""
        if len(expression) > limits.XACRO_EXPRESSION:
            raise ExpressionError(
                f"an expression of {len(expression)} characters, and {limits.XACRO_EXPRESSION} are "
                "the limit (XACRO_EXPRESSION)"
            )
        try:
            tree = _parsed(expression.strip())
        except SyntaxError as cause:
            raise ExpressionError(f"invalid syntax: {cause.msg}") from cause
        except (ValueError, RecursionError, MemoryError) as cause:
            raise ExpressionError(f"it cannot be parsed: {cause}") from cause
        try:
            value = self.value(tree.body)
        except ExpressionError:
            raise
        except RecursionError:
            raise ExpressionError("it is nested too deeply") from None
        except (ArithmeticError, LookupError, TypeError, ValueError) as cause:
            raise ExpressionError(f"{type(cause).__name__}: {cause}") from cause
        if isinstance(value, (Function, Namespace)):
            raise ExpressionError(f"{value.name!r} is no value")
        return value

    def value(self, node: ast.AST) -> Any:
        """Return the value of one node of an expression."""
        self._budget.spend()
        handler = _HANDLERS.get(type(node))
        if handler is None:
            raise ExpressionError(f"{type(node).__name__} is not allowed in an expression")
        self._depth += 1
        try:
            if self._depth > limits.XACRO_DEPTH:
                raise ExpressionError(f"it is nested more than {limits.XACRO_DEPTH} deep")
            return self._budget.admit(handler(self, node))
        finally:
            self._depth -= 1

    def _constant(self, node: ast.Constant):
        return node.value

    def _name(self, node: ast.Name):
        for scope in reversed(self._local):
            if node.id in scope:
                return scope[node.id]
        try:
            return self._find(node.id)
        except KeyError:
            pass
        if node.id not in self._known:
            raise ExpressionError(f"name {node.id!r} is not defined")
        return self._known[node.id]

    def _binary(self, node: ast.BinOp):
        if type(node.op) not in BINARY:
            raise ExpressionError(f"{type(node.op).__name__} is not allowed in an expression")
        return BINARY[type(node.op)](self.value(node.left), self.value(node.right))

    def _unary(self, node: ast.UnaryOp):
        return UNARY[type(node.op)](self.value(node.operand))

    def _boolean(self, node: ast.BoolOp):
        value = None
        for part in node.values:
            value = self.value(part)
            if bool(value) == isinstance(node.op, ast.Or):
                break
        return value

    def _comparison(self, node: ast.Compare):
        left = self.value(node.left)
        for op, right in zip(node.ops, node.comparators):
            right = self.value(right)
            if not COMPARE[type(op)](left, right):
                return False
            left = right
        return True

    def _condition(self, node: ast.IfExp):
        return self.value(node.body if self.value(node.test) else node.orelse)

    def _list(self, node: ast.List):
        return [self.value(item) for item in node.elts]

    def _tuple(self, node: ast.Tuple):
        return tuple(self.value(item) for item in node.elts)

    def _set(self, node: ast.Set):
        return {self.value(item) for item in node.elts}

    def _dict(self, node: ast.Dict):
        keys = [key for key in node.keys if key is not None]
        if len(keys) < len(node.values):
            raise ExpressionError("** is not allowed in an expression")
        return {self.value(k): self.value(v) for k, v in zip(keys, node.values)}

    def _slice(self, node: ast.Slice):
        raise ExpressionError("a slice stands within []")

    def _subscript(self, node: ast.Subscript):
        owner = self.value(node.value)
        if not isinstance(owner, (str, list, tuple, dict)):
            raise ExpressionError(f"a value of type {type(owner).__name__} has no []")
        if isinstance(node.slice, ast.Slice):
            parts = (node.slice.lower, node.slice.upper, node.slice.step)
            return owner[slice(*(None if p is None else self.value(p) for p in parts))]
        return owner[self.value(node.slice)]

    def _attribute(self, node: ast.Attribute):
        owner, name = self.value(node.value), node.attr
        if isinstance(owner, Namespace):
            try:
                return owner.find(name)
            except KeyError:
                raise ExpressionError(f"{owner.name}.{name} is not allowed or not there") from None
        if isinstance(owner, dict) and name in owner:  # what load_yaml returns is read by dots too
            return owner[name]
        methods = _READING_METHODS.get(type(owner), ())
        if name not in methods:
            raise ExpressionError(
                unknown_name(f"in {type(owner).__name__}, attribute", name, methods)
            )
        return Function(name, self._method(owner, name))

    def _method(self, owner, name: str) -> Callable[..., Any]:
        def call(*arguments):
            if name == "replace" and len(arguments) > 1:
                old, new = arguments[:2]
                check_length(len(owner) + owner.count(old) * len(new))
            if name == "join":
                parts = list(arguments[0])
                check_length(sum(map(len, parts)) + len(owner) * len(parts))
                arguments = (parts,)
            self._budget.spend(len(owner) // 16)
            value = getattr(owner, name)(*arguments)
            return list(value) if name in ("keys", "values", "items") else value

        return call

    def _call(self, node: ast.Call):
        function = self.value(node.func)
        if not isinstance(function, Function):
            raise ExpressionError(f"a value of type {type(function).__name__} cannot be called")
        if any(isinstance(a, ast.Starred) for a in node.args) or any(
            k.arg is None for k in node.keywords
        ):
            raise ExpressionError("* and ** are not allowed in an expression")
        arguments = [self.value(argument) for argument in node.args]
        return function.call(*arguments, **{str(k.arg): self.value(k.value) for k in node.keywords})

    def _comprehension(self, node):
        found: list[Any] = []

        def visit(generators: list[ast.comprehension]) -> None:
            if not generators:
                found.append(
                    (self.value(node.key), self.value(node.value))
                    if isinstance(node, ast.DictComp)
                    else self.value(node.elt)
                )
                return
            first, *others = generators
            for item in list(self.value(first.iter)):
                self._budget.spend()
                self._bind(first.target, item)
                if all(self.value(test) for test in first.ifs):
                    visit(others)

        self._local.append({})
        try:
            visit(node.generators)
        finally:
            self._local.pop()
        if isinstance(node, (ast.DictComp, ast.SetComp)):
            check_keys(found)
            return dict(found) if isinstance(node, ast.DictComp) else set(found)
        return found

    def _bind(self, target: ast.AST, value: Any) -> None:
        if isinstance(target, ast.Name):
            self._local[-1][target.id] = value
            return
        if not isinstance(target, (ast.Tuple, ast.List)) or len(target.elts) != len(value):
            raise ExpressionError("the names of a comprehension do not fit its values")
        for part, item in zip(target.elts, value):
            self._bind(part, item)


_HANDLERS: dict[type, Callable[[Evaluator, Any], Any]] = {
    ast.Constant: Evaluator._constant,
    ast.Name: Evaluator._name,
    ast.BinOp: Evaluator._binary,
    ast.UnaryOp: Evaluator._unary,
    ast.BoolOp: Evaluator._boolean,
    ast.Compare: Evaluator._comparison,
    ast.IfExp: Evaluator._condition,
    ast.List: Evaluator._list,
    ast.Tuple: Evaluator._tuple,
    ast.Set: Evaluator._set,
    ast.Dict: Evaluator._dict,
    ast.Slice: Evaluator._slice,
    ast.Subscript: Evaluator._subscript,
    ast.Attribute: Evaluator._attribute,
    ast.Call: Evaluator._call,
    ast.ListComp: Evaluator._comprehension,
    ast.SetComp: Evaluator._comprehension,
    ast.GeneratorExp: Evaluator._comprehension,
    ast.DictComp: Evaluator._comprehension,
}


@lru_cache(maxsize=4096)
def _parsed(expression: str) -> ast.Expression:
    return ast.parse(expression, mode="eval")
