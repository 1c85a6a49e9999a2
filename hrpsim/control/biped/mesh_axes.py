# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Feet that lie crosswise because their DAE files are Y-up, and nobody heeds it."""

from __future__ import annotations

import re
from urllib.parse import unquote, urlparse

import numpy as np
from lxml import etree

from hrpsim.control.biped.anatomy import Biped
from hrpsim.control.biped.urdf_parts import rpy_of
from hrpsim.model.formats.urdf_writer import exact_text
from hrpsim.model.shapes.placement import rotation_from_rpy

_UP = re.compile(rb"<up_axis>\s*([XYZ])_UP\s*</up_axis>")
_HEAD = 1 << 16  # bytes in which a DAE file names its axis
_LONGER = 1.2  # a foot is, than it is wide
# R_urdf_file: the axes of a file that says X or Y is up, in those with z up (COLLADA 1.4.1, 4).
_TURNS = {
    b"X": np.array([[0.0, -1.0, 0.0], [0.0, 0.0, -1.0], [1.0, 0.0, 0.0]]),
    b"Y": np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]]),
}


def lie_crosswise(biped: Biped) -> bool:
    """Return whether both soles are longer from left to right than from back to front."""
    sizes = [np.ptp(leg.outline, axis=0) for leg in biped.legs]
    return all(size[1] > _LONGER * size[0] for size in sizes)


def turn_meshes(root: etree._Element) -> int:
    """Turn the meshes of all DAE files that say X or Y is up; return how many shapes these are.

    root: a URDF that names its files by file://.
    """
    count = 0
    for mesh in root.iter("mesh"):
        path = unquote(urlparse(mesh.get("filename", "")).path)
        if not path.lower().endswith(".dae"):
            continue
        with open(path, "rb") as file:
            found = _UP.search(file.read(_HEAD))
        if found is None or found[1] not in _TURNS:
            continue
        shape = mesh.getparent().getparent()
        origin = shape.find("origin")
        if origin is None:
            origin = etree.SubElement(shape, "origin")
        R = rotation_from_rpy([float(word) for word in origin.get("rpy", "0 0 0").split()])
        origin.set("rpy", rpy_of(R @ _TURNS[found[1]]))
        origin.set("xyz", origin.get("xyz", exact_text((0.0, 0.0, 0.0))))
        count += 1
    return count
