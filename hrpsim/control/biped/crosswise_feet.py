# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Feet that lie crosswise, because a reader ignored the up axis of their meshes' files."""

import re
from pathlib import Path
from urllib.parse import unquote, urlparse

import numpy as np
from lxml import etree

from hrpsim.common.errors import ModelError
from hrpsim.common.foreign.file_bytes import open_file
from hrpsim.control.biped.anatomy import Biped
from hrpsim.model.readers.urdf_writer import exact_text, rpy_of
from hrpsim.model.shapes.placement import rotation_from_rpy

_UP = re.compile(rb"<up_axis>\s*([XYZ])_UP\s*</up_axis>")
_HEAD = 1 << 16  # bytes at the start of a DAE file that contain the name of the up axis
_LONGER = 1.2  # ratio of a foot's length to its width
# R_urdf_file: rotation from the axes of a file with X or Y up to z up (COLLADA 1.4.1, 4).
_TURNS = {
    b"X": np.array([[0.0, -1.0, 0.0], [0.0, 0.0, -1.0], [1.0, 0.0, 0.0]]),
    b"Y": np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]]),
}


def lie_crosswise(biped: Biped) -> bool:
    """Return whether both soles are longer from left to right than from back to front."""
    sizes = [np.ptp(leg.outline, axis=0) for leg in biped.legs]
    return all(size[1] > _LONGER * size[0] for size in sizes)


def turn_meshes(root: etree._Element) -> int:
    """Turn the meshes of all DAE files with X or Y up. Return the number of turned shapes.

    root: a URDF that names its files by file://.
    """
    count = 0
    for mesh in root.iter("mesh"):
        path = unquote(urlparse(mesh.get("filename", "")).path)
        if not path.lower().endswith(".dae"):
            continue
        with open_file(Path(path), ModelError, "MESH_SIZE", "mesh") as file:
            match = _UP.search(file.read(_HEAD))
        if match is None or match[1] not in _TURNS:
            continue
        shape = mesh.getparent().getparent()
        origin = shape.find("origin")
        if origin is None:
            origin = etree.SubElement(shape, "origin")
        R = rotation_from_rpy([float(word) for word in origin.get("rpy", "0 0 0").split()])
        origin.set("rpy", exact_text(rpy_of(R @ _TURNS[match[1]])))
        origin.set("xyz", origin.get("xyz", exact_text((0.0, 0.0, 0.0))))
        count += 1
    return count
