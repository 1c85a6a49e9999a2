# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Checks that the inertia of moving bodies is physical and resists the joints."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from hrpsim.common.errors import ModelError, shown_value
from hrpsim.common.values import LARGEST, POSITIVE, as_numbers, is_number
from hrpsim.model.readers.urdf.joint_motions import MOTIONS
from hrpsim.model.shapes.solid_inertia import BodyInertia
from hrpsim.model.system import FIXED, FREE, PRISMATIC, REVOLUTE, Dof, System, new_system

# Descriptions are printed with few digits: a thin plate may break the triangle inequality slightly.
_TRIANGLE_TOLERANCE = 1e-3
_SINGULAR = 1e-13
# Below these a moment of inertia is zero: part of the largest one, and a radius of gyration [m].
_ROUNDING = 1e-12
_POINT_RADIUS = 1e-7
# Least of a solid's principal moments, as part of the largest.
_THINNEST = 1e-13
_ASYMMETRY = 1e-9  # of an inertia, as a part of its largest entry: rounding


def why_nonphysical(body: BodyInertia) -> str | None:
    """Return the reason why no solid body can have the inertia of a body, or None.

    Point masses and thin rods have moments of inertia of zero, and are accepted.
    """
    smallest, middle, largest = np.linalg.eigvalsh(body.inertia)
    moments = f"principal moments of inertia {smallest:.4g}, {middle:.4g}, {largest:.4g} kg m^2"
    if not body.mass > 0.0 and body.inertia.any():
        return f"the mass is zero, but the {moments} are not"
    if smallest < -_rounding(body, largest):
        return f"the {moments} are not all positive"
    if smallest + middle < largest * (1.0 - _TRIANGLE_TOLERANCE) - _rounding(body, largest):
        return f"the largest of the {moments} exceeds the sum of the others"
    return None


def lacks_inertia(body: BodyInertia) -> bool:
    """Return whether the moment of inertia about any axis is zero (point mass or thin rod)."""
    moments = np.linalg.eigvalsh(body.inertia)
    return bool(moments[0] <= _rounding(body, moments[2]))


def _rounding(body: BodyInertia, largest: float) -> float:
    """Return the largest moment of inertia [kg m^2] that counts as zero.

    The moment is the sum of the rounding error of `largest` and the moment of the body's mass at a
    radius of gyration of 0.1 um.
    """
    return _ROUNDING * abs(largest) + body.mass * _POINT_RADIUS**2


def unresisted_bodies(system: System) -> list[int]:
    """Return the indices of bodies whose joint moves no inertia.

    The acceleration of such a joint is undefined. The test runs the inward pass of the
    articulated-body algorithm (RBDA section 7.3) in a posture without symmetry. A joint moves no
    inertia if S^T I_A S plus the rotor inertia is zero. Such a joint counts as fixed in the rest
    of the pass.
    """
    articulated = [
        _spatial_inertia(*body)
        for body in zip(system.mass, system.com, system.inertia, strict=True)
    ]
    unresisted = []
    for i in reversed(range(len(system.parent))):
        I_A, joint, parent = articulated[i], system.joint_type[i], system.parent[i]
        if joint == FREE:
            scale = np.sqrt(np.repeat(_block_traces(I_A), 3))  # their units differ
            moments = np.abs(np.linalg.eigvalsh(I_A / np.outer(scale, scale)))
            if moments.min() <= _SINGULAR * moments.max():
                unresisted.append(i)
            continue
        if joint != FIXED:
            axis = MOTIONS[joint].axis
            U = I_A[:, axis]
            D = U[axis] + system.rotor_inertia[system.v_index[i]]
            if abs(D) <= _SINGULAR * _block_traces(I_A)[axis // 3]:
                unresisted.append(i)
            else:
                I_A = I_A - np.outer(U, U) / D
        if parent >= 0:
            X = _motion_to_body(system, i)
            articulated[parent] = articulated[parent] + X.T @ I_A @ X
    return unresisted


def _block_traces(I_A: np.ndarray) -> np.ndarray:
    """Return the traces (2,) of the rotational [kg m^2] and translational [kg] block.

    The traces are at least the smallest positive float, so that callers can divide by them.
    """
    return np.maximum(np.diag(I_A).reshape(2, 3).sum(axis=1), np.finfo(float).tiny)


def _spatial_inertia(mass: float, com: np.ndarray, inertia: np.ndarray) -> np.ndarray:
    c = _cross(com)
    return np.block([[inertia + mass * c @ c.T, mass * c], [mass * c.T, mass * np.eye(3)]])


def _motion_to_body(system: System, i: int) -> np.ndarray:
    """Return the motion transform (6, 6) from the parent body to body i in an arbitrary posture."""
    R, p = system.placement_R[i], system.placement_p[i]
    if system.joint_type[i] == REVOLUTE:
        angle = 0.3 + 0.1 * i
        c, s = np.cos(angle), np.sin(angle)
        R = R @ np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    elif system.joint_type[i] == PRISMATIC:
        p = p + 0.01 * R[:, 2]
    return np.block([[R.T, np.zeros((3, 3))], [-R.T @ _cross(p), R.T]])


def _cross(v: np.ndarray) -> np.ndarray:
    return np.array([[0.0, -v[2], v[1]], [v[2], 0.0, -v[0]], [-v[1], v[0], 0.0]])


def check_mass(mass) -> float:
    """Return `mass` [kg]. Raise ModelError unless it is a positive finite number."""
    if not is_number(mass) or not POSITIVE.holds(float(mass)):
        raise ModelError(f"mass must be positive and finite, got {shown_value(mass)} kg")
    return float(mass)


def solid_system(mass: float, moments: ArrayLike) -> System:
    """Return a forest of one free body with the frame's origin at the centre of mass."""
    inertia = as_numbers("inertia", moments, ModelError)
    if inertia.shape != (3, 3) or not (np.abs(inertia) <= LARGEST).all():
        raise ModelError(f"inertia must be a finite (3, 3) matrix, got {inertia!r}")
    if np.abs(inertia - inertia.T).max() > _ASYMMETRY * np.abs(inertia).max():
        raise ModelError(f"inertia must be symmetric, got {inertia.tolist()}")
    inertia = 0.5 * (inertia + inertia.T)
    principal = np.linalg.eigvalsh(inertia)
    slack = 1e-9 * principal[-1]
    if principal[0] <= 0.0 or principal[0] + principal[1] < principal[2] - slack:
        raise ModelError(
            f"no solid has the principal moments {principal} kg m^2. Each moment must be positive "
            "and at most the sum of the other two"
        )
    if principal[0] <= _THINNEST * principal[2]:
        raise ModelError(
            f"the smallest of the principal moments {principal} kg m^2 is less than {_THINNEST:g} "
            "of the largest, so rounding may lose it. Make the solid thicker, or give its inertia"
        )
    body: dict[str, Any] = {"parent": -1, "root": 0, "joint_type": FREE, "q_index": 0, "v_index": 0}
    body["ball"] = 0
    body |= {"placement_R": np.eye(3), "placement_p": np.zeros(3)}
    body |= {"mass": mass, "com": np.zeros(3), "inertia": inertia}
    return new_system({name: [value] for name, value in body.items()}, [Dof(0)] * 6)
