# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Add rubber bushes beneath the ankles of a robot: three passive joints a foot.

A slide along the vertical, then pitch and roll about one point halfway up the ankle. The springs
are published ones, the same as in urdf/hrp2_like/leg.xacro.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from lxml import etree

from hrpsim.control.biped.anatomy import BipedLeg
from hrpsim.control.biped.urdf_parts import add, add_joint, add_origin, rpy_of
from hrpsim.errors import ModelError, unknown_name
from hrpsim.model.formats.urdf_writer import exact_text

_PART_MASS = 0.05  # of each of the two parts between slide and foot [kg]
_PART_INERTIA = 5e-5  # [kg m^2]
_TRAVEL = {"prismatic": 0.02, "revolute": 0.35}  # [m], [rad]


class BushSet(NamedTuple):
    """Spring, damper and rotor inertia: [N/m, Ns/m, kg] and [Nm/rad, Nms/rad, kg m^2]."""

    slide: tuple[float, float, float]
    turn: tuple[float, float, float]


BUSH_SETS = {
    "openhrp": BushSet((5.0e5, 1.0e3, 0.1), (1.0e3, 25.0, 0.014)),
    "jaxon": BushSet((1.1e6, 1.1e3, 0.07), (2.5e3, 2.5, 0.01)),
    "hrp2_soft": BushSet((5.0e5, 1.0e3, 0.1), (350.0, 10.0, 0.014)),
    "hrp2_stiff": BushSet((5.0e5, 1.0e3, 0.1), (600.0, 60.0, 0.014)),
}


def bush_set(name: str) -> BushSet:
    """Return the constants called `name`; ModelError names what exists."""
    if name not in BUSH_SETS:
        raise ModelError(unknown_name("bush set", name, BUSH_SETS))
    return BUSH_SETS[name]


def add_bushes(root: etree._Element, leg: BipedLeg, constants: BushSet) -> None:
    """Put bushes between the last joint of `leg` and the link that it moved.

    root: the URDF. The mass of the bushes' parts is taken from the foot.
    """
    last = next(j for j in root.iter("joint") if j.get("name") == leg.joints[-1])
    foot = last.find("child").get("link")
    if any(joint.get("name") == foot for joint in root.iterchildren("joint")):
        raise ModelError(
            f"link {foot!r} has the name of a joint, which would no longer move it with bushes "
            "between: rename one of them"
        )
    mass = next(x for x in root.iter("link") if x.get("name") == foot).find("inertial/mass")
    heavy = 0.0 if mass is None else float(mass.get("value"))
    if heavy <= 4.0 * _PART_MASS:
        raise ModelError(
            f"link {foot!r} has {heavy:g} kg; bushes need a foot of more than "
            f"{4.0 * _PART_MASS:g} kg, of which their parts take {2.0 * _PART_MASS:g} kg"
        )
    mass.set("value", repr(heavy - 2.0 * _PART_MASS))
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
    add(back, "origin", xyz=exact_text(-leg.sole_R.T @ point), rpy=rpy_of(leg.sole_R.T))


def _add_part(root: etree._Element, name: str) -> None:
    inertial = add(add(root, "link", name=name), "inertial")
    add(inertial, "mass", value=_PART_MASS)
    add(inertial, "inertia", ixx=_PART_INERTIA, iyy=_PART_INERTIA, izz=_PART_INERTIA)
    inertial[-1].attrib.update({key: "0" for key in ("ixy", "ixz", "iyz")})
