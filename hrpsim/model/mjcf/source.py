# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""What an MJCF says and MuJoCo's compiler takes without a word: numbers that are none, short keys.

MuJoCo takes `nan` for what is not given, so that no look at the compiled model finds it. Here the
XML is read for that alone; whether it is sound otherwise is MuJoCo's to say.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from lxml import etree

from hrpsim import limits
from hrpsim.errors import ModelError, shown_value
from hrpsim.model.urdf.document import described

_NAN = re.compile(r"[+-]?nan(\(\w*\))?", re.IGNORECASE)
_NOT_FINITE = re.compile(rf"{_NAN.pattern}|[+-]?inf(inity)?", re.IGNORECASE)

# Attributes that hold names, words and files, or what is for users' own programs.
_NO_NUMBERS = {
    *("name", "class", "childclass", "model", "prefix", "key", "plugin", "instance", "type"),
    *("body", "body1", "body2", "subtree1", "subtree2", "geom", "geom1", "geom2", "material"),
    *("joint", "joint1", "joint2", "jointinparent", "site", "site1", "site2", "refsite"),
    *("tendon", "tendon1", "tendon2", "actuator", "cranksite", "slidersite", "sidesite"),
    *("insidesite", "camera", "target", "mesh", "hfield", "texture", "objname", "refname", "node"),
    *("file", "fileback", "filedown", "filefront", "fileleft", "fileright", "fileup", "dir"),
    *("assetdir", "meshdir", "texturedir", "content_type", "user", "data", "value"),
}
_FILES = 1000  # that include each other


class MjcfSource:
    """The XML of an MJCF and of the files that it includes or attaches; text where path is None."""

    def __init__(self, text: str, path: Path | None):
        self._files: list[tuple[str, etree._Element]] = []
        self._included: list[etree._Element] = []
        self._seen: set[Path] = set()
        self._top = None if path is None else path.parent
        if path is None:
            self._add("<text>", text.encode("utf-8", "replace"), None, is_part=True)
        else:
            self._open(path, is_part=True)

    def refuse_no_numbers(self) -> None:
        """Raise the ModelError of the first number that is none or left out; a bound may be inf."""
        for label, root in self._files:
            for element in root.iter(etree.Element):
                for name in (name for name in element.attrib if name not in _NO_NUMBERS):
                    refused = _NAN if name.endswith("range") else _NOT_FINITE
                    words = element.get(name).split()
                    wrong = next((word for word in words if refused.fullmatch(word)), None)
                    if wrong is None and words:
                        continue
                    places = [element.getparent(), element][-1 if element is root else 0 :]
                    where = " / ".join(described(place) for place in places)
                    cause = f"{shown_value(wrong)} is not a finite number" if words else "is empty"
                    raise ModelError(f"{label}:{element.sourceline}: {where}: {name}: {cause}")

    def key_lengths(self) -> Iterator[tuple[str, int]]:
        """Yield name and count of numbers of each keyframe's `qpos`, those attached left out."""
        for root in self._included:
            for key in root.iterfind(".//keyframe/key"):
                count = len(key.get("qpos", "").split())
                if count:
                    yield key.get("name", ""), count

    def _open(self, path: Path, is_part: bool) -> None:
        """Read a file, if it is one and not read yet; MuJoCo says what is wrong with it."""
        try:
            where = path.resolve()
            if where in self._seen or len(self._seen) >= _FILES or not where.is_file():
                return
            self._seen.add(where)
            with where.open("rb") as file:
                data = file.read(limits.XML_SIZE)
        except (OSError, ValueError):
            return
        self._add(str(path), data, path.parent, is_part)

    def _add(self, label: str, data: bytes, folder: Path | None, is_part: bool) -> None:
        parser = etree.XMLParser(
            recover=True, resolve_entities=False, no_network=True, remove_comments=True
        )
        try:
            root = etree.fromstring(data, parser)
        except (etree.XMLSyntaxError, ValueError):
            return
        if root is None:
            return
        self._files.append((label, root))
        if is_part:
            self._included.append(root)
        for element in root.iter("include", "model"):
            name = element.get("file", "")
            for above in (folder, self._top):
                if name and above is not None:
                    self._open(above / name, is_part and element.tag == "include")
