# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Write elements of a URDF."""

from __future__ import annotations

from urllib.parse import quote

import numpy as np
from lxml import etree

from hrpsim.errors import ModelError
from hrpsim.model.formats.urdf_writer import exact_text
from hrpsim.model.urdf.resources import Resources


def add(parent: etree._Element, tag: str, **attributes) -> etree._Element:
    """Return a new last child of `parent`; numbers are written with all their digits."""
    texts = {k: v if isinstance(v, str) else repr(float(v)) for k, v in attributes.items()}
    return etree.SubElement(parent, tag, texts)


def add_joint(root: etree._Element, name: str, kind: str, parent: str, child: str):
    """Return a new joint between two links."""
    joint = add(root, "joint", name=name, type=kind)
    add(joint, "parent", link=parent)
    add(joint, "child", link=child)
    return joint


def add_origin(element: etree._Element, p, R) -> None:
    """Give an element the <origin> at `p` (3,) [m], turned by R (3, 3)."""
    add(element, "origin", xyz=exact_text(p), rpy=rpy_of(R))


def add_link(root: etree._Element, name: str, parent: str, p, R) -> None:
    """Add a link without mass, fixed to `parent` at `p` (3,) [m], turned by R (3, 3)."""
    add(root, "link", name=name)
    add_origin(add_joint(root, f"{name}_fixed", "fixed", parent, name), p, R)


def rpy_of(R) -> str:
    """Return roll, pitch and yaw of a rotation (3, 3), as URDF has them."""
    pitch = np.arctan2(-R[2, 0], np.hypot(R[0, 0], R[1, 0]))
    if np.hypot(R[0, 0], R[1, 0]) > 1e-9:
        roll, yaw = np.arctan2(R[2, 1], R[2, 2]), np.arctan2(R[1, 0], R[0, 0])
    else:  # yaw and roll turn about one axis
        roll, yaw = np.arctan2(-R[1, 2], R[1, 1]), 0.0
    return exact_text((roll, pitch, yaw))


def free_name(root: etree._Element, wanted: str) -> str:
    """Return `wanted`, with underscores if an element of the URDF has that name."""
    taken = {element.get("name") for element in root.iter()}
    while wanted in taken or f"{wanted}_fixed" in taken:
        wanted += "_"
    return wanted


def name_files_wholly(root: etree._Element, resources: Resources, label: str) -> None:
    """Write file:// with the whole path for every mesh that exists, so that the text may be moved.

    A missing visual mesh is left out; ModelError for a missing collision mesh.
    """
    for element in list(root.iter("mesh")):
        uri = element.get("filename", "")
        holder = element.getparent().getparent()
        if not uri or element.getparent().tag != "geometry":
            continue
        try:
            found = resources.locate(uri).absolute()
        except FileNotFoundError as cause:
            if holder.tag != "visual":
                raise ModelError(f"{label}: missing mesh: {cause}") from cause
            holder.getparent().remove(holder)
            continue
        element.set("filename", f"file://{quote(str(found))}")
