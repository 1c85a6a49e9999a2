# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A robot description as XML: reading it, and saying in errors where in it something stands."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

from lxml import etree

from hrpsim import limits
from hrpsim.errors import ModelError, shown_value
from hrpsim.values import LARGEST

_ENCODING = re.compile(
    r"utf-?(8|16|32)(-sig|-?[lb]e)?|(us-)?ascii|iso-?8859-?\d+|latin-?1|windows-125\d"
)

_NAMES = {"name", "link", "joint", "reference"}  # attributes; spaces around them mean nothing
_DECLARED_ENCODING = re.compile(rb"""\s*<\?xml[^>]*encoding\s*=\s*["']([\w.-]+)["']""")


def read_source(source: str | os.PathLike) -> tuple[str, Path | None]:
    """Return the XML text of `source` (a path, or XML text) and its path (None for text)."""
    if isinstance(source, str) and source.lstrip("\ufeff \t\r\n").startswith("<"):
        return source.lstrip("\ufeff \t\r\n"), None
    if not isinstance(source, (str, os.PathLike)):
        raise ModelError(f"a robot description is a path or XML text, not {type(source).__name__}")
    path = Path(source)
    if not str(source).strip() or "\n" in str(path):
        raise ModelError("the robot description is neither a path nor XML text that begins with <")
    try:
        with path.open("rb") as file:
            data = file.read(limits.XML_SIZE + 1)
    except (OSError, ValueError) as cause:  # ValueError: a name with a null character
        reason = getattr(cause, "strerror", None) or cause
        raise ModelError(f"{path}: cannot be read: {reason}") from cause
    if len(data) > limits.XML_SIZE:
        raise ModelError(f"{path}: over {limits.XML_SIZE} bytes (XML_SIZE)")
    declared = _DECLARED_ENCODING.match(data)
    encoding = declared[1].decode() if declared else "utf-8-sig"
    if not _ENCODING.fullmatch(encoding.lower()):
        raise ModelError(f"{path}:1: encoding {encoding[:40]!r} is not known; use UTF-8")
    try:
        # What VRML files of Japan have in their comments is in many encodings.
        errors = "replace" if path.suffix.lower() == ".wrl" else "strict"
        return data.decode(encoding, errors).lstrip("\ufeff \t\r\n"), path
    except (UnicodeError, LookupError) as cause:
        raise ModelError(f"{path}: is not text: {cause}") from cause


class Document:
    """The parsed XML of one description; `label` names it in errors.

    has_lines: whether line numbers mean something to the reader (not for text made by xacro).
    """

    def __init__(self, text: str, label: str, has_lines: bool = True):
        self.label = label
        self._has_lines = has_lines
        if text.count("<") > 2 * limits.XML_ELEMENTS:
            raise ModelError(f"{label}: over {limits.XML_ELEMENTS} elements (XML_ELEMENTS)")
        try:
            self.root = _parsed(text.encode("utf-8"))
        except UnicodeEncodeError as cause:
            raise ModelError(f"{label}: is not text: {cause.reason}") from cause
        except etree.XMLSyntaxError as cause:
            line = f":{cause.lineno}" if has_lines and cause.lineno else ""
            raise ModelError(f"{label}{line}: XML syntax error: {cause.msg}") from cause
        if self.root is None:
            raise ModelError(f"{label}: holds no element")
        if self.root.getroottree().docinfo.internalDTD is not None:
            self.fail(self.root, "a document type or entities are not allowed")
        for element in self.root.iter(etree.Element):
            for key in _NAMES.intersection(element.attrib):
                element.set(key, element.get(key).strip())
        if self.root.tag != "robot":
            self.fail(self.root, f"the root element is <{self.root.tag}>, a URDF needs <robot>")

    def children(self, element, tag: str | None = None) -> Iterator:
        """Yield the child elements, all or those called `tag`; comments and text are skipped."""
        yield from element.iterchildren(tag=etree.Element if tag is None else tag)

    def only(self, element, tag: str, required: bool = False):
        """Return the single child called `tag`, or None; it is an error to give it twice."""
        found = list(self.children(element, tag))
        if len(found) > 1:
            self.fail(found[1], f"<{tag}> is given {len(found)} times, one is allowed")
        if required and not found:
            self.fail(element, f"<{tag}> is missing")
        return found[0] if found else None

    def text(self, element, attribute: str) -> str:
        """Return an attribute that must be there and not be empty."""
        value = element.get(attribute, "").strip()
        if not value:
            self.fail(element, f"attribute {attribute!r} is missing or empty")
        return value

    def numbers(
        self, element, attribute: str, count: int = 1, largest: float = LARGEST
    ) -> list[float]:
        """Return `count` numbers, none beyond `largest`, from an attribute that must be there."""
        raw = self.text(element, attribute)
        words = raw.split()
        if len(words) != count:
            needed = "one number" if count == 1 else f"{count} numbers"
            shown = shown_value(raw)
            self.fail(element, f"{attribute}={shown}: {needed} needed, {len(words)} given")
        return [self._number(element, attribute, word, largest) for word in words]

    def number(
        self,
        element,
        attribute: str,
        default: float | None = None,
        largest: float = LARGEST,
    ) -> float:
        """Return one number, not beyond `largest`; `default` where the attribute is missing."""
        if default is not None and element.get(attribute) is None:
            return default
        return self.numbers(element, attribute, largest=largest)[0]

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


def _parsed(text: bytes, recover: bool = False):
    """Return the root element; prefixes that nobody declared, of old Gazebo's elements, may be."""
    # Nothing outside the text is ever read: no entities, no DTD, no network.
    parser = etree.XMLParser(
        encoding="utf-8",
        resolve_entities=False,
        no_network=True,
        remove_comments=True,
        recover=recover,
    )
    try:
        return etree.fromstring(text, parser)
    except etree.XMLSyntaxError as cause:
        if {entry.type_name for entry in cause.error_log} == {"NS_ERR_UNDEFINED_NAMESPACE"}:
            return _parsed(text, recover=True)
        raise


def described(element) -> str:
    """Return an element's tag and name."""
    name = element.get("name") or element.get("reference")
    tag = etree.QName(element).localname
    if element.prefix:
        tag = f"{element.prefix}:{tag}"
    return f"{tag} {shown_value(name)}" if name else tag
