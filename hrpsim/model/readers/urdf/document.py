# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A robot description as XML, with errors that name the location."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from typing import NoReturn

from lxml import etree

from hrpsim.common.errors import ModelError, shown_value, unknown_name
from hrpsim.common.foreign.xml_text import xml_root
from hrpsim.common.values import LARGEST

_NAMES = {"name", "link", "joint", "reference"}  # attributes; spaces around them mean nothing


class Document:
    """The parsed XML of one description. `label` names the description in errors.

    has_lines: whether line numbers refer to the file. Line numbers of a text from xacro do not.
    tag, form: the root element, and the format that needs this element.
    """

    def __init__(
        self,
        text: str,
        label: str,
        has_lines: bool = True,
        tag: str = "robot",
        form: str = "a URDF",
    ) -> None:
        self.label = label
        self._has_lines = has_lines
        try:
            self.root = xml_root(text, label, ModelError, has_lines)
        except ModelError as cause:
            if text.lstrip().startswith("<"):
                raise
            start = shown_value(text.strip()[:20])
            raise ModelError(
                f"{label}: is no XML: the file begins with {start}. A robot description is read"
                " here. A world file (YAML) is read by `load_world` and `hrpsim run`"
            ) from cause
        for element in self.root.iter(etree.Element):
            for key in _NAMES.intersection(element.attrib):
                element.set(key, element.get(key).strip())
        if self.root.tag != tag:
            self.fail(
                self.root, f"the root element of {form} must be <{tag}>, got <{self.root.tag}>"
            )

    def children(self, element, tag: str | None = None) -> Iterator:
        """Yield the child elements, all or those called `tag`. Comments and text are skipped."""
        yield from element.iterchildren(tag=etree.Element if tag is None else tag)

    def only(self, element, tag: str, required: bool = False):
        """Return the single child called `tag`, or None. Two such children are an error."""
        matches = list(self.children(element, tag))
        if len(matches) > 1:
            self.fail(matches[1], f"<{tag}> is given {len(matches)} times. Keep one")
        if required and not matches:
            self.fail(element, f"<{tag}> is missing")
        return matches[0] if matches else None

    def text(self, element, attribute: str) -> str:
        """Return the text of a required attribute, which must not be empty."""
        value = element.get(attribute, "").strip()
        if not value:
            self.fail(element, f"attribute {attribute!r} is missing or empty")
        return value

    def numbers(
        self, element, attribute: str, count: int = 1, largest: float = LARGEST
    ) -> list[float]:
        """Return `count` numbers, each at most `largest` in magnitude, of a required attribute."""
        raw = self.text(element, attribute)
        words = raw.split()
        if len(words) != count:
            needed = "one number" if count == 1 else f"{count} numbers"
            text = shown_value(raw)
            self.fail(element, f"{attribute}={text}: must be {needed}, got {len(words)}")
        return [self._number(element, attribute, word, largest) for word in words]

    def number(
        self, element, attribute: str, default: float | None = None, largest: float = LARGEST
    ) -> float:
        """Return one number, at most `largest` in magnitude, or `default` if missing."""
        if default is not None and element.get(attribute) is None:
            return default
        return self.numbers(element, attribute, largest=largest)[0]

    def not_negative(
        self, element, attribute: str, default: float | None = None, shown: str = "{}={!r}"
    ) -> float:
        """Return one number >= 0, or `default` if the attribute is missing.

        `shown` is the format of attribute and text in the error.
        """
        value = self.number(element, attribute, default)
        if value < 0.0:
            self.fail(element, shown.format(attribute, element.get(attribute)) + " is negative")
        return value

    def _number(self, element, attribute: str, word: str, largest: float) -> float:
        try:
            value = float(word) if "_" not in word else math.nan
        except ValueError:
            self.fail(element, f"{attribute}: {shown_value(word)} is not a number")
        if not math.isfinite(value):
            self.fail(element, f"{attribute}: {shown_value(word)} is not a finite number")
        if abs(value) > largest:
            self.fail(element, f"{attribute}: {shown_value(word)} is too large a number")
        return value

    def where(self, element) -> str:
        """Return "file:line: link 'a' / inertial / mass" for an element."""
        path = [element, *element.iterancestors()][:-1][::-1]
        names = " / ".join(described(e) for e in path) or "robot"
        line = f":{element.sourceline}" if self._has_lines and element.sourceline else ""
        return f"{self.label}{line}: {names}"

    def fail(self, element, cause: str) -> NoReturn:
        """Raise the ModelError that names file, line, element and cause."""
        raise ModelError(f"{self.where(element)}: {cause}")

    def one_of(self, element, attribute: str, choices: Sequence[str]) -> str:
        """Return an attribute that must be one of the choices. The default is the first choice."""
        value = element.get(attribute, choices[0])
        self.require_name(element, attribute, value, choices)
        return value

    def require_content(
        self, element, attributes: Collection[str], children: Collection[str] = ()
    ) -> None:
        """Raise the ModelError for an attribute or a child element that is not in the lists."""
        for attribute in element.attrib:
            self.require_name(element, "attribute", attribute, attributes)
        for child in self.children(element):
            self.require_name(child, f"element in <{element.tag}>", child.tag, children)

    def require_name(self, element, kind: str, given: str, available: Collection[str]) -> None:
        """Raise the ModelError about an element unless `given` is one of `available`."""
        if given not in available:
            self.fail(element, unknown_name(kind, given, available))


def is_foreign(element) -> bool:
    """Return whether an element has a prefix, for the namespace of another tool."""
    return not isinstance(element.tag, str) or "}" in element.tag or ":" in element.tag


def described(element) -> str:
    """Return an element's tag and name."""
    name = element.get("name") or element.get("reference")
    return f"{tag_of(element)} {shown_value(name)}" if name else tag_of(element)


def tag_of(element) -> str:
    """Return an element's tag as written, with the prefix."""
    name = element.tag.rpartition("}")[2]
    return f"{element.prefix}:{name}" if element.prefix else name
