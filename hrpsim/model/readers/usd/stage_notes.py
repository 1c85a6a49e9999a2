# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Elements of a USD stage that have an effect in other simulators, but not in hrpsim."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Any

import numpy as np
from pxr import UsdPhysics

Note = tuple[str, str, str]  # element, why, name

_SCHEMAS = re.compile(
    "Physx(Tendon|Vehicle|Force|SurfaceVelocity|Trigger|Character|Deformable|Particle|Auto|Cooked)"
    "|OmniPhysics|PhysicsDeformable|Newton(Cable|Cloth|Volume|Deformable|Hydro)"
)
_NEUTRAL: dict[str, tuple[float, ...]] = {  # values that change nothing, by attributes
    "physics:breakForce": (math.inf,),
    "physics:breakTorque": (math.inf,),
    "physics:coneAngle0Limit": (-1.0,),
    "physics:coneAngle1Limit": (-1.0,),
    "physxRigidBody:linearDamping": (0.0,),
    "physxRigidBody:angularDamping": (0.0, 0.05),  # 0.05 is PhysX's own small value
    "physxRigidBody:lockedPosAxis": (0.0,),
    "physxRigidBody:lockedRotAxis": (0.0,),
    "physxJoint:jointFriction": (0.0,),
    "physxCollision:restOffset": (0.0, -math.inf),
    "physxMaterial:compliantContactStiffness": (0.0,),
    "newton:massModel": (),
    "newton:contactMargin": (0.0,),
}
_LIMITS = re.compile(r"physxLimit:\w+:(stiffness|damping|restitution)$")
_LARGEST = 3.4e38  # of a float, which stands for no bound


def unread(prim: Any) -> Iterator[Note]:
    """Yield a note for each schema and attribute of a prim that has no effect here."""
    name = prim.GetName()
    for schema in prim.GetPrimTypeInfo().GetAppliedAPISchemas():
        if _SCHEMAS.match(str(schema)):
            yield str(schema).split(":")[0], "not simulated", name
    kind = str(prim.GetTypeName())
    if kind.endswith("Joint") and not prim.IsA(UsdPhysics.Joint):
        yield f"joint of the unknown type {kind}", "not simulated", name
    for attribute in prim.GetAuthoredAttributes():
        label = attribute.GetName()
        if (label in _NEUTRAL or _LIMITS.match(label)) and _acts(attribute):
            soft = _LIMITS.match(label)
            yield f"physxLimit {soft.group(1)}" if soft else label, "not read", name
    yield from _of_a_shape(prim)
    yield from _of_a_joint(prim)


def _acts(attribute: Any) -> bool:
    """Return whether the value of an attribute changes something in other simulators."""
    value = attribute.Get()
    if value is None:
        return False
    if isinstance(value, str):
        return value not in ("", "solid")
    neutral = _NEUTRAL.get(attribute.GetName(), (0.0,))
    number = float(np.ravel(value)[0]) if np.size(value) else 0.0
    if abs(number) >= _LARGEST:
        number = math.copysign(math.inf, number)
    return not any(number == target or abs(number - target) < 1e-6 for target in neutral)


def _of_a_shape(prim: Any) -> Iterator[Note]:
    """Yield a note for a shape's centre of mass and inertia. Only mass and density are read."""
    if not prim.HasAPI(UsdPhysics.CollisionAPI) or prim.HasAPI(UsdPhysics.RigidBodyAPI):
        return
    mass = UsdPhysics.MassAPI(prim)
    for attribute in (mass.GetCenterOfMassAttr(), mass.GetDiagonalInertiaAttr()):
        if attribute and attribute.HasAuthoredValue() and np.isfinite(attribute.Get()).all():
            if any(attribute.Get()):
                yield f"{attribute.GetName()} of a shape", "not read", prim.GetName()


def _of_a_joint(prim: Any) -> Iterator[Note]:
    if prim.IsA(UsdPhysics.Joint):
        attribute = UsdPhysics.Joint(prim).GetCollisionEnabledAttr()
        if attribute.HasAuthoredValue() and attribute.Get():
            yield "collisions of two bodies with a joint", "left out", prim.GetName()


def missing(stage: Any) -> list[str]:
    """Return one line for each file that a stage refers to and cannot open."""
    return [" ".join(str(error).split()) for error in stage.GetCompositionErrors()]
