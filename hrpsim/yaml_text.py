# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""YAML as data and as places: plain values only, limited before anything is expanded.

Values are mappings, lists, text, numbers, true, false and null; a date is text. Besides YAML 1.1,
1e-3 is a number, as in YAML 1.2. Tags other than those of these kinds are refused. Sizes, depth,
and what aliases expand to are bounded by hrpsim.limits, and a key that is given twice is an error.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from hrpsim import limits
from hrpsim.errors import HrpsimError
from hrpsim.text_file import read_text

_Parser = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_TAG = "tag:yaml.org,2002:"
_FLOAT = re.compile(r"[-+]?([0-9]+[.]?[0-9]*|[.][0-9]+)[eE][-+]?[0-9]+")
_TOO_DEEP = f"nested more than {limits.YAML_DEPTH} deep (YAML_DEPTH)"
_NUMBER_LENGTH = 400  # characters; the longest finite double has 309 digits before the point
_scalars = yaml.constructor.SafeConstructor()
_resolver = yaml.resolver.Resolver()


class YamlText(NamedTuple):
    """What a text holds, and where in it."""

    label: str
    data: Any
    root: yaml.Node | None
    anchors: Mapping[str, tuple[yaml.Node, int]]  # with the values that each stands for
    repeats: tuple[str, ...] = ()  # "line 7: mass", keys that are given again in a mapping

    def place(self, path: Sequence[str | int]) -> str:
        """Return "label:line:column" of the entry at a path of keys and indices.

        A key's place is its own, not its value's. Where there is nothing at the path, the place is
        that of the nearest entry above.
        """
        node, mark = self.root, None if self.root is None else self.root.start_mark
        for step in path:
            if isinstance(node, yaml.MappingNode):
                pair = next((p for p in node.value if _key(p[0]) == step), None)
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
        return self.label if mark is None else f"{self.label}:{mark.line + 1}:{mark.column + 1}"


def read_yaml(path: Path, error: type[HrpsimError], what: str = "file") -> YamlText:
    """Return what a YAML file holds; `error` with file, line and column for whatever is wrong."""
    return parse_yaml(read_text(path, error, limits.YAML_SIZE, "YAML_SIZE", what), str(path), error)


def parse_yaml(
    text: str,
    label: str,
    error: type[HrpsimError],
    repeated: bool = False,
    beside: YamlText | None = None,
) -> YamlText:
    """Return what a YAML text holds.

    repeated: whether a key may be given twice; the last counts then, and `repeats` has them.
    beside: a text whose anchors hold in this one, too.
    """
    if len(text) > limits.YAML_SIZE:
        raise error(f"{label}: over {limits.YAML_SIZE} characters (YAML_SIZE)")
    reader = _Reader(label, error, repeated)
    for name, (node, size) in beside.anchors.items() if beside is not None else ():
        reader.anchors[name], reader.sizes[id(node)] = node, size
    loader = None
    try:
        loader = _Parser(text)
        root = reader.document(loader)
    except yaml.MarkedYAMLError as cause:
        mark = cause.problem_mark or cause.context_mark
        at = f":{mark.line + 1}:{mark.column + 1}" if mark else ""
        problem = f"not YAML: {cause.problem or cause.context}"
        if cause.problem and "nesting depth" in cause.problem:  # newer libyaml has a limit, too
            problem = _TOO_DEEP
        raise error(f"{label}{at}: {problem}") from None
    except yaml.YAMLError as cause:  # characters that YAML does not allow
        raise error(f"{label}: not YAML: {' '.join(str(cause).split())}") from None
    finally:
        if loader is not None:
            loader.dispose()
    data = None if root is None else reader.value(root)
    anchors = {
        name: (node, reader.sizes.get(id(node), 1))
        for name, node in reader.anchors.items()
        if node is not None
    }
    return YamlText(label, data, root, anchors, tuple(reader.repeats))


def _key(node: yaml.Node) -> Any:
    return node.value if isinstance(node, yaml.ScalarNode) else None


class _Reader:
    """Makes nodes of events, and data of nodes."""

    def __init__(self, label: str, error: type[HrpsimError], repeated: bool):
        self.label, self.error, self.repeated = label, error, repeated
        self.count = self.aliases = 0
        self.anchors: dict[str, yaml.Node | None] = {}
        self.sizes: dict[int, int] = {}  # nodes that a collection stands for, aliases expanded
        self.made: dict[int, Any] = {}
        self.repeats: list[str] = []

    def fail(self, mark, why: str) -> HrpsimError:
        """Return the error at a mark."""
        return self.error(f"{self.label}:{mark.line + 1}:{mark.column + 1}: {why}")

    def document(self, loader) -> yaml.Node | None:
        """Return the root of the one document of a text, None if the text is empty."""
        root, documents = None, 0
        while True:
            event = loader.get_event()
            if event is None or isinstance(event, yaml.StreamEndEvent):
                return root
            if isinstance(event, yaml.DocumentStartEvent):
                documents += 1
                if documents > 1:
                    raise self.fail(event.start_mark, "a second document; one is allowed")
            elif not isinstance(event, (yaml.StreamStartEvent, yaml.DocumentEndEvent)):
                root = self.node(loader, event, 1)

    def node(self, loader, event, depth: int) -> yaml.Node:
        """Return the node that begins with an event, all of it read."""
        if depth > limits.YAML_DEPTH:
            raise self.fail(event.start_mark, _TOO_DEEP)
        if isinstance(event, yaml.AliasEvent):
            return self.alias(event)
        self.count += 1
        if self.count > limits.YAML_NODES:
            raise self.fail(event.start_mark, f"more than {limits.YAML_NODES} values (YAML_NODES)")
        if event.anchor is not None:
            self.anchors[event.anchor] = None
        if isinstance(event, yaml.ScalarEvent):
            tag = event.tag
            if tag is None or tag == "!":
                tag = _resolver.resolve(yaml.ScalarNode, event.value, event.implicit)
            node = yaml.ScalarNode(tag, event.value, event.start_mark, event.end_mark, event.style)
        else:
            node = self.collection(loader, event, depth)
        if event.anchor is not None:
            self.anchors[event.anchor] = node
        return node

    def collection(self, loader, event, depth: int) -> yaml.Node:
        """Return a mapping or list, read to its end."""
        is_mapping = isinstance(event, yaml.MappingStartEvent)
        children: list[Any] = []
        size = 1
        while True:
            following = loader.get_event()
            if isinstance(following, (yaml.MappingEndEvent, yaml.SequenceEndEvent)):
                break
            child = self.node(loader, following, depth + 1)
            children.append(child)
            size += self.sizes.get(id(child), 1)
            if size > limits.YAML_EXPANDED:
                raise self.fail(
                    following.start_mark,
                    f"aliases make more than {limits.YAML_EXPANDED} values (YAML_EXPANDED)",
                )
        if is_mapping:
            pairs = list(zip(children[::2], children[1::2]))
            node = yaml.MappingNode(event.tag, pairs, event.start_mark, following.end_mark)
        else:
            node = yaml.SequenceNode(event.tag, children, event.start_mark, following.end_mark)
        self.sizes[id(node)] = size
        return node

    def alias(self, event) -> yaml.Node:
        """Return the node that an alias stands for."""
        self.aliases += 1
        if self.aliases > limits.YAML_ALIASES:
            raise self.fail(
                event.start_mark, f"more than {limits.YAML_ALIASES} aliases (YAML_ALIASES)"
            )
        if event.anchor not in self.anchors:
            raise self.fail(event.start_mark, f"no anchor is called {event.anchor!r}")
        node = self.anchors[event.anchor]
        if node is None:
            raise self.fail(event.start_mark, f"the anchor {event.anchor!r} holds itself")
        return node

    def value(self, node: yaml.Node) -> Any:
        """Return the data of a node; that of one that several aliases name is made once."""
        if id(node) not in self.made:
            self.made[id(node)] = self.make(node)
        return self.made[id(node)]

    def make(self, node: yaml.Node) -> Any:
        """Return the data of a node."""
        if isinstance(node, yaml.ScalarNode):
            return self.scalar(node)
        kind = "map" if isinstance(node, yaml.MappingNode) else "seq"
        if node.tag not in (None, "!", _TAG + kind):
            raise self.fail(node.start_mark, f"tag {node.tag!r} is not known here")
        if kind == "seq":
            return [self.value(child) for child in node.value]
        data: dict[Any, Any] = {}
        merged: dict[Any, Any] = {}
        for key, child in node.value:
            if isinstance(key, yaml.ScalarNode) and key.tag == _TAG + "merge":
                for more in reversed(self.mappings(child)):
                    merged.update(more)
                continue
            name = self.value(key)
            if isinstance(name, (dict, list)):
                raise self.fail(key.start_mark, "a key must be one value")
            if name in data:
                if not self.repeated:
                    raise self.fail(key.start_mark, f"the key {name!r} is given twice")
                self.repeats.append(f"line {key.start_mark.line + 1}: {name}")
            data[name] = self.value(child)
        return {**merged, **data}

    def mappings(self, node: yaml.Node) -> list[dict]:
        """Return what << merges."""
        value = self.value(node)
        values = value if isinstance(value, list) else [value]
        if not all(isinstance(each, dict) for each in values):
            raise self.fail(node.start_mark, "<< merges mappings")
        return values

    def scalar(self, node: yaml.ScalarNode) -> Any:
        """Return the value of a scalar."""
        text, tag = node.value, node.tag
        kind = tag.removeprefix(_TAG)
        if kind == "int" and text.endswith("_"):  # a prefix of names, not YAML 1.1's 1_000
            return text
        if kind in ("str", "timestamp", "value"):
            plain = kind == "str" and not node.style
            return float(text) if plain and _FLOAT.fullmatch(text[:_NUMBER_LENGTH]) else text
        if kind not in ("int", "float", "bool", "null"):
            raise self.fail(node.start_mark, f"tag {tag!r} is not known here")
        try:
            if len(text) > _NUMBER_LENGTH:
                raise ValueError
            return getattr(_scalars, f"construct_yaml_{kind}")(node)
        except (ValueError, KeyError, IndexError):
            raise self.fail(
                node.start_mark, f"{text[: limits.SHOWN_LENGTH]!r} is no {kind}"
            ) from None
