# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Convert a robot description for other engines."""

from __future__ import annotations

from lxml import etree

_NEGLIGIBLE = {"mass": "1e-6", "inertia": "1e-9"}


def plain_urdf(text: str) -> str:
    """Return URDF without hrpsim's elements. Links without mass receive a tiny mass.

    Bullet and dart would assign 1 kg to such links.
    """
    root = etree.fromstring(text.encode())
    for element in [*root.iter("hrpsim", "ros2_control", "visual")]:
        element.getparent().remove(element)
    for link in root.findall("link"):
        if link.find("inertial") is None:
            inertial = etree.SubElement(link, "inertial")
            etree.SubElement(inertial, "mass", value=_NEGLIGIBLE["mass"])
            moments = dict.fromkeys(("ixx", "iyy", "izz"), _NEGLIGIBLE["inertia"])
            products = dict.fromkeys(("ixy", "ixz", "iyz"), "0")
            etree.SubElement(inertial, "inertia", **moments, **products)
    return etree.tostring(root, encoding="unicode")
