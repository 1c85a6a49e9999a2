# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""YAML as data with positions in the text: plain values only, limited before expansion.

Values are mappings, lists, text, numbers, true, false and null. A date is text. Besides YAML 1.1,
1e-3 is a number, as in YAML 1.2. Tags of other kinds are refused. Sizes, depth,
and expanded aliases are bounded by hrpsim.common.limits, and a key that is given twice is an error.
"""

import re
from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import yaml
from yaml.composer import Composer, ComposerError
from yaml.constructor import ConstructorError, SafeConstructor

from hrpsim.common import limits
from hrpsim.common.errors import HrpsimError
from hrpsim.common.foreign.text import read_text

_TAG = "tag:yaml.org,2002:"
_NUMBERS = (_TAG + "int", _TAG + "float")
_FLOAT = re.compile(r"[-+]?([0-9]+([.][0-9]*)?|[.][0-9]+)[eE][-+]?[0-9]+\Z")
_OTHER_BASE = re.compile(r"[-+]?([0-9_]+:|0[0-9_]+\Z)")
_XML = re.compile(r"\s*<[?!a-zA-Z]")
_TOO_DEEP = limits.excess("YAML_DEPTH", "nested levels")
_NUMBER_LENGTH = 400  # characters; the longest finite double has 309 digits before the point

if yaml.__with_libyaml__:

    class _Base(Composer, yaml.CSafeLoader):
        """Composes the events of libyaml to nodes, in Python."""

        __init__ = yaml.CSafeLoader.__init__

else:
    _Base = yaml.SafeLoader  # type: ignore[misc]


class YamlText(NamedTuple):
    """The data of a YAML text, with the line and the column of each entry."""

    label: str
    data: Any
    root: yaml.Node | None
    anchors: Mapping[str, yaml.Node]
    repeats: tuple[str, ...] = ()  # "line 7: mass", keys repeated in a mapping

    def location(self, path: Sequence[str | int]) -> str:
        """Return "label:line:column" of the entry at a path of keys and indices.

        The position is the key's, not the value's. If the path does not exist, the position belongs
        to the nearest existing entry above.
        """
        mark = self._mark(path)
        return self.label if mark is None else f"{self.label}:{mark.line + 1}:{mark.column + 1}"

    def line(self, path: Sequence[str | int]) -> int:
        """Return the line of the entry at a path, as `location` does. Return 0 in an empty text."""
        mark = self._mark(path)
        return 0 if mark is None else mark.line + 1

    def _mark(self, path: Sequence[str | int]) -> yaml.Mark | None:
        node, mark = self.root, None if self.root is None else self.root.start_mark
        for step in path:
            if isinstance(node, yaml.MappingNode):
                pair = next((p for p in reversed(node.value) if _key(p[0]) == step), None)
                if pair is None:
                    break
                mark, node = pair[0].start_mark, pair[1]
            elif isinstance(node, yaml.SequenceNode) and isinstance(step, int):
                if not 0 <= step < len(node.value):
                    break
                node = node.value[step]
                mark = node.start_mark
            else:
                break
        return mark


def read_yaml(path: Path, error: type[HrpsimError], what: str = "file") -> YamlText:
    """Read a YAML file. Raise `error` with file, line and column for any mistake."""
    return parse_yaml(read_text(path, error, "YAML_SIZE", what), str(path), error)


def _problem_of(cause: yaml.MarkedYAMLError) -> str:
    """Return location and text of an error of PyYAML as ":line:column: problem"."""
    mark = cause.problem_mark or cause.context_mark
    at = f":{mark.line + 1}:{mark.column + 1}" if mark else ""
    problem = f"not YAML: {cause.problem or cause.context}"
    if isinstance(cause, (ComposerError, ConstructorError)):
        problem = ", ".join(filter(None, (cause.context, cause.problem)))
    elif "nesting depth" in problem:  # newer libyaml has a limit, too
        problem = _TOO_DEEP
    return f"{at}: {problem}"


def parse_yaml(
    text: str,
    label: str,
    error: type[HrpsimError],
    repeated: bool = False,
    anchors_of: YamlText | None = None,
) -> YamlText:
    """Return the data of a YAML text.

    repeated: whether a key may be given twice. The last value then counts, and `repeats` lists all.
    anchors_of: a text whose anchors are also valid in this text.
    """
    if len(text) > limits.YAML_SIZE:
        raise error(f"{label}: {limits.excess('YAML_SIZE', 'characters')}")
    if _XML.match(text):
        raise error(
            f"{label}: is XML, such as the description of a robot. A YAML file is needed here. "
            "`load_model` reads a description. A world file names one (robots: [{urdf: FILE}])"
        )
    try:
        loader = _Loader(text, repeated, {} if anchors_of is None else anchors_of.anchors)
        root = loader.get_single_node()
        data = None if root is None else loader.construct_object(root, deep=True)
    except yaml.MarkedYAMLError as cause:
        raise error(f"{label}{_problem_of(cause)}") from None
    except yaml.YAMLError as cause:  # characters that YAML does not allow
        raise error(f"{label}: not YAML: {' '.join(str(cause).split())}") from None
    return YamlText(label, data, root, loader.named, tuple(loader.repeats))


def _key(node: yaml.Node) -> Any:
    return node.value if isinstance(node, yaml.ScalarNode) else None


class _Loader(_Base):
    """PyYAML's composer and constructor of plain values, within hrpsim.common.limits."""

    def __init__(self, text: str, repeated: bool, anchors: Mapping[str, yaml.Node]) -> None:
        super().__init__(text)
        self.anchors = dict(anchors)  # PyYAML empties it at the end of a document
        self.named = dict(anchors)
        self.repeats: list[str] = []
        self._repeated = repeated
        self._depth = self._count = self._aliases = 0

    def compose_node(self, parent, index) -> yaml.Node:
        """Return the next node. `size` is the number of nodes inside, aliases expanded."""
        event = self.peek_event()
        self._depth += 1
        if self._depth > limits.YAML_DEPTH:
            raise _refusal(event, _TOO_DEEP)
        if isinstance(event, yaml.AliasEvent):
            self._aliases += 1
            if self._aliases > limits.YAML_ALIASES:
                raise _refusal(event, limits.excess("YAML_ALIASES", "aliases"))
            if event.anchor in self.anchors and self.anchors[event.anchor].end_mark is None:
                raise _refusal(event, f"the anchor {event.anchor!r} contains itself")
            node = super().compose_node(parent, index)
        else:
            self._count += 1
            if self._count > limits.YAML_NODES:
                raise _refusal(event, limits.excess("YAML_NODES", "values"))
            self.anchors.pop(event.anchor, None)  # a name may be given to another node later
            node = super().compose_node(parent, index)
            node.size = _size(node)
            if node.size > limits.YAML_EXPANDED:
                why = f"aliases expand to {limits.excess('YAML_EXPANDED', 'values')}"
                raise _refusal(node, why)
            if event.anchor is not None:
                self.named[event.anchor] = node
        self._depth -= 1
        return node

    def compose_mapping_node(self, anchor) -> yaml.MappingNode:
        """Return a mapping node. Keys must be single values and must not repeat."""
        node = super().compose_mapping_node(anchor)
        names = set()
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode):
                raise _refusal(key, "a key must be a single value, not a list or a mapping")
            if key.tag == _TAG + "merge":
                continue
            name = self.construct_object(key)
            if name in names:
                if not self._repeated:
                    raise _refusal(key, f"the key {name!r} is given twice. Remove one")
                self.repeats.append(f"line {key.start_mark.line + 1}: {name}")
            names.add(name)
        return node

    def construct_object(self, node, deep=False) -> Any:
        """Return the data of a node."""
        try:
            if node.tag in _NUMBERS:
                if len(node.value) > _NUMBER_LENGTH:
                    raise ValueError
                _refuse_other_bases(node)
            return super().construct_object(node, deep=deep)
        except (ValueError, KeyError, IndexError):
            text, kind = node.value[: limits.SHOWN_LENGTH], node.tag.removeprefix(_TAG)
            raise _refusal(node, f"{text!r} is not a valid {kind}") from None

    def construct_integer(self, node) -> int | str:
        """Return an integer. A value such as 1_ stays a text, unlike in YAML 1.1."""
        return node.value if node.value.endswith("_") else self.construct_yaml_int(node)


_Loader.yaml_constructors = {
    None: SafeConstructor.construct_undefined,
    _TAG + "int": _Loader.construct_integer,
    **{_TAG + kind: SafeConstructor.construct_yaml_str for kind in ("str", "timestamp", "value")},
    **{
        _TAG + kind: SafeConstructor.yaml_constructors[_TAG + kind]
        for kind in ("null", "bool", "float", "seq", "map")
    },
}
_Loader.add_implicit_resolver(_TAG + "float", _FLOAT, list("-+.0123456789"))


def _refuse_other_bases(node: yaml.ScalarNode) -> None:
    """Refuse the numbers 1:30 and 010, which are 90 and 8 in YAML 1.1."""
    if _OTHER_BASE.match(node.value):
        raise _refusal(
            node,
            f"{node.value!r} is a number to base 60 or 8 in YAML 1.1. Write a decimal number, or "
            "put a text in quotes",
        )


def _size(node: yaml.Node) -> int:
    if isinstance(node, yaml.ScalarNode):
        return 1
    is_mapping = isinstance(node, yaml.MappingNode)
    children = chain.from_iterable(node.value) if is_mapping else node.value
    return 1 + sum(child.size for child in children)


def _refusal(at: yaml.Node | yaml.Event, why: str) -> ConstructorError:
    return ConstructorError(None, None, why, at.start_mark)
