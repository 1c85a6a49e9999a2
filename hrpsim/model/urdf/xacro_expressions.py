"""Evaluates the expressions of xacro without Python's `eval`.

An expression is parsed by `ast` and walked. Only what is listed here is computed: numbers, text,
lists and mappings, arithmetic, comparisons, conditions, comprehensions, the functions below and
those methods of text, lists and mappings that read. Lambdas, assignments, f-strings and every
attribute that is not listed are refused. Each operation is paid for out of a `Budget`, and no value
grows beyond hrpsim.limits, so that every expression ends soon.
"""

from __future__ import annotations

import ast
import math
import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from hrpsim import limits
from hrpsim.errors import unknown_name

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

    def __init__(self, work: int = limits.XACRO_WORK):
        self.left = work

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
                _check_length(len(item))
                self.spend(len(item) // 64)
            elif isinstance(item, int):
                _check_bits(item.bit_length())
            elif isinstance(item, dict):
                _check_keys(item)
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
        _check_length(len(text))
        self.spend(len(text) // 16)
        return text


def _check_length(length: int) -> None:
    if length > limits.XACRO_TEXT:
        raise ExpressionError(
            f"text of {length} characters, and {limits.XACRO_TEXT} are the limit (XACRO_TEXT)"
        )


def _check_bits(bits: float) -> None:
    if bits > limits.XACRO_INTEGER_BITS:
        raise ExpressionError(
            f"an integer of more than {limits.XACRO_INTEGER_BITS} bits (XACRO_INTEGER_BITS)"
        )


def _check_keys(values) -> None:
    if len(values) > limits.XACRO_KEYS:
        raise ExpressionError(
            f"a mapping or set of {len(values)}, and {limits.XACRO_KEYS} are the limit (XACRO_KEYS)"
        )


def _add(a, b):
    if isinstance(a, (str, list, tuple)) and isinstance(b, (str, list, tuple)):
        _check_length(len(a) + len(b))
    return a + b


def _multiply(a, b):
    for many, times in ((a, b), (b, a)):
        if isinstance(many, (str, list, tuple)) and isinstance(times, int):
            _check_length(len(many) * max(times, 0))
    return a * b


def _power(a, b, modulus=None):
    if modulus is not None:
        raise ExpressionError("pow takes two numbers")
    if isinstance(a, int) and isinstance(b, int):
        _check_bits(a.bit_length() * abs(b))
    return a**b


def _shift_left(a, b):
    if isinstance(b, int) and b > 0:
        _check_bits(b)
    return a << b


_PLAIN_FORMAT = re.compile(r"[^%]*(?:%[-+ 0#]*\d{0,3}(?:\.\d{1,3})?[sdifeEgGrxX%][^%]*)*")


def _modulo(a, b):
    if isinstance(a, str) and not _PLAIN_FORMAT.fullmatch(a):
        raise ExpressionError("this % format is not allowed")
    return a % b


_BINARY = {
    ast.Add: _add,
    ast.Sub: operator.sub,
    ast.Mult: _multiply,
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
_UNARY = {
    ast.UAdd: operator.pos,
    ast.USub: operator.neg,
    ast.Not: operator.not_,
    ast.Invert: operator.invert,
}
_COMPARE = {
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
_READING_METHODS = {
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
        if type(node.op) not in _BINARY:
            raise ExpressionError(f"{type(node.op).__name__} is not allowed in an expression")
        return _BINARY[type(node.op)](self.value(node.left), self.value(node.right))

    def _unary(self, node: ast.UnaryOp):
        return _UNARY[type(node.op)](self.value(node.operand))

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
            if not _COMPARE[type(op)](left, right):
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
        if None in node.keys:
            raise ExpressionError("** is not allowed in an expression")
        return {self.value(k): self.value(v) for k, v in zip(node.keys, node.values)}

    def _slice(self, node: ast.Slice):
        raise ExpressionError("a slice stands within []")

    def _subscript(self, node: ast.Subscript):
        owner = self.value(node.value)
        if not isinstance(owner, (str, *CONTAINERS)):
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
                _check_length(len(owner) + owner.count(old) * len(new))
            if name == "join":
                parts = list(arguments[0])
                _check_length(sum(map(len, parts)) + len(owner) * len(parts))
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
        return function.call(*arguments, **{k.arg: self.value(k.value) for k in node.keywords})

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
            _check_keys(found)
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
        start = _multiply(start, value)
        if isinstance(start, int):
            _check_bits(start.bit_length())
    return start


def _round(value, digits=None):
    if digits is not None and not -300 <= digits <= 300:
        raise ExpressionError(f"round to {digits} digits: 300 are the limit")
    return round(value, digits)


def _keyed(kind: type) -> Callable[..., Any]:
    """Return what makes a set or dict of values that are not too many."""

    def call(values=(), **named):
        values = dict(values) if kind is dict else list(values)
        _check_keys(values)
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


@lru_cache(maxsize=4096)
def _parsed(expression: str) -> ast.Expression:
    return ast.parse(expression, mode="eval")


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
