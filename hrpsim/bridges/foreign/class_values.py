# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Read attributes of classes from the syntax tree of a Python file, without running the file.

A readable attribute is a number, a text, a truth value, None, or a list or dictionary of readable
values. Sums, differences, products and quotients of numbers are readable too. Base classes are
searched in the same file, in other files, and in source texts passed as `outside`.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hrpsim.common.foreign.text import read_text
from hrpsim.control.framework.controller import ControllerError

_OPERATORS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}
_SIGNS: dict[type[ast.unaryop], Callable[[Any], Any]] = {
    ast.UAdd: operator.pos,
    ast.USub: operator.neg,
}


class _NotRead(Exception):
    """Raised for an expression that is not a literal."""


@dataclass(frozen=True)
class Attribute:
    """The value of an attribute. For an expression that is not a literal, `is_read` is False."""

    value: Any
    where: str  # "file:line"
    is_read: bool = True


@dataclass(frozen=True)
class _Place:
    """A class definition and the name of its file."""

    file: str
    node: ast.ClassDef

    @property
    def where(self) -> str:
        """Return "file:line"."""
        return f"{self.file}:{self.node.lineno}"


# Attributes by dotted names within a class, such as "control.stiffness".
Attributes = dict[str, Attribute]


class PythonClasses:
    """The classes of a Python file.

    Args:
        path: path of the file.
        others: files that are searched for base classes, in this order.
        outside: source text of base classes that no file contains, by class name.

    Raises:
        ControllerError: the file cannot be read, or is not valid Python.
    """

    def __init__(
        self, path: Path, others: Sequence[Path] = (), outside: Mapping[str, str] | None = None
    ) -> None:
        self._path, self._others = path, list(others)
        self._outside = dict(outside or {})
        self._own = _classes_of(str(path), _read(path))
        self._elsewhere: dict[str, _Place] = {}
        self._known: dict[_Place, Attributes | None] = {}  # None: in progress

    @property
    def names(self) -> list[str]:
        """The names of the file's own classes."""
        return list(self._own)

    def attributes(self, name: str) -> Attributes:
        """Return the attributes of a class, including the attributes of all bases.

        Raises:
            ControllerError: a base is not found, or a class is a base of itself.
        """
        return self._of_class(self._top(name, str(self._path)))

    def _of_class(self, place: _Place) -> Attributes:
        if place not in self._known:
            self._known[place] = None
            self._known[place] = self._read_class(place)
        result = self._known[place]
        if result is None:
            raise ControllerError(f"{place.where}: class {place.node.name} is its own base class")
        return result

    def _read_class(self, place: _Place) -> Attributes:
        result: Attributes = {}
        for base in reversed(place.node.bases):
            result |= self._of_base(_dotted(base), place.where)
        for statement in place.node.body:
            if isinstance(statement, ast.ClassDef):
                inner = self._of_class(_Place(place.file, statement))
                prefix = f"{statement.name}."
                result = {k: v for k, v in result.items() if not k.startswith(prefix)}
                result |= {prefix + key: value for key, value in inner.items()}
            else:
                result |= _assigned(place.file, statement)
        return result

    def _of_base(self, names: list[str], where: str) -> Attributes:
        """Return the attributes of a base class, given the parts of its dotted name."""
        if names == ["object"]:
            return {}
        attributes = self._of_class(self._top(names[0], where))
        prefix = "".join(f"{name}." for name in names[1:])
        return {k.removeprefix(prefix): v for k, v in attributes.items() if k.startswith(prefix)}

    def _top(self, name: str, where: str) -> _Place:
        if name in self._own:
            return _Place(str(self._path), self._own[name])
        while name not in self._elsewhere and self._others:
            path = self._others.pop(0)
            for key, node in _classes_of(str(path), _read(path)).items():
                self._elsewhere.setdefault(key, _Place(str(path), node))
        if name in self._elsewhere:
            return self._elsewhere[name]
        if name in self._outside:
            node = _classes_of(name, self._outside[name])[name]
            return self._elsewhere.setdefault(name, _Place(name, node))
        raise ControllerError(
            f"{where}: the base class {name!r} is in no file that was searched. Copy its file "
            "next to this file"
        )


def _read(path: Path) -> str:
    return read_text(path, ControllerError, "YAML_SIZE", "configuration")


def _classes_of(label: str, text: str) -> dict[str, ast.ClassDef]:
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = getattr(error, "lineno", None)
        place = label if line is None else f"{label}:{line}"
        problem = getattr(error, "msg", "") or str(error) or "nested too deep"
        raise ControllerError(f"{place}: not Python: {problem}") from error
    return {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}


def _dotted(node: ast.expr) -> list[str]:
    """Split a dotted name, such as "Base.control", into parts. Other expressions give [""]."""
    if isinstance(node, ast.Name):
        return [node.id]
    if isinstance(node, ast.Attribute):
        return [*_dotted(node.value), node.attr]
    return [""]


def _assigned(file: str, statement: ast.stmt) -> Attributes:
    if isinstance(statement, ast.AnnAssign) and statement.value is not None:
        targets, value = [statement.target], statement.value
    elif isinstance(statement, ast.Assign):
        targets, value = statement.targets, statement.value
    else:
        return {}
    where = f"{file}:{statement.lineno}"
    try:
        attribute = Attribute(_literal(value), where)
    except (_NotRead, ArithmeticError, TypeError, RecursionError):
        attribute = Attribute(None, where, is_read=False)
    return {target.id: attribute for target in targets if isinstance(target, ast.Name)}


def _literal(node: ast.expr) -> Any:
    if isinstance(node, ast.Constant) and isinstance(node.value, str | int | float | None):
        return node.value
    if isinstance(node, ast.UnaryOp) and type(node.op) in _SIGNS:
        return _SIGNS[type(node.op)](_number(node.operand))
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        return _OPERATORS[type(node.op)](_number(node.left), _number(node.right))
    if isinstance(node, ast.List | ast.Tuple):
        return [_literal(elt) for elt in node.elts]
    if isinstance(node, ast.Dict) and None not in node.keys:
        return {_literal(k): _literal(v) for k, v in zip(node.keys, node.values) if k is not None}
    raise _NotRead


def _number(node: ast.expr) -> int | float:
    value = _literal(node)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _NotRead
    return value
