# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Read and write pairs of links that never collide, in SRDF (the format of MoveIt).

<disable_collisions link1="a" link2="b" reason="Adjacent"/> excludes a pair.
<disable_default_collisions link="a"/> excludes a from all other links, except for the links named
by <enable_collisions link1="a" link2="b"/>.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from lxml import etree

from hrpsim.common.errors import ModelError
from hrpsim.model.readers.urdf.document import Document
from hrpsim.model.readers.urdf.xacro_text import read_source

Pair = tuple[str, str]


def read_disabled_collisions(
    source: str | os.PathLike, link_names: Iterable[str]
) -> tuple[frozenset[Pair], tuple[str, ...]]:
    """Return the pairs of links that an SRDF excludes from collision, and notes on unknown links.

    As in the tools of ROS, lines with an unknown link have no effect.

    Args:
        source: a path, or XML text.
        link_names: names of the robot's links.

    Returns:
        (pairs in alphabetical order, one note for each line with an unknown link).

    Raises:
        ModelError: The SRDF is invalid. The message names file, line and element.
    """
    text, path = read_source(source)
    document = Document(text, "<SRDF text>" if path is None else str(path))
    links = set(link_names)
    pairs: set[Pair] = set()
    notes: list[str] = []

    def known(element, *names: str) -> bool:
        unknown = [name for name in names if name not in links]
        if unknown:
            listed = " and ".join(map(repr, unknown))
            notes.append(f"{document.where(element)}: the robot has no link {listed}")
        return not unknown

    for element in document.children(document.root, "disable_default_collisions"):
        link = document.text(element, "link")
        if known(element, link):
            pairs.update(pair_of(link, other) for other in links if other != link)
    for tag, change in (("enable_collisions", pairs.discard), ("disable_collisions", pairs.add)):
        for element in document.children(document.root, tag):
            a, b = (document.text(element, key) for key in ("link1", "link2"))
            if known(element, a, b):
                change(pair_of(a, b))
    return frozenset(pairs), tuple(notes)


def write_disabled_collisions(
    path: str | os.PathLike, robot_name: str, reasons: Mapping[Pair, str]
) -> None:
    """Write an SRDF that excludes pairs of links from collision, each with the reason."""
    root = etree.Element("robot", name=robot_name)
    for (a, b), reason in sorted(reasons.items()):
        etree.SubElement(root, "disable_collisions", link1=a, link2=b, reason=reason)
    text = etree.tostring(root, pretty_print=True, encoding="utf-8", xml_declaration=True)
    try:
        Path(path).write_bytes(text)
    except OSError as cause:
        raise ModelError(f"{path}: cannot be written: {cause.strerror or cause}") from cause


def pair_of(a: str, b: str) -> Pair:
    """Return two names in alphabetical order."""
    return (a, b) if a <= b else (b, a)
