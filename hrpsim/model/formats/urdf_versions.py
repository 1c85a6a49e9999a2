# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""URDF 1.1 and 1.2 in the terms of 1.0, by the rules of urdfdom 6.

1.1 has <origin quat_xyzw>; in 1.2 a limit need not state effort and velocity, but lower and upper.
Their <capsule> is read in any version.
"""

from __future__ import annotations

import numpy as np

from hrpsim.errors import unknown_name
from hrpsim.model.formats.urdf_writer import exact_text, rpy_of
from hrpsim.model.shapes.placement import rotation_matrix
from hrpsim.model.urdf.document import Document

VERSIONS = ("1.0", "1.1", "1.2")


def read_urdf(text: str, label: str, has_lines: bool = True) -> Document:
    """Return the document of a URDF, its origins and limits as in version 1.0.

    ModelError for a version that does not exist, and for what the stated one does not have.
    """
    document = Document(text, label, has_lines)
    version = document.root.get("version", VERSIONS[0]).strip()
    if version not in VERSIONS:
        document.fail(document.root, unknown_name("version of URDF", version, VERSIONS))
    for origin in document.root.iter("origin"):
        if origin.get("quat_xyzw") is not None:
            _write_angles(document, origin, version)
    if version == "1.2":
        for limit in document.root.iterfind("joint/limit"):
            _complete_limit(document, limit)
    return document


def _write_angles(document: Document, origin, version: str) -> None:
    """Replace the quaternion of an origin by rpy."""
    quaternion = np.array(document.numbers(origin, "quat_xyzw", 4))
    length = np.linalg.norm(quaternion)
    if version == "1.0":
        document.fail(origin, 'quat_xyzw needs <robot version="1.1">, or write rpy')
    if origin.get("rpy") is not None:
        document.fail(origin, "rpy and quat_xyzw are given: one of them is enough")
    if length < 1e-6:
        document.fail(origin, f"quat_xyzw={origin.get('quat_xyzw')!r} has no direction")
    del origin.attrib["quat_xyzw"]
    origin.set("rpy", exact_text(rpy_of(rotation_matrix(quaternion / length))))


def _complete_limit(document: Document, limit) -> None:
    """State effort and velocity as unlimited where they are missing."""
    for key in ("effort", "velocity"):
        if limit.get(key) is None:
            limit.set(key, "0")
    if limit.getparent().get("type") in ("revolute", "prismatic"):
        for key in ("lower", "upper"):
            document.text(limit, key)
