# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Write elements of a URDF, and the rubber bushes below the ankles of a robot.

The bushes of a foot are three passive joints: a slide along the vertical, then pitch and roll about
one point halfway up the ankle. The springs are published, as in urdf/hrp2_like/leg.xacro.
"""

from typing import NamedTuple
from urllib.parse import quote

import numpy as np
from lxml import etree

from hrpsim.common.errors import ModelError, require_name
from hrpsim.control.biped.anatomy import BipedLeg
from hrpsim.model.readers.urdf.resolve_uris import Resources
from hrpsim.model.readers.urdf_writer import exact_text, rpy_of

_PART_MASS = 0.05  # mass of each of the two parts between slide and foot [kg]
_PART_INERTIA = 5e-5  # moment of inertia of each part [kg m^2]
_TRAVEL = {"prismatic": 0.02, "revolute": 0.35}  # range of the joints [m], [rad]


def add(parent: etree._Element, tag: str, **attributes) -> etree._Element:
    """Return a new last child of `parent`. Numbers are written with all digits."""
    texts = {k: v if isinstance(v, str) else repr(float(v)) for k, v in attributes.items()}
    return etree.SubElement(parent, tag, texts)


def add_joint(root: etree._Element, name: str, kind: str, parent: str, child: str):
    """Return a new joint between two links."""
    joint = add(root, "joint", name=name, type=kind)
    add(joint, "parent", link=parent)
    add(joint, "child", link=child)
    return joint


def add_origin(element: etree._Element, p, R) -> None:
    """Give an element the <origin> at `p` (3,) [m] with the rotation R (3, 3)."""
    add(element, "origin", xyz=exact_text(p), rpy=exact_text(rpy_of(R)))


def add_link(root: etree._Element, name: str, parent: str, p, R) -> None:
    """Add a link without mass, fixed to `parent` at `p` (3,) [m], turned by R (3, 3)."""
    add(root, "link", name=name)
    add_origin(add_joint(root, f"{name}_fixed", "fixed", parent, name), p, R)


def free_name(root: etree._Element, wanted: str) -> str:
    """Return `wanted`, with underscores appended until no element of the URDF has the name."""
    taken = {element.get("name") for element in root.iter()}
    while wanted in taken or f"{wanted}_fixed" in taken:
        wanted += "_"
    return wanted


def name_files_wholly(root: etree._Element, resources: Resources, label: str) -> None:
    """Replace the path of every mesh by an absolute file:// URI, valid in every folder.

    A missing visual mesh is removed. Raises ModelError for a missing collision mesh.
    """
    for element in list(root.iter("mesh")):
        uri = element.get("filename", "")
        holder = element.getparent().getparent()
        if not uri or element.getparent().tag != "geometry":
            continue
        try:
            path = resources.locate(uri).absolute()
        except FileNotFoundError as cause:
            if holder.tag != "visual":
                raise ModelError(f"{label}: missing mesh: {cause}") from cause
            holder.getparent().remove(holder)
            continue
        element.set("filename", f"file://{quote(str(path))}")


class BushSet(NamedTuple):
    """Constants of the bushes of a foot: (spring, damper, rotor inertia).

    slide: [N/m, Ns/m, kg]. turn, for pitch and roll: [Nm/rad, Nms/rad, kg m^2].
    """

    slide: tuple[float, float, float]
    turn: tuple[float, float, float]


BUSH_SETS = {
    "openhrp": BushSet((5.0e5, 1.0e3, 0.1), (1.0e3, 25.0, 0.014)),
    "jaxon": BushSet((1.1e6, 1.1e3, 0.07), (2.5e3, 2.5, 0.01)),
    "hrp2_soft": BushSet((5.0e5, 1.0e3, 0.1), (350.0, 10.0, 0.014)),
    "hrp2_stiff": BushSet((5.0e5, 1.0e3, 0.1), (600.0, 60.0, 0.014)),
}


def bush_set(name: str) -> BushSet:
    """Return the constants called `name`. ModelError lists the existing names."""
    require_name("bush set", name, BUSH_SETS, ModelError)
    return BUSH_SETS[name]


def _take_mass(root: etree._Element, foot: str) -> None:
    """Subtract the mass of two bush links from a foot.

    Raises ModelError if the foot is too light.
    """
    mass = next(x for x in root.iter("link") if x.get("name") == foot).find("inertial/mass")
    heavy = 0.0 if mass is None else float(mass.get("value"))
    if heavy <= 4.0 * _PART_MASS:
        raise ModelError(
            f"link {foot!r} has {heavy:g} kg. Rubber bushes need a foot of more than "
            f"{4.0 * _PART_MASS:g} kg, because their parts have {2.0 * _PART_MASS:g} kg. Give a "
            "heavier foot, or walk without bushes (--rigid-feet)"
        )
    mass.set("value", repr(heavy - 2.0 * _PART_MASS))


def add_bushes(root: etree._Element, leg: BipedLeg, constants: BushSet) -> None:
    """Insert rubber bushes between the last joint of `leg` and its child link.

    root: the URDF. The mass of the added links is subtracted from the foot.
    """
    last = next(j for j in root.iter("joint") if j.get("name") == leg.joints[-1])
    foot = last.find("child").get("link")
    if any(joint.get("name") == foot for joint in root.iterchildren("joint")):
        raise ModelError(
            f"link {foot!r} has the same name as a joint. With rubber bushes in between, the joint "
            "no longer moves this link. Rename one of the two"
        )
    _take_mass(root, foot)
    point = leg.sole_p + leg.sole_R @ np.array([0.0, 0.0, 0.5 * leg.ankle_height])
    names = [f"{leg.side}_bush_{part}" for part in ("top", "slide", "pitch")]
    last.find("child").set("link", names[0])
    add(root, "link", name=names[0])
    for name in names[1:]:
        _add_part(root, name)
    kinds = (
        ("prismatic", "0 0 1", constants.slide),
        ("revolute", "0 1 0", constants.turn),
        ("revolute", "1 0 0", constants.turn),
    )
    ends = [*names, f"{leg.side}_bush_roll"]
    add(root, "link", name=ends[-1])
    for k, (kind, axis, (stiffness, damping, rotor)) in enumerate(kinds):
        joint = add_joint(root, f"{ends[k + 1]}_joint", kind, ends[k], ends[k + 1])
        if k == 0:
            add_origin(joint, point, leg.sole_R)
        add(joint, "axis", xyz=axis)
        travel = _TRAVEL[kind]
        add(joint, "limit", lower=-travel, upper=travel, velocity=0, effort=0)
        extension = add(root, "hrpsim", reference=f"{ends[k + 1]}_joint")
        add(extension, "spring", stiffness=stiffness, damping=damping)
        add(extension, "rotor", inertia=rotor)
    back = add_joint(root, f"{leg.side}_bush_foot_joint", "fixed", ends[-1], foot)
    add(back, "origin", xyz=exact_text(-leg.sole_R.T @ point), rpy=exact_text(rpy_of(leg.sole_R.T)))


def _add_part(root: etree._Element, name: str) -> None:
    inertial = add(add(root, "link", name=name), "inertial")
    add(inertial, "mass", value=_PART_MASS)
    add(inertial, "inertia", ixx=_PART_INERTIA, iyy=_PART_INERTIA, izz=_PART_INERTIA)
    inertial[-1].attrib.update({key: "0" for key in ("ixy", "ixz", "iyz")})
