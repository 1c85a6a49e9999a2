# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Find positions of values in XML and YAML text, for edits that change only these values."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple
from xml.sax.saxutils import quoteattr

import yaml

_TOKEN = re.compile(
    r"<!--.*?-->|<!\[CDATA\[.*?\]\]>|<\?.*?\?>|<!\w[^>]*>"
    r"|<(?P<end>/)?(?P<tag>[\w:.-]+)(?P<attributes>(?:\s+[\w:.-]+\s*=\s*(?:\"[^\"]*\"|'[^']*'))*)"
    r"\s*(?P<empty>/)?>",
    re.DOTALL,
)
_ATTRIBUTE = re.compile(r"([\w:.-]+)\s*=\s*(\"[^\"]*\"|'[^']*')", re.DOTALL)


class Edit(NamedTuple):
    """An edit that replaces the characters from `begin` to `end` by a text."""

    begin: int
    end: int
    text: str


class StartTag(NamedTuple):
    """A start tag in an XML text. above: the enclosing elements, outermost first."""

    tag: str
    above: tuple[StartTag, ...]
    begin: int
    end: int  # index after the tag
    name_end: int  # index after the name of the tag
    empty: bool
    attributes: dict[str, tuple[str, int, int]]  # value and its position without the quotes

    def get(self, name: str) -> str | None:
        """Return an attribute, or None if the attribute is missing."""
        return self.attributes[name][0] if name in self.attributes else None

    def set(self, name: str, value: str) -> Edit:
        """Return the edit that sets an attribute. A new attribute is inserted before the others."""
        if name in self.attributes:
            _, begin, end = self.attributes[name]
            return Edit(begin, end, value)
        return Edit(self.name_end, self.name_end, f" {name}={quoteattr(value)}")

    def add(self, text: str, child: str) -> Edit:
        """Return the edit that inserts a child as the first child of this element.

        An empty element (<a/>) becomes <a>child</a>.

        Args:
            text: the XML text in which this tag was found.
            child: XML text of the new child.
        """
        if not self.empty:
            return Edit(self.end, self.end, child)
        slash = text.rindex("/", self.begin, self.end)
        return Edit(slash, self.end, f">{child}</{self.tag}>")


def elements(text: str) -> Iterator[StartTag]:
    """Yield the elements of an XML text in order. Comments and CDATA are skipped."""
    above: list[StartTag] = []
    for token in _TOKEN.finditer(text):
        if token["tag"] is None:
            continue
        if token["end"]:
            del above[-1:]
            continue
        first = token.start("attributes")
        attributes = {
            m[1]: (m[2][1:-1], first + m.start(2) + 1, first + m.end(2) - 1)
            for m in _ATTRIBUTE.finditer(token["attributes"])
        }
        element = StartTag(
            token["tag"],
            tuple(above),
            token.start(),
            token.end(),
            token.end("tag"),
            bool(token["empty"]),
            attributes,
        )
        yield element
        if not element.empty:
            above.append(element)


def changed(text: str, edits: list[Edit]) -> str:
    """Apply edits to a text. The edits must not overlap.

    Edits at equal positions keep their order.
    """
    parts, at = [], 0
    for edit in sorted(edits, key=lambda one: one.begin):
        parts += [text[at : edit.begin], edit.text]
        at = edit.end
    return "".join([*parts, text[at:]])


def scalar_place(root: yaml.Node | None, keys: tuple[str | int, ...]) -> tuple[int, int] | None:
    """Find a scalar in a YAML text by keys and indices.

    Returns:
        (start, end) positions in the text, or None if the scalar is missing.
    """
    node = root
    for key in keys:
        if isinstance(node, yaml.SequenceNode) and isinstance(key, int) and key < len(node.value):
            node = node.value[key]
        elif isinstance(node, yaml.MappingNode):
            pairs: Mapping[str, yaml.Node] = {str(k.value): v for k, v in node.value}
            node = pairs.get(str(key))
        else:
            return None
    if not isinstance(node, yaml.ScalarNode):
        return None
    return node.start_mark.index, node.end_mark.index
