# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Parse VRML97 to a tree of nodes, without scripts, routes and prototypes.

PROTO declarations define default values of fields. The bodies of PROTO declarations are skipped,
because the reader knows the node types of robots (Joint, Segment, ...) by name.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from hrpsim.common import limits
from hrpsim.common.errors import ModelError, shown_value
from hrpsim.model.readers.openhrp.assembly import axis_angle

_PASSED = re.compile(r"(?:[\s,]+|#[^\r\n]*)*")  # on its own: it never fails, so never goes back
_TOKEN = re.compile(
    r"""(?:(?P<string>"(?:[^"\\]|\\.)*")
    |(?P<number>[+-]?(?:0[xX][0-9a-fA-F]+|(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?|(?i:nan|inf))(?![\w.]))
    |(?P<mark>[][{}])
    |(?P<word>[^\s,\[\]{}"\#]+))""",
    re.VERBOSE | re.DOTALL,
)
_NUMBERS = re.compile(r"\[((?:[\s,\d.eE+-]|\#[^\r\n\]]*[\r\n])*)\]")
_COMMENT = re.compile(r"#[^\r\n]*")
_LARGE = 1e30
_CONSTANTS = {"TRUE": True, "FALSE": False, "NULL": None}
_INTERFACE = ("field", "exposedField", "eventIn", "eventOut")


@dataclass
class Node:
    """A node with its type, its DEF name, and its fields."""

    type: str
    name: str = ""
    fields: dict[str, Any] = field(default_factory=dict)
    line: int = 0

    def nodes(self, *names: str) -> list[Node]:
        """Return the nodes in the fields with the given names."""
        result = []
        for name in names:
            value = self.fields.get(name)
            items = value if isinstance(value, list) else [value]
            result += [item for item in items if isinstance(item, Node)]
        return result


class Vrml:
    """A parsed file: its top-level nodes, and errors that name file, line and node.

    repeated: lines at which a field is repeated in its node, by type of the node and field.
    """

    def __init__(self, text: str, path: Path) -> None:
        self.path = path
        self._text, self._at, self._count = text, 0, 0
        self._named: dict[str, Node] = {}
        self._defaults: dict[str, dict[str, Any]] = {}
        self.repeated: dict[tuple[str, str], list[str]] = {}
        if text.startswith("#VRML V1"):
            raise ModelError(f"{path}:1: VRML 1.0 is not supported. Save as VRML 2.0 (VRML97)")
        self.nodes: list[Node] = []
        while (token := self._next()) is not None:
            kind, word = token
            if kind != "word":
                self._fail(f"{word!r} where a node should begin")
            if not self._is_statement(word):
                self.nodes.append(self._node(word, 0))

    def numbers(self, node: Node, name: str, count: int | None = None) -> np.ndarray | None:
        """Return the numbers (`count` if given) of a field, or None if the field is missing."""
        value = node.fields.get(name)
        if value is None or (isinstance(value, (list, np.ndarray)) and len(value) == 0):
            return None
        try:
            numbers = np.array(value, dtype=np.float64).reshape(-1)
        except (TypeError, ValueError):
            self.fail(node, f"{name}: must be numbers")
        if count is not None and len(numbers) != count:
            self.fail(node, f"{name}: must be {count} numbers, got {len(numbers)}")
        if not (np.abs(numbers) <= _LARGE).all():
            self.fail(node, f"{name}: every number must be finite and at most {_LARGE:g}")
        return numbers

    def rotation(self, node: Node, name: str) -> np.ndarray:
        """Return a rotation (3, 3) from axis and angle [rad]. The default is the identity."""
        numbers = self.numbers(node, name, 4)
        if numbers is None:
            return np.eye(3)
        if numbers[3] and not numbers[:3].any():
            self.fail(node, f"{name}: the axis of a rotation by {numbers[3]:g} must not be zero")
        return axis_angle(numbers)

    def number(self, node: Node, name: str, default: float) -> float:
        """Return one number of a field."""
        numbers = self.numbers(node, name)
        return default if numbers is None else float(numbers[0])

    def text(self, node: Node, name: str, default: str = "") -> str:
        """Return the text of a field."""
        value = node.fields.get(name, default)
        value = value[0] if isinstance(value, list) and value else value
        if not isinstance(value, str):
            self.fail(node, f"{name}: must be a text")
        return value

    def fail(self, node: Node, cause: str) -> NoReturn:
        """Raise the ModelError that names file, line, node and cause."""
        name = f" {shown_value(node.name)}" if node.name else ""
        raise ModelError(f"{self.path}:{node.line}: {node.type}{name}: {cause}")

    def _fail(self, cause: str) -> NoReturn:
        raise ModelError(f"{self.path}:{self._line()}: VRML syntax error: {cause}")

    def _line(self) -> int:
        return self._text.count("\n", 0, self._at) + 1

    def _next(self) -> tuple[str, str] | None:
        """Return kind and text of the next token, or None at the end."""
        passed = _PASSED.match(self._text, self._at)
        assert passed is not None
        match = _TOKEN.match(self._text, passed.end())
        if match is None:
            remainder = self._text[passed.end() : passed.end() + 20].strip("\ufeff")
            if remainder:
                self._fail(f"{shown_value(remainder)} is not a token")
            return None
        self._at = match.end()
        self._count += 1
        if self._count > limits.VRML_TOKENS:
            raise ModelError(f"{self.path}: {limits.excess('VRML_TOKENS', 'words')}")
        kind = str(match.lastgroup)
        return kind, match[kind]

    def _expect(self, wanted: str | None = None) -> tuple[str, str]:
        """Return the next token. The token must exist, and equal `wanted` if given."""
        token = self._next()
        if token is None:
            self._fail("the file ends within a node" if wanted is None else f"no {wanted!r}")
        if wanted is not None and token[1] != wanted:
            self._fail(f"must be {wanted!r}, got {shown_value(token[1])}")
        return token

    def _is_statement(self, word: str) -> bool:
        """Skip a ROUTE or prototype. Return whether the word begins such a statement."""
        if word == "ROUTE":
            for _ in range(3):
                self._expect()
        elif word in ("PROTO", "EXTERNPROTO"):
            self._prototype(word)
        else:
            return False
        return True

    def _prototype(self, word: str) -> None:
        name = self._expect()[1]
        self._expect("[")
        defaults: dict[str, Any] = {}
        while (token := self._expect())[1] != "]":
            if token[1] not in _INTERFACE:
                self._fail(f"{shown_value(token[1])} in the interface of {word} {name}")
            self._expect()
            of = self._expect()[1]
            if word == "PROTO" and token[1] in ("field", "exposedField"):
                defaults[of] = self._value(0)
        self._defaults[name] = defaults
        if word == "EXTERNPROTO":
            self._value(0)
            return
        self._expect("{")
        self._skip_braces()

    def _skip_braces(self) -> None:
        depth = 1
        while depth:
            mark = self._expect()
            depth += (mark == ("mark", "{")) - (mark == ("mark", "}"))

    def _node(self, word: str, depth: int) -> Node:
        """Return the node that begins with a word."""
        if depth > limits.VRML_DEPTH:
            self._fail(limits.excess("VRML_DEPTH", "nested nodes"))
        if word == "USE":
            return self._used()
        word, name = self._defined() if word == "DEF" else (word, "")
        node = Node(word, name, dict(self._defaults.get(word, ())), self._line())
        if (token := self._expect()) != ("mark", "{"):
            following = shown_value(token[1])
            self._fail(
                f"{shown_value(word)} is neither a value nor a node with '{{': {following} follows"
            )
        if word == "Script":
            self._skip_braces()
            return node
        if name:
            self._named[name] = node
        self._read_fields(node, depth)
        return node

    def _read_fields(self, node: Node, depth: int) -> None:
        """Read the fields of a node up to the closing brace."""
        word, name = node.type, node.name
        seen: set[str] = set()
        while (token := self._expect())[1] != "}":
            of = token[1]
            if token[0] != "word":
                self._fail(f"{shown_value(of)} where a field of {word} should begin")
            if self._is_statement(of):
                continue
            if of in seen:
                where = f"{word} {shown_value(name)}" if name else word
                first = f"{of} of {where}, line {self._line()}"
                self.repeated.setdefault((word, of), []).append(first)
            seen.add(of)
            node.fields[of] = self._value(depth)

    def _used(self) -> Node:
        """Return the node that USE names."""
        name = self._expect()[1]
        if name not in self._named:
            self._fail(f"USE {shown_value(name)}: no node above has this name")
        return self._named[name]

    def _defined(self) -> tuple[str, str]:
        """Return type and name after DEF. The name may be absent."""
        name = self._expect()[1]
        before = self._at, self._count
        word = self._expect()[1]
        if word == "{":
            self._at, self._count = before
            return name, ""
        return word, name

    def _value(self, depth: int) -> Any:
        """Return the value of a field: an array of numbers, a text, a node, or a list."""
        if (match := self._number_list()) is not None:
            return match
        kind, word = self._expect()
        if kind == "mark" and word == "[":
            items = []
            while (token := self._expect())[1] != "]":
                items.append(self._item(token, depth))
            return items
        if kind != "number":
            return self._item((kind, word), depth)
        numbers = [_as_number(word)]
        while True:  # numbers without brackets: as many as follow
            at, count = self._at, self._count
            following = self._next()
            if following is None or following[0] != "number":
                self._at, self._count = at, count
                return np.array(numbers)
            numbers.append(_as_number(following[1]))

    def _item(self, token: tuple[str, str], depth: int) -> Any:
        kind, word = token
        if kind == "number":
            return _as_number(word)
        if kind == "string":
            return re.sub(r"\\(.)", r"\1", word[1:-1])
        if kind == "mark":
            self._fail(f"{word!r} where a value should be")
        return _CONSTANTS[word] if word in _CONSTANTS else self._node(word, depth + 1)

    def _number_list(self) -> np.ndarray | None:
        """Return the next bracketed list of numbers. Return None if it has other contents."""
        start = self._at
        while start < len(self._text) and self._text[start] in " \t\r\n,":
            start += 1
        match = _NUMBERS.match(self._text, start)
        if match is None:
            return None
        words = _COMMENT.sub("", match[1]).replace(",", " ").split()
        if len(words) > limits.MESH_ELEMENTS:
            self._fail(f"a list has {limits.excess('MESH_ELEMENTS', 'numbers')}")
        try:
            result = np.array(words, dtype=np.float64)
        except ValueError:
            self._fail("a list has an entry that is not a number")
        self._at = match.end()
        return result


def _as_number(word: str) -> float:
    return float(int(word, 16)) if "x" in word.lower() else float(word)
