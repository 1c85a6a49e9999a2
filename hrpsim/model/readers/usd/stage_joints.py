# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Properties of joints beyond UsdPhysics, from Newton, MuJoCo and PhysX, in SI units."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from pxr import UsdPhysics

_ATTRIBUTES = {  # by the names of JointData, the first that has a value counts
    "rotor_inertia": ("newton:armature", "mjc:armature", "physxJoint:armature"),
    "friction": ("newton:friction", "mjc:frictionloss"),
    "damping": ("newton:damping", "mjc:damping"),
    "stiffness": ("mjc:stiffness",),
    "velocity": ("newton:velocityLimit", "physxJoint:maxJointVelocity"),
}
_READ_MJC = {name for names in _ATTRIBUTES.values() for name in names if name.startswith("mjc:")}
_TARGETS = ("newton:mimicJoint", "mjc:target")
_COEFFICIENTS = {"mjc:coef0", "mjc:coef1"}
_UNLIMITED = 1e6  # PhysX's largest velocity of a joint [deg/s or m/s]

Mimic = tuple[str, float, float]  # path of the leader, ratio, offset [rad or m]


def properties_of(prim: Any, turns: bool, length: float, kilogram: float) -> dict[str, float]:
    """Return the properties of a joint by the names of `JointData`, in SI units and radians.

    Args:
        prim: the joint.
        turns: True for a revolute joint, False for a prismatic joint.
        length: the stage's unit of length [m].
        kilogram: the stage's unit of mass [kg].
    """
    effort = kilogram * length ** (2 if turns else 1)
    position = math.radians(1.0) if turns else length
    result = {}
    for key, names in _ATTRIBUTES.items():
        name, value = _first(prim, names)
        if value is None:
            continue
        angle = math.radians(1.0) if name == "newton:damping" and turns else 1.0
        unit = {
            "rotor_inertia": kilogram * (length**2 if turns else 1.0),
            "friction": effort,
            "velocity": position,
        }.get(key, effort / (1.0 if turns else length) / angle)
        if key != "velocity" or value < _UNLIMITED:
            result[key] = value * unit
    return result


def _first(prim: Any, names: tuple[str, ...]) -> tuple[str, float | None]:
    for name in names:
        attribute = prim.GetAttribute(name)
        if attribute and attribute.HasAuthoredValue():
            return name, float(np.ravel(attribute.Get())[0])
    return "", None


def unread_of(prim: Any, has_mimic: bool) -> Iterator[str]:
    """Yield the names of MuJoCo's attributes of a joint that have no effect."""
    read = _READ_MJC | (_COEFFICIENTS if has_mimic else set())
    for attribute in prim.GetAuthoredAttributes():
        name = attribute.GetName()
        if name.startswith("mjc:") and name not in read:
            yield name


def mimic_of(prim: Any, length: float) -> Mimic | None:
    """Return the rule by which a hinge or slide follows another joint, or None.

    Newton: position = coefficient 0 + coefficient 1 times leader. PhysX: position + gearing times
    leader + offset = 0.
    """
    if not prim.IsA(UsdPhysics.RevoluteJoint) and not prim.IsA(UsdPhysics.PrismaticJoint):
        return None
    return _by_newton(prim, length) or _by_physx(prim, length)


def _by_newton(prim: Any, length: float) -> Mimic | None:
    enabled = prim.GetAttribute("newton:mimicEnabled")
    if enabled and enabled.HasAuthoredValue() and not enabled.Get():
        return None
    leader = next((target for name in _TARGETS for target in _targets(prim, name)), None)
    if leader is None:
        return None
    _, offset = _first(prim, ("newton:mimicCoef0",))
    if offset is None:
        _, radians = _first(prim, ("mjc:coef0",))
        offset = radians or 0.0
    else:
        offset *= _unit(prim, length)
    _, ratio = _first(prim, ("newton:mimicCoef1", "mjc:coef1"))
    return str(leader), 1.0 if ratio is None else ratio, offset


def _by_physx(prim: Any, length: float) -> Mimic | None:
    for axis in ("rotX", "rotY", "rotZ"):
        for leader in _targets(prim, f"physxMimicJoint:{axis}:referenceJoint"):
            _, gearing = _first(prim, (f"physxMimicJoint:{axis}:gearing",))
            _, offset = _first(prim, (f"physxMimicJoint:{axis}:offset",))
            unit = _unit(prim, length)
            other = prim.GetStage().GetPrimAtPath(leader)
            ratio = -(1.0 if gearing is None else gearing) * unit / _unit(other, length)
            return str(leader), ratio, -(offset or 0.0) * unit
    return None


def _targets(prim: Any, name: str) -> list[Any]:
    relation = prim.GetRelationship(name)
    return list(relation.GetTargets()) if relation else []


def _unit(prim: Any, length: float) -> float:
    """Return the unit of a joint's position [rad or m]."""
    slides = bool(prim) and prim.IsA(UsdPhysics.PrismaticJoint)
    return length if slides else math.radians(1.0)
