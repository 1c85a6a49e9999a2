# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The order in which Isaac Gym numbers the joints of a URDF.

Isaac Gym traverses the tree from the root, depth first, and visits the children of a link in
alphabetical order. ANYmal is an example: the file lists the legs LF, RF, LH, RH, and Isaac Gym
numbers LF, LH, RF, RH.
"""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

from hrpsim.common.foreign.text import read_text
from hrpsim.common.foreign.xml_text import xml_root
from hrpsim.control.framework.controller import ControllerError

_FIXED = "fixed"


class _Joint(NamedTuple):
    name: str
    kind: str
    parent: str
    child: str


def joints_in_order(path: Path) -> list[str]:
    """Return the names of the moving joints of a URDF in the order of Isaac Gym.

    Raises:
        ControllerError: the file cannot be read.
    """
    root = xml_root(read_text(path, ControllerError, "XML_SIZE", "robot"), path, ControllerError)
    joints = [_Joint(*_texts(element)) for element in root.iterchildren("joint")]
    below = defaultdict(list)
    for joint in joints:
        below[joint.parent].append(joint)
    children = {joint.child for joint in joints}
    visited: dict[str, None] = {}
    waiting = [j for link in below if link not in children for j in _last_first(below[link])]
    while waiting:
        joint = waiting.pop()
        if joint.name not in visited:
            visited[joint.name] = None
            waiting += _last_first(below[joint.child])
    fixed = {joint.name for joint in joints if joint.kind == _FIXED}
    return [name for name in visited if name not in fixed]


def _texts(element) -> list[str]:
    """Return name, type, parent and child of a joint."""
    links = [element.find(end) for end in ("parent", "child")]
    ends = ["" if link is None else link.get("link", "") for link in links]
    return [element.get("name", ""), element.get("type", ""), *ends]


def _last_first(joints: list[_Joint]) -> list[_Joint]:
    return sorted(joints, reverse=True)
